"""Signing a browser in and out: its token is in a cookie that scripts cannot read."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from chalicelib.access import browser_sessions, passwords
from chalicelib.access.authentication import token_in
from chalicelib.access.identities.second_factors import SignInCode
from chalicelib.core.models.accounts import USER, Password, User, Username
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.core.responses import MessageResponse
from chalicelib.errors import BadInput, Forbidden
from chalicelib.http.operation import Answer, Call, NoQuery, Operations
from chalicelib.resources.accounts import signing_in
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Accounts", audits="sign-in")
BROWSER = "browser"
"""The name of tokens that are made for browsers; signing out ends them."""


class SignIn(Resource, kw_only=True):
    """Who signs in at a browser."""

    username: Annotated[Username, Meta(description="The name of the user.")]
    password: Annotated[Password, Meta(description="The password of the user.")]
    code: SignInCode | None = None


@OPERATIONS.post("/rest/Session", "CreateSession", needs=Permission.ANYONE, returns=MessageResponse)
def sign_in(call: Call[None, NoQuery, SignIn | None]) -> Answer:
    """Sign a browser in, for all its tabs.

    The body has a user name and password, and a `code` where the user has a second factor; without a body the token of
    the Authorization header is taken. The answer sets a cookie that scripts cannot read. Requests are signed in by it
    with the header `Limn-Session`, and from pages of this service only.
    """
    _refuse_foreign(call)
    if call.body is not None:
        user = signing_in.verify(call.body.username, call.body.password, call.body.code)
        browser_sessions.cookie("")  # refused before a token is made
        return _answer(passwords.issue_token(user, refresh=False, name=BROWSER), "Signed in!", 201)
    token = token_in(call.headers.get("authorization", ""))
    if token is None:
        raise BadInput("A body with username and password, or the header `Authorization: Token <key>`, is needed.")
    return _answer(token, "Signed in!", 201)


@OPERATIONS.delete("/rest/Session", "DeleteSession", needs=Permission.ANYONE, returns=MessageResponse)
def sign_out(call: Call[None, NoQuery, None]) -> Answer:
    """Sign a browser out, in all its tabs.

    The token that signing in with a password made ends; one that was given stays valid.
    """
    _refuse_foreign(call)
    held = call.caller.credential
    if held is not None and held.kind == "session" and held.name == BROWSER:

        def remove(current: User) -> User:
            kept = [each for each in current.tokens if each != call.caller.token_hash]
            return msgspec.structs.replace(current, tokens=kept)

        records.edit(USER, held.user, remove, also=passwords.revoke_removed)
    return _answer("", "Signed out!", 200)


def _refuse_foreign(call: Call[None, NoQuery, SignIn | None] | Call[None, NoQuery, None]) -> None:
    if not browser_sessions.is_own(call.headers):
        raise Forbidden("Only pages of this service sign browsers in and out: the header Limn-Session is needed.")


def _answer(token: str, message: str, status: int) -> Answer:
    headers = {"Set-Cookie": browser_sessions.cookie(token), "Cache-Control": "no-store"}
    return Answer(status=status, body=msgspec.json.encode(MessageResponse(message=message)), headers=headers)
