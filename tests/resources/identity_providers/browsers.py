"""Somebody at a browser who signs in with a provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from http.cookies import SimpleCookie

from tests.resources.identity_providers.provider import callback
from tests.service import Api


def register(api, organization, provider, **members) -> int:
    body = {"name": "Reef", "issuer": provider.issuer, "client_id": "limn", "client_secret": "s3cret", **members}
    return api.made(f"IdentityProviders/{organization}", body)


@dataclass
class Browser:
    """Somebody at a browser, with its cookies."""

    cookies: dict[str, str] = field(default_factory=dict)
    api: Api = field(default_factory=lambda: Api(None))

    def ask(self, method, path, body=None, **headers):
        self.api.headers = {
            "Limn-Session": "1",
            "Cookie": "; ".join(f"{n}={v}" for n, v in self.cookies.items()),
            **headers,
        }
        said = self.api.ask(method, path, body)
        if "Set-Cookie" in said.headers:
            for name, morsel in SimpleCookie(said.headers["Set-Cookie"]).items():
                self.cookies[name] = morsel.value
        return said

    def begin(self, number, **body) -> str:
        said = self.ask("POST", f"SignIn/{number}", body)
        assert said.status == 200, said.body
        return said.json["url"]

    def sign_in(self, number, provider, **body):
        return self.ask("GET", callback(f"/sign-in/{number}", provider.authorize(self.begin(number, **body))))

    @property
    def user(self) -> dict:
        said = self.ask("GET", "User/GetCurrent")
        assert said.status == 200, said.body
        return said.json
