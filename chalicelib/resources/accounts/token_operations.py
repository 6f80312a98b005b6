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
from chalicelib.http.operation import Call, NoQuery, Operation
from chalicelib.resources.email import notifications
from chalicelib.storage.dynamodb import records

TAG = "Accounts"
_ID_DIGITS = 16


class TokenQuery(Resource, kw_only=True):
    """Which token."""

    id: Annotated[str, Meta(pattern=f"^[0-9a-f]{{{_ID_DIGITS}}}$", description="Its id in the list of tokens.")]


def obtain_token(call: Call[None, NoQuery, Credentials]) -> Token:
    """Exchange a password for a token."""
    body = call.body
    user = passwords.verify(body.username, body.password, notifications.notify_of_lock, unlock_token=body.unlock_token)
    if call.caller.signed_in and call.caller.id != user.id:
        raise BadInput("Credentials do not match currently authenticated user!")
    return Token(token=passwords.issue_token(user, refresh=body.refresh, name=body.name))


def list_tokens(call: Call[None, NoQuery, None]) -> list[TokenSummary]:
    """The caller's tokens, oldest first."""
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


def revoke_token(call: Call[None, TokenQuery, None]) -> MessageResponse:
    """Revoke one of the caller's tokens."""
    wanted = call.query.id

    def remove(current: User) -> User:
        kept = [token for token in current.tokens if not token.startswith(wanted)]
        if len(kept) == len(current.tokens):
            raise NotFound.of("Token", wanted)
        return msgspec.structs.replace(current, tokens=kept)

    records.edit(USER, call.caller.id, remove, also=passwords.revoke_removed)
    return MessageResponse(message=f"Token {wanted} revoked successfully!")


OPERATIONS = (
    Operation(
        id="CreateObtainAuthToken",
        method="POST",
        path="/rest/Token",
        summary="Exchange a user name and password for an API token.",
        details="The token is shown once; only its hash is stored. Three wrong passwords lock the account for ten "
        "minutes; with the `unlock_token` of the mail that reports it, the right password counts all the same. With "
        "`refresh` all earlier tokens of the user end.",
        needs=Permission.ANYONE,
        body=Credentials,
        returns=Token,
        handler=obtain_token,
        tag=TAG,
    ),
    Operation(
        id="GetTokenList",
        method="GET",
        path="/rest/Token",
        summary="The caller's API tokens, oldest first.",
        details="Names and dates only: a token is shown once, when it is created. The id is the beginning of its "
        "SHA-256, so that `printf %s TOKEN | sha256sum` tells which one a script uses.",
        needs=Permission.SIGNED_IN,
        returns=list[TokenSummary],
        handler=list_tokens,
        tag=TAG,
    ),
    Operation(
        id="DeleteToken",
        method="DELETE",
        path="/rest/Token",
        summary="Revoke one of the caller's API tokens.",
        details="It ends at once. Revoking the token of the request signs out.",
        needs=Permission.SIGNED_IN,
        query=TokenQuery,
        returns=MessageResponse,
        handler=revoke_token,
        tag=TAG,
    ),
)
