"""The protocol of OpenID Connect: discovery, keys, codes, and the tokens that a provider signs.

Nothing that a provider or a browser sends is trusted before its signature is verified with a key of the provider's
current set, by an asymmetric algorithm, and its issuer, audience, times and nonce are those that we asked for
(OpenID Connect Core 3.1.3.7, Back-Channel Logout 2.6, RFC 9700).
"""

from __future__ import annotations

import base64
import hashlib
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from urllib3.exceptions import HTTPError

from chalicelib.access.identities.providers import IdentityProvider
from chalicelib.core.text.secret_texts import are_equal
from chalicelib.core.time import clock
from chalicelib.core.web import origins
from chalicelib.errors import BadInput, Forbidden, LimnError, Unavailable
from chalicelib.storage import outbound, sealing

PURPOSE = "identity provider"
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with a key that only the provider has; never `none`, nor HMAC with what others know."""
LEEWAY = 60
"""Seconds by which the clocks of a provider and of ours may differ."""
OLDEST = 600
"""Seconds after which a token is too old to sign in with, however long it is valid."""
LATEST = 1e12
"""Times of tokens are below: they are finite numbers of seconds."""
DISCOVERY_SECONDS, KEYS_SECONDS, REFETCH_SECONDS = 3600, 600, 30
"""How long the document and the keys of a provider serve; an unknown key has them read again, at most so often."""
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
_REQUEST_SECONDS = 8
_MOST_BYTES = 512 * 1024
_KEY_TYPES = ("RSA", "EC", "OKP")
_MOST_KEYS = 50
_OK, _CLIENT_ERROR = 200, 500


class Refused(Forbidden):
    """The provider's answer, or one that claims to be it, does not prove who signs in."""


class Ended(Refused):
    """The provider no longer knows the grant: the user has left, or must sign in again."""


class Metadata(msgspec.Struct, kw_only=True):
    """The members of a discovery document that we use."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False


class Tokens(msgspec.Struct, kw_only=True):
    """The answer of a token endpoint."""

    id_token: str = ""
    refresh_token: str = ""


_lock = threading.Lock()
_documents: dict[str, tuple[float, Metadata]] = {}
_keys: dict[str, tuple[float, list[dict[str, Any]]]] = {}


def forget() -> None:
    """Forget the documents and keys of all providers."""
    with _lock:
        _documents.clear()
        _keys.clear()


def discover(issuer: str) -> Metadata:
    """The discovery document of an issuer.

    Raises:
        BadInput: the issuer is no https URL at a public address, or its document is not one.
        Unavailable: it does not answer.
    """
    held = _documents.get(issuer)
    if held and time.monotonic() - held[0] < DISCOVERY_SECONDS:
        return held[1]
    body = _fetch(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    try:
        found = msgspec.json.decode(body, type=Metadata)
    except (msgspec.DecodeError, RecursionError) as failure:
        raise BadInput(f"issuer: {issuer} has no valid openid-configuration.", str(failure)) from None
    if found.issuer != issuer:
        raise BadInput(f"issuer: the document says that it is {found.issuer[:200]!r}; give exactly that.")
    for url in (found.authorization_endpoint, found.token_endpoint, found.jwks_uri):
        _check_url(url)
    with _lock:
        _documents[issuer] = (time.monotonic(), found)
    return found


def authorization_url(provider: IdentityProvider, *, redirect_url: str, state: str, nonce: str, verifier: str) -> str:
    """Where a browser signs in: the authorization endpoint with our request (code, PKCE S256, nonce)."""
    endpoint = discover(provider.issuer).authorization_endpoint
    asked = {
        "response_type": "code",
        "client_id": provider.client_id,
        "redirect_uri": redirect_url,
        "scope": " ".join(dict.fromkeys(["openid", *provider.scopes])),
        "state": state,
        "nonce": nonce,
        "code_challenge": challenge_of(verifier),
        "code_challenge_method": "S256",
    }
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked, quote_via=quote)}"


def challenge_of(verifier: str) -> str:
    """The S256 challenge of a PKCE verifier (RFC 7636)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def exchange(provider: IdentityProvider, code: str, *, redirect_url: str, verifier: str) -> Tokens:
    """The tokens of a code. Raises Refused: the provider does not accept it; Unavailable: it does not answer."""
    grant = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_url, "code_verifier": verifier}
    return _ask_token(provider, grant)


def refresh(provider: IdentityProvider, refresh_token: str) -> Tokens:
    """New tokens of a refresh token. Raises Ended: the provider no longer accepts it; Unavailable: no answer."""
    return _ask_token(provider, {"grant_type": "refresh_token", "refresh_token": refresh_token})


def verify_sign_in(provider: IdentityProvider, token: str, *, nonce: str | None, subject: str = "") -> dict[str, Any]:
    """The claims of an ID token.

    Args:
        provider: who must have signed it, for our client.
        token: the JWT.
        nonce: that of our request; None for a renewal, whose token may lack it.
        subject: whom a renewal must be of.

    Raises:
        Refused: a rule is broken; the message names it.
    """
    claims = _verify(provider, token)
    if nonce is not None and not are_equal(str(claims.get("nonce", "")), nonce):
        raise Refused("The ID token is not for this sign-in: its nonce is another.")
    if subject and claims["sub"] != subject:
        raise Refused("The ID token is of another user.")
    return claims


def verify_logout(provider: IdentityProvider, token: str) -> str:
    """The subject whom a logout token signs out. Raises Refused: a rule is broken."""
    claims = _verify(provider, token)
    events = claims.get("events")
    if not isinstance(events, dict) or LOGOUT_EVENT not in events:
        raise Refused("The logout token has no event of a back-channel logout.")
    if "nonce" in claims:
        raise Refused("A logout token has no nonce: this is an ID token.")
    return str(claims["sub"])


def _verify(provider: IdentityProvider, token: str) -> dict[str, Any]:
    from joserfc import jwt  # noqa: PLC0415 only signing in needs it
    from joserfc.errors import JoseError  # noqa: PLC0415

    try:
        key = _key_for(provider, token)
        claims: dict[str, Any] = jwt.decode(token, key, algorithms=list(ALGORITHMS)).claims
    except (JoseError, ValueError, TypeError, RecursionError):
        raise Refused(f"The token has no valid signature of {provider.issuer}.") from None
    _check_claims(provider, claims)
    return claims


def _check_claims(provider: IdentityProvider, claims: Mapping[str, Any]) -> None:
    moment = clock.seconds()
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    subject = claims.get("sub")
    if claims.get("iss") != provider.issuer:
        raise Refused(f"The token is of another issuer than {provider.issuer}.")
    if provider.client_id not in audiences:
        raise Refused("The token is for another client: its audience is not ours.")
    if (len(audiences) > 1 or "azp" in claims) and claims.get("azp", provider.client_id) != provider.client_id:
        raise Refused("The token was issued to another client (azp).")
    if len(audiences) > 1 and "azp" not in claims:
        raise Refused("A token for several clients needs azp.")
    times = [claims.get("exp"), claims.get("iat"), claims.get("nbf", 0)]
    if not all(isinstance(each, int | float) and 0 <= each < LATEST for each in times):
        raise Refused("The token needs exp and iat, in seconds.")
    expires, issued, begins = map(float, times)
    if expires < moment - LEEWAY:
        raise Refused("The token has expired.")
    if max(issued, begins) > moment + LEEWAY:
        raise Refused("The token is of the future: the clocks differ by more than a minute.")
    if issued < moment - OLDEST - LEEWAY:
        raise Refused("The token is too old to sign in with.")
    if not isinstance(subject, str) or not subject or len(subject) > 255:  # noqa: PLR2004 OpenID Connect Core 2
        raise Refused("The token names no subject.")


def _key_for(provider: IdentityProvider, token: str) -> Any:
    """The key of the provider that a token says it is signed with; the set is read again for an unknown one."""
    from joserfc.jwk import import_key  # noqa: PLC0415 only signing in needs it

    head = token.split(".", 1)[0]
    header = msgspec.json.decode(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    if not isinstance(header, dict):
        raise TypeError("header")
    if header.get("alg") not in ALGORITHMS:
        raise Refused(f"The token is signed by {str(header.get('alg'))[:20]!r}, which proves nothing.")
    url = discover(provider.issuer).jwks_uri
    for is_new in (False, True):
        matching = [key for key in _key_set(url, is_new=is_new) if header.get("kid") in (None, key.get("kid"))]
        if len(matching) == 1 or (matching and header.get("kid")):
            return import_key(matching[0])
    raise Refused(f"The token is signed with a key that {provider.issuer} does not have.")


def _key_set(url: str, *, is_new: bool) -> list[dict[str, Any]]:
    held = _keys.get(url)
    age = time.monotonic() - held[0] if held else 0.0
    if held and age < (REFETCH_SECONDS if is_new else KEYS_SECONDS):
        return held[1]
    try:
        found = msgspec.json.decode(_fetch(url), type=dict[str, Any]).get("keys")
    except (msgspec.DecodeError, RecursionError):
        raise Refused("The keys of the provider are no JSON.") from None
    if not isinstance(found, list):
        raise Refused("The provider has no keys.")
    keys = [
        key
        for key in found[:_MOST_KEYS]
        if isinstance(key, dict) and key.get("kty") in _KEY_TYPES and key.get("use", "sig") == "sig"
    ]
    with _lock:
        _keys[url] = (time.monotonic(), keys)
    return keys


def _ask_token(provider: IdentityProvider, grant: dict[str, str]) -> Tokens:
    metadata = discover(provider.issuer)
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    secret = sealing.unseal(provider.sealed, PURPOSE).decode() if provider.sealed else ""
    if secret and "client_secret_basic" in metadata.token_endpoint_auth_methods_supported:
        pair = f"{quote(provider.client_id, safe='')}:{quote(secret, safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        grant = {**grant, "client_id": provider.client_id, **({"client_secret": secret} if secret else {})}
    answer = _send(metadata.token_endpoint, "POST", headers, urlencode(grant).encode())
    if answer.status >= _CLIENT_ERROR:
        raise Unavailable("The identity provider does not answer; try again.", f"status {answer.status}")
    if answer.status != _OK:
        raise (Ended if grant["grant_type"] == "refresh_token" else Refused)(
            "The identity provider does not accept this sign-in; begin it again."
        )
    try:
        return msgspec.json.decode(answer.body, type=Tokens)
    except (msgspec.DecodeError, RecursionError):
        raise Refused("The identity provider answered with no tokens.") from None


def _fetch(url: str) -> bytes:
    answer = _send(url, "GET", {"Accept": "application/json"}, None)
    if answer.status != _OK:
        raise Unavailable(f"{url} does not answer.", f"status {answer.status}")
    return answer.body


def _send(url: str, method: str, headers: Mapping[str, str], body: bytes | None) -> outbound.Answer:
    address = _check_url(url)
    try:
        return outbound.ask(
            address,
            method,
            seconds=_REQUEST_SECONDS,
            most=_MOST_BYTES,
            headers=headers,
            body=body,
            is_inside=outbound.is_service_allowed(address),
        )
    except LimnError as refusal:
        raise BadInput(f"issuer: {url[:200]} is not at a public address.", outbound.HOW_TO_ALLOW) from refusal
    except (OSError, HTTPError) as failure:
        raise Unavailable("The identity provider does not answer; try again.", type(failure).__name__) from failure


def _check_url(url: str) -> origins.Address:
    try:
        address = origins.take_apart(url)
    except Forbidden:
        raise BadInput(f"issuer: {url[:200]!r} is no https URL without credentials.") from None
    if address.scheme != "https" and not outbound.is_service_allowed(address):
        raise BadInput(f"issuer: {url[:200]!r} is not https.", outbound.HOW_TO_ALLOW)
    return address
