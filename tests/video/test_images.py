import contextlib
import io
import struct
import zlib

import pytest
from PIL import Image

from chalicelib.errors import BadInput, LimnError, TooLarge
from chalicelib.video import images
from chalicelib.video.images import import_image


def encoded(image, form, **options):
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def picture(size=(300, 200), mode="RGB"):
    image = Image.new(mode, size)
    image.paste(Image.new(mode, (size[0] // 2, size[1] // 2), "white"), (0, 0))
    return image


def decoded(data):
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


@pytest.mark.parametrize(("form", "mime"), [("PNG", "image/png"), ("JPEG", "image/jpeg")])
def test_png_and_jpeg_stay_as_they_are(form, mime):
    data = encoded(picture(), form)
    made = import_image(data)
    assert (made.data, made.mime, made.width, made.height) == (data, mime, 300, 200)
    assert decoded(made.thumbnail).size == (made.thumbnail_width, made.thumbnail_height) == (256, 171)


@pytest.mark.parametrize("form", ["TIFF", "WEBP", "AVIF", "BMP", "GIF"])
def test_other_formats_become_png(form):
    made = import_image(encoded(picture(), form))
    assert (made.mime, made.extension, made.width, made.height) == ("image/png", "png", 300, 200)
    shown = decoded(made.data)
    assert (shown.format, shown.size) == ("PNG", (300, 200))
    assert min(shown.convert("RGB").getpixel((5, 5))) > 240


@pytest.mark.parametrize(
    ("orientation", "corner"), [(2, (295, 5)), (3, (295, 195)), (4, (5, 195)), (6, (195, 5)), (8, (5, 295))]
)
@pytest.mark.parametrize("form", ["JPEG", "PNG"])
def test_a_camera_held_sideways_gives_an_upright_png(orientation, corner, form):
    exif = Image.Exif()
    exif[0x0112] = orientation
    made = import_image(encoded(picture(), form, exif=exif))
    shown = decoded(made.data)
    assert shown.format == "PNG"
    assert shown.size == (made.width, made.height) == ((200, 300) if orientation > 4 else (300, 200))
    assert min(shown.convert("RGB").getpixel(corner)) > 240
    assert decoded(made.thumbnail).width / decoded(made.thumbnail).height == pytest.approx(
        shown.width / shown.height, abs=0.01
    )


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16", "F"])
def test_every_kind_of_pixel_gets_a_thumbnail(mode):
    image = Image.new(mode, (64, 32)) if mode in ("I;16", "F") else picture((64, 32)).convert(mode)
    if mode in ("I;16", "F"):
        image.putpixel((3, 3), 40_000)
    made = import_image(encoded(image, "TIFF"))
    assert (made.width, made.height) == (64, 32)
    assert decoded(made.thumbnail).size == (64, 32)


def test_small_pictures_are_not_enlarged():
    made = import_image(encoded(picture((1, 1)), "PNG"))
    assert (made.width, made.height, made.thumbnail_width, made.thumbnail_height) == (1, 1, 1, 1)


def png_of(width, height):
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("size", [(30_000, 30_000), (66_000, 1), (16_000, 9_000)])
def test_a_bomb_is_refused_from_its_header(size):
    with pytest.raises(TooLarge, match="pixels"):
        import_image(png_of(*size))


def test_too_many_bytes_are_refused(monkeypatch):
    monkeypatch.setattr(images, "MAX_BYTES", 10)
    with pytest.raises(TooLarge, match="bytes"):
        import_image(bytes(11))


@pytest.mark.parametrize(
    "data",
    [b"", b"text", b"<html>", b"\x89PNG\r\n\x1a\n", encoded(picture(), "JPEG")[:600], png_of(500, 500), b"%!PS-Adobe"],
    ids=["empty", "text", "html", "head", "cut", "short", "script"],
)
def test_what_is_no_image_is_refused(data):
    with pytest.raises(BadInput):
        import_image(data)


def test_damage_never_escapes_as_another_error():
    for form in ("PNG", "JPEG", "TIFF", "GIF", "WEBP", "BMP", "AVIF"):
        whole = encoded(picture((40, 30)), form)
        for place in range(0, len(whole), max(1, len(whole) // 40)):
            data = bytearray(whole)
            data[place] ^= 0xFF
            with contextlib.suppress(LimnError):
                import_image(bytes(data))
