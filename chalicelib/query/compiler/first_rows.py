"""The first rows of a large sorted list: a bound from a sample spares the database the sorting of all other rows.

    first_rows.column(query, layout, name, rows, ask)      the values of a column, in order

To list the first hundred of ten million, the database looks at each row that the filter selects. The tenth best key of
a hundredth of the rows has some eight hundred better ones in the table. So the statement gets one more condition, that
the key is at least as good. Where it finds as many rows as were asked for, they are the first ones; where it finds
fewer, the list is read without the condition.
"""

# ruff: noqa: S608 statements are made here, of our own words; every value is a parameter

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from chalicelib.query.compiler import sql
from chalicelib.query.layout import Layout
from chalicelib.query.operators import Op
from chalicelib.query.tree import And, Query, Test

Ask = Callable[[sql.Statement], list[tuple[Any, ...]]]
"""Runs a statement."""
LEAST_ROWS = 300_000
"""Rows of a table from which on its lists are bounded."""
MOST_WANTED = 5_000
"""Rows up to which a list is bounded; longer ones are sorted whole."""
RANGES, RANGE = 4, 30_720
"""The sample: so many ranges of so many neighbours, from the first rows to the last."""
_LEAST_BETTER, _MARGIN = 10, 3
"""The rows of the sample that are at least as good as the bound: so many, or this many times what would do."""
_COMPUTED = frozenset({"incident", "duration", "section"})
"""Sort keys that are not always columns."""


class _Key(NamedTuple):
    """The sort key of a list: its column, its direction, and whether rows without a value come first."""

    column: str
    is_descending: bool
    has_nulls_first: bool

    @property
    def order(self) -> str:
        """The ORDER BY of the key alone."""
        return f"{'DESC' if self.is_descending else 'ASC'} NULLS {'FIRST' if self.has_nulls_first else 'LAST'}"


def column(query: Query, layout: Layout, name: str, rows: Callable[[], int], ask: Ask) -> list[Any]:
    """The values of a column of the entities that a checked query without `nearest` selects, in order.

    Args:
        query: the query.
        layout: the columns of the view.
        name: the column.
        rows: says about how many rows the kind's table has.
        ask: runs a statement.
    """
    key = _key_of(query, layout)
    if key and (total := rows()) >= LEAST_ROWS:
        bound = _bound(query, layout, key, total, ask)
        if bound is not None:
            found = ask(sql.column(query, layout, name, lambda value: _is_within(key, value(bound))))
            if len(found) == (query.stop or 0) - query.start:
                return [row[0] for row in found]
    return [row[0] for row in ask(sql.column(query, layout, name))]


def _key_of(query: Query, layout: Layout) -> _Key | None:
    """The key of a short list that is sorted by one column and has no filter that selects few rows; else None."""
    is_short = query.stop is not None and query.start < query.stop <= MOST_WANTED
    if not is_short or len(query.keys) != 1 or query.merge or query.exclude_parents or query.incident is not None:
        return None
    terms = query.where.terms if isinstance(query.where, And) else (query.where,)
    if any(isinstance(each, Test) and each.column in sql.NARROW and each.op in (Op.EQ, Op.IN) for each in terms):
        return None
    [key] = query.keys
    if key.column is None:
        is_place = any(case.dtype == "geopos" for case in key.cases)
        found = None if is_place else layout.only_column(query.kind, key.attribute, key.cases)
        return _Key(f"t0.{found}", key.descending, has_nulls_first=False) if found else None
    has_nulls_first = key.descending and key.column not in sql.SOLID
    return None if key.column in _COMPUTED else _Key(f't0."{key.column}"', key.descending, has_nulls_first)


def _bound(query: Query, layout: Layout, key: _Key, rows: int, ask: Ask) -> Any:
    """A value of the key, from the sample, such that probably more rows than wanted are sorted before or with it.

    Returns:
        None if the sample has too few rows that match.
    """
    assert query.stop is not None  # noqa: S101 as the caller has seen
    share = min(1.0, RANGES * RANGE / rows)
    better = max(_LEAST_BETTER, math.ceil(_MARGIN * query.stop * share))
    compiler = sql.Compiler(layout)
    _, rest = compiler.selection(query, None)
    starts = [max(0, rows - RANGE) * place // (RANGES - 1) for place in range(RANGES)]
    # The last range has no end: rows that were changed lately lie behind all others.
    ends = [f" AND t0.rowid < {start + RANGE}" for start in starts[:-1]] + [""]
    parts = (
        f"SELECT {key.column} AS k {rest} AND t0.rowid >= {start}{end}" for start, end in zip(starts, ends, strict=True)
    )
    text = f"SELECT k FROM ({' UNION ALL '.join(parts)}) ORDER BY k {key.order} LIMIT {better}"
    found = ask(sql.Statement(text, compiler.parameters))
    return found[-1][0] if len(found) == better else None


def _is_within(key: _Key, bound: str) -> str:
    """The condition that a row is not behind a bound."""
    condition = f"{key.column} {'>=' if key.is_descending else '<='} {bound}"
    return f"({condition} OR {key.column} IS NULL)" if key.has_nulls_first else condition
