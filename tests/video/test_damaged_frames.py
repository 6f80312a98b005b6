"""Damage in any place of a file of any codec: no frame gets another number or time, and none is lost in silence."""

import random
from fractions import Fraction

import av
import pytest

from chalicelib.video.decoding.frame import decode_original
from chalicelib.video.encoding.encode import encode_piece
from chalicelib.video.files.source import BytesSource
from chalicelib.video.plan import plan
from chalicelib.video.probe import probe
from tests.video.clips import X264, Kind, make, read
from tests.video.made import FileSource

COUNT = 90
GROUP = "30"
X265 = "keyint=30:min-keyint=30:bframes=2:scenecut=0:log-level=none:info=0"
CODECS = {
    "hevc": {"codec": "libx265", "options": {"preset": "ultrafast", "x265-params": X265}},
    "av1": {"codec": "libsvtav1", "options": {"preset": "10", "g": GROUP, "svtav1-params": "lp=1"}},
    "vp9": {"codec": "libvpx-vp9", "options": {"deadline": "realtime", "cpu-used": "8", "g": GROUP}},
    "vp8": {
        "codec": "libvpx",
        "options": {"auto-alt-ref": "1", "lag-in-frames": "8", "g": GROUP, "cpu-used": "8", "b:v": "2M"},
    },
    "h264": {"options": X264 | {"g": GROUP}},
    "mpeg4": {"codec": "mpeg4", "options": {"g": GROUP, "b": "2M"}},
    "mpeg2": {"codec": "mpeg2video", "options": {"g": GROUP, "bf": "2", "b": "2M"}},
    "prores": {"codec": "prores_ks", "pix_fmt": "yuv422p10le"},
    "ffv1": {"codec": "ffv1"},
    "mjpeg": {"codec": "mjpeg", "pix_fmt": "yuvj420p"},
    "jpeg2000": {"codec": "jpeg2000"},
    "png": {"codec": "png", "pix_fmt": "rgb24"},
}
CONTAINERS = {
    "hevc": ("mp4", "mkv", "ts"),
    "av1": ("mp4", "webm"),
    "vp9": ("mp4", "webm"),
    "vp8": ("webm",),
    "h264": ("mp4", "mkv", "ts"),
    "mpeg4": ("mp4", "avi", "mkv"),
    "mpeg2": ("ts",),
    "prores": ("mov",),
    "ffv1": ("mkv",),
    "mjpeg": ("mkv",),
    "jpeg2000": ("mov",),
    "png": ("mov",),
}
PLACES = {"early": (9, 10), "keyframe": (30,), "middle": (45,), "many": tuple(range(5, 25)), "late": (70, 71)}
# Bytes that begin the packet are part of its block's header in Matroska: the demuxer loses the packets behind it.
PARTS = {"whole": (0.0, 1.0), "head": (0.0, 0.4), "tail": (0.5, 1.0)}
ALL = [(codec, suffix) for codec, suffixes in CONTAINERS.items() for suffix in suffixes]


def damage(data, spans, numbers, part, seed):
    """A file with a part of some packets overwritten by noise."""
    noise, found = random.Random(seed), bytearray(data)
    for number in numbers:
        position, size = spans[number]
        begin, end = (position + int(share * size) for share in PARTS[part])
        found[begin:end] = noise.randbytes(end - begin)
    return bytes(found)


def packets(path):
    with av.open(str(path)) as container:
        return [(packet.pos, packet.size) for packet in container.demux(video=0) if packet.size]


@pytest.mark.parametrize(
    ("codec", "suffix"), [pytest.param(*each, marks=() if each == ("vp9", "mp4") else pytest.mark.slow) for each in ALL]
)
def test_numbers_stay_with_times_wherever_a_file_is_damaged(tmp_path, codec, suffix):
    path = make(Kind(codec, suffix=suffix, count=COUNT, **CODECS[codec]), tmp_path)
    data, spans, whole = path.read_bytes(), packets(path), range(COUNT)
    cases = [(place, part) for place in PLACES for part in PARTS]
    for place, part in cases[:4] if (codec, suffix) == ("vp9", "mp4") else cases:
        numbers = PLACES[place]
        source = BytesSource(damage(data, spans, numbers, part, seed=1))
        found, table = probe(source)
        assert (table.count, table.fps) == (COUNT, Fraction(25)), (place, part)
        shown = decode_original(source, table, found.video, range(COUNT))
        # The frames of a group before the damage are themselves, and those of the next whole group.
        first = min(numbers)
        assert [read(image) for image in shown[: first - 3]] == [*range(first - 3)], (place, part)
        after = -(-(max(numbers) + 4) // int(GROUP)) * int(GROUP)
        if suffix not in ("mkv", "webm", "ts", "avi"):
            assert [read(image) for image in shown[after + 3 :]] == [*whole][after + 3 :], (place, part)
        if part == "tail":
            # Decoders make something of it, which is not the same each time, and some do not notice.
            continue
        # One frame alone is the same picture as in a run.
        for number in (first, min(first + 7, COUNT - 1)):
            alone = decode_original(source, table, found.video, [number])[0]
            assert read(alone) == read(shown[number]), (place, part, number)
        assert told(source, found, table, tmp_path), (place, part)
    whole_source = FileSource(path)
    assert not told(whole_source, *probe(whole_source), tmp_path)


def told(source, found, table, folder):
    """The frames of a file that its transcode names as damaged."""
    planned = plan(found, table, [{"resolution": 48, "preset": "ultrafast"}], None, 600)
    return [span for piece in planned.pieces for span in encode_piece(source, planned, piece, table, folder).damaged]


@pytest.mark.parametrize("suffix", ["mkv", pytest.param("ts", marks=pytest.mark.slow)])
def test_a_pause_of_a_whole_file_is_not_filled_with_frames(tmp_path, suffix):
    times = tuple(number * 40 + 8000 * (number > 20) for number in range(40))
    kind = Kind("pause", suffix=suffix, options=X264, times=times, time_base=Fraction(1, 1000), count=40, audio=1)
    found, table = probe(FileSource(make(kind, tmp_path)))
    assert (table.count, len(found.audio)) == (40, 1)
    assert table.time_of(39) == Fraction(times[39], 1000)


ENDS = {"first": (0,), "start": tuple(range(7)), "end": tuple(range(83, COUNT))}


@pytest.mark.parametrize(
    ("codec", "suffix"),
    [pytest.param(*each, marks=() if each == ("h264", "mkv") else pytest.mark.slow) for each in ALL],
)
def test_frames_at_either_end_are_filled_or_told(tmp_path, codec, suffix):
    """Of a transport stream it is not known when it begins or ends, so the frames lost there are told, not numbered."""
    path = make(Kind(codec, suffix=suffix, count=COUNT, **CODECS[codec]), tmp_path)
    data, spans = path.read_bytes(), packets(path)
    for place, part in [(place, part) for place in ENDS for part in ("whole", "head")]:
        if suffix == "avi" and place != "end":
            continue  # its packets have no times, and what MPEG-4 shows before a keyframe is counted as the first frame
        source = BytesSource(damage(data, spans, ENDS[place], part, seed=1))
        found, table = probe(source)
        missing = COUNT - table.count
        end = "end" if place == "end" else "start"
        assert table.missing_ends == ((end,) if suffix == "ts" else ()), (place, part)
        assert 0 < missing <= len(ENDS[place]) + 1 if suffix == "ts" else not missing, (place, part, missing)
        assert table.fps == 25, (place, part)
        damaged = {n for first, last in told(source, found, table, tmp_path) for n in range(first, last + 1)}
        shown = decode_original(source, table, found.video, range(table.count))
        shift = missing if end == "start" else 0
        wrong = [n for n, image in enumerate(shown) if n not in damaged and read(image) != n + shift]
        assert not wrong, (place, part)
        assert len(damaged) >= len(ENDS[place]) - missing, (place, part)


@pytest.mark.slow
def test_a_stream_that_was_cut_is_not_damaged(tmp_path):
    path = make(Kind("cut", suffix="ts", options=X264, count=COUNT, noise=True), tmp_path)
    data = path.read_bytes()
    for start, stop in ((0, len(data)), (len(data) // 3 + 71, len(data)), (0, len(data) * 2 // 3 + 71)):
        found, table = probe(BytesSource(data[start:stop]))
        assert (table.missing_ends, found.fps) == ((), 25), (start, stop)
