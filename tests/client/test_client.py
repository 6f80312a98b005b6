"""The client of programs: typed, with retries that are safe, and standing alone."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import httpx
import numpy as np
import pytest

from infra import client as limn_client
from infra.client import connections, exchange, failures, operations
from infra.client.configuration import Profile
from infra.client.failures import Failure
from tests.loopback import Handler, Server

TOP = Path(__file__).parents[2]


@pytest.fixture
def boxes(client, api, project):
    """Seven boxes; the ids in order."""
    picture = api.made(f"MediaTypes/{project}", {"name": "Picture", "dtype": "image"})
    kind = api.made(
        f"LocalizationTypes/{project}",
        {
            "name": "Box",
            "dtype": "box",
            "media_types": [picture],
            "attribute_types": [{"name": "Depth", "dtype": "float"}],
        },
    )
    spec = {"name": "a.png", "type": picture, "md5": ""}
    [media] = api.made(f"Medias/{project}", [spec])
    made = client.create_localization_list(
        project,
        [
            {"media_id": media, "type": kind, "frame": 0, "x": 0.5, "attributes": {"Depth": float(number)}}
            for number in range(7)
        ],
    )
    return made["id"]


def test_the_checked_in_operations_and_types_are_those_of_the_declarations():
    from chalicelib.api.catalogue import OPERATIONS
    from infra import write_client

    for name, text in write_client.files(OPERATIONS).items():
        assert (write_client.FOLDER / name).read_text() == text, f"{name}: run make docs"


def test_every_operation_has_a_method_in_both_clients():
    for kind in (limn_client.Client, limn_client.AsyncClient):
        assert [name for name in operations.ENTRIES if not callable(getattr(kind, name, None))] == []
    assert str(inspect.signature(limn_client.Client.get_media)) == "(self, /, id, **query)"


def test_selections_are_read_page_by_page_in_order(client, boxes):
    found = client.project().localizations()
    found.size = 3
    assert [each["id"] for each in found] == boxes
    assert [len(page) for page in found.pages()] == [3, 3, 1]
    assert found.count() == 7
    some = client.project().localizations(attribute_gt=["Depth::1", "Depth::4"], fields="attributes.Depth")
    assert [each["attributes"]["Depth"] for each in some] == [5.0, 6.0]
    assert [each["id"] for each in client.project().localizations(start=2, stop=4)] == boxes[2:4]
    assert [each["id"] for each in client.project().localizations(stop=2)] == boxes[:2]


def test_answers_are_freed_at_once(client, boxes):
    import httpx

    gc.collect()
    gc.disable()
    try:
        list(client.project().localizations())
        assert [each for each in gc.get_objects() if isinstance(each, httpx.Response)] == []
    finally:
        gc.enable()


def test_a_program_with_an_event_loop_reads_and_writes_the_same(service, api, project, boxes):
    async def work():
        async with limn_client.AsyncClient(Profile(service, api.token)) as client:
            found = client.project(project).localizations()
            found.size = 3
            ids = [each["id"] async for each in found]
            await asyncio.gather(*(client.update_localization(each, {"attributes": {"Depth": 9.0}}) for each in ids))
            return ids, await client.project(project).localizations(attribute=["Depth::9"]).count()

    assert asyncio.run(work()) == (boxes, 7)


def test_an_error_names_the_rule_and_its_status(client, project):
    with pytest.raises(Failure) as refused:
        client.create_section(project, {"name": 3})
    assert (refused.value.members["http_status"], "name" in refused.value.message) == (400, True)
    with pytest.raises(TypeError, match=r"get_media\(\): missing a required argument"):
        client.get_media()


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda c: limn_client.connect(url="http://127.0.0.1:abc", token="a"), "not the address of a service"),
        (lambda c: limn_client.connect(url="http://[::1", token="a"), "not the address of a service"),
        (lambda c: limn_client.connect(url="http://127.0.0.1", token="ä"), "one word of ASCII"),
        (lambda c: limn_client.connect(url="http://127.0.0.1", token="a b"), "one word of ASCII"),
        (lambda c: c.project(0).localizations().count(), "project must be a positive integer"),
        (lambda c: list(c.project().localizations(start="x")), "start: 'x' is not a whole number"),
        (lambda c: list(c.project().localizations(format="csv")), "format: a selection has objects"),
        (lambda c: list(c.project().localizations(stop=0, nonsense=1)), "no query parameter 'nonsense'"),
        (lambda c: c.update_localization(1, {"x": float("nan")}), r"UpdateLocalization: x is NaN or infinite"),
        (lambda c: c.update_localization(1, {"attributes": {"A": [0, float("inf")]}}), r"attributes.A\[1\] is NaN"),
        (lambda c: c.update_localization(1, {"x": object()}), "UpdateLocalization: the body is not JSON: a object"),
        (lambda c: c.project().write([3]), "Row 0 is no object with members, but a int"),
    ],
)
def test_each_mistake_has_one_sentence(client, use, says):
    with pytest.raises(Failure, match=says):
        use(client)


def test_what_a_selection_takes_need_not_be_exact(client, boxes):
    assert limn_client.connect(url="http://127.0.0.1", token=" a\n").profile.token == "a"
    assert len(list(client.project().localizations(stop="3"))) == 3
    assert list(client.project().localizations(stop=0)) == []
    [one] = client.project().localizations(fields=["x", "frame"], stop=1)
    assert set(one) == {"id", "x", "frame"}
    number = np.float32(0.25)
    client.update_localization(boxes[0], {"x": number, "frame": np.int64(0), "attributes": {"Depth": number}})
    assert client.get_localization(boxes[0])["x"] == 0.25


@pytest.mark.parametrize("answer", [httpx.Response(405), httpx.Response(403, text="<html>")])
def test_another_server_is_named(answer):
    client = limn_client.Client(Profile("http://127.0.0.1:9", "secret"))
    client._web = httpx.Client(transport=httpx.MockTransport(lambda _: answer))
    says = f"http://127.0.0.1:9 answered {answer.status_code} .*. Is it the address of the service\\?"
    with pytest.raises(Failure, match=says):
        client.whoami()


def waits(answers, how="keyed"):
    """The seconds that a request pauses for between these answers, and the status of the last, None where it raised."""
    steps = exchange.exchange(exchange.Request("POST", "http://a"), how)
    step, pauses, given = next(steps), [], iter(answers)
    try:
        while True:
            if isinstance(step, float):
                pauses.append(step)
            step = steps.send(None if isinstance(step, float) else next(given))
    except StopIteration as end:
        return pauses, end.value.status_code
    except Failure:
        return pauses, None


def test_a_first_request_that_still_runs_is_waited_for_as_the_service_asks():
    running = [httpx.Response(503, headers={"Retry-After": "1"}, json={"message": "still running"})] * 1000
    pauses, status = waits([*running[:12], httpx.Response(201)])
    assert (status, len(pauses)) == (201, 12)
    assert sum(pauses) > 29, "an answer takes up to 29 s"
    pauses, status = waits(running)
    assert status is None
    assert exchange.PATIENCE - exchange.LONGEST_PAUSE < sum(pauses) <= exchange.PATIENCE
    assert waits(running, "once") == ([], None)
    assert waits([httpx.Response(429, headers={"Retry-After": "3600"})]) == ([], None)
    assert len(waits([httpx.Response(503)] * 9)[0]) == exchange.ATTEMPTS - 1


class Losing:
    """The service behind a proxy that loses answers: the request arrived, and the connection breaks."""

    def __init__(self, service, lost):
        self.service, self.lost, self.keys = service, lost, []

    def __enter__(self):
        import httpx

        losing = self

        class Proxy(Handler):
            def do_POST(self):
                body = self.read_body()
                losing.keys.append(self.headers["Idempotency-Key"])
                kept = ("authorization", "content-type", "idempotency-key")
                sent = {name: value for name, value in self.headers.items() if name.lower() in kept}
                answer = httpx.post(losing.service + self.path, content=body, headers=sent)
                if losing.lost:
                    losing.lost -= 1
                    self.close_connection = True
                    return
                self.answer(answer.status_code, answer.content)

        self.server = Server(Proxy)
        return self.server.url

    def __exit__(self, *_):
        self.server.close()


@pytest.fixture
def no_pauses(monkeypatch):
    monkeypatch.setattr(exchange, "FIRST_PAUSE", 0.0)


def test_a_creation_whose_answers_are_lost_is_made_once(service, api, project, no_pauses):
    proxy = Losing(service, lost=2)
    with proxy as url, limn_client.Client(Profile(url, api.token)) as client:
        made = client.create_section(project, {"name": "A", "path": "A"})
    assert len(proxy.keys) == 3
    assert len(set(proxy.keys)) == 1
    assert [each["id"] for each in api.get(f"Sections/{project}").json] == [made["id"]]


def test_a_service_that_is_away_is_named_without_what_is_secret(no_pauses):
    client = limn_client.Client(Profile("http://127.0.0.1:9", "secret-token"))
    with pytest.raises(Failure) as away:
        client.put_bytes("http://127.0.0.1:9/bucket/key?signature=secret", b"x")
    assert away.value.status == failures.NO_CONNECTION
    assert "secret" not in str(away.value)


def test_a_write_that_another_thread_overtook_is_sent_once(client, boxes, project):
    """Its commit has a lower number than the last one of this client; only lists are asked for again."""
    client.commits[project] = 10**9
    box = client.get_localization(boxes[0])
    spec = {"media_id": box["media"], "type": box["type"], "frame": 0, "x": 0.25}
    made = client.create_localization_list(project, [spec])
    assert len(made["id"]) == 1
    assert client.commits.pop(project) == 10**9
    assert client.project().localizations().count() == len(boxes) + 1


def test_a_list_that_does_not_show_the_own_write_is_asked_again(client, project, monkeypatch):
    monkeypatch.setattr("infra.client.client.BEHIND_PAUSE", 0.0)
    client.get_localization_count(project)
    client.commits[project] = 10**9
    with pytest.raises(Failure, match="does not show the last change"):
        client.get_localization_count(project)


PROGRAM = """
import limn
from limn.types import Localization, SectionSpec

async def later() -> int:
    async with limn.connect_async() as client:
        return await client.project(1).localizations(type=3).count()

with limn.connect() as client:
    for box in client.project(3).localizations(attribute_gt=["Depth::10"]):
        x: float | None = box["x"]
    spec: SectionSpec = {"name": "A"}
    client.create_section(3, spec)
    boxes: list[Localization] = client.get_localization_list(3, stop=10)
"""
WRONG = """
import limn

client = limn.connect()
client.create_section(3, {"nam": "A"})
client.get_localization_list("3")
client.get_localization_list(3, stopp=10)
box: str = client.get_localization(1)["frame"]
client.no_such_operation()
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The folder of the unpacked wheel of `make client`."""
    place = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", place, TOP]
    subprocess.run(command, check=True, capture_output=True)
    [made] = place.glob("limn-*.whl")
    with zipfile.ZipFile(made) as archive:
        archive.extractall(place / "site")
    return place / "site"


@pytest.mark.slow
def test_the_wheel_holds_the_client_alone_and_needs_two_packages(wheel):
    assert {path.name for path in wheel.iterdir() if "dist-info" not in path.name} == {"limn"}
    [about] = wheel.glob("*.dist-info/METADATA")
    needed = [line for line in about.read_text().splitlines() if line.startswith("Requires-Dist")]
    assert [line for line in needed if "extra ==" not in line] == []
    names = {line.split()[1].split(">")[0].strip(";") for line in needed if "'client'" in line or '"client"' in line}
    assert names == {"httpx", "msgspec", "tomli"}


@pytest.mark.slow
def test_the_client_imports_what_the_wheel_needs_and_nothing_of_the_repository(wheel):
    code = (
        "import json, sys, limn\n"
        "roots = {name.partition('.')[0] for name in sys.modules}\n"
        "print(json.dumps([limn.__file__, sorted(roots)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=wheel,
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(wheel)},
    )
    place, roots = json.loads(done.stdout)
    assert place.startswith(str(wheel))
    ours = {"chalicelib", "functions", "infra", "app"}
    assert not ours & set(roots)
    assert not {"typer", "duckdb", "pyarrow", "boto3", "requests", "av"} & set(roots)


@pytest.mark.slow
def test_programs_are_checked_by_mypy_strict(wheel, tmp_path):
    def said(text):
        (tmp_path / "program.py").write_text(text)
        command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--python-version=3.10"]
        environment = {"MYPYPATH": str(wheel), "PATH": ""}
        done = subprocess.run(
            [*command, f"--cache-dir={wheel.parent / 'mypy'}", "program.py"],
            cwd=tmp_path,
            check=False,
            capture_output=True,
            text=True,
            env=environment,
        )
        return [line for line in done.stdout.splitlines() if line.startswith("program.py:")]

    assert said(PROGRAM) == []
    assert sorted({line.split(":")[1] for line in said(WRONG)}) == ["5", "6", "7", "8", "9"]


def test_a_large_body_that_is_sent_again_is_sent_whole(no_pauses):
    data, got, answers = os.urandom(connections.PIECE * 2 + 1), [], iter((503, 200))

    def answer(request):
        got.append((request.headers["content-length"], request.headers.get("transfer-encoding"), request.read()))
        return httpx.Response(next(answers))

    web, request = (
        httpx.Client(transport=httpx.MockTransport(answer)),
        exchange.Request("PUT", "http://a", content=data),
    )
    assert exchange.run(web, exchange.exchange(request)).status_code == 200
    assert got == [(str(len(data)), None, data)] * 2
