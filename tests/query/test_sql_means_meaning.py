"""SQL and the plain evaluation agree on every random world and question."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings

from chalicelib.errors import BadInput
from chalicelib.query import check, evaluate, parse
from chalicelib.storage.view.view import View
from tests.query.query_worlds import PROJECT, SEEDS, World
from tests.query.random_queries import Asked, asked_world


def agree(world: World, asked: Asked) -> list[int]:
    """How many each question found; -1 where it was refused."""
    view = View(PROJECT)
    view.apply(world.commits())
    found = []
    for kind, parameters, body in asked:
        try:
            query = check(parse(kind, parameters, body), view.definitions)
        except BadInput:
            found.append(-1)
            continue
        expected = evaluate.ids(query, world.things)
        found.append(len(expected))
        assert view.ids(query) == expected, (kind, parameters, body)
        assert view.count(query) == len(expected)
        documents = [msgspec.json.decode(document) for document in view.documents(query)]
        assert [document["id"] for document in documents] == expected
        if query.incident is not None:
            counts = evaluate.Evaluation(world.things).count_incidents(query)
            assert [document["incident"] for document in documents] == [counts.get(number, 0) for number in expected]
    view.close()
    return found


SHARES = 5
"""Worlds of eight questions each, dealt to tests: one quick, one slow, the others by night."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "share",
    [
        0,
        pytest.param(1, marks=pytest.mark.slow),
        *(pytest.param(n, marks=pytest.mark.nightly) for n in range(2, SHARES)),
    ],
)
@settings(max_examples=15)
@given(seed=SEEDS)
def test_sql_and_meaning_agree(seed: int, share: int):
    agree(*asked_world(seed * SHARES + share))


@pytest.mark.slow
def test_most_random_questions_are_answered_and_many_find_something():
    found = [number for seed in range(15) for number in agree(*asked_world(seed))]
    assert sum(number >= 0 for number in found) > len(found) * 0.6
    assert sum(number > 0 for number in found) > len(found) * 0.2


@pytest.mark.nightly
@settings(max_examples=3000, derandomize=False)
@given(SEEDS)
def test_sql_and_meaning_agree_all_night(seed: int):
    agree(*asked_world(seed))
