"""What a service that means harm can do to the machine of a client: nothing outside of the folder that it was given."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import threading
import zipfile
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from rich.console import Console

from infra.client import client as clients
from infra.client import connections, exchange
from infra.client.agents.tools import Tools
from infra.client.cli import datasets
from infra.client.cli.output import Output
from infra.client.configuration import Profile
from infra.client.failures import Failure
from infra.client.mirrors.folder import Folder
from infra.client.mirrors.mirror import Mirror
from infra.client.training.samples import samples_of

PARTS = ("project", "kind", "id")
HOME = "https://limn.example.org"
STORE = "https://store.example.org"


@pytest.fixture
def hostile():
    """A client of a service that answers as a function says; `asked` are its requests."""
    made = []

    def start(answer):
        client = clients.Client(Profile(HOME, "secret"))
        client.asked = []

        def handle(request):
            client.asked.append(request)
            return answer(request)

        client._web.close()
        client._web = connections.opened(1, HOME, httpx.MockTransport(handle))
        made.append(client)
        return client

    yield start
    for client in made:
        client.close()


@pytest.mark.parametrize("number", ["/../../evil", "../../evil", "/tmp/evil", None, 1.5])
def test_a_mirror_writes_no_file_outside_of_its_folder(hostile, tmp_path, number):
    entry = {"path": f"{STORE}/a", "resolution": [1, 1]}
    row = {"id": number, "name": "profile", "media_files": {"image": [entry]}}

    def answer(request):
        if request.url.host == "store.example.org":
            return httpx.Response(200, content=b"harm")
        return httpx.Response(200, json=row if "/Media/" in request.url.path else [row])

    folder = tmp_path / "a" / "mirror"
    with pytest.raises(Failure, match="not a number"):
        Mirror(hostile(answer), 1, Folder(folder)).run()
    found = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.name for path in found] == [".limn-mirror.sqlite"]


def test_media_of_an_archive_of_samples_are_numbers():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("media.jsonl", json.dumps({"key": "a", "id": "../a"}))
        archive.writestr("localizations.jsonl", json.dumps({"media": "a", "frame": 0}))
    with zipfile.ZipFile(out) as archive, pytest.raises(ValueError, match=r"\.\./a"):
        list(samples_of(archive))


def test_a_list_that_repeats_its_pages_ends(hostile):
    page = [{"id": number} for number in range(1, 5001)]
    client = hostile(lambda _: httpx.Response(200, json=page if len(client.asked) < 4 else []))
    with pytest.raises(Failure, match="repeats a page"):
        list(client.project(1).media())
    assert len(client.asked) == 2


@pytest.mark.parametrize("place", [STORE, "http://limn.example.org", "https://limn.example.org:8443"])
def test_a_redirect_carries_the_token_to_no_other_server(hostile, place):
    def answer(request):
        is_moved = request.url.path == "/x"
        return httpx.Response(200, json=[]) if is_moved else httpx.Response(307, headers={"Location": f"{place}/x"})

    client = hostile(answer)
    client.get_project_list()
    assert client.asked[0].headers["Authorization"] == "Token secret"
    assert "Authorization" not in client.asked[1].headers


@pytest.mark.parametrize("part", ["..", ".", ""])
def test_no_part_of_a_path_leads_to_another_operation(hostile, part):
    client = hostile(lambda _: httpx.Response(200, json=[]))
    agents = lambda *given: Tools(client).call("get_history", dict(zip(PARTS, given, strict=True)))  # noqa: E731
    for call in (client.get_history, agents):
        with pytest.raises(Failure, match="names nothing"):
            call(part, "AccessTokens", 1)
    assert client.asked == []


@pytest.mark.parametrize("schema", [[], {}, {"paths": 1}, {"paths": {"/": {"get": {}}}}])
def test_agents_get_no_tools_of_a_service_that_describes_none(hostile, schema):
    with pytest.raises(Failure, match="does not describe"):
        Tools(hostile(lambda _: httpx.Response(200, json=schema))).listed()


def test_texts_of_a_service_do_not_command_a_terminal():
    output, out = Output(), io.StringIO()
    output._out = output._errors = Console(file=out, force_terminal=True, no_color=True)
    harm = "a\x1b]0;x\x07\x9b2J\u202eb"
    output.result({}, f"{harm}\n{harm}")
    output.note(harm)
    output.tell(harm)
    output.failure(Failure(harm))
    output.table([{"name": harm}], ["name"])
    said = out.getvalue()
    assert said.count("b") >= 6
    assert not any(sign in said for sign in ("\x1b]", "\x07", "\x9b", "\u202e"))


@pytest.fixture
def serving():
    """A server on this machine that answers every GET with headers and a body; its address."""
    servers = []

    def start(status, headers, body):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.send_response(status if self.path.endswith("Projects") else 200)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                with suppress(ConnectionError):  # the client has enough
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def list_projects(url):
    with clients.Client(Profile(url)) as client:
        return client.get_project_list()


def list_projects_async(url):
    async def ask():
        async with clients.AsyncClient(Profile(url)) as client:
            return await client.get_project_list()

    return asyncio.run(ask())


BOMB = gzip.compress(bytes(30_000_000), 1)
HARM = {
    "long": (200, {}, b"x" * 2_000_000, "more than 1000000 bytes"),
    "bomb": (200, {"Content-Encoding": "gzip"}, BOMB, "more than 1000000 bytes"),
    "bomb of an error": (404, {"Content-Encoding": "gzip"}, BOMB, "more than 1000000"),
    "bomb in a bomb": (200, {"Content-Encoding": "gzip, gzip"}, gzip.compress(bytes(1000)), "encoding 'gzip, gzip'"),
    "another encoding": (200, {"Content-Encoding": "deflate"}, b"x", "encoding 'deflate', which was not asked for"),
    "redirect": (302, {"Location": "/x", "Content-Encoding": "gzip"}, BOMB, "more than"),
    "no gzip": (200, {"Content-Encoding": "gzip"}, b"x" * 100, "No answer"),
    "no JSON": (200, {}, b"<html>", "is no JSON"),
    "deep": (200, {}, b"[" * 900_000, "is no JSON"),
    "deep error": (404, {}, b"[" * 900_000, "404"),
}


@pytest.mark.parametrize("ask", [list_projects, list_projects_async])
@pytest.mark.parametrize("harm", HARM)
def test_an_answer_is_bounded_as_it_is_unpacked(serving, monkeypatch, harm, ask):
    *answer, named = HARM[harm]
    monkeypatch.setattr(connections, "MOST_BYTES", 1_000_000)
    monkeypatch.setattr(exchange, "ATTEMPTS", 1)
    url = serving(*answer)
    unpacked = []
    seen = connections._Bounded._pieces
    monkeypatch.setattr(
        connections._Bounded, "_pieces", lambda *given: (unpacked.append(len(piece)) or piece for piece in seen(*given))
    )
    with pytest.raises(Failure, match=named):
        ask(url)
    assert sum(unpacked) <= 1_000_000
    assert max(unpacked, default=0) <= connections.PIECE


@pytest.mark.parametrize("ask", [list_projects, list_projects_async])
def test_packed_answers_are_read(serving, ask):
    rows = [{"id": number, "name": "a" * 900} for number in range(3000)]  # of several pieces
    assert ask(serving(200, {"Content-Encoding": "gzip"}, gzip.compress(json.dumps(rows).encode()))) == rows


def test_a_download_ends_where_the_export_should(serving, tmp_path, monkeypatch):
    url, read = serving(200, {}, bytes(9_000_000)), []
    export = {"url": url, "size": 10}
    with clients.Client(Profile(url)) as client, pytest.raises(Failure, match="and the export 10"):
        datasets.download(client, lambda: export, tmp_path / "a.zip", read.append)
    assert sum(read) <= 1024 * 1024
    assert list(tmp_path.iterdir()) == []
