"""API tokens: create one with a password, list one's own, revoke one."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from chalicelib.access import passwords
from chalicelib.core.models.accounts import TOKEN, USER, Credentials, Token, TokenSummary, User
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.core.responses import MessageResponse
from chalicelib.errors import BadInput, NotFound
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.email import notifications
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Accounts")
_ID_DIGITS = 16


class TokenQuery(Resource, kw_only=True):
    """Which token."""

    id: Annotated[str, Meta(pattern=f"^[0-9a-f]{{{_ID_DIGITS}}}$", description="Its id in the list of tokens.")]


@OPERATIONS.post("/rest/Token", "CreateObtainAuthToken", needs=Permission.ANYONE)
def obtain_token(call: Call[None, NoQuery, Credentials]) -> Token:
    """Exchange a user name and password for an API token.

    The token is shown once; only its hash is stored. Three wrong passwords lock the account for ten minutes; with the
    `unlock_token` of the mail that reports it, the right password counts all the same. With `refresh` all earlier
    tokens of the user end.
    """
    body = call.body
    user = passwords.verify(body.username, body.password, notifications.notify_of_lock, unlock_token=body.unlock_token)
    if call.caller.signed_in and call.caller.id != user.id:
        raise BadInput("Credentials do not match currently authenticated user!")
    return Token(token=passwords.issue_token(user, refresh=body.refresh, name=body.name))


@OPERATIONS.get("/rest/Token", "GetTokenList", needs=Permission.SIGNED_IN)
def list_tokens(call: Call[None, NoQuery, None]) -> list[TokenSummary]:
    """The caller's API tokens, oldest first.

    Names and dates only: a token is shown once, when it is created. The id is the beginning of its SHA-256, so that
    `printf %s TOKEN | sha256sum` tells which one a script uses.
    """
    found = (records.maybe(TOKEN, number) for number in records.get(USER, call.caller.id).tokens)
    return [
        TokenSummary(
            id=token.id[:_ID_DIGITS],
            name=token.name,
            created_datetime=token.created_datetime,
            is_present=token.id == call.caller.token_hash,
        )
        for token in found
        if token
    ]


@OPERATIONS.delete("/rest/Token", "DeleteToken", needs=Permission.SIGNED_IN)
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
