"""Delete a type or a version with its entities: at once for all readers, and row by row in the background.

    1. the continuation     a message, received after a minute
    2. the entities         an object: their ids, from the view
    3. the definition       removed, with references to it, and recorded as retired: one transaction, one commit
    4. every part           when the message arrives, rows are deleted with their entries in the change log
    5. later entities       are deleted too: they are in the log after the list of step 2
    6. a while later        step 5 again: every request that had read the definition before has ended by then
    7. at the end           the retired record and the object are removed

After step 3 no reader sees the entities. Views drop them when they reach the commit, and ignore later ones
(`storage/view/deleted_definitions.py`); readers of rows check the retired record (`storage/dynamodb/retired.py`). A
crash before step 3 leaves no effect. Every step from 4 on is idempotent.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED, Scope
from chalicelib.core.kinds import TYPE_OF, DefinitionKind, Kind
from chalicelib.core.log.commits import Commit
from chalicelib.core.log.edits import deleted
from chalicelib.core.models.accounts import MEMBERSHIP
from chalicelib.core.models.definitions import TYPE_RECORD, VERSION
from chalicelib.core.permissions import Level
from chalicelib.core.records import RecordKind
from chalicelib.errors import NotFound, Unavailable
from chalicelib.query.operators import Op
from chalicelib.query.tree import Query, Related, Test, Tree
from chalicelib.queues import SETTLED, send
from chalicelib.resources.types.messages import DeleteRetired
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, records, retired, steps
from chalicelib.storage.dynamodb.retired import Retired
from chalicelib.storage.dynamodb.steps import RowChange
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import archive, intents
from chalicelib.storage.log.intents import Intent

LATER = 900
"""Seconds after which every request that read a definition before its deletion has ended: Lambda ends its functions."""
ROWS_PER_COMMIT = steps.MOST_STEPS
"""Rows of one commit."""
COMMITS_PER_CHECK = 200
"""Commits that are searched between two checks of the deadline."""
MOST_NAMING = 80
"""Records that are updated in the transaction that removes the definition; the queue function updates the others."""
DEFAULTS = ("default_box", "default_line", "default_dot", "default_localization")
_RECORD: dict[DefinitionKind, RecordKind[Any]] = {
    **{TYPE_OF[kind]: record for kind, record in TYPE_RECORD.items()},
    DefinitionKind.VERSION: VERSION,
}
_encode = msgspec.json.Encoder().encode
_decoder = msgspec.json.Decoder(list[tuple[Kind, list[int]]])
Naming = tuple[RecordKind[Any], int, Callable[[Any], Any]]
"""A record that names a definition: its kind, its id, and its change."""


def delete_type(kind: Kind, project: int, number: int, scope: Scope) -> int:
    """Delete a type with its entities; for media types, with the annotations on their media.

    Returns:
        how many live entities of the type there were.

    Raises:
        NotFound: it is deleted already.
        Forbidden: the caller may not delete every entity.
        Conflict: other requests keep changing types or references to this one; nothing was changed.
    """
    live = Query(kind=kind, where=Test("type", Op.EQ, number), merge=False)

    def attempt() -> int:
        before = retired.current(project)
        view = view_queries.current(project)
        _check_type(scope, kind, project, number)
        count = view_queries.count(view, live, UNRESTRICTED)
        _retire(project, view, before, TYPE_OF[kind], number, scope.caller.id)
        return count

    return steps.retry_on_conflict(attempt)


def delete_version(project: int, number: int, scope: Scope) -> None:
    """Delete a version with its localizations and states. Raises as `delete_type`."""

    def attempt() -> None:
        before = retired.current(project)
        for each in (Kind.LOCALIZATION, Kind.STATE):
            view_queries.check_reach(project, _all(each, Test("version", Op.EQ, number)), scope)
        _retire(project, view_queries.current(project), before, DefinitionKind.VERSION, number, scope.caller.id)

    steps.retry_on_conflict(attempt)


def _check_type(scope: Scope, kind: Kind, project: int, number: int) -> None:
    """Raise Forbidden if a type has entities that the caller may not delete."""
    of_type = Test("type", Op.EQ, number)
    view_queries.check_reach(project, _all(kind, of_type), scope.for_level(Level.EDIT))
    if kind is Kind.MEDIA:
        for each in (Kind.LOCALIZATION, Kind.STATE):
            view_queries.check_reach(project, _all(each, Related(Kind.MEDIA, of_type)), scope.for_level(Level.EDIT))


def _all(kind: Kind, where: Tree) -> Query:
    return Query(kind=kind, where=where, merge=False, show_deleted=True, show_all_marks=True)


def _retire(
    project: int, view: view_queries.View, before: retired.Standing, kind: DefinitionKind, number: int, user: int
) -> None:
    """Remove a definition that existed when the view was brought up to date, after `before` was read."""
    seq, going = view.ids_of_definition(kind, number)
    intent = intents.new_intent(project)
    message = DeleteRetired(id=uuid.uuid4().hex, project=project, name=intent.name, key=intent.key)
    send(settings().purge_queue_url, message, delay=SETTLED)
    intents.fill(intent, _encode(list(going.items())))
    change = Transaction()
    records.drop(change, _RECORD[kind], records.get(_RECORD[kind], number), user=user)
    retired.add(change, project, before, Retired(kind=kind, id=number, name=intent.name, seq=seq, user=user))
    for naming_kind, naming, without in islice(_find_naming(project, kind, number), MOST_NAMING):
        records.change(change, naming_kind, naming, without, user=user)
    change.run()


def _find_naming(project: int, definition_kind: DefinitionKind, number: int) -> Iterator[Naming]:
    """The records of a project that name a deleted definition."""
    known = records.definitions(project)
    if definition_kind is DefinitionKind.MEDIA_TYPE:
        for kind in (Kind.LOCALIZATION, Kind.STATE):
            yield from _change(TYPE_RECORD[kind], known.types(kind).values(), _without("media", number))
    elif definition_kind is DefinitionKind.LOCALIZATION_TYPE:
        for kind in (Kind.MEDIA, Kind.STATE):
            yield from _change(TYPE_RECORD[kind], known.types(kind).values(), _without_default(number))
    elif definition_kind is DefinitionKind.VERSION:
        others = [version for version in known.versions.values() if version.id != number]
        yield from _change(VERSION, others, _without("bases", number))
        yield from _change(MEMBERSHIP, records.list_children(MEMBERSHIP, project), _without_version(number))


def _change(kind: RecordKind[Any], found: Any, without: Callable[[Any], Any]) -> Iterator[Naming]:
    return ((kind, record.id, without) for record in found if without(record) != record)


def _without(member: str, number: int) -> Callable[[Any], Any]:
    def without(current: Any) -> Any:
        left = [each for each in getattr(current, member) if each != number]
        return msgspec.structs.replace(current, **{member: left})

    return without


def _without_default(number: int) -> Callable[[Any], Any]:
    def without(current: Any) -> Any:
        named = [name for name in DEFAULTS if getattr(current, name, None) == number]
        return msgspec.structs.replace(current, **dict.fromkeys(named))

    return without


def _without_version(number: int) -> Callable[[Any], Any]:
    def without(membership: Any) -> Any:
        own = membership.default_version
        return msgspec.structs.replace(membership, default_version=None if own == number else own)

    return without


def list_entities(project: int, entry: Retired) -> list[tuple[Kind, list[int]]]:
    """The entities of a deleted definition as of its deletion; none once all their rows are deleted."""
    body = intents.read(intents.intent_of(project, entry.name))
    return _decoder.decode(body) if body else []


# --- deleting the rows ----------------------------------------------------------------------------------------------


def delete_entities(message: DeleteRetired, seconds: float) -> None:
    """Delete the entities of a deleted definition for at most some seconds; the rest is queued."""
    intent = Intent(name=message.name, key=message.key)
    entry = retired.current(message.project).find(message.name)
    if entry is None:  # nothing was begun, or all is done
        intents.drop(intent)
        return
    end = time.monotonic() + seconds
    removal = _Removal(message, entry)
    for _ in removal.steps(intent):
        if time.monotonic() > end:
            _order(msgspec.structs.replace(message, done=removal.done, seen=removal.seen), 0)
            return
    if message.last:
        retired.remove_entry(message.project, message.name)
        intents.drop(intent)
    else:
        _order(msgspec.structs.replace(message, done=removal.done, seen=removal.seen, last=True), LATER)


def _order(message: DeleteRetired, delay: int) -> None:
    send(settings().purge_queue_url, msgspec.structs.replace(message, id=uuid.uuid4().hex), delay=delay)


class _Removal:
    """One delivery of a deletion.

    Attributes:
        done: how many ids of the list are processed.
        seen: the last commit of the log that was searched for later entities.
    """

    def __init__(self, message: DeleteRetired, entry: Retired) -> None:
        self._project = message.project
        self._entry = entry
        self.done = message.done
        self.seen = max(message.seen, entry.seq)

    def steps(self, intent: Intent) -> Iterator[None]:
        """Run all steps, with a pause after each part."""
        self._forget()
        yield from self._delete_listed(intent)
        yield from self._delete_later()

    def _forget(self) -> None:
        """Remove the definition from records that did not fit into the transaction."""
        for kind, number, without in _find_naming(self._project, self._entry.kind, self._entry.id):
            try:
                records.edit(kind, number, without, user=self._entry.user)
            except NotFound:
                continue

    def _delete_listed(self, intent: Intent) -> Iterator[None]:
        body = intents.read(intent)
        if body is None:
            raise Unavailable("The list of the rows to delete is missing.", intent.key)
        start = 0
        for kind, numbers in _decoder.decode(body):
            while self.done < start + len(numbers):
                part = numbers[self.done - start :][:ROWS_PER_COMMIT]
                self._delete_part(kind, part)
                self.done += len(part)
                yield
            start += len(numbers)

    def _delete_later(self) -> Iterator[None]:
        """Delete entities in the log after the list: requests that were in progress wrote them."""
        kinds = set(Kind) if self._entry.kind is DefinitionKind.MEDIA_TYPE else _kinds_of(self._entry.kind)
        waiting: dict[Kind, list[int]] = {kind: [] for kind in kinds}
        for count, commit in enumerate(archive.history(self._project, after=self.seen), 1):
            for kind, number in _entities_of(commit):
                if kind in waiting:
                    waiting[kind].append(number)
            if count % COMMITS_PER_CHECK == 0 or max(map(len, waiting.values())) >= ROWS_PER_COMMIT:
                self._delete_all(waiting)
                self.seen = commit.seq
                yield
        self._delete_all(waiting)

    def _delete_all(self, waiting: dict[Kind, list[int]]) -> None:
        for kind, numbers in waiting.items():
            wanted = sorted(set(numbers))
            for start in range(0, len(wanted), ROWS_PER_COMMIT):
                self._delete_part(kind, wanted[start : start + ROWS_PER_COMMIT])
            numbers.clear()

    def _delete_part(self, kind: Kind, numbers: list[int]) -> None:
        def delete(part: Sequence[int]) -> None:
            done = [RowChange(kind, row, None) for row in entities.get_hidden(kind, part).values()]
            gone = [step.before.entity.id for step in done if step.before]
            steps.apply(self._project, done, user=self._entry.user, edits=[deleted(kind, gone)])

        steps.in_parts(numbers, delete)


def _kinds_of(definition_kind: DefinitionKind) -> set[Kind]:
    if definition_kind is DefinitionKind.VERSION:
        return {kind for kind in Kind if kind.is_annotation}
    return {kind for kind, definition in TYPE_OF.items() if definition is definition_kind}


def _entities_of(commit: Commit) -> Iterator[tuple[Kind, int]]:
    """The entities that a commit created or changed."""
    for change in commit.changes:
        if not change.is_definition and not change.is_gone:
            yield Kind(change.kind), change.id
    for edit in commit.edits:
        if edit.new.get("_deleted") is not True:
            for number in edit.ids:
                yield edit.kind, number
