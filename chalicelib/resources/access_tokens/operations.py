"""Access tokens: credentials for scripts, with limits and an end."""

from __future__ import annotations

from typing import Any

from chalicelib.core.permissions import Permission
from chalicelib.core.responses import MessageResponse
from chalicelib.errors import NotFound
from chalicelib.http.addresses import plain
from chalicelib.http.operation import GROUPS, Call, NoQuery, Operations
from chalicelib.resources.access_tokens import service as access_tokens_service
from chalicelib.resources.access_tokens.schemas import (
    ACCESS_TOKEN,
    AccessToken,
    AccessTokenCreated,
    AccessTokenSpec,
    AccessTokenUpdate,
)
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Accounts", needs=Permission.SIGNED_IN, scoped=False, audits="token")
_ONE = plain(lambda path: records.maybe(ACCESS_TOKEN, path["id"]), id=int)


@OPERATIONS.get("/rest/AccessTokens", "GetAccessTokenList")
def list_tokens(call: Call[None, NoQuery, None]) -> list[AccessToken]:
    """The caller's access tokens: their limits, their end, and the day of their last use."""
    return access_tokens_service.with_use(records.list_children(ACCESS_TOKEN, call.caller.id))


@OPERATIONS.post("/rest/AccessTokens", "CreateAccessToken")
def create_token(call: Call[None, NoQuery, AccessTokenSpec]) -> AccessTokenCreated:
    """Make a token for a script, with limits and an end.

    It acts as the caller within its limits: in the named projects, at the named level at most, with the named
    operations, from the named networks. It never acts as staff, and changes neither the account nor tokens. It is shown
    once, and ends after 90 days unless `expires_datetime` says when.
    """
    made, token = access_tokens_service.create(call.caller, call.body, GROUPS)
    return AccessTokenCreated(message=f"Access token {made.name} created!", id=made.id, token=token, object=made)


@OPERATIONS.get("/rest/AccessToken/{id}", "GetAccessToken", addresses=_ONE)
def get_token(call: Call[AccessToken | None, NoQuery, None]) -> AccessToken:
    """One access token of the caller."""
    [shown] = access_tokens_service.with_use([_own(call)])
    return shown


@OPERATIONS.patch("/rest/AccessToken/{id}", "UpdateAccessToken", addresses=_ONE)
def update_token(call: Call[AccessToken | None, NoQuery, AccessTokenUpdate]) -> MessageResponse:
    """Change the limits or the end of an access token; they count from the next request on."""
    token = access_tokens_service.change(call.caller, _own(call), call.body, GROUPS)
    return MessageResponse(message=f"Access token {token.id} updated successfully!")


@OPERATIONS.delete("/rest/AccessToken/{id}", "DeleteAccessToken", addresses=_ONE)
def delete_token(call: Call[AccessToken | None, NoQuery, None]) -> MessageResponse:
    """End an access token, at once and everywhere."""
    token = _own(call)
    access_tokens_service.end(token)
    return MessageResponse(message=f"Access token {token.id} deleted successfully!")


def _own(call: Call[AccessToken | None, Any, Any]) -> AccessToken:
    if call.target is None or call.target.user != call.caller.id:
        raise NotFound.of("AccessToken", call.path["id"])
    return call.target
