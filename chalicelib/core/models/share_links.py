"""Share links: what guests without an account are shown of a project."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from chalicelib.core.records import RecordKind
from chalicelib.core.resource import ONE_LINE, Id, Resource, Timestamp

MOST_MEDIA = 500
LinkName = Annotated[str, Meta(max_length=100, pattern=ONE_LINE, description="What the link is for; guests see it.")]
Folder = Annotated[Id, Meta(description="The folder whose media it shows, those that come later, too.")]
Passphrase = Annotated[str, Meta(min_length=4, max_length=200, description="What a guest types in to open it.")]
End = Annotated[str, Meta(max_length=40, description="When it ends.")]
MostOpenings = Annotated[int, Meta(ge=1, le=1_000_000, description="How often it can be opened; null for any number.")]
MediaIds = Annotated[
    list[Id], Meta(min_length=1, max_length=MOST_MEDIA, description="The media that it shows, with their annotations.")
]


class ShareLinkUpdate(Resource, kw_only=True):
    """The body of a PATCH of a share link; a change counts for guests who have opened it, too."""

    name: LinkName | None = None
    passphrase: Passphrase | UnsetType | None = UNSET
    expires_datetime: End | UnsetType | None = UNSET
    most_openings: MostOpenings | UnsetType | None = UNSET


class ShareLinkSpec(ShareLinkUpdate, kw_only=True):
    """The body that makes a share link: of a section or of media."""

    names: ClassVar = {"section": "section", "media_ids": "media"}

    name: LinkName = ""
    section: Folder | None = None
    media_ids: MediaIds | None = None
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
    has_passphrase: bool = False
    expires_datetime: Timestamp | None = None
    most_openings: MostOpenings | None = None
    openings: Annotated[int, Meta(description="How often it was opened.")] = 0
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


def has_ended(link: ShareLink) -> bool:
    """Whether a link is past its end."""
    return link.expires_datetime is not None and datetime.fromisoformat(link.expires_datetime) <= datetime.now(UTC)
