"""Identity providers of an organization, and sign-ins with them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import parse_qs

import msgspec
from msgspec import Meta

from chalicelib.access import authentication, browser_sessions
from chalicelib.access.groups import GROUP
from chalicelib.access.identities.providers import (
    IDENTITY_PROVIDER,
    IdentityProvider,
    IdentityProviderSpec,
    IdentityProviderUpdate,
    Mapping,
)
from chalicelib.core.models.accounts import AFFILIATION, PROJECT, Organization
from chalicelib.core.permissions import Level, Permission
from chalicelib.core.records import padded
from chalicelib.core.resource import Resource, Timestamp, given, shared, timestamp
from chalicelib.core.responses import MessageResponse
from chalicelib.errors import BadInput, Forbidden, LimnError
from chalicelib.http.addresses import plain
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Answer, Call, NoQuery, Operations
from chalicelib.resources.accounts.html_pages import alert, console_link, page
from chalicelib.resources.identity_providers import oidc
from chalicelib.resources.identity_providers import service as providers_service
from chalicelib.settings import settings
from chalicelib.storage import sealing
from chalicelib.storage.dynamodb import ids, records

PLACE = r"^/#/[A-Za-z0-9/_.~%?=&:+,@-]*$(?!\n)"
"""A place in the console, `/#/projects/1`: never another origin."""
_ONE = plain(lambda path: records.get(IDENTITY_PROVIDER, path["id"]), id=int)
_LARGEST_FORM = 50_000


class SignInProvider(Resource, kw_only=True):
    """An identity provider as the sign-in page offers it."""

    id: int
    name: str


class SignInQuery(Resource, kw_only=True):
    """The address of the user whose providers are listed."""

    email: Annotated[
        Annotated[str, Meta(max_length=254)] | None,
        Meta(description="An address: also the provider that its domain must use."),
    ] = None


class SignInSpec(Resource, kw_only=True):
    """A sign-in to begin."""

    return_to: Annotated[
        Annotated[str, Meta(max_length=500, pattern=PLACE)], Meta(description="Where in the console to go then.")
    ] = "/#/"
    connect: Annotated[
        bool, Meta(description="Connect the account of the request with the identity, instead of signing in.")
    ] = False


class SignInBegun(Resource, kw_only=True):
    """Where the browser goes to sign in."""

    url: str


class SessionRenewed(Resource, kw_only=True):
    """A sign-in that was renewed."""

    message: str
    expires_datetime: Timestamp


class CallbackQuery(Resource, kw_only=True):
    """What a provider sends the browser back with."""

    code: Annotated[str, Meta(max_length=4096)] = ""
    state: Annotated[str, Meta(max_length=200)] = ""
    iss: Annotated[str, Meta(max_length=500)] | None = None
    error: Annotated[str, Meta(max_length=100)] | None = None
    error_description: Annotated[str, Meta(max_length=2000)] | None = None
    error_uri: Annotated[str, Meta(max_length=2000)] | None = None
    session_state: Annotated[str, Meta(max_length=1000)] | None = None
    scope: Annotated[str, Meta(max_length=2000)] | None = None
    authuser: Annotated[str, Meta(max_length=100)] | None = None
    hd: Annotated[str, Meta(max_length=253)] | None = None
    prompt: Annotated[str, Meta(max_length=100)] | None = None


def make_provider(call: Call[Organization, NoQuery, IdentityProviderSpec]) -> IdentityProvider:
    """Register a provider whose discovery document answers."""
    members = _check_members(call, shared(call.body, IdentityProvider), call.organization, None)
    number = ids.reserve(IDENTITY_PROVIDER.name)[0]
    chosen = {name: value for name, value in members.items() if value is not None}
    return records.create(
        IDENTITY_PROVIDER,
        IdentityProvider(id=number, organization=call.organization, **{**chosen, **_seal_secret(call.body)}),
        taken=_domain_taken(),
    )


def change_provider(
    call: Call[IdentityProvider, NoQuery, IdentityProviderUpdate], change: dict[str, Any]
) -> dict[str, Any]:
    """Check the members given, and seal a new secret."""
    plain_members = {name: value for name, value in change.items() if name != "client_secret"}
    sealed = _seal_secret(call.body) if "client_secret" in change else {}
    return {**_check_members(call, plain_members, call.target.organization, call.target), **sealed}


def _seal_secret(body: IdentityProviderUpdate) -> dict[str, Any]:
    secret = given(body).get("client_secret")
    return {"sealed": sealing.seal(secret.encode(), oidc.PURPOSE) if secret else "", "has_secret": bool(secret)}


def _check_members(
    call: Call[Any, Any, Any], members: dict[str, Any], organization: int, held: IdentityProvider | None
) -> dict[str, Any]:
    """Raise BadInput or Forbidden for members that name what the caller may not give."""
    if members.get("issuer"):
        oidc.discover(members["issuer"])
    domains = members.get("domains")
    if domains and not call.caller.is_staff and set(domains) - set(held.domains if held else ()):
        raise Forbidden("domains: only staff says whose a domain is.")
    break_glass = members.get("break_glass")
    if break_glass is None:
        break_glass = held.break_glass if held else []
    kept = domains if domains is not None else held.domains if held else []
    if kept and not break_glass:
        raise BadInput("break_glass: name an administrator whose password counts when the provider is down.")
    for index, number in enumerate(break_glass):
        found = records.first(AFFILIATION, organization, f"{padded(number)}|")
        if found is None or found.permission != "Admin":
            raise BadInput(f"break_glass[{index}]: user {number} is no administrator of the organization.")
    for index, mapping in enumerate(members.get("mappings") or ()):
        _check_mapping(call, organization, f"mappings[{index}]", mapping)
    return members


def _check_mapping(call: Call[Any, Any, Any], organization: int, place: str, mapping: Mapping) -> None:
    """Raise BadInput for a mapping that gives what its author could not give."""
    for index, given_one in enumerate(mapping.memberships):
        project = records.maybe(PROJECT, given_one.project)
        level = authentication.project_level(call.caller, given_one.project)
        if project is None or project.deleted or project.organization != organization or level < Level.FULL:
            raise BadInput(
                f"{place}.memberships[{index}].project: {given_one.project} is no project of the organization of which "
                "you have full control."
            )
    for index, number in enumerate(mapping.groups):
        group = records.maybe(GROUP, number)
        if group is None or group.organization != organization:
            raise BadInput(f"{place}.groups[{index}]: the organization has no group {number}.")


def _with_addresses(provider: IdentityProvider) -> IdentityProvider:
    urls = {
        "redirect_url": providers_service.redirect_url(provider.id),
        "logout_url": f"{settings().public_url}/rest/BackChannelLogout/{provider.id}",
    }
    return msgspec.structs.replace(provider, **urls)


def _domain_taken() -> BadInput:
    return BadInput("domains: another identity provider has one of them.")


OPERATIONS = record_operations(
    RecordResource(
        kind=IDENTITY_PROVIDER,
        tag="Organizations",
        audits="policy",
        read=Permission.ADMIN,
        write=Permission.ADMIN,
        spec=IdentityProviderSpec,
        update=IdentityProviderUpdate,
        store=make_provider,
        check_change=change_provider,
        show=_with_addresses,
        taken_error=_domain_taken,
        remove=lambda call: providers_service.remove(call.target),
    )
)
SIGN_INS = Operations(tag="Accounts", needs=Permission.ANYONE)


@SIGN_INS.get("/rest/SignInProviders", "GetSignInProviderList")
def list_providers(call: Call[None, SignInQuery, None]) -> list[SignInProvider]:
    """The identity providers that a sign-in page offers: the listed ones, and the one of an address."""
    found = {each.id: each for each in records.list_linked(IDENTITY_PROVIDER, "listed", 1)}
    domain = (call.query.email or "").rpartition("@")[2].casefold()
    mine = records.get_claimed(IDENTITY_PROVIDER, f"domain|{domain}", "@") if domain else None
    if mine is not None:
        found = {mine.id: mine, **found}
    return [SignInProvider(id=each.id, name=each.name) for each in found.values()]


@SIGN_INS.post("/rest/SignIn/{id}", "BeginSignIn", addresses=_ONE, scoped=False, status=200, returns=SignInBegun)
def begin(call: Call[IdentityProvider, NoQuery, SignInSpec]) -> Answer:
    """Begin a sign-in with an identity provider: the answer has the address to which the browser goes.

    It sets a cookie that binds the sign-in to this browser for ten minutes. The provider sends the browser back to
    `/sign-in/{id}`, which signs it in by the cookie of `/rest/Session`. With `connect`, the account of the request is
    connected with the identity, whose provider can sign in as this user from then on.
    """
    if not browser_sessions.is_own(call.headers):
        raise Forbidden("Only pages of this service sign browsers in: the header Limn-Session is needed.")
    if call.body.connect and (not call.caller.signed_in or call.caller.is_limited):
        raise BadInput("connect: sign in with your password first.")
    user = call.caller.id if call.body.connect else 0
    url, cookie = providers_service.begin(call.target, return_to=call.body.return_to, user=user)
    headers = {"Set-Cookie": cookie, "Cache-Control": "no-store"}
    return Answer(body=msgspec.json.encode(SignInBegun(url=url)), headers=headers)


@SIGN_INS.post("/rest/SessionRenewal", "RenewSession", needs=Permission.SIGNED_IN, scoped=False, status=200)
def renew(call: Call[None, NoQuery, None]) -> SessionRenewed:
    """Continue a sign-in of an identity provider, which ends after an hour, by asking the provider again.

    Where the provider no longer confirms the user, all sign-ins of the user with it end: 401.
    """
    end = datetime.fromtimestamp(providers_service.renew(call.caller), UTC)
    return SessionRenewed(message="The sign-in goes on.", expires_datetime=timestamp(end))


@SIGN_INS.post("/rest/BackChannelLogout/{id}", "BackChannelLogout", addresses=_ONE, scoped=False, status=200)
def log_out(call: Call[IdentityProvider, NoQuery, bytes]) -> MessageResponse:
    """End the sign-ins of a user whom the provider signs out, by its logout token in a form.

    For the provider to call (OpenID Connect Back-Channel Logout 1.0).
    """
    if len(call.body) > _LARGEST_FORM:
        raise BadInput("logout_token: the form is too large.")
    tokens = parse_qs(call.body.decode("ascii", "replace")).get("logout_token", [])
    if len(tokens) != 1:
        raise BadInput("logout_token: give one, in a form.")
    try:
        providers_service.log_out(call.target, tokens[0])
    except oidc.Refused as refusal:
        raise BadInput(f"logout_token: {refusal.message}") from None
    return MessageResponse(message="Signed out.")


OPERATIONS += SIGN_INS
PAGES = Operations(tag="Pages")


@PAGES.get("/sign-in/{id}", "FinishSignIn", needs=Permission.ANYONE, addresses=_ONE, returns="text/html")
def finish(call: Call[IdentityProvider, CallbackQuery, None]) -> Answer:
    """Finish a sign-in after the identity provider redirected back: sign the browser in and redirect to the console."""
    query = call.query
    try:
        if query.error or not query.code:
            raise Forbidden("The identity provider did not sign you in.")
        token, place = providers_service.finish(
            call.target.id, call.headers, code=query.code, state=query.state, issuer=query.iss
        )
    except LimnError as refusal:
        return page("Not signed in", alert(refusal.message), console_link(), status=refusal.status)
    headers = {
        "Location": f"{settings().public_url}{place}",
        "Set-Cookie": browser_sessions.cookie(token),
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
    }
    return Answer(status=303, content_type="text/html; charset=utf-8", headers=headers)
