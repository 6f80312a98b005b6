"""Sources with damaged packets and with starts that are none: each frame is itself, and no job fails by chance."""

import av
import pytest

from chalicelib.video.decoding import decode
from chalicelib.video.decoding.frame import decode_original
from chalicelib.video.encoding.encode import encode_piece
from chalicelib.video.files.source import BytesSource
from chalicelib.video.plan import plan
from chalicelib.video.probe import probe
from tests.video.clips import X264, Kind, make, read
from tests.video.made import FileSource

REFRESH = {"preset": "veryfast", "g": "20", "x264-params": "intra-refresh=1:keyint=20:bframes=0:scenecut=0"}
COLOR = "colorprim=bt709:transfer=bt709:colormatrix=bt709:range="
ALL_INTRA = {
    "libx264": {"preset": "ultrafast", "g": "1", "x264-params": COLOR + "tv"},
    "libx265": {"preset": "ultrafast", "x265-params": COLOR + "limited:keyint=1:bframes=0:log-level=none:info=0"},
}


def damaged(path, *numbers):
    """The file with packets overwritten."""
    with av.open(str(path)) as container:
        packets = [packet for packet in container.demux(video=0) if packet.size]
    data = bytearray(path.read_bytes())
    for packet in (packets[number] for number in numbers):
        data[packet.pos : packet.pos + packet.size] = b"\xff" * packet.size
    path.write_bytes(data)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["mp4", "ts"])
def test_intra_refresh_gives_each_frame_from_any_start(tmp_path, suffix):
    source = FileSource(make(Kind("refresh", suffix=suffix, options=REFRESH, count=120), tmp_path))
    found, table = probe(source)
    assert len(table.keyframes()) > 3
    images = decode_original(source, table, found.video, range(table.count))
    assert [read(image) for image in images] == list(range(120))
    assert [read(decode_original(source, table, found.video, [frame])[0]) for frame in (25, 61, 119)] == [25, 61, 119]


@pytest.mark.slow
def test_intra_refresh_far_from_a_real_start_begins_several_recovery_points_earlier(tmp_path, monkeypatch):
    monkeypatch.setattr(decode, "_FRAMES_BACK", 0)
    source = FileSource(make(Kind("refresh", options=REFRESH, count=240), tmp_path))
    found, table = probe(source)
    assert [read(image) for image in decode_original(source, table, found.video, range(200, 220))] == [*range(200, 220)]


@pytest.mark.slow
def test_a_piece_whose_start_is_damaged_shows_the_frames_before_it_from_an_earlier_start(tmp_path):
    kind = Kind("keys", options={"preset": "veryfast", "g": "20", "bf": "0", "x264-params": "scenecut=0"})
    source = FileSource(damaged(make(kind, tmp_path), 40))
    found, table = probe(source)
    shown = [read(image) for image in decode_original(source, table, found.video, range(36, 40))]
    assert shown == [36, 37, 38, 39]


@pytest.mark.slow
@pytest.mark.parametrize("codec", ALL_INTRA)
def test_a_damaged_packet_costs_no_other_frame(tmp_path, codec):
    source = FileSource(damaged(make(Kind("intra", codec=codec, options=ALL_INTRA[codec]), tmp_path), 30, 31, 32))
    found, table = probe(source)
    assert table.count == 60
    shown = [read(image) for image in decode_original(source, table, found.video, range(60))]
    assert [number for number, seen in enumerate(shown) if number not in (30, 31, 32, seen)] == []
    # Renditions of the source's own size share its pictures, and a frame shown twice is one object.
    planned = plan(found, table, [{"resolution": 240, "preset": "slow"}, {"resolution": 144}], None, 60)
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        result = encode_piece(source, planned, planned.pieces[0], table, folder)
        assert [output.samples for output in result.outputs] == [60, 60]


@pytest.mark.slow
def test_good_frames_before_a_damaged_packet_are_kept_with_threads(tmp_path):
    kind = Kind("lost", options={"preset": "veryfast", "g": "250", "bf": "0", "x264-params": "scenecut=0"})
    path = make(kind, tmp_path)
    source = FileSource(damaged(path, 50))
    found, table = probe(source)
    shown = [read(image) for image in decode_original(source, table, found.video, range(table.count))]
    assert shown[:50] == list(range(50))


def boxes_of(data):
    """Name and offset of the boxes at the top of an MP4."""
    at = 0
    while at < len(data):
        yield data[at + 4 : at + 8], at
        at += int.from_bytes(data[at : at + 4], "big")


@pytest.mark.slow
@pytest.mark.parametrize("inside", [9, 100, 199])
def test_a_fragmented_file_that_breaks_off_inside_the_index_of_a_fragment_has_those_before(tmp_path, inside):
    flags = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
    data = make(Kind("cut", options=X264, container=flags), tmp_path).read_bytes()
    starts = [at for name, at in boxes_of(data) if name == b"moof"]
    for number in (1, 3, 4):
        source = BytesSource(data[: starts[number] + inside])
        found, table = probe(source)
        shown = [read(image) for image in decode_original(source, table, found.video, range(table.count))]
        assert shown == list(range(number * 12))


@pytest.mark.slow
def test_frames_of_a_file_whose_clock_stands_still_are_counted_from_its_start(tmp_path):
    """An index of MP4 with durations of zero: seeking finds any packet."""
    data = bytearray(make(Kind("still", options=X264 | {"bf": "0"}), tmp_path).read_bytes())
    at = data.index(b"stts") + 16
    data[at : at + 4] = bytes(4)
    source = BytesSource(bytes(data))
    found, table = probe(source)
    shown = [read(decode_original(source, table, found.video, [number])[0]) for number in (0, 11, 12, 30, 59)]
    assert shown == [0, 11, 12, 30, 59]
