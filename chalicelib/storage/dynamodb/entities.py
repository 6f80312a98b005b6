"""Entities: media, localizations, states, leaves and files, one row each, many millions.

A creation of many writes its rows first, each naming the batch it belongs to, and then one commit: until then nobody
sees any of them, afterwards everybody sees all. A change rewrites the row and commits in one transaction, so a row
without a batch is visible by itself.

    pending|<kind>#<first id>   put before the rows, removed with the commit: what a sweeper looks for
    batch#<kind>#<first id>     put with the commit: the batch is visible
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from chalicelib.core.commits import Change, Edit
from chalicelib.core.entities import Entity
from chalicelib.core.kinds import Kind
from chalicelib.core.resource import now
from chalicelib.core.retry import CONFLICTS
from chalicelib.errors import Conflict, NotFound
from chalicelib.storage.dynamodb import entity_rows
from chalicelib.storage.dynamodb.entity_rows import ROWS_A_READ, Reading, Stored
from chalicelib.storage.dynamodb.entity_rows import key as _key
from chalicelib.storage.dynamodb.tables import CounterRow, EntityRow, Unmoved
from chalicelib.storage.dynamodb.transactions import Transaction

__all__ = ["ROWS_A_READ", "Stored"]

SMALL = 8
"""Up to so many new entities go into one transaction: fewer calls, though each write unit counts twice."""
ROWS_A_SCAN = 1000
_KNOWN_BATCHES = 100_000
_encoder = msgspec.json.Encoder()
_visible: set[tuple[Kind, int]] = set()
"""Batches known to be committed: once so, they stay so."""


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
    found = Reading(kind, [row]).seen().get(number)
    if found is None:
        raise NotFound.of(kind.capitalize(), number)
    return found


def many(kind: Kind, numbers: Iterable[int]) -> dict[int, Stored[Any]]:
    """Those of the entities that readers may see, by id, in the order they were asked for."""
    wanted = list(dict.fromkeys(numbers))
    found = Reading(kind, _there(kind, wanted)).seen()
    return {number: found[number] for number in wanted if number in found}


def retired(kind: Kind, numbers: Iterable[int]) -> dict[int, Stored[Any]]:
    """Those that readers do not see because they went with a definition, and that nobody has buried yet."""
    return Reading(kind, _there(kind, numbers)).hidden()


def _there(kind: Kind, numbers: Iterable[int]) -> list[EntityRow]:
    """The rows that were neither deleted nor left behind by a creation that failed."""
    rows = [row for row in entity_rows.read(kind, numbers) if row.deleted is None]
    unseen = {batch for batch in {row.batch for row in rows} if not _committed(kind, {batch})}
    return [row for row in rows if row.batch not in unseen]


def of_project(project: int, *, retired: bool = False) -> Iterator[tuple[Kind, int, bytes]]:
    """The kind, id and document of everything of a project that readers may see, in no order.

    Reads the whole table, for a repair only. What is committed while it runs may be in it or not.

    Args:
        project: the project.
        retired: give instead what they do not see because it went with a definition.
    """
    waiting: defaultdict[Kind, list[EntityRow]] = defaultdict(list)

    def found(kind: Kind) -> Iterator[tuple[Kind, int, bytes]]:
        reading = Reading(kind, waiting[kind])
        wanted = reading.hidden() if retired else reading.seen()
        for row in waiting.pop(kind):
            number = entity_rows.number_of(row)
            if number in wanted:
                yield kind, number, row.doc

    for row in EntityRow.scan(EntityRow.project == project, consistent_read=True):
        kind = Kind(row.pk.partition("#")[0])
        if not row.deleted and _committed(kind, {row.batch}):
            waiting[kind].append(row)
            if len(waiting[kind]) >= ROWS_A_SCAN:
                yield from found(kind)
    for kind in list(waiting):
        yield from found(kind)


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
        entity_rows.write(
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
    for _ in CONFLICTS.attempts():
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
