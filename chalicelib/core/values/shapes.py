"""The shapes of localizations: one table for all that depends on the dtype of a localization type.

`console/draw/geometry.js` has the same shapes for the browser.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

ShapeKind = Literal["box", "line", "dot", "poly"]
Refinement = Literal["mask", "angle", "ellipse", "open", "holes", "skeleton"]


class Shape(NamedTuple):
    """The geometry and rules of the localizations of one dtype.

    Attributes:
        members: the members of its coordinates, in the order of formats.
        title: the name of a type that an import creates.
        plural: the word in messages.
        refinements: those that a type may allow.
        margin: pixels around it on each side of a picture of it, x and y.
        lows: the least value of each coordinate; the greatest is 1. None where all are 0 and there is any number.
    """

    members: tuple[str, ...]
    title: str
    plural: str
    refinements: tuple[Refinement, ...] = ()
    margin: tuple[int, int] = (0, 0)
    lows: tuple[float, ...] | None = None


SHAPES: dict[str, Shape] = {
    "box": Shape(("x", "y", "width", "height"), "Box", "boxes", ("mask", "angle", "ellipse"), lows=(0.0,) * 4),
    "line": Shape(("x", "y", "u", "v"), "Line", "lines", margin=(10, 10), lows=(0.0, 0.0, -1.0, -1.0)),
    "dot": Shape(("x", "y"), "Dot", "dots", margin=(10, 10), lows=(0.0, 0.0)),
    "poly": Shape(("points",), "Polygon", "polygons", ("open", "holes", "skeleton")),
}
"""By dtype."""
REFINING: dict[Refinement, str] = {
    "mask": "mask", "angle": "angle", "ellipse": "form", "open": "closed", "holes": "holes", "skeleton": "visible"
}  # fmt: skip
"""By refinement, the member of a localization that has it."""


def refinements_of(shape: Any) -> list[Refinement]:
    """The refinements that a localization has."""
    return [
        name
        for name, member in REFINING.items()
        if (getattr(shape, member) is False if member == "closed" else getattr(shape, member))
    ]
