"""SQL and the plain evaluation agree on every random world and question."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import HealthCheck, event, given, settings
from query_worlds import World, asked_worlds

from chalicelib.domain.kinds import Kind
from chalicelib.errors import BadInput
from chalicelib.query import check, meaning, parse
from chalicelib.query.bodies import IdQuery
from chalicelib.query.parameters import ListQuery
from chalicelib.storage.view import View

CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
Asked = list[tuple[Kind, ListQuery, IdQuery | None]]


def agree(world: World, asked: Asked) -> None:
    view = View(7)
    view.apply(world.commits())
    for kind, parameters, body in asked:
        try:
            query = check(parse(kind, parameters, body), view.definitions)
        except BadInput:
            event("refused")
            continue
        expected = meaning.ids(query, world.things)
        event("found" if expected else "nothing")
        assert view.ids(query) == expected
        assert view.count(query) == len(expected)
        documents = [msgspec.json.decode(document) for document in view.documents(query)]
        assert [document["id"] for document in documents] == expected
        if query.incident is not None:
            counts = meaning.incidents(query, world.things)
            assert [document["incident"] for document in documents] == [counts.get(number, 0) for number in expected]
    view.close()


@settings(max_examples=250, deadline=None, suppress_health_check=CHECKS, derandomize=True)
@given(asked_worlds())
def test_sql_and_meaning_agree(example: tuple[World, Asked]):
    agree(*example)


@pytest.mark.nightly
@settings(max_examples=3000, deadline=None, suppress_health_check=CHECKS)
@given(asked_worlds())
def test_sql_and_meaning_agree_all_night(example: tuple[World, Asked]):
    agree(*example)
