"""The still and the animated thumbnail of a video."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from chalicelib.video.decoding.frame import decode_frames, decode_original
from chalicelib.video.files.source import Source, SourceFile
from chalicelib.video.pictures.render import encode_gif, encode_still
from chalicelib.video.plan import Probe
from chalicelib.video.timing import FrameTable

if TYPE_CHECKING:
    from PIL.Image import Image

WIDTH = 256
_MOST_PICTURES = 60
_SPEED = 4


class Thumbnail(Struct, frozen=True):
    """A thumbnail's file, its width and height in pixels and its media type."""

    data: bytes
    width: int
    height: int
    mime: str


def thumbnail(source: Source | SourceFile, probe: Probe, table: FrameTable) -> Thumbnail:
    """The first frame as a JPEG 256 pixels wide."""
    image = _scaled(decode_original(source, table, probe.video, [0])[0])
    return Thumbnail(encode_still(image, "jpg"), image.width, image.height, "image/jpeg")


def animated_thumbnail(source: Source, segment_info: Any, fps: Fraction, num_frames: int) -> Thumbnail:
    """A GIF of one frame a second (or every 60th of a longer video), 256 pixels wide, at four times the speed."""
    duration = num_frames / fps
    step = max(Fraction(1), duration / min(Fraction(_MOST_PICTURES), duration))
    count = max(1, min(_MOST_PICTURES, int(duration / step)))
    frames = [min(num_frames - 1, int(number * step * fps)) for number in range(count)]
    images = decode_frames(source, segment_info, frames, _scaled)
    return Thumbnail(encode_gif(images, float(_SPEED / step)), images[0].width, images[0].height, "image/gif")


def _scaled(image: Image) -> Image:
    """A picture scaled to the thumbnails' width."""
    from PIL.Image import Resampling  # noqa: PLC0415 - kept off the API's cold start

    height = max(1, round(image.height * WIDTH / image.width))
    return image.resize((WIDTH, height), Resampling.LANCZOS, reducing_gap=2.0)
