"""The local stack's own pages: by which names they answer, and the headers of their answers."""

import threading

import pytest

from infra.local.http.gateway import Gateway, Server
from infra.local.http.reply import Reply
from tests.infra.test_requests import status_and_body, talk
from tests.service import GATEWAY

PAGE = "/outbox"
OWN = ("127.0.0.1", "127.0.0.1:8000", "LOCALHOST:8000", "localhost.", "limn.localhost", "[::1]:8000", "10.0.0.7")
FOREIGN = (
    "evil.example",
    "evil.example:8000",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil-localhost",
    "127.0.0.1@evil.example",
    "127.0.0.1:8000@evil.example",
    "127.0.0.1/evil.example",
    "[::1]evil.example",
    "2130706433",
    "",
)


@pytest.fixture(scope="module")
def stack():
    made = Gateway(GATEWAY._app)
    made.page(PAGE, lambda *_: Reply(200, {"Content-Type": "text/html"}, b"a secret"))
    server = Server(made, "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server.server_address
    server.shutdown()
    server.server_close()
    thread.join()


def ask(address, host, target=PAGE):
    return talk(address, f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())


@pytest.mark.parametrize("target", [PAGE, f"{PAGE}?format=json", f"{PAGE}#x", f"http://127.0.0.1{PAGE}"])
@pytest.mark.parametrize("host", FOREIGN)
def test_a_site_that_resolves_to_this_machine_reads_none_of_its_pages(stack, host, target):
    status, body = status_and_body(ask(stack, host, target))
    assert status == 403
    assert b"a secret" not in body


@pytest.mark.parametrize("host", OWN)
def test_addresses_and_names_of_this_machine_get_its_pages(stack, host):
    assert status_and_body(ask(stack, host)) == (200, b"a secret")


def test_pages_of_the_local_stack_are_neither_kept_nor_guessed_nor_framed(stack):
    head = ask(stack, "127.0.0.1").partition(b"\r\n\r\n")[0].decode().split("\r\n")
    assert {"Cache-Control: no-store", "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY"} <= set(head)
