"""A checked query as SQL for the view: its text has only fixed words and column names; all values are parameters.

Terms are compiled loosely, NULL counting as false, until a Not needs them two-valued; so what is not negated stays in
the plain form that the database can push into its scans and joins.
"""

# ruff: noqa: S608 statements are made here, of our own words; every value is a parameter

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.query.columns import BY_NAME
from chalicelib.query.compiler.comparisons import COMPARISONS, is_in
from chalicelib.query.compiler.computed import computed
from chalicelib.query.evaluate import RANKS
from chalicelib.query.layout import Layout, latitude
from chalicelib.query.operators import Op
from chalicelib.query.tree import (
    AfterMedia,
    And,
    AttributeTest,
    Case,
    Coincident,
    Everything,
    Not,
    Nothing,
    Or,
    Query,
    Related,
    SortKey,
    Test,
    Tree,
)

_encode = msgspec.json.Encoder().encode
SOLID = frozenset({"id", "type", "version", "mark", "latest", "variant_deleted", "media", "name", "deleted", "depth"})
"""Built-in columns that are never NULL."""


@dataclass(frozen=True)
class Statement:
    """SQL text with numbered parameters, and their values."""

    text: str
    parameters: Sequence[Any]


def ids(query: Query, layout: Layout, among: Sequence[int] | None = None, more: str = "") -> Statement:
    """The ids a checked query selects, in order: rows of an id and, if incidents are counted, their number.

    `more` names a column whose value each row ends with.

    `among` as in `count`. Where a query orders by distance, its rows are ordered by the other keys, and unsliced.
    """
    columns = "t0.id, coalesce(i.n, 0)" if query.incident else "t0.id"
    return _selected(query, layout, f"{columns}, t0.{more}" if more else columns, among)


def count(query: Query, layout: Layout, among: Sequence[int] | None = None) -> Statement:
    """The number of entities that a checked query selects, before its slice: one row, one number.

    Args:
        query: the query.
        layout: the columns of the view.
        among: the ids that remain after vector distances, which are not computed in SQL.
    """
    compiler = Compiler(layout)
    head, rest = compiler.selection(query, among)
    return Statement(f"{head}SELECT count(*) {rest}", compiler.parameters)


def text_columns(kind: Kind, test: Test | AttributeTest, layout: Layout) -> list[str]:
    """The columns that a checked test of texts compares."""
    if isinstance(test, Test):
        return [f'"{test.column}"']
    compiler = Compiler(layout)
    return sorted({column for case in test.cases for column in compiler.columns(kind, test.name, case)})


def text_bytes(kind: Kind, column: str) -> Statement:
    """The bytes of all texts of a column."""
    return Statement(f"SELECT coalesce(sum(strlen({column}::VARCHAR)), 0)::BIGINT FROM {table(kind)}", [])


def column(query: Query, layout: Layout, name: str) -> Statement:
    """The values of a column of the entities that a checked query without `nearest` selects, in order."""
    return _selected(query, layout, f"t0.{name}")


def unsorted(query: Query, layout: Layout, name: str) -> Statement:
    """Rows of an id and the value of a column, of the entities that a checked query selects, in no order or slice."""
    compiler = Compiler(layout)
    head, rest = compiler.selection(query, None)
    return Statement(f"{head}SELECT t0.id, t0.{name} {rest}", compiler.parameters)


def _selected(query: Query, layout: Layout, columns: str, among: Sequence[int] | None = None) -> Statement:
    compiler = Compiler(layout)
    head, rest = compiler.selection(query, among)
    order = compiler.order(query)
    limit = ""
    if query.stop is not None and not query.nearest:
        limit += f" LIMIT {compiler.value(max(0, query.stop - query.start))}"
    if query.start and not query.nearest:
        limit += f" OFFSET {compiler.value(query.start)}"
    return Statement(f"{head}SELECT {columns} {rest} ORDER BY {order}{limit}", compiler.parameters)


def tally(query: Query, layout: Layout, column: str) -> Statement:
    """The number of entities that a checked query selects by the value of a column, ordered by value."""
    compiler = Compiler(layout)
    head, rest = compiler.selection(query, None)
    return Statement(f"{head}SELECT t0.{column}, count(*) {rest} GROUP BY 1 ORDER BY 1", compiler.parameters)


def values(kind: Kind, column: str) -> Statement:
    """The values of a column: rows of an id and a value, without nulls."""
    return Statement(f"SELECT id, {column} FROM {table(kind)} WHERE {column} NOTNULL", [])


def values_between(kind: Kind, column: str, start: int, stop: int) -> Statement:
    """The same for a range of rows of the table, exclusive of `stop`."""
    text = f"SELECT id, {column} FROM {table(kind)} WHERE rowid >= $1 AND rowid < $2 AND {column} NOTNULL"
    return Statement(text, [start, stop])


def placed(kind: Kind, numbers: Sequence[int], column: str) -> Statement:
    """Rows of an id, a type and a column, of the given ids that exist."""
    compiler = Compiler(Layout())
    where = is_in(compiler.value, "id", "int", tuple(numbers))
    return Statement(f"SELECT id, type, {column} FROM {table(kind)} WHERE {where}", compiler.parameters)


def existing(kind: Kind, numbers: Sequence[int]) -> Statement:
    """The given ids that exist."""
    compiler = Compiler(Layout())
    return Statement(
        f"SELECT id FROM {table(kind)} WHERE {is_in(compiler.value, 'id', 'int', tuple(numbers))}", compiler.parameters
    )


def table(kind: Kind) -> str:
    """The table of a kind."""
    return f'"{kind.value}"'


@dataclass
class Compiler:
    """Makes the text of one statement, and collects its parameters."""

    layout: Layout
    parameters: list[Any] = field(default_factory=list)
    aliases: int = 0
    counts_incidents: bool = False

    def value(self, value: Any) -> str:
        """The placeholder of a new parameter."""
        self.parameters.append(value)
        return f"${len(self.parameters)}"

    def alias(self) -> str:
        """A new table alias."""
        self.aliases += 1
        return f"t{self.aliases}"

    # --- the statement ------------------------------------------------------------------------------------------

    def selection(self, query: Query, among: Sequence[int] | None, joins: str = "") -> tuple[str, str]:
        """The text before SELECT, and FROM … WHERE … with the kind's table as t0, joined with `joins`."""
        self.counts_incidents = query.incident is not None
        name = table(query.kind)
        source = f"FROM {name} t0"
        if query.incident is not None:
            source += f" LEFT JOIN ({self._incidents(query.incident)}) i ON i.media = t0.id"
        where = self._where(query)
        head = ""
        if query.merge or query.exclude_parents:
            head = f"WITH chosen AS MATERIALIZED (SELECT t0.* {source} WHERE {where}) "
            where = "t0.id IN (SELECT id FROM chosen) AND t0.id NOT IN (SELECT parent FROM chosen WHERE parent NOTNULL)"
            if query.merge and query.derived:
                pairs = self.value(_encode([list(pair) for pair in query.derived]).decode())
                where += (
                    " AND t0.id NOT IN (SELECT b.id FROM chosen b JOIN chosen d ON d.elemental_id = b.elemental_id"
                    f" JOIN (SELECT unnest(from_json({pairs}, '[[\"BIGINT\"]]')) AS p) v"
                    " ON v.p[1] = d.version AND v.p[2] = b.version)"
                )
        if query.kind.is_annotation and not query.show_deleted:
            where += " AND NOT t0.variant_deleted"
        if among is not None:
            where += f" AND {is_in(self.value, 't0.id', 'int', tuple(among))}"
        return head, f"{source}{joins} WHERE {where}"

    def _where(self, query: Query) -> str:
        """The condition of a query. Media that must have counted rows are found by their counts."""
        terms = query.where.terms if isinstance(query.where, And) else (query.where,)
        if query.incident not in terms or not _is_counted(query.incident):
            return self.term(query.where, query.kind, "t0", strict=False)
        rest = [self.term(each, query.kind, "t0", strict=False) for each in terms if each != query.incident]
        return " AND ".join(["i.media NOTNULL", *rest])

    def _incidents(self, tree: Tree) -> str:
        terms = tree.terms if isinstance(tree, Or) else (tree,)
        counted = []
        for term in terms:
            if isinstance(term, Related):
                alias = self.alias()
                media = f"unnest({alias}.media)" if term.to is Kind.STATE else f"{alias}.media"
                where = self._nested(term, alias)
                counted.append(f"SELECT {media} AS media FROM {table(term.to)} {alias} WHERE {where}")
        if not counted:
            return "SELECT 0 AS media, 0 AS n WHERE false"
        return f"SELECT media, count(*) AS n FROM ({' UNION ALL '.join(counted)}) GROUP BY media"

    def order(self, query: Query) -> str:
        """The ORDER BY of a query, distances aside: keys, id."""
        parts = [part for key in query.keys for part in self._key(query.kind, key)]
        return ", ".join((*parts, "t0.id"))

    # --- terms --------------------------------------------------------------------------------------------------

    def term(self, tree: Tree, kind: Kind, alias: str, *, strict: bool) -> str:  # noqa: C901, PLR0911 a case each
        """A condition on a kind's table under an alias; never NULL if `strict`."""
        match tree:
            case Everything():
                return "true"
            case Nothing():
                return "false"
            case And(terms):
                return "(" + " AND ".join(self.term(each, kind, alias, strict=strict) for each in terms) + ")"
            case Or(terms):
                return "(" + " OR ".join(self.term(each, kind, alias, strict=strict) for each in terms) + ")"
            case Not(term):
                return f"NOT {self.term(term, kind, alias, strict=True)}"
            case Test():
                return self._test(tree, kind, alias, strict=strict)
            case AttributeTest(name, cases):
                return self._attribute(name, cases, kind, alias, strict=strict)
            case Related():
                return self._related(tree, kind, alias)
            case Coincident():
                return self._coincident(tree, kind, alias, strict=strict)
            case AfterMedia():
                return self._after(tree, alias)
        raise AssertionError(tree)  # the check leaves no other

    def _test(self, test: Test, kind: Kind, alias: str, *, strict: bool) -> str:
        if test.column == "incident":
            column, dtype = ("coalesce(i.n, 0)" if self.counts_incidents and alias == "t0" else "NULL::BIGINT"), "int"
        elif (found := computed(kind, test.column, alias)) is not None:
            column, dtype = found, "int" if test.column == "length" else "float"
        else:
            column, dtype = f'{alias}."{test.column}"', BY_NAME[kind][test.column].dtype
        condition = COMPARISONS[test.op](self.value, column, dtype, test.value)
        if not strict or test.op is Op.PRESENT or test.column in SOLID:
            return f"({condition})"
        return f"coalesce({condition}, false)"

    def _attribute(self, name: str, cases: Iterable[Case], kind: Kind, alias: str, *, strict: bool) -> str:
        found = []
        for case in cases:
            for column, types in self.columns(kind, name, case).items():
                condition = COMPARISONS[case.op](self.value, f"{alias}.{column}", case.dtype, case.value)
                guard = self.guard(kind, alias, column, types)
                found.append(f"({guard}{condition})")
        if not found:
            return "false"
        condition = found[0] if len(found) == 1 else f"({' OR '.join(found)})"
        return f"coalesce({condition}, false)" if strict else condition

    def columns(self, kind: Kind, name: str, case: Case) -> dict[str, list[int]]:
        """The columns of an attribute of some types: column → the types that use it."""
        columns: dict[str, list[int]] = {}
        for number in case.types:
            slot = self.layout.slot(kind, number, name)
            if slot is not None and slot.dtype == case.dtype:
                columns.setdefault(slot.column, []).append(number)
        return columns

    def guard(self, kind: Kind, alias: str, column: str, types: list[int]) -> str:
        """The condition on the types, followed by AND; empty where only these types use the column."""
        if self.layout.users[kind][column] <= set(types):
            return ""
        return f"{alias}.type IN ({', '.join(map(self.value, types))}) AND "

    # --- links --------------------------------------------------------------------------------------------------

    def _nested(self, tree: Related | Coincident, alias: str) -> str:
        return self.term(tree.where, tree.to, alias, strict=False)

    def _related(self, tree: Related, kind: Kind, alias: str) -> str:
        other = self.alias()
        where = self._nested(tree, other)
        match kind, tree.to:
            case (Kind.MEDIA, Kind.STATE):
                found, own = f"unnest({other}.media)", f"{alias}.id"
            case (Kind.MEDIA, _):
                found, own = f"{other}.media", f"{alias}.id"
            case (Kind.LOCALIZATION, Kind.MEDIA):
                found, own = f"{other}.id", f"{alias}.media"
            case (Kind.LOCALIZATION, _):
                found, own = f"unnest({other}.localizations)", f"{alias}.id"
            case _:
                members = "media" if tree.to is Kind.MEDIA else "localizations"
                return (
                    f"({alias}.id IN (SELECT s.id FROM (SELECT id, unnest({members}) AS m FROM {table(kind)}) s"
                    f" WHERE s.m IN (SELECT {other}.id FROM {table(tree.to)} {other} WHERE {where})))"
                )
        return f"({own} IN (SELECT {found} FROM {table(tree.to)} {other} WHERE {where}))"

    def _coincident(self, tree: Coincident, kind: Kind, alias: str, *, strict: bool) -> str:
        other = self.alias()
        where = self._nested(tree, other)
        media = f"unnest({other}.media)" if tree.to is Kind.STATE else f"{other}.media"
        found = (
            f"SELECT {media} AS m, {other}.frame AS f FROM {table(tree.to)} {other}"
            f" WHERE {other}.frame NOTNULL AND {where}"
        )
        if kind is Kind.STATE:
            return (
                f"({alias}.id IN (SELECT s.id FROM (SELECT id, frame, unnest(media) AS m FROM {table(kind)}) s"
                f" JOIN ({found}) o ON o.m = s.m AND o.f = s.frame))"
            )
        condition = f"(({alias}.media, {alias}.frame) IN ({found}))"
        return f"coalesce({condition}, false)" if strict else condition

    def _after(self, tree: AfterMedia, alias: str) -> str:
        at = self.value(tree.media)
        seen = self.term(tree.where, Kind.MEDIA, "b", strict=False)
        before = f"(SELECT b.name FROM {table(Kind.MEDIA)} b WHERE b.id = {at} AND {seen})"
        return (
            f"({alias}.name > {before} OR ({alias}.name = {before} AND {alias}.id > {at})"
            f" OR ({before} IS NULL AND {alias}.id > {at}))"
        )

    # --- order --------------------------------------------------------------------------------------------------

    def _key(self, kind: Kind, key: SortKey) -> list[str]:
        direction = _direction(key.descending)
        if key.column is not None:
            column = f't0."{key.column}"'
            if key.column == "incident":
                if not self.counts_incidents:
                    return []
                column = "coalesce(i.n, 0)"
            elif (found := computed(kind, key.column, "t0")) is not None:
                column = found
            elif key.column == "section" and kind.is_annotation:
                media = "t0.media[1]" if kind is Kind.STATE else "t0.media"
                column = f"(SELECT m.section FROM {table(Kind.MEDIA)} m WHERE m.id = {media})"
            return [f"{column} {direction} NULLS {'FIRST' if key.descending else 'LAST'}"]
        ranks: dict[int, list[tuple[str, str]]] = {}
        mixed = any(case.dtype == "float" for case in key.cases)
        for case in key.cases:
            for column, types in self.columns(kind, key.attribute, case).items():
                guard = self.guard(kind, "t0", column, types).removesuffix(" AND ")
                value = f"t0.{column}::DOUBLE" if mixed and case.dtype == "int" else f"t0.{column}"
                ranks.setdefault(RANKS.get(case.dtype, 0), []).append((guard, value))
        parts = []
        for rank in sorted(ranks, reverse=key.descending):
            columns = [ranks[rank]]
            if rank == RANKS["geopos"]:
                columns.append([(guard, latitude(column)) for guard, column in ranks[rank]])
            parts += [f"{either(each)} {direction} NULLS LAST" for each in columns]
        return parts


def either(columns: list[tuple[str, str]]) -> str:
    """The value of the one column, of several, that is set; each comes with the condition to read it."""
    values = [f"CASE WHEN {guard} THEN {column} END" if guard else column for guard, column in columns]
    return values[0] if len(values) == 1 else f"coalesce({', '.join(values)})"


def _is_counted(tree: Tree | None) -> bool:
    """Whether the incidents of a tree are all that it finds."""
    return all(isinstance(each, Related) for each in (tree.terms if isinstance(tree, Or) else (tree,)))


def _direction(descending: bool) -> str:
    return "DESC" if descending else "ASC"
