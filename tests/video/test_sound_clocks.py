"""Sound of files whose clocks are wrong, shifted, or begin anew: it stays with the pictures."""

from fractions import Fraction

import av
import numpy as np
import pytest

from chalicelib.errors import BadInput
from chalicelib.video.decoding.frame import decode_original
from chalicelib.video.files import quirks
from chalicelib.video.files.source import BytesSource, SourceFile
from chalicelib.video.probe import probe
from tests.video.clips import X264, Kind, make, read
from tests.video.made import FileSource, transcode
from tests.video.test_sound import LADDER, Track, film, noise_of, played

RATE = 16_000
MPEG2 = {"suffix": "mpg", "codec": "mpeg2video", "options": {"g": "12", "bf": "2", "b": "3M"}}


def is_in_place(samples, begin, end, moved=0):
    """Whether the sound between two seconds is what was recorded `moved` seconds before."""
    begin, end = (int((time - moved) * RATE) for time in (begin, end))
    return noise_of(samples[int(moved * RATE) :], begin, end, RATE) < 0.03


@pytest.mark.slow
def test_sound_of_an_mp4_without_edit_list_is_with_the_pictures(tmp_path):
    """The first packet of sound is longer than its samples, so that the others are with the delayed pictures."""
    source = FileSource(
        film(Track("", "mp4", "aac", RATE, seconds=3), tmp_path, container={"use_editlist": "0"}, frames="3")
    )
    samples = played(transcode(source, tmp_path, 1, LADDER).sound)
    assert [is_in_place(samples, at, at + 0.2) for at in (0.3, 0.7, 1.5, 2.5)] == [True] * 4


@pytest.mark.slow
def test_negative_offsets_of_fragments_do_not_move_the_sound(tmp_path):
    track = Track("", "mov", "pcm_s16le", RATE, form="s16", seconds=3)
    flags = {"movflags": "frag_keyframe+empty_moov+negative_cts_offsets"}
    source = FileSource(film(track, tmp_path, container=flags, frames="3"))
    _, table = probe(source)
    assert table.start == 0
    samples = played(transcode(source, tmp_path, 1, LADDER).sound)
    assert [is_in_place(samples, at, at + 0.2) for at in (0.3, 1.5, 2.5)] == [True] * 3


@pytest.mark.parametrize("still", [{0}, {1}, {0, 1, 2}])
def test_the_largest_negative_offset_may_be_in_any_fragment(tmp_path, still):
    """Groups of 25 pictures, of which the still ones do not need B-frames of B-frames."""
    path = tmp_path / "film.mov"
    flags = {"movflags": "frag_keyframe+empty_moov+negative_cts_offsets"}
    with av.open(str(path), "w", options=flags) as out:
        video = out.add_stream("libx264", rate=25, options=X264 | {"g": "25", "bf": "3", "b_strategy": "0"})
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        for number in range(75):
            picture = av.VideoFrame.from_ndarray(np.full((48, 64, 3), number, "u1"), format="rgb24")
            picture.pts, picture.time_base = number, Fraction(1, 25)
            if number // 25 in still:
                picture.pict_type = av.video.frame.PictureType.P if number % 25 else av.video.frame.PictureType.I
            out.mux(video.encode(picture))
        out.mux(video.encode(None))
    assert probe(FileSource(path))[1].start == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("track", "codec"),
    [
        (Track("", "ts", "aac", RATE, seconds=2), "libx264"),
        (Track("", "mpg", "mp2", RATE, form="s16", seconds=2), "mpeg2video"),
    ],
)
def test_recordings_joined_end_to_end_keep_their_sound(tmp_path, track, codec):
    data = film(track, tmp_path, codec=codec, frames="2").read_bytes()
    made = transcode(BytesSource(data + data), tmp_path, 1, LADDER)
    assert (made.plan.frames, made.plan.probe.fps, len(made.plan.pieces) > 2) == (100, 25, True)
    samples = played(made.sound)
    assert [is_in_place(samples, at, at + 0.2) for at in (0.4, 1.4)] == [True] * 2
    assert [is_in_place(samples, at, at + 0.2, moved=2) for at in (2.4, 3.4)] == [True] * 2


@pytest.mark.slow
def test_a_jump_of_the_clock_between_recordings_changes_neither_rate_nor_sound(tmp_path):
    track = Track("", "ts", "aac", RATE, seconds=2)
    data = film(track, tmp_path).read_bytes()
    later = film(track, tmp_path, container={"output_ts_offset": "1000"}).read_bytes()
    made = transcode(BytesSource(data + later), tmp_path, 1, LADDER)
    assert (made.plan.frames, made.plan.probe.fps) == (100, 25)
    samples = played(made.sound)
    assert [is_in_place(samples, at, at + 0.2) for at in (0.4, 1.4)] == [True] * 2
    assert [is_in_place(samples, at, at + 0.2, moved=2) for at in (2.4, 3.4)] == [True] * 2


@pytest.mark.slow
def test_joined_program_streams_keep_the_order_of_their_frames(tmp_path):
    data = make(Kind("joined", count=30, **MPEG2), tmp_path).read_bytes()
    source = BytesSource(data + data)
    found, table = probe(source)
    images = decode_original(source, table, found.video, range(60))
    assert [read(image) for image in images] == [*range(30), *range(30)]
    assert read(decode_original(source, table, found.video, [55])[0]) == 25


@pytest.mark.parametrize("layout", ["6.1", "7.1"])
def test_sound_of_seven_and_more_channels_in_mov_does_not_end_the_decoder(tmp_path, layout):
    """FFmpeg 8 corrupts its memory by their channel layout."""
    data = bytearray(film(Track("", "mov", "pcm_s16le", 8000, form="s16", seconds=1), tmp_path).read_bytes())
    at = data.index(b"chan")
    data[at + 8 : at + 12] = {"6.1": 125 << 16 | 7, "7.1": 128 << 16 | 8}[layout].to_bytes(4, "big")
    file = SourceFile(BytesSource(bytes(data)))
    quirks.hide_layouts(file)
    assert file.patches == [(at, b"free")]
    for begin in range(at - 3, at + 4):
        file.seek(begin)
        assert file.read(4) == bytes(data[:at] + b"free" + data[at + 4 :])[begin : begin + 4]
    assert probe(BytesSource(bytes(data)))[0].frames == 25


def test_boxes_that_are_damaged_hide_nothing(tmp_path):
    for data in (b"\0\0\0\x08ftyp\0\0\0\x10moov", b"\0\0\0\x08ftyp\0\0\0\x07moov\0\0\0\0", b"\0\0\0\x08moof"):
        file = SourceFile(BytesSource(data))
        quirks.hide_layouts(file)
        assert (file.patches, quirks.shift_of(file, 1, 0, 0)) == ([], 0)


@pytest.mark.parametrize("count", [2, 3])
def test_a_transport_stream_of_few_packets_is_recognised(tmp_path, count):
    source = FileSource(make(Kind("short", suffix="ts", options=X264, count=count, size=(64, 64)), tmp_path))
    found, table = probe(source)
    assert [read(image) for image in decode_original(source, table, found.video, range(count))] == list(range(count))


def test_bytes_of_transport_packets_without_a_video_are_refused():
    with pytest.raises(BadInput, match="not a video"):
        probe(BytesSource((b"\x47" + bytes(187)) * 5))
