"""Uploads and downloads: clients access S3 directly, by presigned URLs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from chalicelib.access import authentication
from chalicelib.access.scope import Scope
from chalicelib.core.keys import key_forms, object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.time import clock
from chalicelib.errors import BadInput, Forbidden
from chalicelib.resources.buckets import service as buckets_service
from chalicelib.resources.entities import object_cleanup
from chalicelib.resources.uploads import unclaimed
from chalicelib.storage.dynamodb import entities
from chalicelib.storage.objects import objects, owners, presigned


def key_for(
    project: Project,
    scope: Scope,
    *,
    media: int | None,
    file: int | None,
    filename: str | None,
    bucket: int | None = None,
) -> ObjectKey:
    """A new key: under a media, under a File, or among the uploads; in the project's upload bucket, or in `bucket`.

    Raises:
        BadInput: both are given, or the given one does not belong to the project.
        Forbidden: the caller may not upload there.
    """
    if media is not None and file is not None:
        raise BadInput("media_id and file_id: give one of them, not both.")
    if media is not None:
        _check_in(scope, project, Kind.MEDIA, media, "media_id")
    elif file is not None:
        _check_in(scope, project, Kind.FILE, file, "file_id")
    is_upload = media is None and file is None
    name = buckets_service.name_object(
        project, key_forms.name_for(filename), bucket or (project.upload_bucket if is_upload else project.bucket)
    )
    if media is not None:
        return object_keys.media_key(project.organization, project.id, media, name)
    if file is not None:
        return object_keys.file_key(project.organization, project.id, file, name)
    day = clock.utc_now().date().isoformat()
    return object_keys.upload_key(project.organization, project.id, scope.caller.id, name, day)


def begin(key: ObjectKey, parts: int, seconds: int) -> tuple[str, list[str]]:
    """The id of a multipart upload (empty for a single part) and a URL for each part, in order.

    The object is looked at once more after the URLs have expired (`unclaimed.py`).
    """
    upload, urls = (
        ("", [objects.presign_put(key, seconds)]) if parts == 1 else objects.presign_parts(key, parts, seconds)
    )
    unclaimed.watch(key, upload, seconds)
    return upload, urls


def download_urls(scope: Scope, project: Project, wanted: list[str], seconds: int) -> list[str]:
    """A URL for each key, in order; URLs that the user got before are reused while they are valid.

    Raises:
        Forbidden: a key belongs to another project or organization, or to a media or File that the caller may not read.
        BadInput: a key is malformed.
    """
    keys = authorize(scope, project, wanted)
    found = presigned.urls(scope.caller.id, keys, seconds)
    return [found[key] for key in keys]


def authorize(scope: Scope, project: Project, wanted: Iterable[str]) -> list[ObjectKey]:
    """The keys of a project's objects that a caller names and may read, in order.

    Raises:
        Forbidden: a key belongs to another project or organization, or to a media or File that the caller may not read.
        BadInput: a key is malformed.
    """
    paths = list(wanted)
    named = [
        owners.Named(project.id, owner[2], path)
        for path in paths
        if key_forms.is_reference(path) and (owner := key_forms.owner_of(path)) and owner[0] == project.id
    ]
    referred = {each.path: key for each, key in owners.authorize_many(named).items()}
    keys = [
        referred.get(path) or object_keys.authorize_project_key(path, project.organization, project.id)
        for path in paths
    ]
    check_open(scope, project.id, keys)
    return keys


def _check_in(scope: Scope, project: Project, kind: Kind, number: int, name: str) -> None:
    found = entities.maybe(kind, number)
    if found is None or found.project != project.id:
        raise BadInput(f"{name}: there is no {kind} {number} in project {project.id}.")
    scope.check(kind, [found])


def authorize_completion(path: str, project: Project, scope: Scope) -> ObjectKey:
    """The key of an upload that a caller may complete: of a media, of a File, or among the caller's own uploads.

    A key of OrganizationUploadInfo, `organization/name`, is completed in any project of the organization by a member of
    that organization: the API has no other operation for it.

    Raises:
        Forbidden: it belongs to another project, organization or user, or to an entity that the caller may not change.
        BadInput: it is malformed, or its media or File was deleted.
    """
    caller = scope.caller
    if key_forms.is_organizations(path):
        key = object_keys.authorize_organization_key(path, project.organization)
        if not authentication.organization_level(caller, project.organization):
            message = f"key: {path!r} does not belong to the organization of project {project.id}, or you do not."
            raise Forbidden(message)
        return key
    (key,) = authorize(scope, project, [path])
    owner = key_forms.owner_of(path)
    if owner is not None:
        _check_in(scope, project, Kind(owner[1]), owner[2], "key")
    elif key_forms.uploader_of(path) != caller.id:
        raise Forbidden(f"key: {path!r} is not an upload of yours.")
    return key


def check_open(scope: Scope, project: int, wanted: Iterable[ObjectKey]) -> None:
    """Raise Forbidden unless a caller may read the objects of a project's keys.

    An object in the folder of a media is readable with the media, or with any clone that names it. Uploads do not
    belong to a media yet: those of other users are readable only by callers who may see all media of the project.
    """
    restricted = scope.terms(project)
    folders: defaultdict[tuple[Kind, int], set[ObjectKey]] = defaultdict(set)
    for key in wanted:
        if (owner := key_forms.owner_of(key.path)) and Kind(owner[1]) in restricted:
            folders[Kind(owner[1]), owner[2]].add(key)
        if key_forms.uploader_of(key.path) not in (None, scope.caller.id) and Kind.MEDIA in restricted:
            message = f"key: {key.path!r} is the upload of another user, and parts of the project are closed to you."
            raise Forbidden(message)
    for (kind, number), keys_there in folders.items():
        _check_folder(scope, project, kind, number, keys_there)


def _check_folder(scope: Scope, project: int, kind: Kind, number: int, wanted: set[ObjectKey]) -> None:
    others = owners.clones(project, number) if kind is Kind.MEDIA else ()
    rows = [row.entity for row in entities.many(kind, [number, *others]).values() if row.entity.project == project]
    closed = set(wanted)
    for row in scope.visible(kind.value, rows):
        closed -= wanted if row.id == number else object_cleanup.object_keys_of(row)
    if closed:
        raise Forbidden(f"key: {min(closed).path!r} belongs to a {kind} that is closed to you.")
