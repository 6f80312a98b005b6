"""Second factors of sign-ins by password: begin, confirm, show, end, reset one that was lost."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from chalicelib.access import passwords, users
from chalicelib.access.identities import second_factors
from chalicelib.access.identities.passkeys import PasskeyProof
from chalicelib.access.identities.second_factors import SignInCode
from chalicelib.core.models.accounts import USER, Password, User
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource, Timestamp
from chalicelib.core.responses import MessageResponse
from chalicelib.errors import Forbidden
from chalicelib.http.addresses import plain
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.accounts import signing_in
from chalicelib.resources.email import notifications
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Accounts", needs=Permission.SIGNED_IN, scoped=False)


class SecondFactorState(Resource, kw_only=True):
    """Whether sign-ins of the caller by password need a code."""

    is_on: Annotated[bool, Meta(description="Whether they do.")]
    confirmed_datetime: Annotated[Timestamp | None, Meta(description="Since when.")] = None
    recovery_codes: Annotated[int, Meta(description="How many recovery codes are left.")] = 0


class SecondFactorSpec(Resource, kw_only=True):
    """The body that begins a second factor: the password, once more."""

    password: Password


class SecondFactorBegun(Resource, kw_only=True):
    """The secret of an authenticator app, which is shown once."""

    secret: Annotated[str, Meta(description="In base32, to be typed into the app.")]
    uri: Annotated[str, Meta(description="The same as an `otpauth` address, which apps read as a link or QR code.")]


class CodeSpec(Resource, kw_only=True):
    """A code of the second factor, or a passkey. Without both the answer has what a browser asks passkeys for."""

    code: SignInCode | None = None
    passkey: PasskeyProof | None = None


class RecoveryCodes(Resource, kw_only=True):
    """Codes for the day on which the app is lost, which are shown once."""

    recovery_codes: Annotated[list[str], Meta(description="Ten, each good for one sign-in.")]


@OPERATIONS.get("/rest/SecondFactor", "GetSecondFactor")
def get_second_factor(call: Call[None, NoQuery, None]) -> SecondFactorState:
    """Whether the caller's sign-ins by password need a code."""
    user = records.get(USER, call.caller.id)
    if user.second_factor is None or not second_factors.is_on(user):
        return SecondFactorState(is_on=False)
    return SecondFactorState(
        is_on=True,
        confirmed_datetime=user.second_factor.confirmed_datetime,
        recovery_codes=len(user.second_factor.recovery),
    )


@OPERATIONS.post("/rest/SecondFactor", "CreateSecondFactor", audits="account")
def begin_second_factor(call: Call[None, NoQuery, SecondFactorSpec]) -> SecondFactorBegun:
    """Begin a second factor: codes of an authenticator app (TOTP, RFC 6238).

    The answer has the secret for the app, once. Sign-ins need codes when `PUT /rest/SecondFactor` has confirmed that
    the app has it. A wrong password counts as a refused sign-in. Users who sign in with an identity provider have their
    second factor there.
    """
    user = records.get(USER, call.caller.id)
    signing_in.refuse_provider(user, "set up a second factor there.")
    passwords.verify(user.username, call.body.password, notifications.notify_of_lock)
    secret, uri = second_factors.begin(user)
    return SecondFactorBegun(secret=secret, uri=uri)


@OPERATIONS.put("/rest/SecondFactor", "ConfirmSecondFactor", audits="account")
def confirm_second_factor(call: Call[None, NoQuery, CodeSpec]) -> RecoveryCodes:
    """Put the second factor in force with a code of the app, or with a passkey of the caller.

    From then on signing in by password needs a `code` or a `passkey`; sign-ins and tokens that exist stay. The answer
    has ten recovery codes, which are shown once. Where it is in force already, these replace the ones before. Without
    `code` and `passkey` the answer is 403 with `needs`: `code`, and for a caller who has passkeys with `passkey`. The
    user gets a mail.
    """
    user = records.get(USER, call.caller.id)
    signing_in.refuse_provider(user, "set up a second factor there.")
    codes = second_factors.confirm(user, call.body.code, call.body.passkey)
    change = "New recovery codes were made." if second_factors.is_on(user) else "A second factor is in force."
    notifications.sign_in_changed(user, change)
    return RecoveryCodes(recovery_codes=codes)


@OPERATIONS.delete("/rest/SecondFactor", "DeleteSecondFactor", audits="account")
def delete_second_factor(call: Call[None, NoQuery, CodeSpec]) -> MessageResponse:
    """End the second factor, with one of its codes, a recovery code or a passkey, as for `PUT`.

    The user gets a mail.
    """
    user = records.get(USER, call.caller.id)
    second_factors.remove(user, call.body.code, call.body.passkey)
    notifications.sign_in_changed(user, "The second factor was ended.")
    return MessageResponse(message="Signing in needs the password alone now.")


@OPERATIONS.delete(
    "/rest/SecondFactor/{id}",
    "ResetSecondFactor",
    addresses=plain(lambda path: records.maybe(USER, path["id"]), id=int),
    audits="account",
)
def reset_second_factor(call: Call[User | None, NoQuery, None]) -> MessageResponse:
    """End the second factor of a user who has lost app and recovery codes, and remove all passkeys of the user.

    By staff; or by an administrator of every organization that the user is affiliated with or has a project of, unless
    the user is of the staff, or administrators alone added the user there. The user gets a mail.
    """
    user = call.target
    if user is None or not users.is_responsible(call.caller, user):
        raise Forbidden("Only staff, or an administrator of all organizations of the user, resets a second factor.")
    second_factors.reset(user.id)
    notifications.sign_in_changed(user, "An administrator ended the second factor and removed all passkeys.")
    return MessageResponse(message=f"User {user.id} signs in with the password alone now.")
