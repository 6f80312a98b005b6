"""Bodies and answers of media, and the pure rules for them."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from chalicelib.core.models.definitions import MediaType
from chalicelib.core.models.entities import ArchiveState, Attributes, Dimensions, Media
from chalicelib.core.models.media_files import TAG_ATTRIBUTE, ConcatDefinition, LiveDefinition, MediaFiles
from chalicelib.core.resource import ONE_LINE, Flag, Id, Resource, Uuid
from chalicelib.core.values.rle import LONGEST_SIDE
from chalicelib.errors import BadInput

TAG_NAMES = Media.also_attributes
"""Older names of the tag, which are accepted as well."""
JOBS_ATTRIBUTE = "_tator_import_workflow"
"""The attribute of a media that names the jobs that made its files."""

Count = Annotated[int, Meta(ge=0)]
MOST_CLONED = 500
"""Maximum number of media in one request."""
Url = Annotated[str, Meta(max_length=2048)]
GroupId = Annotated[str, Meta(max_length=36)]
MediaName = Annotated[str, Meta(min_length=1, max_length=256, pattern=ONE_LINE)]

# Types that Python's table of extensions lacks or names differently from upload tools.
_MIME = {
    ".ts": "video/MP2T",
    ".mts": "video/MP2T",
    ".m2ts": "video/MP2T",
    ".avif": "image/avif",
    ".dng": "image/dng",
    ".heic": "image/heic",
    ".heif": "image/heif",
    ".webp": "image/webp",
    ".mkv": "video/x-matroska",
}


Side = Annotated[int, Meta(ge=0, le=LONGEST_SIDE, description="Pixels of a side of the picture.")]


class MediaSpec(Dimensions, kw_only=True):
    """The body that creates a media.

    `name` and `md5` are required, but the handler checks that: the origin of the URLs is checked first.
    """

    names: ClassVar = {"section_id": "section", "master_section": "section"}
    required_later: ClassVar = frozenset({"name", "md5"})
    unused: ClassVar = {
        "progress_name": "progress is read from the job",
        "media_id": "of upload tools that send one body for images and videos",
        "size": "it is read from the file",
        "email_spec": "as media_id",
    }

    type: Annotated[int, Meta(ge=-1)]
    name: MediaName | None = None
    width: Side | None = None
    height: Side | None = None
    md5: Annotated[str, Meta(max_length=32)] | None = None
    section: str | UnsetType = UNSET
    section_id: Id | None = None
    master_section: Annotated[Id | None, Meta(description="By default that of its folder.")] = None
    url: Annotated[
        Url | None, Meta(description="URL of the image, of an allowed origin or of the service's own store.")
    ] = None
    thumbnail_url: Annotated[Url | None, Meta(description="URL of a thumbnail; by default one is made.")] = None
    thumbnail_gif_url: Annotated[Url | None, Meta(description="URL of an animated thumbnail.")] = None
    gid: Annotated[GroupId | None, Meta(description="Id of the group of the upload.")] = None
    uid: Annotated[GroupId | None, Meta(description="Id of the upload.")] = None
    attributes: Attributes | None = None
    elemental_id: Uuid | None = None
    user_elemental_id: Uuid | None = None
    reference_only: Flag | None = None


class MultiDefinition(Resource, kw_only=True):
    """Several media shown side by side."""

    names: ClassVar = {"ids": "media"}

    ids: Annotated[list[Id] | None, Meta(description="Ids of the videos that are shown side by side.")] = None
    layout: list[int] | None = None
    quality: int | None = None
    frameOffset: list[int] | None = None  # noqa: N815 the wire's spelling


class LiveUpdateDefinition(Resource, kw_only=True):
    """Live streams shown side by side."""

    layout: list[int]
    streams: Annotated[list[LiveDefinition], Meta(description="Streams that are shown together.")]


class MediaUpdate(Dimensions, kw_only=True):
    """The body of a PATCH of one media."""

    may_be_empty: ClassVar = True
    names: ClassVar = {"primary_section": "section", "master_section": "section"}
    unused: ClassVar = {
        "thumbnail_url": "thumbnails are files of the media, see CreateImageFile",
        "thumbnail_gif_url": "as thumbnail_url",
    }

    name: MediaName | None = None
    width: Side | None = None
    height: Side | None = None
    media_files: MediaFiles | None = None
    last_edit_start: str | None = None
    last_edit_end: str | None = None
    attributes: Attributes | None = None
    null_attributes: list[str] | None = None
    reset_attributes: list[str] | None = None
    elemental_id: Uuid | None = None
    user_elemental_id: Uuid | None = None
    primary_section: Annotated[
        Annotated[int, Meta(ge=-1)] | None, Meta(description="The id of its folder; −1 for none.")
    ] = None
    master_section: Annotated[
        Annotated[int, Meta(ge=-1)] | None, Meta(description="−1 for none; by default that of a new folder.")
    ] = None
    multi: MultiDefinition | None = None
    concat: list[ConcatDefinition] | None = None
    live: LiveUpdateDefinition | None = None
    archive_state: Literal["to_archive", "to_live"] | None = None


class MoveVideoSpec(Resource, kw_only=True):
    """Files by role; `path` and `segment_info` are keys or URLs of uploads of the project."""

    media_files: MediaFiles


class MediaNext(Struct, kw_only=True):
    """The next media; −1 for the last."""

    next: Annotated[int, Meta(description="Id of the next media; null at the end.")]


class MediaPrev(Struct, kw_only=True):
    """The previous media; −1 for the first."""

    prev: Annotated[int, Meta(description="Id of the media before; null at the beginning.")]


class MediaStats(Struct, kw_only=True):
    """Sums over media."""

    count: Annotated[Count, Meta(description="How many media match.")]
    duration: Annotated[float, Meta(ge=0, description="Seconds of video.")]
    total_size: Annotated[int, Meta(ge=0, description="Bytes of all files except audio.")]
    download_size: Annotated[
        int, Meta(ge=0, description="Bytes of one file of each media: archival, else streaming, else image.")
    ]


class CloneMediaSpec(Resource, kw_only=True):
    """The destination of clones."""

    dest_project: Annotated[Id, Meta(description="Id of the project that the clones go to.")]
    dest_type: Annotated[
        Annotated[int, Meta(ge=-1)], Meta(description="A media type of that project; −1 for its first.")
    ]
    dest_section: Annotated[str | None, Meta(description="The name of a folder, created if it does not exist.")] = None
    dest_section_id: Annotated[Id | None, Meta(description="Id of the section that the clones go to.")] = None


class GetClonedMediaResponse(Struct, kw_only=True):
    """The media that share files with one media, including itself and the original."""

    message: str
    ids: Annotated[list[int], Meta(description="Ids of the media that use the same files.")]


def guess_type(types: Mapping[int, MediaType], name: str, *, has_file: bool = False) -> MediaType:
    """The type for −1: the first image or video type, by the extension of the name; the last type if there is neither.

    Args:
        types: those of the project, by id.
        name: the name of the file.
        has_file: whether the service reads a file for it, which a type of another kind could not hold.

    Raises:
        BadInput: the project has no types, or none for the file; or the extension is unknown.
    """
    if not types:
        raise BadInput("type: the project has no media types.")
    extension = "." + name.rpartition(".")[2].lower()
    mime = _MIME.get(extension) or mimetypes.guess_type(name)[0]
    if mime is None:
        raise BadInput(f"type: -1 needs a name whose ending shows the kind of file; {name!r} has none.")
    wanted = "image" if mime.startswith("image") else "video"
    ordered = [types[number] for number in sorted(types)]
    fitting = next((found for found in ordered if found.dtype == wanted), None)
    if fitting is None and has_file:
        raise no_type_for(wanted, ordered)
    return fitting or ordered[-1]


def no_type_for(dtype: str, types: Iterable[MediaType]) -> BadInput:
    """The refusal of a file of a kind, `video` or `image`, that no type of the project is for; it names the types."""
    present = ", ".join(f"{type_.name} ({type_.dtype})" for type_ in types) or "none"
    return BadInput(f"type: the project has no media type of {dtype}s; its media types: {present}.")


def next_state(state: ArchiveState, asked: str) -> ArchiveState | None:
    """The archive state that follows a request; None if it changes nothing."""
    table: dict[tuple[str, str], ArchiveState] = {
        ("live", "to_archive"): "to_archive",
        ("archived", "to_live"): "to_live",
        ("to_archive", "to_live"): "live",
    }
    return table.get((state, asked))


def with_multi(media: Media, multi: MultiDefinition) -> MediaFiles:
    """The files of a media that shows several others; empty members keep the stored values. Raises BadInput."""
    files = media.media_files or MediaFiles()
    _refuse(media, files, "multi", ("streaming", "archival", "image", "live", "concat"))
    given = {name: value for name, value in msgspec.structs.asdict(multi).items() if value}
    found = msgspec.structs.replace(files, **given)
    if multi.layout and (len(multi.layout) != 2 or min(multi.layout) < 1):  # noqa: PLR2004 rows and columns
        raise BadInput("multi.layout: give the numbers of rows and of columns, each at least 1.")
    if len(multi.frameOffset or ()) > len(found.ids or ()):
        raise BadInput(
            f"multi.frameOffset: {len(multi.frameOffset or ())} offsets are given; media {media.id} shows "
            f"{len(found.ids or ())} media."
        )
    if media.id in (multi.ids or ()):
        raise BadInput(f"multi.ids: media {media.id} cannot show itself.")
    return found


def with_concat(media: Media, concat: list[ConcatDefinition]) -> MediaFiles:
    """The files of a media that concatenates others. Raises BadInput."""
    files = media.media_files or MediaFiles()
    _refuse(media, files, "concat", ("streaming", "archival", "image", "live", "ids"))
    return msgspec.structs.replace(files, concat=concat)


def with_live(media: Media, live: LiveUpdateDefinition) -> MediaFiles:
    """The files of a media that shows live streams. Raises BadInput."""
    files = media.media_files or MediaFiles()
    _refuse(media, files, "live", ("streaming", "archival", "image", "ids"))
    return msgspec.structs.replace(files, live=live.streams, layout=live.layout)


def with_job(media: Media, uid: str) -> Media:
    """The media with one more job in its attributes; the same media if there is no job."""
    if not uid:
        return media
    jobs = [*media.attributes.get(JOBS_ATTRIBUTE, []), uid]
    return msgspec.structs.replace(media, attributes={**media.attributes, JOBS_ATTRIBUTE: jobs})


def _refuse(media: Media, files: MediaFiles, role: str, others: tuple[str, ...]) -> None:
    present = [name for name in others if getattr(files, name)]
    if present:
        raise BadInput(f"{role}: media {media.id} has {' and '.join(present)} already; it cannot be {role} as well.")


def with_tag(attributes: Mapping[str, Any] | None, stored: object = None) -> dict[str, Any] | None:
    """Attributes as given, with the tag under its stored name.

    Media show the tag under both names. Where a caller sends both, the value counts that differs from the stored tag.

    Raises:
        BadInput: both names are given, with two different values that are both new.
    """
    if attributes is None:
        return None
    given = {TAG_NAMES.get(name, name): value for name, value in attributes.items()}
    tags = [attributes[name] for name in (TAG_ATTRIBUTE, *TAG_NAMES) if name in attributes]
    new = [tag for tag in tags if tag != stored]
    if any(tag != new[0] for tag in new):
        names = " and ".join((TAG_ATTRIBUTE, *TAG_NAMES))
        raise BadInput(f"attributes: {names} are two names of one attribute, and have two values. Send one of them.")
    return given | {TAG_ATTRIBUTE: (new or tags)[0]} if tags else given


def tagged_names(names: Iterable[str] | None) -> list[str] | None:
    """Names of attributes as given, with the stored name of the tag."""
    return None if names is None else [TAG_NAMES.get(name, name) for name in names]


def tag_text(value: object) -> str:
    """The tag that a caller gives; "" means no tag. Raises BadInput for what is not text, also for null."""
    if isinstance(value, str):
        return value
    raise BadInput(f'attributes: {TAG_ATTRIBUTE} must be a string; "" takes the media out of its section.')
