"""Built-in fields by their `$` names, in filters and in object searches."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.rulebook import rule
from tests.rules.worlds import KINDS, World, encoded, term, world_of_letters


@pytest.fixture(scope="module")
def world() -> World:
    """Letters, media B having 5 frames at 25 a second."""
    made = world_of_letters()
    path = f"Media/{made.ids['media']['B']}"
    said = made.api.patch(path, {"num_frames": 5, "fps": 25.5, "codec": "h264", "width": 640, "height": 480})
    assert said.status == 200, said.body
    return made


ANNOTATIONS = ("localization", "state")
NAMED = ("media", "leaf", "file")
TIMES = ("$created_datetime", "$modified_datetime")
ROWS: list[tuple[str, tuple[str, ...], str, Any, str]] = [
    ("$x", ("localization",), "eq", 0.1, "B"),
    ("$x", ("localization",), "gt", 0.25, "DE"),
    ("$y", ("localization",), "lte", 0.2, "DE"),
    ("$width", ("localization",), "eq", 0.1, "ABCDE"),
    ("$height", ("localization",), "lt", 0.2, ""),
    ("$u", ("localization",), "gte", -1, ""),
    ("$v", ("localization",), "isnull", True, "ABCDE"),
    ("$frame", ANNOTATIONS, "eq", 2, "C"),
    ("$frame", ANNOTATIONS, "gte", 3, "DE"),
    ("$mark", ANNOTATIONS, "eq", 0, "ABCDE"),
    ("$variant_deleted", ANNOTATIONS, "eq", True, ""),
    ("$variant_deleted", ANNOTATIONS, "eq", False, "ABCDE"),
    ("$parent", (*ANNOTATIONS, "leaf"), "isnull", True, "ABCDE"),
    ("$num_frames", ("media",), "eq", 5, "B"),
    ("$num_frames", ("media",), "isnull", True, "ACDE"),
    ("$num_frames", ("state",), "eq", 1, "ABCDE"),
    ("$num_frames", ("state",), "gt", 1, ""),
    ("$length", ("state",), "eq", 1, "ABCDE"),
    ("$fps", ("media",), "gt", 25, "B"),
    ("$fps", ("media",), "eq", 25.5, "B"),
    ("$codec", ("media",), "eq", "h264", "B"),
    ("$md5", ("media",), "eq", "md5C", "C"),
    ("$width", ("media",), "eq", 640, "B"),
    ("$height", ("media",), "gte", 480, "B"),
    ("$archive_state", ("media",), "eq", "live", "ABCDE"),
    ("$archive_state", ("media",), "eq", "archived", ""),
    ("$section", ("media", *ANNOTATIONS), "eq", None, ""),
    ("$deleted", NAMED, "eq", False, "ABCDE"),
    ("$name", NAMED, "eq", "D", "D"),
    ("$name", NAMED, "eq", "d", ""),
    ("$name", NAMED, "icontains", "d", "D"),
    ("$name", NAMED, "gt", "C", "DE"),
    ("$name", NAMED, "in", ["A", "E"], "AE"),
    *((name, KINDS, "gt", "2020-01-01", "ABCDE") for name in TIMES),
    *((name, KINDS, "date_lt", "2020-01-01", "") for name in TIMES),
    ("$created_by", KINDS, "gt", 0, "ABCDE"),
    ("$modified_by", KINDS, "eq", 0, ""),
]
SHARED = {
    **dict.fromkeys(("$x", "$width", "$height"), ("media", "localization")),
    "$num_frames": ("media", "state"),
}
"""Names that rows of other kinds test with other values."""
FILTER = {"eq": "attribute", "icontains": "attribute_contains"} | {
    word: f"attribute_{word}" for word in ("lt", "lte", "gt", "gte")
}


@rule("QF", "Built-in fields have `$` names, where their kind has them; elsewhere they are 400.")
@rule("Object search", "Built-in fields have `$` names there too, with the operations of their dtype.")
@pytest.mark.parametrize(("name", "kinds", "operation", "value", "letters"), ROWS, ids=str)
def test_built_in_names(world: World, name, kinds, operation, value, letters):
    search = term(name, operation, value)
    for kind in KINDS:
        if kind not in kinds:
            if kind not in SHARED.get(name, ()):
                world.refuses(kind, encoded_search=encoded(search))
            continue
        if value is None:
            continue
        assert world.found(kind, encoded_search=encoded(search)) == letters, kind
        if operation in FILTER and not (name == "$name" and operation == "gt"):
            given = str(value).lower() if isinstance(value, bool) else value
            assert world.found(kind, **{FILTER[operation]: f"{name}::{given}"}) == letters, kind
        if operation == "isnull":
            assert world.found(kind, attribute_null=f"{name}::{str(value).lower()}") == letters, kind


@rule("QF", "Older clients write `_` for `$` in filters, searches and orders; an attribute so named comes first.")
@pytest.mark.parametrize(("name", "kinds", "operation", "value", "letters"), ROWS, ids=str)
def test_older_names(world: World, name, kinds, operation, value, letters):
    older = f"_{name[1:]}"
    for kind in kinds:
        if value is not None:
            assert world.found(kind, encoded_search=encoded(term(older, operation, value))) == letters, kind
        if value is not None and operation in FILTER and (name, operation) != ("$name", "gt"):
            given = str(value).lower() if isinstance(value, bool) else value
            assert world.found(kind, **{FILTER[operation]: f"{older}::{given}"}) == letters, kind
        ordered = [world.ask(kind, sort_by=each).json for each in (f"-{name}", f"-{older}")]
        assert ordered[0] == ordered[1]
    world.refuses("leaf", attribute="_x::1")


@rule("QF", "`$id`, `$type`, `$version`, `$user`, `$elemental_id` name what they say.")
@pytest.mark.parametrize("kind", KINDS)
def test_identities(world: World, kind):
    ids = world.ids[kind]
    one = world.one(kind, ids["B"])
    rows = [("$id", ids["B"], "B"), ("$type", world.types[kind], "ABCD"), ("$created_by", world.api.user.id, "ABCDE")]
    if kind != "leaf":
        rows.append(("$elemental_id", one["elemental_id"], "B"))
    if kind in ANNOTATIONS:
        rows += [("$version", world.version, "ABCDE"), ("$user", world.api.user.id, "ABCDE")]
    for name, value, letters in rows:
        assert world.found(kind, attribute=f"{name}::{value}") == letters, name
        assert world.found(kind, encoded_search=encoded(term(name, "eq", value))) == letters, name
        assert world.found(kind, encoded_search=encoded(term(name, "in", [value]))) == letters, name
    assert world.found(kind, attribute_gt=f"$id::{ids['C']}") == "DE"


@rule("QR", "Built-in fields of related objects can be named as well.")
def test_built_in_names_of_related_things(world: World):
    assert world.found("media", related_attribute="$frame::3") == "D"
    assert world.found("localization", related_attribute="$md5::md5C") == "C"
    assert world.found("state", related_attribute_gt="$fps::25") == "B"
    assert world.found("localization", encoded_related_search=encoded(term("$name", "eq", "E"))) == "E"
    assert world.found("media", encoded_related_search=encoded(term("$frame", "in", [0, 4]))) == "AE"
    assert world.found("media", encoded_related_search=encoded(term("$x", "eq", 0.1))) == "B"


@rule("QF", "A `$` name that a kind has not is 400, with a value of another dtype too.")
@pytest.mark.parametrize("kind", KINDS)
def test_wrong_built_in_names(world: World, kind):
    for item in ("$nowhere::1", "$id::x", "$created_datetime::no date", "$id::1.5"):
        world.refuses(kind, attribute=item)
    world.refuses(kind, attribute_contains="$id::1")
    for name in {"$fps": ("media",), "$frame": ANNOTATIONS, "$depth": ("leaf",), "$description": ("file",)}.items():
        if kind not in name[1]:
            world.refuses(kind, attribute=f"{name[0]}::1")
