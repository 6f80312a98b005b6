"""Requests made up from the served schema, right and wrong ones, by whoever may and may not: never a 500, and every
answer is of the shape that the schema promises.
"""

from __future__ import annotations

import zlib
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as bounds
from hypothesis import strategies as st
from schemathesis import GenerationMode

from tests.contract.world import World, build
from tests.faults import figures
from tests.faults.fuzz_requests import DECLARED, cases, filled, hold, query_of, raw_of, served
from tests.service import Api

EXAMPLES = 25
SHARE = 40
"""One of so many operations is tried with every commit."""
MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
WAITS = {"GetClip"}
"""Operations that wait for a queue function, which does not run here."""
NAMES = [name for name in DECLARED if name not in WAITS]
SAMPLE = [name for name in NAMES if zlib.crc32(name.encode()) % SHARE == 0]
LEVELS = ("nobody", "stranger", "View Only", "Can Edit", "Full Control", "owner")


@pytest.fixture(scope="module")
def world() -> World:
    return build()


def who(world, level):
    known = {"nobody": Api(None), "stranger": world.stranger, "owner": world.owner}
    return known.get(level) or world.members[level]


def fuzz(world, name, examples, modes=MODES):
    """Ask an operation what the schema allows and what it does not; how often."""
    declared = DECLARED[name]
    asked = 0
    refused: Counter[int] = Counter()

    def ask(case, level, aim):
        nonlocal asked
        asked += 1
        path = dict(case.path_parameters or {})
        if aim:
            path |= world.variables(declared)
        target = filled(declared.path, path)
        raw, query = raw_of(case.body), query_of(case)
        said = who(world, level).ask(declared.method, target, raw=raw, **query)
        assert said.status != 500, (name, level, target, query, raw, said.body)
        assert str(said.status) in served()[name].definition.raw["responses"], (name, level, target, said.status)
        refused[said.status] += mode is GenerationMode.POSITIVE and said.status == 400
        if said.status >= 400:
            assert said.json.keys() >= {"message"}, said.body
        else:
            hold(name, target, said)

    for mode in modes:
        run = given(case=cases(name, mode), level=st.sampled_from(LEVELS), aim=st.booleans())(ask)
        run = bounds(
            max_examples=examples,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )(run)
        seed(zlib.crc32(name.encode()))(run)()
    figures.note("valid requests refused with 400", name, refused[400])
    return asked


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE)
def test_a_few_made_up_requests_never_fail(world, name):
    assert fuzz(world, name, 2) > 0


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_made_up_requests_never_fail(world, name):
    figures.note("requests fuzzed", name, fuzz(world, name, EXAMPLES))
