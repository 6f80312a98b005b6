"""Bodies and records of bucket sources."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.records import RecordKind
from chalicelib.core.resource import ONE_LINE, Id, Name, Resource, Timestamp

MOST_SHOWN = 100
"""Maximum ids of media that a source names as missing or changed."""
Prefix = Annotated[
    str,
    Meta(max_length=512, pattern=ONE_LINE, description="Folders with a slash at the end; empty for the whole bucket."),
]
Extension = Annotated[str, Meta(pattern=r"^[A-Za-z0-9]{1,16}$(?!\n)", description="Without the dot, such as `mp4`.")]
Pattern = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        pattern=ONE_LINE,
        description="Which objects, by their names below the prefix: `*` is any text, slashes included, `?` one "
        "character, `[ab]` one of these.",
    ),
]
Hours = Annotated[int, Meta(ge=0, le=720, description="Hours between two listings; 0 for none.")]


class ExtensionType(Resource, kw_only=True):
    """The media type of objects whose names end with an extension, in upper or lower case."""

    extension: Extension
    type: Annotated[Id, Meta(description="A media type of video or image.")]


MediaTypes = Annotated[list[ExtensionType], Meta(min_length=1, max_length=50)]


class BucketSourceUpdate(Resource, kw_only=True):
    """The body of a PATCH of a bucket source. Any change begins a listing."""

    names: ClassVar = {"section": "section"}

    name: Name | None = None
    media_types: MediaTypes | None = None
    section: Annotated[Id | None, Meta(description="The folder of new media.")] = None
    pattern: Pattern | None = None
    listing_hours: Hours | None = None
    list_now: Annotated[bool | None, Meta(description="Begin a listing.")] = None


class BucketSourceSpec(BucketSourceUpdate, kw_only=True):
    """The body that registers a prefix of a bucket."""

    name: Name
    bucket: Annotated[Id, Meta(description="A bucket of the project's organization.")]
    prefix: Prefix
    media_types: MediaTypes


class BucketSource(Resource, kw_only=True):
    """A prefix of a registered bucket whose objects are media of a project, and the result of its last listing."""

    hidden: ClassVar = frozenset({"bucket_name", "listed_store", "run", "progress_datetime"})

    id: int
    project: int
    name: Name
    bucket: int
    prefix: Prefix
    media_types: MediaTypes
    section: int | None = None
    pattern: Pattern = "*"
    listing_hours: Hours = 24
    created_by: int
    created_datetime: Timestamp
    status: Literal["listing", "listed", "failed"] = "listing"
    message: Annotated[str, Meta(description="Why the last listing ended early.")] = ""
    listed_datetime: Annotated[Timestamp | None, Meta(description="When the last complete listing began.")] = None
    objects: Annotated[int, Meta(description="Objects of the last listing, those that are no media included.")] = 0
    skipped: Annotated[int, Meta(description="Objects of the last listing that are no media.")] = 0
    created: Annotated[int, Meta(description="Media that the last listing made.")] = 0
    changed: Annotated[int, Meta(description="Objects that the last listing found replaced, or there again.")] = 0
    missing: Annotated[int, Meta(description="Media whose objects the last listing did not find.")] = 0
    missing_media: Annotated[list[int], Meta(description="Ids of the first of these.")] = []
    bucket_name: str = ""
    listed_store: Annotated[str, Meta(description="The store and bucket that the last complete listing read.")] = ""
    run: str = ""
    progress_datetime: Timestamp
    effective_permission: int = 0


BUCKET_SOURCE = RecordKind(
    name="bucket_source",
    struct=BucketSource,
    title="Bucket source",
    parent=("project", "project"),
    links={"bucket": "bucket", "bucket_name": "bucket-name"},
)
