"""The reference in the docs says what the declarations say."""

from __future__ import annotations

from pathlib import Path

import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.api.reference import reference

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_is_that_of_the_declarations():
    assert (DOCS / "reference.md").read_text() == reference(OPERATIONS), "make docs writes it anew"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_every_operation_is_described(operation):
    assert operation.summary.endswith(".")
    assert operation.tag


def test_every_decision_is_in_the_index():
    index = (DOCS / "decisions" / "README.md").read_text()
    for decision in (DOCS / "decisions").glob("[0-9]*.md"):
        assert f"({decision.name})" in index
