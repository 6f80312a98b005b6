"""Functions that all operations on media share: sections, keys of roles, presigned documents.

`creation` creates media, whose images a queue function imports later; `changes` changes one or many; `deletion`
deletes them with their annotations (`clearing`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec

from chalicelib.access.authentication import Caller
from chalicelib.core.keys import key_forms, object_keys
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import PROJECT, Project
from chalicelib.core.models.definitions import MEDIA_TYPE, Definitions, MediaType, Section
from chalicelib.core.models.entities import Media
from chalicelib.core.models.media_files import ROLES, TAG_ATTRIBUTE, MediaFiles, VideoDefinition
from chalicelib.core.values.attribute_values import merge
from chalicelib.core.values.revisions import up_to_date
from chalicelib.core.web import origins
from chalicelib.errors import BadInput, LimnError, NotFound
from chalicelib.resources.buckets import service as buckets_service
from chalicelib.resources.entities.service import unknown_type as unknown_type_of
from chalicelib.resources.media.schemas import tag_text, tagged_names, with_tag
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import owners, presigned

NO_SECTION = -1
_ALLOWED = (TAG_ATTRIBUTE,)
DOWNLOADED = ("archival", "attachment")
"""The roles of files that are downloaded, and not shown."""


def type_of(definitions: Definitions, number: int) -> MediaType:
    """The media type with an id. Raises BadInput: the project has no such type."""
    found = definitions.types(Kind.MEDIA).get(number)
    if not isinstance(found, MediaType):
        raise BadInput(unknown_type_of(Kind.MEDIA, definitions.project, number))
    return found


def unknown_type(project: int, number: int, place: str = "") -> LimnError:
    """The error for an id that is no media type of the project: 400 for one of another project, else 404."""
    found = records.maybe(MEDIA_TYPE, number) if number > 0 else None
    return (BadInput if found or number < 1 else NotFound)(place + unknown_type_of(Kind.MEDIA, project, number))


def types_of(definitions: Definitions) -> dict[int, MediaType]:
    """The media types of a project, by id, in the order of the ids."""
    return {number: type_of(definitions, number) for number in sorted(definitions.types(Kind.MEDIA))}


def folder(definitions: Definitions, number: int, name: str) -> Section:
    """The folder with an id. Raises BadInput, naming the member that gave the id, if it does not exist."""
    found = definitions.sections.get(number)
    if found is None or found.dtype != "folder":
        raise BadInput(f"{name}: project {definitions.project} has no folder {number}.")
    return found


def master_section(definitions: Definitions, folder: int | None, given: int | None = None) -> int | None:
    """The master section of a media in a folder: the given one, −1 for none, by default the folder's.

    Raises:
        BadInput: the given section does not exist.
    """
    if given is None:
        section = None if folder is None else definitions.sections.get(folder)
        return section.master_section if section else None
    if given == NO_SECTION:
        return None
    if given not in definitions.sections:
        raise BadInput(f"master_section: project {definitions.project} has no section {given}.")
    return given


def in_folder(definitions: Definitions, attributes: dict[str, Any], number: int) -> tuple[dict[str, Any], int | None]:
    """Attributes and primary section of a media moved to a folder; −1 removes it from its folder. Raises BadInput."""
    if number == NO_SECTION:
        return {**attributes, TAG_ATTRIBUTE: ""}, None
    section = folder(definitions, number, "primary_section")
    return {**attributes, TAG_ATTRIBUTE: section.tator_user_sections or ""}, section.id


def values_after(
    definitions: Definitions,
    current: Media,
    attributes: Mapping[str, Any] | None,
    reset: Collection[str] | None,
    nulls: Collection[str] | None,
    section: int | None,
) -> dict[str, Any]:
    """The members of a media after a change of attributes or folder; tag and folder follow each other.

    Args:
        definitions: of its project.
        current: the media.
        attributes: values by name.
        reset: names of attributes set to their default.
        nulls: names of attributes set to null.
        section: the id of the new folder.

    Raises:
        BadInput: an attribute breaks its definition, or the folder does not exist.
    """
    asked = (with_tag(attributes, current.attributes.get(TAG_ATTRIBUTE)), tagged_names(reset), tagged_names(nulls))
    if section is None and all(part is None for part in asked):
        return {}
    of = type_of(definitions, current.type)
    before = up_to_date(current, of.revisions).attributes
    after = merge(of.attribute_types, before, *asked, always_allowed=_ALLOWED)
    change: dict[str, Any] = {"attributes": after, "revision": len(of.revisions)}
    if section is not None:
        after, folder_after = in_folder(definitions, after, section)
        master = master_section(definitions, folder_after)
        return change | {"attributes": after, "primary_section": folder_after, "master_section": master}
    if any(TAG_ATTRIBUTE in (part or ()) for part in asked):
        kept = after[TAG_ATTRIBUTE]
        after[TAG_ATTRIBUTE] = tag = "" if kept is None else tag_text(kept)
        folder_after = section_of_tag(definitions, tag)
        master = master_section(definitions, folder_after)
        return change | {"primary_section": folder_after, "master_section": master}
    return change


def section_of_tag(definitions: Definitions, tag: object) -> int | None:
    """The id of the section with a tag; None for an empty or unused tag."""
    if not tag:
        return None
    found = (section.id for section in definitions.sections.values() if section.tator_user_sections == tag)
    return next(found, None)


def project_with(number: int) -> Project:
    """The project of a media; its organization is needed."""
    return records.get(PROJECT, number)


def check_files(project: Project, media: int, files: MediaFiles) -> None:
    """Check each file of a media as `check_file`."""
    for role in ROLES:
        for entry in getattr(files, role, None) or []:
            check_file(project, media, role, entry)


def check_file(project: Project, media: int, role: str, entry: Any) -> None:
    """Refuse a file whose key belongs to another media, or that lacks a member its role requires.

    Raises:
        Forbidden: a key belongs to another media.
        BadInput: a URL is not allowed here or malformed, the bucket differs, or a segment file is missing.
    """
    is_video = isinstance(entry, VideoDefinition)
    if key_forms.is_url(entry.path):
        if not getattr(entry, "reference_only", None):
            raise BadInput(f"path: {role} takes a URL only for videos and images with reference_only.")
        entry.path = origins.normalize(entry.path, "path")
    else:
        _authorize(project, media, entry.path)
        entry.bucket_id = buckets_service.check_key(project, entry.path, entry.bucket_id)
    if not is_video:
        return
    if entry.segment_info and key_forms.is_url(entry.segment_info):
        if not entry.reference_only:
            raise BadInput("segment_info: a URL is taken only with reference_only.")
        entry.segment_info = origins.normalize(entry.segment_info, "segment_info")
    elif entry.segment_info:
        object_keys.authorize_media_key(entry.segment_info, project.organization, project.id, media)
        buckets_service.check_key(project, entry.segment_info, None)
    elif role == "streaming" and not entry.reference_only:
        raise BadInput("segment_info: a streaming file needs one.")


def _authorize(project: Project, media: int, path: str) -> None:
    """Raise Forbidden for the key of a file of another media, or of an object that the media does not refer to."""
    if key_forms.is_reference(path):
        named = owners.Named(project.id, media, path)
        if named in owners.authorize_many([named]):
            return
    object_keys.authorize_media_key(path, project.organization, project.id, media)


def files_for(caller: Caller, document: dict[str, Any]) -> dict[str, Any]:
    """A document of a media with the files that its reader may have; changed in place.

    Guests who are shown single frames have no file, and those without downloads neither originals nor attachments.
    """
    view = caller.guest_view
    if view is None or not (files := document.get("media_files")):
        return document
    if view.frames is not None:
        return document | {"media_files": None}
    kept = {name: each for name, each in files.items() if view.downloads or name not in DOWNLOADED}
    return document | {"media_files": kept}


def one_presigned(user: int, media: Media, seconds: int, *, fresh: bool) -> Media:
    """A media with presigned URLs as the paths of its files."""
    seen = presign_documents(user, media.project, [msgspec.to_builtins(media)], seconds, fresh=fresh)
    return msgspec.convert(next(iter(seen)), Media)


def presign_documents(
    user: int,
    project: int,
    documents: Iterable[dict[str, Any]],
    seconds: int,
    *,
    roles: Collection[str] = ROLES,
    fresh: bool = False,
) -> list[dict[str, Any]]:
    """Presign the paths of files and segment files of media.

    A path stays unchanged if it is a URL already, or a key that the media may not name (`owners.authorize`).

    Args:
        user: the caller: the same caller gets the same URL while it is valid.
        project: of all the media.
        documents: media as they are answered, with their ids; changed in place.
        seconds: lifetime of a new URL.
        roles: the roles to presign.
        fresh: sign anew.
    """
    seen = list(documents)
    places = [
        (entry, name, owners.Named(project, document["id"], entry[name]))
        for document in seen
        for entry, name in _places(document.get("media_files") or {}, roles)
    ]
    keys = owners.authorize_many(named for _, _, named in places)
    urls = presigned.urls(user, keys.values(), seconds, fresh=fresh)
    for entry, name, named in places:
        if named in keys:
            entry[name] = urls[keys[named]]
    return seen


def _places(files: Mapping[str, Any], roles: Collection[str]) -> Iterable[tuple[dict[str, Any], str]]:
    for role in roles:
        for entry in files.get(role) or []:
            for name in ("path", "segment_info"):
                if entry.get(name) and not key_forms.is_url(entry[name]):
                    yield entry, name
