"""Held vectors and their codes find what a plain look at each finds, after any changes between two queries."""

from __future__ import annotations

import math
import random
import sys
import time
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import strategies as st

from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import LocalizationType
from chalicelib.core.time import deadline
from chalicelib.core.values.attributes import AttributeType
from chalicelib.core.values.revisions import Renamed
from chalicelib.errors import Unavailable
from chalicelib.query import check, parse
from chalicelib.query.evaluate import distance
from chalicelib.query.parsers.bodies import FloatArrayQuery, LocalizationIdQuery
from chalicelib.query.parsers.parameters import LocalizationQuery
from chalicelib.query.tree import Nearest, Query
from chalicelib.query.values import packed_array
from chalicelib.query.vector_codes import code
from chalicelib.settings import settings
from chalicelib.storage.view import vector_column
from chalicelib.storage.view.database.engine import _PROCESS, budgets, engine
from chalicelib.storage.view.vector_search import estimated, vectors
from chalicelib.storage.view.vector_search.codes import Codes
from chalicelib.storage.view.vector_search.vectors import Vectors, order, within
from chalicelib.storage.view.view import View
from tests.query.query_rig import box, type_of
from tests.query.query_worlds import PROJECT, change_of, commit
from tests.storage.commits import reopened
from tests.storage.test_view import gone
from tests.sweeps import examples

WHOLE = st.integers(-3, 3).map(float)
VECTORS = st.none() | st.lists(WHOLE, max_size=3)
CHANGES = st.dictionaries(st.integers(1, 12), VECTORS, max_size=8)
METRICS = ["l2norm", "l1norm", "ip", "cosine"]
EXACT = ["l2norm", "l1norm", "ip"]
"""Distances of small whole numbers that every way to compute them makes the same."""
NEAREST = st.builds(
    Nearest,
    name=st.just("v"),
    center=st.lists(WHOLE, min_size=1, max_size=3).map(tuple),
    metric=st.sampled_from(EXACT),
    descending=st.booleans(),
    lower=st.none() | WHOLE,
    upper=st.none() | WHOLE,
    types=st.just((1,)),
)


@pytest.fixture
def codes(monkeypatch):
    """Vectors are held as codes."""
    monkeypatch.setattr(vectors, "WHOLE", 0)
    monkeypatch.setattr(estimated, "_FEW", 1)


@pytest.fixture(params=["whole", "codes"])
def held(request):
    """How vectors are held."""
    if request.param == "codes":
        request.getfixturevalue("codes")
    return request.param


class Column:
    """A source of vectors that remembers which were read."""

    def __init__(self, rows=None):
        self.values = {}
        self.vectors = Vectors()
        self.asked = []
        self.fixed_rows = rows

    @property
    def rows(self):
        return self.fixed_rows or len(self.values)

    def all(self):
        self.asked.append(None)
        return self._packed(self.values)

    def some(self, numbers):
        self.asked.append(numbers)
        return self._packed(numbers)

    def codes(self, start):
        found = [(number, code(packed)) for number, packed in self._packed(self.values)]
        for place in range(start, len(found), 5):
            yield found[place : place + 5], place + 5

    def _packed(self, numbers):
        return [(each, packed_array(self.values[each])) for each in numbers if self.values.get(each) is not None]

    def change(self, changes):
        self.values |= changes
        self.vectors.mark_changed(changes)

    def measured(self, *nearest):
        return [self.vectors.distances(each, self) for each in nearest]

    def listed(self, *nearest, shown, start=0, stop=None):
        """What a query over the things that are shown, in the order of their ids, finds."""
        query = Query(kind=Kind.LOCALIZATION, nearest=nearest, start=start, stop=stop)

        def ask(among):
            return [(each,) for each in sorted(shown) if among is None or each in set(among)]

        return [number for (number,) in order(query, self.measured(*nearest), ask)]


def expected(values, nearest, shown):
    """The same one by one."""
    found = []
    for number in sorted(shown):
        far = [distance(each, SimpleNamespace(type=1, attributes={"v": values.get(number)})) for each in nearest]
        if all(
            (each.lower is None and each.upper is None)
            or (
                own is not None
                and (each.lower is None or own >= each.lower)
                and (each.upper is None or own <= each.upper)
            )
            for each, own in zip(nearest, far, strict=True)
        ):
            ranks = [
                math.inf if own is None else -own if each.descending else own
                for each, own in zip(nearest, far, strict=True)
            ]
            found.append((ranks, number))
    return [number for _, number in sorted(found)]


@pytest.mark.slow
@pytest.mark.usefixtures("held")
@examples(
    80,
    2000,
    st.lists(st.tuples(CHANGES, st.lists(NEAREST, min_size=1, max_size=2)), min_size=1, max_size=6),
    st.sets(st.integers(1, 12)),
    st.integers(0, 4),
    st.none() | st.integers(0, 8),
)
def test_any_history_of_changes_and_questions_finds_what_a_look_at_each_finds(history, shown, start, stop):
    column = Column()
    for changes, nearest in history:
        column.change(changes)
        plain = expected(column.values, nearest, shown)
        assert column.listed(*nearest, shown=shown, start=start, stop=stop) == plain[start:stop]
        among = within(column.measured(*nearest))
        assert sorted(shown if among is None else shown & set(among)) == sorted(plain)


@pytest.mark.slow
@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("descending", [False, True])
def test_who_wants_few_gets_them_though_most_of_the_nearest_are_not_in_the_list(metric, descending):
    column = Column()
    column.change({number: [math.cos(number / 2000), math.sin(number / 2000)] for number in range(1, 6001)})
    nearest = Nearest("v", (1.0, 0.0), metric=metric, descending=descending, types=(1,))
    shown = {*range(2901, 3101), 7000}  # neither the nearest nor the farthest thousands, and one without a vector
    plain = expected(column.values, [nearest], shown)
    assert plain[-1] == 7000
    assert column.listed(nearest, shown=shown, stop=20) == plain[:20]
    assert column.listed(nearest, shown=shown, start=195, stop=300) == plain[195:]


@pytest.mark.usefixtures("held")
def test_things_as_far_are_all_looked_at_for_the_query_says_which_comes_first():
    column = Column()
    column.change({number: [1.0] for number in range(1, 1001)})
    nearest = Nearest("v", (0.0,), types=(1,))
    assert column.listed(nearest, shown={990, 500}, stop=1) == [500]


def test_only_what_changed_is_fetched_again_unless_that_is_most():
    column = Column()
    nearest = Nearest("v", (0.0,), types=(1,))
    column.change({number: [float(number)] for number in range(1, 11)})
    column.measured(nearest)
    column.measured(nearest)
    column.change({3: None, 11: [0.5], 4: [9.5]})
    assert column.listed(nearest, shown=range(1, 12)) == [11, 1, 2, 5, 6, 7, 8, 9, 4, 10, 3]
    column.change({number: [2.0] for number in range(1, 12)})
    column.measured(nearest)
    assert column.asked == [None, [3, 4, 11], None]


@pytest.mark.usefixtures("held")
def test_what_is_beyond_32_bits_or_without_direction_has_no_distance():
    column = Column()
    column.change({1: [3e38, 3e38], 2: [1.0, 0.0], 3: [0.0, -0.0], 4: [-3e38, 3e38]})
    shown = {1, 2, 3, 4}
    assert column.listed(Nearest("v", (3e38, 3e38), types=(1,), metric="ip"), shown=shown) == [2, 3, 1, 4]
    assert column.listed(Nearest("v", (1.0, 0.0), types=(1,), metric="cosine", upper=2.0), shown=shown) == [2]
    assert column.listed(Nearest("v", (0.0, 0.0), types=(1,), metric="cosine", upper=2.0), shown=shown) == []


def cloud(style, rows, length, rng):
    """Vectors: random ones, around a few centers, or so close together that their codes are the same."""
    spread = {"random": 1.0, "clustered": 0.3, "tight": 1e-3}[style]
    around = [[rng.gauss(0, 1) if style != "random" else 0.0 for _ in range(length)] for _ in range(5)]
    return {number: [each + spread * rng.gauss(0, 1) for each in around[number % 5]] for number in range(1, rows + 1)}


@pytest.mark.parametrize("style", ["random", "clustered", "tight"])
def test_the_recall_of_codes_is_one_until_more_are_close_than_are_read(style, codes, monkeypatch):
    rng, length = random.Random(style), 16
    column = Column()
    column.change(cloud(style, 600, length, rng))
    center = tuple(each + 0.1 for each in column.values[7])
    for metric in METRICS:
        nearest = Nearest("v", center, metric=metric, types=(1,))
        plain = expected(column.values, [nearest], column.values)
        for most in (10, 100):
            assert recall(column.listed(nearest, shown=column.values, stop=most), plain[:most]) == 1
    # With fewer vectors read than are close together, the estimates decide.
    monkeypatch.setattr(estimated, "MOST_READ", 10)
    nearest = Nearest("v", center, types=(1,))
    plain = expected(column.values, [nearest], column.values)
    assert recall(column.listed(nearest, shown=column.values, stop=10), plain[:10]) >= {"tight": 0.1}.get(style, 0.9)


def recall(found, right):
    assert len(found) == len(right)
    return len(set(found) & set(right)) / len(right)


def test_only_the_vectors_that_decide_are_read():
    rng = random.Random(1)
    column = Column(rows=10**9)
    column.change(cloud("random", 1000, 16, rng))
    nearest = Nearest("v", tuple(column.values[7]), types=(1,))
    assert column.listed(nearest, shown=column.values, stop=10)[0] == 7
    assert None not in column.asked
    assert sum(map(len, column.asked)) < 100


def test_codes_beyond_the_memory_are_read_for_each_query(monkeypatch):
    monkeypatch.setattr(vectors, "_SHARE", 0)
    column = Column(rows=10**9)
    column.change(cloud("clustered", 200, 8, random.Random(3)))
    nearest = Nearest("v", tuple(column.values[7]), types=(1,))
    plain = expected(column.values, [nearest], column.values)
    for _ in range(2):
        assert column.listed(nearest, shown=column.values, stop=20) == plain[:20]
    assert column.vectors.memory < 1000


@pytest.mark.parametrize("moves", [False, True])
def test_codes_that_were_read_before_the_time_ended_are_kept(codes, monkeypatch, moves):
    """The next query reads the rest, and what changed meanwhile; all anew only where rows got other places."""
    monkeypatch.setattr(vector_column, "_ROWS", 10)
    rng = random.Random(11)
    kinds = [AttributeType(name="v", dtype="float_array")]
    values = cloud("clustered", 50, 6, rng)
    view = View(PROJECT)
    boxes = [change_of("localization", box(n, {"v": each}, type=1)) for n, each in values.items()]
    view.apply([commit(1, [change_of("localization_type", type_of(LocalizationType, 1, kinds, dtype="box")), *boxes])])
    parts: list[int] = []
    run = view.store.run
    ends = {3}

    def counted(text, parameters=(), **more):
        if "rowid >=" in text:
            parts.append(parameters[0])
            if len(parts) in ends:
                deadline._END.set(time.monotonic() - 1)
        return run(text, parameters, **more)

    monkeypatch.setattr(view.store, "run", counted)
    center = [each + 0.1 for each in values[7]]
    body = LocalizationIdQuery(float_array=[FloatArrayQuery(name="v", center=center)])
    query = check(parse(Kind.LOCALIZATION, LocalizationQuery(type=1, stop=8), body), view.definitions)
    with deadline.time_limit(20), pytest.raises(Unavailable, match="what was read is kept"):
        view.ids(query)
    assert parts == [0, 10, 20]
    assert view.store.engine._held[view.store.name] == view._packed > 0
    # Changed and deleted rows of both halves, and a new one.
    values |= {3: center, 44: [each + 0.01 for each in center], 60: [each + 0.02 for each in center]}
    changed = [change_of("localization", box(n, {"v": values[n]}, type=1)) for n in (3, 44, 60)]
    view.apply([commit(2, [*changed, gone("localization", 8), gone("localization", 45)])])
    del values[8], values[45]
    if moves:
        view.compress()
    parts.clear()
    ends.clear()
    plain = expected(values, [Nearest("v", tuple(center), types=(1,))], values)
    with deadline.time_limit(20):
        assert view.ids(query) == plain[:8]
        assert parts == [*range(0 if moves else 20, 60, 10)]
        assert view.ids(query) == plain[:8]
    assert parts[-1] == 50


def test_what_vectors_take_duckdb_and_documents_do_not():
    whole = settings().view_memory
    python = whole * _PROCESS
    for share in (0.0, 0.1, 0.25, vectors._SHARE):
        assert sum(budgets(int(share * whole))) + share * whole + python <= whole
    assert budgets(0) == (whole * 0.5, whole * 0.15)
    for before, after in pairwise(range(0, int(whole * 0.6), int(whole * 0.1))):
        assert budgets(after) <= budgets(before)
    assert min(budgets(10 * whole)) > 0


def test_the_engine_keeps_less_while_vectors_are_held():
    own = engine()
    before = own.packs._budget

    def limit():
        return own._root.execute("SELECT current_setting('memory_limit')").fetchone()

    full = limit()
    own.record_vectors("v0", int(settings().view_memory * vectors._SHARE))
    assert own.packs._budget < before
    assert limit() != full
    own.record_vectors("v0", 0)
    assert (own.packs._budget, limit()) == (before, full)


@pytest.mark.slow
def test_a_view_finds_the_same_by_vectors_and_by_codes(monkeypatch):
    """Of two types that share a column, after changes, deletions, renames and from a snapshot."""
    rng = random.Random(5)

    def vector_type(number, *names, **more):
        kinds = [AttributeType(name=name, dtype="float_array") for name in names]
        return change_of("localization_type", type_of(LocalizationType, number, kinds, dtype="box", **more))

    def some(type_, name, numbers):
        made = cloud("clustered", 40, 6, rng)
        return [change_of("localization", box(n, {name: made[1 + n % 40]}, type=type_)) for n in numbers]

    steps = [
        [vector_type(1, "v"), vector_type(2, "w"), *some(1, "v", range(1, 41)), *some(2, "w", range(41, 61))],
        some(1, "v", (3, 70)),
        [gone("localization", 5)],
        [vector_type(1, "u", revisions=[Renamed("v", "u")])],
        some(1, "u", (9,)),
        [change_of("localization", box(100, {"u": [1e38] * 6}, type=1))],  # without a code
    ]
    view = View(PROJECT)

    def found(type_, name):
        nearest = [FloatArrayQuery(name=name, center=[0.1] * 6, metric=metric) for metric in ("cosine", "l1norm")]
        asked = LocalizationIdQuery(float_array=nearest)
        return view.ids(check(parse(Kind.LOCALIZATION, LocalizationQuery(type=type_), asked), view.definitions))

    for seq, step in enumerate(steps, 1):
        view.apply([commit(seq, step)])
        if seq == 5:
            view = reopened(view)
        by_way = []
        for size in (0, 10**9):
            monkeypatch.setattr(vectors, "WHOLE", size)
            if size:
                view._vectors.clear()
            by_way.append([found(1, "u" if seq > 3 else "v"), found(2, "w")])
        assert by_way[0] == by_way[1]
        assert len(by_way[0][0]) >= 39
        if seq != 5:
            view._vectors.clear()
            monkeypatch.setattr(vectors, "WHOLE", 0)
            found(1, "u" if seq > 3 else "v")  # so that the next step changes what is held as codes


@pytest.mark.parametrize("metric", ["cosine", "ip", "l2norm"])
def test_no_reference_is_lost_by_a_question(metric):
    """One that took references to None would end a process that answers questions for long."""
    held = Codes()
    held.add([(number, code(packed_array([1.0, float(number)]))) for number in range(4)])
    before = sys.getrefcount(None)
    for _ in range(200):
        held.estimate(Nearest("v", (0.5, 0.25), metric))
    assert abs(sys.getrefcount(None) - before) < 100
