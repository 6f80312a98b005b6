"""API tokens: create one with a password, list one's own, revoke one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from chalicelib.access import passwords
from chalicelib.access.identities.passkeys import PasskeyProof
from chalicelib.access.identities.second_factors import SignInCode
from chalicelib.core.models.accounts import USER, MailedToken, Password, User, Username
from chalicelib.core.models.credentials import session_key
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import ONE_LINE, Resource, Timestamp, timestamp
from chalicelib.core.responses import MessageResponse
from chalicelib.errors import BadInput, NotFound
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.accounts import signing_in
from chalicelib.storage.audit.concern import ID_DIGITS
from chalicelib.storage.dynamodb import credentials, records

OPERATIONS = Operations(tag="Accounts")
TokenName = Annotated[str, Meta(max_length=100, pattern=ONE_LINE)]


class Credentials(Resource, kw_only=True):
    """The body that creates a token."""

    username: Username
    password: Password
    refresh: Annotated[bool, Meta(description="Whether to revoke all earlier tokens of the user.")] = False
    unlock_token: Annotated[
        MailedToken | None,
        Meta(
            description=(
                "The token of the email that reported a lock: with it, the password is accepted although the account "
                "is locked."
            )
        ),
    ] = None
    name: Annotated[TokenName, Meta(description="What the token is for, such as `laptop`; its list shows it.")] = ""
    code: SignInCode | None = None
    passkey: PasskeyProof | None = None


class Token(Resource, kw_only=True):
    """An API token as it is shown, once."""

    token: Annotated[str, Meta(description="Token for the header Authorization: `Token …`.")]


class TokenSummary(Resource, kw_only=True):
    """A token of the caller as the list shows it: never the token itself."""

    id: Annotated[str, Meta(description="The first 16 digits of the SHA-256 of the token.")]
    name: Annotated[str, Meta(description="As it was given when the token was created; may be empty.")]
    created_datetime: Timestamp
    used_on: Annotated[str | None, Meta(description="The day on which it was last used, `2026-11-21`, in UTC.")] = None
    expires_datetime: Annotated[Timestamp | None, Meta(description="When it ends unless it is used before.")] = None
    is_present: Annotated[bool, Meta(description="Whether it is the token of this request.")]


class TokenQuery(Resource, kw_only=True):
    """Which token."""

    id: Annotated[str, Meta(pattern=rf"^[0-9a-f]{{{ID_DIGITS}}}$(?!\n)", description="Its id in the list of tokens.")]


@OPERATIONS.post("/rest/Token", "CreateObtainAuthToken", needs=Permission.ANYONE, audits="sign-in")
def obtain_token(call: Call[None, NoQuery, Credentials]) -> Token:
    """Exchange a user name and password for an API token.

    The token is shown once; only its hash is stored. It ends when it is not used for 90 days, or as many as the
    deployment sets. Three wrong passwords lock the account for ten minutes; with the
    `unlock_token` of the mail that reports it, the right password counts all the same. With `refresh` all earlier
    tokens of the user end. Where the user has a second factor, the answer without `code` and `passkey` is 403 with
    `needs`: `code`; where the user has passkeys, its member `passkey` is what a browser asks one for.
    """
    body = call.body
    user = signing_in.verify(body.username, body.password, body.code, body.passkey, unlock_token=body.unlock_token)
    if call.caller.signed_in and call.caller.id != user.id:
        raise BadInput("Credentials do not match currently authenticated user!")
    return Token(token=passwords.issue_token(user, refresh=body.refresh, name=body.name))


@OPERATIONS.get("/rest/Token", "GetTokenList", needs=Permission.SIGNED_IN, scoped=False)
def list_tokens(call: Call[None, NoQuery, None]) -> list[TokenSummary]:
    """The caller's API tokens, oldest first.

    Names and dates only: a token is shown once, when it is created. The id is the beginning of its SHA-256, so that
    `printf %s TOKEN | sha256sum` tells which one a script uses.
    """
    hashes = records.get(USER, call.caller.id).tokens
    found = credentials.many(session_key(each) for each in hashes)
    return [
        TokenSummary(
            id=each[:ID_DIGITS],
            name=held[0].name,
            created_datetime=held[0].created_datetime,
            used_on=held[1].used,
            expires_datetime=timestamp(datetime.fromtimestamp(held[1].expires, UTC)),
            is_present=each == call.caller.token_hash,
        )
        for each in hashes
        if (held := found.get(session_key(each)))
    ]


@OPERATIONS.delete("/rest/Token", "DeleteToken", needs=Permission.SIGNED_IN, scoped=False, audits="token")
def revoke_token(call: Call[None, TokenQuery, None]) -> MessageResponse:
    """Revoke one of the caller's API tokens.

    It ends at once. Revoking the token of the request signs out.
    """
    wanted = call.query.id

    def remove(current: User) -> User:
        kept = [token for token in current.tokens if not token.startswith(wanted)]
        if len(kept) == len(current.tokens):
            raise NotFound.of("Token", wanted)
        return msgspec.structs.replace(current, tokens=kept)

    records.edit(USER, call.caller.id, remove, also=passwords.revoke_removed)
    return MessageResponse(message=f"Token {wanted} revoked successfully!")
