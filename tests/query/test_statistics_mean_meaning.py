"""Statistics in SQL and on plain Python values agree on every random world, query and aggregate."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from chalicelib.core.kinds import Kind
from chalicelib.errors import BadInput
from chalicelib.query import check, parse
from chalicelib.query.statistics.aggregates import MEASURES, UNITS, Written, bind
from chalicelib.query.tree import Query
from chalicelib.storage.view.view import View
from tests.query import aggregate_evaluate
from tests.query.query_worlds import PROJECT, SEEDS, World
from tests.query.random_queries import Asked, Asker, asked_world
from tests.query.test_scope import random_scope
from tests.sweeps import examples

COLUMNS = {
    Kind.MEDIA: "$id $type $name $fps $num_frames $duration $section $created_by $created_datetime $total_size",
    Kind.LOCALIZATION: "$media $frame $x $version $type $section $created_by $created_datetime $variant_deleted"
    " $media.$name $media.$fps $media.n $media.s",
    Kind.STATE: "$media $frame $version $section $media.$name $media.$num_frames $media.s $created_datetime",
}


class Statistician:
    """Asks for random statistics of one world, mostly such as can be answered."""

    def __init__(self, rng: Random, world: World) -> None:
        self.rng = rng
        self.made = world.definitions
        self.asker = Asker(rng, self.made)

    def name(self, kind: Kind) -> str:
        own = [name for name, _ in (self.asker.name(kind) for _ in range(2)) if not name.startswith("$")]
        return self.rng.choice([*own, *own, *COLUMNS[kind].split()])

    def group(self, kind: Kind) -> str:
        bins = ["", "", "1", "2", "0.5", "0.1", "7", "10", "1e-9", *UNITS]
        bin_ = self.rng.choice(bins)
        return self.name(kind) + (f"::{bin_}" if bin_ else "")

    def measure(self, kind: Kind) -> str:
        word = self.rng.choice(["count", "maxn", "cover", *MEASURES])
        if word in ("count", "maxn"):
            return word
        if word == "cover":
            return f"cover::{self.name(kind)}{self.rng.choice(['', '::stratified'])}"
        fraction = f"::{self.rng.choice(['0', '0.3', '0.5', '1'])}" if word == "quantile" else ""
        return f"{word}::{self.name(kind)}{fraction}"

    def some(self, member: str, query: Query, make: Callable[[Kind], str], most: int) -> list[str]:
        """Different texts that can be answered one by one."""
        found: dict[str, None] = {}
        for _ in range(4 * self.rng.randrange(most)):
            text = make(query.kind)
            try:
                bind(Written(**{member: [text]}), query, self.made)
            except BadInput:
                continue
            found[text] = None
        return list(found)[: most - 1]

    def written(self, query: Query) -> Written:
        rng = self.rng
        if rng.random() < 0.25 and (facets := self.some("facets", query, self.group, 5)):
            return Written(facets=facets, limit=rng.choice([None, 1, 3]))
        groups = self.some("group_by", query, self.group, 4)
        measures = self.some("measure", query, self.measure, 4)
        for each in measures:  # the attribute of a cover is a group, of which there are three
            if each.startswith("cover") and len({*groups, each.split("::")[1]}) > 3:
                measures = [other for other in measures if other != each]
            elif each.startswith("cover"):
                groups = list(dict.fromkeys([*groups, each.split("::")[1]]))
        columns = [name for name in (*groups, *measures) if name != "maxn"]
        order = [rng.choice(["", "-"]) + rng.choice(columns) for _ in range(rng.randrange(2)) if columns]
        return Written(group_by=groups, measure=measures, order_by=order, limit=rng.choice([None, None, 2]))


def statistics_agree(world: World, asked: Asked, rng: Random, scope: Any = None) -> list[int]:
    """The number of entities that each question measured; -1 where it was refused."""
    view = View(PROJECT)
    view.apply(world.commits())
    found = []
    for kind, parameters, body in asked:
        if kind not in COLUMNS:
            continue
        try:
            query = check(parse(kind, parameters, body), view.definitions, scope)
        except BadInput:
            found.append(-1)
            continue
        written = Statistician(rng, world).written(query)
        aggregate = bind(written, query, view.definitions, (scope or {}).get(Kind.MEDIA))
        expected = aggregate_evaluate.statistics(query, aggregate, world.things)
        actual = view.statistics(query, aggregate)
        found.append(expected.matched)
        assert actual[:2] == expected[:2], aggregate
        assert same(actual.rows, expected.rows), (aggregate, actual.rows, expected.rows)
    view.close()
    return found


def same(one: Any, other: Any) -> bool:
    """Whether nested rows are equal; sums of floats depend on their order."""
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) or isinstance(other, float):
        return (
            one is not None
            and other is not None
            and (one == other or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9))
        )
    return bool(one == other)


@pytest.mark.slow
@examples(10, 600, SEEDS)
def test_statistics_in_sql_equal_plain_python(seed: int):
    statistics_agree(*asked_world(seed), Random(seed))


@pytest.mark.slow
@examples(6, 300, SEEDS)
def test_statistics_count_only_what_the_caller_may_see(seed: int):
    rng = Random(seed)
    scope = {kind: random_scope(rng, kind) for kind in Kind if rng.random() < 0.7}
    statistics_agree(*asked_world(seed), rng, scope)


@pytest.mark.slow
def test_most_random_statistics_are_answered():
    found = [number for seed in range(12) for number in statistics_agree(*asked_world(seed), Random(seed))]
    assert sum(number >= 0 for number in found) > len(found) * 0.3
    assert sum(number > 0 for number in found) > len(found) * 0.1
