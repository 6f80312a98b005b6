"""Sign-ins with an identity provider: begun at our page, finished by its answer, renewed by the hour, ended by it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

import msgspec

from chalicelib.access import browser_sessions, passwords
from chalicelib.access.authentication import PROVIDER_SECONDS, Caller
from chalicelib.access.identities.providers import IDENTITY, IDENTITY_PROVIDER, Identity, IdentityProvider
from chalicelib.core.models.accounts import USER, User
from chalicelib.core.models.credentials import session_key
from chalicelib.core.text.secret_texts import are_equal
from chalicelib.core.time import clock
from chalicelib.errors import BadInput, Unauthenticated
from chalicelib.resources.identity_providers import oidc, provisioning
from chalicelib.resources.identity_providers.oidc import Ended, Refused
from chalicelib.settings import settings
from chalicelib.storage import sealing
from chalicelib.storage.audit.concern import concern
from chalicelib.storage.dynamodb import attempts, credentials, records
from chalicelib.storage.dynamodb.transactions import Transaction

FLOW_SECONDS = 600
"""How long a sign-in may take at the provider."""
BROWSER = "browser"


class Flow(msgspec.Struct, kw_only=True):
    """A sign-in that has begun: sealed in a cookie of the browser that began it.

    Attributes:
        provider: which one.
        state, nonce, verifier: random; what the provider sends back must have them or prove them.
        return_to: the place in the console where the user wants to go.
        user: who connects an account; 0 for a sign-in.
        began: seconds since the epoch.
    """

    provider: int
    state: str
    nonce: str
    verifier: str
    return_to: str
    user: int
    began: float


def redirect_url(provider: int) -> str:
    """Where a provider sends the browser back to: an address of its own for each, against mix-ups (RFC 9700, 2.1)."""
    return f"{settings().public_url}/sign-in/{provider}"


def begin(provider: IdentityProvider, *, return_to: str, user: int) -> tuple[str, str]:
    """Begin a sign-in. Returns the address at the provider, and the Set-Cookie that binds it to this browser."""
    flow = Flow(
        provider=provider.id,
        state=secrets.token_urlsafe(32),
        nonce=secrets.token_urlsafe(32),
        verifier=secrets.token_urlsafe(48),
        return_to=return_to,
        user=user,
        began=clock.seconds(),
    )
    url = oidc.authorization_url(
        provider, redirect_url=redirect_url(provider.id), state=flow.state, nonce=flow.nonce, verifier=flow.verifier
    )
    return url, browser_sessions.flow_cookie(sealing.seal(msgspec.json.encode(flow), _purpose()), FLOW_SECONDS)


def finish(number: int, headers: Mapping[str, str], *, code: str, state: str, issuer: str | None) -> tuple[str, str]:
    """Finish a sign-in with what the browser brings from the provider: the token of a session, and where to go.

    Raises:
        Refused: the answer is not that of this browser's sign-in, or does not prove who signs in.
        Forbidden: the provider's rules admit nobody else. Conflict: another account has the address.
    """
    flow = _flow_of(headers)
    if flow is None or flow.provider != number or not are_equal(state, flow.state):
        raise Refused("This sign-in was not begun in this browser, or took too long. Begin it again.")
    if attempts.count(f"sign-in flow|{flow.state}", 1, FLOW_SECONDS) is None:
        raise Refused("This sign-in was finished before. Begin it again.")
    provider = records.get(IDENTITY_PROVIDER, number)
    is_told = oidc.discover(provider.issuer).authorization_response_iss_parameter_supported
    if (issuer is not None or is_told) and issuer != provider.issuer:
        raise Refused("The parameter iss names another issuer than this provider's. Begin the sign-in again.")
    tokens = oidc.exchange(provider, code, redirect_url=redirect_url(number), verifier=flow.verifier)
    claims = oidc.verify_sign_in(provider, tokens.id_token, nonce=flow.nonce)
    if flow.user:
        if records.get(USER, flow.user).password_changed > flow.began:
            raise Refused("The password of the account was changed meanwhile. Sign in and begin again.")
        identity = provisioning.connect(provider, claims["sub"], flow.user)
    else:
        identity = provisioning.admit(provider, claims)
    provisioning.synchronize(provider, identity, claims)
    user = confirm(provider, identity, tokens)
    concern(kind="sign-in", target=f"identity provider {provider.id}")
    token = passwords.issue_token(user, refresh=False, name=BROWSER, provider=provider.id)
    return token, flow.return_to


def renew(caller: Caller) -> float:
    """Have the provider confirm a user whose sign-in it made, and continue all sign-ins of the user with it.

    Returns:
        when they end now, in seconds since the epoch.

    Raises:
        BadInput: the request is not of such a sign-in, or the provider gave no refresh token.
        Unauthenticated: the provider does not confirm the user, whose sign-ins with it have ended.
    """
    held = caller.credential
    provider = records.maybe(IDENTITY_PROVIDER, held.provider) if held and held.provider else None
    if provider is None:
        raise BadInput("This sign-in is not of an identity provider: it needs no renewal.")
    identity = next((each for each in records.list_children(IDENTITY, caller.id) if each.provider == provider.id), None)
    if identity is None or not identity.sealed:
        raise BadInput("The identity provider gave no refresh token: the sign-in ends when it ends.")
    try:
        tokens = oidc.refresh(provider, sealing.unseal(identity.sealed, oidc.PURPOSE).decode())
        if tokens.id_token:
            claims = oidc.verify_sign_in(provider, tokens.id_token, nonce=None, subject=identity.subject)
            provisioning.synchronize(provider, identity, claims)
    except Ended:
        if records.get(IDENTITY, identity.id).renewed == identity.renewed:  # no other tab was faster
            end(provider, identity)
            raise Unauthenticated("The identity provider no longer confirms you; sign in again.") from None
    else:
        confirm(provider, identity, tokens)
    ends = int(clock.seconds()) + PROVIDER_SECONDS
    for key in _sessions_of(records.get(USER, caller.id), provider.id):
        credentials.prolong(key, ends)
    return ends


def end(provider: IdentityProvider, identity: Identity) -> None:
    """End all sign-ins of a user with a provider, and the work that continues without the user."""

    def change(current: User) -> User:
        gone = {key.partition("#")[2] for key in _sessions_of(current, provider.id)}
        kept = [each for each in current.tokens if each not in gone]
        confirmed = clock.seconds() if current.confirmed_until is not None else None
        return msgspec.structs.replace(current, tokens=kept, confirmed_until=confirmed)

    records.edit(USER, identity.user, change, also=passwords.revoke_removed)
    records.edit(IDENTITY, identity.id, lambda current: msgspec.structs.replace(current, sealed=""))


def log_out(provider: IdentityProvider, token: str) -> None:
    """End the sign-ins that a logout token of the provider names. Raises Refused: it is not a logout token."""
    identity = provisioning.find(provider, oidc.verify_logout(provider, token))
    if identity is not None:
        concern(organization=provider.organization, kind="sign-in", target=f"user {identity.user}")
        end(provider, identity)


def confirm(provider: IdentityProvider, identity: Identity, tokens: oidc.Tokens) -> User:
    """Note that the provider confirmed a user just now. Raises Refused: the account is closed."""
    if tokens.refresh_token:
        sealed = sealing.seal(tokens.refresh_token.encode(), oidc.PURPOSE)
        records.edit(
            IDENTITY,
            identity.id,
            lambda current: msgspec.structs.replace(current, sealed=sealed, renewed=current.renewed + 1),
        )

    def change(current: User) -> User:
        if not current.is_active:
            raise Refused("This account is closed.")
        if current.provider != provider.id:
            return current
        return msgspec.structs.replace(current, confirmed_until=clock.seconds() + provider.unattended_hours * 3600)

    return records.edit(USER, identity.user, change)


def remove(provider: IdentityProvider) -> None:
    """Remove a provider with its identities; its users reset their passwords from then on."""
    for identity in records.list_linked(IDENTITY, IDENTITY_PROVIDER.name, provider.id):
        end(provider, identity)
        change = Transaction()
        records.drop(change, IDENTITY, identity)
        change.run()
    records.discard(IDENTITY_PROVIDER, provider.id)


def _sessions_of(user: User, provider: int) -> list[str]:
    """The keys of a user's sign-ins with a provider."""
    held = credentials.many(session_key(each) for each in user.tokens)
    return [key for key, (credential, _) in held.items() if credential.provider == provider]


def _flow_of(headers: Mapping[str, str]) -> Flow | None:
    sealed = browser_sessions.flow(headers)
    if not sealed:
        return None
    try:
        flow = msgspec.json.decode(sealing.unseal(sealed, _purpose()), type=Flow)
    except Exception:  # noqa: BLE001 a cookie is whatever somebody made of it
        return None
    return flow if clock.seconds() - flow.began <= FLOW_SECONDS else None


def _purpose() -> str:
    return f"{oidc.PURPOSE} sign-in"
