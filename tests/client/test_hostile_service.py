"""What a service that means harm can do to the machine of a client: nothing outside of the folder that it was given."""

from __future__ import annotations

import io
import json
import zipfile

import httpx
import pytest
from rich.console import Console

from infra.client import client as clients
from infra.client.cli.output import Output
from infra.client.configuration import Profile
from infra.client.failures import Failure
from infra.client.mirrors.folder import Folder
from infra.client.mirrors.mirror import Mirror
from infra.client.training.samples import samples_of

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
        client._web = httpx.Client(transport=httpx.MockTransport(handle), follow_redirects=True)
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
