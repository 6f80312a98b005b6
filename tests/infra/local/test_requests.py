"""Requests that are not quite HTTP, on both ports: each is answered, in the port's own form, and never with a 500."""

import json
import socket
import threading
import time

import pytest

from infra.emulator import requests as local_requests
from infra.emulator.s3.front import S3Front
from infra.local.http import gateway
from infra.local.http.gateway import Server
from infra.local.http.reply import Reply
from tests.service import GATEWAY

HEALTH = b"GET /rest/HealthCheck HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /rest/Token HTTP/1.1\r\nHost: x\r\n"
CASES = {
    "a length in superscript": (POST + "Content-Length: ²\r\n\r\n".encode(), 400),
    "a negative length": (POST + b"Content-Length: -1\r\n\r\n", 400),
    "a signed length": (POST + b"Content-Length: +5\r\n\r\nhello", 400),
    "a length in words": (POST + b"Content-Length: ten\r\n\r\n", 400),
    "two lengths": (POST + b"Content-Length: 2\r\nContent-Length: 5\r\n\r\n{}", 400),
    "a list of lengths": (POST + b"Content-Length: 2, 2\r\n\r\n{}", 400),
    "a length beside chunks": (POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "an unknown encoding": (POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400),
    "a disguised encoding": (POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400),
    "a header without a colon": (HEALTH + b"Nonsense\r\n\r\n", 400),
    "a space before the colon": (HEALTH + b"Content-Length : 2\r\n\r\n{}", 400),
    "a folded header": (HEALTH + b"X-A: b\r\n  c\r\n\r\n", 400),
    "a header with a control character": (HEALTH + b"X-A: b\x00c\r\n\r\n", 400),
    "a bare carriage return": (HEALTH + b"X-A: b\rContent-Length: 5\r\n\r\n", 400),
    "two hosts": (HEALTH + b"Host: y\r\n\r\n", 400),
    "no host": (b"GET /rest/HealthCheck HTTP/1.1\r\n\r\n", 400),
    "no version": (b"GET /rest/HealthCheck\r\n\r\n", 400),
    "another version": (b"GET /rest/HealthCheck HTTP/3.0\r\nHost: x\r\n\r\n", 400),
    "a path with a space": (b"GET /rest/Health Check HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    "a path that is not ASCII": ("GET /rest/Hälth HTTP/1.1\r\nHost: x\r\n\r\n".encode(), 400),
    "a path without a slash": (b"GET rest/HealthCheck HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    "an odd expectation": (POST + b"Expect: a-miracle\r\nContent-Length: 2\r\n\r\n{}", 400),
    "a request of noise": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
    "a head that ends early": (HEALTH + b"X-A: b", 400),
    "a large path": (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 431),
    "a large header": (HEALTH + b"X-A: " + b"a" * 70_000 + b"\r\n\r\n", 431),
    "many headers": (HEALTH + b"".join(b"X-%d: a\r\n" % n for n in range(150)) + b"\r\n", 431),
}
MEGABYTE = b"100000\r\n%b\r\n" % bytes(1048576)
API_CASES = {
    "a chunk without a size": (POST + b"Transfer-Encoding: chunked\r\n\r\nhello\r\n0\r\n\r\n", 400),
    "a chunk with a negative size": (POST + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n", 400),
    "a chunk with a huge size": (POST + b"Transfer-Encoding: chunked\r\n\r\nfffffffff\r\n", 400),
    "a chunk that is longer than it says": (POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n", 400),
    "a body that ends early": (POST + b"Content-Length: 50\r\n\r\n{}", 400),
    "chunks that end early": (POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhe", 400),
    "a body that is too large": (POST + b"Content-Length: 99999999999\r\n\r\n" + b"x" * 3_000_000, 413),
    "chunks that are too large": (POST + b"Transfer-Encoding: chunked\r\n\r\n" + MEGABYTE * 11, 413),
    "a bad IPv6 host in the path": (b"GET http://[::1/rest/HealthCheck HTTP/1.1\r\nHost: x\r\n\r\n", 200),
    "two slashes and a bad IPv6 host": (b"GET //[::1/rest/HealthCheck HTTP/1.1\r\nHost: x\r\n\r\n", 404),
    "a method that nothing has": (b"BREW /rest/HealthCheck HTTP/1.1\r\nHost: x\r\n\r\n", 405),
}  # fmt: skip


@pytest.fixture(scope="module")
def api():
    server = Server(GATEWAY, "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server.server_address
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def s3(aws):
    front = S3Front({"A": "B"})
    front.start()
    yield (front.host, front.port)
    front.stop()


def talk(address, sent):
    """All that a server answers to some bytes, after which the client sends no more."""
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while block := connection.recv(65536):
            received += block
    return received


def status_and_body(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), body


@pytest.mark.parametrize("case", CASES | API_CASES)
def test_the_api_says_in_json_what_is_wrong(api, case):
    sent, expected = (CASES | API_CASES)[case]
    status, body = status_and_body(talk(api, sent))
    assert status == expected
    if status != 200:
        assert set(json.loads(body)) >= {"message"}


@pytest.mark.parametrize("case", CASES)
def test_s3_says_in_xml_what_is_wrong(s3, case):
    sent, expected = CASES[case]
    status, body = status_and_body(talk(s3, sent))
    assert status == expected
    assert body.startswith(b"<?xml")
    assert b"<Message>" in body


def test_nothing_of_a_refused_request_is_taken_for_another(api):
    hidden = b"GET /rest/HealthCheck HTTP/1.1\r\nHost: x\r\n\r\n"
    length = b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % len(hidden)
    assert talk(api, POST + length + hidden).count(b"HTTP/1.1 ") == 1


def test_requests_may_follow_one_another_on_a_connection(api):
    chunked = (
        b"POST /rest/Nothing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\n{}\r\n0\r\nX: y\r\n\r\n"
    )
    answers = talk(api, HEALTH + b"\r\n" + chunked + HEALTH + b"\r\n")
    assert [int(part[:3]) for part in answers.split(b"HTTP/1.1 ")[1:]] == [200, 404, 200]


def test_a_client_that_waits_to_be_asked_for_its_body_is_asked(api):
    with socket.create_connection(api, timeout=20) as connection:
        connection.sendall(POST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        connection.sendall(b"{}")
        assert connection.recv(100).startswith(b"HTTP/1.1 4")


@pytest.mark.parametrize("sent", [b"GET /rest/Hea", HEALTH, POST + b"Content-Length: 9\r\n\r\n{}"])
def test_a_client_that_falls_silent_is_answered_and_hung_up_on(api, monkeypatch, sent):
    monkeypatch.setattr(local_requests, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(local_requests, "SILENT_SECONDS", 0.3)
    began = time.monotonic()
    with socket.create_connection(api, timeout=20) as connection:
        connection.sendall(sent)
        answer = b""
        while block := connection.recv(65536):
            answer += block
    assert status_and_body(answer)[0] == 408
    assert time.monotonic() - began < 15


def test_a_connection_without_a_request_is_closed_without_a_word(api, monkeypatch):
    monkeypatch.setattr(local_requests, "IDLE_SECONDS", 0.2)
    with socket.create_connection(api, timeout=20) as connection:
        assert connection.recv(100) == b""


@pytest.mark.slow
def test_a_request_that_takes_too_long_is_answered_with_504_and_its_later_answer_is_dropped(api, monkeypatch):
    answered = threading.Event()

    def wait(*_):
        answered.wait(30)
        return Reply(200, {}, b"late")

    monkeypatch.setattr(gateway, "SECONDS", 0.1)
    monkeypatch.setattr(GATEWAY, "ask", wait)
    try:
        received = talk(api, HEALTH + b"\r\n")
    finally:
        answered.set()
    assert status_and_body(received)[0] == 504
    assert b"late" not in received
    monkeypatch.undo()
    assert status_and_body(talk(api, HEALTH + b"\r\n"))[0] == 200
