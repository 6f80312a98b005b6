"""Passkeys (WebAuthn): sign-ins of their own, and a second factor beside a password (docs/decisions/189).

A challenge counts once, for five minutes, for one purpose and one user, or for the browser that asked for it. That of a
proof is used up before its signature is checked; that of a registration in the write that stores the passkey.
"""

from __future__ import annotations

import base64
import secrets
from datetime import UTC, datetime
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from chalicelib.access import browser_sessions
from chalicelib.core.models.accounts import USER, User
from chalicelib.core.models.credentials import Passkey, hash_of
from chalicelib.core.resource import Resource, now
from chalicelib.core.text.numbers import natural
from chalicelib.core.text.secret_texts import are_equal
from chalicelib.core.time import clock
from chalicelib.core.web import webauthn
from chalicelib.errors import BadInput, Conflict, Forbidden, NotFound
from chalicelib.settings import settings
from chalicelib.storage.audit.concern import ID_DIGITS, concern
from chalicelib.storage.dynamodb import attempts, records
from chalicelib.storage.dynamodb.transactions import Transaction

SECONDS = 300
"""How long a challenge counts."""
PASSKEYS_A_USER = 20
_CHALLENGE_BYTES = 32
Purpose = Literal["registration", "proof", "sign-in"]
Base64Url = Annotated[str, Meta(min_length=1, max_length=1400, pattern=r"^[A-Za-z0-9_-]+$(?!\n)")]
"""At most 1,023 bytes, as ids of credentials have."""
LongBase64Url = Annotated[str, Meta(min_length=1, max_length=30_000, pattern=r"^[A-Za-z0-9_-]+$(?!\n)")]


class PasskeyProof(Resource, kw_only=True):
    """The answer of a browser to `navigator.credentials.get`, each member in base64url."""

    id: Annotated[Base64Url, Meta(description="The id of the credential (`rawId`).")]
    client_data: Annotated[LongBase64Url, Meta(description="`response.clientDataJSON`.")]
    authenticator_data: Annotated[LongBase64Url, Meta(description="`response.authenticatorData`.")]
    signature: Annotated[LongBase64Url, Meta(description="`response.signature`.")]
    user_handle: Annotated[
        Base64Url | None,
        Meta(description="`response.userHandle`; it is needed where no user name is given."),
    ] = None


class PasskeyQuestion(Resource, kw_only=True):
    """What a browser asks authenticators for, by `navigator.credentials.get`."""

    challenge: Annotated[str, Meta(description="Random bytes in base64url, which count once within five minutes.")]
    host: Annotated[str, Meta(description="The host that the passkeys are for (`rpId`).")]
    ids: Annotated[
        list[str], Meta(description="The ids of the credentials of the user; empty where the authenticator tells who.")
    ] = []
    user_verification: Annotated[
        Literal["required", "preferred"],
        Meta(description="Whether the authenticator must verify its user, by PIN, fingerprint or face."),
    ]


class Registration(Resource, kw_only=True):
    """What a browser asks an authenticator to make, by `navigator.credentials.create`."""

    challenge: Annotated[str, Meta(description="Random bytes in base64url, which count once within five minutes.")]
    host: Annotated[str, Meta(description="The host that the passkey is for (`rp.id`).")]
    user_handle: Annotated[str, Meta(description="`user.id`, in base64url.")]
    username: Annotated[str, Meta(description="The name of the user, which the authenticator shows.")]
    display_name: Annotated[str, Meta(description="The full name of the user, which it shows too.")]
    algorithms: Annotated[list[int], Meta(description="The COSE numbers of accepted signatures, the best first.")]
    excluded_ids: Annotated[list[str], Meta(description="Credentials that the user has, which are not made again.")]


def party() -> webauthn.RelyingParty:
    """The service as authenticators know it. On loopback it is `localhost`: an address is no name.

    Raises:
        BadInput: the service is reached without encryption over a network.
    """
    place = urlsplit(settings().public_url)
    host = place.hostname or ""
    if browser_sessions.is_loopback(host):
        host = "localhost"
    elif place.scheme != "https":
        raise BadInput("Passkeys work by HTTPS only, except on loopback (localhost).")
    port = f":{place.port}" if place.port else ""
    return webauthn.RelyingParty(host, f"{place.scheme}://{host}{port}")


def begin_registration(user: User) -> Registration:
    """Ask for a new passkey of a user. Raises BadInput: as `party`, or the user has as many as are allowed."""
    host = party().id
    _check_room(user)
    return Registration(
        challenge=_new_challenge("registration", user.id),
        host=host,
        user_handle=_encode(str(user.id).encode()),
        username=user.username,
        display_name=user.display_name,
        algorithms=list(webauthn.ALGORITHMS),
        excluded_ids=[each.id for each in user.passkeys],
    )


def register(user: User, name: str, client_data: str, attestation: str) -> Passkey:
    """Add the passkey that an authenticator made.

    Raises:
        BadInput: it is malformed, or one too many. Conflict: the user has it already.
        Forbidden: the challenge is not this user's, or another check failed.
    """
    told = _decode("client_data", client_data)
    own = party()
    challenge = _key(webauthn.read_client_data(told, "webauthn.create", own).challenge, "registration", user.id)
    made = webauthn.verify_registration(_decode("attestation", attestation), own)
    passkey = Passkey(
        id=_encode(made.id),
        name=name,
        algorithm=made.algorithm,
        public_key=base64.b64encode(made.public_key).decode(),
        counter=made.counter,
        is_synced=made.is_synced,
        created_datetime=now(),
    )

    def add(current: User) -> User:
        _check_room(current)
        if any(each.id == passkey.id for each in current.passkeys):
            raise Conflict("This passkey is registered already.")
        return msgspec.structs.replace(current, passkeys=[*current.passkeys, passkey])

    def use_challenge(change: Transaction, _before: User, _after: User) -> None:
        attempts.take_within(change, challenge, _void_challenge())

    records.edit(USER, user.id, add, also=use_challenge)
    return passkey


def ask_anybody() -> PasskeyQuestion:
    """Ask for a passkey of whoever signs in. Its challenge must be kept in a cookie of the browser."""
    host = party().id
    return PasskeyQuestion(challenge=_new_challenge("sign-in", 0), host=host, user_verification="required")


def ask(user: User) -> PasskeyQuestion:
    """Ask for a passkey of a user, beside the password or another proof."""
    host = party().id
    ids = [each.id for each in user.passkeys]
    return PasskeyQuestion(
        challenge=_new_challenge("proof", user.id), host=host, ids=ids, user_verification="preferred"
    )


def sign_in(proof: PasskeyProof, challenge: str) -> User:
    """The user whose passkey signs in alone; its authenticator must have verified who holds it.

    Args:
        proof: the answer of the browser.
        challenge: that of the browser's cookie.

    Raises:
        BadInput: it is malformed. Forbidden: a check failed, or no open account has this passkey.
    """
    told = _read_proof(proof)
    if not are_equal(told.challenge, challenge):
        raise Forbidden("This sign-in was not begun in this browser, or took too long. Begin it again.")
    _use_challenge(told.challenge, "sign-in", 0)
    number = natural(_decode("user_handle", proof.user_handle or "").decode("ascii", "replace"))
    user = records.maybe(USER, number) if number else None
    if user is None or not user.is_active:
        raise _unknown()
    return _verify(user, proof, needs_verification=True)


def prove(user: User, proof: PasskeyProof) -> User:
    """Check a passkey of a user as the second factor. Raises as `sign_in`."""
    _use_challenge(_read_proof(proof).challenge, "proof", user.id)
    return _verify(user, proof, needs_verification=False)


def rename(user: int, number: str, name: str) -> None:
    """Give a passkey another name. Raises NotFound."""
    records.edit(USER, user, lambda current: _with(current, _find(current, number), name=name))


def remove(user: int, number: str) -> Passkey:
    """Remove a passkey and return it. Raises NotFound; BadInput where the second factor needs it."""
    gone: Passkey

    def take_out(current: User) -> User:
        nonlocal gone
        gone = _find(current, number)
        kept = [each for each in current.passkeys if each is not gone]
        factor = current.second_factor
        if not kept and factor is not None and factor.confirmed_datetime and not factor.sealed:
            raise BadInput("Your second factor is this passkey. End the second factor first, or register another one.")
        return msgspec.structs.replace(current, passkeys=kept)

    records.edit(USER, user, take_out)
    return gone


def number_of(passkey: Passkey) -> str:
    """The id that lists show: the first 16 digits of the SHA-256 of the credential's id."""
    return hash_of(passkey.id)[:ID_DIGITS]


def _verify(user: User, proof: PasskeyProof, *, needs_verification: bool) -> User:
    """The user as it is after a signature was checked and counted."""
    held = next((each for each in user.passkeys if each.id == proof.id), None)
    try:
        if held is None:
            raise _unknown()
        signed = webauthn.verify_signature(
            base64.b64decode(held.public_key),
            held.algorithm,
            client_data=_decode("client_data", proof.client_data),
            authenticator_data=_decode("authenticator_data", proof.authenticator_data),
            signature=_decode("signature", proof.signature),
            party=party(),
            needs_verification=needs_verification,
        )
        return records.edit(USER, user.id, lambda current: _count_signature(current, held, signed))
    except Forbidden:
        concern(affiliated=user.id, kind="refusal", target=f"user {user.id}")
        raise


def _count_signature(current: User, held: Passkey, signed: webauthn.Signed) -> User:
    """The user with the counter of a signature, which must be above the last one, unless the authenticator has none."""
    stored = next((each for each in current.passkeys if each.id == held.id), None)
    if stored is None or stored.public_key != held.public_key:
        raise _unknown()
    if (stored.counter or signed.counter) and signed.counter <= stored.counter:
        raise Forbidden(
            "The counter of this passkey went back: it may have been copied. Sign in otherwise, remove it, and "
            "register it anew."
        )
    day = datetime.fromtimestamp(clock.seconds(), UTC).date().isoformat()
    return _with(current, stored, counter=signed.counter, is_synced=signed.is_synced, used_on=day)


def _with(user: User, passkey: Passkey, **members: object) -> User:
    changed = msgspec.structs.replace(passkey, **members)
    return msgspec.structs.replace(
        user, passkeys=[changed if each.id == passkey.id else each for each in user.passkeys]
    )


def _find(user: User, number: str) -> Passkey:
    for each in user.passkeys:
        if number_of(each) == number:
            return each
    raise NotFound.of("Passkey", number)


def _check_room(user: User) -> None:
    if len(user.passkeys) >= PASSKEYS_A_USER:
        raise BadInput(f"You have {PASSKEYS_A_USER} passkeys, which is the most. Remove one first.")


def _unknown() -> Forbidden:
    return Forbidden("No open account has this passkey. Sign in with your password, and register it in your profile.")


def _new_challenge(purpose: Purpose, user: int) -> str:
    made = _encode(secrets.token_bytes(_CHALLENGE_BYTES))
    attempts.allow_once(_key(made, purpose, user), SECONDS)
    return made


def _use_challenge(challenge: str, purpose: Purpose, user: int) -> None:
    if not attempts.take_once(_key(challenge, purpose, user)):
        raise _void_challenge()


def _void_challenge() -> Forbidden:
    return Forbidden("The challenge is unknown, was used before, or is older than five minutes. Begin again.")


def _key(challenge: str, purpose: Purpose, user: int) -> str:
    return f"passkey|{purpose}|{user}|{challenge}"


def _read_proof(proof: PasskeyProof) -> webauthn.ClientData:
    return webauthn.read_client_data(_decode("client_data", proof.client_data), "webauthn.get", party())


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decode(member: str, text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise BadInput(f"{member}: it is no base64url.") from None
