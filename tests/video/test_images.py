import contextlib
import io
import struct
import zlib

import pytest
from PIL import Image, ImageCms

from chalicelib.errors import BadInput, LimnError, TooLarge
from chalicelib.video.files.source import BytesSource
from chalicelib.video.pictures import drawing, images
from chalicelib.video.pictures.images import import_image
from chalicelib.video.pictures.render import RenderOptions


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


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "The file is empty."),
        (encoded(picture(), "JPEG")[:600], "it is a JPEG image that is damaged or incomplete."),
        (encoded(picture(), "PNG")[:200], "it is a PNG image that is damaged or incomplete."),
        (encoded(picture(), "TIFF")[:900], "it is a TIFF image that is damaged or incomplete."),
        (encoded(picture(), "WEBP")[:60], "it is a WebP image that is damaged or incomplete."),
        (b"\0\0\0\x18ftypheic" + bytes(99), "it is a HEIF or AVIF image that is damaged or incomplete."),
        (encoded(picture(), "ICO"), "it is an icon. Accepted are PNG"),
        (encoded(picture(), "PPM"), "it is a PNM image. Accepted are PNG"),
        (encoded(picture(), "EPS"), "it is a PostScript document. Accepted are PNG"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "it is an SVG drawing. Accepted are PNG"),
        (b"8BPS\0\1" + bytes(99), "it is a Photoshop file. Accepted are PNG"),
        (b"\xff\x0a" + bytes(99), "it is a JPEG XL image. Accepted are PNG"),
        (b"\0\0\0\x18ftypmp42" + bytes(99), "it is an MP4 or MOV file. Accepted are PNG"),
        (b"\x1a\x45\xdf\xa3" + bytes(99), "it is a Matroska or WebM file. Accepted are PNG"),
    ],
)
def test_a_refusal_names_what_the_file_is(data, words):
    with pytest.raises(BadInput) as refused:
        import_image(data)
    assert words in refused.value.message


def test_damage_never_escapes_as_another_error():
    for form in ("PNG", "JPEG", "TIFF", "GIF", "WEBP", "BMP", "AVIF"):
        whole = encoded(picture((40, 30)), form)
        for place in range(0, len(whole), max(1, len(whole) // 40)):
            data = bytearray(whole)
            data[place] ^= 0xFF
            with contextlib.suppress(LimnError):
                import_image(bytes(data))


def box(name, *parts):
    body = b"".join(parts)
    return struct.pack(">I4s", 8 + len(body), name) + body


def heic(image, quarter_turns=0):
    """A HEIF file of one picture, as telephones make them: one HEVC keyframe and what says how to show it."""
    import av

    out = io.BytesIO()
    with av.open(out, "w", format="mp4") as container:
        stream = container.add_stream(
            "libx265", rate=25, options={"x265-params": "log-level=none:bframes=0:keyint=1", "crf": "5"}
        )
        stream.width, stream.height, stream.pix_fmt = *image.size, "yuv420p"
        container.mux(stream.encode(av.VideoFrame.from_image(image)))
        container.mux(stream.encode(None))
    out.seek(0)
    with av.open(out) as container:
        decoder = container.streams.video[0].codec_context.extradata
        payload = bytes(next(packet for packet in container.demux() if packet.size))
    full = b"\0\0\0\0"
    properties = box(
        b"ipco",
        box(b"hvcC", decoder),
        box(b"ispe", full, struct.pack(">II", *image.size)),
        box(b"irot", bytes([quarter_turns])),
    )
    head = box(b"ftyp", b"heic", full, b"mif1heic")

    def meta(offset):
        return box(
            b"meta",
            full,
            box(b"hdlr", full, full, b"pict", bytes(13)),
            box(b"pitm", full, b"\0\1"),
            box(b"iinf", full, b"\0\1", box(b"infe", b"\2\0\0\0", b"\0\1\0\0hvc1\0")),
            box(b"iprp", properties, box(b"ipma", full, b"\0\0\0\1\0\1\3\x81\2\x83")),
            box(b"iloc", full, b"\x44\0\0\1\0\1\0\0\0\1", struct.pack(">II", offset, len(payload))),
        )

    return head + meta(len(head) + len(meta(0)) + 8) + box(b"mdat", payload)


@pytest.mark.parametrize(
    ("turns", "size", "corner"), [(0, (320, 192), (5, 5)), (1, (192, 320), (5, 315)), (2, (320, 192), (315, 187))]
)
def test_pictures_of_telephones_become_upright_png(turns, size, corner):
    made = import_image(heic(picture((320, 192)), turns))
    assert (made.mime, made.width, made.height) == ("image/png", *size)
    assert min(decoded(made.data).convert("RGB").getpixel(corner)) > 240
    assert decoded(made.thumbnail).size == (made.thumbnail_width, made.thumbnail_height)


def test_a_damaged_picture_of_a_telephone_is_refused():
    data = heic(picture((320, 192)))
    for length in (40, len(data) // 3, len(data) - 200):
        with pytest.raises(BadInput):
            import_image(data[:length])


def test_a_picture_of_a_telephone_larger_than_allowed_is_refused_before_decoding(monkeypatch):
    monkeypatch.setattr(images, "MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(TooLarge):
        import_image(heic(picture((320, 192))))


def drawn(data, **more):
    """What GetFrame makes of an image."""
    view = drawing.View((8, 8), (drawing.Part(0, 0),))
    made, _ = drawing.draw([BytesSource(data)], drawing.Drawing((view,), RenderOptions(**more)))
    return Image.open(io.BytesIO(made))


def test_sixteen_bit_grey_is_shown_by_its_upper_eight_bits():
    image = Image.new("I;16", (8, 8), 0x8000)
    assert drawn(encoded(image, "PNG")).getpixel((4, 4)) == (127, 127, 127)
    assert import_image(encoded(image, "PNG")).data == encoded(image, "PNG")


def test_what_is_transparent_is_shown_on_black():
    image = Image.new("RGBA", (8, 8), (255, 255, 255, 0))
    image.paste((200, 100, 50, 255), (0, 0, 4, 8))
    for form in ("png", "jpg"):
        shown = drawn(encoded(image, "PNG"), format=form).convert("RGB")
        assert max(shown.getpixel((7, 4))) < 12
        assert shown.getpixel((1, 4))[0] > 190
    thumbnail = Image.open(io.BytesIO(import_image(encoded(image, "PNG")).thumbnail))
    assert max(thumbnail.getpixel((7, 4))) < 40


@pytest.mark.parametrize("mode", ["I", "F"])
def test_deep_grey_of_other_kinds_becomes_sixteen_bits(mode):
    image = Image.new("F", (8, 8), 1000.0)
    image.paste(3000.0, (0, 0, 4, 8))
    kept = import_image(encoded(image.convert("I") if mode != "F" else image, "TIFF"))
    found = Image.open(io.BytesIO(kept.data))
    assert found.mode == "I;16"
    assert found.getpixel((1, 1)) > found.getpixel((7, 7))


def test_cmyk_becomes_rgb_without_its_profile():
    image = Image.new("CMYK", (8, 8), (0, 255, 255, 0))
    made = import_image(encoded(image, "TIFF", icc_profile=b"not a profile"))
    found = Image.open(io.BytesIO(made.data))
    assert (found.mode, found.info.get("icc_profile")) == ("RGB", None)
    assert found.getpixel((4, 4))[0] > 200
    assert found.getpixel((4, 4))[1] < 60


@pytest.mark.parametrize(
    ("size", "count", "more", "is_drawn"),
    [
        ((1280, 720), 108, {}, True),
        ((1280, 720), 109, {}, False),
        ((1280, 720), 256, {"force_scale": (640, 360)}, True),
        ((20_000, 10_000), 1, {}, True),
    ],
)
def test_pictures_that_together_are_too_large_are_refused_before_any_is_read(size, count, more, is_drawn):
    view = drawing.View(size, tuple(drawing.Part(number, number) for number in range(count)))
    drawn = drawing.Drawing((view,), RenderOptions(**more))
    with (
        contextlib.nullcontext()
        if is_drawn
        else pytest.raises(BadInput, match="frames: the pictures have 100 million pixels")
    ):
        drawing.check_cost(drawn, "frames")


def test_pictures_that_are_drawn_smaller_count_as_they_are_drawn():
    view = drawing.View((3840, 2160), tuple(drawing.Part(number, number) for number in range(13)))
    assert drawing.pixels_of(drawing.Drawing((view,), RenderOptions())) == 13 * 3840 * 2160
    assert drawing.pixels_of(drawing.Drawing((view,), RenderOptions(), 540)) == 13 * 960 * 540


def profile(*swapped):
    """The ICC profile of sRGB, with the tags of two primaries swapped if named."""
    data = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    places = [data.index(tag) for tag in swapped]
    for place, tag in zip(places, reversed(swapped), strict=True):
        data[place : place + 4] = tag
    return bytes(data)


SWAPPED = profile(b"rXYZ", b"gXYZ")


@pytest.mark.parametrize("form", ["PNG", "JPEG", "TIFF", "WEBP"])
@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P"])
def test_pictures_are_converted_to_srgb_by_their_profile(form, mode):
    if form == "JPEG" and mode != "RGB":
        return
    image = Image.new("RGB", (40, 30), (204, 0, 102)).convert(mode)
    options = {"WEBP": {"lossless": True}, "JPEG": {"quality": 100, "subsampling": 0}}.get(form, {})
    data = encoded(image, form, icc_profile=SWAPPED, **options)
    made = import_image(data)
    stored, small = Image.open(io.BytesIO(made.data)), Image.open(io.BytesIO(made.thumbnail))
    assert stored.info["icc_profile"] == SWAPPED
    if form in ("PNG", "JPEG"):
        assert made.data == data
    for shown in (drawing.open_image(BytesSource(made.data)), small):
        assert all(abs(a - b) <= 6 for a, b in zip(shown.getpixel((20, 15)), (0, 204, 102), strict=True))
    assert small.info.get("icc_profile") is None


@pytest.mark.parametrize("given", [profile(), b"not a profile", profile()[:200], ImageCms.createProfile("XYZ")])
def test_a_profile_of_srgb_or_of_no_use_changes_no_pixel(given):
    given = given if isinstance(given, bytes) else ImageCms.ImageCmsProfile(given).tobytes()
    image = Image.radial_gradient("L").convert("RGB").rotate(30)
    data = encoded(image, "PNG", icc_profile=given)
    assert drawing.open_image(BytesSource(data)).tobytes() == image.tobytes()
