"""Passkeys of the caller: register, list, name, remove."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from chalicelib.access.identities import passkeys
from chalicelib.access.identities.passkeys import PasskeyProof, Registration
from chalicelib.access.identities.second_factors import SignInCode
from chalicelib.core.models.accounts import USER, Password
from chalicelib.core.models.credentials import Passkey
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import ONE_LINE, Resource, Timestamp
from chalicelib.core.responses import MessageResponse
from chalicelib.http.addresses import plain
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.accounts import signing_in
from chalicelib.resources.email import notifications
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Accounts", needs=Permission.SIGNED_IN, scoped=False)
PasskeyName = Annotated[
    Annotated[str, Meta(min_length=1, max_length=100, pattern=ONE_LINE)],
    Meta(description="What it is, such as `phone` or `security key`."),
]
_ONE = plain(lambda path: path["id"], id=str)


class PasskeyRegistrationSpec(Resource, kw_only=True):
    """Who registers a passkey proves the password again, and the second factor where there is one."""

    password: Password
    code: SignInCode | None = None
    passkey: PasskeyProof | None = None


class PasskeySpec(Resource, kw_only=True):
    """The answer of a browser to `navigator.credentials.create`."""

    name: PasskeyName
    client_data: Annotated[passkeys.LongBase64Url, Meta(description="`response.clientDataJSON`, in base64url.")]
    attestation: Annotated[passkeys.LongBase64Url, Meta(description="`response.attestationObject`, in base64url.")]


class PasskeyUpdate(Resource, kw_only=True):
    """The body of a PATCH of a passkey."""

    name: PasskeyName


class PasskeySummary(Resource, kw_only=True):
    """A passkey of the caller."""

    id: Annotated[str, Meta(description="The first 16 digits of the SHA-256 of the credential's id in base64url.")]
    name: PasskeyName
    created_datetime: Timestamp
    used_on: Annotated[str | None, Meta(description="The day of its last sign-in, `2026-11-21`, in UTC.")] = None
    is_synced: Annotated[bool, Meta(description="Whether copies lie on other devices of the user.")] = False


class PasskeyCreated(Resource, kw_only=True):
    """A passkey that was registered."""

    message: str
    id: Annotated[str, Meta(description="Its id in the list of passkeys.")]
    object: PasskeySummary


@OPERATIONS.get("/rest/Passkeys", "GetPasskeyList")
def list_passkeys(call: Call[None, NoQuery, None]) -> list[PasskeySummary]:
    """The caller's passkeys, oldest first."""
    return [_summary(each) for each in records.get(USER, call.caller.id).passkeys]


@OPERATIONS.post("/rest/PasskeyRegistration", "BeginPasskey", audits="account")
def begin_passkey(call: Call[None, NoQuery, PasskeyRegistrationSpec]) -> Registration:
    """Begin to register a passkey: the answer is what a browser asks an authenticator for (WebAuthn).

    A wrong password counts as a refused sign-in. Where the caller has a second factor, `code` or `passkey` is needed,
    as at sign-ins. Users who sign in with an identity provider have their passkeys there.
    """
    user = records.get(USER, call.caller.id)
    signing_in.refuse_provider(user, "register passkeys there.")
    body = call.body
    return passkeys.begin_registration(signing_in.verify(user.username, body.password, body.code, body.passkey))


@OPERATIONS.post("/rest/Passkeys", "CreatePasskey", audits="account")
def create_passkey(call: Call[None, NoQuery, PasskeySpec]) -> PasskeyCreated:
    """Register the passkey that the browser's authenticator made, by the challenge of `POST /rest/PasskeyRegistration`.

    From then on it signs in alone where it verifies its user, and beside the password where a second factor is in
    force. A user has 20 at the most. The user gets a mail.
    """
    user = records.get(USER, call.caller.id)
    made = _summary(passkeys.register(user, call.body.name, call.body.client_data, call.body.attestation))
    notifications.sign_in_changed(user, f"The passkey {made.name} was added.")
    return PasskeyCreated(message=f"Passkey {made.name} registered successfully!", id=made.id, object=made)


@OPERATIONS.patch("/rest/Passkey/{id}", "UpdatePasskey", addresses=_ONE, audits="account")
def rename_passkey(call: Call[str, NoQuery, PasskeyUpdate]) -> MessageResponse:
    """Rename one of the caller's passkeys."""
    passkeys.rename(call.caller.id, call.target, call.body.name)
    return MessageResponse(message=f"Passkey {call.target} updated successfully!")


@OPERATIONS.delete("/rest/Passkey/{id}", "DeletePasskey", addresses=_ONE, audits="account")
def delete_passkey(call: Call[str, NoQuery, None]) -> MessageResponse:
    """Delete one of the caller's passkeys.

    The last one stays while it is the second factor. Sign-ins that it made stay valid; `GET /rest/Token` lists them.
    The user gets a mail.
    """
    user = records.get(USER, call.caller.id)
    removed = passkeys.remove(user.id, call.target)
    notifications.sign_in_changed(user, f"The passkey {removed.name} was removed.")
    return MessageResponse(message=f"Passkey {call.target} removed successfully!")


def _summary(passkey: Passkey) -> PasskeySummary:
    return PasskeySummary(
        id=passkeys.number_of(passkey),
        name=passkey.name,
        created_datetime=passkey.created_datetime,
        used_on=passkey.used_on,
        is_synced=passkey.is_synced,
    )
