"""The reference in the docs says what the declarations say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.api.reference import reference
from infra.write_docs import decisions_index
from tests.contract import documented_calls
from tests.sweeps import sweep

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = json.loads((DOCS / "reference" / "examples.json").read_text())
CLIENTS = json.loads((DOCS / "reference" / "client-models.json").read_text())


@pytest.mark.slow
def test_the_reference_is_that_of_the_declarations():
    written = {page.name: page.read_text() for page in (DOCS / "reference").glob("*.md")}
    assert written == reference(OPERATIONS, EXAMPLES, CLIENTS), "make docs writes it anew"


@pytest.mark.slow
def test_the_examples_are_calls_that_the_service_answers_so():
    calls = documented_calls.examples(documented_calls.record())
    assert {name: (call["status"], documented_calls.shape(call["answer"])) for name, call in calls.items()} == {
        name: (call["status"], documented_calls.shape(call["answer"])) for name, call in EXAMPLES.items()
    }, "make docs writes them anew"
    assert len(calls) > 0.8 * len(OPERATIONS), "add calls of new operations to documented_survey.py"


@sweep("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_every_operation_is_described(operation):
    assert operation.summary.endswith(".")
    assert operation.tag


def test_the_index_of_decisions_is_that_of_their_first_lines():
    index = (DOCS / "decisions" / "README.md").read_text()
    assert index == decisions_index(DOCS / "decisions"), "make docs writes it anew"
