"""Rows that a request will need one after the other, read ahead in one call.

    with ahead.reading(beside):                 the dispatcher, around the checks and the handler
        ahead.fetch([RowKey(RecordRow, key)])   one BatchGetItem for all tables
        records.get(...)                        takes a row that was read ahead instead of reading it

A row is taken once: a second read, such as that of an edit that lost against another writer, reads the table. A
transaction forgets the rows that were not taken, since it may change them. So a row that was read ahead is as old as
the request, never older, and a request sees its own writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from chalicelib.core.context import holding
from chalicelib.storage.dynamodb.tables import CounterRow, CredentialRow, EntityRow, RecordRow, Row, connection

R = TypeVar("R", bound=Row)
Key = tuple[str, ...]
RecordKey = tuple[str, str]
Beside = Callable[[int], list[RecordKey]]
"""From a project to the keys of the records that a request on one of its parts will need."""


Table = CounterRow | CredentialRow | EntityRow | RecordRow


class RowKey(NamedTuple):
    """A row by its table and key, whose parts are texts."""

    table: type[Table]
    key: Key


@dataclass
class _Read:
    beside: Beside
    rows: dict[RowKey, Row | None] = field(default_factory=dict)
    read: set[RowKey] = field(default_factory=set)
    """All rows that were read ahead, the taken ones included."""


_READ: ContextVar[_Read | None] = ContextVar("read_ahead", default=None)


def reading(beside: Beside = lambda _: []) -> AbstractContextManager[None]:
    """Inside, rows can be read ahead; they are forgotten at the end.

    Args:
        beside: the records that are read together with the first row that shows the project of a request.
    """
    return holding(_READ, _Read(beside))


def is_read(wanted: RowKey) -> bool:
    """Whether a row was read ahead, taken or not."""
    return (read := _READ.get()) is not None and wanted in read.read


def expect(beside: Beside) -> None:
    """Replace the keys that `beside` gave, now that the caller is known."""
    if (read := _READ.get()) is not None:
        read.beside = beside


def fetch(wanted: Sequence[RowKey]) -> None:
    """Read rows ahead, in one consistent call. Rows that DynamoDB leaves out, being busy, are read when needed.

    Raises:
        Unavailable: DynamoDB does not answer.
    """
    read = _READ.get()
    if read is None or not wanted:
        return
    found, left = read_batch(wanted)
    for each in wanted:
        if each not in left:
            read.rows[each] = found.get(each)
            read.read.add(each)


def keys_beside(project: int) -> list[RecordKey]:
    """The keys of records that a reader of a part of this project should read along and pass to `remember`."""
    read = _READ.get()
    if read is None:
        return []
    return [key for key in read.beside(project) if RowKey(RecordRow, key) not in read.read]


def remember(keys: Sequence[RecordKey], rows: dict[Any, RecordRow]) -> None:
    """Remember records that were read beside others, by key; those not in `rows` do not exist."""
    if (read := _READ.get()) is not None:
        kept: dict[RowKey, Row | None] = {RowKey(RecordRow, key): rows.get(key) for key in keys}
        read.rows |= kept
        read.read |= kept.keys()


def forget() -> None:
    """Forget the rows that were not taken: the request writes."""
    if (read := _READ.get()) is not None:
        read.rows.clear()


def pop_all(table: type[R], keys: Sequence[Key]) -> tuple[list[R], list[Key]]:
    """The existing rows among those that were read ahead, and the keys that were not."""
    if (read := _READ.get()) is None or not read.rows:
        return [], list(keys)
    found, left = [], []
    for key in keys:
        is_read, row = pop(table, *key)
        if not is_read:
            left.append(key)
        elif row is not None:
            found.append(row)
    return found, left


def pop(table: type[R], *key: str) -> tuple[bool, R | None]:
    """Whether a row was read ahead, and the row if it exists. A second `pop` does not find it."""
    read = _READ.get()
    if read is None or not read.rows:
        return False, None
    wanted = RowKey(table, key)  # type: ignore[arg-type]
    if wanted not in read.rows:
        return False, None
    return True, read.rows.pop(wanted)  # type: ignore[return-value]


def read_batch(wanted: Sequence[RowKey]) -> tuple[dict[RowKey, Row], set[RowKey]]:
    """Read up to 100 rows of several tables in one consistent BatchGetItem.

    Returns:
        the existing rows, and those that DynamoDB, being busy, did not read.

    Raises:
        Unavailable: DynamoDB does not answer.
    """
    tables: dict[str, type[Table]] = {str(table.Meta.table_name): table for table, _ in wanted}
    asked: dict[str, Any] = {name: {"Keys": [], "ConsistentRead": True} for name in tables}
    for table, key in dict.fromkeys(wanted):
        asked[table.Meta.table_name]["Keys"].append(table.item_of(key))
    answer = connection().call("BatchGetItem", RequestItems=asked)
    found: dict[RowKey, Row] = {}
    for name, items in answer["Responses"].items():
        for row in map(tables[name].from_raw_data, items):
            found[RowKey(tables[name], tuple(part for part in row.key() if part is not None))] = row
    left = {
        RowKey(tables[name], tuple(typed["S"] for typed in key.values()))
        for name, kept in answer.get("UnprocessedKeys", {}).items()
        for key in kept["Keys"]
    }
    return found, left
