"""Outgoing connections: one function makes them, with a deadline, a bound on the answer, and a check of the address."""

from __future__ import annotations

import ast
import itertools
import re
import socket
import threading
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from unittest.mock import Mock, patch

import msgspec
import pytest
import urllib3

import chalicelib
from chalicelib.access.scope import UNRESTRICTED
from chalicelib.core.keys import object_keys
from chalicelib.core.models.integrations import JobCluster
from chalicelib.core.time.deadline import time_limit
from chalicelib.core.web import origins
from chalicelib.errors import Forbidden, LimnError, Unavailable
from chalicelib.resources.annotators import service as annotators_service
from chalicelib.resources.annotators.schemas import Annotator
from chalicelib.resources.identity_providers import oidc
from chalicelib.resources.jobs.engines import kubernetes
from chalicelib.resources.uploads import fetching
from chalicelib.resources.webhooks import sender
from chalicelib.settings import override
from chalicelib.storage import outbound, sealing
from chalicelib.storage.objects import s3
from chalicelib.storage.objects.gcs import GcsStore
from tests.storage.gcs_server import CONFIG

ROOT = Path(chalicelib.__file__).parents[1]
S3_CONFIG = {"region_name": "us-east-1", "aws_access_key_id": "a", "aws_secret_access_key": "b"}
HEAD = b'HTTP/1.1 %s\r\nContent-Type: application/xml\r\nETag: "1"\r\n'


class Server:
    """A server that answers every request in the way that its name says; `sent` counts the bytes of bodies."""

    def __init__(self, way: str) -> None:
        self.way, self.sent, self.asked = way, 0, 0
        self._is_open = True
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._is_open = False
        self._socket.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=self._answer, args=(self._socket.accept()[0],), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.recv(65536)
            self.asked += 1
            if self.way == "silent":
                time.sleep(20)
            elif self.way == "later":
                connection.sendall(HEAD % b"503 Slow" + b"Retry-After: 3600\r\nContent-Length: 0\r\n\r\n")
            else:
                status = b"500 No" if self.way.startswith("endless errors") else b"200 OK"
                length = (
                    b"Transfer-Encoding: chunked\r\n\r\n-1" if "chunk" in self.way else b"Content-Length: 400000000\r\n"
                )
                connection.sendall(HEAD % status + length + b"\r\n")
                block = b"<" if self.way == "drips" else b"x" * 65536
                while self._is_open:
                    connection.sendall(block)
                    self.sent += len(block)
                    if self.way == "drips":
                        time.sleep(0.05)


@pytest.fixture
def server():
    opened, stack = [], ExitStack()

    def start(way: str) -> Server:
        opened.append(stack.enter_context(closing(Server(way))))
        stack.enter_context(override(store_origins=[opened[-1].url], gcs_endpoint=opened[-1].url))
        return opened[-1]

    with stack:
        yield start


def store_at(url: str, kind: str):
    """The store of a bucket that a tenant registered."""
    return (
        s3.from_registration("b", {**S3_CONFIG, "endpoint_url": url}, None) if kind == "s3" else GcsStore("b", CONFIG)
    )


CALLS = {
    "head": lambda store: store.head(object_keys.trial_key()),
    "range": lambda store: store.read_range(object_keys.trial_key(), 0, 100, None),
    "listing": lambda store: store.page("", "", 10),
    "write": lambda store: store.write(object_keys.trial_key(), b"x", "text/plain"),
    "removal": lambda store: store.remove([object_keys.trial_key()]),
}


@pytest.mark.parametrize("kind", ["s3", "gcs"])
@pytest.mark.parametrize("way", ["silent", "drips", "later"])
def test_a_store_of_a_tenant_takes_no_longer_than_the_request_has(server, kind, way):
    store = store_at(server(way).url, kind)
    for call in ("range", "listing"):
        began = time.monotonic()
        with time_limit(0.2), pytest.raises(LimnError):
            CALLS[call](store)
        assert time.monotonic() - began < 2.0, call


@pytest.mark.parametrize("kind", ["s3", "gcs"])
@pytest.mark.parametrize("way", ["endless errors", pytest.param("endless answers", marks=pytest.mark.slow)])
def test_of_what_a_store_of_a_tenant_sends_no_more_is_read_than_was_asked_for(server, kind, way):
    there = server(way)
    store = store_at(there.url, kind)
    for name, call in CALLS.items():
        there.sent = 0
        with time_limit(0.2), suppress(LimnError):
            call(store)
        # what stands in the buffers of sockets counts as sent, for each attempt
        assert there.sent < 30_000_000, name


def test_an_error_of_a_server_is_read_up_to_a_bound(server):
    there = server("endless errors")
    answer = outbound.ask(origins.take_apart(there.url), "GET", seconds=5, most=10**9, headers={}, is_inside=True)
    assert (answer.status, len(answer.body)) == (500, outbound.LARGEST_ERROR)


def test_an_answer_beyond_its_bound_is_an_error(server):
    there = server("endless answers")
    with pytest.raises(outbound.TooMuchError):
        outbound.ask(origins.take_apart(there.url), "GET", seconds=5, most=1000, headers={}, is_inside=True)
    assert there.sent < 20_000_000


@pytest.mark.parametrize("way", ["endless answers in a chunk", "endless errors in a chunk"])
def test_a_chunk_of_less_than_no_bytes_is_not_read_to_its_end(server, way):
    there = server(way)
    with suppress(OSError, urllib3.exceptions.HTTPError):
        outbound.ask(origins.take_apart(there.url), "GET", seconds=1, most=1000, headers={}, is_inside=True)
    assert there.sent < 20_000_000


def test_nothing_is_sent_without_a_deadline():
    with pytest.raises(AssertionError, match="at_most"):
        outbound.send(origins.take_apart("https://example.org"), "GET", most=1, headers={}, timeout=urllib3.Timeout(1))


def test_a_name_server_that_is_silent_holds_no_request(monkeypatch):
    monkeypatch.setattr(outbound, "RESOLVE_SECONDS", 0.1)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(1))
    began = time.monotonic()
    with pytest.raises(outbound.NoAddressError):
        outbound.resolve(origins.take_apart("https://slow.example.org"), is_inside=False)
    assert time.monotonic() - began < 0.8


def test_a_name_that_resolves_elsewhere_each_time_reaches_only_addresses_that_were_judged(monkeypatch, hosts):
    """A resolver of the attacker's: public when it is asked first, inside when it is asked again."""
    hosts["rebound.example.org"] = itertools.cycle(
        ["93.184.216.34", "169.254.169.254", "127.0.0.1", "::1", "10.0.0.1", "100.64.0.1"]
    )
    connected = []

    def connect(address, *_, **__):
        connected.append(address[0])
        raise OSError("no network here")

    monkeypatch.setattr("urllib3.util.connection.create_connection", connect)
    for _ in range(12):
        with pytest.raises((Forbidden, urllib3.exceptions.HTTPError)):
            outbound.ask(origins.take_apart("https://rebound.example.org"), "GET", seconds=2, most=1, headers={})
    assert set(connected) == {"93.184.216.34"}


def _annotator() -> None:
    there = Annotator(id=1, project=1, name="a", url="https://rebound.example.org/m", type=1, kind="detector")
    annotators_service.ask(there, {}, most=100)


def _cluster() -> None:
    sealed = sealing.seal(msgspec.json.encode({"token": "t", "cert": ""}), kubernetes.PURPOSE)
    there = JobCluster(id=1, organization=1, name="c", host="rebound.example.org", port=443, sealed=sealed)
    with patch.object(kubernetes, "_context", lambda _: None):
        kubernetes.Cluster(there).statuses([Mock(run=Mock(namespace="n", uid="u"))], time.monotonic() + 5)


REBINDING = {
    "annotator": _annotator,
    "identity provider": lambda: oidc._fetch("https://rebound.example.org/.well-known/openid-configuration"),
    "template or file": lambda: fetching.fetch("https://rebound.example.org/t.yaml", 1, 100, UNRESTRICTED),
    "webhook": lambda: sender.post("https://rebound.example.org/hook", ["whsec_AAAA"], "1", b"{}"),
    "S3": lambda: store_at("https://rebound.example.org", "s3").head(object_keys.trial_key()),
    "GCS": lambda: store_at("", "gcs").head(object_keys.trial_key()),
    "job cluster": _cluster,
}
"""What asks a server that a user named, by the kind of its URL."""


@pytest.mark.parametrize("kind", REBINDING)
def test_each_kind_of_url_is_judged_anew_with_each_connection(monkeypatch, hosts, kind):
    lies = itertools.cycle(["93.184.216.34", "169.254.169.254", "127.0.0.1", "10.0.0.1"])
    hosts |= dict.fromkeys(("rebound.example.org", "storage.googleapis.com"), lies)
    connected = []

    def connect(address, *_, **__):
        connected.append(address[0])
        raise OSError("no network here")

    monkeypatch.setattr("urllib3.util.connection.create_connection", connect)
    with override(allowed_origins=["https://rebound.example.org"], gcs_endpoint="https://storage.googleapis.com"):
        for _ in range(8):
            with suppress(LimnError, kubernetes.EngineUnavailable):
                REBINDING[kind]()
    assert set(connected) == {"93.184.216.34"}


def test_a_request_without_time_sends_nothing_to_a_store(server):
    there = server("silent")
    store = store_at(there.url, "s3")
    with time_limit(-1), pytest.raises(Unavailable, match="object store"):
        store.head(object_keys.trial_key())
    assert there.asked == 0


AWS = "a client for AWS itself, whose servers no tenant names"
MADE_ELSEWHERE = {
    "chalicelib/queues/sending.py": AWS,
    "chalicelib/storage/sealing.py": AWS,
    "chalicelib/storage/signing.py": AWS,
    "chalicelib/storage/objects/external_buckets.py": AWS,
    "chalicelib/storage/objects/s3.py": AWS + "; those of tenants send by `_send_checked`",
    "chalicelib/resources/email/service.py": AWS,
    "chalicelib/resources/webhooks/bus.py": AWS,
    "chalicelib/resources/jobs/engines/batch_calls.py": AWS,
    "functions/worker.py": AWS,
    "chalicelib/resources/annotators/run.py": "the script of a job's container, which talks to the API",
    "chalicelib/storage/outbound.py": "the function itself",
    "chalicelib/video/process/isolation.py": "pairs of sockets with child processes",
    "chalicelib/video/process/fork_server.py": "pairs of sockets with child processes",
}
"""Modules that make sockets, sessions or clients, and why."""
MAKERS = frozenset(
    {"socket", "socketpair", "create_connection", "create_server", "client", "resource", "Session", "session"}
    | {"PoolManager", "ProxyManager", "HTTPConnectionPool", "HTTPSConnectionPool", "connection_from_url", "urlopen"}
    | {"HTTPConnection", "HTTPSConnection", "open_connection", "create_connection"}
)

LIBRARIES = frozenset(
    {"socket", "http", "urllib", "urllib3", "boto3", "botocore", "requests", "httpx", "aiohttp", "smtplib", "ftplib"}
    | {"ssl", "asyncio", "telnetlib", "imaplib", "poplib", "xmlrpc"}
)

IMPORT = re.compile(rf"^\s*(?:import|from) (?:{'|'.join(LIBRARIES)})\b", re.MULTILINE)


def makers_of(tree: ast.AST) -> set[str]:
    """The calls of a module that make a socket, a session or a client of a library for networks."""
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {(each.asname or each.name.partition(".")[0]): each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported |= {(each.asname or each.name): f"{node.module}.{each.name}" for each in node.names}
    found = set()
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        bases = node.bases if isinstance(node, ast.ClassDef) else []
        for each in (called, *bases):
            text = ast.unparse(each) if isinstance(each, ast.Name | ast.Attribute) else ""
            first, _, rest = text.partition(".")
            whole = f"{imported.get(first, '')}.{rest}".strip(".") if first in imported else ""
            if whole.partition(".")[0] in LIBRARIES and whole.rpartition(".")[2] in MAKERS:
                found.add(whole)
    return found


def test_no_socket_session_or_client_is_made_elsewhere():
    files = [ROOT / "app.py", *(ROOT / "chalicelib").rglob("*.py"), *(ROOT / "functions").rglob("*.py")]
    texts = {str(file.relative_to(ROOT)): file.read_text() for file in files}
    made = {name: makers_of(ast.parse(text)) for name, text in texts.items() if IMPORT.search(text)}
    elsewhere = {name: found for name, found in made.items() if found}
    assert elsewhere.keys() == MADE_ELSEWHERE.keys(), elsewhere


def test_the_list_of_makers_notices_one():
    text = "import socket\nimport requests as r\nsocket.create_connection(('a', 1))\n"
    assert makers_of(ast.parse(text + "r.Session()")) == {"socket.create_connection", "requests.Session"}
