"""A running local stack and a real Chromium, once for all browser tests.

Chromium is the one of the machine: on PATH, or named by `CHROMIUM`. Tests are skipped where there is none. They wait
for conditions, never for times.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from infra import demo
from tests.console.browser import dives, markup
from tests.console.browser.stack import Stack, run

PAGE_SECONDS = 120
"""How long a page may take to reach a condition."""

expect.set_options(timeout=PAGE_SECONDS * 1000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def stack(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with run(tmp_path_factory.mktemp("stack")) as running:
        yield running


@pytest.fixture(scope="session")
def meadow(stack: Stack) -> int:
    """The project of `make demo`."""
    return demo.fill(stack.api)


@pytest.fixture(scope="session")
def nasty(stack: Stack) -> dict[str, Any]:
    """The ids of a project in which every text is markup."""
    return markup.fill(stack)


@pytest.fixture(scope="session")
def sea(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> dives.Dive:
    """A project with a clip whose frames show their numbers."""
    return dives.sea(stack, tmp_path_factory.mktemp("clip"))


@pytest.fixture
def dive(sea: dives.Dive) -> dives.Dive:
    """That project without annotations."""
    sea.clear()
    return sea


@pytest.fixture
def screen(page: Page, dive: dives.Dive) -> dives.Screen:
    """The annotation view of its clip, not opened yet."""
    return dives.Screen(page, dive)


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
