"""How the rows of one DynamoDB table are kept in memory: packed, and in key order.

moto keeps a tree of small objects per attribute: 2.4 KB a row, slow to build, to copy and to collect. Here a row is one
MessagePack string of its attribute values in botocore's form (`{"name": {"S": "x"}}`, binary values as bytes). It never
changes: a write puts another string in its place. So an undo log is a list of old strings, every read hands out a
fresh copy, and the garbage collector has nothing to walk through however many rows there are.

`Rows` takes the place of `moto.dynamodb.models.table.Table.items` and answers moto's own code in moto's own types, so
whatever the direct calls (`infra.local.dynamo_calls`) leave to moto works on the same state.
"""

from __future__ import annotations

import base64
import threading
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, Generic, TypeVar

import msgspec
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict

Key = Any
"""A key value that sorts as DynamoDB sorts it: str, int or Decimal; None is the sort key of a table without one."""
Native = dict[str, dict[str, Any]]
"""A row as botocore takes and gives it."""
Value = TypeVar("Value")

LOCK = threading.RLock()
"""Held around every DynamoDB operation, whichever way it comes in."""

pack = msgspec.msgpack.Encoder().encode
unpack: Callable[[bytes], Native] = msgspec.msgpack.Decoder().decode


def number(text: str) -> int | Decimal:
    """The value of a DynamoDB number; equal values are equal and hash equally, however they are written."""
    return int(text) if text.isascii() and text.isdigit() else Decimal(text)


def key_of(kind: str, value: Any) -> Key:
    """The sortable form of a key attribute of type `kind` ("S", "N" or "B")."""
    if kind == "N":
        return number(value)
    return value.decode("latin-1") if isinstance(value, bytes) else value


class Ordered(Generic[Value]):
    """A dictionary that can be walked in key order.

    The order is built by the first who asks and kept up from then on, so loading costs no sorting.
    """

    __slots__ = ("order", "values")

    def __init__(self) -> None:
        self.values: dict[Key, Value] = {}
        self.order: list[Key] | None = None

    def put(self, key: Key, value: Value) -> Value | None:
        """Store a value and return what it replaces."""
        old = self.values.get(key)
        self.values[key] = value
        if old is None and (order := self.order) is not None:
            if not order or key > order[-1]:
                order.append(key)
            else:
                insort(order, key)
        return old

    def drop(self, key: Key) -> Value | None:
        """Remove a value and return it, or None where there was none."""
        old = self.values.pop(key, None)
        if old is not None and (order := self.order) is not None:
            del order[bisect_left(order, key)]
        return old

    def ordered(self) -> list[Key]:
        """All keys in order. The list is the live one: read it under the lock."""
        if self.order is None:
            self.order = sorted(self.values)
        return self.order


Change = tuple["Rows", Key, Key, bytes | None, bytes | None]
"""Rows, partition key, sort key, the row before and the row after (None: absent)."""

listeners: list[Callable[[list[Change]], None]] = []
"""Told of every committed change, under the lock (`infra.local.state` keeps them on disk)."""


class Transaction:
    """All changes between `begin` and `commit` are listeners' in one piece, or are undone by `roll_back`."""

    def __init__(self) -> None:
        self.changes: list[Change] | None = None

    def begin(self) -> None:
        """Start to collect changes. The lock must be held until the end."""
        self.changes = []

    def commit(self) -> None:
        """Tell the listeners."""
        changes, self.changes = self.changes, None
        if changes:
            for listener in listeners:
                listener(changes)

    def roll_back(self) -> None:
        """Put every old row back."""
        changes, self.changes = self.changes or [], None
        for rows, partition, sort, old, _ in reversed(changes):
            rows.store(partition, sort, old)

    def note(self, change: Change) -> None:
        """Collect one change, or tell it at once outside a transaction."""
        if self.changes is not None:
            self.changes.append(change)
        elif listeners:
            for listener in listeners:
                listener([change])


transaction = Transaction()


def as_item(native: Native, hash_name: str, range_name: str | None) -> Item:
    """A row as moto's `Item`, for moto's own code. Changes to it are not seen by the table until it is stored again."""
    attributes = LimitedSizeDict()
    for name, value in native.items():
        dict.__setitem__(attributes, name, DynamoType(value))
    item: Item = object.__new__(Item)  # not `Item.__new__`, which keeps every instance for ever
    item.hash_key = attributes[hash_name]
    item.range_key = attributes[range_name] if range_name is not None else None
    item.attrs = attributes
    return item


def from_moto(value: DynamoType) -> dict[str, Any]:
    """An attribute value of moto in botocore's form."""
    kind, inner = value.type, value.value
    if kind == "B":
        return {"B": _binary(inner)}
    if kind == "BS":
        return {"BS": [_binary(each) for each in inner]}
    if kind == "M":
        return {"M": {name: from_moto(each) for name, each in inner.items()}}
    if kind == "L":
        return {"L": [from_moto(each) for each in inner]}
    return {kind: inner}


def _binary(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else base64.b64decode(value)


class Rows:
    """The rows of one table. Its dunder methods speak moto's types; the others speak native keys and packed rows."""

    def __init__(self, table: str, hash_name: str, hash_type: str, range_name: str | None, range_type: str) -> None:
        self.table = table
        self.hash_name, self.hash_type = hash_name, hash_type
        self.range_name, self.range_type = range_name, range_type
        self.partitions: Ordered[Any] = Ordered()
        """Partition key → Ordered of sort key → packed row; without a sort key, partition key → packed row."""
        self.count = 0

    # ------------------------------------------------------------------------------------------ native access

    def get(self, partition: Key, sort: Key) -> bytes | None:
        """The packed row with this key."""
        found = self.partitions.values.get(partition)
        if self.range_name is None or found is None:
            return found
        row: bytes | None = found.values.get(sort)
        return row

    def put(self, partition: Key, sort: Key, row: bytes | None) -> bytes | None:
        """Store (or, with None, remove) a row, tell about it and return the one it replaces."""
        old = self.store(partition, sort, row)
        transaction.note((self, partition, sort, old, row))
        return old

    def store(self, partition: Key, sort: Key, row: bytes | None) -> bytes | None:
        """`put` without telling anyone."""
        old: bytes | None
        if self.range_name is None:
            old = self.partitions.drop(partition) if row is None else self.partitions.put(partition, row)
        else:
            group = self.partitions.values.get(partition)
            if group is None:
                if row is None:
                    return None
                group = Ordered[bytes]()
                self.partitions.put(partition, group)
            old = group.drop(sort) if row is None else group.put(sort, row)
            if not group.values:
                self.partitions.drop(partition)
        self.count += (row is not None) - (old is not None)
        return old

    def clear(self) -> None:
        """Forget every row and tell no one."""
        self.partitions = Ordered()
        self.count = 0

    def walk(self, after: tuple[Key, Key] | None = None) -> Iterator[tuple[Key, Key, bytes]]:
        """Every row in key order as (partition key, sort key, packed row), from behind `after` on."""
        keys = self.partitions.ordered()
        start = 0 if after is None else bisect_left(keys, after[0])
        for partition in keys[start:] if start else keys:
            found = self.partitions.values[partition]
            if self.range_name is None:
                if after is None or partition != after[0]:
                    yield partition, None, found
                continue
            beyond = after is None or partition != after[0]
            for sort in found.ordered():
                if beyond or sort > after[1]:  # type: ignore[index]
                    yield partition, sort, found.values[sort]

    def snapshot(self) -> list[tuple[Key, Key, bytes]]:
        """Every row, in no order; fast, because it is called under the lock."""
        if self.range_name is None:
            return [(partition, None, row) for partition, row in self.partitions.values.items()]
        return [
            (partition, sort, row)
            for partition, group in self.partitions.values.items()
            for sort, row in group.values.items()
        ]

    def __deepcopy__(self, memo: dict[int, Any]) -> Rows:
        copy = Rows(self.table, self.hash_name, self.hash_type, self.range_name, self.range_type)
        for partition, sort, row in self.snapshot():
            copy.store(partition, sort, row)
        return copy

    # --------------------------------------------------------------------------- what moto does to `Table.items`

    def item(self, row: bytes) -> Item:
        """A packed row as moto's `Item`."""
        return as_item(unpack(row), self.hash_name, self.range_name)

    def put_item(self, item: Item) -> None:
        """Store moto's `Item`."""
        native = {name: from_moto(value) for name, value in item.attrs.items()}
        partition = key_of(self.hash_type, native[self.hash_name][self.hash_type])
        sort = None if self.range_name is None else key_of(self.range_type, native[self.range_name][self.range_type])
        self.put(partition, sort, pack(native))

    def native(self, key: DynamoType | None) -> Key:
        """A key value of moto in native form."""
        if key is None:
            return None
        value = from_moto(key)
        return key_of(key.type, value[key.type])

    def __getitem__(self, key: DynamoType) -> Any:
        if self.range_name is not None:
            return _Group(self, self.native(key))
        row = self.get(self.native(key), None)
        if row is None:
            raise KeyError(key)
        return self.item(row)

    def __setitem__(self, key: DynamoType, item: Item) -> None:
        self.put_item(item)

    def __contains__(self, key: DynamoType) -> bool:
        return self.native(key) in self.partitions.values

    def pop(self, key: DynamoType) -> Item:
        """Remove a row by its partition key alone."""
        old = self.put(self.native(key), None, None)
        if old is None:
            raise KeyError(key)
        return self.item(old)

    def values(self) -> Iterator[Any]:
        """One mapping per partition, or the items themselves in a table without a sort key."""
        for partition in list(self.partitions.values):
            if self.range_name is not None:
                yield _Group(self, partition)
            elif (row := self.get(partition, None)) is not None:
                yield self.item(row)

    def __len__(self) -> int:
        return len(self.partitions.values)

    def __bool__(self) -> bool:
        return self.count > 0


class _Group:
    """One partition, as moto's code expects it: sort key → `Item`."""

    def __init__(self, rows: Rows, partition: Key) -> None:
        self.rows, self.partition = rows, partition

    def __getitem__(self, key: DynamoType) -> Item:
        row = self.rows.get(self.partition, self.rows.native(key))
        if row is None:
            raise KeyError(key)
        return self.rows.item(row)

    def __setitem__(self, key: DynamoType, item: Item) -> None:
        self.rows.put_item(item)

    def pop(self, key: DynamoType) -> Item:
        old = self.rows.put(self.partition, self.rows.native(key), None)
        if old is None:
            raise KeyError(key)
        return self.rows.item(old)

    def values(self) -> Iterator[Item]:
        found = self.rows.partitions.values.get(self.partition)
        return iter([self.rows.item(row) for row in found.values.values()] if found is not None else [])

    def __len__(self) -> int:
        found = self.rows.partitions.values.get(self.partition)
        return 0 if found is None else len(found.values)
