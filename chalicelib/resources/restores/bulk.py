"""Bulk changes that undo deletions: rows that come back, and media that return to a restored section."""

from __future__ import annotations

from typing import Any

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Edit
from chalicelib.core.log.edits import restored, revived, unseen
from chalicelib.core.models.definitions import SECTION
from chalicelib.core.models.marks import Identity, identity
from chalicelib.core.models.media_files import TAG_ATTRIBUTE
from chalicelib.resources.bulk.service import Handler, Handlers
from chalicelib.resources.entities.bulk import RewriteRows
from chalicelib.resources.entities.service import plan_latest_flags, rows_of
from chalicelib.resources.leaves.bulk import RebuildPaths
from chalicelib.resources.restores import values as restores_values
from chalicelib.resources.restores.kept import restorable
from chalicelib.resources.restores.leaves import RestoreLeaves
from chalicelib.storage.dynamodb import entities, records, steps
from chalicelib.storage.dynamodb.entities import Stored
from chalicelib.storage.dynamodb.steps import RowChange

_MOVING = ("to_archive", "to_live")


def is_tombstone(row: Any) -> bool:
    """Whether a visible annotation is the tombstone of its element."""
    return bool(row.latest and row.variant_deleted)


class RestoreMedia(Handler):
    """Brings deleted media back."""

    def do(self, left: list[int], most: int) -> tuple[int, bool]:
        """Restore the media of one part that are still deleted."""
        part = left[:most]
        rows = restorable(Kind.MEDIA, part)
        sections = {row.entity.primary_section for row in rows} - {None}
        there = {number for number in sections if records.maybe(SECTION, number) is not None}
        done = [RowChange(Kind.MEDIA, row, _in_section(row.entity, there)) for row in rows]
        edits = [restored(Kind.MEDIA, [step.after.id for step in done])] if done else []
        # The upkeep goes on with a move that the deletion interrupted.
        moving = [(step.after.id, {"_archive_state": step.after.archive_state}) for step in done]
        edits += [
            Edit(Kind.MEDIA, [each], state, state) for each, state in moving if state["_archive_state"] in _MOVING
        ]
        return self.apply(done, edits, len(part))


class RestoreAnnotations(Handler):
    """Restores deleted annotations: rows that were removed, and rows that a deletion turned into tombstones."""

    size = 40
    """Ids of one part: each may change a further mark of its element."""

    def do(self, left: list[int], most: int) -> tuple[int, bool]:
        """Restore the annotations of one part that are still deleted."""
        kind, part = self.change.kind, left[:most]
        guard = steps.guard(self.change.project)
        back: dict[int, Stored[Any]] = {row.entity.id: row for row in restorable(kind, part)}
        shown = {number: row for number, row in entities.many(kind, part).items() if row.entity.variant_deleted}
        afters = {number: row.entity for number, row in back.items()}
        afters |= {number: msgspec.structs.replace(row.entity, variant_deleted=False) for number, row in shown.items()}
        befores = {**back, **shown}
        elements: dict[Identity, dict[int, Any]] = {}
        for after in afters.values():
            elements.setdefault(identity(after), {})[after.id] = after
        done: list[RowChange] = []
        flips: list[RowChange] = []
        for element, others in rows_of(kind, self.change.project, elements).items():
            taken = {row.entity.mark for row in others if row.entity.id not in elements[element]}
            # what another row replaced meanwhile stays deleted
            coming = [row for number, row in elements[element].items() if number in shown or row.mark not in taken]
            rest = [row for row in others if row.entity.id not in shown]
            more, rewritten = plan_latest_flags(kind, rest, coming)
            flips += more
            done += [RowChange(kind, befores[after.id], rewritten.get(after.id, after)) for after in coming]
        came = [step.before.entity.id for step in done if step.before and step.before.entity.id in back]
        edits = [restored(kind, came)] if came else []
        if shown:
            edits.append(revived(kind, shown))
        if flips:
            edits.append(unseen(kind, [step.after.id for step in flips]))
        return self.apply([*done, *flips], edits, len(part), guard if came else None)


class RemoveTombstones(Handler):
    """Removes the tombstones that deletions added: the mark before each is the latest of its element again."""

    size = RestoreAnnotations.size

    def do(self, left: list[int], most: int) -> tuple[int, bool]:
        """Remove the tombstones of one part that are still there, and have a mark before them."""
        kind, part = self.change.kind, left[:most]
        rows = entities.many(kind, part).values()
        tombstones = {identity(row.entity): row for row in rows if is_tombstone(row.entity)}
        removals: list[RowChange] = []
        flips: list[RowChange] = []
        for element, marks in rows_of(kind, self.change.project, tombstones).items():
            tombstone = tombstones[element]
            revealed, _ = plan_latest_flags(kind, [row for row in marks if row.entity.id != tombstone.entity.id])
            if revealed:
                removals.append(RowChange(kind, tombstone, None))
                flips += revealed
        edits = [
            revived(kind, [step.after.id for step in flips]),
            unseen(kind, [step.before.entity.id for step in removals if step.before]),
        ]
        return self.apply([*removals, *flips], edits if removals else [], len(part))


class Relink(RewriteRows):
    """Returns media to the section that they lost by its deletion, unless they are in another by now."""

    def rewrite(self, row: Any) -> Any:
        """The media in its section."""
        if row.primary_section is not None:
            return None
        tag = self.change.logged[1][TAG_ATTRIBUTE]
        attributes = {**row.attributes, TAG_ATTRIBUTE: tag}
        return msgspec.structs.replace(row, primary_section=self.change.section, attributes=attributes)


def _in_section(media: Any, there: set[int]) -> Any:
    if media.primary_section is None or media.primary_section in there:
        return media
    return msgspec.structs.replace(media, primary_section=None, attributes={**media.attributes, TAG_ATTRIBUTE: ""})


HANDLERS: Handlers = {
    ("rebuild_paths", Kind.LEAF): RebuildPaths,
    ("relink", Kind.MEDIA): Relink,
    ("remove_tombstones", Kind.LOCALIZATION): RemoveTombstones,
    ("remove_tombstones", Kind.STATE): RemoveTombstones,
    ("restore", Kind.LEAF): RestoreLeaves,
    ("restore", Kind.MEDIA): RestoreMedia,
    ("restore", Kind.LOCALIZATION): RestoreAnnotations,
    ("restore", Kind.STATE): RestoreAnnotations,
    **restores_values.HANDLERS,
}
"""The verbs of this slice, and that of leaves whose paths change with a restored one."""
