"""What the fuzzers ask: requests from the served schema, aimed at what there is, and the answers held against it."""

from __future__ import annotations

import json
from functools import cache
from urllib.parse import quote

import requests
import schemathesis
from hypothesis import strategies as st
from schemathesis import GenerationMode

from chalicelib.api.catalogue import OPERATIONS
from tests.served import document

DECLARED = {operation.id: operation for operation in OPERATIONS}
ASK_WORDS = ("method", "path", "body", "raw", "self")
"""What `Api.ask` has as its own words: parameters of these names are left out."""


@cache
def served():
    """The served schema's operations, by name, as schemathesis sees them."""
    found = schemathesis.openapi.from_dict(document()).get_all_operations()
    return {operation.definition.raw["operationId"]: operation for operation in (each.ok() for each in found)}


@cache
def cases(name, mode=GenerationMode.POSITIVE):
    """The strategy of what the schema allows, or does not, of an operation."""
    return served()[name].as_strategy(generation_mode=mode)


def raw_of(body):
    """The bytes of a made-up body."""
    if isinstance(body, bytes):
        return body
    return b"" if is_absent(body) else json.dumps(body).encode()


def is_absent(body):
    """Whether a made-up request has no body."""
    return type(body).__name__ == "NotSet"


def query_of(case):
    """The parameters but for those that `ask` has as its own words."""
    query = case.query or {}
    return {key: value for key, value in query.items() if isinstance(key, str) and key not in ASK_WORDS}


def filled(path, variables):
    """A path with its variables."""
    for variable, value in variables.items():
        path = path.replace("{" + variable + "}", quote(str(value), safe="") or "%20")
    return path


def hold(name, target, said, query=None):
    """The answer is one that the served schema promises: its status is documented, its body of the shape.

    A list asked with `operation=count` answers a number, as its parameter says: no schema of OpenAPI can.
    """
    operation = served()[name]
    assert str(said.status) in operation.definition.raw["responses"], (name, target, said.status, said.body)
    if said.status == 200 and (query or {}).get("operation") == "count":
        assert isinstance(said.json, int), (target, said.body)
        return
    request = requests.Request(DECLARED[name].method, f"http://127.0.0.1{target}").prepare()
    headers = {key.lower(): [value] for key, value in said.headers.items()}
    operation.validate_response(schemathesis.Response(said.status, headers, said.body, request, 0.0, verify=False))


# Bodies --------------------------------------------------------------------------------------------------------------


def some_of(data, members, most=2):
    """Some members of what was made up."""
    if not isinstance(members, dict) or not members:
        return {}
    names = data.draw(st.lists(st.sampled_from(sorted(members)), max_size=most, unique=True))
    return {name: members[name] for name in names}


def body_for(data, name, good):
    """A body: one known to be good, that with members made up, or one made up altogether."""
    if good is None and DECLARED[name].body is None:
        return None
    how = data.draw(st.sampled_from(("good", "good", "mixed", "mixed", "made up")))
    if how == "good":
        return good
    made = data.draw(cases(name)).body
    if is_absent(made) or isinstance(made, bytes):
        return good
    if how == "made up" or good is None:
        return made
    if isinstance(good, list):
        first = made[0] if isinstance(made, list) and made else made
        return [{**good[0], **some_of(data, first)}, *good[1:]]
    return {**good, **some_of(data, made)} if isinstance(made, dict) else good
