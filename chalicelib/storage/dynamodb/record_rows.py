"""The rows of a record: their keys, their documents, and reading them by key.

home     (parent#id, kind|key)    the document, under its parent; a record without parent is its own home
pointer  (kind#id, @)             where the home of an id is
link     (other#id, link|kind|id) the same, under another record that lists this one
claim    (claim#kind|word, @)     a unique value and the id of its owner
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from chalicelib.core.records import RecordKind
from chalicelib.errors import BadInput, NotFound
from chalicelib.storage.dynamodb import ahead
from chalicelib.storage.dynamodb.tables import RecordRow

R = TypeVar("R", bound=msgspec.Struct)
Key = tuple[str, str]

ALONE = "@"
"""The sort key of a row that is alone in its partition."""
encoder = msgspec.json.Encoder()
_LARGEST_KEPT, _MOST_KEPT = 16_384, 256
"""Bytes of a definition of which the decoded form is kept, and how many are."""


# --- keys -----------------------------------------------------------------------------------------------------------


def key_of(kind: RecordKind[Any], number: int | str) -> Key:
    """Where the record with an id, or the pointer to it, is stored."""
    return f"{kind.name}#{number}", ALONE


def home(kind: RecordKind[Any], parent: int | str, key: str) -> Key:
    """Where the record with a sort key under its parent is stored; of a part of the key, where such keys begin."""
    if kind.parent is None:
        raise AssertionError(f"{kind.name} has no parent")
    return f"{kind.parent[1]}#{parent}", f"definition|{kind.name}|{key}" if kind.definition else f"{kind.name}|{key}"


def home_of(kind: RecordKind[Any], record: Any) -> Key:
    """Where a record is stored."""
    if kind.parent is None:
        return key_of(kind, kind.id_of(record))
    return home(kind, getattr(record, kind.parent[0]), kind.sort_key(record))


def pointers_of(kind: RecordKind[Any], record: Any) -> list[Key]:
    """Where the pointer and the links to a record are stored."""
    number = kind.id_of(record)
    keys = [] if kind.parent is None else [key_of(kind, number)]
    for member, word in kind.links.items():
        if (value := getattr(record, member)) is not None:
            pk, begin = begin_of_links(kind, word, value)
            keys.append((pk, f"{begin}{number:012d}" if isinstance(number, int) else f"{begin}{number}"))
    return keys


def begin_of_links(kind: RecordKind[Any], word: str, value: int | str) -> Key:
    """Where the links to records of a kind under another record begin."""
    return f"{word}#{value}", f"link|{kind.name}|"


def claim_key(kind: RecordKind[Any], claim: str, word: str) -> Key:
    """Where the claim on a unique value is stored."""
    return f"claim#{kind.name}|{claim}|{word}", ALONE


# --- documents ------------------------------------------------------------------------------------------------------


def encode(kind: RecordKind[R], record: R) -> bytes:
    """Encode a record and check that it can be decoded again: a Struct made in code checks nothing.

    Raises:
        BadInput: a member breaks its rule. Stored, it would fail every read of the project's records.
    """
    doc = encoder.encode(record)
    try:
        msgspec.json.decode(doc, type=kind.struct)
    except msgspec.ValidationError as error:
        rule, _, place = str(error).partition(" - at ")
        member = place.strip("`").removeprefix("$.") or kind.title.lower()
        raise BadInput(f"{member}: {rule}.") from error
    return doc


def decode(kind: RecordKind[R], row: RecordRow) -> R:
    """The record of a home row; definitions that are alike are one object, which is never changed in place."""
    doc: bytes = row.doc
    if kind.definition is not None and len(doc) <= _LARGEST_KEPT:
        found: R = _decode_once(kind.struct, doc)
        return found
    return msgspec.json.decode(doc, type=kind.struct)


@lru_cache(_MOST_KEPT)
def _decode_once(struct: type[R], doc: bytes) -> R:
    # most requests that write need a type; what is compiled of its attributes is found by their identity
    found: R = msgspec.json.decode(doc, type=struct)
    return found


# --- reading --------------------------------------------------------------------------------------------------------


def row_of(key: Key) -> RecordRow | None:
    """The row with a key: the one that was read ahead, if there is one."""
    is_read, row = ahead.pop(RecordRow, *key)
    if is_read:
        return row
    return RecordRow.find(*key)


def rows_beneath(key: Key, most: int | None = None) -> Iterator[RecordRow]:
    """The rows of a partition whose sort keys begin as that of a key does, in their order."""
    return RecordRow.select(key[0], "begins_with(#r, :0)", key[1], most=most)


def rows(keys: Iterable[Key]) -> Iterator[RecordRow]:
    """The existing rows among some keys, a hundred per call, in no order; a consistent read of all of them."""
    found, wanted = ahead.pop_all(RecordRow, list(keys))
    yield from found
    yield from RecordRow.many(wanted)


def homes(pointers: Iterable[RecordRow]) -> Iterator[RecordRow]:
    """The rows to which pointers and links lead, in no order, also of records that moved after these were read."""
    found = {(row.home_pk, row.home_sk): row for row in pointers}
    for home_row in rows(found):
        del found[home_row.key()]
        yield home_row
    yield from _moved_homes(list(found.values()))


def _moved_homes(pointers: Sequence[RecordRow]) -> Iterator[RecordRow]:
    """The rows of records that moved to another key after these pointers to them were read, before the rows were."""
    while pointers:
        before = {row.key(): (row.home_pk, row.home_sk) for row in pointers}
        # a pointer that leads to where no row is, and is as it was, is that of a deleted record
        moved = {
            row.key(): row for row in RecordRow.many(list(before)) if (row.home_pk, row.home_sk) != before[row.key()]
        }
        there = {row.key(): row for row in RecordRow.many([(row.home_pk, row.home_sk) for row in moved.values()])}
        yield from there.values()
        pointers = [row for row in moved.values() if (row.home_pk, row.home_sk) not in there]


def read(kind: RecordKind[R], number: int | str) -> tuple[R, RecordRow]:
    """The record with an id, and its home row. Raises NotFound: there is no such record."""
    row = row_of(key_of(kind, number))
    if row is not None and row.home_pk is not None:
        row = _home_row(row) or next(_moved_homes([row]), None)
    if row is None or row.doc is None:
        raise NotFound.of(kind.title, number)
    return decode(kind, row), row


def _home_row(pointer: RecordRow) -> RecordRow | None:
    """The row that a pointer leads to; in a project, what else the request will need of it is read along."""
    key = (pointer.home_pk, pointer.home_sk)
    word, _, number = key[0].partition("#")
    beside = ahead.keys_beside(int(number)) if word == "project" else []
    if not beside:
        return row_of(key)
    found = {(row.pk, row.sk): row for row in rows([key, *beside])}
    ahead.remember(beside, found)
    return found.get(key)
