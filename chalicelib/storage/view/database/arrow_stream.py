"""JSON documents as a stream of Arrow record batches, in its IPC format, for data frames.

    b"".join(stream(documents, {"id": int, "x": float | None}, {"Depth": "float"}))

Columns are the members, then `attributes.<name>` for each attribute. Which there are, and their types, depends on the
declarations alone, so that all pages of a list have one schema. Integers, floats, booleans, texts and lists of numbers
are Arrow's; times are microseconds in UTC; any other value is its JSON.

The format is a flatbuffer for each message, which is written here: three kinds of tables need no compiler.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

import msgspec

from chalicelib.core.batches import batched
from chalicelib.core.resource import Resource
from chalicelib.storage.view.database import arrow
from chalicelib.storage.view.database.arrow import Column

ROWS = 2_000
"""Rows of a record batch."""
SEVERAL_DTYPES = "several"
"""For attributes of one name whose types differ: each value is its JSON."""
_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"
Values = Sequence[Any]


class _Kind(NamedTuple):
    """How the values of a column are decoded from JSON, and made into a column."""

    decoded: Any
    column: Callable[[Values], Column]


def _times(values: Values) -> Column:
    found = arrow.instants(list(map(_instant, values)))
    found.kind = b"tsu:UTC"
    return found


@lru_cache(maxsize=4096)  # rows that were written together have one time
def _instant(text: str | None) -> int | None:
    if text is None:
        return None
    found = datetime.fromisoformat(text)
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1_000_000)


def _documents(values: Values) -> Column:
    if arrow.is_empty(values):
        return arrow.json_texts(values)
    held = [b"null" if each is None else bytes(each) for each in values]
    return arrow.json_texts([None if each == b"null" else each for each in held])


_INTEGER, _FLOAT = _Kind(int | None, arrow.integers), _Kind(float | None, arrow.doubles)
_TEXT, _FLAG = _Kind(str | None, arrow.texts), _Kind(bool | None, arrow.flags)
_INTEGERS, _FLOATS = _Kind(list[int] | None, arrow.lists), _Kind(list[float] | None, arrow.lists_of_doubles)
_TIME, _JSON = _Kind(str | None, _times), _Kind(msgspec.Raw, _documents)
_OF_TYPE = {int: _INTEGER, float: _FLOAT, str: _TEXT, bool: _FLAG, list[int]: _INTEGERS, list[float]: _FLOATS}
_OF_DTYPE = {
    "bool": _FLAG,
    "int": _INTEGER,
    "float": _FLOAT,
    "string": _TEXT,
    "enum": _TEXT,
    "datetime": _TIME,
    "geopos": _FLOATS,
    "float_array": _FLOATS,
}


def members_of(struct: type[Resource], names: Sequence[str] = ()) -> dict[str, Any]:
    """The members of a stored Struct that have columns, with their types: those of `names`, or all if it is empty."""
    left_out = {*struct.hidden, "attributes"}
    fields = {each.encode_name: each.type for each in msgspec.structs.fields(struct)}
    return {name: type_ for name, type_ in fields.items() if name not in left_out and (not names or name in names)}


def stream(documents: Iterable[bytes], members: Mapping[str, Any], attributes: Mapping[str, str]) -> Iterator[bytes]:
    """The stream of documents.

    Args:
        documents: JSON objects.
        members: name → declared type, in order.
        attributes: name → dtype, or `SEVERAL_DTYPES`.
    """
    kinds = {name: _kind_of(name, type_) for name, type_ in members.items()}
    own = {name: _OF_DTYPE.get(dtype, _JSON) for name, dtype in attributes.items()}
    row: Any = _struct("Row", kinds, {"attributes": own} if own else {})
    decoder = msgspec.json.Decoder(list[row])
    names = [*kinds, *(f"attributes.{name}" for name in own)]
    is_first = True
    for some in batched(documents, ROWS):
        rows = decoder.decode(b"[" + b",".join(some) + b"]")
        columns = _columns(rows, kinds.values())
        if own:
            columns += _columns([row.inner for row in rows], own.values())
        if is_first:
            yield _schema(names, columns)
            is_first = False
        yield from _batch(len(rows), columns)
    if is_first:
        yield _schema(names, [kind.column(()) for kind in (*kinds.values(), *own.values())])
    yield _END


def _columns(rows: Values, kinds: Iterable[_Kind]) -> list[Column]:
    """The columns of decoded rows."""
    return [kind.column(list(map(attrgetter(f"m{n}"), rows))) for n, kind in enumerate(kinds)]


def _struct(title: str, kinds: Mapping[str, _Kind], inner: Mapping[str, Mapping[str, _Kind]]) -> Any:
    """A Struct that decodes the columns and nothing else; its members are `m0`, `m1`, …, and `inner`."""
    fields: list[Any] = [(f"m{n}", kind.decoded, None) for n, kind in enumerate(kinds.values())]
    rename = {f"m{n}": name for n, name in enumerate(kinds)}
    for name, held in inner.items():
        type_ = _struct("Held", held, {})
        fields.append(("inner", type_, msgspec.field(default_factory=type_)))
        rename["inner"] = name
    return msgspec.defstruct(title, fields, rename=rename, gc=False)


def _kind_of(name: str, declared: Any) -> _Kind:
    if name.endswith("_datetime"):
        return _TIME
    while get_origin(declared) is not None and hasattr(declared, "__metadata__"):
        declared = declared.__origin__
    if get_origin(declared) in (Union, UnionType):
        options = {_kind_of(name, each) for each in get_args(declared) if each is not type(None)}
        return options.pop() if len(options) == 1 else _JSON
    if get_origin(declared) is Literal:
        return _TEXT
    if get_origin(declared) is list:
        inner = {_INTEGER: _INTEGERS, _FLOAT: _FLOATS}
        return inner.get(_kind_of("", get_args(declared)[0]), _JSON)
    return _OF_TYPE.get(declared, _JSON)


# Messages ------------------------------------------------------------------------------------------------------------


class _Tables(list[list[Any]]):
    """A vector of tables."""


_SCHEMA, _RECORDS = 1, 3
_TYPES: dict[bytes, tuple[int, list[Any]]] = {
    b"l": (2, [("i", 64), ("?", True)]),
    b"g": (3, [("h", 2)]),
    b"b": (6, []),
    b"tsu:UTC": (10, [("h", 2), "UTC"]),
    b"Z": (19, []),
    b"U": (20, []),
    b"+L": (21, []),
}
"""Kind of column → number in the union of types, and the members of its table."""


def _schema(names: Sequence[str], columns: Sequence[Column]) -> bytes:
    fields = _Tables(_field(name, column) for name, column in zip(names, columns, strict=True))
    return _message(_SCHEMA, [("h", 0), fields], b"")


def _field(name: str, column: Column) -> list[Any]:
    number, members = _TYPES[column.kind]
    children = _Tables(_field("item", each) for each in column.children)
    return [name, ("?", True), ("B", number), members, None, children]


def _batch(length: int, columns: Sequence[Column]) -> Iterator[bytes]:
    nodes, places, body, end = b"", b"", list[bytes](), 0
    for column in _flat(columns):
        nulls = 0 if column.valid is None else column.length - int.from_bytes(column.valid, "little").bit_count()
        nodes += struct.pack("<qq", column.length, nulls)
        for buffer in column.buffers:
            size = memoryview(buffer).nbytes if buffer is not None else 0
            places += struct.pack("<qq", end, size)
            if buffer is not None:
                padding = -size % 8
                body += [bytes(buffer), bytes(padding)]
                end += size + padding
    yield _message(_RECORDS, [("q", length), nodes, places], b"", end)
    yield b"".join(body)


def _flat(columns: Iterable[Column]) -> Iterator[Column]:
    for column in columns:
        yield column
        yield from _flat(column.children)


def _message(kind: int, header: list[Any], body: bytes, length: int = 0) -> bytes:
    """An encapsulated message of Arrow IPC: the continuation marker, the length of the metadata, metadata, body."""
    made = _flatbuffer([("h", 4), ("B", kind), header, ("q", length)])
    made += bytes(-len(made) % 8)
    return struct.pack("<II", 0xFFFFFFFF, len(made)) + made + body


def _flatbuffer(root: list[Any]) -> bytes:
    """A table and all that it refers to.

    A member is a scalar `(format, value)`, a text, bytes (a vector of structs of 16 bytes), `_Tables`, the list of the
    members of a table, or None (left out).
    """
    buffer = bytearray(struct.pack("<I", 0))
    struct.pack_into("<I", buffer, 0, _table(buffer, root))
    return bytes(buffer)


def _align(buffer: bytearray, size: int, after: int = 0) -> None:
    buffer.extend(bytes(-(len(buffer) + after) % size))


def _table(buffer: bytearray, members: list[Any]) -> int:
    """Append a table and the objects it refers to. Returns the offset of the table."""
    places, size = [], 4
    for member in members:
        if member is None:
            places.append(0)
            continue
        width = struct.calcsize("<" + member[0]) if isinstance(member, tuple) else 4
        size += -size % width
        places.append(size)
        size += width
    table = struct.pack(f"<HH{len(places)}H", 4 + 2 * len(places), size, *places)
    _align(buffer, 8, len(table))
    start = len(buffer) + len(table)
    buffer.extend(table)
    buffer.extend(struct.pack("<i", len(table)) + bytes(size - 4))
    for member, place in zip(members, places, strict=True):
        if isinstance(member, tuple):
            struct.pack_into("<" + member[0], buffer, start + place, member[1])
        elif member is not None:
            struct.pack_into("<I", buffer, start + place, _append(buffer, member) - start - place)
    return start


def _append(buffer: bytearray, member: Any) -> int:
    if isinstance(member, str):
        text = member.encode()
        _align(buffer, 4)
        start = len(buffer)
        buffer.extend(struct.pack("<I", len(text)) + text + b"\0")
        return start
    if isinstance(member, bytes):
        _align(buffer, 8, 4)
        start = len(buffer)
        buffer.extend(struct.pack("<I", len(member) // 16) + member)
        return start
    if not isinstance(member, _Tables):
        return _table(buffer, member)
    _align(buffer, 4)
    start = len(buffer)
    buffer.extend(struct.pack("<I", len(member)) + bytes(4 * len(member)))
    for number, each in enumerate(member, 1):
        place = start + 4 * number
        struct.pack_into("<I", buffer, place, _table(buffer, each) - place)
    return start
