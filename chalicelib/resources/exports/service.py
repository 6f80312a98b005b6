"""Exports: create, show, delete, expire. `steps.py` and `joining.py` do the work."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.datasets import DATASET, EXPORT, ExportWork, StoredExport, StoredVersion
from chalicelib.core.models.jobs import JobProgress
from chalicelib.core.permissions import Level
from chalicelib.core.resource import now, shared, timestamp
from chalicelib.core.time import clock
from chalicelib.errors import BadInput, Conflict, NotFound, Taken, TooMany
from chalicelib.queues import send
from chalicelib.resources.exports import places, selection, steps
from chalicelib.resources.exports.messages import PlanExport, RemoveExport, WorkKind
from chalicelib.resources.exports.schemas import Export, ExportSpec
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import limits, records
from chalicelib.storage.dynamodb.progress import pieces
from chalicelib.storage.objects import objects

KEPT = timedelta(days=7)
"""How long an export is kept. A rule of the bucket removes its objects two days later in any case."""
LINK_SECONDS = 3600
MOST_AT_WORK = 5
"""Unfinished exports and versions of one user in a project."""
FORGOTTEN = timedelta(minutes=15)
"""An export that was not planned after that long is planned again: the request that made it died."""
AFTER_REQUESTS = 60
"""Seconds after which no request is still at work."""
_CLASS_DTYPES = ("string", "enum", "int", "bool")
_EPSILON = 1e-6


def create(project: Project, scope: Scope, spec: ExportSpec) -> StoredExport:
    """Make an export, to be worked off in the background.

    Raises:
        BadInput: members do not go together, or a query is not valid.
        NotFound: there is no such version of a dataset.
        TooMany: the user has as many unfinished exports as allowed.
    """
    _check(spec)
    version = find_version(project.id, scope, spec.dataset) if spec.dataset is not None else None
    if version is None:
        seq, snapshot = check_selection(project.id, scope, spec)
    else:
        seq, snapshot = version.seq, None
    check_room(project.id, scope.caller.id)
    moment = clock.utc_now()
    export = StoredExport(
        uid=str(uuid.uuid4()),
        project=project.id,
        user=scope.caller.id,
        name=spec.name or (version.name if version else project.name),
        created_datetime=timestamp(moment),
        expires_datetime=timestamp(moment + KEPT),
        seq=seq,
        snapshot=snapshot,
        format=spec.format,
        dataset=version.uid if version else None,
    )
    start(export, "export", spec)
    return export


def start(work: ExportWork, kind: WorkKind, spec: ExportSpec) -> None:
    """Send the first message of an export or a version, store what was asked for, then the record.

    The message finds the record, or removes the object of a request that died or was refused.
    """
    limits.check(steps.KINDS[kind], work)
    send(settings().dataset_queue_url, PlanExport(uid=work.uid, kind=kind, project=work.project))
    objects.write(places.spec_key(work), msgspec.json.encode(spec), "application/json")
    try:
        records.create(
            steps.KINDS[kind],
            work,
            taken=name_is_taken(work.name),
            within=(f"exports|{work.project}", lambda: check_room(work.project, work.user)),
        )
    except (BadInput, TooMany, Conflict):  # after any other error the record may be stored
        steps.clean_up(work, whole=True)
        raise


def name_is_taken(name: str) -> BadInput:
    """The refusal of a second version of a name."""
    return Taken(f"name: the project has a version {name!r} already.")


def check_room(project: int, user: int) -> int:
    """How many more exports and versions a user may have at work in a project. Raises TooMany for none."""
    kept = [*records.list_children(EXPORT, project), *records.list_children(DATASET, project)]
    refusal = f"{MOST_AT_WORK} exports of yours are at work in this project. Wait for one, or delete one."
    return limits.room_at_work(kept, user, MOST_AT_WORK, refusal)


def check_selection(project: int, scope: Scope, spec: ExportSpec) -> tuple[int, str | None]:
    """Check the queries and classes of a selection; the commit it is read at, and the snapshot that this begins from.

    Raises:
        BadInput: a query is not valid, or the attribute of classes does not exist.
        NotFound: there is no such section.
    """
    reader = scope.for_level(Level.VIEW)
    view = view_queries.current(project)
    selection.check_names(spec, view, reader)
    selection.check(view, selection.queries(spec), reader)
    if spec.classes and (name := spec.classes.attribute) is not None:
        found = [
            attribute.dtype
            for kind in (Kind.LOCALIZATION, Kind.STATE)
            for definition in view.definitions.types(kind).values()
            if (attribute := definition.attribute(name)) is not None
        ]
        if not found:
            raise BadInput(f"classes.attribute: no type of localizations or states has an attribute {name!r}.")
        if wrong := [dtype for dtype in found if dtype not in _CLASS_DTYPES]:
            raise BadInput(f"classes.attribute: {name!r} is a {wrong[0]}; a class is a {', '.join(_CLASS_DTYPES)}.")
    return selection.pin(project, spec.seq)


def _check(spec: ExportSpec) -> None:
    """Raise BadInput for members that do not go together."""
    if (spec.every is not None) != (spec.frames == "every"):
        raise BadInput('every: give it together with frames: "every", and only then.')
    if spec.frames == "none" and spec.image_height is not None:
        raise BadInput("image_height: the export has no pictures; give frames as well.")
    if spec.frames == "crops" and spec.image_height is not None:
        raise BadInput("image_height: crops are not scaled.")
    if spec.split is not None:
        total = spec.split.train + spec.split.val + spec.split.test
        if abs(total - 1) > _EPSILON:
            raise BadInput(f"split: the shares add up to {total:g}; they must add up to 1.")
    if spec.dataset is not None:
        given = [
            name
            for name in ("localizations", "states", "media", "sections", "versions", "seq")
            if getattr(spec, name) is not None
        ]
        if given:
            raise BadInput(f"{given[0]}: a version of a dataset is exported as it is; leave out {given[0]} or dataset.")


def find_version(project: int, scope: Scope, word: str) -> StoredVersion:
    """A finished version of a dataset of a project, by its name or uid.

    Raises:
        NotFound: there is none that the caller may see.
        BadInput: it is not finished.
    """
    found = records.get_claimed(DATASET, "name", f"{project}|{word}") or records.maybe(DATASET, word)
    if found is None or found.project != project or not is_visible(found, scope):
        raise NotFound.of("Dataset", word)
    if found.status != "succeeded":
        raise BadInput(f"dataset: {found.name!r} is {found.status}; it can be exported once it has succeeded.")
    version: StoredVersion = found
    return version


def is_visible(version: StoredVersion, scope: Scope) -> bool:
    """Whether a caller may see all that a version has: it is the caller's own, or the caller sees the whole project.

    A guest sees the version that the share link names.
    """
    if (view := scope.caller.guest_view) is not None:
        return bool(view.dataset) and view.dataset == version.uid
    return version.user == scope.caller.id or not scope.for_level(Level.VIEW).terms(version.project)


def list_exports(project: int, user: int) -> list[StoredExport]:
    """The exports of a user in a project that have not expired, oldest first."""
    found = [
        each for each in records.list_children(EXPORT, project) if each.user == user and each.expires_datetime > now()
    ]
    return sorted(found, key=lambda each: (each.created_datetime, each.uid))


def remove(export: StoredExport) -> None:
    """Cancel or delete an export. Steps that are at work remove what they write when they find the record gone."""
    remove_work(export, "export")


def remove_work(work: ExportWork, kind: WorkKind) -> None:
    """Delete an export or a version with its objects. The message finds what a crash leaves."""
    message = RemoveExport(uid=work.uid, kind=kind, project=work.project, sent=now())
    send(settings().dataset_queue_url, message, delay=AFTER_REQUESTS)
    records.remove(steps.KINDS[kind], work.uid)
    steps.clean_up(work, whole=True)


def sweep(project: int) -> None:
    """Delete the expired exports of a project, and plan those whose message was lost."""
    moment = clock.utc_now()
    forgotten = timestamp(moment - FORGOTTEN)
    kinds: tuple[WorkKind, ...] = ("export", "dataset")
    for kind in kinds:
        for work in records.list_children(steps.KINDS[kind], project):
            if kind == "export" and work.expires_datetime <= timestamp(moment):
                remove(work)
            elif work.status == "pending" and work.created_datetime <= forgotten:
                again = PlanExport(uid=work.uid, kind=kind, project=project)
                send(settings().dataset_queue_url, again)


def progress_of(work: ExportWork) -> JobProgress:
    """How many parts are done, of how many."""
    done = work.parts if work.is_finished or not work.parts else pieces.count_of_group(work.uid, 0)
    return JobProgress(done=min(done, work.parts), total=work.parts)


def as_response(export: StoredExport, *, linked: bool = False) -> Export:
    """An export as a response has it; with `linked` the URL of its archive."""
    url = download_url(export) if linked and export.status == "succeeded" else None
    return Export(id=export.uid, progress=progress_of(export), url=url, **shared(export, Export))


def download_url(export: StoredExport) -> str:
    """A URL that opens the archive without credentials for an hour."""
    name = re.sub(r"[^\w .()+=@,-]", "_", export.name, flags=re.ASCII)
    disposition = f'attachment; filename="{name}.zip"'
    return objects.presign_get(
        places.archive_key(export), LINK_SECONDS, headers={"ResponseContentDisposition": disposition}
    )
