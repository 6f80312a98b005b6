"""Records of one user: bookmarks, favorites, announcements; and of the erasure of one."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.records import RecordKind, padded
from chalicelib.core.resource import Id, Name, Resource, Timestamp

Page = Annotated[int, Meta(ge=1, le=10)]
Uri = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=1024,
        pattern=r"^(?:[hH][tT][tT][pP][sS]?://[^\x00-\x20]|[^:/?#\x00-\x20\\]*(?:[/?#]|$(?!\n)))",
        description="An http or https URL, or a path of this service.",
    ),
]
EntityTypeName = Literal["Localization", "State"]


class BookmarkUpdate(Resource, kw_only=True):
    """The body of a PATCH of a bookmark."""

    name: Name | None = None
    uri: Uri | None = None


class BookmarkSpec(Resource, kw_only=True):
    """The body that creates a bookmark."""

    name: Name
    uri: Uri


class Bookmark(Resource, kw_only=True):
    """A saved link."""

    id: int
    project: int
    user: Id
    name: Name
    uri: Annotated[str, Meta(min_length=1, max_length=1024)]


class FavoriteUpdate(Resource, kw_only=True):
    """The body of a PATCH of a favorite."""

    accepts: ClassVar = {"entityTypeName": "entity_type_name"}

    name: Name | None = None
    entity_type_name: EntityTypeName | None = None


class FavoriteSpec(Resource, kw_only=True):
    """The body that creates a favorite. Old clients do not send the kind of type; theirs are localization types."""

    accepts: ClassVar = {"entityTypeName": "entity_type_name", "meta": "type"}

    name: Name
    type: Annotated[Id, Meta(description="Id of the type of annotations that the values are for.")]
    values: dict[str, Any]
    page: Page = 1
    entity_type_name: EntityTypeName | None = None


class Favorite(Resource, kw_only=True):
    """Attribute values saved for new annotations of a type."""

    also: ClassVar = {"meta": "type", "entityTypeName": "entity_type_name"}

    id: int
    project: int
    user: Id
    type: Annotated[int, Meta(description="Id of the type of annotations that the values are for.")]
    name: Name
    entity_type_name: EntityTypeName = "Localization"
    page: Page = 1
    values: dict[str, Any] = {}


class Announcement(Resource, kw_only=True):
    """A message to all users, or to some, until each has acknowledged it."""

    also: ClassVar = {"message": "markdown"}
    hidden: ClassVar = frozenset({"user"})

    id: int
    user: Annotated[int, Meta(description="The user who receives this copy.")]
    subject: str = ""
    markdown: Annotated[str, Meta(description="Text in Markdown.")]
    created_datetime: Timestamp
    eol_datetime: Timestamp


BOOKMARK = RecordKind(
    name="bookmark",
    struct=Bookmark,
    parent=("project", "project"),
    key=lambda bookmark: f"{padded(bookmark.user)}|{padded(bookmark.id)}",
)
FAVORITE = RecordKind(
    name="favorite",
    struct=Favorite,
    parent=("project", "project"),
    key=lambda favorite: f"{padded(favorite.user)}|{padded(favorite.id)}",
)
ANNOUNCEMENT = RecordKind(name="announcement", struct=Announcement, parent=("user", "user"))


class HiddenCopy(Resource, kw_only=True):
    """Layers of a media that hold other copies of a task."""

    media: int
    versions: list[int]


EVERYBODY = 0
"""The `user` of what is hidden from all who have less than Full Control."""


class HiddenLayers(Resource, kw_only=True):
    """What is hidden from a member, or from everybody below Full Control.

    Attributes:
        tasks: layers of a media, by the ids of the tasks that the member works on.
        versions: layers that are hidden everywhere, by what needs it.
    """

    uid: str
    project: int
    user: int
    tasks: dict[str, HiddenCopy] = {}
    versions: dict[str, int] = {}


HIDDEN_LAYERS = RecordKind(
    name="hidden_layers",
    struct=HiddenLayers,
    parent=("project", "project"),
    identity="uid",
    key=lambda hidden: padded(hidden.user),
)


ErasureStatus = Literal["Begun", "Running", "Completed"]


class FoundData(Resource, kw_only=True):
    """Where data of the person was found."""

    place: Annotated[str, Meta(description="Where, such as `account`, `audit log` or `comments`.")]
    number: Annotated[int, Meta(description="In how many members, entries, records or commits.")]


class Erasure(Resource, kw_only=True):
    """An erasure, and its report."""

    hidden: ClassVar = frozenset({"sealed", "organizations", "is_surveyed"})

    id: int
    organization: int
    user: Annotated[int, Meta(description="The user who is erased; the id stays.")]
    status: Annotated[
        ErasureStatus,
        Meta(
            description="`Begun`: the request that began it has not closed the account; repeat it. `Running`: the "
            "account is closed, a queue function erases the rest. `Completed`: nothing is left but copies."
        ),
    ] = "Begun"
    created_by: int
    created_datetime: Timestamp
    completed_datetime: Timestamp | None = None
    found: Annotated[list[FoundData], Meta(description="Where the data was, and how much.")] = []
    copies_end_datetime: Annotated[
        Timestamp | None,
        Meta(
            description="When the last backup, replaced object, log of a function and dead letter with the data ends."
        ),
    ] = None
    sealed: str = ""
    """The person's names until it is completed, encrypted."""
    organizations: list[int] = []
    """In whose logs and projects the data is looked for."""
    is_surveyed: bool = False
    """Whether what the queue function erases has been counted."""


ERASURE = RecordKind(name="erasure", struct=Erasure, links={"organization": "organization", "user": "user"})
