"""Rows that are made column by column are those that are made one by one, whatever the values and the history."""

from __future__ import annotations

from random import Random
from unittest.mock import patch

import msgspec
import pytest

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import GONE, Change, Commit
from chalicelib.core.models.definitions import LocalizationType
from chalicelib.core.values.revisions import Renamed
from chalicelib.storage.view import apply_log
from chalicelib.storage.view.rows import with_all_names
from chalicelib.storage.view.view import View
from tests.query.query_rig import box, type_of, types
from tests.query.query_worlds import ODD, PROJECT, SEEDS, change_of, commit, world
from tests.storage.commits import all_of, boxed, contents, typed
from tests.sweeps import examples

VALUES = (*ODD, 0, -0.0, 2**63 - 1, -(2**63), 2**63, "ä\0b", "2026-01-02T03:04:05+02:00", [200.0, 1], [1e300, "2"], {})


def made(commits: list[Commit], fewest: int) -> View:
    """A view of commits whose rows are made in columns from `fewest` rows on."""
    with patch.object(apply_log, "_FEWEST_IN_COLUMNS", fewest):
        view = View(PROJECT)
        view.apply(commits)
        return view


def units(view: View) -> list[tuple[object, ...]]:
    """The unit vectors of all places, rounded to what a float of 32 bits has."""
    columns = [f"{column}{axis}" for column, its in view.state.layout.sql_types[Kind.LOCALIZATION].items()
               if its == "DOUBLE[2]" for axis in "xyz"]  # fmt: skip
    rows = view.store.run(f"SELECT id{''.join(f', {each}' for each in columns)} FROM localization ORDER BY id")
    return [tuple(each if each is None else round(each, 6) for each in row) for row in rows]


def same(commits: list[Commit]) -> None:
    by_row, by_column = made(commits, 10**9), made(commits, 1)
    assert contents(by_column) == contents(by_row)
    assert units(by_column) == units(by_row)


@pytest.mark.slow
@examples(6, 500, SEEDS)
def test_random_worlds(seed: int):
    same(world(Random(seed)).commits())


@pytest.mark.slow
def test_values_of_every_kind_under_every_dtype():
    names = ("bool", "int", "float", "enum", "string", "datetime", "geopos", "float_array", "blob")
    definition = change_of(
        "localization_type", type_of(LocalizationType, 1, types(**{n: n for n in names}), dtype="box")
    )
    boxes = [boxed(number, dict.fromkeys(names, value)) for number, value in enumerate(VALUES, 1)]
    same([commit(1, [definition]), commit(2, boxes)])
    for each in boxes:  # alone, where no other value decides how its column is made
        same([commit(1, [definition]), commit(2, [each])])


def test_changes_deletions_revisions_and_types_without_definition():
    definition = type_of(LocalizationType, 1, types(n="int", word="string"), dtype="box")
    renamed = type_of(LocalizationType, 1, types(n="int", text="string"), dtype="box")
    renamed.revisions = [Renamed(name="word", to="text")]
    rows = [boxed(number, {"n": number, "word": str(number)}, type=1 + number % 2) for number in range(1, 40)]
    history = [
        commit(1, [change_of("localization_type", definition)]),
        commit(2, rows),
        commit(3, [Change("localization", number, GONE) for number in range(1, 9)]),
        commit(4, [boxed(number, {"n": -number}) for number in range(5, 30)]),
        commit(5, [change_of("localization_type", renamed), *rows[30:]]),
    ]
    same(history)


def test_a_value_that_fits_no_column_is_refused_as_one_by_one():
    huge = box(2, {})
    huge.media = 2**64
    commits = [commit(1, [typed(n="int"), boxed(1)]), commit(2, [change_of("localization", huge)])]
    for fewest in (1, 10**9):
        with pytest.raises(Exception, match=r"18446744073709551616|range|INT64|convert"):
            made(commits, fewest)


def test_what_fails_leaves_the_view_as_it_was():
    broken = Change("localization", 9, msgspec.Raw(b'{"id": 9}'))
    view = made([commit(1, [typed(n="int"), boxed(1, {"n": 1})])], 1)
    with patch.object(apply_log, "_FEWEST_IN_COLUMNS", 1):
        with pytest.raises(msgspec.ValidationError):
            view.apply([commit(2, [typed(n="int", more="int"), boxed(2)]), commit(3, [broken])])
        assert view.ids(all_of(Kind.LOCALIZATION)) == [1]
        view.apply([commit(2, [boxed(3, {"n": 3})])])
    assert view.ids(all_of(Kind.LOCALIZATION)) == [1, 3]


def test_only_documents_that_lack_an_older_name_are_decoded_to_be_shown():
    plain = msgspec.json.encode({"id": 1, "attributes": {"site": "x"}})
    lacks = msgspec.json.encode({"id": 2, "attributes": {"tator_user_sections": "s"}})
    has = msgspec.json.encode({"id": 3, "attributes": {"tator_user_sections": "s", "svc_user_sections": "s"}})
    shown = with_all_names(Kind.MEDIA, [plain, lacks, has])
    assert shown[0] is plain
    assert msgspec.json.decode(shown[1]) == msgspec.json.decode(has) | {"id": 2}
    assert shown[2] is has
