"""Users."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from chalicelib.access import authentication, users
from chalicelib.core.models.accounts import USER, User, UserSpec, UserUpdate
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource, Uuid, given
from chalicelib.core.responses import CreateResponse, MessageResponse
from chalicelib.errors import BadInput, Forbidden, NotFound, Unauthenticated
from chalicelib.http.addresses import plain
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.accounts import address_changes, administration, avatars, profiles, registration
from chalicelib.resources.accounts.invitations import PasswordResetSpec
from chalicelib.resources.email import notifications
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Accounts")


class UserQuery(Resource, kw_only=True):
    """The lookup of a user: by elemental id, else by user name, else by address."""

    username: str | None = None
    email: str | None = None
    elemental_id: Uuid | None = None
    presigned: Annotated[int, Meta(ge=1, le=604800)] | None = None


class PresignedQuery(Resource, kw_only=True):
    """Whether keys of files become URLs, and for how many seconds."""

    presigned: Annotated[int, Meta(ge=1, le=604800)] | None = None


@OPERATIONS.post("/rest/Users", "CreateUser", needs=Permission.ANYONE)
def create_user(call: Call[None, NoQuery, UserSpec]) -> CreateResponse:
    """Register a user.

    With an invitation, or where registration is open.
    """
    user = registration.register(call.body, call.caller)
    notifications.notify_of_account(user)
    return CreateResponse(message=f"User {user.username} created!", id=user.id)


@OPERATIONS.get("/rest/Users", "GetUserList", needs=Permission.SIGNED_IN)
def list_users(call: Call[None, UserQuery, None]) -> list[User]:
    """Look up a user by name, address or elemental id.

    The list is empty if none matches. Of users with whom the caller shares no project it has ids and names, and the
    address only where that was asked for; 600 such lookups, and ones that find nobody, are answered in an hour.
    """
    found = users.look_up(call.caller, lambda: find_user(call.query))
    if found is None:
        return []
    if not users.is_known(call.caller, found):
        asked = found.email if call.query.email and not (call.query.username or call.query.elemental_id) else ""
        found = msgspec.structs.replace(found, email=asked, is_staff=False, profile={})
    return [avatars.with_url(found, call.query.presigned)]


@OPERATIONS.get("/rest/User/Exists", "UserExists", needs=Permission.ANYONE)
def user_exists(call: Call[None, UserQuery, None]) -> bool:
    """Whether a user exists.

    As in `GET /rest/Users`, 600 lookups of users with whom the caller shares no project are answered in an hour.
    """
    return users.look_up(call.caller, lambda: find_user(call.query)) is not None


def find_user(query: UserQuery) -> User | None:
    """The user that a query names."""
    if query.elemental_id:
        return records.get_claimed(USER, "elemental_id", query.elemental_id.lower())
    if query.username:
        return records.get_claimed(USER, "username", query.username.strip().casefold())
    if query.email:
        return next((user for user in users.holders(query.email) if user.email == query.email), None)
    raise BadInput("One of username or email or elemental_id must be supplied!")


@OPERATIONS.get("/rest/User/GetCurrent", "Whoami", needs=Permission.SIGNED_IN)
def whoami(call: Call[None, PresignedQuery, None]) -> User:
    """The calling user."""
    return avatars.with_url(records.get(USER, call.caller.id), call.query.presigned)


def _maybe_user(path: dict[str, int]) -> User | None:
    return records.maybe(USER, path["id"])


@OPERATIONS.get("/rest/User/{id}", "GetUser", needs=Permission.SIGNED_IN, addresses=plain(_maybe_user, id=int))
def get_user(call: Call[User, PresignedQuery, None]) -> User:
    """A user: the caller, one who shares a project with the caller, or any user for staff."""
    if not call.target:
        raise NotFound.of("User", call.path["id"]) if call.caller.is_staff else Forbidden()
    if not users.is_known(call.caller, call.target):
        raise Forbidden
    return avatars.with_url(call.target, call.query.presigned)


@OPERATIONS.patch(
    "/rest/User/{id}",
    "UpdateUser",
    needs=Permission.ANYONE,
    addresses=plain(_maybe_user, id=int),
    scoped=False,
    audits="account",
)
def update_user(call: Call[User, PresignedQuery, UserUpdate]) -> MessageResponse:
    """Change a user.

    By the user or by staff. A user sets a new `password` with `current_password`, which ends all other tokens of the
    user; a wrong one counts as a refused sign-in. A body of exactly `password` and `reset_token`, of a mailed password
    reset, needs no other credentials. A new `email` counts once the link that is mailed to it is opened; until then the
    old address stays in force, and gets a mail. `is_active` is for staff: false ends the account and its tokens;
    presigned URLs that it has stay valid until they expire.
    """
    user, body = call.target, call.body
    if user is None:
        raise NotFound.of("User", call.path["id"]) if call.caller.is_staff else Forbidden()
    change = given(body)
    _check_change(call, user, change)
    address = None if body.email is None else address_changes.check(user, body.email, call.caller)
    waits = False
    if change.keys() - {"password", "reset_token", "current_password", "email", "is_active"}:
        profiles.change_user(user, body)
    if body.password is not None and body.current_password is not None:
        registration.change_password(user, body.current_password, body.password, call.caller)
    elif body.password is not None:
        registration.reset_password(user, body.reset_token or "", body.password, call.caller)
    if address is not None:
        waits = address_changes.request(user, address)
    if body.is_active is not None:
        administration.set_active(user, active=body.is_active)
    more = " The new address counts once the link in the mail to it is opened." if waits else ""
    return MessageResponse(message=f"Updated user {user.id} successfully!{more}")


def _check_change(call: Call[User, PresignedQuery, UserUpdate], user: User, change: dict[str, Any]) -> None:
    """Check all parts of a change before any is applied."""
    caller = call.caller
    if change.keys() != {"password", "reset_token"}:
        if not caller.signed_in:
            raise Unauthenticated
        if caller.id != user.id and not caller.is_staff:
            raise Forbidden
    if "is_active" in change and not caller.is_staff:
        raise Forbidden("is_active: only staff may end an account or open it again.")
    if user.username.casefold() == authentication.ANONYMOUS:
        raise BadInput(f"The user {user.username!r} cannot be changed.")
    if "reset_token" in change and "password" not in change:
        raise BadInput("reset_token: it sets a password; give the password too.")
    if "current_password" in change:
        _check_password_change(call, user, change)
    elif "password" in change and "reset_token" not in change:
        raise BadInput("password: give `current_password`, the present one, or the `reset_token` of a mailed reset.")


def _check_password_change(call: Call[User, PresignedQuery, UserUpdate], user: User, change: dict[str, Any]) -> None:
    if change.keys() != {"password", "current_password"}:
        raise BadInput("current_password: it sets a `password`; give both, and no other member.")
    if call.caller.id != user.id:
        raise Forbidden("current_password: only the user changes a password with it.")


@OPERATIONS.post("/rest/PasswordReset", "CreatePasswordReset", needs=Permission.ANYONE)
def reset_password(call: Call[None, NoQuery, PasswordResetSpec]) -> MessageResponse:
    """Mail a link to set a new password with."""
    registration.ask_reset(call.body.email, call.caller)
    return MessageResponse(message="Password reset email sent!")
