"""Statistics of the entities that a query selects: groups and measures, as written and bound to definitions.

    group_by   NAME, or NAME::BIN      `Species`, `Depth::10`, `$created_datetime::month`, `Position::0.5`
    measure    WORD, or WORD::NAME     `count`, `mean::Depth`, `quantile::Depth::0.95`, `maxn`, `cover::Label`

A NAME is an attribute or a built-in field with `$`. For annotations, `$media.NAME` is an attribute or built-in field of
their media. A BIN is the width of a number's bin, the size in degrees of a place's cell, or a unit of time.

An annotation on several media counts once in each group that a media gives it. What has no value is in the group of
null, and left out of measures other than `count` and `maxn`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import AnyType, Definitions
from chalicelib.core.text.names import nearest
from chalicelib.errors import BadInput
from chalicelib.query.binding import grouped
from chalicelib.query.columns import BY_NAME, INCIDENT, NAMES, SECTION_NAME, TRACK_DURATION, Column
from chalicelib.query.operators import Op
from chalicelib.query.tree import Case, Everything, Query, Tree
from chalicelib.query.values import shown

MOST_GROUPS, MOST_MEASURES, MOST_FACETS = 3, 10, 10
MOST_ROWS, MOST_TOP = 10_000, 1_000
"""Maximum number of rows in an answer, and of values of each facet."""
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
NARROWEST, WIDEST = 1e-9, 1e15
WIDEST_CELL = 180.0
LEAST_INT = -9_000_000_000_000_000_000
"""Integers below have no bin: its start might not fit into 64 bits."""
SEPARATOR = "::"
_OF_MEDIA = "$media."
_SUMS = frozenset({"total_size", "download_size", "duration"})
"""Columns that filters do not know, but statistics do."""
_NUMBERS = frozenset({"int", "float"})
_FAMILY = {"enum": "string", "blob": "string"}
MEASURES = {
    "distinct": frozenset({"bool", "int", "float", "string", "datetime"}),
    "sum": _NUMBERS,
    "min": _NUMBERS | {"string", "datetime"},
    "max": _NUMBERS | {"string", "datetime"},
    "mean": _NUMBERS,
    "median": _NUMBERS,
    "quantile": _NUMBERS,
}
"""The measures of values, and the dtypes that each takes. `count` and `maxn` measure no value."""
COVER, STRATIFIED = "cover", "stratified"
"""Names of the cover measure, and of its variant in which each frame is a stratum."""
_LABELS = frozenset({"bool", "int", "string"})
MAXN_MEDIA = "maxn::$media"
MAXN = ("maxn", MAXN_MEDIA, "maxn::$frame")
"""The columns of `maxn`: most annotations of a group on one frame; the media and frame, the first such."""


class Value(Struct, frozen=True):
    """A value of each entity: a built-in column, or an attribute with its dtypes by types.

    Attributes:
        kind: the kind that has it; MEDIA for values of the media of annotations.
        dtype: bool, int, float, string, datetime or geopos. Integers become floats where the attribute is a float in
            other types.
    """

    kind: Kind
    dtype: str
    column: str | None = None
    attribute: str = ""
    cases: tuple[Case, ...] = ()


class Group(Struct, frozen=True):
    """A value to group by. `label` is its text as written; `unit` and `width` are its bin, where it has one."""

    label: str
    value: Value
    unit: str | None = None
    width: float | None = None


class Measure(Struct, frozen=True):
    """A measure of a group; `fraction` belongs to `quantile`, `is_stratified` to `cover`."""

    label: str
    word: str
    value: Value | None = None
    fraction: float = 0.5
    is_stratified: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of its columns."""
        if self.word == COVER:
            return self.label, f"{self.label}::low", f"{self.label}::high"
        return MAXN if self.word == "maxn" else (self.label,)


class Order(Struct, frozen=True):
    """A column of the answer to order by; null comes last in both directions."""

    column: int
    descending: bool = False


class Aggregate(Struct, frozen=True, kw_only=True):
    """What is computed of the entities that a query selects.

    Attributes:
        kind: the kind of the entities.
        groups: up to three; none for one row over everything.
        measures: at least one.
        order: of rows; ties, and rows without an order, are ordered by their groups, ascending.
        limit: the number of rows; of facets, of each.
        facets: whether each group is counted by itself, most frequent values first.
        media: the media whose values the caller may see.
    """

    kind: Kind
    groups: tuple[Group, ...] = ()
    measures: tuple[Measure, ...] = (Measure("count", "count"),)
    order: tuple[Order, ...] = ()
    limit: int = MOST_ROWS
    facets: bool = False
    media: Tree = Everything()

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the columns: groups, then measures."""
        found = [group.label for group in self.groups]
        for measure in self.measures:
            found += measure.labels
        return tuple(found)

    @property
    def values(self) -> tuple[Value, ...]:
        """The values of groups and measures."""
        measured = [measure.value for measure in self.measures if measure.value]
        return (*(group.value for group in self.groups), *measured)

    @property
    def is_by_media(self) -> bool:
        """Whether a value depends on an annotation's media, of which it may have several."""
        return self.kind.is_annotation and any(
            value.kind is Kind.MEDIA or value.column == "media" for value in self.values
        )


class Written(Struct, frozen=True, kw_only=True):
    """Statistics as requested: texts of the language above. With `facets` there are no groups, measures or order."""

    group_by: Sequence[str] = ()
    measure: Sequence[str] = ()
    facets: Sequence[str] = ()
    order_by: Sequence[str] = ()
    limit: int | None = None


class Statistics(NamedTuple):
    """The statistics of a query.

    Attributes:
        matched: the number of entities that the query selects.
        groups: the number of groups; null is one of them. One number for each facet, otherwise one.
        rows: the rows of each facet, a value and its count; otherwise one list, each row the values of a group and its
            measures. A cell of places is the longitude and latitude of its south-west corner, a bin is its start.
    """

    matched: int
    groups: list[int]
    rows: list[list[tuple[Any, ...]]]


def bind(written: Written, query: Query, definitions: Definitions, media: Tree | None = None) -> Aggregate:
    """Statistics with their names bound to a project's definitions.

    Args:
        written: the request.
        query: the query whose matches are measured; its type narrows the attributes.
        definitions: the definitions of the project.
        media: a checked tree; the values of all other media count as null.

    Raises:
        BadInput: a name is unknown, a bin or measure does not fit a dtype, or there are too many; the message names the
            parameter and what is accepted.
    """
    names = _Names(query, definitions)
    found = Aggregate(kind=query.kind, media=media or Everything())
    if written.facets:
        for member in ("group_by", "measure", "order_by"):
            if getattr(written, member):
                raise BadInput(f"{member}: facets are counts of single attributes. Give facets or {member}, not both.")
        groups = _each("facets", written.facets, MOST_FACETS, names.group)
        return replace(found, groups=groups, facets=True, limit=_limit(written, 10, MOST_TOP))
    groups = _each("group_by", written.group_by, MOST_GROUPS, names.group)
    measures = _each("measure", written.measure or ("count",), MOST_MEASURES, names.measure)
    found = replace(
        found,
        groups=_with_covered(groups, measures),
        measures=measures,
        limit=_limit(written, 1_000, MOST_ROWS),
    )
    return replace(found, order=_orders(written.order_by, found.labels))


def _with_covered(groups: tuple[Group, ...], measures: tuple[Measure, ...]) -> tuple[Group, ...]:
    """The groups, and last those whose cover is measured: a cover is of one value."""
    for measure in measures:
        if measure.word == COVER and measure.value and measure.value not in [each.value for each in groups]:
            groups = (*groups, Group(measure.label.split(SEPARATOR)[1], measure.value))
    if len(groups) > MOST_GROUPS:
        raise BadInput(f"group_by takes at most {MOST_GROUPS} with the attributes of cover, not {len(groups)}.")
    return groups


def _limit(written: Written, default: int, most: int) -> int:
    limit = default if written.limit is None else written.limit
    if not 1 <= limit <= most:
        raise BadInput(f"limit: {limit} is not from 1 to {most}.")
    return limit


def _each(place: str, texts: Sequence[str], most: int, make: Any) -> tuple[Any, ...]:
    if len(texts) > most:
        raise BadInput(f"{place} takes at most {most}, not {len(texts)}.")
    for text in texts:
        if texts.count(text) > 1:
            raise BadInput(f"{place}: {shown(text)} is given more than once.")
    return tuple(make(place, text) for text in texts)


def _orders(texts: Sequence[str], labels: tuple[str, ...]) -> tuple[Order, ...]:
    found = []
    for text in texts:
        name = text.removeprefix("-")
        if name not in labels:
            raise BadInput(f"order_by: {shown(name)} is no column of this answer.{nearest(name, labels)}")
        found.append(Order(labels.index(name), descending=text.startswith("-")))
    return tuple(found)


class _Names:
    """The names of one query."""

    def __init__(self, query: Query, definitions: Definitions) -> None:
        self.kind = query.kind
        types = definitions.types(query.kind)
        own = [types[query.type]] if query.type in types else types.values() if query.type is None else ()
        self.types: dict[Kind, list[AnyType]] = {
            Kind.MEDIA: list(definitions.types(Kind.MEDIA).values()),
            query.kind: list(own),
        }

    def group(self, place: str, text: str) -> Group:
        """A group, `NAME` or `NAME::BIN`."""
        name, separator, bin_ = text.partition(SEPARATOR)
        value = self.value(place, name)
        if not separator:
            if value.dtype == "geopos":
                raise BadInput(f"{place}: {shown(name)} holds places. Give the size of a cell in degrees: {name}::0.5.")
            return Group(text, value)
        if value.dtype == "datetime":
            if bin_ not in UNITS:
                raise BadInput(f"{place}: {shown(bin_)} is not a unit of time.{nearest(bin_, UNITS)}")
            return Group(text, value, unit=bin_)
        if value.dtype not in ("int", "float", "geopos"):
            raise BadInput(f"{place}: {shown(name)} is of type {value.dtype}, which has no bins. Give {name} alone.")
        width = _number(place, text, bin_)
        widest = WIDEST_CELL if value.dtype == "geopos" else WIDEST
        if not NARROWEST <= width <= widest:
            raise BadInput(f"{place}: the width in {shown(text)} is not from {NARROWEST:g} to {widest:g}.")
        return Group(text, value, width=width)

    def measure(self, place: str, text: str) -> Measure:
        """A measure, `WORD`, `WORD::NAME` or `quantile::NAME::FRACTION`."""
        word, _, rest = text.partition(SEPARATOR)
        if word in ("count", "maxn"):
            if rest:
                raise BadInput(f"{place}: {word} measures the entities of a group, not {shown(rest)}. Give {word}.")
            if word == "maxn" and not self.kind.is_annotation:
                raise BadInput(f"{place}: maxn counts annotations on a frame, which {self.kind} has not.")
            return Measure(text, word)
        if word == COVER:
            return self._cover(place, text, rest)
        if word not in MEASURES:
            words = ("count", "maxn", COVER, *MEASURES)
            raise BadInput(f"{place}: {shown(word)} is no measure.{nearest(word, words)}")
        name, _, fraction = rest.partition(SEPARATOR)
        value = self.value(place, name) if name else None
        if value is None or (word == "quantile") != bool(fraction):
            form = f"{word}::NAME::FRACTION" if word == "quantile" else f"{word}::NAME"
            raise BadInput(f"{place}: {shown(text)} must have the form {form}.")
        if value.dtype not in MEASURES[word]:
            taken = ", ".join(sorted(MEASURES[word]))
            raise BadInput(f"{place}: {shown(name)} is of type {value.dtype}; {word} takes {taken}.")
        share = _number(place, text, fraction) if fraction else 0.5
        if not 0 <= share <= 1:
            raise BadInput(f"{place}: the fraction in {shown(text)} is not from 0 to 1.")
        return Measure(text, word, value, share)

    def _cover(self, place: str, text: str, rest: str) -> Measure:
        name, separator, design = rest.partition(SEPARATOR)
        if self.kind is not Kind.LOCALIZATION:
            raise BadInput(f"{place}: cover counts points on frames, which are localizations, not {self.kind}.")
        if not name or (separator and design != STRATIFIED):
            raise BadInput(f"{place}: {shown(text)} must have the form cover::NAME or cover::NAME::{STRATIFIED}.")
        value = self.value(place, name)
        if value.dtype not in _LABELS or value.kind is not self.kind:
            raise BadInput(
                f"{place}: cover takes a value of localizations of type {', '.join(sorted(_LABELS))}; {shown(name)} is "
                f"of type {value.dtype}, of {value.kind}."
            )
        return Measure(text, COVER, value, is_stratified=bool(separator))

    def value(self, place: str, name: str) -> Value:
        """The value that a name stands for."""
        if self.kind.is_annotation:
            if name == SECTION_NAME:
                return Value(Kind.MEDIA, "int", "section")
            if name.startswith(_OF_MEDIA):
                return self._value(place, Kind.MEDIA, name.removeprefix(_OF_MEDIA), name)
        return self._value(place, self.kind, name, name)

    def _value(self, place: str, kind: Kind, name: str, whole: str) -> Value:
        columns = built_in(kind)
        if column := columns.get(name):
            return Value(kind, "int" if column.dtype == "ints" else column.dtype, column.name)
        if not (found := list(self._dtypes(kind, name))):
            names = {each.name for type_ in self.types[kind] for each in type_.attribute_types}
            what = "built-in field" if name.startswith("$") else "attribute"
            known = columns.keys() if name.startswith("$") else names
            raise BadInput(f"{place}: no {kind} has the {what} {shown(whole)}.{nearest(name, known)}")
        dtypes = {_FAMILY.get(dtype, dtype) for _, dtype in found}
        if dtypes <= _NUMBERS and len(dtypes) > 1:
            dtypes = {"float"}
        if len(dtypes) > 1:
            which = ", ".join(sorted({dtype for _, dtype in found}))
            raise BadInput(f"{place}: {shown(whole)} is of the types {which}. Choose one entity type with `type`.")
        [dtype] = dtypes
        if dtype == "float_array":
            raise BadInput(f"{place}: {shown(whole)} holds vectors, which statistics do not take.")
        cases = grouped((number, of, Op.PRESENT, None) for number, of in found)
        return Value(kind, dtype, attribute=name, cases=cases)

    def _dtypes(self, kind: Kind, name: str) -> Iterable[tuple[int, str]]:
        for each in self.types[kind]:
            if attribute := each.attribute(name):
                yield each.id, attribute.dtype


def built_in(kind: Kind) -> dict[str, Column]:
    """The built-in fields that statistics of a kind take, by name."""
    found = {name: column for name, column in NAMES[kind].items() if column not in (INCIDENT, TRACK_DURATION)}
    found |= {f"${name}": BY_NAME[kind][name] for name in _SUMS & BY_NAME[kind].keys()}
    if kind is Kind.STATE:
        found["$media"] = BY_NAME[kind]["media"]
    return found


def _number(place: str, text: str, written: str) -> float:
    try:
        number = float(written)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise BadInput(f"{place}: {shown(written)} in {shown(text)} is not a number.")
    return number
