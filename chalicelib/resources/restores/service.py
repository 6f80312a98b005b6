"""Undo changes by the numbers of their commits.

Deletions of localizations, states, media, leaves and sections; and changes of the attributes and the layer of
annotations (`values.py`).

Deleted rows are kept for `settings.deleted_retention`; then the upkeep purges them with their files. A deleted media
comes back with the annotations that its deletion deleted, a leaf with the leaves below it, a section with the media
that it contained. What was restored already, or changed since, stays as it is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import msgspec

from chalicelib.access.masks import level_of
from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.core.log.commits import GONE, Change, Commit, Operation
from chalicelib.core.models.definitions import SECTION, Definitions, Section
from chalicelib.core.models.entities import media_of
from chalicelib.core.models.marks import Identity, identity
from chalicelib.core.models.media_files import TAG_ATTRIBUTE
from chalicelib.core.permissions import Level
from chalicelib.core.resource import timestamp
from chalicelib.core.time import clock, deadline
from chalicelib.errors import Conflict, Forbidden, Gone, NotFound
from chalicelib.resources.bulk import service as bulk_service
from chalicelib.resources.bulk.changes import BulkChange
from chalicelib.resources.entities.service import LEVEL_TO_CHANGE, Writer, rows_of
from chalicelib.resources.restores import bulk as restores_bulk
from chalicelib.resources.restores import leaves as restores_leaves
from chalicelib.resources.restores import values as restores_values
from chalicelib.resources.restores.bulk import is_tombstone
from chalicelib.resources.restores.commits import deleted_ids, tombstones_added
from chalicelib.resources.restores.kept import is_kept
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import archive, log

RESTORABLE = (Kind.MEDIA, Kind.LOCALIZATION, Kind.STATE, Kind.LEAF)
"""In the order in which they are restored."""


@dataclass
class _Plan:
    """What a request restores.

    Attributes:
        ids: by kind, the ids of deleted rows, and of rows that a deletion turned into tombstones.
        tombstones: by kind, the ids of tombstones that deletions added as new rows.
        sections: deleted sections, and the ids of their media.
        marks: by element and mark, the id of the row that is restored as that mark.
        parts: by bulk change, those of its commits that were read, without documents.
        changed: by number, the commits that changed values.
    """

    ids: defaultdict[Kind, set[int]] = field(default_factory=lambda: defaultdict(set))
    tombstones: defaultdict[Kind, set[int]] = field(default_factory=lambda: defaultdict(set))
    sections: dict[int, tuple[Section, list[int]]] = field(default_factory=dict)
    marks: dict[tuple[Kind, Identity, int], int] = field(default_factory=dict)
    parts: dict[Operation, list[Commit]] = field(default_factory=dict)
    changed: dict[int, Commit] = field(default_factory=dict)

    def count(self, kind: Kind) -> int:
        """The number of entities of a kind that are restored."""
        return len(self.ids[kind]) + len(self.tombstones[kind])

    @property
    def size(self) -> int:
        """The number of entities and sections that are restored."""
        return sum(map(self.count, RESTORABLE)) + len(self.sections)


def restore(writer: Writer, numbers: Sequence[int]) -> tuple[dict[str, int], int]:
    """Undo the deletions, and the changes of values, of some commits.

    Args:
        writer: who undoes them.
        numbers: the numbers of the commits.

    Returns:
        how many entities of each kind came back, and `section` for sections; how many stay as they are, because they
        were changed since.

    Raises:
        NotFound: there is no such commit.
        Conflict: a commit did nothing that can be undone, or what it did was changed since.
        Gone: the retention is over, or a definition was deleted.
        Forbidden: the caller's level is too low.
    """
    plan = _Plan()
    for number in dict.fromkeys(numbers):
        deadline.check()
        _add(plan, writer, number)
    undone, skipped = _undo_values(plan, writer)
    order = {kind: sorted(plan.ids[kind]) for kind in RESTORABLE}
    order[Kind.LEAF], moved = restores_leaves.in_order(writer.project, plan.ids[Kind.LEAF])
    for section, _ in plan.sections.values():
        _recreate(writer, section)
    changes = [
        writer.bulk_change(
            Kind.MEDIA,
            "relink",
            media,
            section=section.id,
            logged=(
                {"_primary_section": None, TAG_ATTRIBUTE: ""},
                {"_primary_section": section.id, TAG_ATTRIBUTE: section.tator_user_sections},
            ),
        )
        for section, media in plan.sections.values()
    ]
    changes += [writer.bulk_change(kind, "restore", numbers) for kind, numbers in order.items()]
    changes += [
        writer.bulk_change(kind, "remove_tombstones", sorted(plan.tombstones[kind]))
        for kind in (Kind.LOCALIZATION, Kind.STATE)
    ]
    changes += [writer.bulk_change(Kind.LEAF, "rebuild_paths", moved), *undone]
    bulk_service.run(*changes, handlers=restores_bulk.HANDLERS, scope=writer.scope)
    found = Counter({str(kind): number for kind in RESTORABLE if (number := plan.count(kind))})
    for change in undone:
        found[str(change.kind)] += len(change.numbers)
    return found | ({"section": len(plan.sections)} if plan.sections else {}), skipped


def _undo_values(plan: _Plan, writer: Writer) -> tuple[list[BulkChange], int]:
    """What gives annotations the values that they had before, and how many stay. Raises as `restore`."""
    values = restores_values.values_of(plan.changed[number] for number in sorted(plan.changed))
    for kind in (Kind.LOCALIZATION, Kind.STATE):
        numbers = {number for of, number in values if of is kind}
        if hidden := numbers - writer.scope.for_level(Level.VIEW).visible_ids(writer.project, kind, numbers):
            for number in hidden:
                del values[kind, number]
        if numbers - hidden:
            _check_levels(writer, kind, numbers - hidden)
    changes, skipped = restores_values.plan(writer, values, records.definitions(writer.project))
    if plan.changed and not changes:
        raise Conflict(f"changes: nothing that {max(plan.changed)} changed is still as it left it.")
    return changes, skipped


def _add(plan: _Plan, writer: Writer, number: int) -> None:
    """Add what a commit deleted to a plan. Raises as `restore`."""
    commit = archive.find_commit(writer.project, number)
    if commit is None and not 1 <= number <= log.last(writer.project, fresh=True):
        raise NotFound.of("Change", number)
    deleted = deleted_ids(commit) if commit else {}
    sections = dict(_sections(commit)) if commit else {}
    if commit and not deleted and not sections and _add_values(plan, commit):
        return
    if commit:
        _add_dependents(plan, commit, deleted)
    for kind in list(deleted):
        deleted[kind] &= writer.scope.for_level(Level.VIEW).visible_ids(writer.project, kind, deleted[kind])
    sections = {each: section for each, section in sections.items() if _level(writer, each) > Level.NONE}
    if others := [kind for kind, found in deleted.items() if found and kind not in RESTORABLE]:
        raise Conflict(f"changes: {number} deleted {' and '.join(others)} entities, which cannot be restored.")
    if commit is None or not (sections or any(deleted.values())):
        raise Conflict(f"changes: {number} deleted no media, localization, state, leaf or section.")
    before = plan.size
    for each, section in sections.items():
        _add_section(plan, writer, commit, each, section)
    _add_rows(plan, writer, deleted, tombstones_added(commit))
    if plan.size == before:
        raise Conflict(f"changes: nothing that {number} deleted is still deleted, or it was replaced since.")


def _add_dependents(plan: _Plan, commit: Commit, deleted: dict[Kind, set[int]]) -> None:
    """Add what the same request deleted before, with what a commit deleted."""
    _add_parts(plan, commit, deleted)
    if deleted.get(Kind.MEDIA):
        _add_annotations(plan, commit, deleted)
    if deleted.get(Kind.LEAF):
        _add_subtrees(plan, commit, deleted[Kind.LEAF])


def _add_values(plan: _Plan, commit: Commit) -> bool:
    """Add the commits of a bulk change that changed values of annotations; whether there are any."""
    found = {each.seq: each for each in (*_parts(plan, commit), commit) if restores_values.values_of([each])}
    plan.changed |= found
    return bool(found)


def _parts(plan: _Plan, commit: Commit) -> list[Commit]:
    """The earlier commits of the bulk change that a commit is a part of, read once for all parts of a request."""
    if commit.operation is None:
        return []
    known = plan.parts.setdefault(commit.operation, [])
    for each in archive.history(commit.project, after=known[-1].seq if known else commit.operation.after):
        if each.seq >= commit.seq:
            break
        if each.operation == commit.operation:
            known.append(msgspec.structs.replace(each, changes=[], past=[]))
    return [each for each in known if each.seq < commit.seq]


def _add_parts(plan: _Plan, commit: Commit, deleted: dict[Kind, set[int]]) -> None:
    """Add the media or annotations that earlier commits of the same bulk change deleted."""
    kinds = [kind for kind in deleted if kind is Kind.MEDIA or kind.is_annotation]
    if kinds and Kind.MEDIA not in kinds:
        kinds = [Kind.LOCALIZATION, Kind.STATE]  # a draft of a track goes with its localizations
    for part in _parts(plan, commit) if kinds else ():
        for kind, numbers in deleted_ids(part).items():
            if kind in kinds:
                deleted.setdefault(kind, set()).update(numbers)


def _add_annotations(plan: _Plan, commit: Commit, deleted: dict[Kind, set[int]]) -> None:
    """Add the annotations that went with the media of a commit."""
    for part in _parts(plan, commit):
        for kind, numbers in deleted_ids(part).items():
            if not kind.is_annotation:
                continue
            rows = entities.get_deleted(kind, numbers)
            gone = {number for number, row in rows.items() if _is_on(row.stored.entity, deleted[Kind.MEDIA])}
            deleted.setdefault(kind, set()).update(gone)


def _add_subtrees(plan: _Plan, commit: Commit, leaves: set[int]) -> None:
    """Add the leaves below those of a commit that the same request deleted before."""
    roots = tuple(f"{row.stored.entity.path}." for row in entities.get_deleted(Kind.LEAF, leaves).values())
    for part in _parts(plan, commit):
        rows = entities.get_deleted(Kind.LEAF, deleted_ids(part).get(Kind.LEAF, set()))
        leaves.update(number for number, row in rows.items() if row.stored.entity.path.startswith(roots))


def _is_on(annotation: Any, media: set[int]) -> bool:
    return not media.isdisjoint(media_of(annotation))


# --- rows ------------------------------------------------------------------------------------------------------------


def _add_rows(plan: _Plan, writer: Writer, deleted: dict[Kind, set[int]], added: dict[Kind, set[int]]) -> None:
    """Add the deleted rows that can be restored, and the tombstones that the commit `added` and that still exist."""
    definitions = records.definitions(writer.project)
    for kind in RESTORABLE:
        if numbers := deleted.get(kind):
            _check_levels(writer, kind, numbers)
            own = added.get(kind, set())
            live = entities.many(kind, numbers & own)
            tombstones = {number: row.entity for number, row in live.items() if is_tombstone(row.entity)}
            _check_media(plan, kind, tombstones)
            plan.tombstones[kind] |= tombstones.keys()
            plan.ids[kind] |= _restorable(plan, writer, kind, numbers - own, definitions)


def _check_levels(writer: Writer, kind: Kind, numbers: set[int]) -> None:
    needed = LEVEL_TO_CHANGE[kind]
    if writer.level < needed or numbers - writer.scope.for_level(needed).visible_ids(writer.project, kind, numbers):
        raise Forbidden(f"You may not restore these {kind} entities: your permission on some of them is too low.")


def _restorable(plan: _Plan, writer: Writer, kind: Kind, numbers: set[int], definitions: Definitions) -> set[int]:
    """The ids among some that are deleted and can come back."""
    live = entities.many(kind, numbers)
    buried = entities.get_deleted(kind, numbers - live.keys())
    if missing := sorted(numbers - live.keys() - buried.keys()):
        raise _purge_error(kind, missing)
    found = set()
    for number, row in buried.items():
        entity = row.stored.entity
        if not is_kept(row):
            raise _purge_error(kind, [number])
        if row.is_hidden or entity.type not in definitions.types(kind):
            raise Gone(f"The {kind} {number} cannot be restored: its type or version was deleted.")
        if kind.is_annotation and entity.version not in definitions.versions:
            raise Gone(f"The {kind} {number} cannot be restored: its version was deleted.")
        found.add(number)
    rows = {number: buried[number].stored.entity for number in found}
    if kind.is_annotation:
        rows |= {number: row.entity for number, row in live.items() if row.entity.variant_deleted}
        _check_media(plan, kind, rows)
        _check_marks(plan, writer, kind, {number: row for number, row in rows.items() if number in found})
    return set(rows)


def _purge_error(kind: Kind, numbers: Sequence[int]) -> Gone:
    files = " and its files" if kind is Kind.MEDIA else ""
    days = settings().deleted_retention / 86400
    return Gone(
        f"The {kind} {numbers[0]}{files} cannot be restored: it was purged, or is about to be.",
        f"What was deleted is kept for {days:g} days.",
    )


def _check_media(plan: _Plan, kind: Kind, rows: dict[int, Any]) -> None:
    """Raise Conflict for an annotation whose media is deleted and does not come back with it."""
    wanted = {media for row in rows.values() for media in media_of(row)}
    there = entities.many(Kind.MEDIA, wanted).keys() | plan.ids[Kind.MEDIA]
    for number, row in rows.items():
        if there.isdisjoint(media_of(row)):
            message = f"The {kind} {number} cannot be restored alone: its media {media_of(row)[0]} is deleted."
            raise Conflict(message, "Restore the change that deleted the media.")


def _check_marks(plan: _Plan, writer: Writer, kind: Kind, rows: dict[int, Any]) -> None:
    """Raise Conflict for a row whose mark another row of its element has by now, or gets by the same request."""
    elements: dict[Identity, list[Any]] = {}
    for row in rows.values():
        elements.setdefault(identity(row), []).append(row)
    for element, others in rows_of(kind, writer.project, elements).items():
        taken = {row.entity.mark for row in others}
        for row in elements[element]:
            if row.mark in taken:
                raise Conflict(f"The {kind} {row.id} cannot be restored: its element was changed since.")
            other = plan.marks.setdefault((kind, element, row.mark), row.id)
            if other != row.id:
                message = f"The {kind} entities {other} and {row.id} cannot both be restored: one replaced the other."
                raise Conflict(message)


# --- sections --------------------------------------------------------------------------------------------------------


def _sections(commit: Commit) -> Iterator[tuple[int, Section]]:
    """The sections that a commit deleted, as they were."""
    gone = {change.id for change in commit.changes if change.kind == DefinitionKind.SECTION and change.is_gone}
    for change in commit.past:
        if change.kind == DefinitionKind.SECTION and change.id in gone:
            yield change.id, msgspec.json.decode(change.doc, type=Section)


def _level(writer: Writer, section: int) -> Level:
    if not writer.scope.is_restricted:
        return writer.level
    return level_of(writer.scope.in_project(writer.project).on(SECTION.name, section))


def _add_section(plan: _Plan, writer: Writer, commit: Commit, number: int, section: Section) -> None:
    if _level(writer, number) < Level.EDIT:
        raise Forbidden
    oldest = timestamp(clock.utc_now() - timedelta(seconds=settings().deleted_retention))
    if commit.at <= oldest:
        raise Gone(f"The section {number} cannot be restored: it was deleted too long ago.")
    media = {
        each
        for part in _parts(plan, commit)
        for edit in part.edits
        if edit.kind is Kind.MEDIA and edit.old.get("_primary_section") == number
        for each in edit.ids
    }
    loose = [
        each for each, row in entities.many(Kind.MEDIA, sorted(media)).items() if row.entity.primary_section is None
    ]
    is_gone = records.maybe(SECTION, number) is None
    if loose or is_gone:
        plan.sections[number] = (section, loose)
    if is_gone:
        _check_claims(plan, section)


def _check_claims(plan: _Plan, section: Section) -> None:
    """Raise Conflict for a section whose path or name another has by now, or gets by the same request."""
    others = [other for other, _ in plan.sections.values() if other.id != section.id]
    for claim, word in SECTION.claims(section).items():
        if records.get_claimed(SECTION, claim, word) or any(SECTION.claims(each).get(claim) == word for each in others):
            raise _path_taken(section)


def _path_taken(section: Section) -> Conflict:
    return Conflict(f"The section {section.id} cannot be restored: its path {section.path} is taken by another.")


def _recreate(writer: Writer, section: Section) -> None:
    """Create a deleted section again, under its id. Does nothing where it exists, so a repeated request continues."""
    if records.maybe(SECTION, section.id) is not None:
        return
    change = Transaction()
    records.add(change, SECTION, section, user=writer.user, taken=_path_taken(section))
    was = [Change(DefinitionKind.SECTION, section.id, GONE)]
    change.log(writer.project, writer.user, [], past=was)
    change.run()
