"""Answers too large for a function reach clients of every generation, as their HTTP libraries behave.

The older, generated ones say `Accept-Encoding: identity`, unzip unasked, and carry their token along to where a
redirect leads, since they clear urllib3's `remove_headers_on_redirect`. S3 refuses that; the store of answers does not.
`test_client_generations.py` asks the clients themselves, by night.
"""

from __future__ import annotations

import json
import threading
from urllib.parse import urlsplit

import pytest
import urllib3

from chalicelib.settings import override
from chalicelib.storage.objects import objects
from infra.local.http.gateway import Server
from tests.service import GATEWAY

SUMMARY = "x" * 1000


@pytest.fixture
def port():
    server = Server(GATEWAY, "127.0.0.1", 0)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


@pytest.fixture
def small(port):
    """An API whose answers may have 3,000 bytes, and whose stored ones lie on its own port."""
    with override(largest_answer=4_000, answers_url=f"http://127.0.0.1:{port}"):
        yield f"http://127.0.0.1:{port}/rest"


@pytest.fixture
def owner(api, project):
    for number in range(8):
        api.made(f"Versions/{project}", {"name": f"v{number}", "description": SUMMARY})
    return api, project


def generated_client():
    """urllib3 as the clients from 0.10 to 1.6 set it up."""
    retries = urllib3.util.Retry(
        total=None, redirect=10, raise_on_redirect=False, remove_headers_on_redirect=frozenset()
    )
    return urllib3.PoolManager(retries=retries)


def ask(base, owner, **headers):
    user, project = owner
    url = f"{base}/Versions/{project}"
    return generated_client().request("GET", url, headers={"Authorization": f"Token {user.token}", **headers})


def test_text_that_would_not_fit_is_zipped_for_clients_that_say_identity(small, owner):
    said = ask(small, owner)  # http.client adds `Accept-Encoding: identity`
    assert (said.status, said.headers["Content-Encoding"], len(said.retries.history)) == (200, "gzip", 0)
    assert len(json.loads(said.data)) == 9


def test_what_fits_is_plain_for_them(owner, port):
    said = ask(f"http://127.0.0.1:{port}/rest", owner)
    assert (said.status, "Content-Encoding" in said.headers) == (200, False)


def test_a_stored_answer_is_handed_out_to_a_client_that_carries_its_token_along(small, owner):
    said = ask(small, owner, **{"Accept-Encoding": "identity, gzip;q=0"})
    assert said.status == 200
    assert [each.status for each in said.retries.history] == [303]
    assert len(json.loads(said.data)) == 9


def test_a_stored_answer_ends_when_its_address_says(move_clock):
    path = urlsplit(objects.put_answer(b"x", "text/plain", None, 600)).path
    assert GATEWAY.ask("GET", path, {}).body == b"x"
    assert GATEWAY.ask("GET", path.replace("/answers/", "/answers/9"), {}).status == 403  # another end, another address
    assert GATEWAY.ask("PUT", path, {}).status == 403
    move_clock(601)
    assert GATEWAY.ask("GET", path, {}).status == 403


def test_a_stored_answer_runs_nothing_though_it_has_the_origin_of_the_api():
    said = GATEWAY.ask("GET", urlsplit(objects.put_answer(b"<svg/>", "image/svg+xml", None, 600)).path, {})
    assert said.headers["Content-Type"] == "image/svg+xml"
    assert "sandbox" in said.headers["Content-Security-Policy"]
    assert (said.headers["X-Content-Type-Options"], said.headers["Referrer-Policy"]) == ("nosniff", "no-referrer")
