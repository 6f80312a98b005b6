"""Records: small collections, read by key or by parent with a consistent query.

All rows of a record (`record_rows.py`) are written in one transaction, with the commit if the record is a definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import msgspec

from chalicelib.core.kinds import DefinitionKind
from chalicelib.core.log.commits import GONE, Change
from chalicelib.core.models.definitions import DEFINITION_STRUCT, Definitions
from chalicelib.core.records import RecordKind
from chalicelib.core.time.retry import CONFLICTS
from chalicelib.errors import Conflict, LimnError, NotFound, Taken
from chalicelib.storage.dynamodb import ahead, limits
from chalicelib.storage.dynamodb.entity_rows import ROWS_A_READ
from chalicelib.storage.dynamodb.record_rows import (
    ALONE,
    Key,
    R,
    begin_of_links,
    claim_key,
    decode,
    encode,
    encoder,
    home,
    home_of,
    homes,
    key_of,
    pointers_of,
    read,
    row_of,
    rows,
    rows_beneath,
)
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction

_GROWTH = 4_096
"""Bytes that a record may grow by at once before the bytes of all of its kind are counted."""


def get(kind: RecordKind[R], number: int | str) -> R:
    """The record with an id. Raises NotFound: there is no such record."""
    return read(kind, number)[0]


def maybe(kind: RecordKind[R], number: int | str) -> R | None:
    """The record with an id, or None."""
    try:
        return get(kind, number)
    except NotFound:
        return None


def find(kind: RecordKind[R], parent: int, key: str) -> R | None:
    """The record with a sort key under its parent, in one call."""
    row = row_of(home(kind, parent, key))
    return decode(kind, row) if row else None


def find_many(kind: RecordKind[R], parent: int, keys: Iterable[str]) -> dict[Any, R]:
    """The existing records with some sort keys under their parent, by id, a hundred per call."""
    wanted = [home(kind, parent, key) for key in keys]
    if len(wanted) == 1:
        row = row_of(wanted[0])
        found = [row] if row else []
    else:
        found = list(rows(wanted))
    return {kind.id_of(record): record for record in (decode(kind, row) for row in found)}


def first(kind: RecordKind[R], parent: int, prefix: str) -> R | None:
    """The first record under its parent whose sort key begins with a prefix, in one call."""
    return next((decode(kind, row) for row in rows_beneath(home(kind, parent, prefix), most=1)), None)


def many(kind: RecordKind[R], numbers: Iterable[int]) -> dict[int, R]:
    """The existing records among some ids, by id, a hundred per call; a second round for a kind with a parent."""
    found = list(rows(key_of(kind, number) for number in dict.fromkeys(numbers)))
    if kind.parent is not None:
        found = list(homes(found))
    return {kind.id_of(record): record for record in (decode(kind, row) for row in found)}


def get_claimed(kind: RecordKind[R], claim: str, word: str) -> R | None:
    """The record that holds a claim on a unique value."""
    row = row_of(claim_key(kind, claim, word))
    if row is None:
        return None
    return maybe(kind, msgspec.json.decode(row.doc))


def owners_of(kind: RecordKind[R], claim: str, words: Iterable[str]) -> dict[str, Any]:
    """The ids of the records that hold a claim on some unique values, by value, a hundred per call."""
    word_of = {claim_key(kind, claim, word): word for word in words}
    return {word_of[row.key()]: msgspec.json.decode(row.doc) for row in rows(word_of)}


def is_free(kind: RecordKind[R], record: R) -> bool:
    """Whether no record holds a claim of this new one, so far."""
    return not any(row_of(claim_key(kind, claim, word)) for claim, word in kind.claims(record).items())


def list_children(kind: RecordKind[R], parent: int | str, begins: str = "") -> list[R]:
    """All records of a kind under a parent whose sort keys begin with a prefix, in the order of their keys."""
    return [decode(kind, row) for row in rows_beneath(home(kind, parent, begins))]


def list_range(
    kind: RecordKind[R], parent: int | str, first_key: str, last_key: str, most: int | None = None
) -> list[R]:
    """The records under a parent with sort keys from one to another, both included; the first `most`."""
    (pk, begin), (_, end) = home(kind, parent, first_key), home(kind, parent, last_key)
    found = RecordRow.select(pk, "#r BETWEEN :0 AND :1", begin, end, most=most) if begin <= end else ()
    return [decode(kind, row) for row in found]


def list_linked(
    kind: RecordKind[R], word: str, number: int | str, beside: Callable[[list[Key]], list[ahead.RowKey]] | None = None
) -> list[R]:
    """All records of a kind that are linked to a record other than their parent, ordered by id.

    Args:
        kind: the kind.
        word: the kind of the other record.
        number: its id.
        beside: from the keys of the records to other rows, which are read along for the rest of the request.
    """
    links = list(rows_beneath(begin_of_links(kind, word, number)))
    keys = [(row.home_pk, row.home_sk) for row in links]
    if beside is not None and keys:
        ahead.fetch([*(ahead.RowKey(RecordRow, key) for key in dict.fromkeys(keys)), *beside(keys)][:ROWS_A_READ])
    return sorted((decode(kind, row) for row in homes(links)), key=kind.id_of)


def create(
    kind: RecordKind[R],
    record: R,
    *,
    user: int | None = None,
    taken: LimnError | None = None,
    within: tuple[str, limits.Check] | None = None,
    also: Callable[[Transaction], None] | None = None,
) -> R:
    """Store a new record.

    Args:
        kind: the kind of record.
        record: the record.
        user: id of its author, for the log.
        taken: the error to raise where another record holds one of its claims; Conflict without it.
        within: a further limit, of several kinds for example: the name of its guard, and its count.
        also: adds what is created with it to the transaction.

    Raises:
        limits.Full: there are as many as there may be.
        limits.Moved: others took the last room, attempt after attempt.
    """

    def write(guard: limits.CountGuard | None) -> R:
        change = Transaction()
        add(change, kind, record, user=user, taken=taken)
        if also is not None:
            also(change)
        if guard is not None:
            guard.add(change)
        change.run()
        return record

    name, check = within or (kind.name, lambda: limits.GUARDED_BELOW + 1)
    return limits.run(name, check, write)


def add(
    change: Transaction,
    kind: RecordKind[R],
    record: R,
    *,
    user: int | None = None,
    taken: LimnError | None = None,
    is_owed: bool = False,
) -> None:
    """Add a new record to a transaction, which then holds the limits of its kind (`limits.enforce`).

    A record that is owed is one that the service makes for what it accepted before: it may be one too many.

    Raises:
        limits.Full: there are as many as there may be.
    """
    if not is_owed:
        limits.enforce(change, kind, record)
    home = home_of(kind, record)
    doc = encode(kind, record)
    change.put(RecordRow(*home, doc=doc, n=1), RecordRow.pk.does_not_exist(), taken)
    for key in pointers_of(kind, record):
        change.put(RecordRow(*key, home_pk=home[0], home_sk=home[1]))
    for claim, word in kind.claims(record).items():
        _claim(change, kind, record, claim, word, taken)
    _commit(change, kind, record, doc, user)


def edit(
    kind: RecordKind[R],
    number: int | str,
    edited: Callable[[R], R | None],
    *,
    user: int | None = None,
    taken: LimnError | None = None,
    also: Callable[[Transaction, R, R], None] | None = None,
) -> R:
    """Apply an edit to the current record; retry from a fresh read where another writer was faster.

    Args:
        kind: the kind of record.
        number: its id.
        edited: from the record to the changed record, a copy; None to leave it.
        user: id of the editing user, for the log.
        taken: the error to raise where another record holds a claim of the changed record.
        also: adds rows that must change with the record to the transaction; gets it before and after.

    Raises:
        NotFound: there is no such record.
        Conflict: every attempt lost against another writer.
    """
    for _ in CONFLICTS.attempts():
        before, row = read(kind, number)
        after = edited(before)
        if after is None or after == before:
            return before
        moved = _conflict(kind, number)
        change = Transaction()
        _rewrite(change, kind, before, after, row, moved=moved, taken=taken)
        _commit(change, kind, after, encode(kind, after), user, before)
        if also:
            also(change, before, after)
        if change.run_unless(moved):
            return after
    raise _too_many(kind, number)


def change(
    transaction: Transaction,
    kind: RecordKind[R],
    number: int | str,
    edited: Callable[[R], R],
    *,
    user: int | None = None,
) -> None:
    """Add an edit to a transaction, which fails with Conflict where the record was changed meanwhile.

    Raises:
        NotFound: there is no such record.
    """
    before, row = read(kind, number)
    after = edited(before)
    moved = _conflict(kind, number)
    _rewrite(transaction, kind, before, after, row, moved=moved, taken=None)
    _commit(transaction, kind, after, encode(kind, after), user, before)


def _rewrite(
    change: Transaction,
    kind: RecordKind[R],
    before: R,
    after: R,
    row: RecordRow,
    *,
    moved: Conflict,
    taken: LimnError | None,
) -> None:
    """Add the changed rows of a record to a transaction: its home, and the changed pointers and claims."""
    home, old_home = home_of(kind, after), (row.pk, row.sk)
    doc = encode(kind, after)
    if len(doc) > len(row.doc) + _GROWTH:
        limits.check_growth(kind, after)
    if home == old_home:
        change.put(RecordRow(*home, doc=doc, n=row.n + 1), RecordRow.n == row.n, moved)
    else:
        change.delete(RecordRow(*old_home), RecordRow.n == row.n, moved)
        change.put(RecordRow(*home, doc=doc, n=row.n + 1), RecordRow.pk.does_not_exist(), taken)
    old_pointers, pointers = set(pointers_of(kind, before)), set(pointers_of(kind, after))
    for key in pointers if home != old_home else pointers - old_pointers:
        change.put(RecordRow(*key, home_pk=home[0], home_sk=home[1]))
    for key in old_pointers - pointers:
        change.delete(RecordRow(*key))
    old_claims, claims = set(kind.claims(before).items()), set(kind.claims(after).items())
    for claim, word in claims - old_claims:
        _claim(change, kind, after, claim, word, taken)
    for claim, word in old_claims - claims:
        change.delete(RecordRow(*claim_key(kind, claim, word)))


def remove(kind: RecordKind[R], number: int | str, *, user: int | None = None) -> R:
    """Delete a record with its pointers and claims. Raises NotFound: there is no such record."""
    for _ in CONFLICTS.attempts():
        record = get(kind, number)
        change = Transaction()
        moved = drop(change, kind, record, user=user)
        if change.run_unless(moved):
            return record
    raise _too_many(kind, number)


def discard(kind: RecordKind[Any], number: int | str, *, user: int | None = None) -> None:
    """Delete a record as `remove` does; a missing one is no error."""
    with suppress(NotFound):
        remove(kind, number, user=user)


def drop(
    change: Transaction, kind: RecordKind[R], record: R, *, user: int | None = None, log: bool = True
) -> Conflict | None:
    """Add the deletion of a record to a transaction; without `log`, no commit records it.

    Returns:
        for a definition whose deletion is logged, the Conflict that `run` raises where it changes meanwhile: the log
        must not have its deletion before its last change.

    Raises:
        NotFound: it was deleted; for other records `run` raises it.
    """
    moved = None
    if kind.definition and log:
        number = kind.id_of(record)
        record, row = read(kind, number)
        moved = _conflict(kind, number)
        change.delete(RecordRow(row.pk, row.sk), RecordRow.n == row.n, moved)
    else:
        gone = NotFound.of(kind.title, kind.id_of(record))
        change.delete(RecordRow(*home_of(kind, record)), RecordRow.pk.exists(), gone)
    for key in pointers_of(kind, record):
        change.delete(RecordRow(*key))
    for claim, word in kind.claims(record).items():
        change.delete(RecordRow(*claim_key(kind, claim, word)))
    if log:
        _commit(change, kind, record, bytes(GONE), user, record)
    return moved


def guard(change: Transaction, kind: RecordKind[R], number: int | str) -> R:
    """The record with an id; the transaction fails with Conflict where it is changed or deleted meanwhile.

    Raises:
        NotFound: there is no such record.
    """
    record, row = read(kind, number)
    moved = _conflict(kind, number)
    change.check(RecordRow(row.pk, row.sk), RecordRow.n == row.n, moved)
    return record


def everything(kind: RecordKind[R]) -> Iterator[R]:
    """Every record of a kind without parent, in no order. Scans the whole table: for the operator only."""
    if kind.parent is not None:
        raise AssertionError(f"{kind.name} has a parent")
    begins = RecordRow.pk.startswith(f"{kind.name}#") & (RecordRow.sk == ALONE)
    return (decode(kind, row) for row in RecordRow.scan(begins, consistent_read=True) if row.doc is not None)


def definitions(project: int) -> Definitions:
    """All definitions of a project, in one consistent query."""
    found = Definitions(project=project)
    for row in rows_beneath((f"project#{project}", "definition|")):
        kind = DefinitionKind(row.sk.split("|")[1])
        found.put(kind, msgspec.json.decode(row.doc, type=DEFINITION_STRUCT[kind]))
    return found


def _claim(
    change: Transaction, kind: RecordKind[Any], record: Any, claim: str, word: str, taken: LimnError | None
) -> None:
    row = RecordRow(*claim_key(kind, claim, word), doc=encoder.encode(kind.id_of(record)))
    refusal = taken or Taken(f"{kind.title} with this {claim} already exists!")
    change.put(row, RecordRow.pk.does_not_exist(), refusal)


def _commit(
    change: Transaction, kind: RecordKind[Any], record: Any, doc: bytes, user: int | None, before: Any = None
) -> None:
    if kind.definition:
        past = [] if before is None else [Change(kind.definition, record.id, msgspec.Raw(encoder.encode(before)))]
        change.log(record.project, user, [Change(kind.definition, record.id, msgspec.Raw(doc))], past=past)


def _conflict(kind: RecordKind[Any], number: int | str) -> Conflict:
    return Conflict(f"The {kind.title.lower()} {number} was changed by another request at the same time.")


def _too_many(kind: RecordKind[Any], number: int | str) -> Conflict:
    return Conflict(f"The {kind.title.lower()} {number} has too many concurrent updates; nothing was changed. Retry.")
