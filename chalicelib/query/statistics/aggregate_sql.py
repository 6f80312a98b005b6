"""Statistics of a checked query as SQL for the view: one statement each.

    WITH r AS (groups g0… and measured values v0… of each selected entity)
    SELECT groups, measures, the number of groups FROM (… GROUP BY …) ORDER BY … LIMIT …

An annotation on several media has one row of `r` for each, where a value depends on the media.
"""

# ruff: noqa: S608 statements are made here, of our own words; every value is a parameter

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chalicelib.core.kinds import Kind
from chalicelib.query.compiler.computed import computed
from chalicelib.query.compiler.sql import Compiler, Statement, either, table
from chalicelib.query.layout import SQL_TYPE, Layout, latitude
from chalicelib.query.statistics.aggregates import COVER, LEAST_INT, Aggregate, Group, Measure, Statistics, Value
from chalicelib.query.tree import Query

Z = 1.959963984540054
"""The quantile of the normal distribution for intervals of 95 %."""
_SIMPLE = {"sum": "sum", "min": "min", "max": "max", "mean": "avg"}


def statistics(query: Query, aggregate: Aggregate, layout: Layout, among: Sequence[int] | None = None) -> Statement:
    """The rows of statistics.

    Each row has the columns of each group (two of a place's cell), of each measure, and the number of all groups. With
    facets: the number of the facet, its value (two columns), the count, the number of its values.

    Args:
        query: a checked query; its order and slice are not applied.
        aggregate: statistics bound to the same definitions.
        layout: the columns of the view.
        among: the only entities to count, where given.
    """
    return _Statistics(Compiler(layout), query, aggregate).statement(among)


def read(aggregate: Aggregate, matched: int, rows: Sequence[tuple[Any, ...]]) -> Statistics:
    """The statistics in the rows of a statement, and the number of entities."""
    wide = [group.value.dtype == "geopos" for group in aggregate.groups]
    if aggregate.facets:
        return _read_facets(matched, rows, wide)
    found = []
    for row in rows:
        cells = iter(row[:-1])
        values = [_place(next(cells), next(cells)) if is_wide else next(cells) for is_wide in wide]
        found.append((*values, *cells))
    return Statistics(matched, [rows[0][-1] if rows else 0], [found])


def _read_facets(matched: int, rows: Sequence[tuple[Any, ...]], wide: Sequence[bool]) -> Statistics:
    numbers, found = [0] * len(wide), [list[tuple[Any, ...]]() for _ in wide]
    for mask, *cells, count, total in rows:
        # The bits of a facet's mask are set for all others; the first facet has the highest.
        facet = len(wide) - (~mask & ((1 << len(wide)) - 1)).bit_length()
        first = facet + sum(wide[:facet])
        value = _place(cells[first], cells[first + 1]) if wide[facet] else cells[first]
        found[facet].append((value, count))
        numbers[facet] = total
    return Statistics(matched, numbers, found)


def _wilson(table: str) -> list[str]:
    """A share of `p` among `e` points, and its interval of 95 % by E. B. Wilson (1927)."""
    p, e = f"{table}.p", f"{table}.e"
    middle, half = f"{p} + {Z * Z / 2} / {e}", f"{Z} * sqrt({p} * (1 - {p}) / {e} + {Z * Z / 4} / {e} / {e})"
    whole = f"(1 + {Z * Z} / {e})"
    ends = f"greatest(0.0, ({middle} - {half}) / {whole})", f"least(1.0, ({middle} + {half}) / {whole})"
    return [p, *(f"CASE WHEN {e} NOTNULL THEN {end} END" for end in ends)]  # greatest and least pass over nulls


def _place(longitude: float | None, latitude: float | None) -> tuple[float, float] | None:
    return None if longitude is None or latitude is None else (longitude, latitude)


@dataclass
class _Statistics:
    compiler: Compiler
    query: Query
    aggregate: Aggregate

    def statement(self, among: Sequence[int] | None) -> Statement:
        """The statement."""
        head, rest = self.compiler.selection(self.query, among, self._joins())
        head = f"{head.rstrip()}, " if head else "WITH "
        text = self._facets(head, rest) if self.aggregate.facets else self._groups(head, rest)
        return Statement(text, self.compiler.parameters)

    # --- entities and their values --------------------------------------------------------------------------------

    def _joins(self) -> str:
        """The joins of an annotation with its media: each of them, and of those the visible ones' values as `m`."""
        aggregate = self.aggregate
        if not aggregate.kind.is_annotation:
            return ""
        text, media = "", "t0.media"
        if aggregate.kind is Kind.STATE and (aggregate.is_by_media or self._counts_frames):
            text = f" LEFT JOIN (SELECT DISTINCT id, unnest(media) AS media FROM {table(Kind.STATE)}) u ON u.id = t0.id"
            media = "u.media"
        if any(value.kind is Kind.MEDIA for value in aggregate.values):
            seen = self.compiler.term(aggregate.media, Kind.MEDIA, "s", strict=False)
            text += f" LEFT JOIN (SELECT s.* FROM {table(Kind.MEDIA)} s WHERE {seen}) m ON m.id = {media}"
        return text

    @property
    def _counts_frames(self) -> bool:
        return any(measure.word == "maxn" or measure.is_stratified for measure in self.aggregate.measures)

    @property
    def _media(self) -> str:
        """The media of an annotation, one of them where it may have several."""
        return "u.media" if self.aggregate.kind is Kind.STATE else "t0.media"

    def _value(self, value: Value) -> str:
        """The value of an entity."""
        alias = "m" if value.kind is Kind.MEDIA and self.aggregate.kind is not Kind.MEDIA else "t0"
        if value.column is not None:
            if value.column == "media":
                return self._media
            return computed(value.kind, value.column, alias) or f'{alias}."{value.column}"'
        return self._attribute(value, alias)[0]

    def _attribute(self, value: Value, alias: str) -> tuple[str, str]:
        """The value of an attribute, and of a place its latitude."""
        found: list[tuple[str, str]] = []
        for case in value.cases:
            for column, types in self.compiler.columns(value.kind, value.attribute, case).items():
                guard = self.compiler.guard(value.kind, alias, column, types).removesuffix(" AND ")
                cast = "::DOUBLE" if value.dtype == "float" and case.dtype == "int" else ""
                found.append((guard, f"{alias}.{column}{cast}"))
        if not found:
            nothing = "NULL::DOUBLE" if value.dtype == "geopos" else f"NULL::{SQL_TYPE[value.dtype]}"
            return nothing, nothing
        places = [(guard, latitude(column)) for guard, column in found] if value.dtype == "geopos" else found
        return either(found), either(places)

    def _bins(self, group: Group) -> list[str]:
        """The columns of a group."""
        value = group.value
        if value.dtype == "geopos":
            return [
                self._floor(each, float(group.width or 1))
                for each in self._attribute(value, "t0" if self._is_own(value) else "m")
            ]
        text = self._value(value)
        if group.unit is not None:
            return [f"date_trunc('{group.unit}', {text})"]
        if group.width is None:
            return [f"{text} + 0.0"] if value.dtype == "float" else [text]
        if value.dtype == "int" and group.width.is_integer():
            width = self.compiler.value(int(group.width))
            return [f"CASE WHEN {text} > {LEAST_INT} THEN {text} - ((({text} % {width}) + {width}) % {width}) END"]
        return [self._floor(f"{text}::DOUBLE", group.width)]

    def _is_own(self, value: Value) -> bool:
        return value.kind is self.aggregate.kind

    def _floor(self, text: str, width: float) -> str:
        given = self.compiler.value(width)
        start = f"floor({text} / {given}) * {given}"
        return f"CASE WHEN isfinite({start}) THEN {start} + 0.0 END"

    # --- groups -----------------------------------------------------------------------------------------------------

    def _groups(self, head: str, rest: str) -> str:
        columns = [text for group in self.aggregate.groups for text in self._bins(group)]
        names = [f"g{place}" for place in range(len(columns))]
        values = [measure.value for measure in self.aggregate.measures if measure.value]
        taken = [f"{text} AS {name}" for text, name in zip(columns, names, strict=True)]
        taken += [f"{self._value(value)} AS v{place}" for place, value in enumerate(values)]
        taken.append("t0.id AS id")
        if self._counts_frames:
            taken += [f"{self._media} AS media", "t0.frame AS frame"]
        rows = f"{head}r AS (SELECT {', '.join(taken)} {rest})"
        measured = ", ".join(self._measures())
        by = f" GROUP BY {', '.join(names)}" if names else ""
        source = self._once("r", taken)
        rows += f", a AS (SELECT {', '.join((*names, measured))} FROM {source}{by})"
        picked, joined = [*(f"a.{name}" for name in names)], "a"
        for place, measure in enumerate(self.aggregate.measures):
            if measure.word not in ("maxn", COVER):
                picked.append(f"a.m{place}")
                continue
            table = f"x{place}"
            rows += self._cover(table, names, measure) if measure.word == COVER else self._frames(table, names)
            same = " AND ".join(f"{table}.{name} IS NOT DISTINCT FROM a.{name}" for name in names) or "true"
            joined += f" LEFT JOIN {table} ON {same}"
            picked += (
                _wilson(table) if measure.word == COVER else [f"{table}.{each}" for each in ("n", "media", "frame")]
            )
        return (
            f"{rows} SELECT {', '.join(picked)}, count(*) OVER () FROM {joined} ORDER BY {self._order(picked)}"
            f" LIMIT {self.compiler.value(self.aggregate.limit)}"
        )

    def _once(self, source: str, taken: Sequence[str]) -> str:
        """The rows to measure: only MaxN has a row for each media of a state where no value depends on the media."""
        if not self._counts_frames or self.aggregate.kind is not Kind.STATE or self.aggregate.is_by_media:
            return source
        own = [text.rpartition(" AS ")[2] for text in taken[:-2]]
        return f"(SELECT DISTINCT {', '.join(own)} FROM {source})"

    @property
    def _count(self) -> str:
        """Counts entities, each once."""
        is_repeated = self.aggregate.kind is Kind.STATE and self.aggregate.is_by_media
        return "count(DISTINCT id)" if is_repeated else "count(*)"

    def _measures(self) -> list[str]:
        found, place = [], 0
        for number, measure in enumerate(self.aggregate.measures):
            if measure.word not in ("maxn", COVER):
                found.append(f"{self._measure(measure, f'v{place}')} AS m{number}")
            place += measure.value is not None
        return found or ["count(*) AS unused"]

    def _measure(self, measure: Measure, value: str) -> str:
        match measure.word:
            case "count":
                return self._count
            case "distinct":
                return f"count(DISTINCT {value})"
            case "median" | "quantile":
                return f"quantile_cont({value}::DOUBLE, {self.compiler.value(measure.fraction)})"
        return f"{_SIMPLE[measure.word]}({value})"

    def _frames(self, table: str, names: Sequence[str]) -> str:
        """MaxN: the most entities of a group on one frame of a media, and the first media and frame with as many."""
        listed = "".join(f"{name}, " for name in names)
        by = f" GROUP BY {', '.join(names)}" if names else ""
        return (
            f", f AS (SELECT {listed}media, frame, count(*) AS n FROM r WHERE media NOTNULL AND frame NOTNULL"
            f" GROUP BY {listed}media, frame)"
            f", {table} AS (SELECT {listed}best.n AS n, -best.m AS media, -best.f AS frame"
            f" FROM (SELECT {listed}max({{'n': n, 'm': -media, 'f': -frame}}) AS best FROM f{by}))"
        )

    def _cover(self, table: str, names: Sequence[str], measure: Measure) -> str:
        """The share `p` of each label among the labelled points of the other groups, and as how many points it counts.

        Without strata that is all points. Where each frame is a stratum, `p` is the mean of the frames' shares, and
        `e` is p(1 - p) over its variance (Cochran, "Sampling Techniques", 1977, 5.4); null where a frame has one point.
        """
        label, listed = names[self._first_column(measure)], ", ".join(names)
        others = [name for name in names if name != label]
        frame = ", ".join((*others, "media", "frame"))
        if not measure.is_stratified:
            within = f"PARTITION BY {', '.join(others)}" if others else ""
            return (
                f", {table} AS (SELECT *, k / n AS p, n AS e FROM (SELECT {listed}, count(*) AS k,"
                f" sum(count(*)) OVER ({within}) AS n FROM r WHERE {label} NOTNULL GROUP BY {listed}))"
            )
        same = " AND ".join(f"s.{name} IS NOT DISTINCT FROM f.{name}" for name in others) or "true"
        return (
            f", {table}s AS (SELECT {listed}, media, frame, count(*) AS k,"
            f" sum(count(*)) OVER (PARTITION BY {frame}) AS n"
            f" FROM r WHERE {label} NOTNULL GROUP BY {listed}, media, frame)"
            f", {table}f AS (SELECT {''.join(f'{name}, ' for name in others)}count(*) AS frames, sum(n) AS points,"
            f" min(n) AS fewest FROM (SELECT DISTINCT {frame}, n FROM {table}s)"
            f"{' GROUP BY ' + ', '.join(others) if others else ''})"
            f", {table} AS (SELECT *, CASE WHEN fewest > 1 THEN if(v > 0, p * (1 - p) / v, points) END"
            f" AS e FROM (SELECT {', '.join(f's.{name}' for name in names)}, points, fewest, sum(k / n) / frames AS p,"
            f" sum(k / n * (1 - k / n) / (n - 1)) / frames ** 2 AS v FROM {table}s s JOIN {table}f f ON {same}"
            f" GROUP BY {', '.join(f's.{name}' for name in names)}, frames, points, fewest))"
        )

    def _first_column(self, measure: Measure) -> int:
        """The number of the column of the group whose cover is measured."""
        groups = self.aggregate.groups
        at = next(place for place, group in enumerate(groups) if group.value == measure.value)
        return at + sum(group.value.dtype == "geopos" for group in groups[:at])

    def _order(self, picked: Sequence[str]) -> str:
        """The order: the columns asked for, then the groups."""
        wide = [group.value.dtype == "geopos" for group in self.aggregate.groups]
        keys = []
        for order in self.aggregate.order:
            first = order.column + sum(wide[: order.column])
            count = 2 if order.column < len(wide) and wide[order.column] else 1
            direction = "DESC" if order.descending else "ASC"
            keys += [f"{picked[place]} {direction} NULLS LAST" for place in range(first, first + count)]
        keys += [f"{picked[place]} NULLS LAST" for place in range(len(wide) + sum(wide))]
        return ", ".join(keys) or "1"

    # --- facets -----------------------------------------------------------------------------------------------------

    def _facets(self, head: str, rest: str) -> str:
        """Each facet by itself, over the same rows; a facet's value is in the columns of its number."""
        columns = [self._bins(group) for group in self.aggregate.groups]
        names = [[f"g{number}{'ab'[at]}" for at in range(len(each))] for number, each in enumerate(columns)]
        taken = ["t0.id AS id"]
        for texts, its in zip(columns, names, strict=True):
            taken += [f"{text} AS {name}" for text, name in zip(texts, its, strict=True)]
        limit = self.compiler.value(self.aggregate.limit)
        everything = ", ".join(name for its in names for name in its)
        sets = ", ".join(f"({', '.join(its)})" for its in names)
        number = f"grouping({', '.join(its[0] for its in names)})"
        within = f"PARTITION BY {number}"
        return (
            f"{head}r AS (SELECT {', '.join(taken)} {rest})"
            f" SELECT {number} AS facet, {everything}, {self._count} AS n, count(*) OVER ({within}) AS total"
            f" FROM r GROUP BY GROUPING SETS ({sets})"
            f" QUALIFY row_number() OVER ({within} ORDER BY n DESC, {self._ties(names)}) <= {limit}"
            f" ORDER BY facet, n DESC, {self._ties(names)}"
        )

    def _ties(self, names: Sequence[Sequence[str]]) -> str:
        return ", ".join(f"{name} NULLS LAST" for its in names for name in its)
