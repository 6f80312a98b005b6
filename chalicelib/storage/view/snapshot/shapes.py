"""The shape of a view: a fingerprint of its columns and of the members of its documents.

A snapshot has the shape of the code that wrote it. Code that would make the same tables and documents opens it as it
is. Other code makes the view anew from the documents (`renewal.py`).

Only the SQL types that a project's columns have count. So vectors that are stored in another way leave projects without
vectors as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from chalicelib.core.models.entities import STRUCT_OF
from chalicelib.query.columns import COLUMNS
from chalicelib.query.layout import SQL_TYPE, VECTOR, Layout, stored_columns

FORMAT = 3
"""The version of the files' format. The column value stored for a value may change only with it."""
_encode = msgspec.json.Encoder().encode


def shape_of(layout: Layout) -> str:
    """The fingerprint of the tables and documents that this code makes of a project with a layout."""
    slots = [slot for types in layout.slots.values() for of in types.values() for slot in of.values()]
    dtypes = sorted({(slot.dtype, SQL_TYPE.get(slot.dtype)) for slot in slots})
    return _fingerprint(dtypes, _columns(_sql_types(layout)))


def is_usable(shape: str, layout: Layout) -> bool:
    """Whether this code can open the view of a snapshot as it is, from its shape and its layout."""
    if shape == shape_of(layout):
        return True
    # Earlier releases had one fingerprint for all projects, at first without the stored columns.
    dtypes = sorted(SQL_TYPE.items())
    if shape == _fingerprint(dtypes, _columns(SQL_TYPE.values())):
        return True
    return shape == _fingerprint(dtypes) and VECTOR not in _sql_types(layout)


def _sql_types(layout: Layout) -> set[str]:
    return {each for columns in layout.sql_types.values() for each in columns.values()}


def _columns(sql_types: Iterable[str]) -> list[tuple[tuple[str, str], ...]]:
    return [stored_columns("column", each) for each in sorted(set(sql_types))]


def _fingerprint(*stored: Any) -> str:
    parts: list[Any] = [FORMAT, *stored]
    for kind, struct in STRUCT_OF.items():
        columns = [(column.name, column.dtype) for column in COLUMNS[kind]]
        parts.append([kind, columns, struct.__struct_fields__, sorted(struct.also.items())])
        parts[-1] += [sorted(struct.hidden), sorted(struct.sparse)]
    return hashlib.sha256(_encode(parts)).hexdigest()[:16]
