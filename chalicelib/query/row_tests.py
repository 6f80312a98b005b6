"""Checked searches that one entity decides alone, as functions: for the few entities that a view does not have yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chalicelib.core.kinds import Kind
from chalicelib.query.columns import BY_NAME
from chalicelib.query.evaluate import TESTS
from chalicelib.query.operators import Op
from chalicelib.query.tree import And, Everything, Not, Or, Query, Test, Tree, both

RowTest = Callable[[Any], bool]
"""Whether a search is true of an entity."""
_NOT_DELETED = Test("variant_deleted", Op.EQ, value=False)


def row_test(query: Query) -> RowTest | None:
    """Whether a checked query of annotations selects an entity; None where other entities or an order decide, too."""
    if query.merge or query.exclude_parents or not is_plain(query):
        return None
    where = query.where if query.show_deleted else both(query.where, _NOT_DELETED)
    return _of(query.kind, where)


def is_plain(query: Query) -> bool:
    """Whether a query, checked or not, selects annotations in the order of their ids by built-in columns alone.

    Attributes are not among these: their values depend on what became of their type.
    """
    if not query.kind.is_annotation or query.sort or query.keys or query.nearest or query.incident is not None:
        return False
    return not query.start and query.stop is None and _of(query.kind, query.where) is not None


def _of(kind: Kind, tree: Tree) -> RowTest | None:
    match tree:
        case Everything():
            return lambda _: True
        case Test():
            return _of_column(kind, tree)
        case Not(term):
            return None if (inner := _of(kind, term)) is None else _opposite(inner)
        case And(terms) | Or(terms):
            join = all if isinstance(tree, And) else any
            tests = [test for term in terms if (test := _of(kind, term))]
            return (lambda entity: join([test(entity) for test in tests])) if len(tests) == len(terms) else None
    return None


def _opposite(test: RowTest) -> RowTest:
    return lambda entity: not test(entity)


def _of_column(kind: Kind, test: Test) -> RowTest | None:
    column = BY_NAME[kind].get(test.column)
    if column is None:
        return None
    value_of, holds = column.value, TESTS[test.op]
    # a request may name 100,000 ids, and there may be thousands of entities
    wanted = frozenset(test.value) if test.op in (Op.IN, Op.OVERLAPS) else test.value

    def is_true(entity: Any) -> bool:
        value = value_of(entity)
        return value is not None and holds(value, wanted)

    return is_true
