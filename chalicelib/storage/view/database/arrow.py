"""Columns of Python values as an Arrow stream, so that DuckDB takes thousands of rows at once.

An appender converts each value by itself, with the interpreter's lock: 15 µs a row of forty columns. Here a column is
one call of `array` or `join`, and DuckDB copies whole columns without the lock.

    table = Table({"id": integers([1, 2]), "name": texts(["a", None])})
    connection.register("added", table)       # any number of scans, until it is unregistered

The memory layout is Arrow's C data interface, and the way to hand it over Arrow's PyCapsule interface, both stable.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any

_NAME = b"arrow_array_stream"
_NULLABLE = 2


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_release_schema = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))
_release_array = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))
_release_stream = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))
_get_schema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))
_get_next = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))
_get_error = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))

_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.c_void_p),
    ("release", _release_schema),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.c_void_p),
    ("release", _release_array),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", _get_schema),
    ("get_next", _get_next),
    ("get_last_error", _get_error),
    ("release", _release_stream),
    ("private_data", ctypes.c_void_p),
]


def _mark_released(given: Any) -> None:
    """Mark a schema, array or stream as released. Its memory is the table's."""
    given[0].release = type(given[0].release)()


def _no_error(_: Any) -> None:
    return None


_schema_released = _release_schema(_mark_released)
_array_released = _release_array(_mark_released)
_stream_released = _release_stream(_mark_released)
_without_error = _get_error(_no_error)


class Column:
    """A column in Arrow's layout."""

    def __init__(
        self, kind: bytes, length: int, valid: bytes | None, *buffers: Any, children: Sequence[Column] = ()
    ) -> None:
        self.kind = kind
        self.length = length
        self.children = tuple(children)
        self.buffers = [valid, *buffers]
        self.valid = valid

    def schema(self, name: bytes, keep: list[Any]) -> _Schema:
        """Describe the column; what the description refers to is added to `keep`."""
        some = [each.schema(b"item", keep) for each in self.children]
        pointers = (ctypes.POINTER(_Schema) * max(1, len(some)))(*map(ctypes.pointer, some))
        keep += [name, some, pointers]
        return _Schema(self.kind, name, None, _NULLABLE, len(some), pointers, None, _schema_released, None)

    def array(self, keep: list[Any]) -> _Array:
        """The values of the column; what they refer to is added to `keep`."""
        some = [each.array(keep) for each in self.children]
        pointers = (ctypes.POINTER(_Array) * max(1, len(some)))(*map(ctypes.pointer, some))
        places = (ctypes.c_void_p * len(self.buffers))(*map(_address, self.buffers))
        keep += [some, pointers, places, self.buffers]
        nulls = -1 if self.valid is not None else 0
        return _Array(self.length, nulls, 0, len(places), len(some), places, pointers, None, _array_released, None)


def _address(buffer: Any) -> int | None:
    if buffer is None:
        return None
    if isinstance(buffer, array):
        return buffer.buffer_info()[0]
    return ctypes.cast(ctypes.c_char_p(buffer), ctypes.c_void_p).value


_DIGITS = bytes.maketrans(b"\0\1", b"01")


def bits(flags: Iterable[bool]) -> bytes:
    """A bit for each value, the first the lowest, set where it is true."""
    digits = bytes(flags).translate(_DIGITS)
    return int(digits[::-1] or b"0", 2).to_bytes((len(digits) + 7) // 8 or 1, "little")


def _valid(values: Sequence[Any]) -> bytes | None:
    if nulls := values.count(None):
        return bytes((nulls + 7) // 8) if nulls == len(values) else bits([each is not None for each in values])
    return None


def _numbers(kind: bytes, code: str, empty: Any) -> Callable[[Sequence[Any]], Column]:
    width = array(code).itemsize

    def column(values: Sequence[Any]) -> Column:
        length = len(values)
        if is_empty(values):
            return Column(kind, length, bytes((length + 7) // 8), array(code, bytes(length * width)))
        try:
            return Column(kind, length, None, array(code, values))
        except TypeError:  # some are None; to look for them first would take longer than to make the array
            held = array(code, [empty if each is None else each for each in values])
            return Column(kind, length, _valid(values), held)

    return column


def is_empty(values: Sequence[Any]) -> bool:
    """Whether there are values, and all are None."""
    return bool(values) and values[0] is None and values.count(None) == len(values)


integers = _numbers(b"l", "q", 0)
"""A column of 64 bit integers or None."""
doubles = _numbers(b"g", "d", 0.0)
"""A column of floats or None."""
instants = _numbers(b"tsu:", "q", 0)
"""A column of microseconds since 1970 or None, as naive timestamps."""


def flags(values: Sequence[bool | None]) -> Column:
    """A column of booleans or None."""
    return Column(b"b", len(values), _valid(values), bits(map(bool, values)))


def _bytes_column(kind: bytes, values: Sequence[bytes | None]) -> Column:
    valid = _valid(values)
    held: Any = values if valid is None else [each or b"" for each in values]
    return Column(kind, len(values), valid, array("q", [0, *accumulate(map(len, held))]), b"".join(held))


def blobs(values: Sequence[bytes | None]) -> Column:
    """A column of bytes or None."""
    return _bytes_column(b"Z", values)


def json_texts(values: Sequence[bytes | None]) -> Column:
    """A column of texts in UTF-8 or None."""
    return _bytes_column(b"U", values)


def texts(values: Sequence[str | None]) -> Column:
    """A column of texts or None. Raises UnicodeEncodeError for one that is not Unicode."""
    valid = _valid(values)
    held: Any = values if valid is None else [each or "" for each in values]
    whole = "".join(held)
    data = whole.encode()
    lengths = map(len, held if len(data) == len(whole) else [each.encode() for each in held])
    return Column(b"U", len(values), valid, array("q", [0, *accumulate(lengths)]), data)


def _lists(items: Callable[[Sequence[Any]], Column]) -> Callable[[Sequence[Any]], Column]:
    def column(values: Sequence[Sequence[Any] | None]) -> Column:
        valid = _valid(values)
        held: Any = values if valid is None else [each or () for each in values]
        offsets = array("q", [0, *accumulate(map(len, held))])
        return Column(b"+L", len(values), valid, offsets, children=[items(list(chain.from_iterable(held)))])

    return column


lists = _lists(integers)
"""A column of lists of integers, or None."""
lists_of_doubles = _lists(doubles)
"""A column of lists of floats, or None."""


class Table:
    """Columns of one length, by name."""

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._whole = _Whole(columns)
        self._keep: list[Any] = []

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A capsule with a stream of one batch of rows."""
        keep = self._keep
        batches = [self._whole]

        def get_schema(_: Any, out: Any) -> int:
            out[0] = self._whole.schema(keep)
            return 0

        def get_next(_: Any, out: Any) -> int:
            out[0] = batches.pop().array(keep) if batches else _Array()
            return 0

        stream = _Stream(_get_schema(get_schema), _get_next(get_next), _without_error, _stream_released, None)
        keep.append(stream)
        return _capsule(ctypes.addressof(stream), _NAME, None)

    def release(self) -> None:
        """Free the memory once no statement reads it; it refers to itself, so nothing else does soon."""
        self._keep.clear()


class _Whole:
    """All columns as one struct column, which is what a stream has."""

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = columns
        self._rows = next(iter(columns.values())).length

    def schema(self, keep: list[Any]) -> _Schema:
        some = [column.schema(name.encode(), keep) for name, column in self._columns.items()]
        pointers = (ctypes.POINTER(_Schema) * len(some))(*map(ctypes.pointer, some))
        keep += [some, pointers]
        return _Schema(b"+s", b"", None, 0, len(some), pointers, None, _schema_released, None)

    def array(self, keep: list[Any]) -> _Array:
        some = [column.array(keep) for column in self._columns.values()]
        pointers = (ctypes.POINTER(_Array) * len(some))(*map(ctypes.pointer, some))
        buffers = (ctypes.c_void_p * 1)(None)
        keep += [some, pointers, buffers]
        return _Array(self._rows, 0, 0, 1, len(some), buffers, pointers, None, _array_released, None)


_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype = ctypes.py_object
_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
