"""Files as cameras write them: their structure, made by editing the boxes of files that PyAV writes."""

import io
import struct
from fractions import Fraction

import av
import pytest

from chalicelib.errors import BadInput
from chalicelib.video.decoding.frame import decode_original
from chalicelib.video.files.source import BytesSource
from chalicelib.video.probe import probe
from tests.video.clips import X264, X265, Kind, make, read
from tests.video.made import transcode

COUNT = 30
HLG = X265 | {"x265-params": X265["x265-params"] + ":colorprim=bt2020:transfer=arib-std-b67:colormatrix=bt2020nc"}
INTRA = {"preset": "ultrafast", "g": "1", "bf": "0"}


def grown(data, path, added):
    """A file whose index is at its end, with bytes added to the box at a path of names."""
    start, places = data.index(b"moov") - 4, []
    for name in path:
        start = data.index(name, start) - 4
        places.append(start)
    size = int.from_bytes(data[start : start + 4], "big")
    made = bytearray(data[: start + size] + added + data[start + size :])
    for place in places:
        made[place : place + 4] = struct.pack(">I", int.from_bytes(data[place : place + 4], "big") + len(added))
    return bytes(made)


def with_data_tracks(data, *codes):
    """A file with further tracks of data (telemetry, faces, settings), whose samples are those of its sound."""
    moov = data.index(b"moov") - 4
    at = data.rindex(b"trak", moov) - 4
    track = data[at : at + int.from_bytes(data[at : at + 4], "big")]
    assert b"soun" in track
    for number, code in enumerate(codes, 10):
        other = bytearray(track.replace(b"soun", b"meta"))
        header, entry = other.index(b"tkhd"), other.index(b"stsd") + 16
        other[header + 16 : header + 20] = struct.pack(">I", number)
        other[entry : entry + 4] = code
        data = grown(data, [b"moov"], bytes(other))
    return data


def with_dolby_vision(data):
    """A file of HEVC with the configuration of profile 8.4, level 3, whose base layer is HLG."""
    content = bytes([1, 0, 8 << 1, 3 << 3 | 0b101, 4 << 4]) + bytes(19)
    box = struct.pack(">I4s", 8 + len(content), b"dvvC") + content
    return grown(data, [b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"hvc1"], box)


def clip(folder, **kind):
    return make(Kind("camera", **{"count": COUNT, "audio": 1, **kind}), folder).read_bytes()


def gopro(folder):
    return with_data_tracks(clip(folder, options=X264, fps=Fraction(30000, 1001)), b"tmcd", b"gpmd", b"fdsc")


def dji(folder):
    return with_data_tracks(clip(folder, codec="libx265", options=X265), b"djmd", b"dbgi")


def xavc_s(folder):
    data = clip(folder, suffix="mov", options=INTRA, pix_fmt="yuv422p10le", fps=Fraction(60000, 1001))
    return with_data_tracks(data, b"rtmd")


def iphone(folder):
    data = clip(folder, suffix="mov", codec="libx265", options=HLG, pix_fmt="yuv420p10le", rotation=-90)
    return with_dolby_vision(with_data_tracks(data.replace(b"hev1", b"hvc1"), b"mebx", b"mebx", b"mebx"))


def xavc_mxf(folder):
    """Four tracks of one channel each, as Broadcast Wave in MXF."""
    path = folder / "camera.mxf"
    given = make(Kind("camera", suffix="mkv", options=INTRA, pix_fmt="yuv422p10le", count=COUNT), folder)
    with av.open(str(given)) as source, av.open(str(path), "w") as out:
        stream = out.add_stream_from_template(source.streams.video[0])
        tracks = [out.add_stream("pcm_s24le", rate=48000, layout="mono") for _ in range(4)]
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                out.mux(packet)
        for track in tracks:
            for number in range(COUNT * 1920 // 960):
                frame = av.AudioFrame("s32", "mono", 960)
                frame.planes[0].update(bytes(frame.planes[0].buffer_size))
                frame.sample_rate, frame.pts, frame.time_base = 48000, number * 960, Fraction(1, 48000)
                out.mux(track.encode(frame))
            out.mux(track.encode(None))
    return path.read_bytes()


CAMERAS = {
    "gopro": (gopro, 1),
    "dji": (dji, 1),
    "xavc s": (xavc_s, 1),
    "iphone": (iphone, 1),
    "xavc mxf": (xavc_mxf, 4),
}


@pytest.mark.parametrize("name", ["gopro", *(pytest.param(each, marks=pytest.mark.slow) for each in [*CAMERAS][1:])])
def test_each_frame_and_the_sound_of_a_camera_are_found(tmp_path, name):
    made, tracks = CAMERAS[name]
    data = made(tmp_path)
    with av.open(io.BytesIO(data)) as container:
        assert len(container.streams.data) == {"gopro": 3, "dji": 2, "xavc s": 1, "iphone": 3}.get(name, 0)
    source = BytesSource(data)
    found, table = probe(source)
    assert (table.count, len(found.audio)) == (COUNT, tracks)
    assert [read(image) for image in decode_original(source, table, found.video, range(COUNT))] == [*range(COUNT)]
    assert read(decode_original(source, table, found.video, [17])[0]) == 17
    whole = transcode(source, tmp_path, 0.5, [{"resolution": 144}])
    assert (whole.plan.frames, bool(whole.sound)) == (COUNT, True)


@pytest.mark.slow
def test_dolby_vision_of_profile_8_is_shown_by_its_base_layer_of_hlg(tmp_path):
    found, _ = probe(BytesSource(iphone(tmp_path)))
    assert (found.video.color, found.video.pix_fmt, found.video.rotation) == ((9, 18, 9), "yuv420p10le", 90)


@pytest.mark.parametrize(
    "head", [b"RIFF\0\0\0\0WAVEbext", b"RF64\xff\xff\xff\xffWAVEds64", b"BW64\xff\xff\xff\xffWAVEds64"]
)
def test_broadcast_wave_alone_is_named_a_sound(head):
    with pytest.raises(BadInput, match=r"it is a WAV sound\. Upload it together"):
        probe(BytesSource(head + bytes(600)))
