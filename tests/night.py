"""`make nightly LIMIT=10`: as much of the night as fits into so many minutes.

The files of `FIRST` are run first, in that order. The others follow, and each day of the week begins with another
seventh of them, and with another seventh of the tests of each file. A test that has not begun when the minutes are over
is left out, and one that runs is stopped. Neither is a failure, and the end of the output names both. What fails after
the end fails because a test was stopped, so it counts as stopped. With `--last-failed` they are failures: such a test
failed before.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import signal
import time
from collections import Counter
from collections.abc import Generator, Iterable
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import pytest

T = TypeVar("T")

ROOT = Path(__file__).parent
FIRST = (
    "faults/test_crash_sweep.py",
    "contract/",
    "faults/test_queue_sweep.py",
    "faults/test_job_sweep.py",
    "faults/test_retirement_crashes.py",
    "faults/test_event_histories.py",
    "faults/test_weather.py",
)
"""Files and folders of which every share has as much as fits: what shows that no data is lost and no request fails."""
DAYS = 7
LEFT_OUT = "left out: the minutes are over"
STOPPED = "stopped: the minutes are over"
END = pytest.StashKey[float]()
DAY = pytest.StashKey[int]()


class OutOfTime(BaseException):
    """The minutes are over while a test runs. Code under test that handles exceptions does not handle this one."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--minutes", type=float, help="leave out what would begin after so many minutes, and stop there")


def pytest_configure(config: pytest.Config) -> None:
    """Take the end and the day from the process that began, which workers of xdist share."""
    minutes = config.getoption("--minutes")
    if minutes:
        given = getattr(config, "workerinput", {})
        config.stash[END] = given.get("night_end", time.monotonic() + 60 * minutes)
        config.stash[DAY] = given.get("night_day", dt.datetime.now(dt.UTC).weekday())


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give a worker of xdist the end and the day."""
    if END in node.config.stash:
        node.workerinput["night_end"] = node.config.stash[END]
        node.workerinput["night_day"] = node.config.stash[DAY]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--minutes`, order the tests as the day has it."""
    if DAY in config.stash:
        of_files: dict[str, list[pytest.Item]] = {}
        for item in items:
            of_files.setdefault(name(item), []).append(item)
        day = config.stash[DAY]
        items[:] = [item for file in order(of_files, day) for item in turn(of_files[file], day)]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave a test out that would begin too late."""
    if END in item.config.stash and time.monotonic() > item.config.stash[END]:
        leave_out = pytest.fail if is_repeated(item.config) else pytest.skip
        leave_out(LEFT_OUT)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Stop a test at the end, again each second until it stops: what it calls may catch everything."""
    if END not in item.config.stash:
        return (yield)
    before = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, max(0.001, item.config.stash[END] - time.monotonic()), 1)
    try:
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:  # an alarm may interrupt the line above
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that was stopped is not failed, and neither is what it could not clean up.

    The clean-up of a test that is stopped may raise another error, and that of its file belongs to a test left out.
    """
    report = yield
    is_over = time.monotonic() > item.config.stash.get(END, float("inf"))
    if report.failed and is_over and not is_repeated(item.config):
        report.outcome = "skipped"
        report.longrepr = (str(item.path), item.location[1] or 0, STOPPED)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name what was left out or stopped."""
    found: Counter[tuple[str, str]] = Counter()
    for report in terminalreporter.stats.get("skipped", ()):
        for why in (LEFT_OUT, STOPPED):
            if str(report.longrepr[2]).endswith(why):
                found[why, report.nodeid if why == STOPPED else report.nodeid.partition("::")[0]] += 1
    for (why, place), number in sorted(found.items()):
        terminalreporter.write_line(f"{why}: {place}" + ("" if why == STOPPED else f" ({number})"))


def order(files: Iterable[str], day: int) -> list[str]:
    """The files of tests in the order of a day of the week (0 to 6)."""
    places = {file: [number for number, first in enumerate(FIRST) if file.startswith(first)] for file in files}
    begun = sorted((file for file in places if places[file]), key=lambda file: (places[file][0], file))
    others = sorted((file for file in places if not places[file]), key=_lot)
    return [*begun, *turn(others, day)]


def turn(places: list[T], day: int) -> list[T]:
    """A list that begins with another seventh of it on each day of the week."""
    start = len(places) * day // DAYS
    return [*places[start:], *places[:start]]


def name(item: pytest.Item) -> str:
    """The path of a test's file below `tests`."""
    return item.path.relative_to(ROOT).as_posix() if item.path.is_relative_to(ROOT) else item.path.name


def is_repeated(config: pytest.Config) -> bool:
    """Whether these tests have failed before."""
    return bool(config.getoption("lf", default=False))


def _lot(file: str) -> bytes:
    """A place that does not follow from a file's subject."""
    return hashlib.sha256(file.encode()).digest()


def _stop(number: int, frame: FrameType | None) -> None:
    raise OutOfTime
