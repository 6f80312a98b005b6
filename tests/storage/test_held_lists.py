"""Lists from held orders are those of DuckDB, whatever was changed between them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import msgspec
import pytest

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import GONE, Change
from chalicelib.core.models.definitions import LocalizationType, MediaType, StateType
from chalicelib.query import check, parse
from chalicelib.query.parsers.parameters import LocalizationQuery, MediaQuery, StateQuery
from chalicelib.query.tree import Query
from chalicelib.storage.view import held_lists
from chalicelib.storage.view.view import View
from tests.query.query_rig import box, media, state, type_of
from tests.query.query_worlds import PROJECT, SEEDS, change_of, commit
from tests.sweeps import examples

QUERIES: list[tuple[Kind, dict[str, Any]]] = [
    *((Kind.LOCALIZATION, {"media_id": [number]}) for number in (1, 2, 3, 9)),
    (Kind.LOCALIZATION, {"media_id": [3, 1, 1, 9], "start": 1, "stop": 6}),
    (Kind.LOCALIZATION, {"media_id": [2], "type": 2}),
    (Kind.LOCALIZATION, {"media_id": [2, 1], "type": 1}),
    *((Kind.STATE, {"media_id": [number]}) for number in (1, 3)),
    (Kind.STATE, {"media_id": [1, 2], "stop": 4}),
    (Kind.MEDIA, {}),
    (Kind.MEDIA, {"start": 1, "stop": 3}),
]
PARAMETERS = {Kind.LOCALIZATION: LocalizationQuery, Kind.STATE: StateQuery, Kind.MEDIA: MediaQuery}


def made(rng: Random, kind: Kind, number: int) -> Change:
    """A new or changed entity, or a deletion."""
    if rng.random() < 0.2:
        return Change(kind.value, number, GONE)
    hidden = {"latest": rng.random() < 0.9, "variant_deleted": rng.random() < 0.1, "type": rng.choice([1, 2])}
    match kind:
        case Kind.MEDIA:
            name = rng.choice(["b", "a", "ä", "B", "a\U0001f600", "a\uffff"])
            return change_of("media", media(number, name, archive_state=rng.choice(["live", "live", "archived"])))
        case Kind.STATE:
            return change_of("state", state(number, media=rng.choices([1, 2, 3], k=rng.randrange(4)), **hidden))
        case _:
            return change_of("localization", box(number, media=rng.choice([1, 2, 3]), **hidden))


def view_of(rng: Random) -> View:
    view = View(PROJECT)
    types = [
        change_of("media_type", type_of(MediaType, 1, [], dtype="video")),
        *(change_of("localization_type", type_of(LocalizationType, number, [], dtype="box")) for number in (1, 2)),
        *(change_of("state_type", type_of(StateType, number, [], association="Media")) for number in (1, 2)),
    ]
    things = [made(rng, kind, number) for kind in PARAMETERS for number in range(1, 30)]
    view.apply([commit(1, types), commit(2, things)])
    return view


def query_of(view: View, kind: Kind, given: dict[str, Any]) -> Query:
    return check(parse(kind, PARAMETERS[kind](**given)), view.definitions)


def listed(view: View, query: Query) -> list[int]:
    return [msgspec.json.decode(each)["id"] for each in view.documents(query)]


def is_held(view: View) -> list[bool]:
    held = view._held
    return [each._stale is not None for each in (*held._of_media.values(), held._by_name)]


def check_lists(view: View) -> None:
    for kind, given in QUERIES:
        query = query_of(view, kind, given)
        expected = view.ids(query)
        assert listed(view, query) == expected, (kind, given)
        documents = view.documents(query)
        assert documents == [view.document(kind, number) for number in expected]


@pytest.mark.slow
@examples(2, 100, SEEDS)
def test_changes_are_followed(seed: int):
    rng = Random(seed)
    view = view_of(rng)
    for _ in range(3):
        check_lists(view)
        assert is_held(view) == [True, True, True]
        some = [made(rng, rng.choice(list(PARAMETERS)), rng.randrange(1, 40)) for _ in range(rng.randrange(12))]
        view.apply([commit(view.seq + 1, some)])
    check_lists(view)


def test_a_deleted_type_takes_its_annotations_along():
    view = view_of(Random(1))
    check_lists(view)
    view.apply([commit(view.seq + 1, [Change("localization_type", 1, GONE)])])
    check_lists(view)
    assert {msgspec.json.decode(each)["type"] for each in view.documents(query_of(view, *QUERIES[0]))} == {2}


def asked(view: View, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that the view runs from now on."""
    found: list[str] = []
    run = view.store.run

    def note(text: str, parameters: Sequence[Any] = (), **more: Any) -> list[Any]:
        found.append(text)
        return run(text, parameters, **more)

    monkeypatch.setattr(view.store, "run", note)
    return found


def test_a_held_list_needs_no_statement(monkeypatch):
    view = view_of(Random(1))
    check_lists(view)
    statements = asked(view, monkeypatch)
    for kind, given in QUERIES:
        view.documents(query_of(view, kind, given))
    assert statements == []
    view.apply([commit(view.seq + 1, [change_of("localization", box(50, media=1))])])
    assert listed(view, query_of(view, *QUERIES[0]))[-1] == 50
    assert len(statements) == 1
    view.documents(query_of(view, *QUERIES[1]))
    assert len(statements) == 1


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (Kind.LOCALIZATION, {"media_id": [1], "sort_by": ["$frame"]}),
        (Kind.LOCALIZATION, {"media_id": [1], "show_deleted": True}),
        (Kind.LOCALIZATION, {"media_id": [1], "show_all_marks": True}),
        (Kind.LOCALIZATION, {"media_id": [1], "version": [1]}),
        (Kind.LOCALIZATION, {"media_id": [1], "version": [1, 2]}),
        (Kind.LOCALIZATION, {"media_id": [1], "exclude_parents": True}),
        (Kind.LOCALIZATION, {"media_id": [1], "after": 5}),
        (Kind.LOCALIZATION, {"type": 1}),
        (Kind.LOCALIZATION, {}),
        (Kind.MEDIA, {"archive_lifecycle": "all"}),
        (Kind.MEDIA, {"sort_by": ["-$name"]}),
        (Kind.MEDIA, {"media_id": [1, 2]}),
    ],
)
def test_any_other_list_is_left_to_duckdb(kind, given, monkeypatch):
    view = view_of(Random(2))
    check_lists(view)
    query = query_of(view, kind, given)
    expected = view.ids(query)
    statements = asked(view, monkeypatch)
    assert listed(view, query) == expected
    assert len(statements) == 1


def test_an_order_that_changes_much_is_given_up_and_later_read_again(monkeypatch):
    monkeypatch.setattr(held_lists, "MOST_STALE", 3)
    view = view_of(Random(3))
    check_lists(view)
    view.apply([commit(view.seq + 1, [change_of("localization", box(number, media=1)) for number in range(60, 64)])])
    assert is_held(view) == [False, True, True]
    query = query_of(view, *QUERIES[0])
    for _ in range(2 * held_lists.FIRST_LISTS):
        assert listed(view, query)[-1] == 63
        assert is_held(view) == [False, True, True]
    assert listed(view, query)[-1] == 63
    assert is_held(view) == [True, True, True]


@pytest.mark.slow
def test_many_changes_beside_an_order_end_it(monkeypatch):
    monkeypatch.setattr(held_lists, "MOST_MOVED", 3)
    view = view_of(Random(3))
    check_lists(view)
    for number in range(60, 66):
        view.apply([commit(view.seq + 1, [change_of("localization", box(number, media=1))])])
        listed(view, query_of(view, *QUERIES[0]))
    assert is_held(view) == [False, True, True]
    check_lists(view)


@pytest.mark.slow
def test_a_kind_with_too_many_rows_is_not_held(monkeypatch):
    for held in (held_lists._OfMedia, held_lists._ByName):
        monkeypatch.setattr(held, "most", 5)
    view = view_of(Random(4))
    for _ in range(3):
        check_lists(view)
    assert is_held(view) == [False, False, False]


def test_memory_grows_with_what_is_held():
    view = view_of(Random(5))
    before = view.memory
    check_lists(view)
    assert view.memory - before == view._held.memory > 1000
