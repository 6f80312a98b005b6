"""The security page names tests that exist, and the lock is what is installed."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from tests.contract.guards import GUARDS

ROOT = Path(__file__).parents[2]
PAGES = ("security.md", "reliability.md")
_LOCKED = re.compile(
    r"^([A-Za-z0-9._-]+)(?:\[.*\])?==([^ ;]+)( *;.*)? \\\n"
    r"((?:    --hash=sha256:[0-9a-f]{64}.*\n)+)",
    re.MULTILINE,
)


def known_tests():
    return {
        name for file in (ROOT / "tests").rglob("test_*.py") for name in re.findall(r"def (test_\w+)", file.read_text())
    }


@pytest.mark.parametrize("page", PAGES)
def test_every_test_that_a_page_names_exists(page):
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / page).read_text()))
    assert named
    assert named - known_tests() == set()


@pytest.mark.parametrize(
    "item", [f"API{number} " for number in range(1, 11)] + [f"V{number} " for number in range(1, 15)]
)
def test_every_item_has_its_line(item):
    rows = [line for line in (ROOT / "docs" / "security.md").read_text().splitlines() if line.startswith(f"| {item}")]
    assert len(rows) == 1
    assert "`test_" in rows[0]


_ROW = re.compile(r"^\| (\d+\.\d+\.\d+[^|]*) \| ([^|]+) \| ([^|]+) \| ([^|]*) \| ([^|]+) \|$", re.MULTILINE)
_NUMBER = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:–(\d+)\.(\d+)\.(\d+))?")
STATES = {"held", "in part", "**not held**", "not applicable"}
LONGEST_ROW = 300


def requirements():
    return _ROW.findall((ROOT / "docs" / "security.md").read_text())


def test_every_requirement_has_a_state_and_what_is_held_a_test_or_says_that_it_has_none():
    rows = requirements()
    assert {int(numbers.split(".")[0]) for numbers, *_ in rows} == set(range(1, 15))
    for row in rows:
        _, _, state, how, shown = row
        assert state in STATES, row
        assert "`test_" in shown or shown == ("no test" if state in ("held", "in part") else "—"), row
        assert how, row
        assert len("".join(row)) <= LONGEST_ROW, row


def test_no_requirement_is_answered_twice_and_their_order_is_that_of_the_standard():
    last = (0, 0, 0)
    for numbers, *_ in requirements():
        for first_chapter, first_section, first, chapter, section, end in _NUMBER.findall(numbers):
            begins = (int(first_chapter), int(first_section), int(first))
            if "," not in numbers:
                assert begins > last, numbers
                last = (int(chapter), int(section), int(end)) if chapter else begins


def test_what_is_installed_is_what_is_locked():
    differing = {}
    for name, locked, marker, _ in _LOCKED.findall((ROOT / "requirements.txt").read_text()):
        try:
            found = version(name)
        except PackageNotFoundError:
            found = None
        if found != locked and not marker:
            differing[name] = (locked, found)
    assert differing == {}


@pytest.mark.parametrize("lock", ["requirements.txt", "requirements-dev.txt"])
def test_the_lock_has_hashes_of_all_files_and_names_no_host(lock):
    """One file is a source or a pure wheel; several are wheels of several platforms."""
    text = (ROOT / lock).read_text()
    assert len(_LOCKED.findall(text)) == len(re.findall(r"^[A-Za-z0-9]", text, re.MULTILINE)) > 1
    assert "://" not in text
    wheels = {name: hashes.count("--hash") for name, _, _, hashes in _LOCKED.findall(text)}
    assert min(wheels["av"], wheels["duckdb"], wheels["msgspec"]) > 10


@pytest.mark.parametrize("name", GUARDS)
def test_each_guard_stands_in_the_code_and_in_its_table(name):
    guard = GUARDS[name]
    assert (ROOT / guard.path).read_text().count(guard.text) == 1
    tests = ROOT / guard.file
    assert f"def {guard.test}(" in tests.read_text()
    row = f"| {guard.what} | `{guard.path}` | `{guard.test}` |"
    assert row in (ROOT / "docs" / "security.md").read_text()
