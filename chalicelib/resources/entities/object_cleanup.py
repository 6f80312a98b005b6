"""Which objects are still needed: those that a media or a File names. The last to name one takes it along (§4.3).

An object lies in the folder of the media or File that it was uploaded for. Only a clone names objects in the folder of
another media, and which clones may is noted before they are made. So who names an object is read from the documents of
the folder's media and of its clones as they are, and no account of it can go wrong.

Whoever lets go of objects notes that in the transaction in which it does, and looks after it whether somebody else
names them. Of several who let go at the same time, the last to look finds nobody. What a crash left unlooked at stands
in the notes; `sweep` looks.

    object_cleanup.edit(kind, number, how, …)      as entities.edit; what the edit names no more goes
    object_cleanup.purge(project, kind, numbers)   as entities.purge; what no other document names goes
    object_cleanup.sweep(project)                  what a crash left
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from chalicelib.core import object_keys
from chalicelib.core.commits import Edit
from chalicelib.core.entities import File, Media
from chalicelib.core.kinds import Kind
from chalicelib.core.media_files import keys_of
from chalicelib.core.object_keys import ObjectKey, ObjectPrefix
from chalicelib.core.resource import timestamp
from chalicelib.storage.dynamodb import entities
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.objects import objects, owners

log = logging.getLogger("limn.ownership")

GRACE = timedelta(minutes=5)
"""How long a clone that was noted may take to be made: longer than a request."""


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What came of looking: objects that nobody names, and those whose clone is perhaps being made."""

    doomed: list[ObjectKey]
    unsure: list[ObjectKey]


@dataclass
class _LettingGo:
    """The objects that one attempt of an edit lets go, and the note of it."""

    keys: set[ObjectKey] = field(default_factory=set)
    note: str = ""


def named(entity: Media | File) -> set[ObjectKey]:
    """The keys of the objects that a media or a File names, of those that it may name."""
    if isinstance(entity, Media):
        return set(owners.authorize(entity, keys_of(entity.media_files)).values())
    key = owners.authorize_file(entity)
    return {key} if key else set()


def edit(
    kind: Kind,
    number: int,
    how: Callable[[Any], Any],
    *,
    user: int | None,
    describe: Callable[[Any, Any], list[Edit]] | None = None,
) -> Any:
    """Apply an edit to a media or a File as `entities.edit` does; objects that nobody names any more are removed."""
    going = _LettingGo()

    def followed(current: Any) -> Any:
        after = how(current)
        going.keys = named(current) - named(after) if after is not None else set()
        going.note = ""
        return after

    def noted(change: Transaction, after: Any) -> None:
        if going.keys:
            going.note = owners.release(change, after.project, going.keys)

    after = entities.edit(kind, number, followed, user=user, describe=describe, also=noted)
    if going.note:
        settle(after.project, going.note, going.keys)
    return after


def purge(
    project: int, kind: Kind, numbers: Iterable[int], *, but: ObjectPrefix | None = None, whole: bool = True
) -> None:
    """Remove rows for good, as `entities.purge`, and the objects that nobody else names.

    Args:
        project: where they were.
        kind: their kind.
        numbers: their ids.
        whole: they are all that one commit tells of.
        but: the beginning of keys whose objects are left, for they are removed otherwise.
    """
    wanted = list(numbers)
    going: set[ObjectKey] = set()
    folders: set[tuple[int, int, int]] = set()
    if kind in (Kind.MEDIA, Kind.FILE):
        for number, (entity, _) in owners.kept(kind, wanted).items():
            mine = named(entity)
            going |= {key for key in mine if not (but and but.holds(key))}
            if kind is Kind.MEDIA:
                folders |= {(owner[0], owner[2], number) for key in mine if (owner := object_keys.owner_of(key.path))}
    note = release(project, going)
    entities.purge(kind, wanted, whole=whole)
    for folder in folders:
        owners.unshare(*folder)
    settle(project, note, going)


def unneeded(project: int, wanted: Iterable[ObjectKey]) -> list[ObjectKey]:
    """Those of the objects of a project under purge, its media gone already, that no clone elsewhere needs."""
    given = list(wanted)
    return look(given).doomed if owners.has_clones(project) else given


def release(project: int, going: Iterable[ObjectKey], *, within: timedelta | None = None) -> str:
    """Note by itself that objects will be let go; the note's name, to be settled once they are.

    Args:
        project: whose objects.
        going: their keys.
        within: they are about to be made and named, and let go if that has not come about by then.
    """
    change = Transaction()
    wanted = list(going)
    after = timestamp(datetime.now(UTC) + within) if within else None
    note = owners.release(change, project, wanted, after=after) if wanted else ""
    change.run()
    return note


def settle(project: int, note: str, going: Iterable[ObjectKey]) -> None:
    """Remove what nobody names of the objects of a note. What goes wrong is left to a later `sweep`."""
    if not note:
        return
    try:
        found = look(going)
        objects.remove(found.doomed)
        if not found.unsure:
            owners.forget(project, note)
    except Exception:
        log.exception("objects of project %s are left to a later sweep", project, extra={"note": note})


def sweep(project: int) -> None:
    """Settle the notes that were left, as after a crash. Run now and then, and beside anything."""
    for note, going in owners.released(project):
        settle(project, note, going)


def look(wanted: Iterable[ObjectKey]) -> Needs:
    """Which of some objects no document names. One that is in no folder of a media or File is named by none."""
    folders: defaultdict[tuple[int, str, int] | None, list[ObjectKey]] = defaultdict(list)
    for key in wanted:
        folders[object_keys.owner_of(key.path)].append(key)
    found = Needs(doomed=folders.pop(None, []), unsure=[])
    for owner, inside in folders.items():
        if owner is None or not inside:
            continue
        project, kind, number = owner
        if kind == Kind.FILE:
            found.doomed.extend(set(inside) - _named_by_file(number))
        else:
            needed, is_unsure = _named_by_media(project, number)
            (found.unsure if is_unsure else found.doomed).extend(set(inside) - needed)
    return found


def _named_by_file(number: int) -> set[ObjectKey]:
    entity, deleted = owners.kept(Kind.FILE, [number]).get(number, (None, True))
    return set() if entity is None or deleted else named(entity)


def _named_by_media(project: int, number: int) -> tuple[set[ObjectKey], bool]:
    """What a media and its clones name, deleted ones too until they are purged; whether more may come."""
    noted = owners.clones(project, number)
    rows = owners.kept(Kind.MEDIA, [number, *noted])
    needed = {key for entity, _ in rows.values() for key in named(entity)}
    is_unsure = False
    for clone, moment in noted.items():
        if clone in rows:
            continue
        if datetime.now(UTC) - datetime.fromisoformat(moment) < GRACE:
            is_unsure = True
        else:
            owners.unshare(project, number, clone)
    return needed, is_unsure
