"""How often each value of a text or flag occurs, held in memory: counts of such values read no rows then.

A count by DuckDB reads a column of all rows. Most such columns have few different values, and people ask for one after
the other, with the same other conditions. So after the first counts, the rows are counted by value, a few ranges of
neighbouring rows with each question: the counts of the ranges that were done answer for their rows, and DuckDB for the
rest. A row that is changed or removed leaves its range, and the new one comes behind all ranges. So a range is counted
again where an id changed that lies between its least and its greatest.

    held.number(query, layout, rows, ask)     the number of entities that a checked query selects; None if not held
    held.note(changed)                        ids that were created, changed or removed, while there are no readers
    held.clear()                              rows have other places, or columns another meaning
"""

# ruff: noqa: S608 statements are made of our own words and names

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any

from chalicelib.core.kinds import Kind
from chalicelib.query.compiler import counts, sql
from chalicelib.query.compiler.counts import Counted
from chalicelib.query.evaluate import TESTS
from chalicelib.query.layout import Layout
from chalicelib.query.operators import Op
from chalicelib.query.tree import Query

Ask = Callable[[sql.Statement], list[tuple[Any, ...]]]
FIRST_COUNTS = 2
"""Counts with the same other conditions that DuckDB answers before their column is counted by value."""
LEAST_ROWS = 300_000
"""Rows of a table from which on its counts are held; below, a scan takes no longer than a statement."""
RANGE = 4 * 122_880
"""Rows that are counted together: some row groups of DuckDB."""
RANGES_AT_ONCE = 4
"""Ranges that one question counts by value."""
MOST_STALE = 5_000
"""Changed rows of ranges between two questions, after which all ranges are counted again."""
_MOST_VALUES = 5_000
"""Different values of a column up to which it is counted by value."""
_MOST_ENTRIES = 200_000
"""The most counts of all ranges of a column."""
_SAMPLE = 20_480
"""Rows whose different values are counted first."""
_MOST_HELD, _MOST_KNOWN = 8, 64
"""Columns, each with other conditions, that are held, and whose questions are noted."""
_ENTRY, _VALUE = 100, 150
"""About how many bytes a count and a value take."""
_Key = tuple[Any, ...]


class HeldCounts:
    """The held counts of one view."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Forget all counts. There must be no readers."""
        self._tables: dict[Kind, _Table] = {}
        self._held: dict[_Key, _Column] = {}
        self._questions: Counter[_Key] = Counter()
        self._refused: set[tuple[Kind, str]] = set()

    @property
    def memory(self) -> int:
        """About how many bytes they take."""
        return sum(each.memory for each in list(self._held.values()))

    def note(self, changed: Mapping[Kind, Collection[int]]) -> None:
        """Mark ids as created, changed or removed. There must be no readers."""
        for kind, table in list(self._tables.items()):
            if not table.note(changed[kind]):
                del self._tables[kind]
                for key in [key for key in self._held if key[0] is kind]:
                    del self._held[key]

    def number(self, query: Query, layout: Layout, rows: Callable[[], int], ask: Ask) -> int | None:
        """The number of entities that a checked query selects, before its slice; None where DuckDB has to count.

        Args:
            query: a query without `nearest`.
            layout: the columns of the view.
            rows: says about how many rows the kind's table has.
            ask: runs a statement.
        """
        counted = counts.counted_apart(query, layout)
        if counted is None or not counts.reads_all_rows(counted.rest.where, query.kind):
            return None
        if rows() < LEAST_ROWS or not self._lock.acquire(blocking=False):
            return None
        try:
            column = self._column(counted, ask)
            if column is None:
                return None
            done = column.fill(counted, layout, ask)
            if column.size > _MOST_ENTRIES:
                self._refuse(counted)
                return None
            number = column.number(counted, done)
            if done < column.table.end or column.table.has_more:
                number += ask(counts.count(query, layout, start=done))[0][0]
            return number
        finally:
            self._lock.release()

    def _column(self, counted: Counted, ask: Ask) -> _Column | None:
        """The counts of the values of a query's column; None where they are not held."""
        kind, rest = counted.rest.kind, counted.rest
        if (kind, counted.column) in self._refused:
            return None
        key = kind, counted.column, rest.where, rest.show_deleted
        if (found := self._held.pop(key, None)) is None:
            if len(self._questions) >= _MOST_KNOWN:
                self._questions.clear()
            self._questions[key] += 1
            if self._questions[key] <= FIRST_COUNTS:
                return None
            sample = f"SELECT DISTINCT {counted.column} FROM {sql.table(kind)} WHERE rowid < $1"
            if ask(sql.Statement(f"SELECT count(*) FROM ({sample})", [_SAMPLE]))[0][0] > _MOST_VALUES:
                self._refuse(counted)
                return None
            if kind not in self._tables:
                self._tables[kind] = _Table(kind, ask)
            found = _Column(self._tables[kind])
            if len(self._held) >= _MOST_HELD:
                del self._held[next(iter(self._held))]
        self._held[key] = found
        return found

    def _refuse(self, counted: Counted) -> None:
        """Leave a column with too many values to DuckDB."""
        kind = counted.rest.kind
        self._refused.add((kind, counted.column))
        for key in [key for key in self._held if key[:2] == (kind, counted.column)]:
            del self._held[key]


class _Table:
    """The ranges of a kind's table."""

    def __init__(self, kind: Kind, ask: Ask) -> None:
        self._name = sql.table(kind)
        self.end: int = ask(sql.Statement(f"SELECT coalesce(max(rowid) + 1, 0) FROM {self._name}", []))[0][0]
        """The place behind the ranges: rows that come later have this one or a later one."""
        self.has_more = False
        """Whether there may be rows behind the ranges."""
        self.ranges = [range(start, min(start + RANGE, self.end)) for start in range(0, self.end, RANGE)]
        self.versions = [0] * len(self.ranges)
        """How often rows of each range changed."""
        self.changes = 0
        """How often rows of any range changed."""
        self._ids: list[tuple[int, int] | None] = [None] * len(self.ranges)
        """The least and greatest id of each range when it was first counted, None before."""
        self._greatest = 0
        self._stale: set[int] = set()

    def note(self, changed: Collection[int]) -> bool:
        """Mark ids as changed; returns whether the ranges are still good."""
        if changed:
            self.has_more = True
            self._stale.update(number for number in changed if number <= self._greatest)
        return len(self._stale) <= MOST_STALE

    def renew(self) -> None:
        """Mark the ranges of changed ids."""
        if not self._stale:
            return
        self.changes += 1
        stale = sorted(self._stale)
        for place, ids in enumerate(self._ids):
            if ids is None:
                continue
            first = bisect_left(stale, ids[0])
            if first < len(stale) and stale[first] <= ids[1]:
                self.versions[place] += 1
        self._stale = set()

    def begin(self, place: int, ask: Ask) -> None:
        """Read the ids of a range before it is counted first."""
        if self._ids[place] is None:
            rows = self.ranges[place]
            text = f"SELECT min(id), max(id) FROM {self._name} WHERE rowid >= $1 AND rowid < $2"
            [(least, greatest)] = ask(sql.Statement(text, [rows.start, rows.stop]))
            self._ids[place] = found = (1, 0) if least is None else (least, greatest)
            self._greatest = max(self._greatest, *found)


class _Column:
    """The counts of a column's values, by range, among the rows that some other conditions select."""

    def __init__(self, table: _Table) -> None:
        self.table = table
        self._counts: list[dict[Any, int]] = [{} for _ in table.ranges]
        self._versions = [-1] * len(table.ranges)
        """Those of the table when each range was counted."""
        self._changes = 0
        """Those of the table at the last question."""
        self._values: dict[Any, Any] = {}
        """All values, each as its own key, so that the ranges share them."""
        self.size = 0
        """How many counts there are."""

    @property
    def memory(self) -> int:
        """About how many bytes it takes."""
        return self.size * _ENTRY + len(self._values) * _VALUE

    def fill(self, counted: Counted, layout: Layout, ask: Ask) -> int:
        """Count some ranges of those that have to be, the first ones first; returns the place up to which all are."""
        table = self.table
        table.renew()
        changed = sum(-1 < old < new for old, new in zip(self._versions, table.versions, strict=True))
        # Changes all over the table would have ranges counted in vain: they wait for a question without changes before.
        left = RANGES_AT_ONCE if changed <= RANGES_AT_ONCE or self._changes == table.changes else 0
        self._changes = table.changes
        for place, rows in enumerate(table.ranges):
            if self._versions[place] == table.versions[place]:
                continue
            if not left:
                return rows.start
            left -= 1
            table.begin(place, ask)
            found = ask(counts.by_value(counted.rest, layout, counted.column, rows))
            known = self._values.setdefault
            self.size -= len(self._counts[place])
            self._counts[place] = {known(value, value): number for value, number in found if value is not None}
            self.size += len(self._counts[place])
            self._versions[place] = table.versions[place]
        return table.end

    def number(self, counted: Counted, done: int) -> int:
        """How many rows of the ranges before a place fulfil the counted test."""
        case = counted.case
        wanted = [case.value]
        if case.op is not Op.EQ:
            is_true = TESTS[case.op]
            wanted = [value for value in self._values if is_true(value, case.value)]
        before = (each for rows, each in zip(self.table.ranges, self._counts, strict=True) if rows.start < done)
        return sum(of.get(value, 0) for of in before for value in wanted)
