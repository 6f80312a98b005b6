"""Signing a browser in and out: its token is in a cookie that scripts cannot read."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from chalicelib.access import browser_sessions, passwords, rate_limits
from chalicelib.access.authentication import token_in
from chalicelib.access.identities import passkeys
from chalicelib.access.identities.passkeys import PasskeyProof, PasskeyQuestion
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
    passkey: PasskeyProof | None = None


@OPERATIONS.post("/rest/Session", "CreateSession", needs=Permission.ANYONE, returns=MessageResponse)
def sign_in(call: Call[None, NoQuery, SignIn | None]) -> Answer:
    """Sign a browser in, for all its tabs.

    The body has a user name and password, and a `code` or `passkey` where the user has a second factor; without a body
    the token of the Authorization header is taken. The answer sets a cookie that scripts cannot read. Requests are
    signed in by it with the header `Limn-Session`, and from pages of this service only.
    """
    _refuse_foreign(call)
    if call.body is not None:
        user = signing_in.verify(call.body.username, call.body.password, call.body.code, call.body.passkey)
        browser_sessions.cookie("")  # refused before a token is made
        return _answer(passwords.issue_token(user, refresh=False, name=BROWSER), "Signed in!", 201)
    token = token_in(call.headers.get("authorization", ""))
    if token is None:
        raise BadInput("A body with username and password, or the header `Authorization: Token <key>`, is needed.")
    return _answer(token, "Signed in!", 201)


@OPERATIONS.post("/rest/PasskeyChallenge", "CreatePasskeyChallenge", needs=Permission.ANYONE, returns=PasskeyQuestion)
def ask_for_passkey(call: Call[None, NoQuery, None]) -> Answer:
    """Begin a sign-in of a browser with a passkey: the answer is what it asks authenticators for.

    It sets a cookie that binds the challenge to this browser for five minutes.
    """
    _refuse_foreign(call)
    rate_limits.check(rate_limits.PASSKEY_CHALLENGE, call.caller)
    asked = passkeys.ask_anybody()
    headers = {
        "Set-Cookie": browser_sessions.challenge_cookie(asked.challenge, passkeys.SECONDS),
        "Cache-Control": "no-store",
    }
    return Answer(status=201, body=msgspec.json.encode(asked), headers=headers)


@OPERATIONS.post("/rest/PasskeySession", "CreatePasskeySession", needs=Permission.ANYONE, returns=MessageResponse)
def sign_in_with_passkey(call: Call[None, NoQuery, PasskeyProof]) -> Answer:
    """Sign a browser in with a passkey alone, which has verified who holds it, for all its tabs.

    `POST /rest/PasskeyChallenge` gives the challenge, which counts once. The answer sets the cookie of `/rest/Session`.
    """
    _refuse_foreign(call)
    user = passkeys.sign_in(call.body, browser_sessions.challenge(call.headers))
    signing_in.refuse_provider(user, "sign in there.")
    return _answer(passwords.issue_token(user, refresh=False, name=BROWSER), "Signed in!", 201)


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


def _refuse_foreign(call: Call[None, NoQuery, Any]) -> None:
    if not browser_sessions.is_own(call.headers):
        raise Forbidden("Only pages of this service sign browsers in and out: the header Limn-Session is needed.")


def _answer(token: str, message: str, status: int) -> Answer:
    headers = {"Set-Cookie": browser_sessions.cookie(token), "Cache-Control": "no-store"}
    return Answer(status=status, body=msgspec.json.encode(MessageResponse(message=message)), headers=headers)
