"""Evaluate a checked query on plain Python values: slow and simple, the reference implementation for `sql`."""

from __future__ import annotations

import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Entity, media_of
from chalicelib.query.columns import BY_NAME
from chalicelib.query.geodesy import distance_km
from chalicelib.query.operators import Op
from chalicelib.query.polygons import contains
from chalicelib.query.tree import (
    AfterMedia,
    And,
    AttributeTest,
    Case,
    Coincident,
    Everything,
    Nearest,
    Not,
    Nothing,
    Or,
    Query,
    Related,
    SortKey,
    Test,
    Tree,
)
from chalicelib.query.values import fold, stored

Things = Mapping[Kind, Sequence[Entity]]


def ids(query: Query, things: Things) -> list[int]:
    """The ids of the entities of a project that a checked query selects, in order."""
    return [each.id for each in Evaluation(things).answer(query)]


def _within_km(place: tuple[float, float], circle: tuple[float, float, float]) -> bool:
    km, latitude, longitude = circle
    return distance_km(place[0], place[1], longitude, latitude) <= km


_PART = re.compile(r"\\.|\.\*|.", re.DOTALL)


@lru_cache(maxsize=256)
def _linear(pattern: str) -> re.Pattern[str]:
    """A pattern of a search string, in a form that Python matches without trying again.

    The database's expressions need no such form. A `.*` followed by a piece of fixed length takes the shortest text and
    never another one: whatever follows the first place of the piece is longer than what follows a later one.
    """
    if pattern.startswith("(?:"):  # a phrase, which has one `.*` on each side
        return re.compile(pattern, re.DOTALL)
    pieces: list[list[str]] = [[]]
    for part in _PART.findall(pattern):
        if part == ".*":
            pieces.append([])
        else:
            pieces[-1].append(part)
    first, *others = map("".join, pieces)
    if not others:
        return re.compile(first, re.DOTALL)
    between = "".join(f"(?>.*?{piece})" for piece in others[:-1] if piece)
    return re.compile(f"{first}{between}.*{others[-1]}", re.DOTALL)


def _resembles(text: bytes, other: bytes, most: int) -> bool:
    """Whether the edit distance of two texts is at most a number; it is at least the difference of their lengths."""
    return abs(len(text) - len(other)) <= most and _edits(text, other) <= most


def _edits(text: bytes, other: bytes) -> int:
    """The edit distance of two texts: bytes to insert, remove or replace."""
    row = list(range(len(other) + 1))
    for place, byte in enumerate(text, 1):
        diagonal, row[0] = row[0], place
        for at, another in enumerate(other, 1):
            diagonal, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, diagonal + (byte != another))
    return row[-1]


TESTS: dict[Op, Callable[[Any, Any], bool]] = {
    Op.EQ: operator.eq,
    Op.LT: operator.lt,
    Op.LTE: operator.le,
    Op.GT: operator.gt,
    Op.GTE: operator.ge,
    Op.IN: lambda value, wanted: value in wanted,
    Op.BETWEEN: lambda value, wanted: bool(wanted[0] <= value <= wanted[1]),
    Op.CONTAINS: lambda value, wanted: wanted in fold(value),
    Op.STARTS: lambda value, wanted: fold(value).startswith(wanted),
    Op.ENDS: lambda value, wanted: fold(value).endswith(wanted),
    Op.SAME: lambda value, wanted: fold(value) == fold(wanted),
    Op.MATCHES: lambda value, wanted: _linear(wanted).fullmatch(fold(value)) is not None,
    Op.RESEMBLES: lambda value, wanted: _resembles(fold(value).encode(), wanted[0].encode(), wanted[1]),
    Op.UNDER: lambda value, wanted: value == wanted or value.startswith(wanted + "."),
    Op.OVERLAPS: lambda value, wanted: not set(value).isdisjoint(wanted),
    Op.WITHIN: _within_km,
    Op.INSIDE: contains,
    Op.PRESENT: lambda _, __: True,
}
"""By operation: whether a stored value (not null) matches the wanted value."""


class Evaluation:
    """One evaluation; the result of each nested search is computed once."""

    def __init__(self, things: Things) -> None:
        self.things = things
        self.found: dict[tuple[Kind, Tree], list[Any]] = {}
        self.media: dict[int, Any] = {media.id: media for media in things.get(Kind.MEDIA, ())}
        shapes: Iterable[Any] = things.get(Kind.LOCALIZATION, ())
        self.gaps = {each.id for each in shapes if each.x is None and not each.points}
        """The ids of what only begins a gap of a track, if a track contains it."""
        self.incidents: Mapping[int, int] = {}
        self.counts_incidents = False

    def answer(self, query: Query) -> list[Any]:
        """The selected entities, in order."""
        self.counts_incidents = query.incident is not None
        self.incidents = self.count_incidents(query)
        chosen: list[Any] = [
            each for each in self.things.get(query.kind, ()) if self.holds(query.where, query.kind, each)
        ]
        if query.merge or query.exclude_parents:
            chosen = _merged(query, chosen)
        if query.kind.is_annotation and not query.show_deleted:
            chosen = [each for each in chosen if not each.variant_deleted]
        for nearest in query.nearest:
            chosen = [each for each in chosen if _within(nearest, distance(nearest, each))]
        return self.ordered(query, chosen)[query.start : query.stop]

    def count_incidents(self, query: Query) -> Mapping[int, int]:
        """By media, how many annotations match the related search."""
        counts: Counter[int] = Counter()
        terms = query.incident.terms if isinstance(query.incident, Or) else (query.incident,)
        for term in terms:
            if isinstance(term, Related):
                for each in self.matching(term.to, term.where):
                    counts.update(_media_of(each))
        return counts

    def matching(self, kind: Kind, where: Tree) -> list[Any]:
        """The entities of a kind that a nested search selects."""
        if (kind, where) not in self.found:
            counts, self.counts_incidents = self.counts_incidents, False
            self.found[kind, where] = [each for each in self.things.get(kind, ()) if self.holds(where, kind, each)]
            self.counts_incidents = counts
        return self.found[kind, where]

    def holds(self, tree: Tree, kind: Kind, thing: Any) -> bool:  # noqa: C901, PLR0911 a case for each kind of node
        """Whether a tree is true of an entity."""
        match tree:
            case Everything():
                return True
            case Nothing():
                return False
            case And(terms):
                return all(self.holds(term, kind, thing) for term in terms)
            case Or(terms):
                return any(self.holds(term, kind, thing) for term in terms)
            case Not(term):
                return not self.holds(term, kind, thing)
            case Test(column, op, wanted):
                value = self.column(kind, column, thing)
                return value is not None and TESTS[op](value, wanted)
            case AttributeTest(name, cases):
                return any(_case_holds(case, name, thing) for case in cases)
            case Related(to, where):
                return any(_linked(kind, thing, to, other) for other in self.matching(to, where))
            case Coincident(to, where):
                return any(_coincident(thing, other) for other in self.matching(to, where))
            case AfterMedia(number, where):
                before = self.media.get(number)
                if before is None or not self.holds(where, Kind.MEDIA, before):
                    return bool(thing.id > number)
                return bool((thing.name, thing.id) > (before.name, before.id))
        raise AssertionError(tree)  # the check leaves no other

    def column(self, kind: Kind, column: str, thing: Any) -> Any:
        """The value of a built-in column of an entity."""
        if column == "incident":
            return self.incidents.get(thing.id, 0) if self.counts_incidents else None
        if column == "duration" and kind is Kind.STATE:
            return self._track_duration(thing)
        if column == "length":
            return sum(number not in self.gaps for number in thing.localizations)
        if column == "area":
            return self._area(thing)
        return BY_NAME[kind][column].value(thing)

    def _track_duration(self, state: Any) -> float | None:
        media = self.media.get(state.media[0]) if state.media else None
        fps = self.column(Kind.MEDIA, "fps", media) if media else None
        frames = self.column(Kind.STATE, "num_frames", state)
        return frames / fps if frames is not None and fps and fps > 0 else None

    def _area(self, localization: Any) -> float | None:
        pixels = self.column(Kind.LOCALIZATION, "mask_area", localization)
        if pixels is not None:
            return float(pixels)
        media = self.media.get(localization.media)
        share = self.column(Kind.LOCALIZATION, "share", localization)
        width, height = (self.column(Kind.MEDIA, side, media) if media else None for side in ("width", "height"))
        return None if share is None or width is None or height is None else float(share * (width * height))

    def ordered(self, query: Query, chosen: Iterable[Any]) -> list[Any]:
        """Entities in a query's order: by distance, then sort keys, then id."""
        things = sorted(chosen, key=lambda thing: thing.id)
        for key in reversed(query.keys):
            if key.column is None:
                things = _sorted(things, partial(_sort_value, key), key.descending, first=False)
            else:
                column = partial(self.sort_column, query.kind, key.column)
                things = _sorted(things, column, key.descending, first=key.descending)
        for nearest in reversed(query.nearest):
            things = _sorted(things, partial(distance, nearest), nearest.descending, first=False)
        return things

    def sort_column(self, kind: Kind, column: str, thing: Any) -> Any:
        """The value that an entity is sorted by; an annotation's section is that of its first media."""
        if column == "section" and kind.is_annotation:
            media = next((self.media[number] for number in _media_of(thing)[:1] if number in self.media), None)
            return self.column(Kind.MEDIA, column, media) if media else None
        return self.column(kind, column, thing)


def _sorted(things: list[Any], value: Callable[[Any], Any], descending: bool, *, first: bool) -> list[Any]:
    """Entities, stably sorted by a value; those without a value come first or last."""
    valued = [(value(thing), thing) for thing in things]
    absent = [thing for key, thing in valued if key is None]
    present = [
        thing
        for _, thing in sorted(
            (pair for pair in valued if pair[0] is not None), key=lambda pair: pair[0], reverse=descending
        )
    ]
    return absent + present if first else present + absent


RANKS = {"datetime": 1, "int": 2, "float": 2, "bool": 3, "geopos": 4}
"""The order of dtypes where types have different ones under one name; texts, at 0, come first."""


def _sort_value(key: SortKey, thing: Any) -> tuple[int, Any] | None:
    for case in key.cases:
        if thing.type in case.types:
            value = stored(case.dtype, thing.attributes.get(key.attribute))
            if value is None:
                return None
            return RANKS.get(case.dtype, 0), float(value) if case.dtype == "int" and _mixed(key) else value
    return None


def _mixed(key: SortKey) -> bool:
    return any(case.dtype == "float" for case in key.cases)


def _case_holds(case: Case, name: str, thing: Any) -> bool:
    if thing.type not in case.types:
        return False
    value = stored(case.dtype, thing.attributes.get(name))
    return value is not None and TESTS[case.op](value, case.value)


def _media_of(annotation: Any) -> list[int]:
    return list(dict.fromkeys(media_of(annotation)))


def _linked(kind: Kind, thing: Any, to: Kind, other: Any) -> bool:
    match kind, to:
        case Kind.MEDIA, _:
            return thing.id in _media_of(other)
        case _, Kind.MEDIA:
            return other.id in _media_of(thing)
        case Kind.LOCALIZATION, Kind.STATE:
            return thing.id in other.localizations
        case Kind.STATE, Kind.LOCALIZATION:
            return other.id in thing.localizations
    raise AssertionError(kind, to)


def _coincident(thing: Any, other: Any) -> bool:
    return (
        thing.frame is not None
        and thing.frame == other.frame
        and not set(_media_of(thing)).isdisjoint(_media_of(other))
    )


def _merged(query: Query, chosen: list[Any]) -> list[Any]:
    """Remove entities of which a variant in a more derived version is also selected."""
    parents = {each.parent for each in chosen}
    elements: dict[str, set[int]] = {}
    for each in chosen:
        elements.setdefault(each.elemental_id, set()).add(each.version)
    derived = set(query.derived)

    def is_shadowed(thing: Any) -> bool:
        return query.merge and any((other, thing.version) in derived for other in elements[thing.elemental_id])

    return [each for each in chosen if each.id not in parents and not is_shadowed(each)]


def distance(nearest: Nearest, thing: Any) -> float | None:
    """The distance of an entity from the center of a float_array query; None if it has none."""
    if thing.type not in nearest.types:
        return None
    vector = stored("float_array", thing.attributes.get(nearest.name))
    if vector is None or len(vector) != len(nearest.center):
        return None
    center: tuple[float, ...] = stored("float_array", list(nearest.center))
    pairs: list[tuple[float, float]] = list(zip(vector, center, strict=True))
    match nearest.metric:
        case "ip":
            return -sum(a * b for a, b in pairs)
        case "l1norm":
            return sum(abs(a - b) for a, b in pairs)
        case "cosine":
            lengths = math.sqrt(sum(a * a for a, _ in pairs)) * math.sqrt(sum(b * b for _, b in pairs))
            return 1 - sum(a * b for a, b in pairs) / lengths if lengths else None
    return math.sqrt(sum((a - b) ** 2 for a, b in pairs))


def _within(nearest: Nearest, distance: float | None) -> bool:
    if nearest.lower is None and nearest.upper is None:
        return True
    if distance is None:
        return False
    return (nearest.lower is None or distance >= nearest.lower) and (nearest.upper is None or distance <= nearest.upper)
