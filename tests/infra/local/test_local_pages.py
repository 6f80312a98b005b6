"""The local stack's own pages: who gets them, and the headers of their answers."""

import threading
from contextlib import contextmanager

import pytest

from infra.emulator import peers
from infra.local import service
from infra.local.http.gateway import Gateway, Server
from infra.local.http.reply import Reply
from tests.infra.local.test_requests import status_and_body, talk
from tests.service import GATEWAY, new_user

PAGE = "/outbox"
TARGETS = (
    PAGE,
    f"{PAGE}?format=json",
    f"{PAGE}?key=",
    f"{PAGE}?key=wrong",
    f"{PAGE}?key=%C3%A9",
    f"{PAGE}?key=wrong&key={{key}}",
    f"{PAGE}#key={{key}}",
    f"{PAGE}#?key={{key}}",
    f"http://127.0.0.1{PAGE}",
)


@contextmanager
def serving():
    """A stack with a page: its address and the key of the page."""
    made = Gateway(GATEWAY._app)
    made.is_operator = service._is_operator
    made.page(PAGE, lambda *_: Reply(200, {"Content-Type": "text/html"}, b"a secret"))
    server = Server(made, "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.server_address, made.page_key
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def stack():
    with serving() as found:
        yield found


def ask(address, target=PAGE, **more):
    lines = [f"GET {target} HTTP/1.1", "Host: 127.0.0.1", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in more.items()]
    return talk(address, "\r\n".join([*lines, "", ""]).encode())


@pytest.mark.parametrize("target", TARGETS)
def test_pages_are_refused_without_their_key(stack, target):
    address, key = stack
    status, body = status_and_body(ask(address, target.format(key=key)))
    assert status == 403
    assert b"a secret" not in body
    assert b"outbox_url" in body


def test_pages_answer_their_key(stack):
    address, key = stack
    for target in (f"{PAGE}?key={key}", f"{PAGE}?format=json&key={key}", f"{PAGE}?key={key}#x"):
        assert status_and_body(ask(address, target)) == (200, b"a secret")


def test_pages_answer_the_token_of_an_administrator_and_no_other(stack):
    address, _ = stack
    for token in (new_user().token, "0" * 40, ""):
        assert status_and_body(ask(address, Authorization=f"Token {token}"))[0] == 403
    token = new_user(is_staff=True).token
    assert status_and_body(ask(address, authorization=f"Token {token}"))[0] == 200


def test_each_start_has_another_key():
    with serving() as (_, first), serving() as (address, second):
        assert first != second
        assert status_and_body(ask(address, f"{PAGE}?key={first}"))[0] == 403


@pytest.mark.parametrize("client", ["127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1"])
def test_loopback_is_this_machine_however_it_is_written(client):
    assert peers.is_loopback(client)
    assert not peers.is_loopback("nonsense")


def test_pages_of_the_local_stack_are_neither_kept_nor_guessed_nor_framed(stack):
    address, key = stack
    head = ask(address, f"{PAGE}?key={key}").partition(b"\r\n\r\n")[0].decode().split("\r\n")
    assert {"Cache-Control: no-store", "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY"} <= set(head)
    assert "Referrer-Policy: no-referrer" in head
