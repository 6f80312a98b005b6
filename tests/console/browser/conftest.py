"""A running local stack and a real Chromium, once for all browser tests.

Chromium is the one of the machine: on PATH, or named by `CHROMIUM`. Tests are skipped where there is none. They wait
for conditions, never for times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
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


WORLDS: dict[str, Callable[[Stack, Path], Any]] = {
    "meadow": lambda stack, _folder: demo.fill(stack.api),
    "nasty": lambda stack, _folder: markup.fill(stack),
    "sea": dives.sea,
}
"""Projects that many tests read. They are made beside the first tests, which need none of them."""


def worlds_of(item: pytest.Item) -> set[str]:
    """The names of those that a test needs."""
    return WORLDS.keys() & set(getattr(item, "fixturenames", ()))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = "tests/console/browser/"
    for item in items:
        if item.nodeid.startswith(here):
            item.add_marker(pytest.mark.browser)
    items.sort(key=lambda item: item.nodeid.startswith(here) and bool(worlds_of(item)))


@pytest.fixture(scope="session")
def stack(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with run(tmp_path_factory.mktemp("stack")) as running:
        yield running


@pytest.fixture(scope="session", autouse=True)
def worlds(
    stack: Stack, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[Any]]]:
    """Those that the tests of this session need, on their way."""
    wanted = {name for item in request.session.items for name in worlds_of(item)}
    with ThreadPoolExecutor(len(WORLDS)) as pool:
        yield {name: pool.submit(WORLDS[name], stack, tmp_path_factory.mktemp(name)) for name in sorted(wanted)}


@pytest.fixture(scope="session")
def meadow(worlds: dict[str, Future[Any]]) -> int:
    """The project of `make demo`."""
    number: int = worlds["meadow"].result()
    return number


@pytest.fixture(scope="session")
def nasty(worlds: dict[str, Future[Any]]) -> dict[str, Any]:
    """The ids of a project in which every text is markup."""
    ids: dict[str, Any] = worlds["nasty"].result()
    return ids


@pytest.fixture(scope="session")
def sea(worlds: dict[str, Future[Any]]) -> dives.Dive:
    """A project with a clip whose frames show their numbers."""
    made: dives.Dive = worlds["sea"].result()
    return made


@pytest.fixture
def dive(sea: dives.Dive) -> dives.Dive:
    """That project without annotations."""
    sea.clear()
    return sea


@pytest.fixture
def screen(page: Page, dive: dives.Dive) -> dives.Screen:
    """The annotation view of its clip, not opened yet."""
    return dives.Screen(page, dive)


def window(browser: Browser, stack: Stack, locale: str = "en-GB") -> BrowserContext:
    """A window of its own, without a session."""
    made = browser.new_context(
        base_url=stack.url, viewport={"width": 1440, "height": 900}, locale=locale, timezone_id="UTC"
    )
    made.set_default_timeout(PAGE_SECONDS * 1000)
    return made


@pytest.fixture
def context(browser: Browser, stack: Stack) -> Iterator[BrowserContext]:
    """The window of the first page of a test."""
    made = window(browser, stack)
    yield made
    made.close()


@pytest.fixture
def new_page(context: BrowserContext, browser: Browser, stack: Stack) -> Iterator[Callable[..., Page]]:
    """Opens pages, signed in by default; the test fails when one logs an error or breaks the page's policy.

    Pages of one user are tabs of one window. `expected` of a page is a list of texts of errors that the test provokes.
    """
    problems: list[str] = []
    expected: list[str] = []
    windows: dict[str, BrowserContext] = {}

    def note(text: str) -> None:
        if not any(part in text for part in expected):
            problems.append(text)

    def make(token: str | None = None, *, allow: tuple[str, ...] = ()) -> Page:
        expected.extend(allow)
        token = stack.token if token is None else token
        if token not in windows:
            windows[token] = window(browser, stack) if windows else context
            if token:
                stack.sign_in(windows[token], token)
        page = windows[token].new_page()
        page.on("pageerror", lambda error: note(f"error: {error}"))
        page.on("console", lambda message: note(message.text) if message.type == "error" else None)
        return page

    yield make
    for each in windows.values():
        if each is not context:
            each.close()
    assert not problems, "\n".join(problems)


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A page, signed in as the first user of the stack."""
    return new_page()
