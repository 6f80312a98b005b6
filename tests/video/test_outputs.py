"""The other codecs and options, segment files of other tools."""

import contextlib
import io
import os
import threading
from pathlib import Path

import av
import pytest

from chalicelib.errors import BadInput
from chalicelib.video.decoding.frame import decode_frames
from chalicelib.video.encoding.clip import copy_clip, parse_ranges
from chalicelib.video.encoding.encode import end_real_time_priority
from chalicelib.video.files.source import BytesSource
from chalicelib.video.mp4.segments import Fragment, parse_segment_info, segment_info, spans_of
from tests.video.clips import COUNT, KINDS, X264, Kind, make, read, read_all
from tests.video.made import FileSource, read_segments, transcode

NAMED = {kind.name: kind for kind in KINDS}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "codec", "pix_fmt"),
    [
        ({"vcodec": "av1", "preset": "10"}, "av1", "yuv420p"),
        ({"vcodec": "av1", "preset": "10", "pixel_format": "yuv420p10le"}, "av1", "yuv420p10le"),
        ({"preset": "ultrafast", "pixel_format": "yuv444p"}, "h264", "yuv444p"),
        ({"preset": "ultrafast", "pixel_format": "yuvj420p"}, "h264", "yuvj420p"),
        ({"preset": "ultrafast", "pixel_format": "yuv420p10le"}, "h264", "yuv420p10le"),
    ],
    ids=str,
)
def test_every_codec_gives_joinable_pieces(config, codec, pix_fmt, tmp_path):
    source = FileSource(make(Kind("codecs", options=X264, count=55), tmp_path))
    made = transcode(source, tmp_path, 1, [{"resolution": 144} | config])
    (name,) = made.files
    assert len(made.plan.pieces) == 3
    with av.open(io.BytesIO(made.files[name])) as container:
        context = container.streams.video[0].codec_context
        assert (context.codec.canonical_name, context.pix_fmt) == (codec, pix_fmt)
    assert read_all(io.BytesIO(made.files[name])) == list(range(55))
    assert read_segments(made.source(name)) == made.info(name)
    assert [read(i) for i in decode_frames(made.source(name), made.info(name), [54, 30, 0])] == [54, 30, 0]


def policies():
    """The scheduling policies of all threads of this process."""
    found = set()
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(ProcessLookupError):
            found.add(os.sched_getscheduler(int(thread.name)))
    return found


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not list threads")
def test_encoding_av1_leaves_no_thread_at_real_time_priority(tmp_path, monkeypatch):
    seen = set()

    def end_and_look():
        end_real_time_priority()
        seen.update(policies())

    monkeypatch.setattr("chalicelib.video.encoding.encode.end_real_time_priority", end_and_look)
    source = FileSource(make(Kind("short", options=X264, count=3), tmp_path))
    transcode(source, tmp_path, 1, [{"resolution": 144, "vcodec": "av1", "preset": "12"}])
    assert seen == {os.SCHED_OTHER}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not list threads")
def test_a_thread_that_an_operator_made_idle_stays_idle():
    told = []

    def idle():
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        end_real_time_priority()
        told.append(os.sched_getscheduler(0))

    thread = threading.Thread(target=idle)
    thread.start()
    thread.join()
    assert told == [os.SCHED_IDLE]


@pytest.mark.slow
def test_archival_renditions_are_made_in_pieces_too(tmp_path):
    source = FileSource(make(Kind("archive", options=X264, count=55), tmp_path))
    config = [
        {"encode": {"vcodec": "hevc", "preset": "ultrafast"}},
        {"encode": {"vcodec": "h264", "preset": "ultrafast"}},
    ]
    made = transcode(source, tmp_path, 1, [{"resolution": 144, "preset": "ultrafast"}], config)
    for name in ("archival_0", "archival_1"):
        assert read_all(io.BytesIO(made.files[name])) == list(range(55))


@pytest.fixture
def foreign(tmp_path):
    """A fragmented file with B-frames, as FFmpeg's own muxer and the published client write it."""
    return BytesSource(make(NAMED["fragmented"], tmp_path).read_bytes())


@pytest.mark.slow
def test_segment_files_of_other_tools_work(foreign):
    info = read_segments(foreign)
    assert [s["frame_start"] for s in info["segments"] if s["name"] == "moof"] == [0, 12, 24, 36, 48]
    assert info["segments"][-1]["name"] == "mfra"
    assert [read(i) for i in decode_frames(foreign, info, range(COUNT))] == list(range(COUNT))
    out = io.BytesIO()
    clip = copy_clip(foreign, info, [(13, 14), (49, 50)], out)
    assert (clip.segment_start_frames, clip.segment_end_frames) == ((12, 48), (23, 59))
    assert read_all(io.BytesIO(out.getvalue())) == [*range(12, 24), *range(48, 60)]


def bytes_of(document, first, last):
    return [(span.start, span.stop) for span in spans_of(parse_segment_info(document), first, last)]


def test_spans_cover_the_frames():
    info = segment_info((10, 90), [Fragment(10, 90, 25)] * 4)
    assert bytes_of(info, 30, 60) == [(200, 300), (300, 400)]
    assert bytes_of(info, 0, 99) == [(100, 200), (200, 300), (300, 400), (400, 500)]
    for first, last in ((-1, 5), (5, 100), (7, 6)):
        with pytest.raises(BadInput, match="frames 0 to 99"):
            bytes_of(info, first, last)


def test_a_bias_of_the_first_fragment_reads_the_first_two():
    info = segment_info((10, 90), [Fragment(10, 90, 25)] * 3)
    for segment in info["segments"]:
        if segment["name"] == "moof":
            segment["frame_start"] += 2
    assert bytes_of(info, 1, 1) == [(100, 300)]


@pytest.mark.parametrize(
    "document",
    [None, {}, [], {"file": {}, "segments": []}, {"file": {}, "segments": [{"name": "moof", "offset": 0, "size": 5}]}],
)
def test_damaged_segment_files_are_refused(document):
    with pytest.raises(BadInput):
        bytes_of(document, 0, 0)


@pytest.mark.parametrize("texts", [[], ["5"], ["a:b"], ["5:4"], ["0:100"], ["-1:4"], ["1:2:3"]])
def test_malformed_ranges_are_refused(texts):
    with pytest.raises(BadInput, match="frame_ranges"):
        parse_ranges(texts, 100)


def test_ranges_are_inclusive():
    assert parse_ranges(["0:0", "5:99"], 100) == ((0, 0), (5, 99))
