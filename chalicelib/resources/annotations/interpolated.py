"""Lists of localizations with those that tracks have between their own: computed for the answer, never stored.

A computed localization stands for one frame of a gap. It has the members of the localization before the gap, a shape by
the rule of `formats/interpolation.py`, `interpolated: true`, and neither `id` nor `elemental_id`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.access.view_queries import View
from chalicelib.core.kinds import Kind
from chalicelib.core.web.field_selection import shaper
from chalicelib.errors import BadInput
from chalicelib.formats.interpolation import shapes_between, stretches
from chalicelib.formats.model import members_of_shape, shape_of
from chalicelib.query.operators import Op
from chalicelib.query.tree import Everything, Query, Related, Test, both

MOST_COMPUTED = 100_000
"""Localizations of one answer that are not stored, such as those between keyframes."""
_encode = msgspec.json.Encoder().encode


class _Track(msgspec.Struct):
    type: int
    localizations: list[int] = []


_track = msgspec.json.Decoder(_Track).decode
Gap = tuple[int, int]
"""The ids of the localizations before and after a gap."""


def documents(view: View, query: Query, scope: Scope, frame: int | None, fields: str | None) -> Iterable[bytes]:
    """The matches of a query in order, each followed by what is computed for the gap behind it.

    With a frame, its matches come first, then what is computed for that frame: of the gaps behind all that the query
    matches on earlier frames.

    Args:
        view: of the project.
        query: the localizations that are listed, without a test of the frame.
        scope: the caller's; what it hides bounds no gap.
        frame: the one whose localizations are wanted; all where it is None.
        fields: the members to answer.

    Raises:
        BadInput: more than `MOST_COMPUTED` would be computed, or an unknown field.
    """
    shape = shaper(Kind.LOCALIZATION, fields, view.definitions.types(Kind.LOCALIZATION).values()) if fields else bytes
    on_frame = query if frame is None else replace(query, where=both(query.where, Test("frame", Op.EQ, frame)))
    listed = list(view_queries.documents(view, on_frame, scope))
    found = {number: msgspec.json.decode(body) for number, body in zip(_ids(listed), listed, strict=True)}
    gaps = _gaps(view, query, scope, found, frame)
    _add(view, scope, found, {number for pair in gaps.values() for number in pair})
    types = view.definitions.types(Kind.LOCALIZATION)
    total = 0

    def fill(first: int) -> Iterator[bytes]:
        nonlocal total
        if first in gaps:
            for made in _between(found[first], found[gaps[first][1]], types, frame):
                total += 1
                if total > MOST_COMPUTED:
                    raise BadInput(
                        f"interpolate: more than {MOST_COMPUTED} localizations would be computed. Ask for a frame, or "
                        "for fewer with `stop` and `after`."
                    )
                yield shape(_encode(made))

    made = []
    for number, body in zip(_ids(listed), listed, strict=True):
        made.append(shape(body))
        if frame is None:
            made.extend(fill(number))
    if frame is not None:
        for number in gaps:
            made.extend(fill(number))
    return made


def _ids(bodies: Iterable[bytes]) -> list[int]:
    return [msgspec.json.decode(body, type=_Id).id for body in bodies]


class _Id(msgspec.Struct):
    id: int


def _gaps(view: View, query: Query, scope: Scope, found: dict[int, Any], frame: int | None) -> dict[int, Gap]:
    """The gaps behind the matches, by the id before the gap; with a frame only those that it lies in."""
    if frame is None:
        media = {row["media"] for row in found.values()}
        where: Any = Test("media", Op.IN, tuple(sorted(media)))
        wanted = set(found)
    else:
        before = both(query.where, Test("frame", Op.LT, frame), Related(Kind.STATE, Everything()))
        matches = replace(query, where=before, start=0, stop=None, sort=(), nearest=())
        rows = view_queries.pairs(view, matches, scope, "media")
        media, wanted = {number for _, number in rows}, {number for number, _ in rows}
        where = Test("media", Op.IN, tuple(sorted(media)))
    if not media:
        return {}
    tracked = Query(kind=Kind.LOCALIZATION, where=both(where, Related(Kind.STATE, Everything())))
    frames = dict(view_queries.pairs(view, tracked, scope, "frame"))
    on = dict(view_queries.pairs(view, tracked, scope, "media"))
    types = view.definitions.types(Kind.STATE)
    gaps: dict[int, Gap] = {}
    taken: set[int] = set()
    states = Query(kind=Kind.STATE, where=Test("media", Op.OVERLAPS, tuple(sorted(media))))
    for body in view_queries.documents(view, states, scope):
        track = _track(body)
        own = [number for number in track.localizations if number in frames and number not in taken]
        taken.update(own)
        if not getattr(types.get(track.type), "is_interpolated", False):
            continue
        members: defaultdict[int, list[int]] = defaultdict(list)
        for number in own:
            members[on[number]].append(number)
        for of_media in members.values():
            for first, second in stretches(of_media, frames.__getitem__):
                if first in wanted and (frame is None or frames[first] < frame < frames[second]):
                    gaps[first] = (first, second)
    return gaps


def _add(view: View, scope: Scope, found: dict[int, Any], numbers: set[int]) -> None:
    """Read the localizations that are not among those found."""
    if missing := tuple(sorted(numbers - found.keys())):
        query = Query(kind=Kind.LOCALIZATION, where=Test("id", Op.IN, missing))
        for body in view_queries.documents(view, query, scope):
            row = msgspec.json.decode(body)
            found[row["id"]] = row


def _between(first: Any, second: Any, types: Mapping[int, Any], frame: int | None) -> Iterator[Any]:
    of = types.get(first["type"])
    if of is None or first["type"] != second["type"]:
        return
    kind = of.dtype
    one, two = shape_of(kind, first.get), shape_of(kind, second.get)
    if not one or not two:
        return
    is_ordered = first.get("closed") is False or first.get("visible") is not None or of.skeleton is not None
    plain = {name: value for name, value in first.items() if name not in ("mask", "holes", "bounds")}
    angles, span = (first.get("angle"), second.get("angle")), (first["frame"], second["frame"])
    frames = None if frame is None else (frame,)
    for each, values, angle in shapes_between(kind, (one, two), angles, span, frames, is_ordered=is_ordered):
        shape = members_of_shape(kind, values)
        if any(angles):
            shape["angle"] = angle
        yield {**plain, **shape, "id": None, "elemental_id": None, "frame": each, "interpolated": True}
