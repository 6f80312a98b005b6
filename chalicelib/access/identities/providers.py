"""Identity providers (OpenID Connect) as they are stored, and which users must sign in with theirs."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType, field

from chalicelib.core.models.accounts import AFFILIATION, User
from chalicelib.core.permissions import OrganizationLevelName, ProjectLevelName
from chalicelib.core.records import RecordKind, padded
from chalicelib.core.resource import ONE_LINE, WEB_URL, Id, Name, Resource, Timestamp
from chalicelib.storage.dynamodb import records

Admission = Literal["automatic", "mapped", "invited"]
Text = Annotated[str, Meta(min_length=1, max_length=255, pattern=ONE_LINE)]
IssuerUrl = Annotated[
    Annotated[str, Meta(min_length=8, max_length=500), WEB_URL],
    Meta(description="The provider's issuer, `https://login.example.org/realms/reef`, exactly as its tokens have it."),
]
Secret = Annotated[
    Annotated[str, Meta(min_length=1, max_length=1000, pattern=ONE_LINE)],
    Meta(description="The client's secret; null for a public client, which proves itself by PKCE alone."),
]
Domain = Annotated[str, Meta(min_length=3, max_length=253, pattern=r"^[a-z0-9.-]+\.[a-z0-9-]+$(?!\n)")]


class GivenMembership(Resource, kw_only=True):
    """A membership that a group of the provider gives."""

    project: Id
    permission: ProjectLevelName


class Mapping(Resource, kw_only=True):
    """What a group of the provider gives to its members."""

    group: Annotated[Text, Meta(description="The group, as the claim has it.")]
    affiliation: OrganizationLevelName | None = None
    memberships: Annotated[list[GivenMembership], Meta(max_length=100)] = []
    groups: Annotated[
        Annotated[list[Id], Meta(max_length=50)], Meta(description="Groups of the organization, by id.")
    ] = []


Mappings = Annotated[list[Mapping], Meta(max_length=100)]
Domains = Annotated[
    Annotated[list[Domain], Meta(max_length=20)],
    Meta(
        description="Domains of addresses whose users, where they are affiliated with the organization, must sign in "
        "here. For staff to set, since nothing else proves whose a domain is; needs `break_glass`."
    ),
]
BreakGlass = Annotated[
    Annotated[list[Id], Meta(max_length=10)],
    Meta(description="Administrators whose passwords count all the same, for the day on which the provider is down."),
]
Hours = Annotated[
    Annotated[int, Meta(ge=1, le=720)],
    Meta(
        description="For how many hours after the provider last confirmed a user the access tokens and jobs of that "
        "user go on; sign-ins always end after one."
    ),
]


class IdentityProviderUpdate(Resource, kw_only=True):
    """The body of a PATCH of an identity provider."""

    name: Name | None = None
    issuer: IssuerUrl | None = None
    client_id: Text | None = None
    client_secret: Secret | UnsetType | None = UNSET
    scopes: (
        Annotated[
            Annotated[list[Text], Meta(min_length=1, max_length=20)],
            Meta(description="Scopes to ask for."),
        ]
        | None
    ) = None
    groups_claim: Annotated[Text, Meta(description="The claim with the groups, such as `groups`.")] | None = None
    mappings: Mappings | None = None
    domains: Domains | None = None
    break_glass: BreakGlass | None = None
    admission: (
        Annotated[
            Admission,
            Meta(
                description="Who gets an account at the first sign-in: everybody (`automatic`), members of a mapped "
                "group (`mapped`), or whom an administrator invited (`invited`)."
            ),
        ]
        | None
    ) = None
    unattended_hours: Hours | None = None
    is_listed: Annotated[bool, Meta(description="Whether the sign-in page offers it to everybody.")] | None = None


class IdentityProviderSpec(IdentityProviderUpdate, kw_only=True):
    """The body that creates an identity provider."""

    name: Name
    issuer: IssuerUrl
    client_id: Text
    client_secret: Secret | None = None


class IdentityProvider(Resource, kw_only=True):
    """An identity provider of an organization, whose users sign in there. Its secret is never shown."""

    hidden: ClassVar = frozenset({"sealed"})

    id: int
    organization: int
    name: Name
    issuer: IssuerUrl
    client_id: Text
    scopes: list[str] = field(default_factory=lambda: ["openid", "profile", "email"])
    groups_claim: str = "groups"
    mappings: Mappings = []
    domains: Domains = []
    break_glass: BreakGlass = []
    admission: Admission = "automatic"
    unattended_hours: Hours = 1
    is_listed: bool = False
    has_secret: bool = False
    sealed: str = ""
    """The secret, sealed."""
    redirect_url: Annotated[str | None, Meta(description="Register this with the provider for sign-ins.")] = None
    logout_url: Annotated[str | None, Meta(description="And this for back-channel logout.")] = None

    @property
    def listing(self) -> int | None:
        """The list of all that the sign-in page offers, if it is in that."""
        return 1 if self.is_listed else None


class Identity(Resource, kw_only=True):
    """A user as an identity provider knows it."""

    personal: ClassVar = frozenset({"subject"})

    id: int
    user: int
    provider: int
    subject: str
    created_datetime: Timestamp
    sealed: str = ""
    """The refresh token, sealed; empty where the provider gives none."""
    renewed: int = 0
    """How often the refresh token was replaced."""
    memberships: dict[int, str] = {}
    """The levels in projects that groups of the provider gave."""
    groups: list[int] = []
    """The groups of the organization that they gave."""


IDENTITY_PROVIDER = RecordKind(
    name="identityprovider",
    struct=IdentityProvider,
    title="IdentityProvider",
    parent=("organization", "organization"),
    links={"listing": "listed"},
    claims=lambda provider: {f"domain|{domain}": "@" for domain in provider.domains},
)
IDENTITY = RecordKind(
    name="identity",
    struct=Identity,
    parent=("user", "user"),
    links={"provider": "identityprovider"},
    claims=lambda identity: {"subject": f"{identity.provider}|{identity.subject}"},
)


def demands(user: User) -> IdentityProvider | None:
    """The identity provider that a user must sign in with; None where a password does."""
    domain = user.email.rpartition("@")[2].casefold()
    found = records.maybe(IDENTITY_PROVIDER, user.provider) if user.provider else None
    if found is None and domain:
        found = records.get_claimed(IDENTITY_PROVIDER, f"domain|{domain}", "@")
        if found and records.first(AFFILIATION, found.organization, f"{padded(user.id)}|") is None:
            return None
    return None if found is None or user.id in found.break_glass else found
