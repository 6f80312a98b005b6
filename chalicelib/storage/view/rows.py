"""Rows of the view from commits: what a change puts into the columns, and the document that answers emit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from chalicelib.core.commits import Change
from chalicelib.core.definitions import Definitions
from chalicelib.core.entities import STRUCT_OF
from chalicelib.core.kinds import Kind
from chalicelib.core.resource import answer
from chalicelib.core.revisions import Revision, revised, up_to_date
from chalicelib.query.columns import COLUMNS
from chalicelib.query.geodesy import unit
from chalicelib.query.layout import PLACE, SQL_TYPE, VECTOR, Layout, Slot, place_columns, stored_columns
from chalicelib.query.values import STORED, packed_array
from chalicelib.storage.view.deleted_definitions import Hides

Add = Callable[[bytes, int, int], int]
"""From a document, its type and the revisions it has seen to its place: `Documents.add`."""
_decoders = {kind: msgspec.json.Decoder(struct) for kind, struct in STRUCT_OF.items()}
_encode = msgspec.json.Encoder().encode


class _Attributes(msgspec.Struct):
    attributes: dict[str, Any] = {}


_attributes = msgspec.json.Decoder(_Attributes)


_PLAIN = {kind: [column for column in columns if column.member] for kind, columns in COLUMNS.items()}
_OTHERS = {kind: [column for column in columns if not column.member] for kind, columns in COLUMNS.items()}
"""A row begins with the members taken as they stand, in one go."""
DOCUMENT = "doc"
"""The column, behind the built-in ones, that says where the document of a row is (`documents.py`)."""


def create_table(kind: Kind, name: str) -> str:
    """The statement that makes the table of a kind, without columns for attributes."""
    columns = ", ".join(f'"{column.name}" {SQL_TYPE[column.dtype]}' for column in (*_PLAIN[kind], *_OTHERS[kind]))
    return f"CREATE TABLE {name} ({columns}, {DOCUMENT} BIGINT)"


class Rows:
    """Makes rows of one kind under one layout: values in the order of the table's columns."""

    def __init__(self, kind: Kind, layout: Layout, definitions: Definitions) -> None:
        self._take = attrgetter(*(str(column.member) for column in _PLAIN[kind]))
        self._others = [column.value for column in _OTHERS[kind]]
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
        """The row of a change of this kind that is not gone; None of one that is hidden.

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
    """Where an attribute goes in a row, and what of its value goes there: for a place, all its columns at once."""
    convert, first = STORED[slot.dtype], places[slot.column]
    if SQL_TYPE[slot.dtype] == VECTOR:
        return first, packed_array
    if SQL_TYPE[slot.dtype] != PLACE:
        return first, convert
    columns = len(place_columns(slot.column))

    def whole(value: Any) -> Sequence[float | None]:
        place = convert(value)
        return [None] * columns if place is None else (*place, *unit(*place))

    return slice(first, first + columns), whole


def revise(document: bytes, unseen: Sequence[Revision]) -> bytes:
    """A document after those revisions of its type that it has not seen."""
    members = msgspec.json.decode(document)
    members["attributes"] = revised(members["attributes"], unseen)
    return _encode(members)


def attribute_of(document: bytes, name: str) -> Any:
    """The JSON value of an attribute in a document, None where it has none."""
    if _encode(name) not in document:
        return None
    return _attributes.decode(document).attributes.get(name)


_NO_INCIDENT = b'"incident":null'


def with_incident(document: bytes, incident: int) -> bytes:
    """A media's document with how many annotations match the related search."""
    # The last one is the member: what stands after it in the document holds no text of a user's.
    place = document.rfind(_NO_INCIDENT)
    if place < 0:
        return document
    return document[:place] + b'"incident":%d' % incident + document[place + len(_NO_INCIDENT) :]
