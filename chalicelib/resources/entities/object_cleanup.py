"""Delete objects that no media or File names any more.

An object is stored in the folder of the media or File that it was uploaded for. Only clones name objects in the folder
of another media, and each clone is recorded before it is created. The documents of the folder's media and of its
clones therefore show which objects are in use; there is no reference count that could be wrong.

A change that releases objects records that in its own transaction, and checks afterwards whether another document
names them. If several changes release an object at the same time, the last check finds no reference. `sweep` finishes
records that a crash left behind.

    object_cleanup.edit(kind, number, edited, …)   as entities.edit; deletes objects that are no longer named
    object_cleanup.purge(project, kind, numbers)   as entities.purge; deletes objects that no other document names
    object_cleanup.sweep(project)                  finishes after a crash
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from chalicelib.core.keys import key_forms
from chalicelib.core.keys.object_keys import ObjectKey, ObjectPrefix
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Edit
from chalicelib.core.models.entities import File, Media
from chalicelib.core.models.media_files import keys_of
from chalicelib.core.resource import timestamp
from chalicelib.core.time import clock
from chalicelib.storage.dynamodb import entities
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.objects import objects, owners

log = logging.getLogger("limn.ownership")

GRACE = timedelta(minutes=5)
"""How long the creation of a recorded clone may take: longer than a request."""


@dataclass(frozen=True, kw_only=True)
class Needs:
    """The result of a check: objects without references, and objects whose clone may still be in creation."""

    doomed: list[ObjectKey]
    unsure: list[ObjectKey]


@dataclass
class _LettingGo:
    """The objects that one attempt of an edit releases, the record of it, and the entity before the edit."""

    keys: set[ObjectKey] = field(default_factory=set)
    note: str = ""
    before: Any = None


def object_keys_of(entity: Media | File) -> set[ObjectKey]:
    """The keys of the objects that a media or a File names, if it may name them."""
    if isinstance(entity, Media):
        return set(owners.authorize(entity, keys_of(entity.media_files)).values())
    key = owners.authorize_file(entity)
    return {key} if key else set()


def _removable(keys: set[ObjectKey]) -> set[ObjectKey]:
    """Without objects of others that media refer to where they lie."""
    return {key for key in keys if not key.is_reference}


def edit(
    kind: Kind,
    number: int,
    edited: Callable[[Any], Any],
    *,
    user: int | None,
    describe: Callable[[Any, Any], list[Edit]] | None = None,
    also: Callable[[Transaction, Any, Any], None] | None = None,
) -> Any:
    """Apply an edit to a media or a File as `entities.edit` does; delete objects that are no longer named.

    `also` adds items to the transaction; it gets the entity before and after.
    """
    going = _LettingGo()

    def follow(current: Any) -> Any:
        after = edited(current)
        going.keys = _removable(object_keys_of(current) - object_keys_of(after)) if after is not None else set()
        going.note = ""
        going.before = current
        return after

    def add_note(change: Transaction, after: Any) -> None:
        if also:
            also(change, going.before, after)
        if going.keys:
            going.note = owners.release(change, after.project, going.keys)

    after = entities.edit(kind, number, follow, user=user, describe=describe, also=add_note)
    if going.note:
        delete_released(after.project, going.note, going.keys)
    return after


def purge(
    project: int, kind: Kind, numbers: Iterable[int], *, but: ObjectPrefix | None = None, whole: bool = True
) -> None:
    """Remove rows permanently, as `entities.purge`, with the objects that no other document names.

    Args:
        project: their project.
        kind: their kind.
        numbers: their ids.
        whole: whether they are all rows of one commit.
        but: prefix of keys whose objects are kept, because they are deleted elsewhere.
    """
    wanted = list(numbers)
    going: set[ObjectKey] = set()
    folders: set[tuple[int, int, int]] = set()
    if kind in (Kind.MEDIA, Kind.FILE):
        for number, (entity, _) in owners.get_owners(kind, wanted).items():
            mine = object_keys_of(entity)
            going |= {key for key in _removable(mine) if not (but and but.holds(key))}
            if kind is Kind.MEDIA:
                folders |= {(owner[0], owner[2], number) for key in mine if (owner := key_forms.owner_of(key.path))}
    note = release(project, going)
    entities.purge(kind, wanted, whole=whole)
    for folder in folders:
        owners.unshare(*folder)
    delete_released(project, note, going)


def find_unneeded(project: int, wanted: Iterable[ObjectKey]) -> list[ObjectKey]:
    """The objects of a project under purge, its media removed already, that no clone elsewhere needs."""
    given = list(wanted)
    return find_unreferenced(given).doomed if owners.has_clones(project) else given


def release(project: int, going: Iterable[ObjectKey], *, within: timedelta | None = None) -> str:
    """Record that objects will be released, without a change of a document. Returns the record's name, for `settle`.

    Args:
        project: the project of the objects.
        going: their keys.
        within: the objects are about to be created and named; they are released if that does not happen in this time.
    """
    change = Transaction()
    wanted = list(going)
    after = timestamp(clock.utc_now() + within) if within else None
    note = owners.release(change, project, wanted, after=after) if wanted else ""
    change.run()
    return note


def delete_released(project: int, note: str, going: Iterable[ObjectKey]) -> None:
    """Delete the objects of a record that no document names. Errors are left to a later `sweep`."""
    if not note:
        return
    try:
        found = find_unreferenced(going)
        objects.remove(found.doomed)
        if not found.unsure:
            owners.forget(project, note)
    except Exception:
        log.exception("objects of project %s are left to a later sweep", project, extra={"note": note})


def sweep(project: int) -> None:
    """Settle the records that a crash left behind. Runs periodically; safe beside any other change."""
    for note, going in owners.due_notes(project):
        delete_released(project, note, going)


def find_unreferenced(wanted: Iterable[ObjectKey]) -> Needs:
    """The given objects that no document names, including those outside the folder of any media or File."""
    folders: defaultdict[tuple[int, str, int] | None, list[ObjectKey]] = defaultdict(list)
    for key in wanted:
        folders[key_forms.owner_of(key.path)].append(key)
    found = Needs(doomed=folders.pop(None, []), unsure=[])
    for owner, inside in folders.items():
        if owner is None or not inside:
            continue
        project, kind, number = owner
        if kind == Kind.FILE:
            found.doomed.extend(set(inside) - _keys_of_file(number))
        else:
            needed, is_unsure = _keys_of_media(project, number)
            (found.unsure if is_unsure else found.doomed).extend(set(inside) - needed)
    return found


def _keys_of_file(number: int) -> set[ObjectKey]:
    entity, deleted = owners.get_owners(Kind.FILE, [number]).get(number, (None, True))
    return set() if entity is None or deleted else object_keys_of(entity)


def _keys_of_media(project: int, number: int) -> tuple[set[ObjectKey], bool]:
    """The keys that a media and its clones name, deleted ones included until their purge; whether more may follow."""
    noted = owners.clones(project, number)
    rows = owners.get_owners(Kind.MEDIA, [number, *noted])
    needed = {key for entity, _ in rows.values() for key in object_keys_of(entity)}
    is_unsure = False
    for clone, moment in noted.items():
        if clone in rows:
            continue
        if clock.utc_now() - datetime.fromisoformat(moment) < GRACE:
            is_unsure = True
        else:
            owners.unshare(project, number, clone)
    return needed, is_unsure
