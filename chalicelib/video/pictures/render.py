"""Pictures as files: cropping, scaling, tiling and animating."""

from __future__ import annotations

import io
import re
import struct
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from math import ceil, isqrt
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from chalicelib.errors import BadInput
from chalicelib.video.files.opening import refusing
from chalicelib.video.plan import MAX_SIDE, even

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_OUTPUT_PIXELS = 134_217_728
_MIMES = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "mp4": "video/mp4"}
JPEG_QUALITY, JPEG_SUBSAMPLING = 92, "4:2:0"
_PNG_START, _PNG_UP, _PNG_LEVEL = b"\x89PNG\r\n\x1a\n", b"\2", 2
_EPSILON = 1e-9
# Browsers slow down animations whose pictures last less than two hundredths of a second.
_SHORTEST_GIF_MS = 20
_ROI_PARTS = 4
_SAMPLED_SIDE = 96
_SIX_BITS = [value & 0xFC | value >> 6 for value in range(256)] * 3


class Roi(Struct, frozen=True):
    """A part of a picture relative to its size: `width`, `height` and the top left corner, each 0 … 1."""

    width: float
    height: float
    x: float
    y: float


class RenderOptions(Struct, frozen=True, kw_only=True):
    """How pictures become one file.

    `tile` is (columns, rows), `force_scale` (width, height) in pixels, `animate` pictures per second or 0; `rois`
    holds none, one for all or one for each picture.
    """

    format: Literal["png", "jpg", "gif", "mp4"] = "png"
    tile: tuple[int, int] | None = None
    rois: tuple[Roi, ...] = ()
    force_scale: tuple[int, int] | None = None
    animate: float = 0


def parse_size(text: str, name: str) -> tuple[int, int]:
    """`640x480` as (640, 480); raises BadInput naming the parameter."""
    match = re.fullmatch(r"\s*(\d{1,5})\s*[xX]\s*(\d{1,5})\s*", text)
    width, height = (int(part) for part in match.groups()) if match else (0, 0)
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise BadInput(f"{name} must be WIDTHxHEIGHT in pixels, each 1 to {MAX_SIDE}, not {text!r}.")
    return width, height


def parse_rois(text: str) -> tuple[Roi, ...]:
    """`w:h:x:y`, several separated by commas, relative to the picture's size; larger values are clamped to 1."""
    rois = []
    for part in text.split(","):
        try:
            numbers = [min(max(float(number), 0.0), 1.0) for number in part.split(":")]
        except ValueError:
            numbers = []
        if len(numbers) != _ROI_PARTS or any(number != number for number in numbers):  # noqa: PLR0124 - nan
            raise BadInput(f"roi must be w:h:x:y relative to the picture, not {part!r}.")
        rois.append(Roi(*numbers))
    return tuple(rois)


def check_options(count: int, options: RenderOptions) -> None:
    """Raise BadInput for options that do not go together or with `count` pictures; call it before decoding."""
    if len(options.rois) not in (0, 1, count):
        raise BadInput(f"roi must be given once or once for each frame: {len(options.rois)} for {count} frames.")
    if options.animate and options.tile:
        raise BadInput("animate and tile exclude each other.")


def prepare(image: Image, roi: Roi | None, scale: tuple[int, int] | None) -> Image:
    """Crop a picture to `roi` and scale it to `scale` (width, height)."""
    from PIL.Image import Resampling  # noqa: PLC0415 - kept off the API's cold start

    if roi:
        wide, high = (
            max(1, round(part * side)) for part, side in zip((roi.width, roi.height), image.size, strict=True)
        )
        left, top = round(roi.x * image.width), round(roi.y * image.height)
        # Rounding of both the place and the size must not take a pixel off a part that lies within the picture.
        if roi.x + roi.width <= 1 + _EPSILON:
            left = min(left, image.width - wide)
        if roi.y + roi.height <= 1 + _EPSILON:
            top = min(top, image.height - high)
        left, top = min(max(left, 0), image.width - 1), min(max(top, 0), image.height - 1)
        image = image.crop((left, top, min(image.width, left + wide), min(image.height, top + high)))
    if scale:
        image = image.resize(scale, Resampling.LANCZOS)
    return image


def render_frames(images: Sequence[Image], options: RenderOptions) -> tuple[bytes, str]:
    """The file of one or more pictures and its media type.

    Several pictures are tiled row by row, unless `animate` makes them a gif (or mp4, if asked for). Raises BadInput
    for options that do not go together and results that would be absurdly large.
    """
    if not images:
        raise BadInput("No frame was asked for.")
    check_options(len(images), options)
    rois = options.rois if len(options.rois) > 1 else (options.rois or (None,)) * len(images)
    ready = [prepare(image, roi, options.force_scale) for image, roi in zip(images, rois, strict=True)]
    if options.animate and len(ready) > 1:
        if options.format == "mp4":
            return encode_mp4(ready, Fraction(options.animate).limit_denominator(1001)), _MIMES["mp4"]
        return encode_gif(ready, options.animate), _MIMES["gif"]
    still = ready[0] if len(ready) == 1 else tiled(ready, options.tile)
    if options.format == "mp4":
        return encode_mp4([still], Fraction(1)), _MIMES["mp4"]
    return encode_still(still, options.format), _MIMES[options.format]


def tiled(images: Sequence[Image], tile: tuple[int, int] | None) -> Image:
    """The pictures in a grid, row by row, empty cells black; a grid too small for them is replaced by a square one."""
    from PIL import Image as Images  # noqa: PLC0415 - see `prepare`

    columns, rows = tile or (0, 0)
    if columns * rows < len(images):
        columns = isqrt(len(images) - 1) + 1
        rows = ceil(len(images) / columns)
    width, height = max(image.width for image in images), max(image.height for image in images)
    if columns * width * rows * height > MAX_OUTPUT_PIXELS:
        message = f"A grid of {columns} x {rows} pictures of {width} x {height} pixels is too large; use force_scale."
        raise BadInput(message)
    grid = Images.new("RGB", (columns * width, rows * height))
    for number, image in enumerate(images):
        grid.paste(image, (number % columns * width, number // columns * height))
    return grid


def encode_still(image: Image, form: Literal["png", "jpg", "gif"]) -> bytes:
    """One picture as a file."""
    out = io.BytesIO()
    if form == "jpg":
        plain = image if image.mode == "RGB" else image.convert("RGB")
        plain.save(out, "JPEG", quality=JPEG_QUALITY, subsampling=JPEG_SUBSAMPLING)
    elif form == "gif":
        image.save(out, "GIF")
    elif image.mode == "RGB":
        return encode_png(image)
    else:
        image.save(out, "PNG", compress_level=1)
    return out.getvalue()


def encode_png(image: Image) -> bytes:
    """An RGB picture as PNG: each row as its difference to the row above, deflated by ISA-L.

    An eighth of the time that Pillow takes at its fastest, and no more bytes.
    """
    from isal import isal_zlib  # noqa: PLC0415 - kept off the cold start of what draws nothing
    from PIL import Image as Images  # noqa: PLC0415
    from PIL import ImageChops  # noqa: PLC0415

    above = Images.new("RGB", image.size)
    above.paste(image, (0, 1))
    data, row = ImageChops.subtract_modulo(image, above).tobytes(), 3 * image.width
    rows = b"".join(part for at in range(0, len(data), row) for part in (_PNG_UP, data[at : at + row]))

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", isal_zlib.crc32(name + body))

    head = struct.pack(">IIBBBBB", image.width, image.height, 8, 2, 0, 0, 0)
    content = isal_zlib.compress(rows, _PNG_LEVEL)
    return b"".join((_PNG_START, chunk(b"IHDR", head), chunk(b"IDAT", content), chunk(b"IEND", b"")))


def encode_gif(images: Sequence[Image], fps: float) -> bytes:
    """An endless animation at `fps` pictures per second; GIF knows only hundredths of a second."""
    palettes = [_indexed(image) for image in images]
    out = io.BytesIO()
    duration = max(_SHORTEST_GIF_MS, round(100 / fps) * 10)
    palettes[0].save(
        out, "GIF", save_all=True, append_images=palettes[1:], duration=duration, loop=0, optimize=False, disposal=1
    )
    return out.getvalue()


def _indexed(image: Image) -> Image:
    """A picture of at most 256 colours: exactly its own where it has no more, else those that fit a sample of it best.

    The time for the best colours grows with their number, of which a photograph has as many as pixels.
    """
    from PIL.Image import Dither, Quantize, Resampling  # noqa: PLC0415 - see `prepare`

    whole = image.convert("RGB")
    if whole.getcolors(256):
        return whole.quantize(256, Quantize.MEDIANCUT)
    width, height = (min(side, _SAMPLED_SIDE) for side in whole.size)
    sample = whole.resize((width, height), Resampling.NEAREST).point(_SIX_BITS)
    return whole.quantize(palette=sample.quantize(256, Quantize.MEDIANCUT), dither=Dither.NONE)


def encode_mp4(images: Sequence[Image], fps: Fraction) -> bytes:
    """A silent H.264 video at `fps`; sides are evened, and every picture takes the first one's size."""
    import av  # noqa: PLC0415 - see video.opening

    width, height = (even(Fraction(side)) for side in images[0].size)
    with tempfile.TemporaryDirectory() as folder, refusing("The frames cannot be encoded"):
        # A path, not a file object: moving the index to the front reopens the file.
        path = Path(folder) / "frames.mp4"
        with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
            stream = container.add_stream("libx264", rate=fps, options={"preset": "veryfast", "crf": "20"})
            stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
            stream.codec_context.time_base = 1 / fps
            for number, image in enumerate(images):
                picture = av.VideoFrame.from_image(image.convert("RGB"))  # type: ignore[no-untyped-call]  # in its stubs
                scaled = picture.reformat(width, height, "yuv420p", dst_color_range=1)
                scaled.pts, scaled.time_base = number, 1 / fps
                container.mux(stream.encode(scaled))
            container.mux(stream.encode(None))
        return path.read_bytes()
