"""Refined shapes in formats: pixels of masks, outlines of turned boxes and ellipses, points of skeletons."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from chalicelib.core.values import rle
from chalicelib.core.values.refinements import corners, ring_area
from chalicelib.core.values.shapes import Refinement
from chalicelib.formats.model import Label, Media, Refined, corners_of, in_pixels, scaled

ELLIPSE_CORNERS = 72
"""Corners of the outline of an ellipse: it has 99.87 % of its area."""


class ShapeDocument(msgspec.Struct, kw_only=True):
    """The members of a localization's document that `shape_of` and `refined_of` read, and what the shape is of."""

    id: int
    type: int
    media: int
    frame: int
    version: int
    x: float | None = None
    y: float | None = None
    width: float | None = None
    height: float | None = None
    u: float | None = None
    v: float | None = None
    points: list[tuple[float, float]] | None = None
    mask: dict[str, Any] | None = None
    angle: float | None = None
    form: str | None = None
    closed: bool | None = None
    holes: list[list[tuple[float, float]]] | None = None
    visible: list[int] | None = None


def refined_of(member: Callable[[str], Any], skeleton: Any = None) -> Refined | None:
    """What refines a localization, whose members `member` gives; None for a plain shape."""
    mask = member("mask")
    made = Refined(
        mask=None if mask is None else (*_members_of(mask)[0], _members_of(mask)[1]),
        angle=member("angle") or 0.0,
        is_ellipse=member("form") == "ellipse",
        is_open=member("closed") is False,
        holes=tuple(tuple(number for point in hole for number in point) for hole in member("holes") or ()),
        visible=None if member("visible") is None else tuple(member("visible")),
        points=tuple(skeleton.points) if skeleton else (),
        edges=tuple((first, second) for first, second in skeleton.edges) if skeleton else (),
    )
    return None if made == _PLAIN else made


def _members_of(mask: Any) -> tuple[tuple[int, int], str]:
    height, width = mask["size"] if isinstance(mask, dict) else mask.size
    return (height, width), mask["counts"] if isinstance(mask, dict) else mask.counts


_PLAIN = Refined()


def names_of(refined: Refined | None) -> list[Refinement]:
    """The refinements of a label."""
    if refined is None:
        return []
    has: dict[Refinement, object] = {
        "mask": refined.mask, "angle": refined.angle, "ellipse": refined.is_ellipse, "open": refined.is_open,
        "holes": refined.holes, "skeleton": refined.points or refined.visible,
    }  # fmt: skip
    return [name for name, value in has.items() if value]


def members_of(refined: Refined | None, allowed: Iterable[str]) -> tuple[dict[str, Any], list[str]]:
    """The members of a localization of a type, and the refinements that the type does not allow."""
    if refined is None:
        return {}, []
    names, allowed = names_of(refined), set(allowed)
    made: dict[str, Any] = {}
    if refined.mask is not None:
        made["mask"] = {"size": list(refined.mask[:2]), "counts": refined.mask[2]}
    made |= {"angle": refined.angle or None, "form": "ellipse" if refined.is_ellipse else None}
    made |= {"closed": False if refined.is_open else None, "visible": refined.visible and list(refined.visible)}
    made["holes"] = [_pairs(hole) for hole in refined.holes] or None
    own: dict[str, Refinement] = {
        "mask": "mask", "angle": "angle", "form": "ellipse", "closed": "open", "holes": "holes", "visible": "skeleton"
    }  # fmt: skip
    kept = {name: value for name, value in made.items() if value is not None and own[name] in allowed}
    return kept, [name for name in names if name not in allowed]


def _pairs(numbers: Sequence[float]) -> list[list[float]]:
    return [list(point) for point in zip(numbers[::2], numbers[1::2], strict=True)]


def pixel_label(label: Label, media: Media) -> Label:
    """A label in pixels, its holes too."""
    made = in_pixels(label, media)
    if label.unit == "fraction" and label.refined is not None and label.refined.holes:
        holes = tuple(scaled(hole, media.width, media.height) for hole in label.refined.holes)
        made = msgspec.structs.replace(made, refined=msgspec.structs.replace(label.refined, holes=holes))
    return made


def outline(label: Label) -> list[tuple[float, float]]:
    """The points around a label in pixels: of a turned box its corners, of an ellipse some of its border."""
    refined = label.refined
    if label.kind != "box" or refined is None or not (refined.angle or refined.is_ellipse):
        return corners_of(label)
    x, y, width, height = label.shape
    if not refined.is_ellipse:
        return corners((x, y, width, height), refined.angle, (1.0, 1.0))
    sine, cosine = math.sin(math.radians(refined.angle)), math.cos(math.radians(refined.angle))
    found = []
    for step in range(ELLIPSE_CORNERS):
        turn = 2 * math.pi * step / ELLIPSE_CORNERS
        along, down = math.cos(turn) * width / 2, math.sin(turn) * height / 2
        found.append((x + width / 2 + along * cosine - down * sine, y + height / 2 + along * sine + down * cosine))
    return found


def bounds(label: Label) -> tuple[float, float, float, float]:
    """The upright box around a label in pixels: x, y, width, height; a box that is not turned as it is, to the bit."""
    if label.kind == "box" and not (label.refined and label.refined.angle):
        x, y, width, height = label.shape
        return x, y, width, height
    xs, ys = zip(*outline(label), strict=True)
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def area(label: Label) -> float:
    """The pixels that a label in pixels covers, as real numbers; of a mask, its own."""
    refined = label.refined
    if refined is not None and refined.mask is not None:
        return float(rle.area(rle.decode(refined.mask[2])))
    if refined is not None and refined.is_ellipse:
        return math.pi / 4 * label.shape[2] * label.shape[3]
    if label.kind == "box":
        return label.shape[2] * label.shape[3]
    if refined is not None and (refined.is_open or refined.visible is not None):
        return 0.0
    holes = refined.holes if refined is not None else ()
    return ring_area(outline(label)) - sum(ring_area(_pairs(hole)) for hole in holes)


def runs(label: Label, media: Media) -> list[int]:
    """The run lengths of a closed label in the whole picture: those of its mask, else of what it covers."""
    shape, picture = pixel_label(label, media), (media.height, media.width)
    if label.refined is None or label.refined.mask is None:
        return rle.filled(rings(shape), picture)
    height, width, counts = label.refined.mask
    left = min(max(round(shape.shape[0]), 0), media.width - width)
    top = min(max(round(shape.shape[1]), 0), media.height - height)
    return rle.whole(rle.decode(counts), (height, width), (top, left), picture)


def mask_shape(found: Sequence[int], height: int) -> tuple[tuple[float, ...], Refined]:
    """The box in pixels and the mask of run lengths of a whole picture.

    Raises:
        ValueError: the mask has no pixel, or more than a picture has.
    """
    if max(height, -(-sum(found) // max(height, 1))) > rle.LONGEST_SIDE or sum(found) > rle.MOST_PIXELS:
        message = f"a mask has sides of {rle.LONGEST_SIDE:,} pixels at most, and {rle.MOST_PIXELS:,} in all"
        raise ValueError(message)
    if not rle.area(found):
        message = "the mask has no pixel"
        raise ValueError(message)
    top, left, tall, wide, inner = rle.part(found, (height, 0))
    return (float(left), float(top), float(wide), float(tall)), Refined(mask=(tall, wide, rle.encode(inner)))


def rings(label: Label) -> list[list[tuple[float, float]]]:
    """The outlines of a closed label in pixels: around it, then of its holes."""
    holes = label.refined.holes if label.refined is not None else ()
    return [outline(label), *([(x, y) for x, y in _pairs(hole)] for hole in holes)]
