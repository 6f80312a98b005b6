"""Imports of datasets: an archive becomes media, localizations and states, in the background.

    1. POST                 the message, then the record
    2. CheckImport          reads the archive (`checking`), stores the parts as objects, then counts and report
    3. RunImportPart n      creates what part n holds (`creating`), notes it in the record, then sends n + 1

A message that comes again does nothing twice: a check writes the same parts, a part creates the rows whose
elements are missing, and a part that is noted as done only sends the next.
"""

from __future__ import annotations

import itertools
import uuid
from typing import Any

from chalicelib.access.scope import Scope
from chalicelib.core.keys import object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.definitions import VERSION, Definitions
from chalicelib.core.permissions import Level
from chalicelib.core.records import padded
from chalicelib.core.resource import now, shared
from chalicelib.core.values.shapes import SHAPES
from chalicelib.errors import BadInput, Forbidden, TooLarge
from chalicelib.queues import send
from chalicelib.resources.entities.service import unknown_type
from chalicelib.resources.imports.mapping import ASSOCIATION_OF
from chalicelib.resources.imports.messages import CheckImport, RemoveImport
from chalicelib.resources.imports.schemas import IMPORT, Import, ImportProgress, ImportSpec, StoredImport
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import limits, records
from chalicelib.storage.objects import objects

_DTYPES = {kind: (kind,) for kind in (*SHAPES, "image", "video")} | {"poly": ("poly", "box"), "media": ("image",)}
_MEDIA = ("media", "image", "video")
MAX_ARCHIVE_BYTES = 50 * 1024**3
"""Bytes of an archive."""
MOST_AT_WORK = 5
"""Imports of one user that may be at work in a project."""
AFTER_REQUESTS = 60
"""Seconds after which no request is still at work."""


def start(scope: Scope, project: Project, spec: ImportSpec) -> StoredImport:
    """Start an import of an archive that the caller uploaded.

    Raises:
        BadInput: the upload does not exist or is not the caller's, or a type or version is not the project's.
        TooLarge: the archive is too large.
        TooMany: `MOST_AT_WORK` imports of the caller are at work in the project.
    """
    check_room(project.id, scope.caller.id)
    check_size(objects.head(key_of(spec, project, scope.caller.id)), spec)
    if spec.create_types and not may_create_types(scope, project):
        raise Forbidden("create_types: types are created by users with 'Full Control' of the project.")
    _check_targets(spec, records.definitions(project.id))
    if spec.version is not None and records.find(VERSION, project.id, padded(spec.version)) is None:
        raise BadInput(f"version: the project has no version {spec.version}.")
    made = StoredImport(uid=str(uuid.uuid4()), project=project.id, user=scope.caller.id, spec=spec, start_time=now())
    limits.check(IMPORT, made)
    # Sent first, so that no crash leaves an import that never begins; the function waits for the record.
    send(settings().dataset_queue_url, CheckImport(uid=made.uid, project=made.project))
    return records.create(IMPORT, made, within=(f"imports|{made.project}", lambda: check_room(made.project, made.user)))


def check_room(project: int, user: int) -> int:
    """How many more imports a user may have at work in a project. Raises TooMany for none."""
    kept = records.list_children(IMPORT, project)
    refusal = f"{MOST_AT_WORK} imports of yours are at work in this project. Wait for one, or cancel one."
    return limits.room_at_work(kept, user, MOST_AT_WORK, refusal)


def is_visible(found: StoredImport, scope: Scope) -> bool:
    """Whether a caller may see an import, whose report names media: the caller's own, or one who sees all media."""
    return found.user == scope.caller.id or not scope.for_level(Level.VIEW).terms(found.project)


def may_create_types(scope: Scope, project: Project) -> bool:
    """Whether a user may create types in a project."""
    return scope.project_level(project.id, "project", lambda: project) >= Level.FULL


def cancel(found: StoredImport) -> None:
    """Remove an import. Work on it stops; what was created stays. The message finds what a crash leaves."""
    message = RemoveImport(uid=found.uid, project=found.project, sent=now())
    send(settings().dataset_queue_url, message, delay=AFTER_REQUESTS)
    records.discard(IMPORT, found.uid)
    clean_up(found.project, found.uid)


def as_response(found: StoredImport) -> Import:
    """An import as a response document."""
    sizes = list(itertools.chain.from_iterable(found.parts.values()))
    return Import(
        id=found.uid,
        name=found.spec.name or "",
        format=found.spec.format,
        dry_run=found.spec.dry_run,
        progress=ImportProgress(done=sum(sizes[: found.part]), total=sum(sizes)),
        **shared(found, Import),
    )


def check_size(found: tuple[int, str] | None, spec: ImportSpec) -> None:
    """Refuse a missing or too large archive, given what the store says of it. Raises BadInput or TooLarge."""
    if found is None:
        raise BadInput(f"key: there is no object {spec.key}.")
    if found[0] > MAX_ARCHIVE_BYTES:
        raise TooLarge(f"key: the archive has {found[0]} bytes; at most {MAX_ARCHIVE_BYTES} are imported.")


def clean_up(project: int, uid: str) -> None:
    """Remove the parts of an import. Idempotent."""
    objects.remove(list(objects.under(object_keys.pieces_prefix(project, uid))))


def remove_leftovers(project: int, uid: str) -> None:
    """Remove the parts of an import that has no record. Idempotent."""
    if project and records.maybe(IMPORT, uid) is None:
        clean_up(project, uid)


def key_of(spec: ImportSpec, project: Project, user: int) -> ObjectKey:
    """The key of the archive. Raises BadInput if it is not an upload of the user's."""
    return object_keys.authorize_own_upload(spec.key, project.organization, project.id, user, "key")


def _check_targets(spec: ImportSpec, definitions: Definitions) -> None:
    """Raise BadInput for a type that is not one of the project's, or of another kind."""
    for word, number in spec.types.items():
        kind = Kind.MEDIA if word in _MEDIA else Kind.STATE if word in ASSOCIATION_OF else Kind.LOCALIZATION
        found: Any = definitions.types(kind).get(number)
        if word in ASSOCIATION_OF:
            fits = getattr(found, "association", "") == ASSOCIATION_OF[word]
        else:
            fits = getattr(found, "dtype", "") in _DTYPES[word] if found else False
        if not fits:
            rule = f"type {number} {found.name!r} is for others." if found else None
            raise BadInput(f"types.{word}: {rule or unknown_type(kind, definitions.project, number)}")
    for name, target in spec.classes.items():
        if target.type is not None and target.type not in definitions.types(Kind.LOCALIZATION):
            rule = unknown_type(Kind.LOCALIZATION, definitions.project, target.type)
            raise BadInput(f"classes.{name}.{rule}")
