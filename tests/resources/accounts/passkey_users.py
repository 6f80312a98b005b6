"""Users with passkeys, and browsers that sign in with them."""

from __future__ import annotations

from tests.resources.accounts.authenticator import Authenticator
from tests.resources.accounts.mails import PASSWORD
from tests.service import Api

SENT = {"limn-session": "1"}


def begun(api, **more):
    said = api.post("PasskeyRegistration", {"password": PASSWORD, **more})
    assert said.status == 201, said.body
    return said.json


def registered(api, made=None, **more):
    """An authenticator whose passkey a user has."""
    made = made or Authenticator()
    said = api.post("Passkeys", made.make(begun(api), **more))
    assert said.status == 201, said.body
    return made


class Browser:
    """A browser that keeps the cookies of the service."""

    def __init__(self):
        self.api = Api(None, headers=SENT)

    def ask(self):
        said = self.api.post("PasskeyChallenge")
        assert said.status == 201
        self.api.headers = {**SENT, "cookie": said.headers["Set-Cookie"].partition(";")[0]}
        return said.json

    def sign_in(self, made, **wrong):
        return self.api.post("PasskeySession", made.sign(self.ask(), **wrong))


def sign_in(user, **more):
    return Api(None).post("Token", {"username": user.username, "password": PASSWORD, **more})
