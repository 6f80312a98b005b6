"""Statistics on plain Python values: slow and simple, the reference implementation for `aggregate_sql`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import media_of
from chalicelib.query.columns import BY_NAME
from chalicelib.query.evaluate import Evaluation, Things
from chalicelib.query.statistics.aggregate_sql import Z
from chalicelib.query.statistics.aggregates import LEAST_INT, Aggregate, Group, Measure, Statistics, Value
from chalicelib.query.tree import Query
from chalicelib.query.values import stored

Row = tuple[Any, ...]


class _Pair(NamedTuple):
    """An entity, and one of its media where statistics depend on them."""

    entity: Any
    number: int | None
    media: Any


def statistics(query: Query, aggregate: Aggregate, things: Things) -> Statistics:
    """The statistics of a checked query on the entities of a project."""
    evaluation = Evaluation(things)
    chosen = evaluation.answer(query)
    seen = {each.id: each for each in evaluation.matching(Kind.MEDIA, aggregate.media)}
    pairs = [pair for each in chosen for pair in _pairs(aggregate, each, seen)]
    if aggregate.facets:
        facets = [_facet(group, pairs) for group in aggregate.groups]
        return Statistics(len(chosen), [len(each) for each in facets], [each[: aggregate.limit] for each in facets])
    grouped: dict[Row, list[_Pair]] = {} if aggregate.groups else {(): []}
    for pair in pairs:
        grouped.setdefault(tuple(_bin(group, pair) for group in aggregate.groups), []).append(pair)
    rows = [(*key, *_measured(aggregate, key, members, pairs)) for key, members in grouped.items()]
    rows.sort(key=lambda row: [_rank(value) for value in row[: len(aggregate.groups)]])
    for order in reversed(aggregate.order):
        present = [row for row in rows if row[order.column] is not None]
        present.sort(key=lambda row: row[order.column], reverse=order.descending)
        rows = present + [row for row in rows if row[order.column] is None]
    return Statistics(len(chosen), [len(rows)], [rows[: aggregate.limit]])


def _rank(value: Any) -> tuple[bool, Any]:
    return value is None, 0 if value is None else value


def _pairs(aggregate: Aggregate, entity: Any, seen: dict[int, Any]) -> Iterable[_Pair]:
    if not aggregate.kind.is_annotation:
        yield _Pair(entity, None, entity)
    elif aggregate.is_by_media:
        for number in dict.fromkeys(media_of(entity)) or (None,):
            yield _Pair(entity, number, seen.get(number) if number else None)
    else:
        yield _Pair(entity, None, None)


def _value(value: Value, pair: _Pair) -> Any:
    entity = pair.media if value.kind is Kind.MEDIA else pair.entity
    if entity is None:
        return None
    if value.column == "media":
        return pair.number
    if value.column is not None:
        return BY_NAME[value.kind][value.column].value(entity)
    for case in value.cases:
        if entity.type in case.types:
            found = stored(case.dtype, entity.attributes.get(value.attribute))
            return float(found) if found is not None and value.dtype == "float" else found
    return None


def _bin(group: Group, pair: _Pair) -> Any:
    value = _value(group.value, pair)
    if value is None or (group.unit is None and group.width is None):
        return value
    if group.unit is not None:
        return _STARTS[group.unit](value)
    width = float(group.width or 1)
    if group.value.dtype == "geopos":
        longitude, latitude = (_floor(number, width) for number in value)
        return None if longitude is None or latitude is None else (longitude, latitude)
    if group.value.dtype == "int" and width.is_integer():
        return value - value % int(width) if value > LEAST_INT else None
    return _floor(value, width)


def _floor(value: float, width: float) -> float | None:
    bins = value / width
    start = math.floor(bins) * width if math.isfinite(bins) else math.inf
    return start if math.isfinite(start) else None


_STARTS: dict[str, Callable[[datetime], datetime]] = {
    "year": lambda at: datetime(at.year, 1, 1),  # noqa: DTZ001 naive UTC, as all instants here
    "quarter": lambda at: datetime(at.year, at.month - (at.month - 1) % 3, 1),  # noqa: DTZ001
    "month": lambda at: datetime(at.year, at.month, 1),  # noqa: DTZ001
    "week": lambda at: datetime(at.year, at.month, at.day) - timedelta(days=at.weekday()),  # noqa: DTZ001
    "day": lambda at: datetime(at.year, at.month, at.day),  # noqa: DTZ001
    "hour": lambda at: at.replace(minute=0, second=0, microsecond=0),
    "minute": lambda at: at.replace(second=0, microsecond=0),
    "second": lambda at: at.replace(microsecond=0),
}


def _measured(aggregate: Aggregate, key: Row, pairs: Sequence[_Pair], everything: Sequence[_Pair]) -> Iterable[Any]:
    for measure in aggregate.measures:
        if measure.word == "maxn":
            yield from _maxn(aggregate, pairs)
        elif measure.word == "cover":
            yield from _cover(aggregate, measure, key, everything)
        elif measure.value is None:
            yield len({pair.entity.id for pair in pairs})
        else:
            values = [value for pair in pairs if (value := _value(measure.value, pair)) is not None]
            yield _MEASURES[measure.word](values, measure) if values or measure.word == "distinct" else None


_MEASURES: dict[str, Callable[[list[Any], Measure], Any]] = {
    "distinct": lambda values, _: len(set(values)),
    "sum": lambda values, _: sum(values),
    "min": lambda values, _: min(values),
    "max": lambda values, _: max(values),
    "mean": lambda values, _: sum(values) / len(values),
    "median": lambda values, measure: _quantile(values, measure.fraction),
    "quantile": lambda values, measure: _quantile(values, measure.fraction),
}


def _quantile(values: list[Any], fraction: float) -> float:
    """Between the two nearest values, in proportion."""
    found = sorted(map(float, values))
    place = (len(found) - 1) * fraction
    low, high = found[math.floor(place)], found[math.ceil(place)]
    return low + (high - low) * (place - math.floor(place))


def _maxn(aggregate: Aggregate, pairs: Sequence[_Pair]) -> Row:
    counts: Counter[tuple[int, int]] = Counter()
    for pair in pairs:
        numbers = [pair.number] if aggregate.is_by_media else dict.fromkeys(media_of(pair.entity))
        if pair.entity.frame is not None:
            counts.update((number, pair.entity.frame) for number in numbers if number is not None)
    if not counts:
        return None, None, None
    (media, frame), most = min(counts.items(), key=lambda item: (-item[1], item[0]))
    return most, media, frame


def _cover(aggregate: Aggregate, measure: Measure, key: Row, pairs: Sequence[_Pair]) -> Row:
    """The share of the points of a group among those of its other groups, and Wilson's interval."""
    own = next(at for at, group in enumerate(aggregate.groups) if group.value == measure.value)
    if key[own] is None:
        return None, None, None
    frames: dict[Any, list[bool]] = {}
    for pair in pairs:
        row = tuple(_bin(group, pair) for group in aggregate.groups)
        if row[own] is not None and row[:own] + row[own + 1 :] == key[:own] + key[own + 1 :]:
            at = (pair.entity.media, pair.entity.frame) if measure.is_stratified else None
            frames.setdefault(at, []).append(row[own] == key[own])
    shares = [sum(hits) / len(hits) for hits in frames.values()]
    share, points = sum(shares) / len(shares), sum(map(len, frames.values()))
    if measure.is_stratified:
        if min(map(len, frames.values())) == 1:
            return share, None, None
        variance = sum(p * (1 - p) / (len(hits) - 1) for p, hits in zip(shares, frames.values(), strict=True))
        if variance:
            points = share * (1 - share) / (variance / len(frames) ** 2)
    whole, middle = 1 + Z * Z / points, share + Z * Z / 2 / points
    half = Z * math.sqrt(share * (1 - share) / points + Z * Z / 4 / points**2)
    return share, max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole)


def _facet(group: Group, pairs: Sequence[_Pair]) -> list[Row]:
    found: dict[Any, set[int]] = {}
    for pair in pairs:
        found.setdefault(_bin(group, pair), set()).add(pair.entity.id)
    return sorted(((value, len(ids)) for value, ids in found.items()), key=lambda each: (-each[1], _rank(each[0])))
