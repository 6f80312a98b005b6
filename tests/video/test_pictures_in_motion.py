"""Animated pictures as videos, pictures turned by any angle, and what is refused with the way round it."""

import io
import struct

import av
import pytest
from PIL import Image

from chalicelib.errors import BadInput
from chalicelib.video.decoding.frame import decode_original
from chalicelib.video.files.source import BytesSource
from chalicelib.video.pictures.images import import_image
from chalicelib.video.probe import probe
from tests.video.clips import X264, Kind, draw, make, read
from tests.video.made import FileSource, transcode

COUNT = 12
SIZE = (128, 96)


def animation(form, **options):
    first, *others = [draw(number, SIZE) for number in range(COUNT)]
    out = io.BytesIO()
    first.save(out, form, save_all=True, append_images=others, duration=100, loop=0, **options)
    return out.getvalue()


@pytest.mark.parametrize("form", ["PNG", "GIF", pytest.param("AVIF", marks=pytest.mark.slow)])
def test_all_frames_of_an_animated_picture_are_those_of_the_video(tmp_path, form):
    source = BytesSource(animation(form))
    found, table = probe(source)
    assert (table.count, found.rate) == (COUNT, (10, 1))
    assert [read(image) for image in decode_original(source, table, found.video, range(COUNT))] == [*range(COUNT)]
    assert read(decode_original(source, table, found.video, [7])[0]) == 7
    assert transcode(source, tmp_path, 600, [{"resolution": 48}]).plan.frames == COUNT


@pytest.mark.parametrize("angle", [45, 30, -100, 181.5])
def test_a_picture_turned_by_any_angle_is_shown_whole_and_upright(tmp_path, angle):
    # The display matrix turns counterclockwise by its angle.
    path = make(Kind("slanted", options=X264, count=3), tmp_path)
    with av.open(str(path)) as given, av.open(str(tmp_path / "turned.mp4"), "w") as out:
        stream = out.add_stream_from_template(given.streams.video[0])
        stream.set_display_rotation(angle)
        for packet in given.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                out.mux(packet)
    source = FileSource(tmp_path / "turned.mp4")
    found, table = probe(source)
    (shown,) = decode_original(source, table, found.video, [2])
    expected = draw(2).rotate(angle, Image.Resampling.BILINEAR, expand=True)
    assert abs(shown.width - expected.width) <= 2
    assert abs(shown.height - expected.height) <= 2
    back = shown.rotate(-angle, Image.Resampling.BILINEAR)
    left, top = (shown.width - 320) // 2, (shown.height - 240) // 2
    assert read(back.crop((left, top, left + 320, top + 240))) == 2


def tiff(*tags):
    """A TIFF file with these tags in its first directory, and no picture."""
    entries = b"".join(struct.pack("<HHII", tag, 1, 4, 1) for tag in tags)
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + bytes(64)


def braw():
    """A QuickTime file with a sample entry of Blackmagic RAW."""
    data = bytearray(animation_of_mov())
    at = data.index(b"stsd") + 16
    data[at : at + 4] = b"brxq"
    return bytes(data)


def animation_of_mov():
    out = io.BytesIO()
    with av.open(out, "w", format="mov") as container:
        stream = container.add_stream("mjpeg", rate=10)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuvj420p"
        for number in range(3):
            container.mux(stream.encode(av.VideoFrame.from_image(draw(number, SIZE))))
        container.mux(stream.encode(None))
    return out.getvalue()


REFUSED = {
    "an animated WebP image": (lambda: animation("WEBP", lossless=True), "animated PNG, GIF or MP4"),
    "an R3D file": (lambda: bytes(4) + b"RED2" + bytes(500), "REDCINE-X PRO"),
    "Blackmagic RAW": (braw, "DaVinci Resolve"),
    "a DNG image of a camera": (lambda: tiff(254, 50706), "darktable"),
    "a CR2 image of a camera": (lambda: b"II*\0" + bytes([16, 0, 0, 0]) + b"CR" + bytes(90), "darktable"),
    "a CR3 or CRM file of a camera": (lambda: b"\0\0\0\x18ftypcrx " + bytes(400), "ProRes or H.264"),
}


@pytest.mark.parametrize("named", REFUSED)
def test_what_is_not_supported_is_named_with_the_way_round_it(named):
    made, way = REFUSED[named]
    with pytest.raises(BadInput) as refused:
        probe(BytesSource(made()))
    assert named in refused.value.message
    assert way in refused.value.message


def test_a_raw_image_of_a_camera_is_named_and_its_preview_is_not_imported():
    preview = io.BytesIO()
    Image.new("RGB", (160, 120)).save(preview, "TIFF", tiffinfo={50706: b"\1\4\0\0"})
    for data in (tiff(254, 50706), preview.getvalue()):
        with pytest.raises(BadInput) as refused:
            import_image(data)
        assert "it is a DNG image of a camera. Develop it to TIFF, PNG or JPEG" in refused.value.message
