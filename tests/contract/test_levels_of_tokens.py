"""What the schema allows, asked by an access token of each level: no 5xx, and nothing that is not documented."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as bounds
from schemathesis import GenerationMode

from tests.contract.world import LEVELS, World, build
from tests.faults.fuzz_requests import DECLARED, cases, filled, hold, query_of, raw_of
from tests.service import Api
from tests.sweeps import sweep

WAITS = {"GetClip"}
"""Operations that wait for a queue function, which does not run here."""
NAMES = sorted(DECLARED.keys() - WAITS, key=lambda name: (DECLARED[name].method == "DELETE", name))
"""Those that delete come last: the others find what they address."""
SHARE = 30
"""One of so many operations is tried with every commit."""
EXAMPLES = 2


@pytest.fixture(scope="module")
def world() -> World:
    return build()


@pytest.fixture(scope="module")
def tokens(world):
    """Who asks, the least level first: the owner of the world by an access token of each."""
    made = {}
    for level in LEVELS:
        said = world.owner.post("AccessTokens", {"name": level, "level": level})
        assert said.status == 201, said.body
        made[level] = Api(world.owner.user, token=said.json["token"])
    return made


def ask(world, tokens, name, examples=EXAMPLES):
    """Ask an operation what the schema allows, on what there is, at each level; the statuses by level."""
    declared, seen = DECLARED[name], {level: set() for level in tokens}

    def one(case):
        target = filled(declared.path, {**(case.path_parameters or {}), **world.variables(declared)})
        raw, query = raw_of(case.body), query_of(case)
        for level, caller in tokens.items():
            said = caller.ask(declared.method, target, raw=raw, **query)
            assert said.status < 500, (name, level, target, query, raw, said.body)
            hold(name, target, said)
            seen[level].add(said.status)

    run = bounds(
        max_examples=examples, database=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
    )(given(case=cases(name, GenerationMode.POSITIVE))(one))
    seed(zlib.crc32(name.encode()))(run)()
    return seen


@pytest.mark.slow
@sweep("name", [name for name in NAMES if zlib.crc32(name.encode()) % SHARE == 0])
def test_a_few_operations_answer_each_level_as_documented(world, tokens, name):
    assert all(ask(world, tokens, name).values())


@pytest.mark.nightly
@sweep("name", NAMES, parts=4)
def test_every_operation_answers_each_level_as_documented(world, tokens, name):
    assert all(ask(world, tokens, name).values())


def test_the_levels_differ(world, tokens):
    """A token of the least level may not do what one of the highest may."""
    body = {"name": "levels", "description": ""}
    path = f"Versions/{world.things['project']}"
    assert [tokens[level].post(path, body).status for level in ("View Only", "Full Control")] == [403, 201]
