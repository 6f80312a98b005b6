"""Forged tokens, stolen codes and mixed-up answers sign nobody in."""

from __future__ import annotations

import base64
import hmac
import json
import time
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from chalicelib.resources.identity_providers import oidc
from chalicelib.settings import override
from tests.resources.identity_providers.browsers import Browser, register
from tests.resources.identity_providers.provider import Provider, callback
from tests.service import Api


def alg_none(provider, claims):
    parts = [json.dumps(each).encode() for each in ({"alg": "none", "kid": "1"}, claims)]
    return ".".join([*(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts), ""])


def signed_with_the_public_key(provider, claims):
    parts = [json.dumps(each).encode() for each in ({"alg": "HS256", "kid": "1"}, claims)]
    text = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    proof = hmac.digest(provider.key.as_pem(private=False), text, "sha256")
    return f"{text.decode()}.{base64.urlsafe_b64encode(proof).rstrip(b'=').decode()}"


def signed_with_the_secret(provider, claims):
    return jwt.encode({"alg": "HS256", "kid": "1"}, claims, OctKey.import_key("s3cret" * 8))


def another_key_of_that_name(provider, claims):
    return jwt.encode({"alg": "RS256", "kid": "1"}, claims, RSAKey.generate_key(2048))


def an_unknown_key(provider, claims):
    return jwt.encode({"alg": "RS256", "kid": "7"}, claims, RSAKey.generate_key(2048))


def a_key_in_the_header(provider, claims):
    key = RSAKey.generate_key(2048)
    return jwt.encode({"alg": "RS256", "kid": "1", "jwk": key.as_dict(private=False)}, claims, key)


def no_token(provider, claims):
    return "gibberish"


def a_header_that_is_nested_deeply(provider, claims):
    text = b'{"alg": "RS256", "x": ' + b"[" * 5000 + b"]" * 5000 + b"}"
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode() + ".x.x"


def changed_claims(provider, claims):
    head, _, signature = provider._sign(claims).split(".")
    text = base64.urlsafe_b64encode(json.dumps({**claims, "sub": "root"}).encode()).rstrip(b"=").decode()
    return f"{head}.{text}.{signature}"


@pytest.mark.parametrize(
    "forge",
    [
        alg_none,
        signed_with_the_public_key,
        signed_with_the_secret,
        another_key_of_that_name,
        an_unknown_key,
        a_key_in_the_header,
        no_token,
        a_header_that_is_nested_deeply,
        changed_claims,
    ],
)
def test_a_token_that_the_provider_did_not_sign_signs_nobody_in(forge, registered, provider, browser):
    provider.sign = lambda claims: forge(provider, claims)
    said = browser.sign_in(registered, provider)
    assert said.status == 403
    assert "Set-Cookie" not in said.headers
    assert browser.ask("GET", "User/GetCurrent").status == 401


@pytest.mark.parametrize(
    ("claims", "told"),
    [
        ({"iss": "https://evil.example"}, "issuer"),
        ({"aud": "another"}, "client"),
        ({"aud": ["limn", "another"]}, "azp"),
        ({"aud": ["limn", "another"], "azp": "another"}, "azp"),
        ({"azp": "another"}, "azp"),
        ({"nonce": "replayed"}, "nonce"),
        ({"nonce": None}, "nonce"),
        ({"nonce": "\u00e9"}, "nonce"),
        ({"exp": 1}, "expired"),
        ({"exp": "soon"}, "exp"),
        ({"exp": 10**400}, "exp"),
        ({"exp": float("nan")}, "exp"),
        ({"iat": None}, "iat"),
        ({"iat": 4_000_000_000}, "future"),
        ({"nbf": 4_000_000_000}, "future"),
        ({"iat": 1_500_000_000}, "old"),
        ({"sub": ""}, "subject"),
        ({"sub": 7}, "subject"),
        ({"sub": "x" * 256}, "subject"),
    ],
)
def test_a_token_with_a_wrong_claim_signs_nobody_in(claims, told, registered, provider, browser):
    provider.spoil = lambda given: given.update(claims)
    said = browser.sign_in(registered, provider)
    assert said.status == 403
    assert told in said.body.decode()
    assert "Set-Cookie" not in said.headers


def test_a_logout_token_that_is_nested_deeply_is_refused(registered, provider):
    token = a_header_that_is_nested_deeply(provider, {})
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    said = Api(None, headers=headers).ask(
        "POST", f"BackChannelLogout/{registered}", raw=f"logout_token={token}".encode()
    )
    assert said.status == 400, said.body


def test_clocks_may_differ_by_a_minute(registered, provider, browser):
    moment = int(time.time())
    provider.spoil = lambda given: given.update(iat=moment + 50, exp=moment - 50)
    assert browser.sign_in(registered, provider).status == 303


def test_new_keys_are_read_when_a_token_has_one_and_not_at_each_wrong_one(registered, provider, browser, monkeypatch):
    assert browser.sign_in(registered, provider).status == 303
    monkeypatch.setattr(oidc, "REFETCH_SECONDS", 0)
    provider.key = ECKey.generate_key("P-256", {"kid": "2", "use": "sig"})
    provider.published = [provider.key]
    assert Browser().sign_in(registered, provider).status == 303
    monkeypatch.setattr(oidc, "REFETCH_SECONDS", 30)
    provider.sign = lambda claims: an_unknown_key(provider, claims)
    before = provider.asked.count("/keys")
    for _ in range(3):
        assert Browser().sign_in(registered, provider).status == 403
    assert provider.asked.count("/keys") == before


def test_a_stolen_code_opens_nothing_in_another_browser(registered, provider, browser):
    answer = provider.authorize(browser.begin(registered))
    thief = Browser()
    assert thief.ask("GET", callback(f"/sign-in/{registered}", answer)).status == 403
    assert browser.ask("GET", callback(f"/sign-in/{registered}", {**answer, "state": "\u00e9"})).status == 403
    thief.begin(registered)
    assert thief.ask("GET", callback(f"/sign-in/{registered}", answer)).status == 403
    mine = parse_qs(urlsplit(thief.begin(registered)).query)["state"][0]
    assert thief.ask("GET", callback(f"/sign-in/{registered}", {**answer, "state": mine})).status == 403, "PKCE"


def test_an_answer_counts_once(registered, provider, browser):
    answer = provider.authorize(browser.begin(registered))
    assert browser.ask("GET", callback(f"/sign-in/{registered}", answer)).status == 303
    assert browser.ask("GET", callback(f"/sign-in/{registered}", answer)).status == 403


def test_the_answer_of_one_provider_does_not_count_for_another(api, organization, registered, provider, browser):
    other = Provider()
    with override(service_origins=[provider.issuer, other.issuer]):
        second = register(api, organization, other)
        answer = provider.authorize(browser.begin(registered))
        assert browser.ask("GET", callback(f"/sign-in/{second}", answer)).status == 403
        answer = provider.authorize(browser.begin(registered))
        said = browser.ask("GET", callback(f"/sign-in/{registered}", {**answer, "iss": other.issuer}))
        assert said.status == 403
        assert "iss" in said.body.decode()
    other.close()


def test_a_provider_that_names_itself_in_answers_must_do_so(api, organization, provider, browser):
    provider.metadata = {"authorization_response_iss_parameter_supported": True}
    number = register(api, organization, provider)
    assert browser.sign_in(number, provider).status == 403
    answer = provider.authorize(browser.begin(number))
    assert browser.ask("GET", callback(f"/sign-in/{number}", {**answer, "iss": provider.issuer})).status == 303
