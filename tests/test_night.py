"""`make nightly LIMIT=…`: what is run first, what is left out, and that neither is a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import night

TOP = Path(__file__).parents[1]
TESTS = """
import time

import pytest

from tests import night


@pytest.fixture
def end(request):
    request.config.stash[night.END] = time.monotonic() + 0.1
    yield
    raise ValueError("the clean-up of a test that was stopped")


@pytest.fixture(scope="module", autouse=True)
def of_the_file():
    yield
    raise ValueError("the clean-up of a file, a test of which was stopped")


def test_before():
    pass


def test_that_catches_everything_for_a_while(end):
    try:
        time.sleep(3600)
    except BaseException:
        try:
            time.sleep(3600)
        finally:
            raise ValueError("what the test's own clean-up says")


def test_after():
    pass
"""
MONDAY = """
from tests import night


def pytest_collection(session):
    session.config.stash[night.DAY] = 0
"""


def nightly_files():
    """The files of tests that have a mark of the night, below `tests`."""
    paths = (TOP / "tests").rglob("test_*.py")
    return {path.relative_to(TOP / "tests").as_posix() for path in paths if "mark.nightly" in path.read_text()}


def test_a_share_begins_with_the_most_valuable_tests():
    files = nightly_files()
    for day in range(night.DAYS):
        ordered = night.order(files, day)
        assert set(ordered) == files
        assert len(ordered) == len(files)
        firsts = [next((n for n, first in enumerate(night.FIRST) if file.startswith(first)), None) for file in ordered]
        count = len(firsts) - firsts.count(None)
        assert set(firsts[:count]) == set(range(len(night.FIRST))), "each of FIRST has tests of the night"
        assert firsts[:count] == sorted(firsts[:count])


def test_a_week_begins_with_each_of_the_other_tests_once():
    files = {f"resources/test_{number}.py" for number in range(30)}
    days = [night.order(files, day) for day in range(night.DAYS)]
    begun = [days[day][: 30 * (day + 1) // 7 - 30 * day // 7] for day in range(night.DAYS)]
    assert sorted(file for day in begun for file in day) == sorted(files)


def test_a_week_begins_with_each_test_of_a_file_once():
    tests = list(range(30))
    days = [night.turn(tests, day) for day in range(night.DAYS)]
    assert all(sorted(day) == tests for day in days)
    begun = [days[day][: 30 * (day + 1) // 7 - 30 * day // 7] for day in range(night.DAYS)]
    assert [test for day in begun for test in day] == tests


@pytest.fixture
def run(tmp_path):
    """Runs `TESTS` with a limit, on a Monday."""
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(MONDAY)
    command = [sys.executable, "-m", "pytest", "-p", "tests.night", "-c", os.devnull, "--rootdir", str(tmp_path)]

    def run(*arguments):
        cache = f"cache_dir={tmp_path / 'cache'}"
        return subprocess.run(
            [*command, "-o", cache, *arguments, str(tmp_path)],
            cwd=TOP,
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.slow
def test_what_the_minutes_do_not_suffice_for_is_named_and_no_failure(run):
    done = run("--minutes=1000")
    assert done.returncode == 0, done.stdout
    assert "1 passed, 4 skipped" in done.stdout
    assert "stopped: the minutes are over: test_it.py::test_that_catches_everything_for_a_while\n" in done.stdout
    assert "left out: the minutes are over: test_it.py (1)\n" in done.stdout


@pytest.mark.slow
def test_a_failed_test_that_is_run_again_has_to_pass_in_the_minutes(run):
    done = run("--minutes=1000", "--last-failed")
    assert done.returncode == 1
    assert "1 failed, 1 passed, 3 errors" in done.stdout
