"""Clients on the same machine get answers uncompressed; others, and those behind a proxy, what they asked for."""

from __future__ import annotations

import gzip
import http.client
import threading

import pytest

from infra.local.http.gateway import Server, uncompressed
from tests.service import GATEWAY

ZIPPED = {"Host": "x", "Accept-Encoding": "gzip, deflate"}


@pytest.mark.parametrize("client", ["127.0.0.1", "::1"])
def test_a_client_on_this_machine_is_answered_as_if_it_wanted_no_compression(client):
    assert uncompressed(ZIPPED, client) == {"Host": "x", "Accept-Encoding": "identity"}
    assert uncompressed({"accept-encoding": "*"}, client) == {"accept-encoding": "identity"}


@pytest.mark.parametrize(
    ("headers", "client"),
    [
        (ZIPPED, "192.0.2.1"),
        (ZIPPED | {"X-Forwarded-For": "192.0.2.1"}, "127.0.0.1"),
        (ZIPPED | {"via": "1.1 proxy"}, "127.0.0.1"),
        ({"Host": "x"}, "127.0.0.1"),
        ({"Accept-Encoding": "identity"}, "127.0.0.1"),
        ({"Accept-Encoding": "br, gzip;q=0"}, "127.0.0.1"),  # it must not get what it refuses, however large
    ],
)
def test_all_others_are_asked_as_they_asked(headers, client):
    assert uncompressed(headers, client) is headers


@pytest.mark.slow
def test_both_get_the_same_bytes_over_http():
    server = Server(GATEWAY, "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        answers = []
        for more in ({}, {"X-Forwarded-For": "192.0.2.1"}):
            connection = http.client.HTTPConnection(*server.server_address, timeout=60)
            connection.request("GET", "/schema?format=json", headers={"Accept-Encoding": "gzip", **more})
            said = connection.getresponse()
            answers.append((said.status, said.headers["Content-Encoding"], said.read()))
            connection.close()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    (status, encoding, plain), (_, other, packed) = answers
    assert (status, encoding, other) == (200, None, "gzip")
    assert gzip.decompress(packed) == plain
