"""The files of a media: a definition for each, by role, and the objects that they name."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.resource import Flag, KeepsUnknown, Resource, Timestamp

TAG_ATTRIBUTE = "tator_user_sections"
"""The attribute of a media with the tag of its folder; empty where it is in no folder."""
ROLES = ("streaming", "archival", "audio", "image", "thumbnail", "thumbnail_gif", "attachment")
"""The roles whose entries name objects."""


class VideoDefinition(KeepsUnknown, kw_only=True):
    """One video file of a media; `segment_info` is the key of the file that maps its fragments."""

    accepts: ClassVar = {"url": "path", "segments_url": "segment_info"}
    is_whole: ClassVar = True

    path: str
    codec: str
    resolution: Annotated[
        Annotated[list[Annotated[int, Meta(ge=1)]], Meta(min_length=2, max_length=2)],
        Meta(description="Height, then width, in pixels."),
    ]
    size: int | None = None
    bit_rate: int | None = None
    segment_info: str | None = None
    host: str | None = None
    http_auth: str | None = None
    codec_mime: str | None = None
    codec_description: str | None = None
    reference_only: Flag | None = None
    bucket_id: int | None = None


class AudioDefinition(KeepsUnknown, kw_only=True):
    """One audio file of a media."""

    accepts: ClassVar = {"url": "path"}
    is_whole: ClassVar = True

    path: str
    codec: str
    size: int | None = None
    bit_rate: int | None = None
    host: str | None = None
    http_auth: str | None = None
    codec_mime: str | None = None
    codec_description: str | None = None
    bucket_id: int | None = None


class ImageDefinition(KeepsUnknown, kw_only=True):
    """One picture of a media: itself, its thumbnail, or its animated thumbnail."""

    is_whole: ClassVar = True

    path: str
    resolution: Annotated[list[Annotated[int, Meta(ge=1)]], Meta(min_length=2, max_length=2)]
    size: int | None = None
    host: str | None = None
    http_auth: str | None = None
    mime: str | None = None
    reference_only: Flag | None = None
    bucket_id: int | None = None


class AuxiliaryFileDefinition(KeepsUnknown, kw_only=True):
    """One attachment of a media."""

    is_whole: ClassVar = True

    path: str
    name: str | None = None
    size: int | None = None
    host: str | None = None
    http_auth: str | None = None
    mime: str | None = None
    bucket_id: int | None = None


class ConcatDefinition(Resource, kw_only=True):
    """One part of a media that concatenates others; the offset is in seconds."""

    names: ClassVar = {"id": "media"}

    id: Annotated[int, Meta(description="Id of the media.")]
    timestampOffset: Annotated[float, Meta(description="Seconds at which it begins.")] = 0  # noqa: N815 the wire's spelling


class FeedDefinition(Resource, kw_only=True):
    """One feed of a live stream."""

    name: str
    resolution: Annotated[list[int], Meta(description="Height, then width, in pixels.")]


class LiveDefinition(Resource, kw_only=True):
    """One live stream."""

    url: Annotated[str, Meta(description="Address of the stream.")]
    feeds: Annotated[list[FeedDefinition], Meta(description="Feeds of the stream.")] = []


class BucketObject(Resource, kw_only=True):
    """The object in a bucket of the organization that a media refers to, as it was last seen."""

    path: str
    bucket_id: int
    size: int
    etag: str
    last_modified: Annotated[str, Meta(description="As the store gives it, in ISO 8601.")]
    state: Annotated[
        Literal["present", "changed", "missing"],
        Meta(description="`changed` until the frames of the new object are indexed."),
    ]
    changed_datetime: Annotated[
        Timestamp | None, Meta(description="When it was found to be another object than the media was made of.")
    ] = None
    missing_datetime: Annotated[Timestamp | None, Meta(description="When it was found to be gone.")] = None
    frame_table: Annotated[str | None, Meta(description="The key of the file with the times of its frames.")] = None
    message: Annotated[str | None, Meta(description="Why it has no frames or thumbnail.")] = None


class MediaFiles(Resource, kw_only=True):
    """The files behind a media, by role."""

    names: ClassVar = {"ids": "media"}

    bucket_object: Annotated[
        BucketObject | None, Meta(description="Set by the service for media of a bucket source.")
    ] = None

    archival: Annotated[list[VideoDefinition] | None, Meta(description="Archival copies of the video.")] = None
    streaming: Annotated[list[VideoDefinition] | None, Meta(description="Renditions of the video for players.")] = None
    audio: Annotated[list[AudioDefinition] | None, Meta(description="Audio tracks.")] = None
    image: Annotated[list[ImageDefinition] | None, Meta(description="The image, in one or more forms.")] = None
    thumbnail: Annotated[list[ImageDefinition] | None, Meta(description="Thumbnails.")] = None
    thumbnail_gif: Annotated[list[ImageDefinition] | None, Meta(description="Animated thumbnails.")] = None
    attachment: Annotated[
        list[AuxiliaryFileDefinition] | None, Meta(description="Files of any kind that belong to the media.")
    ] = None
    concat: list[ConcatDefinition] | None = None
    live: Annotated[list[LiveDefinition] | None, Meta(description="Live streams.")] = None
    ids: Annotated[list[int] | None, Meta(description="Ids of the videos that are shown side by side.")] = None
    layout: list[int] | None = None
    quality: int | None = None
    frameOffset: list[int] | None = None  # noqa: N815 the wire's spelling


def is_ready(files: MediaFiles | None) -> bool:
    """Whether a media has a video to play or an image to show.

    An image that is only referred to is there once its import found its size.
    """
    if files is None:
        return False
    return bool(files.streaming) or any("://" not in each.path or each.size is not None for each in files.image or ())


def keys_of(files: MediaFiles | None) -> set[str]:
    """The keys of all objects that the files of a media name, without URLs."""
    found = set()
    for role in ROLES:
        for entry in getattr(files, role, None) or []:
            found |= {entry.path, getattr(entry, "segment_info", None)}
    if files and files.bucket_object:
        found |= {files.bucket_object.path, files.bucket_object.frame_table}
    return {key for key in found if key and "://" not in key}
