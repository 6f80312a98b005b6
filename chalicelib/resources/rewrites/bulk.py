"""Bulk changes in which each entity has a new value of its own."""

from __future__ import annotations

from typing import Any

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Edit
from chalicelib.core.log.edits import changed
from chalicelib.core.models.definitions import Definitions
from chalicelib.core.models.entities import Media
from chalicelib.core.models.media_files import ROLES, MediaFiles
from chalicelib.core.values.attribute_values import merge
from chalicelib.core.values.revisions import up_to_date
from chalicelib.resources.annotations import tracks
from chalicelib.resources.annotations.segments import segments
from chalicelib.resources.bulk.changes import BulkChange
from chalicelib.resources.bulk.service import Handlers, Note
from chalicelib.resources.entities.bulk import RewriteRows
from chalicelib.resources.media import service as media_service
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.steps import RowChange


class _OneByOne(RewriteRows):
    """A change with an entry of the change log for each entity."""

    def edits(self, done: list[RowChange]) -> list[Edit]:
        """One entry for each entity."""
        return [changed(self.change.kind, step.before.entity, step.after) for step in done if step.before]


class Reframe(_OneByOne):
    """Shifts the frames of annotations, or maps them by a table."""

    def rewrite(self, row: Any) -> Any:
        """The annotation on its new frame; None if it has none."""
        frame = new_frame(self.change, row.frame)
        if frame is None or frame < 0:
            return None
        return msgspec.structs.replace(row, frame=frame, **self.change.fixed)


def new_frame(change: BulkChange, frame: int | None) -> int | None:
    """The new number of a frame; None for no frame, or one that the table lacks."""
    if frame is None:
        return None
    return change.frames.get(frame) if change.frames else frame + change.shift


class Resegment(_OneByOne):
    """Sets the segments of tracks from the frames of their localizations."""

    def rewrite(self, row: Any) -> Any:
        """The track with its segments."""
        found = tracks.places(self.change.project, row.localizations)
        return msgspec.structs.replace(row, segments=segments(place.frame for place in found.values()))


class Assign(_OneByOne):
    """Sets attributes to values that differ by entity."""

    def __init__(self, change: BulkChange, note: Note) -> None:
        super().__init__(change, note)
        self._definitions = records.definitions(change.project)

    def rewrite(self, row: Any) -> Any:
        """The entity with its new attributes; None where they are equal."""
        after = with_values(self._definitions, self.change.kind, row, self.change.values[row.id])
        return None if after.attributes == row.attributes else msgspec.structs.replace(after, **self.change.fixed)


def with_values(definitions: Definitions, kind: Kind, row: Any, values: dict[str, Any]) -> Any:
    """An entity with new values of attributes. Raises BadInput for a value that its type does not allow."""
    if kind is Kind.MEDIA:
        after = media_service.values_after(definitions, row, values, None, None, None)
        return msgspec.structs.replace(row, **after)
    of = definitions.types(kind)[row.type]
    current = up_to_date(row, of.revisions)
    attributes = merge(of.attribute_types, current.attributes, values, None, None)
    return msgspec.structs.replace(current, attributes=attributes)


class ReplaceUrls(_OneByOne):
    """Replaces the beginning of the URLs of media files."""

    def rewrite(self, row: Any) -> Any:
        """The media with new URLs; None where none begins like that."""
        files = with_urls(row, *self.change.prefixes)
        return None if files is None else msgspec.structs.replace(row, media_files=files, **self.change.fixed)


def with_urls(media: Media, old: str, new: str) -> MediaFiles | None:
    """The files of a media with another beginning of their URLs; None where none begins like that."""
    if media.media_files is None:
        return None
    roles: dict[str, Any] = {}
    for role in ROLES:
        entries = getattr(media.media_files, role, None) or []
        after = [_with_url(entry, old, new) for entry in entries]
        if after != entries:
            roles[role] = after
    return msgspec.structs.replace(media.media_files, **roles) if roles else None


def _with_url(entry: Any, old: str, new: str) -> Any:
    if not getattr(entry, "reference_only", None):
        return entry
    members = {}
    for name in ("path", "segment_info", "host"):
        value = getattr(entry, name, None)
        if value and value.startswith(old):
            members[name] = new + value.removeprefix(old)
    return msgspec.structs.replace(entry, **members) if members else entry


HANDLERS: Handlers = {
    **{("reframe", kind): Reframe for kind in (Kind.LOCALIZATION, Kind.STATE)},
    **{("assign", kind): Assign for kind in Kind},
    ("resegment", Kind.STATE): Resegment,
    ("replace_urls", Kind.MEDIA): ReplaceUrls,
}
"""The verbs of this slice."""
