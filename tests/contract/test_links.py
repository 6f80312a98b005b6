"""The links of the served schema: whoever made something is told what can be done with it."""

from __future__ import annotations

import re

import msgspec
import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.http.links import links
from chalicelib.http.operation import OneOf
from tests.served import document
from tests.sweeps import sweep

LINKS = links(OPERATIONS)
BY_ID = {operation.id: operation for operation in OPERATIONS}
COPIES = {"CloneMediaList", "CreateDeviceToken", "CreatePointSamples", "MoveVideo", "NextTask", "TranscodeOlder"}
"""Other ways to make, fill or get what another operation makes, whose links are there."""


def answers_an_id(operation):
    options = operation.returns.options if isinstance(operation.returns, OneOf) else (operation.returns,)
    structs = [option for option in options if isinstance(option, type) and issubclass(option, msgspec.Struct)]
    return any(field.encode_name == "id" for struct in structs for field in msgspec.structs.fields(struct))


@sweep("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_exactly_what_makes_something_leads_to_it(operation):
    makes = operation.method == "POST" and answers_an_id(operation) and operation.id not in COPIES
    assert (operation.id in LINKS) == makes


def test_every_link_fills_the_path_of_the_operation_it_leads_to():
    for found in LINKS.values():
        for link in found.values():
            assert set(re.findall(r"{(\w+)}", BY_ID[link["operationId"]].path)) == link["parameters"].keys()


@pytest.mark.slow
def test_the_document_of_the_whole_catalogue_is_valid():
    validator = pytest.importorskip("openapi_spec_validator")
    validator.validate(document())
