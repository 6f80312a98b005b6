"""Pictures of localizations whose surroundings are transparent."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from chalicelib.core.models.entities import Localization
from chalicelib.core.values import rle
from chalicelib.errors import BadInput
from chalicelib.formats.model import Label, Media, shape_of
from chalicelib.formats.refined import pixel_label, refined_of, rings
from chalicelib.resources.annotations.regions import Region

if TYPE_CHECKING:
    from PIL.Image import Image

_FINER = 4
"""Steps of a pixel in which outlines are drawn, for smooth edges."""
_MOST_FINE = 25_000_000
"""Pixels up to which they are."""


def cut_out(picture: bytes, shape: Localization, dtype: str, part: Region, size: tuple[int, int]) -> bytes:
    """A picture as PNG that is transparent outside of a localization.

    Args:
        picture: the PNG of a part of the media.
        shape: the localization.
        dtype: that of its type.
        part: the part of the media that the picture shows.
        size: width and height of the media in pixels.

    Raises:
        BadInput: the shape has no inside.
    """
    from PIL import Image  # noqa: PLC0415 kept off the API's cold start

    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.putalpha(_alpha(image.size, shape, dtype, part, size))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def _alpha(wanted: tuple[int, int], shape: Localization, dtype: str, part: Region, size: tuple[int, int]) -> Image:
    from PIL import Image, ImageDraw  # noqa: PLC0415

    finer = _FINER if wanted[0] * wanted[1] * _FINER**2 <= _MOST_FINE else 1
    across = wanted[0] * finer / (part.width * size[0])
    down = wanted[1] * finer / (part.height * size[1])
    alpha = Image.new("L", (wanted[0] * finer, wanted[1] * finer))
    if shape.mask is not None:
        height, width = shape.mask.size
        inside = Image.frombytes("L", (height, width), rle.pixels(rle.decode(shape.mask.counts)))
        inside = inside.transpose(Image.Transpose.TRANSPOSE)
        x, y, wide, high = (number or 0.0 for number in (shape.x, shape.y, shape.width, shape.height))
        corner = round((x - part.x) * size[0] * across), round((y - part.y) * size[1] * down)
        shown = max(1, round(wide * size[0] * across)), max(1, round(high * size[1] * down))
        alpha.paste(inside.resize(shown, Image.Resampling.NEAREST), corner)
    else:
        draw = ImageDraw.Draw(alpha)
        for place, ring in enumerate(_rings(shape, dtype, size)):
            points = [((x - part.x * size[0]) * across, (y - part.y * size[1]) * down) for x, y in ring]
            draw.polygon(points, fill=0 if place else 255)
    return alpha if finer == 1 else alpha.resize(wanted, Image.Resampling.BOX)


def _rings(shape: Localization, dtype: str, size: tuple[int, int]) -> list[list[tuple[float, float]]]:
    """The outlines of a shape in pixels of the media."""
    numbers = shape_of(dtype, lambda name: getattr(shape, name))
    refined = refined_of(lambda name: getattr(shape, name))
    is_line = refined is not None and (refined.is_open or refined.visible is not None)
    if numbers is None or dtype not in ("box", "poly") or is_line:
        raise BadInput(f"mask: localization {shape.id} has no inside; boxes and closed polygons have one.")
    label = Label(media="", kind=dtype, shape=numbers, refined=refined)  # type: ignore[arg-type]
    return rings(pixel_label(label, Media(key="", name="", width=size[0], height=size[1])))
