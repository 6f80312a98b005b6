"""The local stack's own pages: by which names they answer, and the headers of their answers."""

import threading
from contextlib import contextmanager

import pytest

from infra.local import service
from infra.local.http import peers
from infra.local.http.gateway import Gateway, Server
from infra.local.http.reply import Reply
from tests.infra.local.test_requests import status_and_body, talk
from tests.service import GATEWAY, new_user

PAGE = "/outbox"
OWN = ("127.0.0.1", "127.0.0.1:8000", "LOCALHOST:8000", "localhost.", "limn.localhost", "[::1]:8000", "127.0.0.7")
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


@contextmanager
def serving(client=None, *, for_operators=False):
    """A stack with a page; with `client` all requests come from this network address."""
    made = Gateway(GATEWAY._app)
    made.pages_are_for_operators = for_operators
    made.is_operator = service._is_operator
    made.page(PAGE, lambda *_: Reply(200, {"Content-Type": "text/html"}, b"a secret"))
    server = Server(made, "127.0.0.1", 0)
    if client is not None:

        class Far(server.RequestHandlerClass):
            def setup(self):
                self.client_address = (client, 4711)
                super().setup()

        server.RequestHandlerClass = Far
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.server_address
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def stack():
    with serving() as address:
        yield address


def ask(address, host, target=PAGE, version="1.1", **more):
    lines = [f"GET {target} HTTP/{version}", f"Host: {host}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
    return talk(address, "\r\n".join([*lines, "", ""]).encode())


@pytest.mark.parametrize("target", [PAGE, f"{PAGE}?format=json", f"{PAGE}#x", f"http://127.0.0.1{PAGE}"])
@pytest.mark.parametrize("host", FOREIGN)
def test_a_site_that_resolves_to_this_machine_reads_none_of_its_pages(stack, host, target):
    status, body = status_and_body(ask(stack, host, target))
    assert status == 403
    assert b"a secret" not in body


@pytest.mark.parametrize("host", OWN)
def test_addresses_and_names_of_this_machine_get_its_pages(stack, host):
    assert status_and_body(ask(stack, host)) == (200, b"a secret")


class TestFromAnotherMachine:
    @pytest.mark.parametrize("client", ["192.0.2.7", "10.0.0.3", "2001:db8::1", "::ffff:192.0.2.7", "fe80::1%eth0"])
    def test_pages_are_refused(self, client):
        with serving(client) as address:
            for target in (PAGE, f"{PAGE}?format=json"):
                status, body = status_and_body(ask(address, "127.0.0.1", target))
                assert (status, b"a secret" in body, b"From another machine" in body) == (403, False, True)

    def test_they_answer_the_token_of_an_administrator_and_no_other(self):
        with serving("192.0.2.7") as address:
            for token in (new_user().token, "0" * 40, ""):
                assert status_and_body(ask(address, "127.0.0.1", Authorization=f"Token {token}"))[0] == 403
            token = new_user(is_staff=True).token
            assert status_and_body(ask(address, "127.0.0.1", authorization=f"Token {token}"))[0] == 200

    @pytest.mark.parametrize("header", ["X_Forwarded_For", "forwarded", "VIA", "X_Real_IP"])
    def test_a_proxy_on_this_machine_that_names_itself_is_another_machine(self, stack, header):
        assert status_and_body(ask(stack, "127.0.0.1", **{header: "127.0.0.1"}))[0] == 403

    @pytest.mark.parametrize("host", ["10.0.0.7", "203.0.113.5:8000", "[2001:db8::1]"])
    def test_a_proxy_on_this_machine_that_passes_the_address_it_was_asked_at_is_another_machine(self, stack, host):
        assert status_and_body(ask(stack, host))[0] == 403
        token = new_user(is_staff=True).token
        assert status_and_body(ask(stack, host, authorization=f"Token {token}"))[0] == 200

    def test_a_proxy_on_this_machine_that_speaks_an_older_protocol_is_another_machine(self, stack):
        assert status_and_body(ask(stack, "127.0.0.1", version="1.0"))[0] == 403

    def test_pages_for_operators_ask_this_machine_for_a_token_too(self):
        with serving(for_operators=True) as address:
            assert status_and_body(ask(address, "127.0.0.1"))[0] == 403
            token = new_user(is_staff=True).token
            assert status_and_body(ask(address, "127.0.0.1", authorization=f"Token {token}"))[0] == 200

    @pytest.mark.parametrize("client", ["127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1"])
    def test_loopback_is_this_machine_however_it_is_written(self, client):
        assert peers.is_here(client, "192.0.2.1", {})
        assert peers.is_here("192.0.2.1", "192.0.2.1", {})
        assert not peers.is_here("nonsense", "192.0.2.1", {})


def test_pages_of_the_local_stack_are_neither_kept_nor_guessed_nor_framed(stack):
    head = ask(stack, "127.0.0.1").partition(b"\r\n\r\n")[0].decode().split("\r\n")
    assert {"Cache-Control: no-store", "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY"} <= set(head)
