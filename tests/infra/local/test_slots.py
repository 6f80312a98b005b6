"""The slots of the local gateway: a request that was answered 504 holds none, and a tenant holds a quarter at most."""

from __future__ import annotations

import threading
from contextlib import ExitStack

import pytest
import requests

from infra.local import tenants
from infra.local.http import gateway
from infra.local.http.gateway import Server
from infra.local.http.slots import Slots, SlotTimeout
from tests.service import GATEWAY, Api, new_user

WAIT = 0.05


@pytest.fixture
def slots():
    return Slots(8, 2)


def test_a_tenant_holds_no_more_than_its_share(slots):
    with slots.turn("a", WAIT), slots.turn("a", WAIT):
        with pytest.raises(SlotTimeout), slots.turn("a", WAIT):
            pass
        with slots.turn("b", WAIT), slots.turn(None, WAIT), slots.turn(None, WAIT), slots.turn(None, WAIT):
            pass
    with slots.turn("a", WAIT):
        pass


def test_a_slot_that_is_given_back_serves_others_but_counts_for_its_tenant(slots):
    with ExitStack() as stack:
        held = [stack.enter_context(slots.turn(tenant, WAIT)) for tenant in "aabbccdd"]
        with pytest.raises(SlotTimeout), slots.turn("e", WAIT):
            pass
        for turn in held[:2] * 2:
            turn.give_back()
        with slots.turn("e", WAIT), slots.turn("e", WAIT), pytest.raises(SlotTimeout), slots.turn("f", WAIT):
            pass
        with pytest.raises(SlotTimeout), slots.turn("a", WAIT):
            pass
    with slots.turn("a", WAIT), slots.turn("a", WAIT):
        pass
    slots.take_all(WAIT)
    assert not slots.free.acquire(blocking=False)


def test_a_turn_that_was_given_back_while_it_waited_takes_no_slot(slots):
    turn = slots.turn("a", WAIT)
    turn.give_back()
    with pytest.raises(SlotTimeout), turn:
        pass
    with slots.turn("a", WAIT), slots.turn("a", WAIT):
        pass


def test_the_tenant_of_a_token_is_an_organization_and_that_of_others_nobody(api, organization, member):
    assert tenants.tenant_of(f"Token {api.token}") == ("organization", organization)
    assert tenants.tenant_of(f"Token {new_user().token}")[0] == "user"
    assert {tenants.tenant_of(text) for text in (None, "", "Token x", "Basic \x00")} == {"nobody"}


def test_tokens_with_limits_and_guests_count_for_the_organization(api, organization, project):
    section = api.made(f"Sections/{project}", {"name": "shown", "path": "shown"})
    link = api.post(f"ShareLinks/{project}", {"section": section}).json["url"]
    guest = Api(None).post("Guest", {"token": link.rpartition("/")[2]}).json["token"]
    limits = [{"projects": [project]}, {"networks": ["192.0.2.0/24"]}, {"operations": ["read"]}]
    tokens = [api.post("AccessTokens", {"name": "t", **each}).json["token"] for each in limits]
    assert {tenants.tenant_of(f"Token {each}") for each in (*tokens, guest)} == {("organization", organization)}


def test_a_browser_that_is_signed_in_by_cookie_counts_for_its_organization(api, monkeypatch):
    told = []
    monkeypatch.setattr(GATEWAY, "tenant_of", told.append)
    server = Server(GATEWAY, "127.0.0.1", 0)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        headers = {"Limn-Session": "1", "Cookie": f"limn-8000={api.token}"}
        url = "http://{}:{}/rest/User/GetCurrent".format(*server.server_address[:2])
        assert requests.get(url, headers=headers, timeout=20).status_code == 200
    finally:
        server.shutdown()
        server.server_close()
    assert told == [f"Token {api.token}"]


def test_slow_requests_of_one_tenant_leave_room_and_those_answered_504_hold_no_slot(monkeypatch):
    going_on, app = threading.Event(), GATEWAY._app

    class App:
        routes = app.routes

        def __call__(self, event, context):
            if "slow" in (event["queryStringParameters"] or {}):
                going_on.wait(20)
            return app(event, context)

    monkeypatch.setattr(GATEWAY, "_app", App())
    monkeypatch.setattr(GATEWAY, "slots", Slots(4, 1))
    monkeypatch.setattr(GATEWAY, "tenant_of", lambda authorization: authorization)
    monkeypatch.setattr(gateway, "SECONDS", 0.5)
    server = Server(GATEWAY, "127.0.0.1", 0)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    url = "http://{}:{}/rest/HealthCheck".format(*server.server_address[:2])
    found = []

    def ask(tenant: str, query: str = "") -> int:
        # a token that nobody has is refused, which is an answer
        status = requests.get(url + query, headers={"Authorization": tenant}, timeout=20).status_code
        return 200 if status == 401 else status

    def ask_slowly(tenant: str) -> None:
        found.append(ask(tenant, "?slow=1"))

    try:
        threads = [threading.Thread(target=ask_slowly, args=(tenant,)) for tenant in "aabcd"]
        for thread in threads[:2]:
            thread.start()
        assert ask("b") == 200
        for thread in threads[2:]:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [504] * 5
        # the work of four goes on
        assert ask("e") == 200
        assert ask("a") == 504
    finally:
        going_on.set()
        server.shutdown()
        server.server_close()
