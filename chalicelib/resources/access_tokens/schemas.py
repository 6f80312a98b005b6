"""Bodies and answers of access tokens."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType, field

from chalicelib.core.models.credentials import ALL
from chalicelib.core.permissions import ProjectLevelName
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import ONE_LINE, Id, Resource, Timestamp

LONGEST_DAYS = 365
DEFAULT_DAYS = 90
TokenName = Annotated[
    str, Meta(min_length=1, max_length=100, pattern=ONE_LINE, description="What the token is for, such as `nightly`.")
]
Projects = Annotated[
    Annotated[list[Id], Meta(min_length=1, max_length=100)],
    Meta(description="The projects that it reaches, and no organization; null for all that its user reaches."),
]
HighestLevel = Annotated[
    ProjectLevelName, Meta(description="The highest level that it gives; the user's own where that is lower.")
]
Groups = Annotated[
    list[Annotated[str, Meta(min_length=1, max_length=50)]],
    Meta(
        min_length=1,
        max_length=50,
        description="What it may call: `all`, `read` for every operation that only reads, or groups of operations as "
        "the reference has them, such as `Media`.",
    ),
]
Networks = Annotated[
    list[Annotated[str, Meta(min_length=2, max_length=43)]],
    Meta(max_length=50, description="Networks that it may come from, `192.0.2.0/24`; any where empty."),
]
End = Annotated[
    str, Meta(max_length=40, description="When it ends: at most a year from now, or as the organization sets.")
]


class AccessTokenUpdate(Resource, kw_only=True):
    """The body of a PATCH of an access token."""

    name: TokenName | None = None
    projects: Projects | UnsetType | None = UNSET
    level: HighestLevel | None = None
    operations: Groups | None = None
    networks: Networks | None = None
    expires_datetime: End | None = None


class AccessTokenSpec(AccessTokenUpdate, kw_only=True):
    """The body that makes an access token: what is not given is not limited."""

    name: TokenName


class AccessToken(Resource, kw_only=True):
    """An access token of a user: its limits and its use, never the token itself."""

    hidden: ClassVar = frozenset({"credential"})
    personal: ClassVar = frozenset({"name", "networks"})

    id: int
    user: int
    name: TokenName
    projects: Projects | None = None
    level: HighestLevel = "Full Control"
    operations: Groups = field(default_factory=lambda: [ALL])
    networks: Networks = []
    created_datetime: Timestamp
    expires_datetime: Timestamp
    used_on: Annotated[str | None, Meta(description="The day on which it was last used, `2026-11-21`, in UTC.")] = None
    credential: str = ""
    """The key of its credential."""


class AccessTokenCreated(Resource, kw_only=True):
    """A new access token, which is never shown again."""

    message: str
    id: int
    token: Annotated[str, Meta(description="`limn_`, 40 digits, and the checksum of both.")]
    object: AccessToken


ACCESS_TOKEN = RecordKind(name="accesstoken", struct=AccessToken, title="AccessToken", parent=("user", "user"))
