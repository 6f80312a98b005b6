"""Bodies of Files: permanent files that belong to no media."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from chalicelib.core.models.entities import Attributes
from chalicelib.core.resource import ONE_LINE, Id, Resource, Uuid

FileName = Annotated[str, Meta(min_length=1, max_length=1024, pattern=ONE_LINE)]
FileDescription = Annotated[str, Meta(max_length=1024)]


class FileSpec(Resource, kw_only=True):
    """The body that creates a File; a later PATCH of `path` sets its content."""

    accepts: ClassVar = {"meta": "type"}

    name: FileName
    description: FileDescription
    type: Annotated[Id, Meta(description="A file type of the project.")]
    attributes: Attributes | None = None
    elemental_id: Uuid | None = None
    user_elemental_id: Uuid | None = None


class FileUpdate(Resource, kw_only=True):
    """The body of a PATCH of one File."""

    may_be_empty: ClassVar = True
    accepts: ClassVar = {"meta": "type"}

    name: FileName | None = None
    description: FileDescription | None = None
    type: Annotated[
        Id | None, Meta(description="Another file type of the project; attributes that it lacks are dropped.")
    ] = None
    path: Annotated[
        Annotated[str, Meta(max_length=1024)] | None,
        Meta(description="The key of its object, from GetUploadInfo for this File."),
    ] = None
    attributes: Attributes | None = None
    reset_attributes: list[str] | None = None
    null_attributes: list[str] | None = None
    elemental_id: Uuid | None = None
    user_elemental_id: Uuid | None = None
