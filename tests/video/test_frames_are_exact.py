"""Frame n is frame n: every kind of source, through every way that the service hands frames out."""

import dataclasses
import io

import pytest

from chalicelib.video.decoding.frame import decode_frames, decode_original
from chalicelib.video.encoding.clip import copy_clip, encode_clip
from chalicelib.video.encoding.encode import clock
from chalicelib.video.files.source import BytesSource
from chalicelib.video.mp4 import boxes
from chalicelib.video.plan import Probe
from chalicelib.video.probe import probe
from chalicelib.video.timing import FrameTable
from tests.video.clips import COUNT, KINDS, make, read, read_all
from tests.video.made import FileSource, Made, decoding_time, read_segments, transcode

LADDER = [{"resolution": 144, "preset": "ultrafast"}, {"resolution": 480, "preset": "ultrafast"}]
BY_NIGHT = {
    "4:4:4",
    "headless ts",
    "h264 avi",
    "intra refresh ts",
    "late start mp4",
    "mirrored",
    "mpeg2 ts",
    "ntsc mkv",
    "open groups mp4",
    "open groups ts",
    "truncated mkv",
    "truncated ts",
    "turned left",
    "two sound tracks",
    "upside down",
    "variable rate mp4",
    "wide pixels",
    "with sound",
}
"""Kinds that another is much like."""
FIRST = {"plain", "edit list", "mjpeg mov", "truncated mp4", "variable rate mkv", "headless open ts"}
"""Kinds that `make test` tries: of each way to tell when a frame is shown, the cheapest."""


def marks(kind):
    """The marks of the tests of a kind."""
    if kind.name in BY_NIGHT:
        return [pytest.mark.nightly]
    return [] if kind.name in FIRST else [pytest.mark.slow]


@dataclasses.dataclass
class Case:
    kind: object
    source: FileSource
    probe: Probe
    table: FrameTable
    whole: Made
    split: Made
    shown: list

    @property
    def names(self):
        return [rendition.name for rendition in self.whole.plan.renditions]


@pytest.fixture(
    scope="module",
    params=[pytest.param(kind, id=kind.name, marks=marks(kind)) for kind in KINDS],
)
def case(request, tmp_path_factory):
    kind = request.param
    folder = tmp_path_factory.mktemp("case")
    source = FileSource(make(kind, folder))
    found, table = probe(source)
    (folder / "whole").mkdir()
    (folder / "split").mkdir()
    whole = transcode(source, folder / "whole", 600, LADDER)
    split = transcode(source, folder / "split", 1, LADDER)
    first = read(decode_original(source, table, found.video, [0])[0])
    return Case(kind, source, found, table, whole, split, list(range(first, first + table.count)))


def test_every_frame_a_viewer_sees_is_counted(case):
    if case.kind.whole:
        assert case.shown == list(range(COUNT))
    elif case.kind.trim:
        assert case.shown == list(range(case.kind.trim, COUNT))
    else:
        # Of a file that breaks off or starts in the middle, everything that can be decoded.
        assert len(case.shown) > COUNT // 3
        assert case.shown[0] == 0 or case.shown[-1] == COUNT - 1


def test_the_original_gives_the_frame_asked_for(case):
    asked = [case.table.count - 1, 0, case.table.count // 2, 13, 13]
    images = decode_original(case.source, case.table, case.probe.video, asked)
    assert [read(image) for image in images] == [case.shown[frame] for frame in asked]
    assert images[0].size == (case.probe.video.width, case.probe.video.height)


@pytest.mark.slow
def test_every_frame_of_every_rendition_is_the_frame_shown(case):
    for made in (case.whole, case.split):
        for name in case.names:
            assert read_all(io.BytesIO(made.files[name])) == case.shown, name


def test_pieces_and_a_single_piece_agree(case):
    assert len(case.split.plan.pieces) > 1
    assert len(case.whole.plan.pieces) == 1
    for name in case.names:
        assert sum(segment.get("frame_samples", 0) for segment in case.split.info(name)["segments"]) == case.table.count


def test_segment_files_describe_the_joined_file(case):
    for made in (case.whole, case.split):
        for name in case.names:
            assert read_segments(made.source(name)) == made.info(name)


def test_fragments_are_numbered_and_timed_without_a_break(case):
    for made in (case.whole, case.split):
        name = case.names[0]
        file, numbers = made.files[name], []
        scale, ticks = clock(case.probe.fps)
        for segment in made.info(name)["segments"]:
            if segment["name"] == "moof":
                moof = file[segment["offset"] : segment["offset"] + segment["size"]]
                mfhd = boxes.need(moof, "moof", "mfhd")
                numbers.append(int.from_bytes(moof[mfhd.body + 4 : mfhd.end], "big"))
                assert decoding_time(moof) == segment["frame_start"] * ticks
                assert boxes.sample_durations(moof, ticks) == [ticks] * segment["frame_samples"]
                assert segment["frame_samples"] <= 25
        assert numbers == list(range(1, len(numbers) + 1))
        assert boxes.timescale(file) == scale


def test_random_access_through_the_segment_file_finds_each_frame(case):
    frames = list(range(case.table.count))
    smallest, largest = case.names[0], case.names[-1]
    scattered = frames[::7][::-1]
    images = decode_frames(case.split.source(largest), case.split.info(largest), scattered)
    assert [read(image) for image in images] == [case.shown[frame] for frame in scattered]
    images = decode_frames(case.split.source(smallest), case.split.info(smallest), frames)
    assert [read(image) for image in images] == case.shown


def test_frames_of_fragments_decoded_side_by_side_are_those_of_each_alone(case):
    name, frames = case.names[-1], [frame for frame in (55, 13, 30, 14) if frame < case.table.count]
    source, info = case.whole.source(name), case.whole.info(name)
    together = decode_frames(source, info, frames)
    assert [read(image) for image in together] == [case.shown[frame] for frame in frames]
    assert together == [decode_frames(source, info, [frame])[0] for frame in frames]


def test_a_copied_clip_holds_whole_fragments_in_order(case):
    name = case.names[-1]
    last = case.table.count - 1
    out = io.BytesIO()
    clip = copy_clip(case.split.source(name), case.split.info(name), [(last - 1, last), (3, 6)], out)
    expected = [
        case.shown[frame]
        for start, end in zip(clip.segment_start_frames, clip.segment_end_frames, strict=True)
        for frame in range(start, end + 1)
    ]
    assert clip.size == len(out.getvalue())
    assert case.shown[last] in expected
    assert (
        case.shown[3:7]
        == expected[-len(case.shown[clip.segment_start_frames[-1] : clip.segment_end_frames[-1] + 1]) :][3:7]
    )
    assert read_all(io.BytesIO(out.getvalue())) == expected


def test_an_encoded_clip_holds_exactly_the_frames(case, tmp_path):
    name = case.names[-1]
    path = tmp_path / "clip.mp4"
    clip = encode_clip(case.whole.source(name), case.whole.info(name), [(23, 27), (2, 2)], case.probe.fps, path)
    assert (clip.segment_start_frames, clip.segment_end_frames) == ((23, 2), (27, 2))
    assert read_all(str(path)) == [case.shown[frame] for frame in (23, 24, 25, 26, 27, 2)]
    assert clip.size == path.stat().st_size


def test_frames_of_a_clip_can_be_found_like_those_of_a_video(case):
    name = case.names[0]
    out = io.BytesIO()
    copy_clip(case.whole.source(name), case.whole.info(name), [(26, 26)], out)
    cut = BytesSource(out.getvalue())
    assert [read(image) for image in decode_frames(cut, read_segments(cut), [1])] == [case.shown[26]]
