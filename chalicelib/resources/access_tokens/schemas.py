"""Bodies and answers of access tokens."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

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


class DeviceSignInSpec(Resource, kw_only=True):
    """The body with which a device asks for a token: what the person who confirms it is shown."""

    name: TokenName
    projects: Projects | None = None
    level: HighestLevel = "Full Control"
    operations: Groups = field(default_factory=lambda: [ALL])


class DeviceSignIn(DeviceSignInSpec, kw_only=True):
    """A device that asks for a token, as the person is shown it who confirms it."""

    network_address: Annotated[str, Meta(description="Where the device asked from.")]
    created_datetime: Timestamp
    expires_datetime: Annotated[Timestamp, Meta(description="Until when it can be confirmed.")]


UserCode = Annotated[
    str,
    Meta(
        min_length=8,
        max_length=20,
        description="The code that the device shows, `WDJB-MJHT`; hyphens, spaces and lower case count the same.",
    ),
]
DeviceCode = Annotated[
    str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)", description="The secret with which the device asks for its token.")
]


class DeviceCodes(Resource, kw_only=True):
    """The two codes of a sign-in by device (RFC 8628): one that the device keeps, one that it shows."""

    device_code: DeviceCode
    user_code: UserCode
    verification_uri: Annotated[str, Meta(description="The page of the console that asks for the code.")]
    verification_uri_complete: Annotated[str, Meta(description="The same page with the code filled in.")]
    expires_in: Annotated[int, Meta(description="Seconds for which both codes count.")]
    interval: Annotated[int, Meta(description="Seconds to wait between requests for the token.")]


class DeviceCodeQuery(Resource, kw_only=True):
    """Which device."""

    user_code: UserCode


class DeviceAnswer(AccessTokenUpdate, kw_only=True):
    """What the person says; limits that are not given are those that the device asked for."""

    user_code: UserCode
    decision: Annotated[Literal["approve", "deny"], Meta(description="Whether the device gets a token.")]


class DeviceTokenSpec(Resource, kw_only=True):
    """Which device asks for its token."""

    device_code: DeviceCode


class DeviceToken(Resource, kw_only=True):
    """The access token of a device, which is never shown again."""

    access_token: Annotated[str, Meta(description="For the Authorization header: `Token limn_…`.")]
    token_type: Literal["Token"] = "Token"  # noqa: S105 the scheme of the header
    expires_in: Annotated[int, Meta(description="Seconds until it ends.")]
    id: Annotated[int, Meta(description="Its id in the list of access tokens.")]


class AccessTokenCreated(Resource, kw_only=True):
    """A new access token, which is never shown again."""

    message: str
    id: int
    token: Annotated[str, Meta(description="`limn_`, 40 digits, and the checksum of both.")]
    object: AccessToken


ACCESS_TOKEN = RecordKind(name="accesstoken", struct=AccessToken, title="AccessToken", parent=("user", "user"))
