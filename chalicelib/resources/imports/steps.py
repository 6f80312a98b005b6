"""The work of imports, run by the queue function: see `service` for the order of the steps."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import msgspec

from chalicelib.access.authentication import Caller
from chalicelib.access.scope import Scope
from chalicelib.core import object_keys
from chalicelib.core.accounts import PROJECT, USER, Project
from chalicelib.core.definitions import VERSION
from chalicelib.core.object_keys import ObjectKey
from chalicelib.core.permissions import Level
from chalicelib.core.resource import now
from chalicelib.errors import Forbidden, LimnError, NotFound
from chalicelib.queues import send
from chalicelib.resources.annotations.creation import default_version
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.imports import archives, creating
from chalicelib.resources.imports import service as imports_service
from chalicelib.resources.imports.checking import PHASES, Check, Phase
from chalicelib.resources.imports.messages import RunImportPart
from chalicelib.resources.imports.schemas import IMPORT, StoredImport
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
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
        writer, project = _writer(found)
        archive = archives.open_archive(found.spec, imports_service.key_of(found.spec, project, found.user))
        versions = {version.id: version for version in records.list_children(VERSION, project.id)}
        checked = Check(
            found.spec,
            project.id,
            writer.scope,
            records.definitions(project.id),
            archive,
            archives.namespace(archive, found.spec),
            default_version(writer, versions) if not found.spec.dry_run else min(versions, default=0),
            lambda phase, number, rows: _write(found, phase, number, rows),
        )
        checked.run(archives.reader_of(found.spec)(archive))
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

        found = records.edit(IMPORT, uid, prepare)
    if found.status == "running":
        send(settings().dataset_queue_url, RunImportPart(uid=uid, part=found.part))


def run_part(uid: str, part: int) -> None:
    """Create what a part holds, and send the next; a part that is done sends the next only.

    Raises:
        NotFound, BadInput: an entity that it needs was deleted after the check.
        Forbidden: the user may no longer import into the project.
    """
    found = records.maybe(IMPORT, uid)
    if found is None or found.status != "running":
        if found is not None:
            imports_service.clean_up(found)
        return
    if found.part == part:
        phase, number = _place(found, part)
        writer, project = _writer(found)
        body = objects.read(_part_key(found, phase, number))
        creating.create(phase, body, writer, project, _Source(found, project), lambda: _is_there(uid))
        try:
            found = records.edit(IMPORT, uid, lambda current: _advance(current, part))
        except NotFound:
            imports_service.clean_up(found)
            return
    if found.status == "running":
        send(settings().dataset_queue_url, RunImportPart(uid=uid, part=found.part))
    else:
        imports_service.clean_up(found)


def fail(uid: str, reason: Exception) -> None:
    """Note why an import failed. What was created stays; an import of the same archive continues it."""
    message = reason.message if isinstance(reason, LimnError) else "Something went wrong on our side."
    if isinstance(reason, LimnError) and reason.details not in ("", "None"):
        message = f"{message} {reason.details}"

    def record_failure(current: StoredImport) -> StoredImport | None:
        if current.is_finished:
            return None
        return msgspec.structs.replace(current, status="failed", stop_time=now(), message=message[:2000])

    with contextlib.suppress(NotFound):
        imports_service.clean_up(records.edit(IMPORT, uid, record_failure))


class _Source:
    """The archive, opened when a part needs a file of it."""

    def __init__(self, found: StoredImport, project: Project) -> None:
        self._found, self._project = found, project
        self._archive: Any = None

    def __call__(self) -> Any:
        if self._archive is None:
            key = imports_service.key_of(self._found.spec, self._project, self._found.user)
            self._archive = archives.open_archive(self._found.spec, key)
        return self._archive


def _is_there(uid: str) -> bool:
    return records.maybe(IMPORT, uid) is not None


def _advance(current: StoredImport, part: int) -> StoredImport | None:
    if current.part != part or current.status != "running":
        return None
    is_last = part + 1 == sum(map(len, current.parts.values()))
    return msgspec.structs.replace(
        current,
        part=part + 1,
        status="succeeded" if is_last else "running",
        stop_time=now() if is_last else None,
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
    user = records.get(USER, found.user)
    caller = Caller(id=user.id, username=user.username, is_staff=user.is_staff)
    scope = Scope.of(caller, Level.TRANSFER)
    level = scope.within_project(project.id)
    if project.deleted is not None or level < Level.TRANSFER or not user.is_active:
        raise Forbidden("The user who started the import may no longer write to the project.")
    return Writer(project=project.id, user=user.id, level=level, scope=scope), project
