"""Users and tokens (`spec/3` §2)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from chalicelib.access import passwords, users
from chalicelib.core.accounts import MEMBERSHIP, USER, Credentials, Token, User, UserSpec, UserUpdate
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource, Uuid, given
from chalicelib.core.responses import CreateResponse, MessageResponse
from chalicelib.errors import BadInput, Forbidden, NotFound, NotSignedIn
from chalicelib.http.addresses import plain
from chalicelib.http.operation import Call, NoQuery, Operation
from chalicelib.resources.accounts import profiles, registration
from chalicelib.resources.accounts.invitations import PasswordResetSpec
from chalicelib.resources.email import notifications
from chalicelib.storage.dynamodb import records

TAG = "Accounts"


class UserQuery(Resource, kw_only=True):
    """By what users are looked up: the elemental id counts before the user name, that before the address."""

    username: str | None = None
    email: str | None = None
    elemental_id: Uuid | None = None
    presigned: Annotated[int, Meta(ge=1, le=604800)] | None = None


class PresignedQuery(Resource, kw_only=True):
    """Whether keys of files become URLs, and for how many seconds."""

    presigned: Annotated[int, Meta(ge=1, le=604800)] | None = None


def obtain_token(call: Call[None, NoQuery, Credentials]) -> Token:
    """Exchange a password for a token."""
    user = passwords.verify(call.body.username, call.body.password, notifications.locked_out)
    if call.caller.signed_in and call.caller.id != user.id:
        raise BadInput("Credentials do not match currently authenticated user!")
    return Token(token=passwords.issue_token(user, refresh=call.body.refresh))


def create_user(call: Call[None, NoQuery, UserSpec]) -> CreateResponse:
    """Register, with an invitation or where the deployment lets anybody."""
    user = registration.register(call.body, call.caller)
    notifications.registered(user)
    return CreateResponse(message=f"User {user.username} created!", id=user.id)


def list_users(call: Call[None, UserQuery, None]) -> list[User]:
    """Look users up; none found is an empty list."""
    found = find_user(call.query)
    return [profiles.with_avatar_url(found, call.query.presigned)] if found else []


def user_exists(call: Call[None, UserQuery, None]) -> bool:
    """Tell whether a user exists."""
    return find_user(call.query) is not None


def find_user(query: UserQuery) -> User | None:
    """The user that a query names."""
    if query.elemental_id:
        return records.claimed(USER, "elemental_id", query.elemental_id.lower())
    if query.username:
        return records.claimed(USER, "username", query.username.strip().casefold())
    if query.email:
        return next((user for user in users.with_address(query.email) if user.email == query.email), None)
    raise BadInput("One of username or email or elemental_id must be supplied!")


def whoami(call: Call[None, PresignedQuery, None]) -> User:
    """The caller."""
    return profiles.with_avatar_url(records.get(USER, call.caller.id), call.query.presigned)


def get_user(call: Call[User, PresignedQuery, None]) -> User:
    """A user: oneself, anybody for staff, and those one shares a project with."""
    if not call.target:
        raise NotFound.of("User", call.path["id"]) if call.caller.is_staff else Forbidden()
    if (
        call.caller.id != call.target.id
        and not call.caller.is_staff
        and not _share_project(call.caller.id, call.target.id)
    ):
        raise Forbidden
    return profiles.with_avatar_url(call.target, call.query.presigned)


def _share_project(one: int, other: int) -> bool:
    of_one = {membership.project for membership in records.linked(MEMBERSHIP, "user", one)}
    return any(membership.project in of_one for membership in records.linked(MEMBERSHIP, "user", other))


def _maybe_user(path: dict[str, int]) -> User | None:
    return records.maybe(USER, path["id"])


def update_user(call: Call[User, PresignedQuery, UserUpdate]) -> MessageResponse:
    """Change a user: by itself, by staff, or — the password alone — by whoever has the word of a reset."""
    user, body = call.target, call.body
    if user is None:
        raise NotFound.of("User", call.path["id"]) if call.caller.is_staff else Forbidden()
    change = given(body)
    by_reset = change.keys() == {"password", "reset_token"}
    if not by_reset and not call.caller.signed_in:
        raise NotSignedIn
    if not by_reset and call.caller.id != user.id and not call.caller.is_staff:
        raise Forbidden
    if body.password is not None:
        registration.reset_password(user, body.reset_token or "", body.password)
    profiles.change_user(user, body)
    return MessageResponse(message=f"Updated user {user.id} successfully!")


def reset_password(call: Call[None, NoQuery, PasswordResetSpec]) -> MessageResponse:
    """Mail a link to set a new password with."""
    registration.ask_reset(call.body.email)
    return MessageResponse(message="Password reset email sent!")


def confirm_address(call: Call[None, NoQuery, None]) -> MessageResponse:
    """Activate the account whose confirmation link was opened."""
    user = registration.confirm(call.path["word"])
    return MessageResponse(message=f"The account {user.username} is active.")


OPERATIONS = (
    Operation(
        id="CreateObtainAuthToken",
        method="POST",
        path="/rest/Token",
        summary="Exchange a user name and password for an API token.",
        details="The token is shown once; only its hash is stored. Three wrong passwords lock the account for ten "
        "minutes. With `refresh` all earlier tokens of the user end.",
        needs=Permission.ANYONE,
        body=Credentials,
        returns=Token,
        handler=obtain_token,
        tag=TAG,
    ),
    Operation(
        id="CreateUser",
        method="POST",
        path="/rest/Users",
        summary="Register a user.",
        needs=Permission.ANYONE,
        body=UserSpec,
        returns=CreateResponse,
        handler=create_user,
        tag=TAG,
    ),
    Operation(
        id="GetUserList",
        method="GET",
        path="/rest/Users",
        summary="Look up a user by name, address or elemental id.",
        needs=Permission.SIGNED_IN,
        query=UserQuery,
        returns=list[User],
        handler=list_users,
        tag=TAG,
    ),
    Operation(
        id="UserExists",
        method="GET",
        path="/rest/User/Exists",
        summary="Whether a user exists.",
        needs=Permission.ANYONE,
        query=UserQuery,
        returns=bool,
        handler=user_exists,
        tag=TAG,
    ),
    Operation(
        id="Whoami",
        method="GET",
        path="/rest/User/GetCurrent",
        summary="The calling user.",
        needs=Permission.SIGNED_IN,
        query=PresignedQuery,
        returns=User,
        handler=whoami,
        tag=TAG,
    ),
    Operation(
        id="GetUser",
        method="GET",
        path="/rest/User/{id}",
        summary="A user: oneself, or somebody one shares a project with.",
        needs=Permission.SIGNED_IN,
        addresses=plain(_maybe_user, id=int),
        query=PresignedQuery,
        returns=User,
        handler=get_user,
        tag=TAG,
    ),
    Operation(
        id="UpdateUser",
        method="PATCH",
        path="/rest/User/{id}",
        summary="Change a user.",
        details="By the user or staff; a new password only with the token of a password reset, and then by anybody who "
        "has it.",
        needs=Permission.ANYONE,
        addresses=plain(_maybe_user, id=int),
        query=PresignedQuery,
        body=UserUpdate,
        returns=MessageResponse,
        handler=update_user,
        tag=TAG,
    ),
    Operation(
        id="CreatePasswordReset",
        method="POST",
        path="/rest/PasswordReset",
        summary="Mail a link to set a new password with.",
        needs=Permission.ANYONE,
        body=PasswordResetSpec,
        returns=MessageResponse,
        handler=reset_password,
        tag=TAG,
    ),
)

CONFIRMATION = Operation(
    id="ConfirmAddress",
    method="GET",
    path="/email-confirmation/{word}",
    summary="Activate the account whose confirmation link was opened.",
    needs=Permission.ANYONE,
    addresses=plain(lambda _: None, word=str),
    returns=MessageResponse,
    handler=confirm_address,
    tag=TAG,
)
