"""The work of imports, run by the queue function: see `service` for the order of the steps."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.background import scope_of
from chalicelib.core.keys import object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.log.commits import Note
from chalicelib.core.models.accounts import PROJECT, Project
from chalicelib.core.models.definitions import VERSION, Definitions
from chalicelib.core.permissions import Level
from chalicelib.core.resource import now
from chalicelib.errors import Forbidden, NotFound, reason_of
from chalicelib.formats.model import Media
from chalicelib.queues import send
from chalicelib.resources.annotations.creation import default_version
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.imports import archives, creating
from chalicelib.resources.imports import service as imports_service
from chalicelib.resources.imports.checking import Check
from chalicelib.resources.imports.media import Files, MediaIndex, dtype_of, element_of
from chalicelib.resources.imports.messages import RunImportPart
from chalicelib.resources.imports.parts import PHASES, Phase
from chalicelib.resources.imports.planning import Needs, Plan
from chalicelib.resources.imports.schemas import IMPORT, MOST_SHOWN, ImportSpec, PlannedType, StoredImport
from chalicelib.resources.notifications import service as notifications_service
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.progress import outcomes
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.objects import objects

_encode = msgspec.json.Encoder().encode


def check(uid: str) -> None:
    """Read the archive and prepare the parts; the result of a dry run.

    Raises:
        NotFound: there is no such import.
        BadInput: the archive cannot be read.
        Forbidden: the user may no longer import into the project.
    """
    found = records.get(IMPORT, uid)
    if found.status == "pending":
        found = _check(found)
    if found.status == "running":
        send(settings().dataset_queue_url, RunImportPart(uid=uid, part=found.part, project=found.project))


def _check(found: StoredImport) -> StoredImport:
    """Check an import unless it was checked. Returns it."""
    writer, project = _writer(found)
    versions = {version.id: version for version in records.list_children(VERSION, project.id)}
    definitions = records.definitions(project.id)
    shown = view_queries.definitions_for(definitions, writer.scope)
    index = MediaIndex(project.id, writer.scope, shown, found.spec.match)
    key = imports_service.key_of(found.spec, project, found.user)
    with archives.opened(found.spec, key, 2 if found.spec.create_types else 1) as archive:
        namespace = archives.namespace(archive.listing)
        created: list[PlannedType] = []
        if found.spec.create_types:
            planned = _plan_types(found.spec, definitions, archive, index, namespace)
            found = _note_plan(found, planned)
            created = found.planned or []
            if found.spec.dry_run:
                definitions = planned.with_them(definitions)
            else:
                if not imports_service.may_create_types(writer.scope, project):
                    raise Forbidden("The user who started the import may no longer create types.")
                planned.create(project.id, writer.user)
                definitions = records.definitions(project.id)
        checked = Check(
            found.spec,
            project.id,
            writer.scope,
            view_queries.definitions_for(definitions, writer.scope),
            archive.listing,
            index,
            namespace,
            default_version(writer, versions) if not found.spec.dry_run else min(versions, default=0),
            lambda phase, number, rows: _write(found, phase, number, rows),
        )
        checked.run(archive.rows())
    checked.report.types = created
    is_over = found.spec.dry_run or not any(checked.parts.values())

    def prepare(current: StoredImport) -> StoredImport | None:
        if current.status != "pending":
            return None
        return msgspec.structs.replace(
            current,
            status="succeeded" if is_over else "running",
            stop_time=now() if is_over else None,
            report=checked.report,
            parts={phase: sizes for phase, sizes in checked.parts.items() if sizes and not found.spec.dry_run},
        )

    return records.edit(IMPORT, found.uid, prepare, also=note_end)


def _note_plan(found: StoredImport, planned: Plan) -> StoredImport:
    """Note what is created, before it is: a repeated check finds some of it in the project."""

    def note(current: StoredImport) -> StoredImport | None:
        if current.planned is not None:
            return None
        return msgspec.structs.replace(current, planned=planned.shown[:MOST_SHOWN])

    return records.edit(IMPORT, found.uid, note)


def _plan_types(
    spec: ImportSpec, definitions: Definitions, archive: archives.OpenArchive, index: MediaIndex, namespace: uuid.UUID
) -> Plan:
    """What the rows of the archive need and the project lacks."""
    files = Files(archive.listing, spec.format)

    def media_kind(row: Media) -> str:
        try:
            known = index.find(msgspec.structs.replace(row, elemental_id=element_of(row, namespace)))
        except ValueError:
            return ""
        return dtype_of(files.path_of(row)) if known is None and spec.create_media else ""

    return Needs(spec, definitions, media_kind).read(archive.rows())


def run_part(uid: str, part: int) -> None:
    """Create what a part holds, and send the next; a part that is done sends the next only.

    Raises:
        NotFound, BadInput: an entity that it needs was deleted after the check.
        Forbidden: the user may no longer import into the project.
    """
    found = records.maybe(IMPORT, uid)
    if found is None or found.status != "running":
        if found is not None:
            imports_service.clean_up(found.project, uid)
        return
    if found.part == part:
        phase, number = _place(found, part)
        writer, project = _writer(found)
        body = objects.read(_part_key(found, phase, number))
        key = imports_service.key_of(found.spec, project, found.user)
        opened = partial(archives.contents, found.spec, key)
        creating.create(phase, body, writer, project, opened, lambda: _is_there(uid), uid)
        try:
            found = records.edit(IMPORT, uid, lambda current: _advance(current, part), also=note_end)
        except NotFound:
            imports_service.clean_up(found.project, uid)
            return
    if found.status == "running":
        send(settings().dataset_queue_url, RunImportPart(uid=uid, part=found.part, project=found.project))
    else:
        imports_service.clean_up(found.project, uid)


def fail(uid: str, reason: Exception) -> None:
    """Note why an import failed. What was created stays; an import of the same archive continues it."""

    def record_failure(current: StoredImport) -> StoredImport | None:
        if current.is_finished:
            return None
        return msgspec.structs.replace(
            current, status="failed", stop_time=now(), message=reason_of(reason, has_details=True)
        )

    with contextlib.suppress(NotFound):
        found = records.edit(IMPORT, uid, record_failure, also=note_end)
        if found.status == "failed":
            notifications_service.notify([found.user], "imports", found.project, uid)
        imports_service.clean_up(found.project, uid)


def reopen(uid: str) -> None:
    """Let an import that failed begin anew: what it created is found again. Another one stays as it is."""
    outcomes.reopen(IMPORT, uid, stop_time=None, message=None, report=None, parts={}, part=0)


def note_end(change: Transaction, _before: StoredImport, after: StoredImport) -> None:
    """Add the event of the end of an import, `import.done`; a dry run has one, too."""
    if not after.is_finished:
        return
    data: dict[str, Any] = {"status": after.status, "dry_run": after.spec.dry_run, "message": after.message}
    data["name"] = after.spec.name
    if after.report is not None:
        data |= {name: getattr(after.report, name).accepted for name in ("media", "localizations", "states")}
    change.add_note(after.project, after.user, Note(type="import.done", kind="import", id=after.uid, data=data))


def _is_there(uid: str) -> bool:
    return records.maybe(IMPORT, uid) is not None


def _advance(current: StoredImport, part: int) -> StoredImport | None:
    if current.part != part or current.status != "running":
        return None
    is_last = part + 1 == sum(map(len, current.parts.values()))
    return msgspec.structs.replace(
        current, part=part + 1, status="succeeded" if is_last else "running", stop_time=now() if is_last else None
    )


def _place(found: StoredImport, part: int) -> tuple[Phase, int]:
    """The phase of a part, and its number there."""
    for phase in PHASES:
        count = len(found.parts.get(phase, ()))
        if part < count:
            return phase, part
        part -= count
    raise AssertionError(part)


def _write(found: StoredImport, phase: Phase, number: int, rows: Sequence[Any]) -> None:
    if not found.spec.dry_run:
        objects.write(_part_key(found, phase, number), _encode(rows), "application/json")


def _part_key(found: StoredImport, phase: Phase, number: int) -> ObjectKey:
    return object_keys.pieces_prefix(found.project, found.uid) + f"{phase}-{number:06d}.json"


def _writer(found: StoredImport) -> tuple[Writer, Project]:
    """The user of an import with their present permission. Raises Forbidden or NotFound."""
    project = records.get(PROJECT, found.project)
    if project.deleted is not None:
        raise Forbidden("The project of the import was deleted.")
    scope = scope_of(found.user, project.id, "import", Level.TRANSFER)
    return Writer(project=project.id, user=found.user, level=scope.within_project(project.id), scope=scope), project
