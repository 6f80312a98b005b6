"""Bulk changes ask a view beside what changed after it, and find what a view finds that has applied it."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from unittest.mock import patch

import pytest

from chalicelib.access import view_queries
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Commit
from chalicelib.query import check, parse, tree
from chalicelib.query.check import VISIBLE
from chalicelib.query.operators import Op
from chalicelib.query.row_tests import is_plain, row_test
from chalicelib.query.tree import Query
from chalicelib.storage.view import tails
from chalicelib.storage.view.tails import Tail
from chalicelib.storage.view.view import View
from tests.query.query_rig import box, state
from tests.query.query_worlds import SEEDS, change_of, commit
from tests.resources.annotations.boxes import settle
from tests.storage.commits import boxed, typed
from tests.storage.test_held_lists import PARAMETERS, made, view_of
from tests.sweeps import examples

QUERIES = [
    (Kind.LOCALIZATION, {"media_id": [1]}),
    (Kind.LOCALIZATION, {"media_id": [3, 1]}),
    (Kind.LOCALIZATION, {"media_id": [2], "type": 2}),
    (Kind.LOCALIZATION, {"media_id": [2], "show_deleted": 1}),
    (Kind.LOCALIZATION, {"frame": 0}),
    (Kind.LOCALIZATION, {}),
    (Kind.STATE, {"media_id": [1, 2]}),
]


def queries(view: View) -> list[Query]:
    parsed = [parse(kind, PARAMETERS[kind](**wanted)) for kind, wanted in QUERIES]
    assert all(map(is_plain, parsed))
    ids = replace(parsed[0], where=VISIBLE)
    return [check(each, view.definitions) for each in (*parsed, ids)]


def follow(view: View, rng: Random, count: int) -> list[Commit]:
    kinds = [rng.choice([*PARAMETERS]) for _ in range(count)]
    parts = [[made(rng, kind, rng.randrange(1, 40)) for _ in range(rng.randrange(1, 6))] for kind in kinds]
    return [commit(view.seq + 1 + at, changes) for at, changes in enumerate(parts)]


@pytest.mark.slow
@examples(6, 200, SEEDS)
def test_a_view_and_what_changed_after_it_have_the_matches_of_a_view_that_applied_it(seed: int):
    rng = Random(seed)
    view = view_of(rng)
    tail: Tail | None = Tail(view.seq, view.seq)
    commits = follow(view, rng, 6)
    for part in (commits[:2], commits[2:]):
        tail = tail.with_commits(part)
        assert tail is not None
    asked = queries(view)
    found = [view.matches_after(query, tail) for query in asked]
    view.apply(commits)
    assert found == [view.matches(query) for query in asked]
    assert view.matches_after(asked[0], tail) is None


def test_many_wanted_ids_are_not_compared_with_each_entity_one_by_one():
    compared = []

    class Number(int):
        def __eq__(self, other):
            compared.append(other)
            return int(self) == other

        __hash__ = int.__hash__

    wanted = tuple(map(Number, range(1_000, 2_000)))
    for where, entity in (
        (tree.Test("id", Op.IN, wanted), box(1)),
        (tree.Test("media", Op.OVERLAPS, wanted), state(1, media=[2, 3])),
    ):
        kind = Kind.LOCALIZATION if where.op is Op.IN else Kind.STATE
        is_match = row_test(Query(kind=kind, where=where, merge=False))
        assert is_match is not None
        assert not is_match(entity)
    assert len(compared) < 10


@pytest.mark.parametrize(
    "wanted",
    [{"attribute": ["n::1"]}, {"sort_by": ["$frame"]}, {"start": 1}, {"stop": 5}, {"section": 1}],
    ids=lambda wanted: next(iter(wanted)),
)
def test_other_queries_are_left_to_the_view(wanted):
    assert not is_plain(parse(Kind.LOCALIZATION, PARAMETERS[Kind.LOCALIZATION](media_id=[1], **wanted)))


class TestWhatAViewHasToApply:
    def test_definitions(self):
        assert Tail(3, 3).with_commits([commit(4, [boxed(1)]), commit(5, [typed(n="int")])]) is None

    def test_commits_after_others_that_have_expired(self):
        assert Tail(3, 3).with_commits([commit(5, [boxed(1)])]) is None

    def test_more_changes_than_are_worth_it(self, monkeypatch):
        monkeypatch.setattr(tails, "MOST_CHANGES", 3)
        some = [change_of("localization", box(number)) for number in range(4)]
        tail = Tail(0, 0).with_commits([commit(1, some[:3])])
        assert tail is not None
        assert tail.with_commits([commit(2, some[3:])]) is None

    def test_documents_that_take_more_memory_than_is_worth_it(self, monkeypatch):
        monkeypatch.setattr(tails, "MOST_BYTES", 3 * len(change_of("localization", box(1)).doc))
        some = [change_of("localization", box(number)) for number in range(4)]
        tail = Tail(0, 0).with_commits([commit(1, some[:3])])
        assert tail is not None
        assert tail.with_commits([commit(2, some[3:])]) is None


class TestThroughTheService:
    @pytest.fixture
    def here(self, api, project):
        here = settle(api, project)
        here.api.made(here.many, [here.spec(frame=frame) for frame in range(20)])
        assert here.count() == 20
        return here

    def change(self, here):
        """Change the boxes in several requests, and count how often the view applies commits."""
        with patch.object(View, "apply", autospec=True, side_effect=View.apply) as apply:
            assert here.api.patch(here.many, {"attributes": {"count": 5}}, media_id=here.media, count=20).status == 200
            more = here.api.made(here.many, [here.spec(frame=99) for _ in range(3)])
            one = here.api.delete(f"Localization/{more[0]}")
            assert one.status == 200
            assert here.api.patch(here.many, {"attributes": {"count": 6}}, frame=99, count=2).status == 200
            assert here.api.delete(here.many, media_id=here.media, count=22).status == 200
            assert here.api.delete(here.many, media_id=here.media, count=0).status == 200
        return apply.call_count

    def test_bulk_changes_see_each_other_without_applying_any(self, here):
        assert self.change(here) == 0
        assert here.count() == 0
        assert here.count(show_deleted=1) == 23
        assert here.count(attribute="count::6", show_deleted=1) == 2

    def test_they_find_the_same_where_the_view_applies_all(self, here):
        with patch.object(view_queries, "behind", return_value=None):
            assert self.change(here) > 0
        assert here.count() == 0

    def test_a_type_made_meanwhile_can_be_used(self, here):
        spec = {"name": "b", "dtype": "box", "media_types": [here.media_type]}
        other = here.api.made(f"LocalizationTypes/{here.project}", spec)
        here.make(type=other)
        assert here.api.patch(here.many, {"attributes": {}}, media_id=here.media).status == 400
        assert here.api.delete(here.many, type=other, count=1).status == 200
        assert here.count() == 20
