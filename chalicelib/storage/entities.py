"""Entities: media, localizations, states, leaves and files, one row each, many millions.

What is read comes with its attributes as its type has them now (`domain/revisions.py`).

A creation of many writes its rows first, each naming the batch it belongs to, and then one commit: until then nobody
sees any of them, afterwards everybody sees all. A change rewrites the row and commits in one transaction, so a row
without a batch is visible by itself.

    pending|<kind>#<first id>   put before the rows, removed with the commit: what a sweeper looks for
    batch#<kind>#<first id>     put with the commit: the batch is visible
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from chalicelib.domain.commits import Change, Edit
from chalicelib.domain.definitions import TYPE_RECORD
from chalicelib.domain.entities import STRUCT_OF, Entity
from chalicelib.domain.kinds import Kind
from chalicelib.domain.records import padded
from chalicelib.domain.resource import now
from chalicelib.domain.revisions import Revision, up_to_date
from chalicelib.errors import Conflict, NotFound, Unavailable
from chalicelib.storage import records
from chalicelib.storage.tables import CounterRow, EntityRow, Unmoved, write_batch
from chalicelib.storage.transactions import Transaction

E = TypeVar("E", bound=Entity)

SMALL = 8
"""Up to so many new entities go into one transaction: fewer calls, though each write unit counts twice."""
ROWS_A_WRITE = 25
ROWS_A_READ = 100
EDIT_ATTEMPTS = 12
_KNOWN_BATCHES = 100_000
_encoder = msgspec.json.Encoder()
_visible: set[tuple[Kind, int]] = set()
"""Batches known to be committed: once so, they stay so."""
_pool = ThreadPoolExecutor(max_workers=8, thread_name_prefix="entities")


@dataclass(frozen=True)
class Stored(Generic[E]):
    """An entity as it is now, with its optimistic lock."""

    entity: E
    n: int


def get(kind: Kind, number: int) -> Any:
    """The entity with an id, if readers may see it.

    Raises:
        NotFound: there is none, it was deleted, or its creation was not acknowledged.
    """
    return stored(kind, number).entity


def stored(kind: Kind, number: int) -> Stored[Any]:
    """The entity with its lock; as `get`."""
    try:
        row = EntityRow.get(_key(kind, number), consistent_read=True)
    except EntityRow.DoesNotExist:
        raise NotFound.of(kind.capitalize(), number) from None
    if row.deleted or not _committed(kind, {row.batch}):
        raise NotFound.of(kind.capitalize(), number)
    return _Reader(kind).stored(row)


def many(kind: Kind, numbers: Iterable[int]) -> dict[int, Stored[Any]]:
    """Those of the entities that readers may see, by id, in the order they were asked for."""
    wanted = list(dict.fromkeys(numbers))
    keys = [_key(kind, number) for number in wanted]
    parts = [keys[start : start + ROWS_A_READ] for start in range(0, len(keys), ROWS_A_READ)]
    rows = [row for part in _in_parallel(_read_rows, parts) for row in part if row.deleted is None]
    batches = {row.batch for row in rows}
    unseen = {batch for batch in batches if not _committed(kind, {batch})}
    found = {row.pk: row for row in rows if row.batch not in unseen}
    reader = _Reader(kind)
    return {number: reader.stored(found[key]) for number, key in zip(wanted, keys, strict=True) if key in found}


def of_project(project: int) -> Iterator[tuple[Kind, int, bytes]]:
    """The kind, id and document of everything of a project that readers may see, in no order.

    Reads the whole table, for a repair only. What is committed while it runs may be in it or not.
    """
    for row in EntityRow.scan(EntityRow.project == project, consistent_read=True):
        word, _, number = row.pk.partition("#")
        if not row.deleted and _committed(Kind(word), {row.batch}):
            yield Kind(word), int(number), row.doc


def create(
    kind: Kind,
    created: Sequence[Entity],
    *,
    user: int | None,
    edits: list[Edit] | None = None,
    also: Callable[[Transaction], list[Change]] | None = None,
) -> None:
    """Store new entities of one project; all become visible at once or none does.

    Their ids must be fresh ones from `ids.reserve`, in one block.

    Args:
        kind: the kind of entities.
        created: the entities.
        user: who creates them.
        edits: entries of the change log.
        also: adds to the transaction of the commit what must change with the creation, and tells the commit of it.
            The transaction has room for 90 such rows.
    """
    if not created:
        return
    project, first = created[0].project, created[0].id
    docs = [_encoder.encode(entity) for entity in created]
    changes = [Change(kind, entity.id, msgspec.Raw(doc)) for entity, doc in zip(created, docs, strict=True)]
    change = Transaction()
    if len(created) <= SMALL:
        for entity, doc in zip(created, docs, strict=True):
            row = EntityRow(_key(kind, entity.id), project=project, doc=doc, n=1)
            change.put(row, EntityRow.pk.does_not_exist())
    else:
        pending = CounterRow("pending", _key(kind, first), n=len(created), detail=now())
        pending.save()
        _write_rows(
            [
                EntityRow(_key(kind, entity.id), project=project, doc=doc, n=1, batch=first)
                for entity, doc in zip(created, docs, strict=True)
            ]
        )
        # A sweeper that took the batch for abandoned has removed the mark; then nothing may become visible.
        change.delete(pending, CounterRow.pk.exists(), Conflict("The creation took too long; nothing was created."))
        change.put(CounterRow(f"batch#{_key(kind, first)}", "@", n=len(created)))
    if also:
        changes += also(change)
    change.log(project, user, changes, edits)
    change.run()
    if len(created) > SMALL:
        _remember(kind, first)


def edit(
    kind: Kind,
    number: int,
    how: Callable[[Any], Entity | None],
    *,
    user: int | None,
    describe: Callable[[Any, Any], list[Edit]] | None = None,
    also: Callable[[Transaction, Any], None] | None = None,
) -> Any:
    """Apply an edit to an entity as it is now and commit it; again from a fresh read whenever it moved underneath us.

    Args:
        kind: the kind of entity.
        number: its id.
        how: from the entity to the changed entity, a copy; None to leave it.
        user: who does it.
        describe: from the entity before and after to the entries of the change log.
        also: adds to the transaction what must change with it, given the changed entity.

    Raises:
        NotFound: there is none to see.
        Conflict: others were faster every time; nothing was changed.
    """
    for _ in range(EDIT_ATTEMPTS):
        before = stored(kind, number)
        after = how(before.entity)
        if after is None:
            return before.entity
        change = Transaction()
        moved = rewrite(change, kind, before, after)
        change.log(
            after.project,
            user,
            [Change(kind, number, msgspec.Raw(_encoder.encode(after)))],
            describe(before.entity, after) if describe else None,
        )
        if also:
            also(change, after)
        try:
            change.run()
        except Conflict as conflict:
            if conflict is not moved:
                raise
        else:
            return after
    raise Conflict(f"The {kind} {number} is being changed by too many at once; nothing was changed.")


def rewrite(change: Transaction, kind: Kind, before: Stored[Any], after: Entity, doc: bytes | None = None) -> Conflict:
    """Make a changed row part of a transaction, `doc` its document where the caller has it encoded already.

    Returns:
        the Conflict that says it moved underneath.
    """
    moved = Conflict(f"The {kind} {after.id} was changed by somebody else at the same time.")
    document = _encoder.encode(after) if doc is None else doc
    row = EntityRow(_key(kind, after.id), project=after.project, doc=document, n=before.n + 1)
    change.put(row, Unmoved(before.n), moved)
    return moved


def differs(before: Entity, after: Entity) -> bool:
    """Whether a changed entity is to be written. Python's == alone would take 0 for false and 5 for 5.0."""
    return before != after or _encoder.encode(before) != _encoder.encode(after)


def insert(change: Transaction, kind: Kind, created: Entity, doc: bytes | None = None) -> None:
    """Make a new row part of a transaction, visible with it; its id must be a fresh one from `ids.reserve`."""
    document = _encoder.encode(created) if doc is None else doc
    row = EntityRow(_key(kind, created.id), project=created.project, doc=document, n=1)
    change.put(row, EntityRow.pk.does_not_exist())


def bury(change: Transaction, kind: Kind, before: Stored[Any]) -> None:
    """Make a row's deletion part of a transaction: readers no longer see it, a purge removes it later."""
    entity = before.entity
    moved = Conflict(f"The {kind} {entity.id} was changed by somebody else at the same time.")
    doc = _encoder.encode(entity)
    row = EntityRow(_key(kind, entity.id), project=entity.project, doc=doc, n=before.n + 1, deleted=now())
    change.put(row, Unmoved(before.n), moved)


def purge(kind: Kind, numbers: Iterable[int], *, whole: bool = True) -> None:
    """Remove rows for good. What is gone already is no error.

    Args:
        kind: the kind of entities.
        numbers: their ids.
        whole: they are all that one commit tells of; the mark of its batch goes with them. Without the mark, rows of
            the batch that were never changed would no longer be seen.
    """
    wanted = sorted(set(numbers))
    with EntityRow.batch_write() as rows:
        for number in wanted:
            rows.delete(EntityRow(_key(kind, number)))
    if whole:
        CounterRow(f"batch#{_key(kind, wanted[0])}", "@").delete()


def _key(kind: Kind, number: int) -> str:
    return f"{kind}#{number}"


class _Reader:
    """Makes entities of rows, for one call: it reads each type once, after the rows, so none of them is ahead of it."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._struct = STRUCT_OF[kind]
        self._revisions: dict[tuple[int, int], list[Revision]] = {}

    def stored(self, row: EntityRow) -> Stored[Any]:
        entity: Any = msgspec.json.decode(row.doc, type=self._struct)
        place = entity.project, entity.type
        if place not in self._revisions:
            found = records.find(TYPE_RECORD[self._kind], entity.project, padded(entity.type))
            # Of a type that is gone nobody asks for attributes any more.
            self._revisions[place] = found.revisions if found else []
        revisions = self._revisions[place]
        return Stored(up_to_date(entity, revisions) if revisions else entity, int(row.n))


def _committed(kind: Kind, batches: set[Any]) -> bool:
    for batch in batches:
        if batch is None or (kind, int(batch)) in _visible:
            continue
        try:
            CounterRow.get(f"batch#{_key(kind, int(batch))}", "@", consistent_read=True)
        except CounterRow.DoesNotExist:
            return False
        _remember(kind, int(batch))
    return True


def _remember(kind: Kind, batch: int) -> None:
    if len(_visible) >= _KNOWN_BATCHES:
        _visible.clear()
    _visible.add((kind, batch))


def _read_rows(keys: list[str]) -> list[EntityRow]:
    return list(EntityRow.batch_get(keys, consistent_read=True))


def _write_rows(rows: Sequence[EntityRow]) -> None:
    parts = [rows[start : start + ROWS_A_WRITE] for start in range(0, len(rows), ROWS_A_WRITE)]
    _in_parallel(_write_part, parts)


def _write_part(rows: Sequence[EntityRow]) -> None:
    table = EntityRow.Meta.table_name
    wanted: dict[str, Any] = {table: [{"PutRequest": {"Item": row.serialize()}} for row in rows]}
    for attempt in range(10):
        wanted = write_batch(wanted)
        if not wanted:
            return
        time.sleep(min(2.0, 0.05 * 2**attempt) * random.random())  # noqa: S311
    raise Unavailable("The database is too busy; nothing was created. Try again.")


def _in_parallel(do: Callable[[Any], Any], parts: Sequence[Any]) -> list[Any]:
    """Each part done, side by side where there are several: on AWS each call waits 5 ms for the network."""
    if len(parts) <= 1:
        return [do(part) for part in parts]
    return list(_pool.map(do, parts))
