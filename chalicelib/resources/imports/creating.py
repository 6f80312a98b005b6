"""Create what the parts of an import hold. Each may be repeated: rows whose elements are there stay as they are."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from posixpath import splitext
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED, Scope
from chalicelib.access.view_queries import all_rows
from chalicelib.core.keys import object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.definitions import VERSION
from chalicelib.core.models.jobs import TranscodeSpec
from chalicelib.core.permissions import Level
from chalicelib.core.time import clock
from chalicelib.errors import BadInput
from chalicelib.query.operators import Op
from chalicelib.query.tree import Query, Test
from chalicelib.resources.annotations import creation as annotations_creation
from chalicelib.resources.annotations.creation import default_version
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.imports.parts import LabelRow, MediaRow, Phase, StateRow
from chalicelib.resources.media import creation as media_creation
from chalicelib.resources.media.schemas import MediaSpec
from chalicelib.resources.transcodes import service as transcodes_service
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import objects

ANNOTATIONS_PER_COMMIT = 500
"""Annotations of one commit."""
_ELEMENTS = 2_000
"""Elements of one question to the view."""
A_PART = 32 * 1024 * 1024
"""Bytes of a file that are copied at once."""
_WEEK = 604_800
Opened = Callable[[Sequence[tuple[str, float | None]], int], AbstractContextManager[Iterator[Iterator[bytes]]]]
"""Opens files of the archive, as `archives.contents`."""
_ROWS: dict[Phase, Any] = {"media": list[MediaRow], "labels": list[LabelRow], "states": list[StateRow]}


class _Named(Struct, frozen=True):
    id: int
    elemental_id: str


_named = msgspec.json.Decoder(_Named).decode


def create(
    phase: Phase,
    body: bytes,
    writer: Writer,
    project: Project,
    opened: Opened,
    go_on: Callable[[], bool],
    import_uid: str,
) -> None:
    """Create the media and annotations of a part.

    Args:
        phase: what the part holds.
        body: its rows.
        writer: the author.
        project: where to.
        opened: opens files of the archive.
        go_on: False once the import was cancelled; asked before each commit.
        import_uid: the uid of the import.

    Raises:
        BadInput, NotFound: a media, type or version was deleted after the check.
    """
    rows: Any = msgspec.json.decode(body, type=_ROWS[phase])
    if phase == "media":
        if go_on():
            _create_media(writer, project, opened, rows, go_on, import_uid)
        return
    of_media = _media_ids(writer, rows)
    versions = {version.id: version for version in records.list_children(VERSION, writer.project)}
    version = default_version(writer, versions)
    kind = Kind.LOCALIZATION if phase == "labels" else Kind.STATE
    for start in range(0, len(rows), ANNOTATIONS_PER_COMMIT):
        if not go_on():
            return
        some = rows[start : start + ANNOTATIONS_PER_COMMIT]
        for row in some:
            row.spec.version = row.spec.version or version
            if isinstance(row, LabelRow):
                row.spec.media_id = _media_id(row.media, of_media)
            else:
                row.spec.media_ids = [_media_id(each, of_media) for each in row.media]
        if kind is Kind.STATE:
            _find_members(writer, some)
        annotations_creation.create_missing(kind, writer, [row.spec for row in some])


def _media_id(media: int | str, of_media: dict[str, int]) -> int:
    if isinstance(media, int):
        return media
    if media not in of_media:
        raise BadInput(f"The media {media}, which was created from the archive, was deleted.")
    return of_media[media]


def _media_ids(writer: Writer, rows: Sequence[LabelRow | StateRow]) -> dict[str, int]:
    """The ids of media that were created before, by their elemental ids."""
    wanted: set[str] = set()
    for row in rows:
        media = row.media if isinstance(row.media, list) else [row.media]
        wanted.update(each for each in media if isinstance(each, str))
    return _ids(writer.project, Kind.MEDIA, wanted, scope=writer.scope.for_level(Level.VIEW)) if wanted else {}


def _ids(project: int, kind: Kind, elements: Iterable[str], *more: Test, scope: Scope) -> dict[str, int]:
    """The ids of entities by elemental id; those in a scope."""
    view, wanted, found = view_queries.current(project), sorted(elements), {}
    for start in range(0, len(wanted), _ELEMENTS):
        among = Test("elemental_id", Op.IN, tuple(wanted[start : start + _ELEMENTS]))
        query = all_rows(kind, among, *more) if more else Query(kind=kind, where=among)
        for document in view_queries.documents(view, query, scope, "id,elemental_id"):
            each = _named(document)
            found[each.elemental_id] = each.id
    return found


def _find_members(writer: Writer, rows: Sequence[StateRow]) -> None:
    """Set the localizations of tracks: those that the author sees, whatever elements the archive names."""
    by_version: dict[int, set[str]] = {}
    for row in rows:
        by_version.setdefault(row.spec.version or 0, set()).update(_members(row))
    latest, seen = Test("latest", Op.EQ, value=True), writer.scope.for_level(Level.VIEW)
    found = {
        version: _ids(writer.project, Kind.LOCALIZATION, names, Test("version", Op.EQ, version), latest, scope=seen)
        for version, names in by_version.items()
        if names
    }
    for row in rows:
        ids = found.get(row.spec.version or 0, {})
        members = [ids[name] for name in _members(row) if name in ids]
        row.spec.localization_ids = members or None


def _members(row: StateRow) -> list[str]:
    return [str(uuid.UUID(bytes=row.members[at : at + 16])) for at in range(0, len(row.members), 16)]


# --- media -----------------------------------------------------------------------------------------------------------


def _create_media(
    writer: Writer,
    project: Project,
    opened: Opened,
    rows: Sequence[MediaRow],
    go_on: Callable[[], bool],
    import_uid: str,
) -> None:
    """Create the media that are not there yet, images in one commit; their files come from the archive."""
    there = _ids(writer.project, Kind.MEDIA, [row.elemental_id for row in rows], scope=UNRESTRICTED)
    missing = [row for row in rows if row.elemental_id not in there]
    for row in rows:
        if row.dtype == "video":
            transcodes_service.resume(_transcode_of(row, import_uid))
    images = [row for row in missing if row.dtype == "image"]
    videos = [row for row in missing if row.dtype == "video"]
    if not missing:
        return
    with opened([(row.path, row.fps) for row in (*images, *videos)], A_PART) as files:
        if images:
            specs = [_image_spec(writer, project, next(files), row) for row in images]
            media_creation.create(writer, project, specs)
        for row in videos:
            if not go_on():
                return
            _create_video(writer, project, next(files), row, _transcode_of(row, import_uid))


def _transcode_of(row: MediaRow, import_uid: str) -> str:
    """The uid of the transcode of a video: a part that comes again knows what it began."""
    return str(uuid.uuid5(uuid.UUID(import_uid), row.elemental_id))


def _create_video(writer: Writer, project: Project, blocks: Iterator[bytes], row: MediaRow, uid: str) -> None:
    """Create a video with its transcode in one commit."""
    spec = TranscodeSpec(
        type=row.type,
        uid=uid,
        name=row.name,
        md5=row.md5 or None,
        url=objects.presign_get(_copy(writer, project, blocks, row), _WEEK),
        section=row.section or UNSET,
        attributes=row.attributes or None,
    )
    transcodes_service.start(writer, project, spec, elemental_id=row.elemental_id)


def _copy(writer: Writer, project: Project, blocks: Iterator[bytes], row: MediaRow) -> ObjectKey:
    """Copy a file of the archive, or the video of a folder of pictures, to the uploads, part by part."""
    day = clock.utc_now().date().isoformat()
    name = f"{row.elemental_id}{'.mov' if row.path.endswith('/') else splitext(row.path)[1].lower()}"
    key = object_keys.upload_key(project.organization, project.id, writer.user, name, day)
    first = next(blocks, b"")
    second = next(blocks, b"")
    if not second:
        objects.write(key, first)
        return key
    upload = objects.begin(key)
    parts: list[dict[str, Any]] = []
    try:
        for number, block in enumerate(chain((first, second), blocks), 1):
            parts.append({"PartNumber": number, "ETag": objects.put_part(key, upload, number, block)})
        objects.complete(key, upload, parts)
    except BaseException:
        objects.abort(key, upload)
        raise
    return key


def _image_spec(writer: Writer, project: Project, blocks: Iterator[bytes], row: MediaRow) -> MediaSpec:
    """Copy the file of an image to the uploads, and describe the media."""
    key = _copy(writer, project, blocks, row)
    return MediaSpec(
        type=row.type,
        name=row.name,
        md5=row.md5,
        url=objects.presign_get(key, _WEEK),
        section=row.section or UNSET,
        elemental_id=row.elemental_id,
        attributes=row.attributes or None,
    )
