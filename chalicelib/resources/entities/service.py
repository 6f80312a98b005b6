"""Functions that all operations on localizations and states share: writer, definitions, marks.

    entities/service         the writer, definitions, authors, the rows of elements
    annotations/creation     create up to 500 at once
    annotations/edits        change and delete one
    annotations/bulk_edits   change and delete many
    annotations/tracks       the members of states

The rows of one element depend on each other. A change therefore reads all rows it needs, plans a step for each, and
applies the steps in one transaction (`storage/dynamodb/steps.py`); after a conflict it plans again.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED, Scope
from chalicelib.access.view_queries import all_rows
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Edit
from chalicelib.core.log.edits import deleted, unseen
from chalicelib.core.models.accounts import USER
from chalicelib.core.models.definitions import TYPE_RECORD, VERSION
from chalicelib.core.models.marks import Identity, identity, settled
from chalicelib.core.permissions import Level, Permission, name_of_level
from chalicelib.core.records import padded
from chalicelib.core.resource import Resource, now
from chalicelib.errors import BadInput, Conflict, Forbidden, NotFound
from chalicelib.query.operators import Op
from chalicelib.query.tree import Test
from chalicelib.resources.bulk.changes import BulkChange
from chalicelib.storage.dynamodb import entities, records, steps
from chalicelib.storage.dynamodb.entities import Stored
from chalicelib.storage.dynamodb.steps import Guard, RowChange

LEVEL_TO_CHANGE: dict[Kind, Level] = {
    Kind.MEDIA: Level.EDIT,
    Kind.LOCALIZATION: Level.EDIT,
    Kind.STATE: Level.EDIT,
    Kind.LEAF: Level.FULL,
    Kind.FILE: Level.EXECUTE,
}
"""The level that a change of one entity needs. Operations on several kinds check it, too."""


MOST_NAMED = 10
"""Types that a message names."""


class _Call(Protocol):
    """The caller of an operation; `http` is not imported here, because queue functions import this module."""

    @property
    def project(self) -> int: ...
    @property
    def level(self) -> Level: ...
    @property
    def scope(self) -> Scope: ...


@dataclass(frozen=True, kw_only=True)
class Writer:
    """A user who writes in a project: their level there, and the scope of the request."""

    project: int
    user: int
    level: Level
    scope: Scope

    @classmethod
    def from_call(cls, call: _Call) -> Writer:
        """The caller as a writer in the project addressed."""
        return cls(project=call.project, user=call.scope.caller.id, level=call.level, scope=call.scope)

    def to_change(self, kind: Kind) -> Writer:
        """The writer for changes of a kind, which may need a higher level than the operation.

        With fine-grained permissions the check of each row refuses those on which the level is too low.

        Raises:
            Forbidden: the caller's level is too low for the kind.
        """
        needed = max(LEVEL_TO_CHANGE[kind], self.scope.needed)
        if not self.scope.is_restricted and self.level < needed:
            name, held = (name_of_level(Permission.VIEW, level) for level in (needed, self.level))
            raise Forbidden(f"kind: the change of a {kind} needs {name!r}, and you have {held!r}.")
        return replace(self, scope=self.scope.for_level(needed))

    def bulk_change(
        self, kind: Kind, verb: str, numbers: Iterable[int], body: Any = None, **members: Any
    ) -> BulkChange:
        """A change of many entities by the writer; with `body`, of the attributes that it sets, resets and clears."""
        if body is not None:
            members |= {
                "attributes": body.attributes, "reset": body.reset_attributes, "nulls": body.null_attributes
            }  # fmt: skip
        return BulkChange(kind=kind, project=self.project, user=self.user, verb=verb, numbers=list(numbers), **members)

    def apply(self, done: Sequence[RowChange], edits: list[Edit], guarded: Guard | None = None) -> None:
        """Apply steps for the caller, all or none (`steps.apply`), if they may write every row before and after.

        Raises:
            Forbidden: their level on one of the rows is too low.
            Conflict: another request changed a row first.
        """
        self.check(done)
        steps.apply(self.project, done, user=self.user, edits=edits, guarded=guarded)

    def check(self, done: Sequence[RowChange]) -> None:
        """Raise Forbidden for steps on rows that the caller may not write."""
        if not self.scope.is_restricted:
            return
        for kind in {step.kind for step in done}:
            mine = [step for step in done if step.kind is kind]
            before = [step.before.entity for step in mine if step.before]
            self.scope.check(kind, [*before, *(step.after for step in mine if step.after)])

    def authorship(self) -> dict[str, Any]:
        """The members that record the author and time of a change."""
        return {"modified_by": self.user, "modified_datetime": now()}


def types_of(kind: Kind, project: int, numbers: Iterable[int]) -> dict[int, Any]:
    """The types of a kind of entity that the project has, by id, in one call."""
    return records.find_many(TYPE_RECORD[kind], project, map(padded, set(numbers)))


def unknown_type(kind: Kind, project: int, number: int) -> str:
    """The rule for an id that is not a type of the project; it names those that are."""
    known = sorted(records.list_children(TYPE_RECORD[kind], project), key=lambda each: each.id)
    shown = ", ".join(f"{each.id} {each.name!r}" for each in known[:MOST_NAMED])
    more = f" and {len(known) - MOST_NAMED} others" if len(known) > MOST_NAMED else ""
    return f"type: the project has no {kind} type {number}; it has {shown or 'none'}{more}."


def type_of(kind: Kind, project: int, number: int) -> Any:
    """The type of an entity, in one call. Raises BadInput if it is deleted."""
    found = types_of(kind, project, [number])
    if not found:
        raise BadInput(f"type: the {kind} type {number} does not exist any more.")
    return found[number]


def check_version(project: int, number: int) -> None:
    """Raise NotFound unless the version belongs to the project."""
    if records.find(VERSION, project, padded(number)) is None:
        raise NotFound.of("Version", number)


ATTRIBUTE_CHANGES = ("attributes", "reset_attributes", "null_attributes")
"""The members that change attributes."""


def check_change(body: Resource, names: Sequence[str]) -> None:
    """Raise BadInput for a bulk change without a member that changes entities."""
    if all(getattr(body, name) is None for name in names):
        raise BadInput(f"Nothing to change: give one of {', '.join(names)}.")


def author(writer: Writer, elemental_id: str | None) -> int | None:
    """The user that `user_elemental_id` names as the author; None if it is not given.

    Raises:
        Forbidden: the writer lacks full control.
        NotFound: the user does not exist.
    """
    if elemental_id is None:
        return None
    if writer.level < Level.FULL:
        raise Forbidden("user_elemental_id: only full control of the project lets you name another author.")
    user = records.get_claimed(USER, "elemental_id", uuid_text(elemental_id))
    if user is None:
        raise NotFound.of("User", elemental_id)
    return user.id


def uuid_text(text: str) -> str:
    """A UUID in its stored form."""
    return str(uuid.UUID(text))


def parent_of(kind: Kind, project: int, given: float) -> int:
    """The id for a `parent`. Raises BadInput or NotFound."""
    if given != int(given):
        raise BadInput(f"parent: {given} is not an id.")
    if int(given) not in find_existing(kind, project, [int(given)]):
        raise NotFound.of(kind.capitalize(), int(given))
    return int(given)


def find_existing(kind: Kind, project: int, numbers: Collection[int]) -> set[int]:
    """The given ids that are entities of the project.

    Read by key if one call suffices: the view would first load all recent writes, which a creation does not need.
    """
    if len(numbers) > entities.ROWS_A_READ and view_queries.loaded(project):
        view = view_queries.current(project)
        return view.exists(kind, numbers)
    return entities.existing_ids(project, kind, numbers)


def frame_counts(project: int, media: Collection[int]) -> dict[int, int | None]:
    """The numbers of frames of those media that the project has; None where one is not known. Read as above."""
    if len(media) > entities.ROWS_A_READ and view_queries.loaded(project):
        query = all_rows(Kind.MEDIA, Test("id", Op.IN, tuple(media)))
        return dict(view_queries.pairs(view_queries.current(project), query, UNRESTRICTED, "num_frames"))
    return entities.frame_counts(project, media)


# --- elements ------------------------------------------------------------------------------------------------------


def rows_of(kind: Kind, project: int, identities: Iterable[Identity]) -> dict[Identity, list[Stored[Any]]]:
    """The current rows of live elements, by element, with their locks.

    Raises:
        Conflict: an element changed while it was read: none of its rows is the latest, or several are. If the element
            has new rows that the view lacks, the same commit made the earlier rows no longer the latest.
    """
    wanted = set(identities)
    if not wanted:
        return {}
    versions = tuple({version for version, _ in wanted})
    elements = tuple({element for _, element in wanted})
    query = all_rows(kind, Test("elemental_id", Op.IN, elements), Test("version", Op.IN, versions))
    found: dict[Identity, list[Stored[Any]]] = {each: [] for each in wanted}
    for row in entities.many(kind, view_queries.ids(view_queries.current(project), query, UNRESTRICTED)).values():
        if (element := identity(row.entity)) in found:
            found[element].append(row)
    for (version, name), rows in found.items():
        if rows and sum(row.entity.latest for row in rows) != 1:
            raise Conflict(f"The {kind} {name} of version {version} is being changed by another request.")
    return found


def mark_of(kind: Kind, project: int, element: Identity, mark: int | None) -> Any:
    """The row of an element with a mark, or its latest for None, including tombstones. None if it does not exist."""
    rows = steps.retry_on_conflict(lambda: rows_of(kind, project, [element])[element])
    fitting = (row.entity for row in rows if mark is None or row.entity.mark == mark)
    return max(fitting, key=lambda row: (row.mark, row.id), default=None)


def latest_of(kind: Kind, project: int, element: Identity) -> Stored[Any] | None:
    """The latest row of an element, including tombstones; None if it has no rows."""
    rows = rows_of(kind, project, [element])[element]
    return max(rows, key=lambda row: (row.entity.mark, row.entity.id), default=None)


def current_mark(kind: Kind, row: Stored[Any], *, pedantic: bool = False) -> Stored[Any]:
    """The row itself if it is the latest of its element, else the latest, which may be a tombstone.

    Raises:
        BadInput: it is not the latest, and the caller is pedantic.
    """
    entity = row.entity
    if entity.latest:
        return row
    refuse_stale(entity, pedantic=pedantic)
    return latest_of(kind, entity.project, identity(entity)) or row


def live_mark(kind: Kind, row: Stored[Any]) -> Stored[Any]:
    """The same, of an element that was not deleted. Raises NotFound: a restore brings it back, not a change."""
    latest = current_mark(kind, row)
    if latest.entity.variant_deleted:
        raise NotFound.of(kind.capitalize(), row.entity.id)
    return latest


def refuse_stale(entity: Any, *, pedantic: bool) -> None:
    """Raise BadInput for an earlier mark if the caller is pedantic."""
    if pedantic and not entity.latest:
        raise BadInput(
            f"pedantic: {entity.id} is mark {entity.mark} of its element, which has a later one; "
            "only the latest may be addressed."
        )


def plan_latest_flags(
    kind: Kind, rows: Iterable[Stored[Any]], others: Iterable[Any] = ()
) -> tuple[list[RowChange], dict[int, Any]]:
    """Plan the `latest` flags of an element's rows.

    Args:
        kind: their kind.
        rows: stored rows whose only change may be `latest`.
        others: rows of the same element that are written anyway.

    Returns:
        the steps of the stored rows that change, and the others that change, by id.
    """
    by_id = {row.entity.id: row for row in rows}
    steps, rewritten = [], {}
    for row in settled([*(row.entity for row in by_id.values()), *others]):
        if row.id in by_id:
            steps.append(RowChange(kind, by_id[row.id], row))
        else:
            rewritten[row.id] = row
    return steps, rewritten


def has_earlier(rows: Iterable[Stored[Any]]) -> bool:
    """Whether a row is the latest of several marks: if it is deleted, the previous mark becomes the latest."""
    return any(getattr(row.entity, "mark", 0) and row.entity.latest for row in rows)


def plan_removal(kind: Kind, project: int, rows: Collection[Stored[Any]]) -> tuple[list[RowChange], list[Edit]]:
    """Plan the removal of rows; the marks before them become the latest. Up to twice as many steps, and log entries."""
    going = [row.entity.id for row in rows]
    gone = set(going)
    above = [identity(row.entity) for row in rows if has_earlier([row])]
    flips: list[RowChange] = []
    for others in rows_of(kind, project, above).values():
        flips += plan_latest_flags(kind, [row for row in others if row.entity.id not in gone])[0]
    edits = [deleted(kind, going)]
    if flips:
        edits.append(unseen(kind, [step.after.id for step in flips]))
    return [*(RowChange(kind, row, None) for row in rows), *flips], edits
