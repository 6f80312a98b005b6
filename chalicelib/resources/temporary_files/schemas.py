"""Temporary files: kept for a day at most, visible to members of a project who may see their source media.

Clips are temporary files.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from chalicelib.core.records import RecordKind
from chalicelib.core.resource import ONE_LINE, Resource, Timestamp

LONGEST_HOURS = 24


class TemporaryFileSpec(Resource, kw_only=True):
    """What creates a temporary file: a URL that is fetched at once.

    `name` and `lookup` are required; the origin of the URL is checked first.
    """

    required_later: ClassVar = frozenset({"name", "lookup"})

    url: Annotated[str, Meta(min_length=1, max_length=2048, description="URL that is fetched at once.")]
    name: Annotated[str, Meta(min_length=1, max_length=128, pattern=ONE_LINE)] | None = None
    lookup: Annotated[
        Annotated[str, Meta(max_length=256)] | None, Meta(description="A search word of the caller's.")
    ] = None
    hours: Annotated[int, Meta(ge=1, le=LONGEST_HOURS, description="Hours for which it is kept.")] = LONGEST_HOURS


class ClipOrder(Struct, kw_only=True, omit_defaults=True):
    """The source of a clip: a media's streaming file, or its original by a frame table; inclusive ranges of frames.

    Of a media that shows others: the ids of those, and the quality asked for, in place of files.
    """

    media: int
    path: str
    segment_info: str
    frame_table: str = ""
    ranges: list[tuple[int, int]]
    fps: float = 25.0
    reencode: bool = False
    parts: list[int] = []
    quality: int | None = None


class Entities(Struct, kw_only=True, frozen=True, omit_defaults=True, tag="entities"):
    """Made of media or files of the project, at least one. Only callers who may see all of these may see it."""

    media: list[int] = []
    files: list[int] = []

    def __post_init__(self) -> None:
        if not self.media and not self.files:
            raise ValueError("give at least one id in media or files")


class Outside(Struct, frozen=True, tag="outside"):
    """Made of nothing in the project: of an upload, of a file of the project itself, or of a URL elsewhere."""


class Unknown(Struct, frozen=True, tag="unknown"):
    """Made of an object whose sources are not recorded, or by an older release."""


class TemporaryFile(Resource, kw_only=True):
    """A file that is deleted after a day; `path` is a URL that the API token opens."""

    hidden: ClassVar = frozenset({"status", "message", "clip", "made_of", "start_frames", "end_frames"})

    id: int
    project: int
    user: int
    name: str
    path: str
    lookup: Annotated[str, Meta(description="Search word that it was created with.")]
    created_datetime: Timestamp
    eol_datetime: Timestamp
    status: Literal["waiting", "ready", "failed"] = "ready"
    message: Annotated[str, Meta(description="Why it has no content.")] = ""
    clip: ClipOrder | None = None
    made_of: Annotated[Entities | Outside | Unknown, Meta(description="What its content shows.")] = Unknown()
    start_frames: list[int] = []
    end_frames: list[int] = []

    @property
    def sources(self) -> list[int]:
        """The ids of its source media; 0 where they are unknown, which needs the right to see any media."""
        match self.made_of:
            case Entities(media=media):
                return media
            case Outside():
                return []
        return [self.clip.media if self.clip else 0]

    @property
    def source_files(self) -> list[int]:
        """The ids of its source files."""
        return self.made_of.files if isinstance(self.made_of, Entities) else []

    @property
    def object_name(self) -> str:
        """The last part of its path, and of its object's key."""
        return self.path.rpartition("/")[2]


class VideoClip(Resource, kw_only=True):
    """A clip: its file, and the frames at which each of its segments starts and ends, inclusive."""

    file: TemporaryFile
    segment_start_frames: Annotated[list[int], Meta(description="First frame of each segment of the clip.")]
    segment_end_frames: Annotated[list[int], Meta(description="Last frame of each segment of the clip.")]


TEMPORARY_FILE = RecordKind(
    name="temporary_file",
    struct=TemporaryFile,
    parent=("project", "project"),
    claims=lambda file: {"path": f"{file.project}|{file.object_name}"},
)
