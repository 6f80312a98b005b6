"""A query never returns anything outside the caller's scope."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from chalicelib.access import view_queries
from chalicelib.core.kinds import Kind
from chalicelib.errors import BadInput
from chalicelib.query import check, evaluate, parse, tree
from chalicelib.query.operators import Op
from chalicelib.query.tree import Query, Tree, both, either, negated
from chalicelib.storage.view.view import View
from tests.query.query_rig import Rig, box, media, term
from tests.query.query_worlds import PROJECT, SEEDS
from tests.query.random_queries import asked_world
from tests.sweeps import examples

ROOT = Path(__file__).parents[2]


def random_scope(rng: Random, kind: Kind, depth: int = 2) -> Tree:
    if depth and rng.random() < 0.5:
        terms = [random_scope(rng, kind, depth - 1) for _ in range(2)]
        return rng.choice([both, either])(*terms)
    ids = tuple(rng.sample(range(1, 15), rng.randrange(8)))
    tests = [tree.Test("id", Op.IN, ids), tree.Test("type", Op.EQ, 1), tree.Test("created_by", Op.EQ, 1)]
    test = rng.choice([*tests, tree.Everything(), tree.Nothing()])
    return negated(test) if rng.random() < 0.3 else test


@pytest.mark.slow
@examples(8, 500, SEEDS)
def test_nothing_outside_the_scope_is_ever_found(seed: int):
    world, asked = asked_world(seed)
    rng = Random(seed)
    scope = {kind: random_scope(rng, kind) for kind in Kind if rng.random() < 0.7}
    view = View(PROJECT)
    view.apply(world.commits())
    for kind, parameters, body in asked:
        if kind in scope and rng.random() < 0.5:
            # Whatever a query asks for, even everything.
            allowed = set(evaluate.ids(_plain(kind, scope[kind]), world.things))
            assert (
                set(view.ids(check(Query(kind=kind, show_deleted=True, show_all_marks=True), world.definitions, scope)))
                == allowed
            )
        try:
            query = parse(kind, parameters, body)
            found = view.ids(check(query, world.definitions, scope))
            unpaged = replace(query, start=0, stop=None)
            wider = view.ids(check(unpaged, world.definitions))
        except BadInput:
            continue
        if kind in scope:
            assert set(found) <= set(evaluate.ids(_plain(kind, scope[kind]), world.things))
        if not _turns_over(parameters, body):
            assert set(found) <= set(wider)
    view.close()


def _plain(kind: Kind, where: Tree) -> Query:
    return Query(kind=kind, where=where, merge=False, show_deleted=True, show_all_marks=True)


def _turns_over(parameters, body) -> bool:
    """Whether narrowing something inside the question may widen its answer: what is negated, hidden by a variant."""
    given = (parameters.encoded_search, body.object_search, parameters.search)
    related = (
        getattr(parameters, name, None) for name in ("encoded_related_search", "annotation_search", "media_search")
    )
    merges = getattr(parameters, "version", None) or getattr(parameters, "exclude_parents", 0)
    return bool(merges) or any(given) or any(related)


def test_nested_searches_do_not_look_outside_either():
    rig = Rig(media(1, attributes={"site": "x"}), media(2, attributes={"site": "x"}), box(1, media=1), box(2, media=2))
    scope = {Kind.MEDIA: tree.Test("id", Op.EQ, 1)}
    assert rig.ask(scope=scope, related_attribute=["site::x"]) == [1]
    assert rig.ask(scope=scope) == [1, 2]
    nested = term("$related_media", "search", term("$id", "gt", 0))
    assert rig.ask(scope=scope, body={"object_search": nested}) == [1]
    assert rig.ask(
        Kind.MEDIA, scope=scope, body={"object_search": {"method": "or", "operations": [nested_media()]}}
    ) == [1]


def nested_media():
    return term("$related_localizations", "search", term("$id", "gt", 0))


@pytest.mark.parametrize(
    "query", [view_queries.ids, view_queries.count, view_queries.documents, view_queries.statistics]
)
def test_a_query_cannot_be_written_without_a_scope(query):
    assert inspect.signature(query).parameters["scope"].default is inspect.Parameter.empty


def test_only_view_queries_run_queries_on_a_view():
    sources = [path for layer in ("http", "resources", "api") for path in (ROOT / "chalicelib" / layer).rglob("*.py")]
    bypassing = re.compile(r"\bview\.(ids|count|documents|statistics)\(")
    assert [str(path) for path in sources if bypassing.search(path.read_text())] == []
