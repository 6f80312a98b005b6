"""Fixtures that tests share.

`tests/service.py` starts AWS in this process, which takes seconds, so it is imported by what needs it only: a test in
`PURE` runs without AWS.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import re
import socket
import sys
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import msgspec
import msgspec.inspect
import pytest

from chalicelib.core.time import clock
from chalicelib.settings import override
from tests import chromium as chromium_of_the_machine
from tests import foreign_dynamodb
from tests.environment import VARIABLES

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.journeys.stack import Stack
    from tests.service import Api

pytest_plugins = ("tests.night",)

PURE = (
    "core",
    "formats",
    "query",
    "workflows",
    "video",
    "access/test_masks.py",
    "resources/sections/test_lquery.py",
    "resources/bulk",
    "test_night.py",
    "test_prose.py",
    "test_tiers.py",
    "console/browser",  # a stack in a process of its own
)
"""Folders and files of tests that start no AWS."""

LONGEST = (
    "journeys",
    "faults",
    "infra/test_roles.py",
    "infra/test_state.py",
    "infra/test_whole_stack.py",
    "model",
    "contract",
)
"""Folders and files whose tests take seconds each."""

# The same examples for each commit, however slow the machine. `make nightly` tries others, and more.
hypothesis.settings.register_profile("commit", derandomize=True, deadline=None, max_examples=40)
hypothesis.settings.register_profile("random", deadline=None, max_examples=40)
hypothesis.settings.register_profile("night", deadline=None, max_examples=500)
hypothesis.settings.load_profile("commit")
if os.environ.get("LIMN_STAGE", "local") == "local":  # another where the program of a test has deployed
    os.environ.update(VARIABLES)
if foreign_dynamodb.is_named():
    foreign_dynamodb.use()
msgspec.inspect._get_class_annotations = cache(msgspec.inspect._get_class_annotations)  # evaluated anew at each look
_names = itertools.count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that take longest, so that all workers end together. Tests in a browser are slow."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.slow)
    if foreign_dynamodb.is_named():
        foreign_dynamodb.skip_emulated(items)
    items.sort(key=lambda item: not item.nodeid.removeprefix("tests/").startswith(LONGEST))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import files of which `-m` leaves out every test, as each worker would."""
    marks = "|".join(re.findall(r"not (\w+)", config.option.markexpr))
    if collection_path.is_dir():
        return (collection_path.match("console/browser") and bool({"slow", "browser"} & {*marks.split("|")})) or None
    if not marks or not collection_path.match("test_*.py"):
        return None
    text = collection_path.read_text()
    heads = re.split(r"^ *def test_", text, flags=re.MULTILINE)[:-1]
    marked = re.compile(rf"^ *@pytest\.mark\.({marks})\b", re.MULTILINE)
    whole = re.search(rf"^pytestmark = .*\bmark\.({marks})\b", text, re.MULTILINE)
    return bool(whole or (heads and all(map(marked.search, heads)))) or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage while modules are imported and tests made, which live as long as the process; freeze them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_sessionfinish() -> None:
    """Let the interpreter free all at its end: DuckDB complains of types that are left."""
    gc.unfreeze()


@pytest.fixture(autouse=True, scope="module")
def service_in_this_process(request: pytest.FixtureRequest) -> None:
    """Start AWS, once a process, unless the test is pure; of messages and mails there are none of other files."""
    place = request.path.relative_to(Path(__file__).parent).as_posix()
    if not place.startswith(PURE):
        from tests.service import aws

        aws.clear_messages()


@pytest.fixture(autouse=True)
def roles_allow_what_functions_ask() -> Iterator[None]:
    """Fail a test in which a function asked AWS for what its role in infra/functions.yaml does not allow."""
    if "tests.roles" not in sys.modules:
        yield
        return
    roles = sys.modules["tests.roles"]
    roles.RECORDER.refused.clear()
    yield
    refused = [f"{name} may not {right.action} on {right.resource}" for right, name in roles.RECORDER.refused.items()]
    assert not refused, "; ".join(sorted(refused))


@pytest.fixture
def api() -> Api:
    """A new user, of staff."""
    from tests.service import new_user

    return new_user(is_staff=True)


@pytest.fixture
def stranger() -> Api:
    """A new user who is a member of nothing."""
    from tests.service import new_user

    return new_user()


@pytest.fixture
def nobody() -> Api:
    """A caller without credentials."""
    from tests.service import Api

    return Api(None)


@pytest.fixture
def move_clock() -> Iterator[Callable[[float], object]]:
    """Moves the clock of the service on by seconds, until the test ends."""
    with contextlib.ExitStack() as moves:
        yield lambda seconds: moves.enter_context(clock.ahead_by(seconds))


@pytest.fixture
def no_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every message can be received as soon as it is sent."""
    monkeypatch.setattr("chalicelib.queues.sending._check", lambda _: 0)


@pytest.fixture
def no_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords are not hashed, which takes most of the time of many requests with passwords."""
    monkeypatch.setattr("chalicelib.access.passwords.hash_password", lambda _: "no hash")


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> dict[str, str | list[str] | Iterator[str]]:
    """Addresses by name, which this process resolves it to: one, all of a list, or an iterator's next at each time."""
    known: dict[str, str | list[str] | Iterator[str]] = {}
    resolve = socket.getaddrinfo

    def look_up(name: str, port: int, *rest: Any, **more: Any) -> list[Any]:
        found = known.get(name)
        if found is None:
            return resolve(name, port, *rest, **more)
        numbers = [found] if isinstance(found, str) else found if isinstance(found, list) else [next(found)]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (number, port)) for number in numbers]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return known


@pytest.fixture
def organization(api: Api) -> int:
    """A new organization that the api user administers."""
    return api.made("Organizations", {"name": f"organization {next(_names)}"})


@pytest.fixture
def project(api: Api, organization: int) -> int:
    """A new project that the api user owns."""
    assert api.user
    from chalicelib.resources.projects import service as projects_service
    from chalicelib.resources.projects.schemas import ProjectSpec

    spec = ProjectSpec(name=f"project {next(_names)}", organization=organization)
    return projects_service.create_project(spec, api.user.id, "No Access").id


@pytest.fixture
def colleague(api: Api, project: int) -> Api:
    """A new user who is a member of another project of the organization alone."""
    from tests.service import join, new_sibling, new_user

    made = new_user()
    join(made, new_sibling(api, project), "View Only")
    return made


@pytest.fixture
def fine_grained() -> Iterator[None]:
    """Row protections count, as with `LIMN_FINE_GRAINED_PERMISSIONS`."""
    with override(fine_grained_permissions=True):
        yield


@pytest.fixture
def member(project: int) -> Callable[[str], Api]:
    """Makes a new member of the project at a level."""
    from tests.service import join, new_user

    def make(level: str) -> Api:
        made = new_user()
        join(made, project, level)
        return made

    return make


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    """A local stack in a folder of its own, which the test starts."""
    from tests.journeys.stack import Stack

    running = Stack(tmp_path)
    yield running
    running.kill()


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium; without one the test is skipped."""
    return chromium_of_the_machine.find() or pytest.skip(chromium_of_the_machine.ABSENT)


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    """A Chromium for the session: Playwright allows one at a time in a process."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=chromium_of_the_machine.ARGUMENTS)
        yield running
        running.close()
