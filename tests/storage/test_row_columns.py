"""Rows that are made column by column are those that are made one by one, whatever the values and the history."""

from __future__ import annotations

from random import Random
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from msgspec.structs import replace

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import GONE, Change, Commit, Touched
from chalicelib.core.log.edits import touched
from chalicelib.core.models.definitions import LocalizationType
from chalicelib.core.models.entities import Localization
from chalicelib.core.values.revisions import Renamed
from chalicelib.storage.view import apply_log
from chalicelib.storage.view.row_columns import Made
from chalicelib.storage.view.rows import with_all_names
from chalicelib.storage.view.view import View
from tests.query.query_rig import box, type_of, types
from tests.query.query_worlds import ODD, PROJECT, SEEDS, attributes, change_of, commit, world
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


# --- commits that say what they touched ------------------------------------------------------------------------------


def in_place(history: list[Commit], *, is_used: bool = True) -> None:
    """Check that a view which writes only what commits touched is the one that writes all columns."""
    updates, update = [], Made.update
    with (
        patch.object(apply_log, "_FEWEST_IN_PLACE", 1),
        patch.object(Made, "update", lambda *given: updates.append(update(*given)) or updates[-1]),
    ):
        view = View(PROJECT)
        for each in history:
            view.apply([each])
        together = View(PROJECT)
        together.apply(history)
    assert any(updates) is is_used
    whole = View(PROJECT)
    whole.apply([replace(each, touched=None) for each in history])
    for each in (view, together):
        assert contents(each) == contents(whole)
        assert units(each) == units(whole)


def rewritten(seq: int, pairs: list[tuple[Any, Any]]) -> Commit:
    """A commit of changed copies that says what they touched, as `steps.apply` makes it."""
    kind = "localization" if isinstance(pairs[0][1], Localization) else "state"
    return replace(commit(seq, [change_of(kind, after) for _, after in pairs]), touched=touched(pairs))


BY = {"modified_by": 4, "modified_datetime": "2026-03-04T05:06:07.000Z"}


@pytest.mark.slow
@examples(6, 300, SEEDS)
def test_a_view_writes_only_what_a_commit_touched(seed: int):
    rng = Random(seed)
    first = world(rng)
    history = first.commits()
    for _ in range(4):
        kind = rng.choice((Kind.LOCALIZATION, Kind.STATE))
        rows, known = first.things[kind], first.definitions.types(kind)
        fixed = BY | {"variant_deleted": rng.random() < 0.5, "latest": rng.random() < 0.5}
        pairs = []
        for place, row in enumerate(rows):
            if rng.random() < 0.7:
                more = {"attributes": row.attributes | attributes(rng, known[row.type])} if rng.random() < 0.6 else {}
                rows[place] = replace(row, **fixed, **more)
                pairs.append((row, rows[place]))
        if pairs:
            history.append(rewritten(history[-1].seq + 1, pairs))
    in_place(history, is_used=len(history) > 2)


BOXES = [box(number, {"n": number, "word": "a", "g": [8.0, number], "v": [1.0, 2.0]}) for number in range(1, 9)]
MADE = [
    commit(1, [typed(n="int", word="string", g="geopos", v="float_array")]),
    commit(2, [change_of("localization", each) for each in BOXES]),
]


def test_tombstones_and_attributes_are_written_in_place():
    buried = [(each, replace(each, variant_deleted=True, **BY)) for each in BOXES[:4]]
    edited = [
        (each, replace(each, attributes={"n": 7, "word": "a", "g": [1.0, 2.0], "v": [3.0, 4.0]}, **BY))
        for _, each in buried
    ]
    in_place([*MADE, rewritten(3, buried), rewritten(4, edited)])
    assert touched(buried) == Touched(["modified_by", "modified_datetime", "variant_deleted"], [])
    assert touched(edited[:1]).attributes == ["g", "n", "v"]


def test_a_row_whose_other_columns_may_have_changed_is_written_whole():
    moved = [(each, replace(each, x=0.5)) for each in BOXES[:4]]
    in_place([*MADE, rewritten(3, moved)], is_used=False)
    buried = [(each, replace(each, variant_deleted=True)) for _, each in moved]
    resized = change_of("localization", replace(buried[0][1], x=0.75))
    in_place([*MADE, rewritten(3, moved[:2]), rewritten(4, buried[:2]), commit(5, [resized])])
    in_place([*MADE[:1], rewritten(2, buried)], is_used=False)  # rows that are not there


def test_rows_that_lie_far_from_each_other_are_written_whole():
    far = [box(1000 * number, {"n": number}) for number in range(1, 9)]
    history = [*MADE[:1], commit(2, [change_of("localization", each) for each in far])]
    buried = rewritten(3, [(each, replace(each, variant_deleted=True)) for each in far])
    in_place([*history, buried], is_used=False)


def test_a_row_of_an_earlier_revision_is_written_whole():
    renamed = type_of(LocalizationType, 1, types(n="int", text="string", g="geopos", v="float_array"), dtype="box")
    renamed.revisions = [Renamed(name="word", to="text")]
    edited = [(each, replace(each, attributes={**each.attributes, "word": "b"})) for each in BOXES]
    history = [*MADE, commit(3, [change_of("localization_type", renamed)]), rewritten(4, edited)]
    in_place(history, is_used=False)


def test_rows_that_move_to_a_version_that_is_deleted_go():
    moved = [(each, replace(each, version=9)) for each in BOXES[:4]]
    deleted = commit(3, [Change("version", 9, GONE)])
    in_place([*MADE, deleted, rewritten(4, moved)], is_used=False)
    in_place([*MADE, rewritten(3, moved), replace(deleted, seq=4)])
    also = [(each, replace(each, latest=False)) for each in BOXES[4:6]]
    in_place([*MADE, deleted, rewritten(4, [*moved, *also])], is_used=False)
