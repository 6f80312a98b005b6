"""Media: images and videos."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from chalicelib.access import effective_permission
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.entities import Media
from chalicelib.core.models.media_files import ROLES
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource, answer
from chalicelib.core.responses import CreateListResponse, CreateResponse, MessageResponse
from chalicelib.http.addresses import PROJECT, WITHIN_PROJECT, entity
from chalicelib.http.operation import Call, Documents, NoQuery, OneOf, Operations
from chalicelib.query.parsers.bodies import MediaIdQuery
from chalicelib.query.parsers.media_bodies import MediaBulkUpdate
from chalicelib.query.parsers.parameters import MediaQuery
from chalicelib.resources.annotations.operations import count_matches, list_matches
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.media import changes as media_changes
from chalicelib.resources.media import clones
from chalicelib.resources.media import creation as media_creation
from chalicelib.resources.media import deletion as media_deletion
from chalicelib.resources.media import service as media_service
from chalicelib.resources.media import statistics as media_statistics
from chalicelib.resources.media.files import moving as media_moving
from chalicelib.resources.media.schemas import (
    CloneMediaSpec,
    GetClonedMediaResponse,
    MediaNext,
    MediaPrev,
    MediaSpec,
    MediaStats,
    MediaUpdate,
    MoveVideoSpec,
)
from chalicelib.resources.media.service import project_with

OPERATIONS = Operations(tag="Media")
ONE = entity(Kind.MEDIA)
_DAYS = 604_800

Presigned = (
    Annotated[int, Meta(ge=1, le=_DAYS, description="Seconds: paths of files become URLs that are good for so long.")]
    | None
)
NoCache = Annotated[
    bool | None, Meta(description="With `presigned`: new URLs, even where earlier ones are still good.")
]
Role = Literal["thumbnail", "thumbnail_gif", "streaming", "archival", "audio", "image", "attachment"]


class MediaListQuery(MediaQuery, kw_only=True):
    """The parameters of media lists, and of the presentation of files."""

    presigned: Presigned = None
    no_cache: NoCache = None
    presign_only: Annotated[
        list[Role] | None, Meta(description="With `presigned`: only the paths of these roles become URLs.")
    ] = None


class MediaBulkQuery(MediaQuery, kw_only=True):
    """The parameters of bulk changes of media."""

    count: Annotated[int, Meta(ge=0, description="How many must match; otherwise nothing is changed.")] | None = None


class OneMediaQuery(Resource, kw_only=True):
    """How the files of one media are presented."""

    presigned: Presigned = None
    no_cache: NoCache = None


@OPERATIONS.get(
    "/rest/Medias/{project}",
    "GetMediaList",
    needs=Permission.VIEW,
    addresses=WITHIN_PROJECT,
    returns=list[Media],
    by_ids=MediaIdQuery,
    formats=("arrow",),
)
def list_media(call: Call[Project, MediaListQuery, Any]) -> Documents | int:
    """The media that match.

    Ordered by name and id unless sorted. Archived media are left out unless `archive_lifecycle` asks for them or media
    are named by id.
    """
    seconds, fields = call.query.presigned, call.query.fields
    if seconds is None:
        found = list_matches(Kind.MEDIA, call)
        if call.caller.is_guest and not isinstance(found, int):
            shown = (media_service.files_for(call.caller, msgspec.json.decode(each)) for each in found.documents)
            return replace(found, documents=map(msgspec.json.encode, shown))
        return found
    is_id_wanted = fields is None or "id" in [name.strip() for name in fields.split(",")]
    if not is_id_wanted:  # the signed keys depend on the media
        call = replace(call, query=msgspec.structs.replace(call.query, fields=f"{fields},id"))
    found = list_matches(Kind.MEDIA, call)
    if isinstance(found, int):
        return found
    documents = [media_service.files_for(call.caller, msgspec.json.decode(each)) for each in found.documents]
    signed = media_service.presign_documents(
        call.caller.id,
        call.project,
        documents,
        seconds,
        roles=call.query.presign_only or ROLES,
        fresh=bool(call.query.no_cache),
    )
    if not is_id_wanted:
        for document in signed:
            del document["id"]
    return replace(found, documents=map(msgspec.json.encode, signed))


@OPERATIONS.get(
    "/rest/MediaCount/{project}", "GetMediaCount", needs=Permission.VIEW, addresses=WITHIN_PROJECT, by_ids=MediaIdQuery
)
def count_media(call: Call[Project, MediaQuery, Any]) -> int:
    """How many media match."""
    return count_matches(Kind.MEDIA, call)


@OPERATIONS.post(
    "/rest/Medias/{project}",
    "CreateMediaList",
    needs=Permission.TRANSFER,
    addresses=WITHIN_PROJECT,
    spends=("bytes",),
    body=OneOf(options=(list[MediaSpec], MediaSpec)),
    returns=OneOf(options=(CreateListResponse, CreateResponse)),
)
def create_media(call: Call[Project, NoQuery, MediaSpec | list[MediaSpec]]) -> CreateListResponse | CreateResponse:
    """Make one media, or up to 500 images: all or none.

    Images are fetched from `url` by a queue function; `media_files` shows when they are there. Of a video only the
    record is made: to have one processed, use Transcode.
    """
    specs = call.body if isinstance(call.body, list) else [call.body]
    writer = Writer.from_call(call)
    created = media_creation.create_with_files(writer, call.target, specs)
    made = effective_permission.add_masks(call.scope, created)
    if isinstance(call.body, list) and not (len(made) == 1 and _takes_one(call.headers)):
        message = f"Successfully created {len(made)} media!"
        return CreateListResponse(message=message, id=[one.id for one in made], object=[answer(one) for one in made])
    return CreateResponse(message=f"Media {made[0].name} created!", id=made[0].id, object=answer(made[0]))


def _takes_one(headers: Mapping[str, str]) -> bool:
    """Whether the client sends every media in a list and reads one id: those of version 1.0 do."""
    return headers.get("user-agent", "").startswith("OpenAPI-Generator/1.0.")


@OPERATIONS.patch("/rest/Medias/{project}", "UpdateMediaList", needs=Permission.EDIT, addresses=WITHIN_PROJECT)
def update_media_list(call: Call[Project, MediaBulkQuery, MediaBulkUpdate]) -> MessageResponse:
    """Change all media that match; they must be of one type.

    With `count`, nothing is changed unless that many match.
    """
    count = media_changes.update_many(Writer.from_call(call), call.query, call.body, call.query.count)
    return MessageResponse(message=f"Successfully patched {count} medias!")


@OPERATIONS.delete("/rest/Medias/{project}", "DeleteMediaList", needs=Permission.EDIT, addresses=WITHIN_PROJECT)
def delete_media_list(call: Call[Project, MediaBulkQuery, MediaIdQuery | None]) -> MessageResponse:
    """Delete all media that match, with their localizations and the states that lose all media.

    Without any filter, all of the project. With `count`, nothing is deleted unless that many match.
    """
    count = media_deletion.delete_many(Writer.from_call(call), call.query, call.body, call.query.count)
    return MessageResponse(message=f"Successfully deleted {count} medias!")


@OPERATIONS.get("/rest/Media/{id}", "GetMedia", needs=Permission.VIEW, addresses=ONE)
def get_media(call: Call[Media, OneMediaQuery, None]) -> Media:
    """One media."""
    shown = call.target
    if call.caller.is_guest:
        shown = msgspec.convert(media_service.files_for(call.caller, msgspec.to_builtins(shown)), Media)
    if call.query.presigned is None:
        return shown
    return media_service.one_presigned(call.caller.id, shown, call.query.presigned, fresh=bool(call.query.no_cache))


@OPERATIONS.patch("/rest/Media/{id}", "UpdateMedia", needs=Permission.EDIT, addresses=ONE)
def update_media(call: Call[Media, NoQuery, MediaUpdate]) -> MessageResponse:
    """Change one media: the members given, and no others.

    `primary_section` and the attribute `tator_user_sections` follow each other. Of `media_files`, the roles given
    replace those there were. `archive_state` changes only where that leads somewhere.
    """
    project = project_with(call.project)
    media_changes.update(Writer.from_call(call), project, call.target.id, call.body)
    return MessageResponse(message=f"Media {call.target.id} successfully updated!")


@OPERATIONS.delete("/rest/Media/{id}", "DeleteMedia", needs=Permission.EDIT, addresses=ONE)
def delete_media(call: Call[Media, NoQuery, None]) -> MessageResponse:
    """Delete one media, with its localizations and the states that lose their last media."""
    media_deletion.delete(Writer.from_call(call), [call.target.id])
    return MessageResponse(message=f"Media {call.target.id} successfully deleted!")


@OPERATIONS.post("/rest/MoveVideo/{id}", "MoveVideo", needs=Permission.TRANSFER, addresses=ONE, legacy=True)
def move_video(call: Call[Media, NoQuery, MoveVideoSpec]) -> CreateResponse:
    """Copy uploaded files to one media and add their records.

    For clients that transcode themselves. Newer ones upload to the media (GetUploadInfo with `media_id`) and add the
    records with CreateVideoFile and its like.
    """
    count = media_moving.move(Writer.from_call(call), call.target, call.body.media_files)
    return CreateResponse(message=f"Moved {count} files to media {call.target.id}.", id=call.target.id)


@OPERATIONS.get("/rest/MediaNext/{id}", "GetMediaNext", needs=Permission.VIEW, addresses=ONE)
def next_media(call: Call[Media, MediaQuery, None]) -> MediaNext:
    """The media behind this one in the list of those that match; -1 where it is the last."""
    return MediaNext(next=media_statistics.neighbours(call.target, call.query, call.scope)[1])


@OPERATIONS.get("/rest/MediaPrev/{id}", "GetMediaPrev", needs=Permission.VIEW, addresses=ONE)
def previous_media(call: Call[Media, MediaQuery, None]) -> MediaPrev:
    """The media before this one in the list of those that match; -1 where it is the first."""
    return MediaPrev(prev=media_statistics.neighbours(call.target, call.query, call.scope)[0])


@OPERATIONS.get("/rest/MediaStats/{project}", "GetMediaStats", needs=Permission.VIEW, addresses=PROJECT)
def media_stats(call: Call[Project, MediaQuery, None]) -> MediaStats:
    """How many media match, how long they play, how many bytes their files have."""
    return media_statistics.stats(call.project, call.query, call.scope)


@OPERATIONS.post("/rest/CloneMedia/{project}", "CloneMediaList", needs=Permission.TRANSFER, addresses=PROJECT)
def clone_media(call: Call[Project, MediaQuery, CloneMediaSpec]) -> CreateListResponse:
    """Clone up to 500 media that match into the same or another project, over the same files.

    The caller must be able to transfer media in both. The answer's ids are in the order of the list. Annotations are
    not cloned. A file goes with the last media that has it.
    """
    made = clones.clone(call.scope, call.target, call.query, call.body)
    return CreateListResponse(message=f"Successfully cloned {len(made)} medias!", id=list(made))


@OPERATIONS.get("/rest/GetClonedMedia/{id}", "GetClonedMedia", needs=Permission.VIEW, addresses=ONE)
def cloned_media(call: Call[Media, NoQuery, None]) -> GetClonedMediaResponse:
    """The media that share files with this one, itself and the original included."""
    found = clones.clone_ids(call.scope, call.target)
    return GetClonedMediaResponse(message=f"Found {len(found)} medias with the files of {call.target.id}.", ids=found)
