"""Requests made up from the served schema, right and wrong ones, by whoever may and may not: never a 500, and every
answer is of the shape that the schema promises.
"""

from __future__ import annotations

import json
import zlib
from functools import cache
from urllib.parse import quote

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as bounds
from hypothesis import strategies as st
from schemathesis import GenerationMode

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.api.openapi import document
from tests.conftest import Api
from tests.contract.world import World, build
from tests.faults import figures

EXAMPLES = 25
SHARE = 40
"""One of so many operations is tried with every commit."""
MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
WAITS = {"GetClip"}
"""Operations that wait for a queue function, which does not run here."""
NAMES = [operation.id for operation in OPERATIONS if operation.id not in WAITS]
SAMPLE = [name for name in NAMES if zlib.crc32(name.encode()) % SHARE == 0]
LEVELS = ("nobody", "stranger", "View Only", "Can Edit", "Full Control", "owner")


@pytest.fixture(scope="module")
def world() -> World:
    return build()


@cache
def described():
    found = schemathesis.openapi.from_dict(document(OPERATIONS)).get_all_operations()
    return {operation.definition.raw["operationId"]: operation for operation in (each.ok() for each in found)}


def who(world, level):
    known = {"nobody": Api(None), "stranger": world.stranger, "owner": world.owner}
    return known.get(level) or world.members[level]


def fuzz(world, name, examples, modes=MODES):
    """Ask an operation what the schema allows and what it does not; how often."""
    operation, declared = described()[name], next(each for each in OPERATIONS if each.id == name)
    asked = 0

    def ask(case, level, aim):
        nonlocal asked
        asked += 1
        path = dict(case.path_parameters or {})
        if aim:
            path |= world.variables(declared)
        target = declared.path
        for variable, value in path.items():
            target = target.replace("{" + variable + "}", quote(str(value), safe="") or "%20")
        raw = _raw(case.body)
        query = {key: value for key, value in (case.query or {}).items() if isinstance(key, str)}
        said = who(world, level).ask(declared.method, target, raw=raw, **_plain(query))
        assert said.status != 500, (name, level, target, query, raw, said.body)
        if said.status >= 400:
            assert said.json.keys() >= {"message"}, said.body
        else:
            operation.validate_response(_response(declared, target, said))

    for mode in modes:
        run = given(case=operation.as_strategy(generation_mode=mode), level=st.sampled_from(LEVELS), aim=st.booleans())(
            ask
        )
        run = bounds(
            max_examples=examples,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )(run)
        seed(zlib.crc32(name.encode()))(run)()
    return asked


def _raw(body):
    if isinstance(body, bytes):
        return body
    if type(body).__name__ == "NotSet":
        return b""
    return json.dumps(body).encode()


def _plain(query):
    """The parameters but for those that `ask` has as its own words."""
    return {key: value for key, value in query.items() if key not in ("method", "path", "body", "raw", "self")}


def _response(declared, target, said):
    request = requests.Request(declared.method, f"http://127.0.0.1{target}").prepare()
    headers = {name.lower(): [value] for name, value in said.headers.items()}
    return schemathesis.Response(said.status, headers, said.body, request, 0.0, verify=False)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_few_made_up_requests_never_fail(world, name):
    assert fuzz(world, name, 2) > 0


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_made_up_requests_never_fail(world, name):
    figures.note("requests fuzzed", name, fuzz(world, name, EXAMPLES))
