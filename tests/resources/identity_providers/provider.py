"""An identity provider on a loopback port: discovery, keys, codes with PKCE, refresh tokens, and faults for tests."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from tests.loopback import Handler, Server


class Provider:
    """A provider with one client. `claims` are of the person who signs in next; `spoil` changes its ID tokens."""

    def __init__(self, client_id: str = "limn", client_secret: str = "s3cret", port: int = 0) -> None:
        self.client_id, self.client_secret = client_id, client_secret
        self.key: Any = RSAKey.generate_key(2048, {"kid": "1", "use": "sig"})
        self.published = [self.key]
        self.domain = f"reef{secrets.token_hex(4)}.example"
        self.claims: dict[str, Any] = {"sub": "ada", "email": f"ada@{self.domain}", "preferred_username": "ada"}
        self.spoil: Callable[[dict[str, Any]], None] = lambda claims: None
        self.sign: Callable[[dict[str, Any]], str] = self._sign
        self.gives_refresh = True
        self.codes: dict[str, dict[str, Any]] = {}
        self.refreshes: dict[str, dict[str, Any]] = {}
        self.asked: list[str] = []
        self.metadata: dict[str, Any] = {}
        provider = self

        class Endpoints(Handler):
            def do_GET(self) -> None:
                provider.asked.append(self.path)
                if self.path.endswith("/.well-known/openid-configuration"):
                    return self.answer(200, provider.document())
                if self.path.startswith("/authorize"):
                    asked = parse_qs(urlsplit(self.path).query)
                    place = callback(asked["redirect_uri"][0], provider.authorize(self.path))
                    return self.answer(302, headers={"Location": place})
                if self.path == "/keys":
                    return self.answer(200, {"keys": [key.as_dict(private=False) for key in provider.published]})
                return self.answer(404, {})

            def do_POST(self) -> None:
                given = {name: values[0] for name, values in parse_qs(self.read_body().decode()).items()}
                provider.asked.append(self.path)
                self.answer(*provider.token(given, self.headers.get("Authorization", "")))

        server = Server(Endpoints, port)
        self.issuer, self.close = server.url, server.close

    def document(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            **self.metadata,
        }

    def authorize(self, url: str) -> dict[str, str]:
        """Sign in at the address that a browser is sent to: what it is sent back with."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        assert asked["client_id"] == self.client_id
        assert "openid" in asked["scope"].split()
        code = secrets.token_urlsafe(16)
        self.codes[code] = {**asked, "claims": dict(self.claims)}
        return {"code": code, "state": asked["state"]}

    def token(self, given: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        pair = base64.b64encode(f"{self.client_id}:{self.client_secret}".encode()).decode()
        if authorization != f"Basic {pair}":
            return 401, {"error": "invalid_client"}
        if given["grant_type"] == "refresh_token":
            known = self.refreshes.pop(given["refresh_token"], None)
            return self.tokens(known) if known else (400, {"error": "invalid_grant"})
        known = self.codes.pop(given["code"], None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(given["code_verifier"].encode()).digest()).rstrip(b"=")
        if (
            known is None
            or known["code_challenge"] != challenge.decode()
            or known["redirect_uri"] != given["redirect_uri"]
        ):
            return 400, {"error": "invalid_grant"}
        return self.tokens(known)

    def tokens(self, known: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        claims = self.usual(**known["claims"], nonce=known["nonce"])
        self.spoil(claims)
        answer = {"access_token": "x", "token_type": "Bearer", "id_token": self.sign(claims)}
        if self.gives_refresh:
            answer["refresh_token"] = secrets.token_urlsafe(16)
            self.refreshes[answer["refresh_token"]] = {**known, "claims": dict(self.claims)}
        return 200, answer

    def usual(self, **claims: Any) -> dict[str, Any]:
        """Claims as they should be."""
        moment = int(time.time())
        return {"iss": self.issuer, "aud": self.client_id, "iat": moment, "exp": moment + 300, **claims}

    def _sign(self, claims: dict[str, Any]) -> str:
        algorithm = "ES256" if isinstance(self.key, ECKey) else "RS256"
        return jwt.encode({"alg": algorithm, "kid": self.key.kid}, claims, self.key)


def callback(place: str, answer: dict[str, str]) -> str:
    """The path of the redirect with an answer."""
    return f"{place}?{urlencode(answer)}"
