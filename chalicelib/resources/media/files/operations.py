"""The records of a media's files: videos, images, audio and attachments, by role and index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

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
from chalicelib.resources.media.files import service as files_service

TAG = "Media files"
ONE = entity(Kind.MEDIA)

_ANNOTATED: Any = Annotated
_LITERAL: Any = Literal
"""As values: the types of parameters are made here."""
_INDEX = "index", Annotated[int, Meta(ge=0, description="Place among the files of the role, from 0.")]
_PLACE = (
    "index",
    Annotated[int, Meta(ge=0, description="Insert before the file at this place; at the end if not given.")] | None,
    None,
)
_BUCKET = "bucket_id", Annotated[Id, Meta(description="The bucket the file lies in.")] | None, None


@dataclass(frozen=True)
class FileResource:
    """One kind of file in the API.

    Attributes:
        word: the name in paths, as in `/rest/VideoFile/{id}`.
        noun, plural: the names in sentences.
        struct: the record of one file.
        roles: the roles that such files have; where there is one, it need not be given.
    """

    word: str
    noun: str
    plural: str
    struct: type[Resource]
    roles: tuple[str, ...]

    def query(self, *members: Any) -> type[Resource]:
        """Query parameters: the role, and members as `msgspec.defstruct` takes them."""
        role = _ANNOTATED[_LITERAL[self.roles], Meta(description=f"Which {self.plural}.")]
        default = self.roles if len(self.roles) == 1 else ()
        made = msgspec.defstruct(
            f"{self.word}FileQuery", [("role", role, *default), *members], bases=(Resource,), kw_only=True
        )
        return cast("type[Resource]", made)

    def list(self, call: Call[Media, Any, None]) -> list[Any]:
        """The files of a role."""
        return files_service.entries_of(call.target, call.query.role)

    def create(self, call: Call[Media, Any, Any]) -> MessageResponse:
        """Add a file to a role."""
        files_service.add(Writer.from_call(call), call.target, call.query.role, call.body, call.query.index)
        return MessageResponse(message=f"Media file added to media {call.target.id}!")

    def get(self, call: Call[Media, Any, None]) -> Any:
        """One file of a role."""
        return files_service.one(call.target, call.query.role, call.query.index)

    def update(self, call: Call[Media, Any, Any]) -> MessageResponse:
        """Replace a file."""
        files_service.replace(Writer.from_call(call), call.target, call.query.role, call.query.index, call.body)
        return MessageResponse(message=f"Media file of media {call.target.id} updated!")

    def delete(self, call: Call[Media, Any, None]) -> MessageResponse:
        """Remove a file."""
        files_service.remove(Writer.from_call(call), call.target, call.query.role, call.query.index)
        return MessageResponse(message=f"Media file of media {call.target.id} deleted!")


def file_operations(resource: FileResource) -> Operations:
    """The operations of one kind of file."""
    word, noun, struct = resource.word, resource.noun, resource.struct
    many, one = f"/rest/{word}Files/{{id}}", f"/rest/{word}File/{{id}}"
    made = Operations(tag=TAG, addresses=ONE, query=resource.query(_INDEX))
    made.get(
        many,
        f"Get{word}FileList",
        summary=f"The {noun} files of a media in one role.",
        needs=Permission.VIEW,
        query=resource.query(),
        returns=list[struct],  # type: ignore[valid-type]
    )(resource.list)
    made.post(
        many,
        f"Create{word}File",
        summary=f"Add the record of an uploaded {noun} file to a media.",
        details="Its key must be one that GetUploadInfo gave for this media.",
        needs=Permission.TRANSFER,
        query=resource.query(_PLACE, _BUCKET),
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
        one, f"Delete{word}File", summary=f"Remove the record of one {noun} file of a media.", needs=Permission.TRANSFER
    )(resource.delete)
    return made


OPERATIONS = tuple(
    operation
    for resource in (
        FileResource("Video", "video", "videos", VideoDefinition, ("streaming", "archival")),
        FileResource("Image", "image", "images", ImageDefinition, ("image", "thumbnail", "thumbnail_gif")),
        FileResource("Audio", "audio", "audio files", AudioDefinition, ("audio",)),
        FileResource("Auxiliary", "attached", "files", AuxiliaryFileDefinition, ("attachment",)),
    )
    for operation in file_operations(resource)
)
