"""Users, organizations and projects, with their members."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.models.credentials import Passkey, SecondFactor
from chalicelib.core.permissions import DefaultLevelName, OrganizationLevelName, ProjectLevelName
from chalicelib.core.records import RecordKind, padded
from chalicelib.core.resource import ADDRESS, ONE_LINE, Flag, Id, Name, Resource, Timestamp, Uuid
from chalicelib.core.usage_limits import UsageLimits
from chalicelib.core.values.attributes import AttributeType
from chalicelib.core.values.public_projects import ForbidsPublic, PublicDownloads, PublicState

Username = Annotated[str, Meta(min_length=1, max_length=150, pattern=ONE_LINE)]
Email = Annotated[str, Meta(min_length=3, max_length=254), ADDRESS]
PersonName = Annotated[str, Meta(max_length=150, pattern=ONE_LINE)]
Password = Annotated[str, Meta(min_length=1, max_length=1024)]
MailedToken = Annotated[str, Meta(max_length=200)]
UNLOCK_HOURS = 24
AddressStanding = Literal["declared", "vouched", "confirmed"]
"""How a user's address was verified: declared by the user, set by staff, or confirmed by a link in an email."""
EncodedPicture = Annotated[str, Meta(max_length=2_000_000)]
"""Base64; the handler limits the size of the picture."""
_NAMES = frozenset({"username", "first_name", "last_name", "email"})


class StoredToken(Resource, kw_only=True):
    """A token as releases before the table of credentials stored it; its first use moves it there."""

    personal: ClassVar = frozenset({"username", "name"})

    id: str
    """SHA-256 of the token, in hex."""
    user: int
    username: str
    is_staff: bool = False
    is_active: bool = True
    name: str = ""
    created_datetime: Timestamp


class Unlock(Resource, kw_only=True):
    """A bypass of an account's lock, emailed to its user; its id is the hash of the token in the email's link."""

    id: str
    user: int
    created: float  # seconds since the epoch


class UserUpdate(Resource, kw_only=True):
    """The body of a PATCH of a user."""

    may_be_empty: ClassVar = True

    username: Annotated[
        Username | None,
        Meta(description="Sent by older clients; it must be the user's own, since a user name does not change."),
    ] = None
    first_name: PersonName | None = None
    last_name: PersonName | None = None
    email: Email | None = None
    password: Password | None = None
    reset_token: Annotated[MailedToken | None, Meta(description="Token of a password reset, with `password`.")] = None
    current_password: Annotated[
        Password | None,
        Meta(description="The user's present password, which sets a new `password`; no other member beside the two."),
    ] = None
    new_avatar: EncodedPicture | None = None
    clear_avatar: Annotated[Flag | None, Meta(description="Whether to remove the avatar.")] = None
    set_profile_keys: Annotated[dict[str, Any] | None, Meta(description="Members of the profile to set.")] = None
    clear_profile_keys: Annotated[list[str] | None, Meta(description="Names of members of the profile to remove.")] = (
        None
    )
    elemental_id: Uuid | None = None
    is_active: Annotated[
        bool | None,
        Meta(description="For staff: false deactivates the account and revokes its tokens, true activates it again."),
    ] = None


class UserSpec(Resource, kw_only=True):
    """The body that creates a user."""

    username: Username
    first_name: PersonName
    last_name: PersonName
    email: Email
    password: Password
    registration_token: MailedToken | None = None
    new_avatar: EncodedPicture | None = None
    elemental_id: Uuid | None = None
    profile: dict[str, Any] | None = None


class User(Resource, kw_only=True):
    """A person or program with an account."""

    hidden: ClassVar = frozenset(
        {
            "password_hash",
            "is_active",
            "password_changed",
            "email_standing",
            "pending_email",
            "pending_email_token",
            "pending_email_since",
            "confirmation_token",
            "created_datetime",
            *("tokens", "provider", "confirmed_until", "second_factor", "passkeys", "owned_since"),
        }
    )
    personal: ClassVar = frozenset(
        {"username", "first_name", "last_name", "email", "profile", "pending_email", "pending_email_token"}
    )

    id: int
    username: Username
    first_name: PersonName = ""
    last_name: PersonName = ""
    email: str = ""
    is_staff: Annotated[bool, Meta(description="Whether the user is of the operator's staff.")] = False
    elemental_id: str
    profile: dict[str, Any] = {}
    is_active: bool = True
    password_hash: str = ""
    password_changed: Annotated[
        float,
        Meta(description="When it was last replaced, in seconds since the epoch; resets emailed before are void."),
    ] = 0.0
    email_standing: AddressStanding = "vouched"
    pending_email: Annotated[
        str | None,
        Meta(description="An address that becomes the user's once its link is opened."),
    ] = None
    pending_email_token: Annotated[str | None, Meta(description="The hash of the token in that link.")] = None
    pending_email_since: Annotated[float, Meta(description="Seconds since the epoch.")] = 0.0
    confirmation_token: Annotated[
        str | None,
        Meta(description="The hash of the token in the confirmation link of a registration."),
    ] = None
    tokens: Annotated[list[str], Meta(description="The hashes of the user's tokens, oldest first.")] = []
    provider: Annotated[int | None, Meta(description="The identity provider that the account is of.")] = None
    confirmed_until: float | None = None
    """Until when tokens and jobs go on without another sign-in there, in seconds since the epoch."""
    second_factor: SecondFactor | None = None
    passkeys: list[Passkey] = []
    owned_since: Timestamp = ""
    """When the owner of the address first proved it by a reset; what opened the account before is no longer good."""
    created_datetime: Timestamp

    def is_opened_by(self, made: Timestamp) -> bool:
        """Whether an access token, a job or an identity that was made at a time opens the account."""
        return made > self.owned_since

    def is_confirmed(self, moment: float) -> bool:
        """Whether the user's tokens and jobs go on at a time, in seconds since the epoch."""
        return self.confirmed_until is None or moment < self.confirmed_until

    @property
    def email_key(self) -> str:
        """The key that lists users by address; several may share one until one of them confirmed it."""
        return self.email.casefold()

    @property
    def display_name(self) -> str:
        """The user's full name."""
        return f"{self.first_name} {self.last_name}".strip() or self.username


class Organization(Resource, kw_only=True):
    """A group of users that owns projects, buckets and clusters. `permission` is the caller's own."""

    hidden: ClassVar = frozenset({"created_by", "closing", "usage_warned"})

    id: int
    name: Name
    default_membership_permission: DefaultLevelName = "No Access"
    thumb: Annotated[str | None, Meta(description="The key of its picture; in responses a URL.")] = None
    allowed_origins: list[str] = []
    access_token_days: int | None = None
    usage_limits: UsageLimits | None = None
    forbids_public_projects: ForbidsPublic = False
    usage_warned: dict[str, str] = {}
    """The month of the last warning by limit."""
    created_by: int = 0
    closing: Annotated[bool, Meta(description="Whether it is being deleted: no project may be added to it.")] = False
    permission: Annotated[str | None, Meta(description="The caller's level: Member or Admin.")] = None
    effective_permission: int = 0


class Affiliation(Resource, kw_only=True):
    """A user's membership of an organization."""

    hidden: ClassVar = frozenset({"added_by"})
    personal: ClassVar = _NAMES

    also: ClassVar = {"organization_id": "organization", "user_id": "user"}

    id: int
    organization: Id
    user: Id
    permission: Annotated[OrganizationLevelName, Meta(description="Member or Admin.")]
    username: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    email: str | None = None
    added_by: int = 0
    """Who added the user without being asked; 0 for staff, a provider, an invitation that the user accepted."""


class Project(Resource, kw_only=True):
    """The container of all data. `permission` is the caller's own."""

    hidden: ClassVar = frozenset(
        {"created_by", "deleted", "first_thumb", "first_thumb_media", "exhausted", "usage_warned"}
    )

    id: int
    name: Name
    summary: str = ""
    organization: Id
    enable_downloads: bool = True
    bucket: Id | None = None
    upload_bucket: Id | None = None
    backup_bucket: Annotated[Id | None, Meta(description="Id of the bucket for backups; null for none.")] = None
    elemental_id: str
    thumb: Annotated[str | None, Meta(description="The key of its picture; in responses a URL.")] = None
    first_thumb_media: int | None = None
    first_thumb: Annotated[
        str | None,
        Meta(description="The key of the thumbnail of its first media that has one: its picture until another is set."),
    ] = None
    created: Timestamp
    created_by: int
    attribute_types: Annotated[list[AttributeType], Meta(description="Definitions of the attributes of sections.")] = []
    extended_info: dict[str, Any] = {}
    public: PublicState | None = None
    public_downloads: PublicDownloads = False
    deleted: Annotated[
        Timestamp | None,
        Meta(description="When it was deleted; a queue function purges its content."),
    ] = None
    num_files: Annotated[int, Meta(description="How many media there are.")] = 0
    size: Annotated[int, Meta(description="Bytes of all files.")] = 0
    duration: Annotated[int, Meta(description="Seconds of all videos.")] = 0
    usage_limits: UsageLimits | None = None
    usage_warned: dict[str, str] = {}
    exhausted: dict[str, str] = {}
    """Limits that are reached, `organization bytes`, by the month in which; empty for those without a month."""
    usernames: Annotated[list[str], Meta(description="Names of the members.")] = []
    permission: Annotated[str | None, Meta(description="The caller's level, from No Access to Full Control.")] = None
    effective_permission: int = 0


class Membership(Resource, kw_only=True):
    """A user's membership of a project."""

    hidden: ClassVar = frozenset({"added_by"})
    personal: ClassVar = _NAMES

    id: int
    project: int
    user: Id
    permission: Annotated[ProjectLevelName, Meta(description="Level from No Access to Full Control.")]
    default_version: Id | None = None
    username: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    email: str | None = None
    added_by: int = 0
    """As of an affiliation."""


USER = RecordKind(
    name="user",
    struct=User,
    claims=lambda user: {
        "username": user.username.casefold(),
        "elemental_id": user.elemental_id,
        **({"confirmation": user.confirmation_token} if user.confirmation_token else {}),
        **({"address_change": user.pending_email_token} if user.pending_email_token else {}),
        **({"email": user.email_key} if user.email_standing == "confirmed" else {}),
    },
    links={"email_key": "email"},
)
UNLOCK = RecordKind(name="unlock", struct=Unlock)
TOKEN = RecordKind(name="token", struct=StoredToken, title="Token")
ORGANIZATION = RecordKind(
    name="organization",
    struct=Organization,
    links={"created_by": "creator"},
    claims=lambda organization: {"name": f"{organization.created_by}|{organization.name.casefold()}"},
)
AFFILIATION = RecordKind(
    name="affiliation",
    struct=Affiliation,
    parent=("organization", "organization"),
    key=lambda affiliation: f"{padded(affiliation.user)}|{padded(affiliation.id)}",
    links={"user": "user"},
)
PROJECT = RecordKind(
    name="project",
    struct=Project,
    links={"organization": "organization", "public": "public"},
    claims=lambda project: {} if project.deleted else {"name": f"{project.organization}|{project.name.casefold()}"},
)
MEMBERSHIP = RecordKind(
    name="membership",
    struct=Membership,
    parent=("project", "project"),
    key=lambda membership: padded(membership.user),
    links={"user": "user"},
)
