"""The records of a media's files: videos, images, audio and attachments, by role and index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Media
from chalicelib.core.models.media_files import (
    AudioDefinition,
    AuxiliaryFileDefinition,
    ImageDefinition,
    VideoDefinition,
)
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Id, Resource
from chalicelib.core.responses import MessageResponse
from chalicelib.http.addresses import entity
from chalicelib.http.operation import Call, Operations
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.media import files as media_files

TAG = "Media files"
ONE = entity(Kind.MEDIA)

VideoRole = Annotated[Literal["streaming", "archival"], Meta(description="Which videos.")]
ImageRole = Annotated[Literal["image", "thumbnail", "thumbnail_gif"], Meta(description="Which images.")]
AudioRole = Annotated[Literal["audio"], Meta(description="Which audio files.")]
AuxiliaryRole = Annotated[Literal["attachment"], Meta(description="Which files.")]
Index = Annotated[int, Meta(ge=0, description="Place among the files of the role, from 0.")]
Place = Annotated[int, Meta(ge=0, description="Insert before the file at this place; at the end if not given.")]
Bucket = Annotated[Id, Meta(description="The bucket the file lies in.")]


class VideoRoleQuery(Resource, kw_only=True):
    """Which videos of a media."""

    role: VideoRole


class ImageRoleQuery(Resource, kw_only=True):
    """Which images of a media."""

    role: ImageRole


class AudioRoleQuery(Resource, kw_only=True):
    """Which audio files of a media."""

    role: AudioRole = "audio"


class AuxiliaryRoleQuery(Resource, kw_only=True):
    """Which attachments of a media."""

    role: AuxiliaryRole = "attachment"


class NewVideoQuery(VideoRoleQuery, kw_only=True):
    """The position of a new video."""

    index: Place | None = None
    bucket_id: Bucket | None = None


class NewImageQuery(ImageRoleQuery, kw_only=True):
    """The position of a new image."""

    index: Place | None = None
    bucket_id: Bucket | None = None


class NewAudioQuery(AudioRoleQuery, kw_only=True):
    """The position of a new audio file."""

    index: Place | None = None
    bucket_id: Bucket | None = None


class NewAuxiliaryQuery(AuxiliaryRoleQuery, kw_only=True):
    """The position of a new attachment."""

    index: Place | None = None
    bucket_id: Bucket | None = None


class OneVideoQuery(VideoRoleQuery, kw_only=True):
    """Which video of a media."""

    index: Index


class OneImageQuery(ImageRoleQuery, kw_only=True):
    """Which image of a media."""

    index: Index


class OneAudioQuery(AudioRoleQuery, kw_only=True):
    """Which audio file of a media."""

    index: Index


class OneAuxiliaryQuery(AuxiliaryRoleQuery, kw_only=True):
    """Which attachment of a media."""

    index: Index


@dataclass(frozen=True)
class FileResource:
    """One kind of file in the API.

    Attributes:
        word: the name in paths, as in `/rest/VideoFile/{id}`.
        noun: the name in sentences.
        struct: the record of one file.
        many, new, one: the query parameters of the list, of a creation, and of one file.
    """

    word: str
    noun: str
    struct: type[Resource]
    many: type[Resource]
    new: type[Resource]
    one: type[Resource]

    def list(self, call: Call[Media, Any, None]) -> list[Any]:
        """The files of a role."""
        return media_files.entries_of(call.target, call.query.role)

    def create(self, call: Call[Media, Any, Any]) -> MessageResponse:
        """Add a file to a role."""
        entry = call.body
        if call.query.bucket_id is not None:
            entry = msgspec.structs.replace(entry, bucket_id=call.query.bucket_id)
        media_files.add(Writer.of(call), call.target, call.query.role, entry, call.query.index)
        return MessageResponse(message=f"Media file added to media {call.target.id}!")

    def get(self, call: Call[Media, Any, None]) -> Any:
        """One file of a role."""
        return media_files.one(call.target, call.query.role, call.query.index)

    def update(self, call: Call[Media, Any, Any]) -> MessageResponse:
        """Replace a file."""
        media_files.replace(Writer.of(call), call.target, call.query.role, call.query.index, call.body)
        return MessageResponse(message=f"Media file of media {call.target.id} updated!")

    def delete(self, call: Call[Media, Any, None]) -> MessageResponse:
        """Remove a file."""
        media_files.remove(Writer.of(call), call.target, call.query.role, call.query.index)
        return MessageResponse(message=f"Media file of media {call.target.id} deleted!")


def file_operations(resource: FileResource) -> Operations:
    """The operations of one kind of file."""
    word, noun, struct = resource.word, resource.noun, resource.struct
    many, one = f"/rest/{word}Files/{{id}}", f"/rest/{word}File/{{id}}"
    made = Operations(tag=TAG, addresses=ONE, query=resource.one)
    made.get(
        many,
        f"Get{word}FileList",
        summary=f"The {noun} files of a media in one role.",
        needs=Permission.VIEW,
        query=resource.many,
        returns=list[struct],  # type: ignore[valid-type]
    )(resource.list)
    made.post(
        many,
        f"Create{word}File",
        summary=f"Add the record of an uploaded {noun} file to a media.",
        details="Its key must be one that GetUploadInfo gave for this media.",
        needs=Permission.TRANSFER,
        query=resource.new,
        body=struct,
    )(resource.create)
    made.get(one, f"Get{word}File", summary=f"One {noun} file of a media.", needs=Permission.VIEW, returns=struct)(
        resource.get
    )
    made.patch(
        one,
        f"Update{word}File",
        summary=f"Replace the record of one {noun} file of a media, wholly.",
        needs=Permission.TRANSFER,
        body=struct,
    )(resource.update)
    made.delete(
        one,
        f"Delete{word}File",
        summary=f"Remove the record of one {noun} file of a media.",
        needs=Permission.TRANSFER,
    )(resource.delete)
    return made


OPERATIONS = tuple(
    operation
    for resource in (
        FileResource("Video", "video", VideoDefinition, VideoRoleQuery, NewVideoQuery, OneVideoQuery),
        FileResource("Image", "image", ImageDefinition, ImageRoleQuery, NewImageQuery, OneImageQuery),
        FileResource("Audio", "audio", AudioDefinition, AudioRoleQuery, NewAudioQuery, OneAudioQuery),
        FileResource(
            "Auxiliary", "attached", AuxiliaryFileDefinition, AuxiliaryRoleQuery, NewAuxiliaryQuery, OneAuxiliaryQuery
        ),
    )
    for operation in file_operations(resource)
)
