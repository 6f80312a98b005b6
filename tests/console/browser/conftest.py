"""A running local stack and a real Chromium, once for all browser tests.

Chromium is the one of the machine: on PATH, or named by `CHROMIUM`. Tests are skipped where there is none. They wait
for conditions, never for times.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
from playwright.sync_api import Browser, BrowserContext, Page, expect

from infra import demo

SECONDS = 120
"""How long a stack may take to start on a slow machine."""
PAGE_SECONDS = 45
"""How long a page may take to reach a condition."""

expect.set_options(timeout=PAGE_SECONDS * 1000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@dataclass(frozen=True)
class Stack:
    """A running local stack."""

    url: str
    username: str
    password: str
    token: str

    @property
    def api(self) -> demo.Service:
        """The REST interface as its first user."""
        return demo.Service(self.url, self.token)

    def user(self, name: str, **more: Any) -> tuple[int, str]:
        """A new user with the password `reef watch 77`: the id and a token."""
        spec = {
            "username": name,
            "first_name": "Ada",
            "last_name": "Lovelace",
            "email": f"{name}@example.org",
            "password": "reef watch 77",
        }
        number = self.api.create("Users", {**spec, **more})
        signed = requests.post(
            f"{self.url}/rest/Token", json={"username": name, "password": "reef watch 77"}, timeout=60
        )
        return number, signed.json()["token"]


@pytest.fixture(scope="session")
def stack(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """`make run` on free ports and an empty folder."""
    home = tmp_path_factory.mktemp("stack")
    port = _free_ports()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LIMN_", "AWS_"))}
    environment = {**kept, "LIMN_HOME": str(home), "PORT": str(port), "LIMN_JOBS": "off"}
    with (home / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "infra.local"], env=environment, stdout=log, stderr=log)
    try:
        place = _wait_for(home / ".limn" / "local.json", f"http://127.0.0.1:{port}", process, home / "log")
        yield Stack(place["url"], place["username"], place["password"], place["token"])
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_ports() -> int:
    """A port that is free with the next one, for the API and S3."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = int(first.getsockname()[1])
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port


def _wait_for(place: Path, url: str, process: subprocess.Popen[bytes], log: Path) -> dict[str, str]:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            if place.exists() and requests.get(f"{url}/health", timeout=5).status_code < 500:
                found: dict[str, str] = json.loads(place.read_text())
                return found
        except (requests.RequestException, ValueError):
            pass
        time.sleep(0.1)
    pytest.fail(f"the local stack did not start:\n{log.read_text()[-2000:]}")


@pytest.fixture(scope="session")
def meadow(stack: Stack) -> int:
    """The project of `make demo`."""
    return demo.fill(stack.api)


@pytest.fixture
def context(browser: Browser, stack: Stack) -> Iterator[BrowserContext]:
    """A window of its own, without a session."""
    made = browser.new_context(
        base_url=stack.url, viewport={"width": 1440, "height": 900}, locale="en-GB", timezone_id="UTC"
    )
    made.set_default_timeout(PAGE_SECONDS * 1000)
    yield made
    made.close()


@pytest.fixture
def new_page(context: BrowserContext, stack: Stack) -> Iterator[Callable[..., Page]]:
    """Opens pages, signed in by default; the test fails when one logs an error or breaks the page's policy.

    `expected` of a page is a list of texts of errors that the test provokes.
    """
    problems: list[str] = []
    expected: list[str] = []

    def note(text: str) -> None:
        if not any(part in text for part in expected):
            problems.append(text)

    def make(token: str | None = None, *, allow: tuple[str, ...] = ()) -> Page:
        expected.extend(allow)
        page = context.new_page()
        page.on("pageerror", lambda error: note(f"error: {error}"))
        page.on("console", lambda message: note(message.text) if message.type == "error" else None)
        if token != "":
            page.add_init_script(f"sessionStorage.setItem('limn.token', {json.dumps(token or stack.token)})")
        return page

    yield make
    assert not problems, "\n".join(problems)


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A page, signed in as the first user of the stack."""
    return new_page()
