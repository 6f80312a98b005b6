"""The cost of a checked query, estimated before it runs, and the budget that it may use.

The weights were measured on one core (DuckDB 1.4). A part of the cost is fixed: DuckDB plans every term, and planning
cannot be interrupted. The other part grows with the rows of the kinds that are scanned. The estimate is an upper
bound: it assumes that no term spares the work of another.

Comparisons of text also cost by the bytes of their columns. A statement is interrupted only between 2,048 rows, so what
it takes for as many long texts must be bounded before it runs, as must the memory of its patterns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from chalicelib.core.kinds import Kind
from chalicelib.errors import BadInput
from chalicelib.query.operators import Op
from chalicelib.query.statistics.aggregates import Aggregate
from chalicelib.query.tree import AfterMedia, And, AttributeTest, Coincident, Not, Or, Query, Related, Test, Tree

BUDGET_SECONDS = 8.0
"""Maximum estimate of a query, in seconds of one processor. API Gateway waits for 29 s."""
MOST_CONVERTED = 500_000
"""Maximum number of values to convert for a query; each counts once for every type it may refer to."""

MOST_PATTERN_BYTES = 256_000_000
"""Maximum memory that the patterns of a query may take, which DuckDB's limit does not cover."""

RowsOf = Callable[[Kind], int]
TextTest = Test | AttributeTest
BytesOf = Callable[[Kind, TextTest], int]
"""The bytes of the texts that a test of a kind's entities compares."""

_SMALL_PROJECT = 2_000_000
"""Rows per kind for which a query is estimated first; the rows are counted only if that exceeds the budget."""
_NANO = 1e-9
_PLAN_EDGE = 550e-6
"""Seconds that each edge of a polygon adds to the plan."""
_PLAN_TERM, _PLAN_CIRCLE, _PLAN_LIST, _PLAN_JOIN, _PLAN_VALUE = 100e-6, 8e-3, 2e-3, 2e-3, 7e-6
"""Seconds of planning: of a term, a distance, a list, a search over another kind, a value of a list."""
_ROW = {
    Op.CONTAINS: 50,
    Op.STARTS: 50,
    Op.ENDS: 50,
    Op.SAME: 50,
    Op.MATCHES: 200,
    Op.RESEMBLES: 100,
    Op.IN: 40,
    Op.OVERLAPS: 200,
    Op.WITHIN: 20,
}
"""Nanoseconds per row, by operation; all others take `_ROW_PLAIN`."""
_ROW_EDGE = 10
"""Nanoseconds per row that each edge of a polygon adds."""
_ROW_PLAIN, _ROW_JOIN, _ROW_SORT, _ROW_MERGE, _ROW_VECTOR = 5, 150, 300, 500, 1_500
_PER_CHARACTER = {Op.MATCHES: 2, Op.RESEMBLES: 40}
"""Nanoseconds that each character of a pattern adds to a row."""
_BYTE_FOLDED, _BYTE_PATTERN, _BYTE_STATES, _BYTE_LENGTH = 0.4, 8.0, 120.0, 0.3
"""Nanoseconds per byte of text: to fold and search it; to match a pattern; to match one whose `?` let an automaton have
exponentially many states; to count characters."""
_BYTE_CHARACTER = 3.0
"""Nanoseconds per byte of text that each character of a pattern with `?` adds."""
_STATES_BYTES, _PATTERN_BYTES, _STATE_BYTES = 6_000_000, 100_000, 300
"""Bytes that a pattern takes: at most with `?`, at most without; for each byte of text that it read."""
_PER_NUMBER = {"l1norm": 4.0}
_PER_NUMBER_OTHERS = 0.4
"""Nanoseconds that each number of a vector takes, by metric."""
_L1_PYTHON, _L1_NUMBERS = 50.0, 16_000_000
"""The same for `l1norm`, where few vectors are compared in Python (`WHOLE` of `vectors.py`)."""
_INLINE = 40
"""Lists up to this length are planned as single values."""

_ROW_VALUE, _ROW_GROUP, _ROW_JOINED, _ROW_DISTINCT = 10, 60, 40, 150
"""Nanoseconds per row of statistics: to compute a value, to group, to join media, and to keep values apart."""
_APART = frozenset({"distinct", "median", "quantile", "maxn"})
"""The measures that keep the values of a group apart."""

_DISTANCES, _POLYGONS, _LISTS, _PATTERNS, _TEXTS, _JOINS, _VECTORS, _ORDER, _STATISTICS, _TERMS = (
    "distances",
    "polygons",
    "lists of values",
    "wildcards, phrases and fuzzy words",
    "comparisons of text",
    "searches over related entities",
    "float_array queries",
    "sort keys",
    "groups and measures",
    "comparisons",
)
_READS_TEXT = frozenset({Op.CONTAINS, Op.STARTS, Op.ENDS, Op.SAME, Op.MATCHES, Op.RESEMBLES})
_NAMES = {
    Op.WITHIN: _DISTANCES,
    Op.INSIDE: _POLYGONS,
    Op.IN: _LISTS,
    Op.OVERLAPS: _LISTS,
    Op.MATCHES: _PATTERNS,
    Op.RESEMBLES: _PATTERNS,
    Op.CONTAINS: _TEXTS,
    Op.STARTS: _TEXTS,
    Op.ENDS: _TEXTS,
    Op.SAME: _TEXTS,
}


def _no_texts(_: Kind, __: TextTest) -> int:
    return 0


def check_cost(
    query: Query,
    rows_of: RowsOf,
    aggregate: Aggregate | None = None,
    *,
    bytes_of: BytesOf = _no_texts,
    budget: float = BUDGET_SECONDS,
) -> None:
    """Refuse a checked query whose estimate exceeds the budget.

    Args:
        query: a query as `check.check` returns it.
        rows_of: the number of entities of a kind in the project.
        aggregate: the statistics to compute of its matches.
        bytes_of: the bytes of the texts that a test compares.
        budget: maximum estimate, in seconds.

    Raises:
        BadInput: the estimate exceeds the budget, and the message names the costliest part; or its patterns would take
            too much memory.
    """
    texts = list(_texts(query, bytes_of))
    memory = sum(_pattern_memory(test, size) for test, size in texts)
    if memory > MOST_PATTERN_BYTES:
        raise BadInput(
            f"The patterns of the query would take up to {memory // 1_000_000} MB of memory, and at most "
            f"{MOST_PATTERN_BYTES // 1_000_000} MB are allowed: "
            "use fewer words with `?`, or name the attribute to search."
        )
    reading: dict[str, float] = defaultdict(float)
    for test, size in texts:
        for name, per_byte in _per_byte(test):
            reading[name] += _NANO * per_byte * size
    spent = sum(reading.values())
    if spent + sum(estimate(query, lambda _: _SMALL_PROJECT, aggregate).values()) <= budget:
        return
    seconds = estimate(query, rows_of, aggregate)
    for name, more in reading.items():
        seconds[name] = seconds.get(name, 0.0) + more
    total = sum(seconds.values())
    if total <= budget:
        return
    part = max(seconds, key=lambda each: seconds[each])
    raise BadInput(
        f"The query is too expensive: it is estimated at {_shown(total)} s of processor time, and at most "
        f"{_shown(budget)} s are allowed. {_shown(seconds[part])} s of it are for {part}: "
        "use fewer or shorter ones, or split the query into several requests."
    )


def _shown(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= 1 else f"{seconds:.1f}"


def estimate(query: Query, rows_of: RowsOf, aggregate: Aggregate | None = None) -> dict[str, float]:
    """Seconds of processor time of a checked query, by part. Arguments as for `check_cost`."""
    rows: dict[Kind, int] = {}

    def count(kind: Kind) -> int:
        if kind not in rows:
            rows[kind] = rows_of(kind)
        return rows[kind]

    seconds: dict[str, float] = defaultdict(float)
    for where in (query.where, *([query.incident] if query.incident else ())):
        for part, fixed, kind, per_row in _parts(where, query.kind):
            seconds[part] += fixed + (per_row * _NANO * count(kind) if per_row else 0.0)
    per_row = float(_ROW_SORT * len(query.keys))
    seconds[_ORDER] += _NANO * per_row * count(query.kind) if per_row else 0.0
    for nearest in query.nearest:
        per_row = _ROW_VECTOR + _PER_NUMBER.get(nearest.metric, _PER_NUMBER_OTHERS) * len(nearest.center)
        seconds[_VECTORS] += _NANO * per_row * count(query.kind)
        if nearest.metric == "l1norm":
            seconds[_VECTORS] += _NANO * _L1_PYTHON * min(_L1_NUMBERS, len(nearest.center) * count(query.kind))
    if query.merge:
        seconds[_TERMS] += _NANO * _ROW_MERGE * count(query.kind)
    if aggregate is not None:
        seconds[_STATISTICS] += _NANO * _per_row(aggregate) * count(query.kind)
    return seconds


def _per_row(aggregate: Aggregate) -> int:
    """Nanoseconds of statistics per matching entity."""
    passes = len(aggregate.groups) if aggregate.facets else 1
    apart = sum(measure.word in _APART for measure in aggregate.measures)
    joined = _ROW_JOINED if aggregate.is_by_media else 0
    return joined + _ROW_VALUE * len(aggregate.values) + _ROW_GROUP * passes + _ROW_DISTINCT * apart


def _parts(tree: Tree, kind: Kind) -> Iterator[tuple[str, float, Kind, float]]:
    """The leaves and joins of a tree: the part's name, fixed seconds, the kind that is scanned, nanoseconds a row."""
    for term, of in _terms(tree, kind):
        match term:
            case Related(to, _) | Coincident(to, _):
                yield _JOINS, _PLAN_JOIN, of, _ROW_JOIN
                yield _JOINS, 0.0, to, _ROW_JOIN
            case Test() | AttributeTest():
                for op, value in _compared(term):
                    yield _test(op, value, of)


def _terms(tree: Tree, kind: Kind) -> Iterator[tuple[Tree, Kind]]:
    """The leaves and joins of a tree, each with the kind whose rows decide it."""
    waiting = [(tree, kind)]
    while waiting:
        term, of = waiting.pop()
        match term:
            case And(terms) | Or(terms):
                waiting += [(each, of) for each in terms]
            case Not(inner):
                waiting.append((inner, of))
            case Related(to, where) | Coincident(to, where):
                yield term, of
                waiting.append((where, to))
            case AfterMedia(_, where):
                waiting.append((where, Kind.MEDIA))
            case _:
                yield term, of


def _compared(test: TextTest) -> list[tuple[Op, object]]:
    return [(test.op, test.value)] if isinstance(test, Test) else [(case.op, case.value) for case in test.cases]


def _texts(query: Query, bytes_of: BytesOf) -> Iterator[tuple[TextTest, int]]:
    """The tests that read whole texts, each with the bytes of its texts."""
    for where in (query.where, *([query.incident] if query.incident else ())):
        for term, of in _terms(where, query.kind):
            if isinstance(term, Test | AttributeTest) and any(op in _READS_TEXT for op, _ in _compared(term)):
                yield term, bytes_of(of, term)


def _per_byte(test: TextTest) -> Iterator[tuple[str, float]]:
    """The part of each comparison, and its nanoseconds per byte of text."""
    for op, value in _compared(test):
        if op is Op.MATCHES:
            pattern = str(value)
            states = _BYTE_STATES + _BYTE_CHARACTER * len(pattern) if _has_states(pattern) else _BYTE_PATTERN
            yield _NAMES[op], states
        elif op is Op.RESEMBLES:
            yield _NAMES[op], _BYTE_LENGTH
        elif op in _READS_TEXT:
            # A search begins anew at each first character of the word that it meets.
            again = str(value).count(str(value)[:1]) if value and op in (Op.CONTAINS, Op.ENDS) else 1
            yield _NAMES[op], _BYTE_FOLDED * max(1, again)


def _pattern_memory(test: TextTest, size: int) -> int:
    """Bytes that the patterns of a test take."""
    patterns = [str(value) for op, value in _compared(test) if op is Op.MATCHES]
    most = (_STATES_BYTES if _has_states(each) else _PATTERN_BYTES for each in patterns)
    return sum(min(each, _STATE_BYTES * size) for each in most)


def _has_states(pattern: str) -> bool:
    """Whether a pattern has a single unknown character after a part of any length."""
    return ".*" in pattern and "." in pattern.replace("\\.", "").replace(".*", "")


def _test(op: Op, value: object, kind: Kind) -> tuple[str, float, Kind, float]:
    plan, per_row = _PLAN_TERM, float(_ROW.get(op, _ROW_PLAIN))
    if op in (Op.IN, Op.OVERLAPS) and isinstance(value, tuple):
        plan += _PLAN_VALUE * len(value) + (_PLAN_LIST if len(value) > _INLINE or op is Op.OVERLAPS else 0.0)
    elif op is Op.WITHIN:
        plan += _PLAN_CIRCLE
    elif op is Op.INSIDE and isinstance(value, tuple):
        plan += _PLAN_EDGE * len(value)
        per_row += _ROW_EDGE * len(value)
    elif op in _PER_CHARACTER:
        text = value[0] if isinstance(value, tuple) else value
        per_row += _PER_CHARACTER[op] * len(str(text))
    return _NAMES.get(op, _TERMS), plan, kind, per_row
