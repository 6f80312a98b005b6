"""What an annotator found on a frame, and how it becomes an annotation of a type. Pure.

Shapes are labels of `formats/model.py` in fractions of the picture; a mask has the pixels of its box in the picture
that was sent, which may be smaller than the media.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from chalicelib.core.values import outlines, rle
from chalicelib.errors import BadInput
from chalicelib.formats import refined as refining
from chalicelib.formats.model import Label, Media, Refined, scaled
from chalicelib.formats.refined import mask_shape

if TYPE_CHECKING:
    from chalicelib.core.models.definitions import LocalizationType

Size = tuple[int, int]
"""Width and height in pixels."""
LONGEST_LABEL = 1_000
MOST_RUNS = 65_536
"""Run lengths of one mask that are read: one of a million pixels has some thousands."""
_PLACES = 9
"""Decimals of fractions: a hundredth of a pixel has seven."""


class Detection(Struct, frozen=True, kw_only=True):
    """One answer of an annotator.

    Attributes:
        shape: where it is; None for a class of the whole frame.
        label: its class.
        confidence: 0 to 1, as the annotator sent it.
        track: the key of its track within the media.
    """

    shape: Label | None = None
    label: str | None = None
    confidence: float | None = None
    track: str | None = None


def number(value: Any, subject: str) -> float:
    """A finite number. Raises ValueError, TypeError or OverflowError for anything else."""
    found = float(value)
    if not math.isfinite(found) or isinstance(value, bool):
        raise ValueError(f"{subject} is not a finite number")
    return found


def text(value: Any, longest: int = LONGEST_LABEL) -> str | None:
    """A class or name, cut at its longest; None for none."""
    return None if value is None else str(value)[:longest]


def box(sides: Sequence[float], angle: float = 0.0, *, is_ellipse: bool = False) -> Label | None:
    """A box in fractions: what of it lies within the picture, a turned one and an ellipse whole where it can be stored.

    None where nothing is left.
    """
    x, y, width, height = sides
    if angle or is_ellipse:
        if min(x, y, width, height) < 0 or x + width > 1 or y + height > 1:
            angle, is_ellipse = 0.0, False  # a part of it is none any more
        elif width and height:
            made = Refined(angle=angle, is_ellipse=is_ellipse)
            return Label(media="", kind="box", shape=(x, y, width, height), refined=made)
    left, top, right, bottom = _unit(x), _unit(y), _unit(x + width), _unit(y + height)
    if right <= left or bottom <= top:
        return None
    return Label(media="", kind="box", shape=(left, top, right - left, bottom - top))


def polygon(
    points: Sequence[Sequence[float]], holes: Sequence[Sequence[Sequence[float]]] = (), *, is_open: bool = False
) -> Label | None:
    """A polygon or polyline in fractions, its points moved into the picture; None with too few points."""
    flat = _flat(points)
    if len(flat) < (4 if is_open else 6):
        return None
    inner = tuple(_flat(hole) for hole in holes if len(hole) > 2)  # noqa: PLR2004 corners of a triangle
    made = Refined(is_open=is_open, holes=inner) if is_open or inner else None
    return Label(media="", kind="poly", shape=flat, refined=made)


def dot(x: float, y: float) -> Label | None:
    """A point in fractions; None outside of the picture."""
    is_inside = 0 <= x <= 1 and 0 <= y <= 1
    return Label(media="", kind="dot", shape=(x, y)) if is_inside else None


def mask(runs: Sequence[int], size: Size) -> Label | None:
    """A mask of the whole picture; None without a pixel.

    Raises:
        ValueError: the runs are not those of a picture of the size.
    """
    width, height = size
    if len(runs) > MOST_RUNS:
        raise ValueError(f"a mask has {len(runs)} runs; {MOST_RUNS} are accepted")
    if sum(runs) != width * height or min(runs, default=0) < 0:
        raise ValueError(f"a mask does not have the {width} x {height} pixels of the picture")
    if not rle.area(runs):
        return None
    sides, made = mask_shape(runs, height)
    return Label(media="", kind="box", shape=scaled(sides, 1 / width, 1 / height), refined=made)


def _flat(points: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(_unit(each) for x, y in points for each in (x, y))


def _unit(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def bounds(shape: Label) -> tuple[float, float, float, float] | None:
    """The upright box around a shape in fractions, cut at the picture; None for a dot."""
    if shape.kind == "dot":
        return None
    x, y, width, height = refining.bounds(shape)
    made = box((x, y, width, height))
    return None if made is None else (made.shape[0], made.shape[1], made.shape[2], made.shape[3])


# --- a shape as one of a type ----------------------------------------------------------------------------------------


def geometry(shape: Label, of: LocalizationType, picture: Size, media: Size) -> dict[str, Any] | None:
    """The members of a localization of a type; None where the type has no form of the shape.

    Args:
        shape: what was found.
        of: the type.
        picture: the size of the picture that was sent, whose pixels a mask has.
        media: the size of the media, whose pixels a stored mask has.
    """
    if of.dtype == "dot":
        return _dot(shape)
    if shape.kind == "dot" or of.dtype not in ("box", "poly"):
        return None
    refined = shape.refined or Refined()
    if refined.is_open:
        is_held = of.dtype == "poly" and "open" in of.refinements
        return _poly(shape.shape, {"closed": False}) if is_held else None
    return _box(shape, of, picture, media) if of.dtype == "box" else _outline(shape, of, picture)


def _dot(shape: Label) -> dict[str, Any] | None:
    return {"x": shape.shape[0], "y": shape.shape[1]} if shape.kind == "dot" else None


def _box(shape: Label, of: LocalizationType, picture: Size, media: Size) -> dict[str, Any] | None:
    refined = shape.refined or Refined()
    if "mask" in of.refinements and (refined.mask is not None or shape.kind == "poly"):
        return _mask(shape, picture, media)
    if shape.kind == "box" and refined.mask is None:
        kept, lost = refining.members_of(shape.refined, of.refinements)
        if not lost:
            return _sides(shape.shape) | kept
    found = bounds(_in_aspect(shape, picture))
    return None if found is None else _sides(found)


def _in_aspect(shape: Label, picture: Size) -> Label:
    """A turned box as the polygon of its corners: a turn is one of pixels."""
    if not (shape.refined and (shape.refined.angle or shape.refined.is_ellipse)):
        return shape
    around = refining.outline(refining.pixel_label(shape, _media(picture)))
    flat = tuple(each for x, y in around for each in (_unit(x / picture[0]), _unit(y / picture[1])))
    return Label(media="", kind="poly", shape=flat)


def _mask(shape: Label, picture: Size, media: Size) -> dict[str, Any] | None:
    runs = refining.runs(shape, _media(media if shape.kind == "poly" else picture))
    if shape.kind != "poly" and picture != media:
        runs = _with_size(runs, picture, media)
    if not rle.area(runs):
        return None
    sides, made = mask_shape(runs, media[1])
    found = scaled(sides, 1 / media[0], 1 / media[1])
    assert made.mask is not None  # noqa: S101 mask_shape makes one
    return {**_exact_sides(found), "mask": {"size": list(made.mask[:2]), "counts": made.mask[2]}}


def _with_size(runs: Sequence[int], picture: Size, media: Size) -> list[int]:
    """The runs of a mask of another size: each pixel has the value of the nearest one."""
    from PIL import Image  # noqa: PLC0415 kept off the API's cold start

    (width, height), (wide, high) = picture, media
    if wide * high > rle.MOST_PIXELS:
        raise BadInput(f"mask: a media of {wide} x {high} pixels is too large for one; {rle.MOST_PIXELS:,} are drawn.")
    lying = Image.frombytes("L", (height, width), rle.pixels(runs))  # a row of it is a column of the picture
    return rle.runs_of(lying.resize((high, wide), Image.Resampling.NEAREST).tobytes())


def _outline(shape: Label, of: LocalizationType, picture: Size) -> dict[str, Any] | None:
    refined = shape.refined or Refined()
    if refined.mask is not None:
        outer, holes = outlines.of_mask(refining.runs(shape, _media(picture)), picture[1])
        flat = _fractions(outer, picture)
        inner = [_fractions(hole, picture) for hole in holes]
    elif shape.kind == "box":
        flat, inner = _in_aspect(_as_polygon(shape), picture).shape, []
    else:
        flat, inner = shape.shape, list(refined.holes)
    kept = {"holes": [_pairs(hole) for hole in inner]} if inner and "holes" in of.refinements else {}
    return _poly(flat, kept)


def _as_polygon(shape: Label) -> Label:
    """A box that has an outline: an upright one as one that is turned by nothing."""
    if shape.refined is not None:
        return shape
    x, y, width, height = shape.shape
    flat = (x, y, x + width, y, x + width, y + height, x, y + height)
    return Label(media="", kind="poly", shape=flat)


def _fractions(ring: Sequence[tuple[float, float]], picture: Size) -> tuple[float, ...]:
    return tuple(each for x, y in ring for each in (x / picture[0], y / picture[1]))


def _poly(flat: Sequence[float], more: dict[str, Any]) -> dict[str, Any]:
    return {"points": _pairs(flat), **more}


def _pairs(flat: Sequence[float]) -> list[list[float]]:
    return [[round(x, _PLACES), round(y, _PLACES)] for x, y in zip(flat[::2], flat[1::2], strict=True)]


def _sides(sides: Sequence[float]) -> dict[str, Any]:
    return dict(zip(("x", "y", "width", "height"), sides, strict=True))


def _exact_sides(sides: Sequence[float]) -> dict[str, Any]:
    """Sides of a mask, which end within the picture in spite of rounding."""
    x, y, width, height = sides
    return _sides((x, y, min(width, 1 - x), min(height, 1 - y)))


def _media(size: Size) -> Media:
    return Media(key="", name="", width=size[0], height=size[1])


def attributes(found: Detection, names: Any, model: str) -> dict[str, object]:
    """The attributes of a draft: its class, its confidence and the model, under the names that an annotator has."""
    values = {
        names.label_attribute: found.label,
        names.confidence_attribute: found.confidence,
        names.model_attribute: model,
    }
    return {name: value for name, value in values.items() if name and value is not None}
