"""Bulk changes of media: attributes, archive state and deletion."""

from __future__ import annotations

from typing import Any

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Edit
from chalicelib.core.models.definitions import Definitions
from chalicelib.core.models.entities import Media
from chalicelib.errors import Forbidden
from chalicelib.resources.bulk.changes import BulkChange
from chalicelib.resources.bulk.service import Handler, Handlers, Note
from chalicelib.resources.entities.bulk import Delete, Rewrite, RewriteRows
from chalicelib.resources.media import clearing
from chalicelib.resources.media import service as media_service
from chalicelib.resources.media.schemas import next_state
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.dynamodb.steps import RowChange

SIGNED = ("modified_by", "modified_datetime")
"""Members of `fixed` that do not count as a change by themselves."""


def rewrite_media(change: BulkChange, definitions: Definitions) -> Rewrite:
    """Apply an `edit` to each media; None for a media that stays equal."""
    signed = {name: change.fixed[name] for name in SIGNED}
    plain = {name: value for name, value in change.fixed.items() if name not in SIGNED}

    def rewrite(row: Media) -> Media | None:
        values = media_service.values_after(
            definitions, row, change.attributes, change.reset, change.nulls, change.section
        )
        after = msgspec.structs.replace(row, **plain, **values)
        return msgspec.structs.replace(after, **signed) if entities.differs(row, after) else None

    return rewrite


class EditMedia(RewriteRows):
    """Sets attributes, built-in members and the folder."""

    def __init__(self, change: BulkChange, note: Note) -> None:
        super().__init__(change, note)
        self._rewrite = rewrite_media(change, records.definitions(change.project))

    def rewrite(self, row: Any) -> Any:
        """The media with its new values."""
        return self._rewrite(row)


class Archive(RewriteRows):
    """Moves media to the next archive state on the way to the state asked for."""

    def rewrite(self, row: Any) -> Any:
        """The media in its next state; None if no transition exists."""
        state = next_state(row.archive_state, self.change.wish) if row.project == self.change.project else None
        return None if state is None else msgspec.structs.replace(row, archive_state=state, **self.change.fixed)

    def edits(self, done: list[RowChange]) -> list[Edit]:
        """One entry for each transition."""
        ways: dict[tuple[str, str], list[int]] = {}
        for step in done:
            before: Any = step.before.entity if step.before else None
            ways.setdefault((before.archive_state, step.after.archive_state), []).append(step.after.id)
        return [
            Edit(Kind.MEDIA, numbers, {"_archive_state": was}, {"_archive_state": now})
            for (was, now), numbers in ways.items()
        ]


class DeleteMedia(Delete):
    """Deletes media, and before them their annotations."""

    def check(self, scope: Scope) -> None:
        """Check the media and their annotations: states are deleted with the last of their media."""
        super().check(scope)
        project, numbers = self.change.project, self.change.numbers
        view_queries.check_reach(project, clearing.on(Kind.LOCALIZATION, numbers), scope)
        closed = view_queries.closed_ids(project, clearing.on(Kind.STATE, numbers), scope)
        if closed and clearing.with_nothing_else(view_queries.current(project), sorted(closed), numbers):
            raise Forbidden("This would also delete states on which your permission is too low.")

    def do(self, left: list[int], most: int) -> tuple[int, bool]:
        """Delete the media of one part, or some of their annotations."""
        if not clearing.clear(self.change.project, self.change.user, left[:most]):
            return 0, False
        return super().do(left, most)


class Clear(Handler):
    """Deletes annotations that were made while their media were deleted."""

    size = 1_000

    def do(self, left: list[int], most: int) -> tuple[int, bool]:
        """Delete some of the annotations of a part."""
        part = left[:most]
        everything = clearing.clear(self.change.project, self.change.user, part)
        return (len(part) if everything else 0), False


HANDLERS: Handlers = {
    ("archive", Kind.MEDIA): Archive,
    ("clear", Kind.MEDIA): Clear,
    ("delete", Kind.MEDIA): DeleteMedia,
    ("edit", Kind.MEDIA): EditMedia,
}
"""The verbs of this slice."""
