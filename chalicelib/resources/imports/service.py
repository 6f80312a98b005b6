"""Imports of datasets: an archive becomes media, localizations and states, in the background.

    1. POST                 the message, then the record
    2. CheckImport          reads the archive (`checking`), stores the parts as objects, then counts and report
    3. RunImportPart n      creates what part n holds (`creating`), notes it in the record, then sends n + 1

A message that comes again does nothing twice: a check writes the same parts, a part creates the rows whose
elements are missing, and a part that is noted as done only sends the next.
"""

from __future__ import annotations

import contextlib
import itertools
import uuid
from collections.abc import Sequence
from typing import Any

import msgspec

from chalicelib.access.authentication import Caller
from chalicelib.access.scope import Scope
from chalicelib.core import object_keys
from chalicelib.core.accounts import PROJECT, USER, Project
from chalicelib.core.definitions import VERSION, Definitions
from chalicelib.core.kinds import Kind
from chalicelib.core.object_keys import ObjectKey
from chalicelib.core.permissions import Level
from chalicelib.core.records import padded
from chalicelib.core.resource import now
from chalicelib.errors import BadInput, Forbidden, LimnError, NotFound
from chalicelib.queues import send
from chalicelib.resources.annotations.creation import default_version
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.imports import archives, creating
from chalicelib.resources.imports.checking import PHASES, Check, Phase
from chalicelib.resources.imports.messages import CheckImport, RunImportPart
from chalicelib.resources.imports.schemas import IMPORT, Import, ImportProgress, ImportSpec, StoredImport
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import objects

_DTYPES = {"box": "box", "line": "line", "dot": "dot", "poly": ("poly", "box"), "media": "image"}
_ASSOCIATIONS = {"track": "Localization", "frame": "Frame", "note": "Media"}
_encode = msgspec.json.Encoder().encode


def start(scope: Scope, project: Project, spec: ImportSpec) -> StoredImport:
    """Start an import of an archive that the caller uploaded.

    Raises:
        BadInput: the upload does not exist or is not the caller's, or a type or version is not the project's.
        TooLarge: the archive is too large.
    """
    archives.RangeFile(_key(spec, project, scope.caller.id))
    _check_targets(spec, records.definitions(project.id))
    if spec.version is not None and records.find(VERSION, project.id, padded(spec.version)) is None:
        message = f"version: the project has no version {spec.version}."
        raise BadInput(message)
    made = StoredImport(uid=str(uuid.uuid4()), project=project.id, user=scope.caller.id, spec=spec, start_time=now())
    # Sent first, so that no crash leaves an import that never begins; the function waits for the record.
    send(settings().dataset_queue_url, CheckImport(uid=made.uid))
    return records.create(IMPORT, made)


def cancel(found: StoredImport) -> None:
    """Remove an import. Work on it stops; what was created stays."""
    with contextlib.suppress(NotFound):
        records.remove(IMPORT, found.uid)
    _clean_up(found)


def shown(found: StoredImport) -> Import:
    """An import as a response document."""
    sizes = list(itertools.chain.from_iterable(found.parts.values()))
    return Import(
        id=found.uid,
        uid=found.uid,
        project=found.project,
        user=found.user,
        name=found.spec.name or "",
        format=found.spec.format,
        dry_run=found.spec.dry_run,
        status=found.status,
        start_time=found.start_time,
        stop_time=found.stop_time,
        message=found.message,
        progress=ImportProgress(done=sum(sizes[: found.part]), total=sum(sizes)),
        report=found.report,
    )


# --- steps -----------------------------------------------------------------------------------------------------------


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
        archive = archives.open_archive(found.spec, _key(found.spec, project, found.user))
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

        def prepared(current: StoredImport) -> StoredImport | None:
            if current.status != "pending":
                return None
            return msgspec.structs.replace(
                current,
                status="succeeded" if is_over else "running",
                stop_time=now() if is_over else None,
                report=checked.report,
                parts={phase: sizes for phase, sizes in checked.parts.items() if sizes and not found.spec.dry_run},
            )

        found = records.edit(IMPORT, uid, prepared)
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
            _clean_up(found)
        return
    if found.part == part:
        phase, number = _place(found, part)
        writer, project = _writer(found)
        body = objects.read(_part_key(found, phase, number))
        creating.create(phase, body, writer, project, _Source(found, project), lambda: _is_there(uid))
        try:
            found = records.edit(IMPORT, uid, lambda current: _advanced(current, part))
        except NotFound:
            _clean_up(found)
            return
    if found.status == "running":
        send(settings().dataset_queue_url, RunImportPart(uid=uid, part=found.part))
    else:
        _clean_up(found)


def fail(uid: str, reason: Exception) -> None:
    """Note why an import failed. What was created stays; an import of the same archive continues it."""
    message = reason.message if isinstance(reason, LimnError) else "Something went wrong on our side."
    if isinstance(reason, LimnError) and reason.details not in ("", "None"):
        message = f"{message} {reason.details}"

    def failed(current: StoredImport) -> StoredImport | None:
        if current.is_finished:
            return None
        return msgspec.structs.replace(current, status="failed", stop_time=now(), message=message[:2000])

    with contextlib.suppress(NotFound):
        _clean_up(records.edit(IMPORT, uid, failed))


class _Source:
    """The archive, opened when a part needs a file of it."""

    def __init__(self, found: StoredImport, project: Project) -> None:
        self._found, self._project = found, project
        self._archive: Any = None

    def __call__(self) -> Any:
        if self._archive is None:
            key = _key(self._found.spec, self._project, self._found.user)
            self._archive = archives.open_archive(self._found.spec, key)
        return self._archive


def _is_there(uid: str) -> bool:
    return records.maybe(IMPORT, uid) is not None


def _advanced(current: StoredImport, part: int) -> StoredImport | None:
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


def _clean_up(found: StoredImport) -> None:
    objects.remove(list(objects.under(object_keys.pieces_prefix(found.project, found.uid))))


def _key(spec: ImportSpec, project: Project, user: int) -> ObjectKey:
    return object_keys.authorize_own_upload(spec.key, project.organization, project.id, user, "key")


def _writer(found: StoredImport) -> tuple[Writer, Project]:
    """The user of an import with their present permission. Raises Forbidden or NotFound."""
    project = records.get(PROJECT, found.project)
    user = records.get(USER, found.user)
    caller = Caller(id=user.id, username=user.username, is_staff=user.is_staff)
    scope = Scope.of(caller, Level.TRANSFER)
    level = scope.within_project(project.id)
    if project.deleted is not None or level < Level.TRANSFER:
        raise Forbidden("The user who started the import may no longer write to the project.")
    return Writer(project=project.id, user=user.id, level=level, scope=scope), project


def _check_targets(spec: ImportSpec, definitions: Definitions) -> None:
    """Raise BadInput for a type that is not one of the project's, or of another kind."""
    for word, number in spec.types.items():
        kind = Kind.MEDIA if word == "media" else Kind.STATE if word in _ASSOCIATIONS else Kind.LOCALIZATION
        found: Any = definitions.types(kind).get(number)
        if word in _ASSOCIATIONS:
            fits = getattr(found, "association", "") == _ASSOCIATIONS[word]
        else:
            fits = getattr(found, "dtype", "") in _DTYPES[word] if found else False
        if not fits:
            message = f"types.{word}: the project has no such type {number}."
            raise BadInput(message)
    for name, target in spec.classes.items():
        if target.type is not None and target.type not in definitions.types(Kind.LOCALIZATION):
            message = f"classes.{name}.type: the project has no localization type {target.type}."
            raise BadInput(message)
