"""Share links: what guests without an account are shown of a project."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, UnsetType

from chalicelib.core.models.credentials import GuestView
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import ONE_LINE, Id, Resource, Timestamp
from chalicelib.core.time import clock

MOST_MEDIA = 500
MOST_FOUND = 5000
"""Media of a search or a dataset that a link shows."""
LinkName = Annotated[str, Meta(max_length=100, pattern=ONE_LINE, description="What the link is for; guests see it.")]
Folder = Annotated[Id, Meta(description="The folder whose media it shows, those that come later, too.")]
Passphrase = Annotated[str, Meta(min_length=4, max_length=200, description="What a guest types in to open it.")]
End = Annotated[str, Meta(max_length=40, description="When it ends.")]
MostOpenings = Annotated[int, Meta(ge=1, le=1_000_000, description="How often it can be opened; null for any number.")]
Downloads = Annotated[
    bool, Meta(description="Whether guests can download originals and attachments, and not only watch.")
]
Search = Annotated[
    Id, Meta(description="A saved search or list; a guest sees what it finds when the link is opened, for an hour.")
]
DatasetUid = Annotated[str, Meta(min_length=1, max_length=64, description="The uid of a version of a dataset.")]
CommentId = Annotated[Id, Meta(description="A comment: its thread, and the frames or media that it is on.")]
MediaIds = Annotated[
    list[Id], Meta(min_length=1, max_length=MOST_MEDIA, description="The media that it shows, with their annotations.")
]


class FrameSpan(Resource, kw_only=True):
    """Frames of a video, which guests get one by one; they get no file."""

    names: ClassVar = {"media_id": "media"}

    media_id: Annotated[Id, Meta(description="The video.")]
    start: Annotated[int, Meta(ge=0, le=2**53, description="The first frame, from 0.")]
    stop: Annotated[int, Meta(ge=1, le=2**53, description="The frame after the last one.")]


class SharedView(Resource, kw_only=True):
    """What the player shows: a media at a frame, with some of its annotations."""

    names: ClassVar = {"media_id": "media", "versions": "version"}

    media_id: Annotated[Id, Meta(description="The media.")]
    frame: Annotated[int, Meta(ge=0, le=2**53, description="The frame to begin with.")] = 0
    versions: Annotated[list[Id], Meta(max_length=500, description="Only annotations in these layers.")] | None = None
    types: Annotated[list[Id], Meta(max_length=500, description="Only annotations of these types.")] | None = None


class ShareLinkUpdate(Resource, kw_only=True):
    """The body of a PATCH of a share link; a change counts for guests who have opened it, too."""

    name: LinkName | None = None
    passphrase: Passphrase | UnsetType | None = UNSET
    expires_datetime: End | UnsetType | None = UNSET
    most_openings: MostOpenings | UnsetType | None = UNSET
    downloads: Downloads | None = None


class ShareLinkSpec(ShareLinkUpdate, kw_only=True):
    """The body that makes a share link; it names one thing to show."""

    names: ClassVar = {"section": "section", "media_ids": "media", "search": "section"}

    name: LinkName = ""
    section: Folder | None = None
    media_ids: MediaIds | None = None
    frames: FrameSpan | None = None
    view: SharedView | None = None
    dataset: DatasetUid | None = None
    search: Search | None = None
    comment: CommentId | None = None
    passphrase: Passphrase | None = None
    expires_datetime: End | None = None
    most_openings: MostOpenings | None = None


class ShareLink(Resource, kw_only=True):
    """A share link as its list shows it, never with its token or passphrase."""

    hidden: ClassVar = frozenset({"token_hash", "passphrase_hash"})

    id: int
    project: int
    user: Annotated[int, Meta(description="Who made it.")]
    name: LinkName = ""
    section: int | None = None
    media_ids: list[int] = []
    frames: Annotated[FrameSpan | None, Meta(description="The frames that it shows.")] = None
    view: Annotated[SharedView | None, Meta(description="What the player shows.")] = None
    dataset: Annotated[str | None, Meta(description="The uid of the version of a dataset that it shows.")] = None
    search: Annotated[int | None, Meta(description="The saved search or list whose media it shows.")] = None
    comment: Annotated[int | None, Meta(description="The comment whose thread it shows.")] = None
    downloads: Downloads = False
    has_passphrase: bool = False
    expires_datetime: Timestamp | None = None
    most_openings: MostOpenings | None = None
    openings: Annotated[int, Meta(description="How often it was opened.")] = 0
    last_opened_datetime: Annotated[Timestamp | None, Meta(description="When it was opened last; null for never.")] = (
        None
    )
    created_datetime: Timestamp
    token_hash: str = ""
    passphrase_hash: str = ""


SHARE_LINK = RecordKind(
    name="share_link",
    struct=ShareLink,
    title="ShareLink",
    links={"project": "project"},
    claims=lambda link: {"token": link.token_hash},
)


def view_of(link: ShareLink, found: tuple[int, ...]) -> GuestView:
    """What a link shows to a guest.

    Args:
        link: the link.
        found: the media that its search or dataset had when the guest opened it.
    """
    shown: dict[str, Any] = {"section": link.section or 0, "media": (*link.media_ids, *found)}
    if link.frames is not None:
        shown |= {"media": (link.frames.media_id,), "frames": (link.frames.start, link.frames.stop)}
    if link.view is not None:
        versions, types = link.view.versions, link.view.types
        shown["media"] = (link.view.media_id,)
        shown["versions"] = None if versions is None else tuple(versions)
        shown["types"] = None if types is None else tuple(types)
    return GuestView(
        **shown,
        has_annotations=link.dataset is None,
        dataset=link.dataset or "",
        comment=link.comment or 0,
        downloads=link.downloads,
    )


def has_ended(link: ShareLink) -> bool:
    """Whether a link is past its end."""
    return link.expires_datetime is not None and datetime.fromisoformat(link.expires_datetime) <= clock.utc_now()
