"""Rows of a view from commits: the column values of a change, and the document that responses show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Change
from chalicelib.core.models.definitions import Definitions
from chalicelib.core.models.entities import STRUCT_OF
from chalicelib.core.resource import answer, under_all_names
from chalicelib.core.values.revisions import Revision, revised, up_to_date
from chalicelib.query.columns import COLUMNS
from chalicelib.query.geodesy import unit
from chalicelib.query.layout import PLACE, SQL_TYPE, VECTOR, Layout, Slot, place_columns, stored_columns
from chalicelib.query.values import STORED, packed_array
from chalicelib.query.vector_codes import code
from chalicelib.storage.view.deleted_definitions import Hides

Add = Callable[[bytes, int, int], int]
"""From a document, its type and the revisions applied to it to its place: `Documents.add`."""
_decoders = {kind: msgspec.json.Decoder(struct) for kind, struct in STRUCT_OF.items()}
_encode = msgspec.json.Encoder().encode


class _Attributes(msgspec.Struct):
    attributes: dict[str, Any] = {}


_attributes = msgspec.json.Decoder(_Attributes)


PLAIN = {kind: [column for column in columns if column.member] for kind, columns in COLUMNS.items()}
OTHERS = {kind: [column for column in columns if not column.member] for kind, columns in COLUMNS.items()}
"""The members that a row begins with, copied at once without conversion."""
DOCUMENT = "doc"
"""The column, after the built-in ones, that holds the place of a row's document (`documents.py`)."""


def create_table(kind: Kind, name: str) -> str:
    """The statement that creates the table of a kind, without columns for attributes."""
    columns = ", ".join(f'"{column.name}" {SQL_TYPE[column.dtype]}' for column in (*PLAIN[kind], *OTHERS[kind]))
    return f"CREATE TABLE {name} ({columns}, {DOCUMENT} BIGINT)"


class Rows:
    """Makes rows of one kind under one layout: values in the order of the table's columns."""

    def __init__(self, kind: Kind, layout: Layout, definitions: Definitions) -> None:
        self._take = attrgetter(*(str(column.member) for column in PLAIN[kind]))
        self._others = [column.value for column in OTHERS[kind]]
        self._decode: Callable[[Any], Any] = _decoders[kind].decode
        stored = [
            column for slot, sql_type in layout.sql_types[kind].items() for column, _ in stored_columns(slot, sql_type)
        ]
        self._nothing = [None] * (1 + len(stored))
        self._document = len(COLUMNS[kind])
        places = {column: self._document + 1 + place for place, column in enumerate(stored)}
        self._plans: dict[int, list[tuple[str, int | slice, Callable[[Any], Any]]]] = {
            number: [(name, *_step(slot, places)) for name, slot in slots.items()]
            for number, slots in layout.slots[kind].items()
        }
        self._revisions = {number: of.revisions for number, of in definitions.types(kind).items() if of.revisions}

    def make(self, change: Change, add: Add, hides: Hides | None = None) -> list[Any] | None:
        """The row of a change of this kind that is not a deletion; None where the entity is hidden.

        Args:
            change: the change.
            add: keeps the document (`Documents.add`).
            hides: says which entities are hidden.
        """
        entity = self._decode(change.doc)
        if hides is not None and hides(entity):
            return None
        revisions = self._revisions.get(entity.type, ())
        if revisions and entity.revision < len(revisions):
            entity = up_to_date(entity, revisions)
        row = [*self._take(entity), *(take(entity) for take in self._others), *self._nothing]
        attributes = entity.attributes
        for name, place, convert in self._plans.get(entity.type, ()):
            value = attributes.get(name)
            if value is not None:
                row[place] = convert(value)
        row[self._document] = add(_encode(answer(entity)), entity.type, len(revisions))
        return row


def _step(slot: Slot, places: dict[str, int]) -> tuple[int | slice, Callable[[Any], Any]]:
    """The columns of an attribute in a row, and their values: for a geopos, all its columns at once."""
    convert, first = STORED[slot.dtype], places[slot.column]
    if SQL_TYPE[slot.dtype] == VECTOR:
        return slice(first, first + 2), _vector
    if SQL_TYPE[slot.dtype] != PLACE:
        return first, convert
    columns = len(place_columns(slot.column))

    def whole(value: Any) -> Sequence[float | None]:
        place = convert(value)
        return [None] * columns if place is None else (*place, *unit(*place))

    return slice(first, first + columns), whole


def _vector(value: Any) -> tuple[bytes | None, bytes | None]:
    """A vector as its two columns have it."""
    packed = packed_array(value)
    return packed, code(packed)


def revise(document: bytes, unseen: Sequence[Revision]) -> bytes:
    """A document after its type's missing revisions."""
    members = msgspec.json.decode(document)
    members["attributes"] = revised(members["attributes"], unseen)
    return _encode(members)


_MORE_NAMES = {
    kind: [(b'"%b":' % old.encode(), b'"%b":' % name.encode()) for old, name in of.also_attributes.items()]
    for kind, of in STRUCT_OF.items()
}


def with_all_names(kind: Kind, documents: list[bytes]) -> list[bytes]:
    """Documents with their attributes under older names, too, which earlier releases did not store."""
    for old, name in _MORE_NAMES[kind]:
        documents = [each if name not in each or old in each else _with_older_names(kind, each) for each in documents]
    return documents


def _with_older_names(kind: Kind, document: bytes) -> bytes:
    members = msgspec.json.decode(document)
    members["attributes"] = under_all_names(STRUCT_OF[kind], members["attributes"])
    return _encode(members)


def attribute_of(document: bytes, name: str) -> Any:
    """The JSON value of an attribute in a document, None where it has none."""
    if _encode(name) not in document:
        return None
    return _attributes.decode(document).attributes.get(name)


_NO_INCIDENT = b'"incident":null'


def with_incident(document: bytes, incident: int) -> bytes:
    """A media's document with the number of annotations that match the related search."""
    # The last match is the member: no user text follows it in the document.
    place = document.rfind(_NO_INCIDENT)
    if place < 0:
        return document
    return document[:place] + b'"incident":%d' % incident + document[place + len(_NO_INCIDENT) :]
