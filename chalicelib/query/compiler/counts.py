"""The number of entities that a checked query selects, as SQL for the view.

A test of a text or flag is counted here and not filtered by, where the query allows that. As a filter of the scan it
takes a branch for each row, 4 to 10 ns; counted, it is evaluated once for each entry of the column's dictionary, and
the rest is without branches: 2 ns.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import NamedTuple

from chalicelib.core.kinds import Kind
from chalicelib.query.compiler.comparisons import MOST_INLINE
from chalicelib.query.compiler.sql import NARROW, Compiler, Statement
from chalicelib.query.layout import Layout
from chalicelib.query.operators import Op
from chalicelib.query.tree import And, AttributeTest, Case, Everything, Not, Nothing, Or, Query, Test, Tree, both
from chalicelib.query.values import TEXT

_IN_DICTIONARIES = frozenset({Op.EQ, Op.CONTAINS, Op.STARTS, Op.ENDS, Op.SAME})


class Counted(NamedTuple):
    """A query for a count, taken apart."""

    test: AttributeTest
    """The test that is counted; it has one case."""
    column: str
    """Its column, which no types but those of the test use."""
    rest: Query
    """The query without the test."""

    @property
    def case(self) -> Case:
        """The one case of the test."""
        return self.test.cases[0]


def count(query: Query, layout: Layout, among: Sequence[int] | None = None, start: int = 0) -> Statement:
    """The number of entities that a checked query selects, before its slice: one row, one number.

    Args:
        query: the query.
        layout: the columns of the view.
        among: the ids that remain after vector distances, which are not computed in SQL.
        start: the first row of the table that counts.
    """
    compiler = Compiler(layout)
    counted = counted_apart(query, layout)
    head, rest = compiler.selection(counted.rest if counted else query, among)
    number = "count(*)"
    if counted:
        number = f"coalesce(count_if({compiler.term(counted.test, query.kind, 't0', strict=False)}), 0)"
    if start:
        rest += f" AND t0.rowid >= {compiler.value(start)}"
    return Statement(f"{head}SELECT {number} {rest}", compiler.parameters)


def by_value(rest: Query, layout: Layout, column: str, rows: range) -> Statement:
    """How many of some neighbouring rows of the table a query selects, by the value of a column."""
    compiler = Compiler(layout)
    _, selected = compiler.selection(rest, None)
    between = f"t0.rowid >= {compiler.value(rows.start)} AND t0.rowid < {compiler.value(rows.stop)}"
    return Statement(f"SELECT t0.{column}, count(*) {selected} AND {between} GROUP BY 1", compiler.parameters)


def counted_apart(query: Query, layout: Layout) -> Counted | None:
    """A query with a test of a text or flag that can be counted, taken apart; else None."""
    return take_apart(query, layout, _is_in_dictionary)


def _is_in_dictionary(case: Case) -> bool:
    return case.op in _IN_DICTIONARIES and (case.dtype in TEXT or case.dtype == "bool")


def take_apart(query: Query, layout: Layout, fits: Callable[[Case], bool]) -> Counted | None:
    """A query and its first test whose one case fits and whose column no other types use; None without one."""
    if query.merge or query.exclude_parents or query.incident is not None:
        return None
    terms = query.where.terms if isinstance(query.where, And) else (query.where,)
    for term in terms:
        if not isinstance(term, AttributeTest) or len(term.cases) != 1 or not fits(term.cases[0]):
            continue
        if column := layout.only_column(query.kind, term.name, term.cases):
            rest = both(*(each for each in terms if each is not term))
            return Counted(term, column, replace(query, where=rest))
    return None


def reads_all_rows(tree: Tree, kind: Kind) -> bool:
    """Whether a condition is decided by each row alone, and has no part by which the database finds a few rows."""
    match tree:
        case Everything() | Nothing():
            return True
        case AttributeTest(_, cases):
            return all(_is_short(each.value) for each in cases)
        case And(terms) | Or(terms):
            return all(reads_all_rows(each, kind) for each in terms)
        case Not(term):
            return reads_all_rows(term, kind)
        case Test(column, _, value):
            is_own = column != "incident" and (column, kind) != ("duration", Kind.STATE)
            return _is_short(value) and is_own and column not in NARROW
    return False


def _is_short(value: object) -> bool:
    """Whether a value can be part of a key that is held."""
    return isinstance(value, Hashable) and not (isinstance(value, tuple) and len(value) > MOST_INLINE)
