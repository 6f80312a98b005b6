"""The structs of comments."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from chalicelib.core.records import RecordKind, padded
from chalicelib.core.resource import Id, Resource, Timestamp

Text = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=10_000,
        description="Markdown; HTML in it is shown as text. `@username` mentions a member of the project.",
    ),
]
Frame = Annotated[int, Meta(ge=0, le=2**53)]
Part = Annotated[float, Meta(ge=0, le=1)]


class Region(Resource, kw_only=True):
    """A rectangle of a frame, relative to its width and height."""

    x: Annotated[Part, Meta(description="The left edge, 0 to 1.")]
    y: Annotated[Part, Meta(description="The upper edge, 0 to 1.")]
    width: Annotated[Part, Meta(description="The width, 0 to 1.")]
    height: Annotated[Part, Meta(description="The height, 0 to 1.")]


class CommentUpdate(Resource, kw_only=True):
    """The body of a PATCH of a comment."""

    text: Annotated[Text | UnsetType, Meta(description="Only its author may change it.")] = UNSET
    resolved: Annotated[bool | UnsetType, Meta(description="Whether the thread of a first comment is settled.")] = UNSET


class CommentSpec(Resource, kw_only=True):
    """The body that creates a comment: on a media, a localization or a state, or as a reply."""

    names: ClassVar = {"media_id": "media", "localization_id": "localization", "state_id": "state"}

    text: Text
    media_id: Annotated[Id | None, Meta(description="The media that is commented on.")] = None
    frame: Annotated[Frame | None, Meta(description="The frame of the media, or the first frame of a span.")] = None
    end_frame: Annotated[Frame | None, Meta(description="The last frame of a span, included.")] = None
    region: Annotated[Region | None, Meta(description="A part of the frame.")] = None
    localization_id: Annotated[Id | None, Meta(description="The localization that is commented on.")] = None
    state_id: Annotated[Id | None, Meta(description="The state that is commented on.")] = None
    parent: Annotated[Id | None, Meta(description="The comment that this one replies to; it gives the target.")] = None
    resolved: Annotated[bool, Meta(description="Whether the thread is settled.")] = False


class Comment(Resource, kw_only=True):
    """A comment, or a reply to one."""

    mentioning: ClassVar = frozenset({"text"})

    id: int
    project: int
    text: Text
    media_id: Annotated[int, Meta(description="The media; of a state with several, the first one.")]
    frame: int | None = None
    end_frame: int | None = None
    region: Region | None = None
    localization_id: int | None = None
    state_id: int | None = None
    parent: Annotated[int | None, Meta(description="The first comment of the thread; null for that comment.")] = None
    resolved: bool = False
    resolved_by: Annotated[int | None, Meta(description="The user who settled the thread.")] = None
    mentions: Annotated[list[int], Meta(description="Ids of the members whom the text mentions.")] = []
    created_by: int
    created_datetime: Timestamp
    modified_by: int
    modified_datetime: Timestamp

    @property
    def sources(self) -> tuple[int, ...]:
        """The media that a reader must be able to see."""
        return (self.media_id,)


class CommentQuery(Resource, kw_only=True):
    """Filters of a list of comments; all that are given hold."""

    media_id: Annotated[list[int] | None, Meta(description="Comments on these media and on their annotations.")] = None
    localization_id: Annotated[int | None, Meta(description="Comments on this localization.")] = None
    state_id: Annotated[int | None, Meta(description="Comments on this state.")] = None
    frame: Annotated[Frame | None, Meta(description="Comments on this frame or on a span with it.")] = None
    parent: Annotated[int | None, Meta(description="The replies to this comment.")] = None
    resolved: Annotated[bool | None, Meta(description="Whether the thread is settled.")] = None
    mentions: Annotated[int | None, Meta(description="Comments that mention this user.")] = None
    created_by: Annotated[int | None, Meta(description="Comments by this user.")] = None
    start: Annotated[int, Meta(ge=0, description="How many of the first comments to leave out.")] = 0
    stop: Annotated[Frame | None, Meta(description="The number of the comment before which the list ends.")] = None


COMMENT = RecordKind(
    name="comment",
    struct=Comment,
    parent=("project", "project"),
    key=lambda comment: f"{padded(comment.media_id)}|{padded(comment.id)}",
)
