"""What the schema allows, asked by each kind of caller: no 5xx, and nothing that is not documented.

A body or parameter that the schema allows may be refused for what it names, such as an id that is not there, and never
for the form of a text: that the schema says. A pattern cannot say all of an address, so one of some examples may be.
What is refused is counted by rule for `docs/reliability.md`.
"""

from __future__ import annotations

import re
import zlib

import pytest
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as bounds
from schemathesis import GenerationMode

from chalicelib.core.models.accounts import AFFILIATION
from chalicelib.storage.dynamodb import records
from tests.contract.world import LEVELS, World, build
from tests.faults import figures
from tests.faults.fuzz_requests import DECLARED, cases, filled, hold, query_of, raw_of
from tests.resources.share_links.test_share_links import guest_of, link_to
from tests.service import Api, affiliate, new_user
from tests.sweeps import sweep

WAITS = {"GetClip"}
"""Operations that wait for a queue function, which does not run here."""
NAMES = sorted(DECLARED.keys() - WAITS, key=lambda name: (DECLARED[name].method == "DELETE", name))
"""Those that delete come last: the others find what they address."""
REACH_OUT = {"CreateIdentityProvider", "UpdateIdentityProvider"}
"""Operations that ask the server that a body names: 503 where it does not answer."""
BAD, UNAVAILABLE = 400, 503
SHARE = 30
"""One of so many operations is tried with every commit."""
EXAMPLES = 2
FORM = re.compile(
    "is malformed|is not an? (http|email|UUID|date|origin)|neither a host name|must have the form|no event has the type"
    "|kinds .* not known|must be (w:h:x:y|WIDTHxHEIGHT)|is no position|the key of an upload|does not begin with http"
)
"""Refusals of the form of a text: the schema has a pattern for each."""


@pytest.fixture(scope="module")
def world() -> World:
    return build()


@pytest.fixture(scope="module")
def tokens(world):
    """Who asks: the owner of the world by an access token of each level, and those who are no members."""
    affiliate(admin := new_user(), world.things["organization"])
    [affiliation] = records.list_linked(AFFILIATION, "user", admin.user.id)
    assert world.owner.patch(f"Affiliation/{affiliation.id}", {"permission": "Admin"}).status == 200
    guest = guest_of(link_to(world, section=world.things["section"])[1])
    made = {"No access": world.stranger, "guest": guest}
    for level in LEVELS:
        said = world.owner.post("AccessTokens", {"name": level, "level": level})
        assert said.status == 201, said.body
        made[level] = Api(world.owner.user, token=said.json["token"])
    return {**made, "organization admin": admin}


def ask(world, tokens, name, examples=EXAMPLES):
    """Ask an operation what the schema allows, on what there is, at each level; the statuses by level."""
    declared, seen = DECLARED[name], {level: set() for level in tokens}
    malformed: list[str] = []

    def one(case):
        target = filled(declared.path, {**(case.path_parameters or {}), **world.variables(declared)})
        raw, query = raw_of(case.body), query_of(case)
        for level, caller in tokens.items():
            said = caller.ask(declared.method, target, raw=raw, **query)
            assert said.status < 500 or (name in REACH_OUT and said.status == UNAVAILABLE), (
                name,
                level,
                target,
                query,
                raw,
                said.body,
            )
            hold(name, target, said)
            seen[level].add(said.status)
        if said.status == BAD:
            rule = re.sub(r"'[^']*'|[0-9]+", "…", " ".join(map(str, said.json.values())))[:100]
            figures.note("valid requests refused by rule", rule, 1)
            malformed.append(rule if FORM.search(rule) else "")

    run = bounds(
        max_examples=examples, database=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
    )(given(case=cases(name, GenerationMode.POSITIVE))(one))
    seed(zlib.crc32(name.encode()))(run)()
    assert len(malformed) < examples or not all(malformed), (name, malformed)
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
