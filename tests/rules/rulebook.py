"""The rules and the tests that hold them: the mark that tests bear, and docs/rules.md made of it.

    @rule("QF", "`attribute_lt` finds smaller values.", takes="attribute_lt", of=EVERY)

says which table or chapter of the interface a rule is from, the rule in our words, and which query parameters and
members of bodies of which resources it is about. `make docs` writes the table; `test_rulebook.py` holds it to the
tests, and the tests to the declarations.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.environment import VARIABLES

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"
MEDIA, LOCALIZATIONS, STATES, LEAVES, FILES = "Media", "Localizations", "States", "Leaves", "Files"
TYPES, VERSIONS = "Types", "Versions"
ANNOTATIONS = (LOCALIZATIONS, STATES)
RELATED = (MEDIA, *ANNOTATIONS)
EVERY = (*RELATED, LEAVES, FILES)
_HEAD = """# Rules and their tests

Every rule of annotations, their values and their queries with the test that holds it, through HTTP. Written by
`make docs` from the marks of `tests/rules/`; a test fails when it is stale, and when a parameter or a member of a body
that an operation declares has no rule. QF, QR, QP, QM, QA, QL and QFile are the query sets of the interface: attribute
filters, related filters, paging and sorting, and what media, annotations, leaves and files have of their own.
"""


def rule(row: str, says: str, *, takes: str = "", of: Iterable[str] = ()) -> pytest.MarkDecorator:
    """The mark of a test that holds a rule.

    Args:
        row: the table or chapter that it is from.
        says: the rule, in one sentence.
        takes: the parameters and members it is about, in words.
        of: the resources, by the groups that operations are shown under.
    """
    return pytest.mark.rule(row, says, frozenset((each, name) for each in of for name in takes.split()))


@dataclass(frozen=True)
class Rule:
    """A rule, and where its test is."""

    row: str
    says: str
    takes: frozenset[tuple[str, str]]
    file: str
    subject: str
    test: str


def rules() -> list[Rule]:
    """All rules, file by file in the order in which they are written."""
    importlib.import_module("tests.service")  # it starts AWS in this process, which the modules need
    found = []
    for name in sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)])):
        if name.startswith("test_"):
            module = importlib.import_module(f"tests.rules.{name}")
            subject = str(module.__doc__).splitlines()[0]
            for test, marks in _marked(vars(module)):
                found += [Rule(*mark.args, file=name, subject=subject, test=test) for mark in marks]
    return found


def _marked(members: Any) -> Iterator[tuple[str, list[Any]]]:
    for name, member in members.items():
        if name.startswith("Test"):
            yield from _marked(vars(member))
        elif name.startswith("test_"):
            yield name, [mark for mark in reversed(getattr(member, "pytestmark", ())) if mark.name == "rule"]


def page(found: Iterable[Rule]) -> str:
    """docs/rules.md."""
    parts, last = [_HEAD], ""
    for each in found:
        if each.file != last:
            last = each.file
            parts.append(f"\n## {each.subject.rstrip('.')}\n\nIn `tests/rules/{each.file}.py`.\n\n")
            parts.append("| from | rule | test |\n|---|---|---|\n")
        parts.append(f"| {each.row} | {each.says.replace('|', chr(92) + '|')} | `{each.test}` |\n")
    return "".join(parts)


if __name__ == "__main__":
    os.environ.update(VARIABLES)
    PAGE.write_text(page(rules()))
