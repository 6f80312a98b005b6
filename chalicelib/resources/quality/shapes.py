"""The shapes of localizations as they are compared, from their documents in the view."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import LocalizationType
from chalicelib.core.values.refinements import corners
from chalicelib.formats.refined import ShapeDocument
from chalicelib.query.tree import Query, Sort
from chalicelib.resources.quality.matching import Shape
from chalicelib.storage.dynamodb import entities


class Row(ShapeDocument, kw_only=True):
    """The members of a localization's document that a comparison reads."""

    created_by: int | None = None
    created_datetime: str = ""
    attributes: dict[str, Any] = {}


_FEWEST = {"poly": 3, "path": 2, "skeleton": 1}
"""Points of a shape that has a place."""
_decode = msgspec.json.Decoder(Row).decode


def rows(project: int, query: Query, scope: Scope, attribute: str | None) -> Iterator[tuple[Row, Shape]]:
    """The localizations that a query finds and their shapes, in the order of media and frame; none without place.

    Args:
        project: the project.
        query: which.
        scope: the reader.
        attribute: the attribute with the class; the name of the type without it.
    """
    view = view_queries.current(project)
    known = view.definitions.types(Kind.LOCALIZATION)
    types = {number: each for number, each in known.items() if isinstance(each, LocalizationType)}
    size_of = lru_cache(maxsize=1024)(_size_of)
    ordered = replace(query, merge=False, sort=(Sort("$media"), Sort("$frame")))
    for document in view_queries.documents(view, ordered, scope):
        row = _decode(document)
        type_ = types.get(row.type)
        shape = _shape_of(row, type_.dtype, attribute, type_.name) if type_ else None
        if shape is None:
            continue
        if shape.kind == "box" and row.angle and not shape.mask and (size := size_of(row.media)):
            _turn(shape, row.angle, size)
        yield row, shape


def _size_of(media: int) -> tuple[float, float] | None:
    """Width and height of a media in pixels; None where they are not known."""
    found = entities.many(Kind.MEDIA, [media]).get(media)
    width, height = getattr(found and found.entity, "width", None), getattr(found and found.entity, "height", None)
    return (width, height) if width and height else None


def _turn(shape: Shape, angle: float, size: tuple[float, float]) -> None:
    """Turn a box about its centre, in pixels."""
    left, top, right, bottom = shape.box
    shape.corners = tuple(corners((left, top, right - left, bottom - top), angle, size))
    xs, ys = zip(*shape.corners, strict=True)
    shape.box = min(xs), min(ys), max(xs), max(ys)


def label_of(attributes: dict[str, Any], attribute: str | None, name: str) -> str:
    """The class of a row: the value of an attribute, or the name of its type."""
    return name if attribute is None else str(attributes.get(attribute) or "")


def _shape_of(row: Row, kind: str, attribute: str | None, name: str) -> Shape | None:
    """The shape of a row; None where a coordinate is missing."""
    label = label_of(row.attributes, attribute, name)
    points: tuple[tuple[float, float], ...] = ()
    mask: tuple[int, int, str] | None = None
    if kind == "poly":
        points = tuple(row.points or ())
        kind = "skeleton" if row.visible is not None else "path" if row.closed is False else kind
        if len(points) < _FEWEST[kind]:
            return None
        xs, ys = [x for x, _ in points], [y for _, y in points]
        box = (min(xs), min(ys), max(xs), max(ys))
    elif row.x is None or row.y is None:
        return None
    elif kind == "line":
        points = ((row.x, row.y), (row.x + (row.u or 0), row.y + (row.v or 0)))
        box = (min(row.x, points[1][0]), min(row.y, points[1][1]), max(row.x, points[1][0]), max(row.y, points[1][1]))
    else:
        box = (row.x, row.y, row.x + (row.width or 0), row.y + (row.height or 0))
        if row.mask:
            height, width = row.mask["size"]
            mask = height, width, row.mask["counts"]
    holes = tuple(tuple((x, y) for x, y in hole) for hole in row.holes or ())
    week = _week_of(row.created_datetime[:10])
    return Shape(row.id, kind, label, box, points, row.created_by, week, mask=mask, holes=holes)


@lru_cache(maxsize=4096)
def _week_of(day: str) -> str:
    if not day:
        return ""
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year}-W{week:02}"
