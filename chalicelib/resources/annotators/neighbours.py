"""Labels by nearest neighbours, and queues for review. They read the view and write nothing."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.access.view_queries import View
from chalicelib.core.kinds import Kind
from chalicelib.core.time import deadline
from chalicelib.errors import BadInput, NotFound
from chalicelib.query.evaluate import distance
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.addresses import parse_address
from chalicelib.query.parsers.bodies import FloatArrayQuery, LocalizationIdQuery
from chalicelib.query.parsers.parameters import LocalizationQuery
from chalicelib.query.tree import Nearest
from chalicelib.resources.annotators.schemas import (
    LabelSuggestions,
    LabelVotes,
    Queued,
    ReviewQueueSpec,
    SuggestionsSpec,
)

MOST_COMPARED = 5_000
"""Localizations among which near duplicates are looked for: 12 million pairs."""
MOST_AVERAGED = 10_000
"""Localizations whose mean is that of all."""
_BLOCK = 250
_MEASURES = {"cosine": "cosine", "l2norm": "l2sq"}


class _Row(msgspec.Struct):
    id: int
    type: int
    attributes: dict[str, Any] = {}


_decode = msgspec.json.Decoder(_Row).decode


def suggest(project: int, scope: Scope, spec: SuggestionsSpec) -> list[LabelSuggestions]:
    """The labels of the nearest localizations that have one, for each of some.

    Raises:
        NotFound: one of them does not exist, or the caller may not see it.
        BadInput: they are of several types, or an attribute is not there or not of the dtype.
        Unavailable: the time of the request is over.
    """
    view = view_queries.current(project)
    asked = _rows(view, scope, LocalizationQuery(), LocalizationIdQuery(ids=spec.ids))
    if missing := set(spec.ids) - {row.id for row in asked}:
        raise NotFound.of("Localization", min(missing))
    if len({row.type for row in asked}) > 1:
        raise BadInput("ids: they are of several types; give those of one.")
    _check_attribute(view, asked[0].type, "embedding_attribute", spec.embedding_attribute, "float_array")
    _check_attribute(view, asked[0].type, "label_attribute", spec.label_attribute)
    by_id = {row.id: row for row in asked}
    labelled = LocalizationQuery(
        type=asked[0].type,
        version=None if spec.version is None else [spec.version],
        attribute_null=[f"{spec.label_attribute}::false"],
        stop=spec.neighbours + len(by_id),
    )
    return [_suggestions_for(view, scope, spec, by_id[number], labelled, by_id.keys()) for number in spec.ids]


def _check_attribute(view: View, type_: int, member: str, name: str, *dtypes: str) -> None:
    """Raise BadInput unless a type has an attribute, of one of some dtypes if given."""
    of = view.definitions.types(Kind.LOCALIZATION).get(type_)
    if of is None:
        raise BadInput(f"type: the project has no localization type {type_}.")
    found = of.attribute(name)
    if found is None:
        known = ", ".join(sorted(each.name for each in of.attribute_types)) or "none"
        raise BadInput(f"{member}: the type {of.name!r} has no attribute {name!r}; it has {known}.")
    if dtypes and found.dtype not in dtypes:
        raise BadInput(f"{member}: {name!r} is of dtype {found.dtype}; it must be of {' or '.join(dtypes)}.")


def _suggestions_for(
    view: View, scope: Scope, spec: SuggestionsSpec, row: _Row, labelled: LocalizationQuery, asked: Any
) -> LabelSuggestions:
    deadline.check()
    center = row.attributes.get(spec.embedding_attribute)
    if center is None:
        return LabelSuggestions(id=row.id, labels=[])
    wanted = FloatArrayQuery(name=spec.embedding_attribute, center=center, metric=spec.metric)
    found = _rows(view, scope, labelled, LocalizationIdQuery(float_array=[wanted]))
    nearest = Nearest(spec.embedding_attribute, tuple(center), spec.metric, types=(row.type,))
    votes: defaultdict[str, list[float]] = defaultdict(list)
    voters = [each for each in found if each.id not in asked][: spec.neighbours]
    for each in voters:
        away = distance(nearest, each)
        if away is not None:
            votes[str(each.attributes[spec.label_attribute])].append(away)
    order = sorted(votes.items(), key=lambda item: (-len(item[1]), min(item[1]), item[0]))
    count = sum(map(len, votes.values()))
    labels = [
        LabelVotes(label=label, votes=len(away), share=len(away) / count, distance=min(away)) for label, away in order
    ]
    return LabelSuggestions(id=row.id, labels=labels)


def queue(project: int, scope: Scope, spec: ReviewQueueSpec) -> list[Queued]:
    """The localizations of a type that are to be looked at first.

    Raises:
        BadInput: an attribute is not there or not of the dtype, the query is not valid, or too many are to be compared.
    """
    view = view_queries.current(project)
    dtypes = ("float", "int") if spec.order == "uncertain" else ("float_array",)
    _check_attribute(view, spec.type, "attribute", spec.attribute, *dtypes)
    given = LocalizationQuery() if spec.query is None else parse_address(spec.query, LocalizationQuery, "query")
    version = given.version if spec.version is None else [spec.version]
    selected = msgspec.structs.replace(given, type=spec.type, version=version, stop=spec.count)
    if spec.order == "uncertain":
        return _uncertain(view, scope, spec, selected)
    present = [*(selected.attribute_null or []), f"{spec.attribute}::false"]
    selected = msgspec.structs.replace(selected, attribute_null=present)
    return (_unlike if spec.order == "unlike" else _duplicates)(view, scope, spec, selected)


def _uncertain(view: View, scope: Scope, spec: ReviewQueueSpec, selected: LocalizationQuery) -> list[Queued]:
    """Those whose confidence is nearest to one half: the first above it, and the first below."""
    above = msgspec.structs.replace(
        selected, attribute_gte=[*(selected.attribute_gte or []), f"{spec.attribute}::0.5"], sort_by=[spec.attribute]
    )
    below = msgspec.structs.replace(
        selected,
        attribute_lt=[*(selected.attribute_lt or []), f"{spec.attribute}::0.5"],
        sort_by=[f"-{spec.attribute}"],
    )
    rows = [row for each in (above, below) for row in _rows(view, scope, each)]
    found = [Queued(id=row.id, value=float(row.attributes[spec.attribute])) for row in rows]
    return sorted(found, key=lambda each: (abs(each.value - 0.5), each.id))[: spec.count]


def _unlike(view: View, scope: Scope, spec: ReviewQueueSpec, selected: LocalizationQuery) -> list[Queued]:
    """Those that are farthest from the mean."""
    some = _vectors(view, scope, spec, msgspec.structs.replace(selected, stop=MOST_AVERAGED))
    if not some:
        return []
    center = [math.fsum(column) / len(some) for column in zip(*(vector for _, vector in some), strict=True)]
    wanted = FloatArrayQuery(name=spec.attribute, center=center, metric=spec.metric, order="desc")
    nearest = Nearest(spec.attribute, tuple(center), spec.metric, types=(spec.type,))
    rows = _rows(view, scope, selected, LocalizationIdQuery(float_array=[wanted]))
    return [Queued(id=row.id, value=away) for row in rows if (away := distance(nearest, row)) is not None]


def _duplicates(view: View, scope: Scope, spec: ReviewQueueSpec, selected: LocalizationQuery) -> list[Queued]:
    """Pairs that are at most so far apart, the nearest first."""
    some = _vectors(view, scope, spec, msgspec.structs.replace(selected, stop=MOST_COMPARED + 1))
    if len(some) > MOST_COMPARED:
        raise BadInput(
            f"query: near duplicates are looked for among at most {MOST_COMPARED:,} localizations; narrow it."
        )
    found = [
        Queued(id=some[first][0], other=some[second][0], value=away)
        for first, second, away in _pairs([vector for _, vector in some], spec.metric, spec.within)
    ]
    return sorted(found, key=lambda each: (each.value, each.id, each.other or 0))[: spec.count]


def _pairs(vectors: Sequence[Sequence[float]], metric: str, within: float) -> Iterator[tuple[int, int, float]]:
    """The pairs of places of vectors that are near each other, with their distances."""
    import simsimd  # noqa: PLC0415 only this needs it

    if not vectors:
        return
    length, is_squared = len(vectors[0]), metric == "l2norm"
    numbers = array("f", [value for vector in vectors for value in vector])
    rows = memoryview(numbers).cast("B").cast("f", shape=[len(vectors), length])
    most = within * within if is_squared else within
    for start in range(0, len(vectors), _BLOCK):
        deadline.check()
        part = array("f", numbers[start * length : (start + _BLOCK) * length])
        count = len(part) // length
        some = memoryview(part).cast("B").cast("f", shape=[count, length])
        away = memoryview(simsimd.cdist(some, rows, _MEASURES[metric])).cast("B").cast("d")  # type: ignore[arg-type]
        for first in range(count):
            own = start + first
            line = away[first * len(vectors) + own + 1 : (first + 1) * len(vectors)]
            for place, value in enumerate(line):
                if value <= most:
                    yield own, own + 1 + place, math.sqrt(max(value, 0.0)) if is_squared else max(value, 0.0)


def _vectors(
    view: View, scope: Scope, spec: ReviewQueueSpec, selected: LocalizationQuery
) -> list[tuple[int, list[float]]]:
    found = [(row.id, row.attributes[spec.attribute]) for row in _rows(view, scope, selected)]
    return [each for each in found if len(each[1]) == len(found[0][1])]


def _rows(
    view: View, scope: Scope, parameters: LocalizationQuery, body: LocalizationIdQuery | None = None
) -> list[_Row]:
    query = filters.parse(Kind.LOCALIZATION, parameters, body)
    return [_decode(each) for each in view_queries.documents(view, query, scope)]
