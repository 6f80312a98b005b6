"""Entities: media, localizations, states, leaves and files, one row each, many millions.

A bulk creation writes its rows first, each with the name of its batch, and then one commit. Readers see none of them
before the commit and all of them after it. A change rewrites the row and commits in one transaction, so a row without a
batch is visible at once.

    pending|<kind>#<first id>   put before the rows, removed with the commit: the sweeper looks for it
    batch#<kind>#<first id>     put with the commit: the batch is visible
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Change, Edit
from chalicelib.core.log.edits import unlogged
from chalicelib.core.models.entities import Entity
from chalicelib.core.resource import Timestamp, now
from chalicelib.core.time.retry import CONFLICTS
from chalicelib.errors import Conflict, NotFound
from chalicelib.storage.dynamodb import ahead, entity_rows, retired
from chalicelib.storage.dynamodb.conditions import NEW, Unmoved
from chalicelib.storage.dynamodb.entity_rows import ROWS_A_READ, Reading, Stored
from chalicelib.storage.dynamodb.entity_rows import key as _key
from chalicelib.storage.dynamodb.tables import CounterRow, EntityRow, RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction, check_row

__all__ = ["ROWS_A_READ", "Stored"]

SMALL = 8
"""Up to this many new entities are written in one transaction: fewer calls, though each write unit counts twice."""
ROWS_A_SCAN = 1000
_KNOWN_BATCHES = 100_000
_encoder = msgspec.json.Encoder()
_visible: set[tuple[Kind, int]] = set()
"""Batches known to be committed; a committed batch stays committed."""


def get(kind: Kind, number: int) -> Any:
    """The visible entity with an id.

    Raises:
        NotFound: it does not exist, was deleted, or its creation was not committed.
    """
    return get_stored(kind, number).entity


def maybe(kind: Kind, number: int) -> Any | None:
    """The entity with an id; None if there is none, or it was deleted."""
    try:
        return get(kind, number)
    except NotFound:
        return None


def get_stored(kind: Kind, number: int) -> Stored[Any]:
    """The visible entity with its optimistic lock. Raises as `get`."""
    row = _row(kind, number)
    if row is None or row.deleted or not _is_committed(kind, {row.batch}):
        raise NotFound.of(kind.capitalize(), number)
    found = Reading(kind, [row]).seen().get(number)
    if found is None:
        raise NotFound.of(kind.capitalize(), number)
    return found


def _row(kind: Kind, number: int) -> EntityRow | None:
    is_read, row = ahead.pop(EntityRow, _key(kind, number))
    if is_read:
        return row
    return EntityRow.find(_key(kind, number))


def many(kind: Kind, numbers: Iterable[int]) -> dict[int, Stored[Any]]:
    """The visible entities among some ids, in the order of the ids."""
    wanted = list(dict.fromkeys(numbers))
    found = Reading(kind, _there(kind, wanted)).seen()
    return {number: found[number] for number in wanted if number in found}


def existing_ids(project: int, kind: Kind, numbers: Iterable[int]) -> set[int]:
    """The ids among some of which a project has a visible entity; cheaper than `many`."""
    return {each.id for each in _of_project(project, kind, numbers)}


def frame_counts(project: int, media: Iterable[int]) -> dict[int, int | None]:
    """The numbers of frames of the media that a project has among some ids; None where one is not known."""
    return {each.id: each.frame_count for each in _of_project(project, Kind.MEDIA, media)}


def _of_project(project: int, kind: Kind, numbers: Iterable[int]) -> list[Any]:
    found = Reading(kind, _there(kind, numbers), revised=False).seen()
    return [stored.entity for stored in found.values() if stored.entity.project == project]


def read_ahead(project: int, keys: Sequence[ahead.Key], kind: Kind, numbers: Sequence[int]) -> None:
    """Read some records of a project ahead, and what `of` needs for as many entities as one call takes."""
    wanted = [ahead.RowKey(RecordRow, key) for key in keys]
    if numbers:
        wanted.append(ahead.RowKey(RecordRow, retired.key(project)))
    rows = [ahead.RowKey(EntityRow, (_key(kind, number),)) for number in dict.fromkeys(numbers)]
    ahead.fetch([*wanted, *rows][:ROWS_A_READ])


def get_hidden(kind: Kind, numbers: Iterable[int]) -> dict[int, Stored[Any]]:
    """Entities hidden because their definition was deleted, and not yet tombstoned."""
    return Reading(kind, _there(kind, numbers)).hidden()


@dataclass(frozen=True, kw_only=True)
class Deleted:
    """A deleted entity whose row is kept.

    Attributes:
        stored: its last state.
        deleted: when it was deleted.
        is_hidden: whether one of its definitions was deleted, too.
    """

    stored: Stored[Any]
    deleted: Timestamp
    is_hidden: bool


def get_deleted(kind: Kind, numbers: Iterable[int]) -> dict[int, Deleted]:
    """The deleted entities among some ids whose rows are not purged yet."""
    rows = [row for row in entity_rows.read(kind, numbers) if row.deleted is not None]
    if not rows:
        return {}
    reading = Reading(kind, rows)
    hidden = reading.hidden()
    found = {**reading.seen(), **hidden}
    at = {entity_rows.number_of(row): row.deleted for row in rows}
    return {
        number: Deleted(stored=stored, deleted=at[number], is_hidden=number in hidden)
        for number, stored in found.items()
    }


def _there(kind: Kind, numbers: Iterable[int]) -> list[EntityRow]:
    """The rows that were neither deleted nor left behind by a failed creation."""
    rows = [row for row in entity_rows.read(kind, numbers) if row.deleted is None]
    unseen = {batch for batch in {row.batch for row in rows} if not _is_committed(kind, {batch})}
    return [row for row in rows if row.batch not in unseen] if unseen else rows


def of_project(project: int, *, retired: bool = False) -> Iterator[tuple[Kind, int, bytes]]:
    """The kind, id and document of every visible entity of a project, in no order.

    Scans the whole table: for repairs only. Commits made during the scan may or may not be included.

    Args:
        project: the project.
        retired: instead, return the entities hidden because their definition was deleted.
    """
    waiting: defaultdict[Kind, list[EntityRow]] = defaultdict(list)

    def find(kind: Kind) -> Iterator[tuple[Kind, int, bytes]]:
        reading = Reading(kind, waiting[kind])
        wanted = reading.hidden() if retired else reading.seen()
        for row in waiting.pop(kind):
            number = entity_rows.number_of(row)
            if number in wanted:
                yield kind, number, row.doc

    for row in EntityRow.scan(EntityRow.project == project, consistent_read=True):
        kind = Kind(row.pk.partition("#")[0])
        if not row.deleted and _is_committed(kind, {row.batch}):
            waiting[kind].append(row)
            if len(waiting[kind]) >= ROWS_A_SCAN:
                yield from find(kind)
    for kind in list(waiting):
        yield from find(kind)


def create(
    kind: Kind,
    created: Sequence[Entity],
    *,
    user: int | None,
    edits: list[Edit] | None = None,
    also: Callable[[Transaction], list[Change]] | None = None,
) -> None:
    """Store new entities of one project atomically.

    Their ids must be one unused block from `ids.reserve`. Call `growth.make_room` first, before any guard is taken.

    Args:
        kind: the kind of entities.
        created: the entities.
        user: id of the creating user.
        edits: entries of the change log.
        also: adds rows that must change with the creation to the transaction, at most 90, and their changes to
            the commit.
    """
    if not created:
        return
    project, first = created[0].project, created[0].id
    docs = [_encoder.encode(entity) for entity in created]
    for doc in docs:
        check_row(doc)
    changes = [Change(kind, entity.id, msgspec.Raw(doc)) for entity, doc in zip(created, docs, strict=True)]
    change = Transaction()
    if len(created) <= SMALL:
        for entity, doc in zip(created, docs, strict=True):
            row = EntityRow(_key(kind, entity.id), project=project, doc=doc, n=1)
            change.put(row, NEW)
    else:
        pending = CounterRow("pending", _key(kind, first), n=len(created), detail=now())
        pending.store()
        entity_rows.write(
            [
                EntityRow(_key(kind, entity.id), project=project, doc=doc, n=1, batch=first)
                for entity, doc in zip(created, docs, strict=True)
            ]
        )
        # The sweeper removes the mark of a batch that it took for abandoned; then nothing may become visible.
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
    edited: Callable[[Any], Entity | None],
    *,
    user: int | None,
    describe: Callable[[Any, Any], list[Edit]] | None = None,
    also: Callable[[Transaction, Any], None] | None = None,
) -> Any:
    """Apply an edit to the current entity and commit it; retry from a fresh read where the row changed meanwhile.

    Args:
        kind: the kind of entity.
        number: its id.
        edited: from the entity to the changed entity, a copy; None to leave it.
        user: id of the editing user.
        describe: from the entity before and after to the entries of the change log; without it the log has none.
        also: adds rows that must change with the entity to the transaction; gets the changed entity.

    Raises:
        NotFound: there is no visible entity with the id.
        Conflict: every attempt lost against another writer; nothing was changed.
    """
    for _ in CONFLICTS.attempts():
        before = get_stored(kind, number)
        after = edited(before.entity)
        if after is None:
            return before.entity
        change, moved, doc = Transaction(), _conflict(kind, number), _encoder.encode(after)
        rewrite(change, kind, before, after, doc, moved)
        change.log(
            after.project,
            user,
            [Change(kind, number, msgspec.Raw(doc))],
            describe(before.entity, after) if describe else [unlogged(kind, before.entity, after)],
        )
        if also:
            also(change, after)
        if change.run_unless(moved):
            return after
    raise Conflict(f"The {kind} {number} has too many concurrent updates; nothing was changed. Retry.")


def rewrite(
    change: Transaction, kind: Kind, before: Stored[Any], after: Entity, doc: bytes, moved: Conflict | None = None
) -> None:
    """Add the rewrite of a changed row to a transaction.

    Args:
        change: the transaction.
        kind: the kind of entity.
        before: the row as it was read.
        after: the changed entity.
        doc: its document.
        moved: what `run` raises where the row changed since it was read.
    """
    row = EntityRow(_key(kind, after.id), project=after.project, doc=doc, n=before.n + 1)
    change.put(row, Unmoved(before.n), moved or partial(_conflict, kind, after.id))


def _conflict(kind: Kind, number: int) -> Conflict:
    return Conflict(f"The {kind} {number} was changed by another request at the same time.")


def differs(before: Entity, after: Entity) -> bool:
    """Whether an edit changed an entity. Python's == alone takes 0 for false and 5 for 5.0."""
    return before != after or _encoder.encode(before) != _encoder.encode(after)


def insert(change: Transaction, kind: Kind, created: Entity, doc: bytes | None = None) -> None:
    """Add a new row to a transaction; it is visible with the commit. Its id must be unused, from `ids.reserve`."""
    document = _encoder.encode(created) if doc is None else doc
    row = EntityRow(_key(kind, created.id), project=created.project, doc=document, n=1)
    change.put(row, NEW)


def tombstone(change: Transaction, kind: Kind, before: Stored[Any]) -> None:
    """Add the deletion of a row to a transaction: readers no longer see it; a purge removes it later."""
    entity = before.entity
    doc = _encoder.encode(entity)
    row = EntityRow(_key(kind, entity.id), project=entity.project, doc=doc, n=before.n + 1, deleted=now())
    change.put(row, Unmoved(before.n), partial(_conflict, kind, entity.id))


def purge(kind: Kind, numbers: Iterable[int], *, whole: bool = True) -> None:
    """Delete rows from the table. Missing rows are no error.

    Args:
        kind: the kind of entities.
        numbers: their ids.
        whole: the rows are all the entities of one commit; delete the mark of its batch, too. Without the mark, rows of
            the batch that were never changed would no longer be seen.
    """
    wanted = sorted(set(numbers))
    with EntityRow.batch_write() as rows:
        for number in wanted:
            rows.delete(EntityRow(_key(kind, number)))
    if whole:
        CounterRow(f"batch#{_key(kind, wanted[0])}", "@").delete()


def _is_committed(kind: Kind, batches: set[Any]) -> bool:
    for batch in batches:
        if batch is None or (kind, int(batch)) in _visible:
            continue
        if CounterRow.find(f"batch#{_key(kind, int(batch))}", "@") is None:
            return False
        _remember(kind, int(batch))
    return True


def _remember(kind: Kind, batch: int) -> None:
    if len(_visible) >= _KNOWN_BATCHES:
        _visible.clear()
    _visible.add((kind, batch))
