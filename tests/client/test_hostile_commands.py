"""Commands against a server that means harm: each ends with a sentence, in bounded memory, and keeps to its folder."""

from __future__ import annotations

import gzip
import itertools
import json
import shutil
import socket
from types import SimpleNamespace

import pytest

from infra.client import Client, connections, exchange, failures
from infra.client.agents.tools import Tools
from infra.client.cli import datasets
from infra.client.configuration import Profile
from infra.client.failures import Failure
from infra.client.migration import source
from infra.client.mirrors import folder as folders
from infra.client.mirrors.folder import Folder
from infra.client.projects import windows
from tests.loopback import Handler, Server

MEDIA = {"id": 1, "name": "a.mp4", "type": 1, "project": 1, "md5": "", "attributes": {}, "media_files": {}}
COMMANDS = {
    "projects": ["projects"],
    "query": ["query", "media", "--project", "1"],
    "mirror": ["mirror", "{folder}", "--project", "1"],
    "migrate": [
        "migrate",
        "--from",
        "{url}",
        "--from-project",
        "1",
        "--project",
        "2",
        "--trial",
        "--state",
        "{folder}/state",
    ],
}
SHAPES = [None, 7, "text", [], {}, [None], [7], [[]], [{}], [{"id": "../x"}], [{"id": None}], [{**MEDIA, "id": {}}],
          [{**MEDIA, "media_files": 7}], [{**MEDIA, "media_files": {"image": [7]}}], [{**MEDIA, "name": None}],
          [{**MEDIA, "media_files": {"image": [{"path": 7, "resolution": "x"}]}}]]  # fmt: skip
HARM = {
    "endless": (200, {}, b"x" * 3_000_000),
    "a bomb": (200, {"Content-Encoding": "gzip"}, gzip.compress(bytes(100_000_000))),
    "not JSON": (200, {"Content-Type": "text/html"}, b"<html>"),
    "junk in headers": (200, {"Limn-Commit": "x", "Retry-After": "\xb2"}, b"{}"),
    "busy with junk": (503, {"Retry-After": "\xb2"}, b"{}"),
    "busy for ever": (503, {"Retry-After": "9" * 4000}, b"{}"),
    "a redirect to itself": (302, {"Location": "/rest/Projects"}, b""),
    "a redirect to a file": (302, {"Location": "file:///etc/passwd"}, b""),
}


@pytest.fixture
def serving():
    """Starts a server that answers everything alike; its address."""
    started = []

    def start(status, headers, body):
        class Same(Handler):
            def do_GET(self):
                try:
                    self.answer(status, body, headers)
                except ConnectionError:  # the client has enough
                    self.close_connection = True

            do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

        started.append(Server(Same))
        return started[-1].url

    yield start
    for server in started:
        server.close()


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(connections, "MOST_BYTES", 1_000_000)
    monkeypatch.setattr(exchange, "ATTEMPTS", 1)


@pytest.fixture
def run(limn, monkeypatch, tmp_path):
    def call(command, url):
        monkeypatch.setenv("LIMN_URL", url)
        monkeypatch.setenv("LIMN_TOKEN", "t")
        monkeypatch.setenv("LIMN_FROM_TOKEN", "t")
        return limn(*(word.format(url=url, folder=tmp_path / "place") for word in COMMANDS[command]))

    return call


def check(said, tmp_path):
    """One sentence and no file beside those of the command."""
    assert "Traceback" not in said.err + said.out
    assert said.status != 0 or not said.err
    files = [path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*") if path.is_file()]
    assert set(files) <= {"place", "config"}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_what_no_service_answers_ends_with_a_sentence(serving, run, tmp_path, command):
    for name, (status, headers, body) in HARM.items():
        said = run(command, serving(status, headers, body))
        check(said, tmp_path)
        assert said.status != 0 or name == "junk in headers", name
        assert len(said.err) < 2000, name


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_answers_of_other_shapes_end_with_a_sentence(serving, run, tmp_path, command):
    for shape in SHAPES:
        check(run(command, serving(200, {}, json.dumps(shape).encode())), tmp_path)
        shutil.rmtree(tmp_path / "place", ignore_errors=True)


@pytest.mark.slow
def test_agents_get_a_sentence_for_an_answer_of_another_shape(serving):
    for shape in SHAPES:
        with Client(Profile(serving(200, {}, json.dumps(shape).encode()), "t")) as client, pytest.raises(Failure):
            Tools(client).listed()


class TestPlaces:
    """A service elsewhere leads to nothing on this machine."""

    @pytest.fixture(autouse=True)
    def _names(self, monkeypatch):
        known = {"limn": "192.0.2.1", "inside": "127.0.0.1", "meta": "169.254.169.254", "mapped": "::ffff:127.0.0.1"}
        known = {f"{name}.example.org": number for name, number in known.items()}
        real = socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", lambda host, *given: real(known.get(host, host), *given))
        connections._is_here.cache_clear()
        yield
        connections._is_here.cache_clear()

    @pytest.mark.parametrize(
        "place",
        ["http://127.0.0.1:9/x", "http://[::1]/x", "http://0.0.0.0/x", "http://localhost/x", "http://2130706433/x",
         "https://inside.example.org/x", "http://meta.example.org/latest", "http://mapped.example.org/"],
    )  # fmt: skip
    def test_urls_to_this_machine_are_refused(self, place):
        with Client(Profile("https://limn.example.org", "t")) as client, pytest.raises(Failure, match="this machine"):
            client.read_bytes(place, 0, 10)

    def test_a_service_on_this_machine_leads_to_its_store_there(self, serving):
        with Client(Profile(serving(200, {}, b"0123456789"), "t")) as client:
            assert client.read_bytes(serving(200, {}, b"x" * 10), 0, 10) == b"x" * 10


class TestBytes:
    @pytest.mark.parametrize(
        ("headers", "size"),
        [({}, 100), ({"Content-Range": "bytes 0-9/9"}, 10), ({"Content-Range": f"bytes 0-9/{10**15}"}, 10),
         ({"Content-Range": "bytes 0-9/many"}, 10), ({"Content-Range": "bytes 0-9/" + "9" * 5000}, 10)],
    )  # fmt: skip
    def test_of_a_part_no_other_bytes_are_taken(self, serving, headers, size):
        with Client(Profile(serving(206, headers, b"x" * size), "t")) as client, pytest.raises(Failure):
            client.read_range(client.profile.url, 0, 10)

    def test_an_answer_that_does_not_end_in_time_is_given_up(self, serving, monkeypatch):
        monkeypatch.setattr(connections, "GRACE", 0)
        monkeypatch.setattr(connections, "SLOWEST", 10**12)
        with Client(Profile(serving(200, {}, b"[]"), "t")) as client:
            with pytest.raises(Failure, match="bytes a second"):
                client.get_project_list()
            with pytest.raises(Failure, match="bytes a second"), client.stream(client.profile.url) as answer:
                answer.read()

    def test_a_download_leaves_room_on_the_disk(self, serving, monkeypatch, tmp_path):
        url, folder = serving(200, {}, b"x" * 100), Folder(tmp_path)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=failures.ROOM - 1))
        monkeypatch.setattr(folders, "url_of", lambda *_: url)
        with Client(Profile(url)) as client, folder.open("me"), pytest.raises(Failure, match="1 GiB of the disk"):
            folder.store(client, MEDIA, "a", lambda _: None)
        with folder.open("me"), pytest.raises(Failure, match="1 GiB of the disk"):
            folder.write("media.jsonl", iter(["{}"]))
        export = {"url": url, "size": 100}
        with Client(Profile(url)) as client, pytest.raises(Failure, match="1 GiB of the disk"):
            datasets.download(client, lambda: export, tmp_path / "a.zip", lambda _: None)
        assert [path.name for path in tmp_path.rglob("*") if path.stat().st_size == 100] == []


class TestPages:
    def test_lists_by_position_end_when_they_repeat_a_page(self):
        pages = windows({"start": 0}, 2)
        next(pages)
        pages.send([{"id": 5}, {"id": 6}])
        with pytest.raises(Failure, match="repeats a page"):
            pages.send([{"id": 5}, {"id": 6}])

    def test_lists_of_a_source_end_when_they_repeat_a_page(self):
        class Repeating:
            profile = Profile("http://x")
            get_media_list = staticmethod(lambda *_, **__: [{"id": 1}, {"id": 2}])

        with pytest.raises(Failure, match="repeats a page"):
            list(itertools.islice(source.pages(Repeating(), "media", 1, 5, 2), 10))
