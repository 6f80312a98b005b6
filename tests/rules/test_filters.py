"""Attribute filters of the query string, of an entity's own and of related attributes."""

from __future__ import annotations

import pytest

from tests.rules.rulebook import EVERY, RELATED, rule
from tests.rules.worlds import ATTRIBUTES, KINDS, RELATED_KINDS, World

EQUALITY = [
    ("n::1", "A"),
    ("n::5", "E"),
    ("n::-1", ""),
    ("f::0.5", "A"),
    ("f::1.50", "B"),
    ("f::15e-1", "B"),
    ("b::true", "A"),
    ("b::TRUE", "A"),
    ("b::False", "B"),
    ("b::any other text", "A"),
    ("e::red", "A"),
    ("e::Dark Red", "B"),
    ("s::Foo", "A"),
    ("s::foo", ""),
    ("s::Fo", ""),
    ("t::2020-01-02T03:04:05Z", "A"),
    ("t::2020-01-02T03:04:05", "A"),
    ("t::2020-01-02T04:04:05+01:00", "A"),
    ("t::2021-06-01", "B"),
    ("t::2021-06-01", "B"),
    ("t::2021-05-31T22:00:00-02:00", "B"),
    ("extra::x", "E"),
]
ORDER = {
    "attribute_lt": [("n::2", "A"), ("n::1", ""), ("f::1.5", "A"), ("t::2021-06-01", "A"), ("f::-0.1", "")],
    "attribute_lte": [("n::2", "AB"), ("f::0.5", "A"), ("t::2021-06-01", "AB"), ("n::0", "")],
    "attribute_gt": [("n::1", "BE"), ("n::-7", "ABE"), ("f::0.5", "B"), ("t::2020-01-02T03:04:05Z", "B")],
    "attribute_gte": [("n::2", "BE"), ("f::0.5", "AB"), ("t::2020-01-02", "AB"), ("t::2022-01-01", "")],
}
CONTAINS = [("s::O", "A"), ("s::fOO", "A"), ("s::AR", "B"), ("s::x", ""), ("e::RED", "AB"), ("extra::X", "E")]
DISTANCE = [
    ("g::111.1::48::8", "A"),
    ("g::111.3::48::8", "AB"),
    ("g::0::48::8", "A"),
    ("g::1::8::48", ""),
    ("g::30000::-48::-172", "AB"),
]
NULL = [
    ("n::true", "CD"),
    ("n::false", "ABE"),
    ("n::TRUE", "CD"),
    ("s::true", "CDE"),
    ("s::false", "AB"),
    ("g::false", "AB"),
    ("v::false", "AB"),
    ("o::true", "CDE"),
    ("extra::true", "ABCD"),
    ("extra::false", "E"),
    ("nowhere::true", "ABCDE"),
    ("nowhere::false", ""),
]
ROWS = [
    *(("attribute", *row) for row in EQUALITY),
    *((word, *row) for word, rows in ORDER.items() for row in rows),
    *(("attribute_contains", *row) for row in CONTAINS),
    *(("attribute_distance", *row) for row in DISTANCE),
    *(("attribute_null", *row) for row in NULL),
]
TOGETHER = [
    ({"attribute_gte": "n::1", "attribute_lt": "n::3"}, "AB"),
    ({"attribute": "n::1,s::Foo"}, "A"),
    ({"attribute": "n::1,s::bar"}, ""),
    ({"attribute_gt": ["n::0", "f::1"]}, "B"),
    ({"attribute_gt": "n::0", "attribute_null": "s::false"}, "AB"),
    ({"attribute_null": "n::true,s::true"}, "CD"),
    ({"attribute": "n::5,extra::x"}, "E"),
    ({"attribute": "n::5,s::Foo"}, ""),
    ({"attribute": "n::1", "attribute_contains": "s::o", "attribute_distance": "g::1::48::8"}, "A"),
]
ALLOWED = {
    "attribute": "bool int float enum string datetime",
    "attribute_lt": "int float datetime",
    "attribute_lte": "int float datetime",
    "attribute_gt": "int float datetime",
    "attribute_gte": "int float datetime",
    "attribute_contains": "enum string",
    "attribute_distance": "geopos",
    "attribute_null": "bool int float enum string datetime geopos float_array blob",
}
FITTING = {
    "bool": "true",
    "int": "1",
    "float": "0.5",
    "datetime": "2020-01-02",
    "geopos": "8",
    "float_array": "0",
    "enum": "red",
}
MALFORMED = [
    ("attribute", "n"),
    ("attribute", "n:1"),
    ("attribute", "::1"),
    ("attribute", "n::1,rest of a value with a comma"),
    ("attribute", "n::x"),
    ("attribute", "n::1.5"),
    ("attribute", "n::"),
    ("attribute", "b::"),
    ("attribute", "f::x"),
    ("attribute", "f::nan"),
    ("attribute", "t::no date"),
    ("attribute_gt", "n"),
    ("attribute_gt", "t::13:99"),
    ("attribute_contains", "s"),
    ("attribute_distance", "g::1::48"),
    ("attribute_distance", "g::x::48::8"),
    ("attribute_distance", "g::1::91::8"),
    ("attribute_distance", "g::1::48::181"),
    ("attribute_distance", "g::-1::48::8"),
    ("attribute_null", "n"),
    ("attribute_null", "n::"),
    ("attribute_null", "n::perhaps"),
]
UNKNOWN = ["attribute", "attribute_lt", "attribute_lte", "attribute_gt", "attribute_gte", "attribute_contains"]
EIGHT = " ".join(ALLOWED)
RELATED_EIGHT = " ".join(f"related_{word}" for word in ALLOWED)


def named(rows):
    return [pytest.param(*row, id=" ".join(map(str, row[:2]))) for row in rows]


@rule("QF", "`attribute=name::value` finds equal values: texts exactly, times as instants, true whatever the case.")
@rule("QF", "`attribute_lt`, `_lte`, `_gt`, `_gte` compare numbers and instants.")
@rule("QF", "`attribute_contains` finds a part of a text, whatever the case.")
@rule("QF", "`attribute_distance=name::km::latitude::longitude` finds places within so many kilometres, inclusive.")
@rule("QF", "`attribute_null=name::true` finds null and absent, `::false` the others; any name may be asked for.")
@rule("QF", "A value that is null or absent satisfies no other filter.", takes=EIGHT, of=EVERY)
@pytest.mark.parametrize(("word", "item", "letters"), named(ROWS))
def test_an_attribute_filter_finds(world: World, word, item, letters):
    for kind in KINDS:
        assert world.found(kind, **{word: item}) == letters, kind


@rule(
    "QR",
    "With `related_` before them they are about related objects: of media, the annotations; of these, the media.",
    takes=RELATED_EIGHT,
    of=RELATED,
)
@pytest.mark.parametrize(("word", "item", "letters"), named(ROWS))
def test_a_related_filter_finds(world: World, word, item, letters):
    for kind in RELATED_KINDS:
        assert world.found(kind, **{f"related_{word}": item}) == letters, kind


@rule("QF", "All filters must hold, those of one parameter and those of several.")
@rule("QF", "A type that lacks one of the names has nothing that matches.")
@pytest.mark.parametrize(("asked", "letters"), TOGETHER, ids=str)
def test_filters_hold_together(world: World, asked, letters):
    for kind in KINDS:
        assert world.found(kind, **asked) == letters, kind


@rule("QR", "All related filters must hold on one related entity.")
@pytest.mark.parametrize(("asked", "letters"), TOGETHER, ids=str)
def test_related_filters_hold_together(world: World, asked, letters):
    for kind in RELATED_KINDS:
        assert world.found(kind, **{f"related_{name}": value for name, value in asked.items()}) == letters, kind


@rule("QF", "Several items come comma-separated, as repeated parameters, or both.")
@pytest.mark.parametrize("kind", KINDS)
def test_items_may_be_repeated_or_separated_by_commas(world: World, kind):
    for query in (
        "attribute_gt=n::0,n::1",
        "attribute_gt=n::0&attribute_gt=n::1",
        "attribute_gt=n::0,n::-1&attribute_gt=n::1",
    ):
        said = world.api.get(f"{world.path(kind)}?{query}")
        assert [each["id"] for each in said.json] == [world.ids[kind][letter] for letter in "BE"]


@rule("QF", "Each operator is for the dtypes it makes sense for; another is 400 and the message names both.")
@pytest.mark.parametrize("dtype", [each["dtype"] for each in ATTRIBUTES])
@pytest.mark.parametrize("word", ALLOWED)
def test_an_operator_is_refused_for_other_dtypes(world: World, word, dtype):
    name = next(each["name"] for each in ATTRIBUTES if each["dtype"] == dtype)
    value = {"attribute_distance": "1::48::8", "attribute_null": "true"}.get(word, FITTING.get(dtype, "text"))
    for kind in KINDS:
        for prefix in ("", "related_") if kind in RELATED_KINDS else ("",):
            said = world.ask(kind, **{prefix + word: f"{name}::{value}"})
            if dtype in ALLOWED[word].split():
                assert said.status == 200, said.body
            else:
                assert said.status == 400
                assert word in said.message
                assert dtype in said.message


@rule("QF", "Equality with a value that is no choice of an enum is 400, and the message names the choices.")
def test_a_value_that_is_no_choice_is_refused(world: World):
    for kind in KINDS:
        said = world.ask(kind, attribute="e::dark red")
        assert said.status == 400
        assert '"red", "green", "Dark Red"' in said.message
        assert world.ask(kind, attribute_contains="e::dark red").status == 200


@rule("QF", "An item without `::`, without a name, or with a value that its dtype cannot be, is 400.")
@pytest.mark.parametrize(("word", "item"), named(MALFORMED))
def test_a_malformed_filter_is_refused(world: World, word, item):
    for kind in KINDS:
        assert world.refuses(kind, **{word: item})
    for kind in RELATED_KINDS:
        assert world.refuses(kind, **{f"related_{word}": item})


@rule("QF", "A name that no type has is 400, never ignored, but for `attribute_null`.")
@pytest.mark.parametrize("word", UNKNOWN)
def test_an_unknown_name_is_refused(world: World, word):
    for kind in KINDS:
        assert "nowhere" in world.refuses(kind, **{word: "nowhere::1"})
    for kind in RELATED_KINDS:
        assert "nowhere" in world.refuses(kind, **{f"related_{word}": "nowhere::1"})


@rule("QF", "With `type`, only the attributes of that type can be named.")
@pytest.mark.parametrize("kind", KINDS)
def test_with_a_type_only_its_attributes_count(world: World, kind):
    main, other = world.types[kind], world.others[kind]
    assert world.found(kind, attribute_gt="n::0", type=main) == "AB"
    assert world.found(kind, attribute_gt="n::0", type=other) == "E"
    assert world.found(kind, attribute_null="n::true", type=main) == "CD"
    assert world.found(kind, attribute_null="s::true", type=other) == "E"
    world.refuses(kind, attribute="extra::x", type=main)
    world.refuses(kind, attribute="s::Foo", type=other)


@rule("QF", "Commas cannot be in a filter's value, but other marks can.")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", ["a::b", "50 % & more; <x> #(@)", "über \N{SNOWMAN}", " lead", 'q"uote\\'])
def test_values_with_marks_are_found(world: World, kind, value):
    number = world.ids[kind]["D"]
    path = f"{kind.capitalize()}/{number}"
    assert world.api.patch(path, {"attributes": {"s": value}}).status == 200
    assert world.found(kind, attribute=f"s::{value}") == "D"
    assert world.found(kind, attribute_contains=f"s::{value[1:3]}").endswith("D")
    assert world.api.patch(path, {"null_attributes": ["s"]}).status == 200


@rule("QR", "Leaves and files have no related filters; there they are refused like any unknown parameter.")
@pytest.mark.parametrize("kind", ["leaf", "file"])
def test_leaves_and_files_have_no_related_filters(world: World, kind):
    assert "related_attribute" in world.refuses(kind, related_attribute="n::1")
