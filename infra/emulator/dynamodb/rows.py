"""The rows of one DynamoDB table in the database of the local stack, in key order.

moto keeps a tree of small objects per attribute in memory. Here a row is one MessagePack string of its attribute values
in botocore's form (`{"name": {"S": "x"}}`, binary values as bytes), stored under its keys as bytes that sort as
DynamoDB sorts the keys. So a query is a range of an index, a transaction is one of SQLite's, and every read is a fresh
copy.

`Rows` takes the place of `moto.dynamodb.models.table.Table.items` and answers moto's own code in moto's own types, so
whatever the direct calls (`infra.emulator.dynamodb.calls`) leave to moto works on the same rows.
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from isal.isal_zlib import crc32
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict

from infra.emulator.dynamodb.keys import Key, decode, encode, end_of_prefix, key_of
from infra.emulator.sqlite import database
from infra.emulator.sqlite.database import pack, unpack
from infra.emulator.sqlite.integrity import checksum

Native = dict[str, dict[str, Any]]
"""A row as botocore takes and gives it."""
Found = tuple[bytes, bytes, bytes]
"""A row with its keys as they are stored: partition key, sort key, packed row."""
Change = tuple["Rows", Key, Key, bytes | None, bytes | None]
"""Rows, partition key, sort key, the row before and the row after (None: absent)."""
Write = tuple["Rows", Key, Key, bytes | None]
Keys = list[tuple[bytes, bytes]]

listeners: list[Callable[[list[Change]], None]] = []
"""Called with the changes of each call that was committed; tests follow what is written by it."""

_copies = itertools.count(1)
_SELECT = "SELECT pk, sk, doc, crc FROM rows WHERE tab = ? AND "
_LIMITS = {
    "=": "sk = ?",
    "<": "sk < ?",
    "<=": "sk <= ?",
    ">": "sk > ?",
    ">=": "sk >= ?",
    "BETWEEN": "sk BETWEEN ? AND ?",
}


class _Changes:
    """The changes of the open transaction, for the listeners."""

    def __init__(self) -> None:
        self.open: list[Change] | None = None

    def add(self, change: Change) -> None:
        if self.open is not None:
            self.open.append(change)
        else:
            self.tell([change])

    @staticmethod
    def tell(changes: list[Change]) -> None:
        for listener in listeners if changes else ():
            listener(changes)


_changes = _Changes()


@contextmanager
def transaction() -> Iterator[None]:
    """All rows that are put within are committed at the end, or none where an exception ends it. May nest."""
    with database.current().transaction():
        outer, _changes.open = _changes.open, []
        try:
            yield
            mine = _changes.open
        finally:
            _changes.open = outer
        if outer is not None:
            outer += mine
    if outer is None:
        _changes.tell(mine)


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


def put_all(writes: list[Write], keys: Keys | None = None) -> None:
    """Store (or, with None, remove) rows in one transaction, and report them; `keys` has their keys as stored."""
    if not listeners:
        _store_all(writes, keys)
        return
    with transaction():
        for rows, partition, sort, row in writes:
            old = rows.get(partition, sort)
            rows.store(partition, sort, row)
            _changes.add((rows, partition, sort, old, row))


def _store_all(writes: list[Write], keys: Keys | None = None) -> None:
    removed, held = [], []
    if keys is None:
        keys = [(encode(partition), encode(sort)) for _, partition, sort, _ in writes]
    for (rows, _, _, row), (pk, sk) in zip(writes, keys, strict=True):
        number = rows.number
        if row is None:
            removed.append((number, pk, sk))
        else:
            held.append((number, pk, sk, row, crc32(row, crc32(sk, crc32(pk, number)))))
    database.current().change_rows(removed, held)


class Rows:
    """The rows of one table. Its dunder methods speak moto's types; the others speak native keys and packed rows."""

    def __init__(
        self, table: str, hash_name: str, hash_type: str, range_name: str | None, range_type: str, region: str = ""
    ) -> None:
        self.table = table
        self.hash_name, self.hash_type = hash_name, hash_type
        self.range_name, self.range_type = range_name, range_type
        self._database = database.current()
        self.number = self._registered(f"{region}/{table}")

    def _registered(self, name: str) -> int:
        """The number of the table in the database; a new one for a name that is new."""
        with self._database.transaction():
            tables = self._database.documents("tables")
            known: int | None = tables.get(name)
            if known is None:
                known = 1 + max((each for _, each in tables.items()), default=0)
                tables.put(name, known)
            return known

    # ------------------------------------------------------------------------------------------ native access

    def get(self, partition: Key, sort: Key) -> bytes | None:
        """The packed row with this key."""
        pk, sk = encode(partition), encode(sort)
        sql = "SELECT doc, crc FROM rows WHERE tab = ? AND pk = ? AND sk = ?"
        found = self._database.one(sql, self.number, pk, sk)
        return None if found is None else self._intact(pk, sk, *found)

    def get_many(self, pairs: list[tuple[bytes, bytes]]) -> dict[tuple[bytes, bytes], bytes]:
        """The packed rows that there are of up to a hundred keys, by these, as they are stored (`stored`)."""
        # a join in this order looks up each key; IN would walk through the table
        wanted = ",".join(["(?, ?)"] * len(pairs))
        sql = (
            f"WITH wanted (pk, sk) AS (VALUES {wanted}) "  # noqa: S608 -- placeholders
            "SELECT rows.pk, rows.sk, doc, crc FROM wanted CROSS JOIN rows "
            "ON rows.tab = ? AND rows.pk = wanted.pk AND rows.sk = wanted.sk"
        )
        number = self.number
        rows: dict[tuple[bytes, bytes], bytes] = {}
        for pk, sk, doc, crc in self._database.read(sql, *itertools.chain.from_iterable(pairs), number):
            if crc32(doc, crc32(sk, crc32(pk, number))) != crc:
                self._intact(pk, sk, doc, crc)
            rows[pk, sk] = doc
        return rows

    def put(self, partition: Key, sort: Key, row: bytes | None) -> None:
        """Store (or, with None, remove) a row and report it to the listeners."""
        put_all([(self, partition, sort, row)])

    def store(self, partition: Key, sort: Key, row: bytes | None) -> None:
        """`put` without a report."""
        _store_all([(self, partition, sort, row)])

    def clear(self) -> None:
        """Remove every row, without a report."""
        self._database.write("DELETE FROM rows WHERE tab = ?", self.number)

    def select(
        self,
        partition: Key,
        operator: str = "",
        bounds: list[Key] | None = None,
        after: Key = None,
        *,
        forward: bool = True,
    ) -> Iterator[Found]:
        """The rows of a partition whose sort keys an operator of a key condition selects, behind `after`, in order."""
        wanted, values = "pk = ?", [self.number, encode(partition)]
        encoded = [encode(bound) for bound in bounds or ()]
        if operator == "BEGINS_WITH":
            wanted += " AND sk >= ?"
            end = end_of_prefix(encoded[0])
            if end is not None:
                wanted += " AND sk < ?"
                encoded.append(end)
        elif operator:
            wanted += f" AND {_LIMITS[operator]}"
        values += encoded
        if after is not None:
            wanted += " AND sk > ?" if forward else " AND sk < ?"
            values.append(encode(after))
        return self._walk(f"{_SELECT}{wanted} ORDER BY sk{'' if forward else ' DESC'}", values)

    def walk(self, after: tuple[Key, Key] | None = None) -> Iterator[Found]:
        """Every row in key order, from behind `after` on."""
        if after is None:
            return self._walk(f"{_SELECT}1 ORDER BY pk, sk", [self.number])
        return self.walk_behind(encode(after[0]), encode(after[1]))

    def walk_behind(self, pk: bytes, sk: bytes) -> Iterator[Found]:
        """The rows behind a stored key."""
        return self._walk(f"{_SELECT}(pk, sk) > (?, ?) ORDER BY pk, sk", [self.number, pk, sk])

    def goes_on(self, found: Found, *, forward: bool) -> bool:
        """Whether the partition has a row behind (or before) a row of it."""
        sign = ">" if forward else "<"
        sql = f"SELECT 1 FROM rows WHERE tab = ? AND pk = ? AND sk {sign} ? LIMIT 1"  # noqa: S608 -- two constants
        return self._database.one(sql, self.number, found[0], found[1]) is not None

    def snapshot(self) -> list[tuple[Key, Key, bytes]]:
        """Every row with its keys."""
        with self._database.lock:
            return [(decode(self.hash_type, pk), decode(self.range_type, sk), row) for pk, sk, row in self.walk()]

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(self._database.one("SELECT count(*) FROM rows WHERE tab = ?", self.number)[0])

    def _walk(self, sql: str, values: list[Any]) -> Iterator[Found]:
        number = self.number
        for pk, sk, doc, crc in self._database.walk(sql, *values):
            if crc32(doc, crc32(sk, crc32(pk, number))) != crc:
                self._intact(pk, sk, doc, crc)
            yield pk, sk, doc

    def _intact(self, pk: bytes, sk: bytes, doc: bytes, crc: int) -> bytes:
        if checksum(self.number, pk, sk, doc) != crc:
            raise self._database.found_damaged(f"the row {pk!r} {sk!r} of {self.table} differs from its checksum")
        return doc

    def __deepcopy__(self, memo: dict[int, Any]) -> Rows:
        copy = Rows(
            f"{self.table} copy {next(_copies)}", self.hash_name, self.hash_type, self.range_name, self.range_type
        )
        with transaction():
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

    def items_of(self, partition: Key) -> list[Item]:
        """The items of a partition, in order of their sort keys."""
        with self._database.lock:
            return [self.item(row) for _, _, row in self.select(partition)]

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
        sql = "SELECT 1 FROM rows WHERE tab = ? AND pk = ? LIMIT 1"
        return self._database.one(sql, self.number, encode(self.native(key))) is not None

    def pop(self, key: DynamoType) -> Item:
        """Remove a row by its partition key alone."""
        item: Item = self[key]
        self.put(self.native(key), None, None)
        return item

    def values(self) -> Iterator[Any]:
        """One mapping per partition, or the items themselves in a table without a sort key."""
        partitions = self._database.read("SELECT DISTINCT pk FROM rows WHERE tab = ?", self.number)
        for (pk,) in partitions:
            partition = decode(self.hash_type, pk)
            if self.range_name is not None:
                yield _Group(self, partition)
            elif (row := self.get(partition, None)) is not None:
                yield self.item(row)

    def __len__(self) -> int:
        return int(self._database.one("SELECT count(DISTINCT pk) FROM rows WHERE tab = ?", self.number)[0])

    def __bool__(self) -> bool:
        return self._database.one("SELECT 1 FROM rows WHERE tab = ? LIMIT 1", self.number) is not None


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
        item = self[key]
        self.rows.put(self.partition, self.rows.native(key), None)
        return item

    def values(self) -> Iterator[Item]:
        return iter(self.rows.items_of(self.partition))

    def __len__(self) -> int:
        return len(self.rows.items_of(self.partition))
