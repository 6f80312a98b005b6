"""Importing still images: upright, in a format browsers show, with limits."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct
from PIL import Image, ImageChops, ImageCms, ImageOps

from chalicelib.core.values import rle
from chalicelib.errors import BadInput, TooLarge
from chalicelib.video.files import naming
from chalicelib.video.files.source import BytesSource, SourceFile

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

MAX_BYTES = 512 * 1024 * 1024
# Decoded, 400 MB of red, green and blue.
MAX_IMAGE_PIXELS = rle.MOST_PIXELS
LARGEST_SIDE = 65_500
THUMBNAIL = (256, 256)

DAMAGE = (
    OSError,
    SyntaxError,
    ValueError,
    ArithmeticError,
    LookupError,
    TypeError,
    AttributeError,
    EOFError,
    RuntimeError,
    AssertionError,
    MemoryError,
    Warning,
    struct.error,
    zlib.error,
)
"""What Pillow's decoders raise on damaged files, which is most of what Python can; warnings where they are errors."""
# Formats that decode in the process; none that calls another program or is a document.
_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "AVIF", "HEIF", "GIF", "BMP", "JPEG2000")
ACCEPTED = "Accepted are PNG, JPEG, TIFF, WebP, AVIF, HEIF, GIF, BMP and JPEG 2000."
_ACCEPTED_NAMES = frozenset(
    {
        "a PNG image",
        "a JPEG image",
        "a TIFF image",
        "a WebP image",
        "an animated WebP image",
        "a HEIF or AVIF image",
        "a GIF image",
        "a BMP image",
        "a JPEG 2000 image",
    }
)
"""Those of `naming` that are accepted."""
_KEPT = {"PNG": ("image/png", "png"), "JPEG": ("image/jpeg", "jpeg"), "MPO": ("image/jpeg", "jpeg")}
_PNG_MODES = frozenset({"1", "L", "LA", "I;16", "P", "RGB", "RGBA"})
_ORIENTATION = 0x0112
_SIXTEEN = frozenset({"I;16", "I;16L", "I;16B", "I;16N"})
_DEEP_MODES = frozenset({"I", "F"}) | _SIXTEEN
_LARGEST_SIXTEEN = 65_535
_PROFILED = ("RGB", "RGBA", "CMYK", "LAB", "L")
"""Modes that LittleCMS converts."""
_ROUNDING = 2

# Pillow's own guard against bombs, which raises before decoding, at our limit.
Image.MAX_IMAGE_PIXELS = MAX_IMAGE_PIXELS


class ImportedImage(Struct, frozen=True):
    """An image to store: upright size in pixels, media type, file name extension, bytes, and its JPEG thumbnail."""

    width: int
    height: int
    mime: str
    extension: str
    data: bytes
    thumbnail: bytes
    thumbnail_width: int
    thumbnail_height: int


def import_image(data: bytes) -> ImportedImage:
    """Check and convert an uploaded image.

    PNG and JPEG that need no turning stay as they are, byte for byte; anything else becomes PNG. Raises TooLarge for
    more bytes or pixels than allowed, before decoding, and BadInput for what is not an image.
    """
    if len(data) > MAX_BYTES:
        raise TooLarge(f"The image has {len(data)} bytes; at most {MAX_BYTES} are allowed.")
    with _opened(data) as picture:
        form, upright = picture.format or "", turned(picture)
        if form in _KEPT and upright is picture:
            mime, extension = _KEPT[form]
            content = data
        else:
            mime, extension = _KEPT["PNG"]
            content = _png(upright)
        return _described(upright, mime, extension, content)


def describe_image(data: bytes) -> ImportedImage:
    """As `import_image` of an image that is kept where it lies: `data` is empty, and nothing is converted.

    The type is that of the file, the size that of the upright picture.
    """
    with _opened(data) as picture:
        mime = Image.MIME.get(picture.format or "", "application/octet-stream")
        return _described(turned(picture), mime, "", b"")


@contextmanager
def _opened(data: bytes) -> Iterator[Picture]:
    """An image, decoded. Raises TooLarge for more pixels than allowed, BadInput for damage found in the block too."""
    # This decoder is installed only where images are imported; other functions do not need it.
    from pi_heif import register_heif_opener  # noqa: PLC0415

    register_heif_opener(thumbnails=False)
    if naming.format_of(SourceFile(BytesSource(data))).endswith("of a camera"):
        # Pillow would read the preview of a few pixels that is in it.
        raise BadInput(_refusal(data))
    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as picture:
            _check_size(picture)
            picture.load()
            yield picture
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise TooLarge(f"The image has more than {MAX_IMAGE_PIXELS} pixels.") from error
    except DAMAGE as error:
        raise BadInput(_refusal(data), str(error)) from error


def _refusal(data: bytes) -> str:
    """Why bytes are no image that can be read."""
    if not data:
        return "The file is empty."
    named = naming.format_of(SourceFile(BytesSource(data)))
    if named in _ACCEPTED_NAMES:
        return f"The file cannot be read: it is {named} that is damaged or incomplete."
    video = named.removeprefix(naming.DAMAGED)
    if video != named:
        named = f"a {video}" if video.startswith("Matroska") else f"an {video}"
    said = f"The file is not an image that can be read{f': it is {named}' if named else ''}."
    way = naming.way_round(named)
    return f"{said} {way} {ACCEPTED}" if way else f"{said} {ACCEPTED}"


def _described(upright: Picture, mime: str, extension: str, content: bytes) -> ImportedImage:
    thumbnail, small = _thumbnail(upright), io.BytesIO()
    thumbnail.save(small, "JPEG", quality=85)
    return ImportedImage(*upright.size, mime, extension, content, small.getvalue(), *thumbnail.size)


def turned(picture: Picture) -> Picture:
    """The picture upright, as its EXIF data say; the same object if it is."""
    if picture.getexif().get(_ORIENTATION, 1) not in range(2, 9):
        return picture
    return ImageOps.exif_transpose(picture)


def _check_size(picture: Picture) -> None:
    """Raise TooLarge by the size in the file's header."""
    if max(picture.size) > LARGEST_SIDE or picture.width * picture.height > MAX_IMAGE_PIXELS:
        message = (
            f"The image is {picture.width} x {picture.height} pixels; "
            f"at most {LARGEST_SIDE} on a side and {MAX_IMAGE_PIXELS} in all are allowed."
        )
        raise TooLarge(message)


def _png(picture: Picture) -> bytes:
    """The picture as PNG; colours are converted only if PNG does not support them, and then the profile is dropped."""
    out = io.BytesIO()
    if picture.mode in _PNG_MODES:
        picture.save(out, "PNG", compress_level=3)
    elif picture.mode in _DEEP_MODES:
        _sixteen_bits(picture).save(out, "PNG", compress_level=3)
    else:
        _in_srgb(picture).save(out, "PNG", compress_level=3, icc_profile=None)
    return out.getvalue()


def to_rgb(picture: Picture) -> Picture:
    """The picture in sRGB of eight bits: on black where it is transparent."""
    if picture.mode in _DEEP_MODES:
        # The upper eight bits, as browsers show sixteen.
        deep = picture if picture.mode in _SIXTEEN else _sixteen_bits(picture)
        return deep.convert("I").point(lambda value: value * (1 / 257)).convert("L").convert("RGB")
    shown = _in_srgb(picture)
    if shown.mode == "RGBA":
        return Image.alpha_composite(Image.new("RGBA", shown.size, (0, 0, 0, 255)), shown).convert("RGB")
    return shown


def _in_srgb(picture: Picture) -> Picture:
    """The picture in RGB, with its transparency if any, converted by its own profile if it has one."""
    profile = picture.info.get("icc_profile")
    plain = "RGBA" if picture.has_transparency_data else "RGB"
    if profile:
        converted = _by_profile(picture if picture.mode in _PROFILED else picture.convert(plain), profile, plain)
        # A profile of other channels than those of the file, as of the grey file that became RGB, says nothing of it.
        if converted is not None:
            return converted
    return picture if picture.mode == plain else picture.convert(plain)


def _by_profile(picture: Picture, profile: bytes, mode: str) -> Picture | None:
    """The picture converted to sRGB by LittleCMS; None where its profile is damaged, of other channels, or sRGB."""
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        output = "RGBA" if picture.mode == mode == "RGBA" else "RGB"
        change = ImageCms.buildTransform(source, ImageCms.createProfile("sRGB"), picture.mode, output)
        if picture.mode == output and _changes_nothing(change, output):
            return None
        return ImageCms.applyTransform(picture, change)
    except (ImageCms.PyCMSError, *DAMAGE):
        return None


def _changes_nothing(change: ImageCms.ImageCmsTransform, mode: str) -> bool:
    """Whether a transform leaves a sample of all colours as it is, but for rounding."""
    levels = range(0, 256, 51)
    colours = bytes(level for red in levels for green in levels for blue in levels for level in (red, green, blue))
    sample = Image.frombytes("RGB", (len(colours) // 3, 1), colours).convert(mode)
    after = sample.copy()
    ImageCms.applyTransform(after, change, inPlace=True)
    low_high = ImageChops.difference(sample.convert("RGB"), after.convert("RGB")).getextrema()
    return max(high for _, high in low_high) <= _ROUNDING  # type: ignore[misc]  # three bands, so pairs of numbers


def _sixteen_bits(picture: Picture) -> Picture:
    """A grey picture of many bits with sixteen; values that do not fit are stretched to them."""
    wide = picture.convert("F")
    low, high = (float(value) for value in wide.getextrema())  # type: ignore[arg-type]  # one band, so two numbers
    if picture.mode == "F" or low < 0 or high > _LARGEST_SIXTEEN:
        span = (high - low) or 1.0
        wide = wide.point(lambda value: value * (_LARGEST_SIXTEEN / span) - low * (_LARGEST_SIXTEEN / span))
    return wide.convert("I").convert("I;16")


def _thumbnail(picture: Picture) -> Picture:
    """The picture within 256 x 256 pixels, shape kept, on black where it is transparent."""
    if picture.mode in _DEEP_MODES:
        # Scientific images use a small part of their range; show that part.
        deep = picture.convert("F")
        low, high = deep.getextrema()
        span = (float(high) - float(low)) or 1.0  # type: ignore[arg-type]  # one band, so two numbers
        small = deep.point(lambda value: value * (255 / span) - float(low) * (255 / span)).convert("L").convert("RGB")  # type: ignore[arg-type]
    else:
        small = to_rgb(picture)
    if small is picture:
        small = picture.copy()
    small.thumbnail(THUMBNAIL, Image.Resampling.LANCZOS, reducing_gap=2.0)
    return small
