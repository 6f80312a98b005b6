"""Held vectors and their codes find what a plain look at each finds, after any changes between two queries."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
from hypothesis import strategies as st

from chalicelib.core.kinds import Kind
from chalicelib.query.evaluate import distance
from chalicelib.query.tree import Nearest, Query
from chalicelib.query.values import packed_array
from chalicelib.query.vector_codes import code
from chalicelib.storage.view import estimated, vectors
from chalicelib.storage.view.vectors import Vectors, order, within
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


@pytest.fixture(params=["whole", "codes"])
def held(request, monkeypatch):
    """How vectors are held."""
    if request.param == "codes":
        monkeypatch.setattr(vectors, "WHOLE", 0)
        monkeypatch.setattr(estimated, "_FEW", 1)
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
        self.vectors.note(changes)

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
