"""The security page names tests that exist, and the lock is what is installed."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("security.md", "reliability.md")
_LOCKED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[.*\])?==([^ ;]+)( *;.*)?$", re.MULTILINE)


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


def test_what_is_installed_is_what_is_locked():
    differing = {}
    for name, locked, marker in _LOCKED.findall((ROOT / "requirements.txt").read_text()):
        try:
            found = version(name)
        except PackageNotFoundError:
            found = None
        if found != locked and not marker:
            differing[name] = (locked, found)
    assert differing == {}
