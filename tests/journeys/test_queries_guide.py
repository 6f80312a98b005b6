"""The guide to queries runs as it stands, and names all there is."""

from __future__ import annotations

import re

import msgspec
import pytest

from chalicelib.query import operators
from chalicelib.query.columns import NAMES
from chalicelib.query.parsers import bodies, parameters
from tests.journeys.stack import ROOT

pytestmark = pytest.mark.slow

GUIDE = (ROOT / "docs" / "guides" / "queries.md").read_text()
WORDS = set(re.findall(r"[$\w]+", GUIDE))
ASKED = [
    parameters.MediaQuery,
    parameters.LocalizationQuery,
    parameters.StateQuery,
    parameters.LeafQuery,
    parameters.FileQuery,
    bodies.MediaIdQuery,
    bodies.LocalizationIdQuery,
    bodies.StateIdQuery,
    bodies.LeafIdQuery,
    bodies.FloatArrayQuery,
]


@pytest.mark.parametrize("asked", ASKED, ids=lambda struct: struct.__name__)
def test_every_parameter_is_in_the_guide(asked):
    names = {field.encode_name for field in msgspec.structs.fields(asked)}
    # the related filters are explained by their prefix
    assert {name.replace("related_attribute", "attribute") for name in names} <= WORDS


def test_every_operation_and_built_in_name_is_in_the_guide():
    assert {operator.word for operator in operators.OPERATIONS} - {"iendswidth"} <= WORDS
    names = {name for names in NAMES.values() for name in names if name.startswith("$")}
    assert names - {"$meta", "$primary_section"} <= WORDS


def test_the_guide_runs_as_it_stands(shared_stack):
    shown = shared_stack.run_guide(GUIDE)
    assert shown.startswith("5 lines; ")
    assert shown.endswith(",user,Species,Depth,Seen,Place,Look\n")
