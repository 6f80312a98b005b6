"""Sign-in with an identity provider: who gets in, as whom, with what, until when."""

from __future__ import annotations

import time
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from chalicelib.access import passwords
from chalicelib.access.identities.providers import IDENTITY, IDENTITY_PROVIDER
from chalicelib.core.models.accounts import USER
from chalicelib.core.models.credentials import key_of
from chalicelib.resources.identity_providers import oidc
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.tables import CredentialRow
from tests.resources.identity_providers.browsers import Browser, register
from tests.resources.identity_providers.provider import callback
from tests.service import Api, new_user


def test_the_first_sign_in_makes_the_user_and_later_ones_find_it(registered, provider, browser, organization, api):
    provider.claims |= {"given_name": "Ada", "family_name": "Lovelace", "email_verified": True}
    said = browser.sign_in(registered, provider, return_to="/#/projects/1")
    assert said.status == 303, said.body
    assert said.headers["Location"] == f"{settings().public_url}/#/projects/1"
    assert "SameSite=Strict" in said.headers["Set-Cookie"]
    user = browser.user
    assert (user["first_name"], user["email"]) == ("Ada", f"ada@{provider.domain}")
    assert [each["user"] for each in api.get(f"Affiliations/{organization}").json if each["user"] == user["id"]]
    again = Browser()
    again.sign_in(registered, provider)
    assert again.user["id"] == user["id"]
    [entry] = api.get(f"AuditLog/{organization}", kind="sign-in", user_id=user["id"], stop=1).json
    assert entry["target"] == f"identity provider {registered}"


def test_the_request_to_the_provider_has_state_nonce_and_a_challenge(registered, provider, browser):
    asked = parse_qs(urlsplit(browser.begin(registered)).query)
    assert asked["redirect_uri"] == [f"{settings().public_url}/sign-in/{registered}"]
    assert len(asked["state"][0]) > 40
    assert len(asked["nonce"][0]) > 40
    assert len(asked["code_challenge"][0]) == 43
    other = parse_qs(urlsplit(browser.begin(registered)).query)
    assert not {asked[name][0] for name in ("state", "nonce", "code_challenge")} & {
        other[name][0] for name in ("state", "nonce", "code_challenge")
    }


def test_a_name_that_is_taken_gets_an_ending_and_a_taken_address_is_not_taken_over(registered, provider, browser, api):
    provider.claims |= {"preferred_username": api.user.username}
    browser.sign_in(registered, provider)
    assert browser.user["username"].startswith(f"{api.user.username}-")
    provider.claims = {"sub": "thief", "email": api.user.email, "email_verified": True}
    said = Browser().sign_in(registered, provider)
    assert said.status == 409
    assert b"connect it" in said.body


def test_an_account_is_connected_by_its_own_user_alone(registered, provider, browser):
    owner = new_user()
    provider.claims = {"sub": "own", "email": owner.user.email}
    assert browser.ask("POST", f"SignIn/{registered}", {"connect": True}).status == 400
    browser.ask("POST", "Session", Authorization=f"Token {owner.token}")
    assert browser.sign_in(registered, provider, connect=True).status == 303
    elsewhere = Browser()
    elsewhere.sign_in(registered, provider)
    assert elsewhere.user["id"] == owner.user.id
    other = new_user()
    thief = Browser()
    thief.ask("POST", "Session", Authorization=f"Token {other.token}")
    assert thief.sign_in(registered, provider, connect=True).status == 409


@pytest.mark.parametrize(
    "place", ["https://evil.example", "//evil.example", "/\\evil.example", "/#/\r\nx", "javascript:alert(1)", "/rest"]
)
def test_the_way_back_never_leads_to_another_origin(place, registered, browser):
    assert browser.ask("POST", f"SignIn/{registered}", {"return_to": place}).status == 400


def test_pages_of_other_origins_begin_no_sign_in(registered, browser):
    assert Api(None).post(f"SignIn/{registered}", {}).status == 403
    assert browser.ask("POST", f"SignIn/{registered}", {}, **{"Sec-Fetch-Site": "cross-site"}).status == 403


def test_a_refusal_of_the_provider_is_a_page_without_its_text(registered, provider, browser):
    browser.begin(registered)
    answer = {"error": "access_denied", "error_description": "<script>alert(1)</script>", "state": "x"}
    said = browser.ask("GET", callback(f"/sign-in/{registered}", answer))
    assert said.status == 403
    assert b"script>" not in said.body
    assert b"did not sign you in" in said.body


def test_groups_of_the_provider_give_levels_and_take_them_again(api, organization, project, provider, browser):
    divers = api.made(f"Groups/{organization}", {"name": "Divers"})
    mappings = [
        {"group": "reef", "memberships": [{"project": project, "permission": "Can Edit"}], "groups": [divers]},
        {"group": "lead", "affiliation": "Admin", "memberships": [{"project": project, "permission": "Full Control"}]},
    ]
    number = register(api, organization, provider, mappings=mappings)
    provider.claims["groups"] = ["reef", "others"]
    browser.sign_in(number, provider)
    user = browser.user["id"]

    def given():
        levels = {each["user"]: each["permission"] for each in api.get(f"Memberships/{project}").json}
        places = {each["user"]: each["permission"] for each in api.get(f"Affiliations/{organization}").json}
        return levels.get(user), places[user], user in api.get(f"Group/{divers}").json["members"]

    assert given() == ("Can Edit", "Member", True)
    provider.claims["groups"] = ["lead"]
    Browser().sign_in(number, provider)
    assert given() == ("Full Control", "Admin", False)
    provider.claims["groups"] = []
    Browser().sign_in(number, provider)
    assert given() == (None, "Member", False)


def test_what_somebody_gave_by_hand_stays(api, organization, project, provider, browser):
    mappings = [{"group": "reef", "memberships": [{"project": project, "permission": "Can Edit"}]}]
    number = register(api, organization, provider, mappings=mappings)
    browser.sign_in(number, provider)
    user = browser.user["id"]
    api.made(f"Memberships/{project}", {"user": user, "permission": "View Only"})
    provider.claims["groups"] = ["reef"]
    Browser().sign_in(number, provider)
    provider.claims["groups"] = []
    Browser().sign_in(number, provider)
    assert {e["user"]: e["permission"] for e in api.get(f"Memberships/{project}").json}[user] == "View Only"


def test_only_mapped_or_invited_users_come_in_where_the_provider_says_so(api, organization, provider):
    mapped = register(api, organization, provider, admission="mapped", mappings=[{"group": "reef"}])
    assert Browser().sign_in(mapped, provider).status == 403
    provider.claims |= {"groups": ["reef"]}
    assert Browser().sign_in(mapped, provider).status == 303
    provider.claims = {"sub": "eve", "email": f"eve@{provider.domain}"}
    invited = register(api, organization, provider, admission="invited")
    assert Browser().sign_in(invited, provider).status == 403
    api.made(f"Invitations/{organization}", {"email": f"eve@{provider.domain}", "permission": "Admin"})
    eve = Browser()
    assert eve.sign_in(invited, provider).status == 303
    [place] = [e for e in api.get(f"Affiliations/{organization}").json if e["user"] == eve.user["id"]]
    assert place["permission"] == "Admin"


def key_of_session(browser) -> str:
    return key_of(next(value for name, value in browser.cookies.items() if "sign-in" not in name))


def end_of(browser) -> float:
    return CredentialRow.find(key_of_session(browser)).expires


def test_a_sign_in_ends_after_an_hour_unless_the_provider_confirms_it(registered, provider, browser):
    browser.sign_in(registered, provider)
    assert 3500 < end_of(browser) - time.time() <= 3600
    CredentialRow(key_of_session(browser)).update(
        actions=[CredentialRow.used.set("2020-01-01"), CredentialRow.expires.set(int(time.time()) + 60)]
    )
    assert browser.user
    assert end_of(browser) - time.time() <= 60, "a use does not prolong it"
    said = browser.ask("POST", "SessionRenewal")
    assert said.status == 200, said.body
    assert end_of(browser) - time.time() > 3500


def test_who_left_the_provider_is_out_with_all_tokens_at_the_next_renewal(registered, provider, browser):
    browser.sign_in(registered, provider)
    other = Browser()
    other.sign_in(registered, provider)
    script = Api(None, browser.ask("POST", "AccessTokens", {"name": "script"}).json["token"])
    assert script.get("User/GetCurrent").status == 200
    provider.refreshes.clear()
    assert browser.ask("POST", "SessionRenewal").status == 401
    for who in (browser, other):
        assert who.ask("GET", "User/GetCurrent").status == 401
    assert script.get("User/GetCurrent").status == 401


def test_scripts_of_a_user_end_with_the_last_confirmation_and_go_on_with_the_next(registered, provider, browser):
    browser.sign_in(registered, provider)
    user = browser.user["id"]
    script = Api(None, browser.ask("POST", "AccessTokens", {"name": "script"}).json["token"])
    records.edit(USER, user, lambda current: msgspec.structs.replace(current, confirmed_until=time.time() - 1))
    assert script.get("User/GetCurrent").status == 401
    Browser().sign_in(registered, provider)
    assert script.get("User/GetCurrent").status == 200


def test_two_tabs_that_renew_at_once_sign_nobody_out(registered, provider, browser, monkeypatch):
    browser.sign_in(registered, provider)
    [identity] = records.list_children(IDENTITY, browser.user["id"])

    def lose(*_):
        records.edit(IDENTITY, identity.id, lambda held: msgspec.structs.replace(held, renewed=held.renewed + 1))
        raise oidc.Ended("")

    monkeypatch.setattr(oidc, "refresh", lose)
    assert browser.ask("POST", "SessionRenewal").status == 200
    assert browser.user


def test_the_provider_signs_a_user_out_everywhere(registered, provider, browser):
    browser.sign_in(registered, provider)

    def send(**claims):
        usual = {"sub": "ada", "jti": "1", "events": {oidc.LOGOUT_EVENT: {}}}
        token = provider._sign({n: v for n, v in provider.usual(**{**usual, **claims}).items() if v is not None})
        body = f"logout_token={token}".encode()
        return Api(None, headers={"Content-Type": "application/x-www-form-urlencoded"}).ask(
            "POST", f"BackChannelLogout/{registered}", raw=body
        )

    assert send(nonce="x").status == 400, "an ID token signs nobody out"
    assert send(events={}).status == 400
    assert send(aud="another").status == 400
    assert send(sub="nobody").status == 200
    assert browser.user
    assert send().status == 200
    assert browser.ask("GET", "User/GetCurrent").status == 401


def test_users_of_a_domain_must_use_it_but_for_the_one_that_breaks_the_glass(api, organization, provider):
    hashed = passwords.hash_password("correct horse 7")
    ada, boss = (new_user(password_hash=hashed) for _ in range(2))
    for who, name in ((ada, "ada"), (boss, "boss")):
        records.edit(
            USER, who.user.id, lambda user, name=name: msgspec.structs.replace(user, email=f"{name}@{provider.domain}")
        )
    for who, level in ((ada, "Member"), (boss, "Admin")):
        api.made(f"Affiliations/{organization}", {"user": who.user.id, "permission": level})
    number = register(api, organization, provider)
    assert api.patch(f"IdentityProvider/{number}", {"domains": [provider.domain]}).status == 400, (
        "nobody breaks the glass"
    )
    change = {"domains": [provider.domain], "break_glass": [boss.user.id]}
    assert boss.patch(f"IdentityProvider/{number}", change).status == 403, "staff says whose a domain is"
    assert api.patch(f"IdentityProvider/{number}", change).status == 200

    def enter(who, password="correct horse 7"):
        return Api(None).post("Token", {"username": who.user.username, "password": password})

    said = enter(ada)
    assert said.status == 400
    assert "Sign in with Reef" in said.message
    assert "Reef" not in enter(ada, "wrong one 8").message
    assert enter(boss).status == 201
    offered = Api(None).get("SignInProviders", email=f"x@{provider.domain.upper()}").json
    assert offered == [{"id": number, "name": "Reef"}]
    assert Api(None).get("SignInProviders").json == []
    api.patch(f"IdentityProvider/{number}", {"is_listed": True})
    assert {"id": number, "name": "Reef"} in Api(None).get("SignInProviders").json


def test_a_user_of_the_provider_gets_in_by_no_reset_password(registered, provider, browser):
    browser.sign_in(registered, provider)
    user = browser.user["id"]
    hashed = passwords.hash_password("correct horse 7")
    records.edit(USER, user, lambda current: msgspec.structs.replace(current, password_hash=hashed))
    said = Api(None).post("Token", {"username": browser.user["username"], "password": "correct horse 7"})
    assert said.status == 400
    assert "Sign in with" in said.message


def test_the_secret_is_never_shown_and_stays_unless_it_is_named(api, registered, provider, organization):
    shown = api.get(f"IdentityProvider/{registered}")
    assert "s3cret" not in shown.body.decode()
    assert shown.json["has_secret"] is True
    assert shown.json["redirect_url"].endswith(f"/sign-in/{registered}")
    assert api.patch(f"IdentityProvider/{registered}", {"name": "Other"}).status == 200
    assert Browser().sign_in(registered, provider).status == 303
    assert api.patch(f"IdentityProvider/{registered}", {"client_secret": "wrong"}).status == 200
    assert Browser().sign_in(registered, provider).status == 403


def test_an_administrator_maps_groups_to_what_he_controls_alone(api, organization, project, provider):
    admin = new_user()
    api.made(f"Affiliations/{organization}", {"user": admin.user.id, "permission": "Admin"})
    mapping = {"group": "x", "memberships": [{"project": project, "permission": "Full Control"}]}
    said = admin.post(
        f"IdentityProviders/{organization}",
        {"name": "Mine", "issuer": provider.issuer, "client_id": "limn", "mappings": [mapping]},
    )
    assert said.status == 400
    assert "mappings[0].memberships[0].project" in said.message


@pytest.mark.parametrize(
    "issuer", ["http://reef.example", "https://127.0.0.1:1", "ftp://x.example", "https://u:p@x.example"]
)
def test_an_issuer_is_https_at_a_public_address(issuer, api, organization):
    body = {"name": "x", "issuer": issuer, "client_id": "limn"}
    assert api.post(f"IdentityProviders/{organization}", body).status == 400


def test_an_issuer_that_is_another_is_refused(api, organization, provider):
    provider.metadata = {"issuer": "https://evil.example"}
    body = {"name": "x", "issuer": provider.issuer, "client_id": "limn"}
    said = api.post(f"IdentityProviders/{organization}", body)
    assert said.status == 400
    assert "evil.example" in said.message


def test_a_removed_provider_ends_its_sign_ins(api, registered, provider, browser):
    browser.sign_in(registered, provider)
    assert api.delete(f"IdentityProvider/{registered}").status == 200
    assert browser.ask("GET", "User/GetCurrent").status == 401
    assert records.maybe(IDENTITY_PROVIDER, registered) is None
