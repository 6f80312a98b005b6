"""Object searches: in bodies, encoded in parameters, about related objects, nested, and kept in sections."""

from __future__ import annotations

import base64
import json

import pytest

from tests.rules.rulebook import EVERY, LEAVES, RELATED, rule
from tests.rules.worlds import ATTRIBUTES, KINDS, RELATED_KINDS, World, encoded, term

FILTERS = [
    (term("n", "eq", 1), "A"),
    (term("n", "eq", "1"), "A"),
    (term("n", "eq", 1.0), "A"),
    (term("f", "eq", 0.5), "A"),
    (term("f", "eq", "1.5"), "B"),
    (term("b", "eq", True), "A"),
    (term("b", "eq", "FALSE"), "B"),
    (term("e", "eq", "red"), "A"),
    (term("s", "eq", "Foo"), "A"),
    (term("s", "eq", "foo"), ""),
    (term("s", "eq", ""), ""),
    (term("t", "eq", "2020-01-02T03:04:05Z"), "A"),
    (term("o", "eq", "blob A"), "A"),
    (term("n", "gt", 1), "BE"),
    (term("n", "gte", 2), "BE"),
    (term("n", "lt", 2), "A"),
    (term("n", "lte", 2), "AB"),
    (term("f", "gt", 0), "AB"),
    (term("s", "lt", "a"), "A"),
    (term("s", "gte", "bar"), "B"),
    (term("n", "in", [1, 2, 77]), "AB"),
    (term("n", "in", []), ""),
    (term("s", "in", ["Foo", "x"]), "A"),
    (term("e", "in", ["red", "Dark Red"]), "AB"),
    (term("f", "in", [1.5]), "B"),
    (term("s", "icontains", "O"), "A"),
    (term("e", "icontains", "RED"), "AB"),
    (term("o", "icontains", "LOB b"), "B"),
    (term("s", "istartswith", "fO"), "A"),
    (term("s", "istartswith", "o"), ""),
    (term("s", "iendswith", "AR"), "B"),
    (term("s", "iendswidth", "AR"), "B"),
    (term("n", "isnull", True), "CD"),
    (term("n", "isnull", False), "ABE"),
    (term("n", "isnull", "true"), "CD"),
    (term("n", "isnull", "False"), "ABE"),
    (term("t", "date_eq", "2020-01-02T03:04:05"), "A"),
    (term("t", "date_eq", "2021-06-01T02:00+02:00"), "B"),
    (term("t", "date_gt", "2020-01-02T03:04:05Z"), "B"),
    (term("t", "date_gte", "2020-01-02T03:04:05Z"), "AB"),
    (term("t", "date_lt", "2021-06"), "A"),
    (term("t", "date_lte", "2021-06-01"), "AB"),
    (term("t", "date_gt", "2021"), "B"),
    (term("t", "date_range", ["2020-01-02T03:04:05Z", "2021-06-01"]), "AB"),
    (term("t", "date_range", ["2020-01-03", "2022"]), "B"),
    (term("n", "range", [1, 2]), "AB"),
    (term("f", "range", [0.5, 1]), "A"),
    (term("g", "distance_lte", [111.3, 48, 8]), "AB"),
    (term("g", "distance_lte", [111.1, 48, 8]), "A"),
    (term("g", "polygon", [[7, 47], [9, 47], [9, 48.5], [7, 48.5]]), "A"),
    (term("g", "polygon", [[7, 47], [9, 47], [9, 50], [7, 50]]), "AB"),
    (term("g", "polygon", [[7, 47], [9, 47], [9, 48], [7, 48]]), ""),
    (term("g", "polygon", [[7, 48], [8.5, 48], [7, 50]]), "A"),
    (term("g", "polygon", [[-353, 47], [-351, 47], [-351, 48.5], [-353, 48.5]]), "A"),
    (term("g", "polygon", [[7, 48], [8, 48], [9, 48]]), ""),
    (term("extra", "eq", "x"), "E"),
]
COMBINED = [
    ({"method": "and", "operations": [term("n", "gt", 0), term("s", "eq", "Foo")]}, "A"),
    ({"method": "AND", "operations": [term("n", "gt", 0), term("b", "eq", False)]}, "B"),
    ({"method": "or", "operations": [term("n", "eq", 1), term("extra", "eq", "x")]}, "AE"),
    ({"method": "Or", "operations": [term("n", "eq", 1), term("n", "eq", 1)]}, "A"),
    ({"method": "not", "operations": [term("n", "eq", 1)]}, "BCDE"),
    (
        {"method": "NOT", "operations": [{"method": "or", "operations": [term("n", "gte", 2), term("n", "lt", 2)]}]},
        "CD",
    ),
    (term("n", "eq", 1, inverse=True), "BCDE"),
    (term("n", "eq", 1, inverse=False), "A"),
    (term("n", "isnull", True, inverse=True), "ABE"),
    ({"method": "and", "operations": []}, "ABCDE"),
    ({"method": "AND", "operations": []}, "ABCDE"),
    ({"method": "or", "operations": []}, "ABCDE"),
    ({"method": "and", "operations": [term("n", "eq", 1)], "inverse": False, "attribute": None}, "A"),
    ({"method": "and", "operations": [{"method": "or", "operations": []}, term("n", "eq", 5)]}, "E"),
]
REFUSED = [
    {},
    {"attribute": "n", "operation": "eq"},
    {"attribute": "n", "value": 1},
    {"operation": "eq", "value": 1},
    {"method": "and"},
    {"method": "xor", "operations": []},
    {"method": "not", "operations": []},
    {"method": "not", "operations": [term("n", "eq", 1), term("n", "eq", 2)]},
    {"method": "and", "operations": [1]},
    {"method": "and", "operations": term("n", "eq", 1)},
    term("n", "near", 1),
    term("n", "search", term("n", "eq", 1)),
    term("n", "eq", "x"),
    term("n", "eq", 1.5),
    term("n", "eq", [1]),
    term("n", "eq", {}),
    term("n", "in", 1),
    term("n", "in", ["x"]),
    term("n", "range", [1]),
    term("n", "isnull", "perhaps"),
    term("n", "isnull", 2),
    term("t", "date_eq", "no date"),
    term("t", "date_range", "2020"),
    term("g", "distance_lte", [1, 48]),
    term("g", "distance_lte", [1, 91, 8]),
    term("g", "polygon", [[7, 47], [9, 47]]),
    term("g", "polygon", [[7, 47], [9, 47], [9, 91]]),
    term("g", "polygon", [[7, 47], [9, 47], [361, 48]]),
    term("g", "polygon", [[7, 47], [9, 47], 8]),
    term("g", "polygon", [[at / 9, at % 2] for at in range(101)]),
    term("n", "eq", 1, inverse="yes"),
    term("nowhere", "eq", 1),
    term("$nowhere", "eq", 1),
    {"attribute": 5, "operation": "eq", "value": 1},
    {"method": "and", "operations": [term("n", "eq", 1)], "inverse": True},
    {"method": "and", "operations": [], "operation": "eq"},
    {"method": ["and"], "operations": []},
    {"operations": [term("n", "eq", 1)]},
    term("n", "eq", 1) | {"invers": True},
    term("n", "eq", 1) | {"method": "not"},
    term("n", "EQ", 1),
]
ALLOWED = {
    "eq": "bool int float enum string datetime blob",
    **dict.fromkeys(("lt", "lte", "gt", "gte"), "int float datetime enum string blob"),
    "in": "bool int float enum string datetime blob",
    **dict.fromkeys(("icontains", "istartswith", "iendswith", "iendswidth"), "enum string blob"),
    "isnull": "bool int float enum string datetime geopos float_array blob",
    **dict.fromkeys(("date_eq", "date_lt", "date_lte", "date_gt", "date_gte", "date_range"), "datetime"),
    "range": "int float datetime enum string blob",
    "distance_lte": "geopos",
    "polygon": "geopos",
}
FITTING = {"bool": True, "int": 1, "float": 0.5, "datetime": "2020-01-02"}
WITH_BODIES = KINDS[:4]
NESTED = {
    "media": ("$related_localizations", "$related_states"),
    "localization": ("$related_media", "$coincident_states", "$track_membership", "$coincident_localizations"),
    "state": ("$related_media", "$coincident_localizations", "$coincident_states"),
}


def text(search):
    return json.dumps(search).replace('"', "") if isinstance(search, dict) else ""


@rule("QP", "`encoded_search` is the base64 of an object search of what is listed.", takes="encoded_search", of=EVERY)
@rule("Object search", "Every operation finds what it says, with values as its dtype reads them; texts have an order.")
@rule("Object search", "`polygon` finds places that an odd number of straight edges in degrees encloses.")
@pytest.mark.parametrize(
    ("search", "letters"), FILTERS, ids=lambda value: text(value) if isinstance(value, dict) else ""
)
def test_an_operation_finds(world: World, search, letters):
    for kind in KINDS:
        assert world.found(kind, encoded_search=encoded(search)) == letters, kind


@rule("Object search", "`and`, `or`, `not` in any case nest; without operations everything; `inverse` turns a filter.")
@pytest.mark.parametrize(
    ("search", "letters"), COMBINED, ids=lambda value: text(value) if isinstance(value, dict) else ""
)
def test_searches_combine(world: World, search, letters):
    for kind in KINDS:
        assert world.found(kind, encoded_search=encoded(search)) == letters, kind


@rule("Id queries", "`object_search` of a body is the same search.", takes="object_search", of=(*RELATED, LEAVES))
@pytest.mark.parametrize("kind", WITH_BODIES)
def test_a_body_takes_the_same_searches(world: World, kind):
    for search, letters in FILTERS[::4] + COMBINED[::2]:
        assert world.found(kind, {"object_search": search}) == letters, search


@rule("QR", "`encoded_related_search` searches related objects.", takes="encoded_related_search", of=RELATED)
@pytest.mark.parametrize("kind", RELATED_KINDS)
def test_related_things_are_searched(world: World, kind):
    for search, letters in FILTERS[::3] + COMBINED[::2]:
        assert world.found(kind, encoded_related_search=encoded(search)) == letters, search


@rule(
    "Object search", "`$related_…`, `$coincident_…` and `$track_membership` search other entities, by `search` alone."
)
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in NESTED.items() for name in names])
def test_a_search_nests_a_search_of_other_things(world: World, kind, name):
    for search, letters in FILTERS[::9] + COMBINED[::4]:
        nested = term(name, "search", search)
        assert world.found(kind, {"object_search": nested}) == letters, search
    turned = term(name, "search", term("n", "eq", 1), inverse=True)
    assert world.found(kind, {"object_search": turned}) == "BCDE"
    assert name in world.refuses(kind, {"object_search": term(name, "eq", term("n", "eq", 1))})
    world.refuses(kind, {"object_search": term(name, "search", "text")})


@rule("Object search", "What is nested is 400 of a kind it does not apply to.")
@pytest.mark.parametrize("kind", WITH_BODIES)
def test_a_nested_search_is_refused_where_it_makes_no_sense(world: World, kind):
    for name in {name for names in NESTED.values() for name in names} - set(NESTED.get(kind, ())):
        assert name in world.refuses(kind, {"object_search": term(name, "search", term("n", "eq", 1))})


@rule("Object search", "A saved search of a section is an object search of media, or one of their annotations.")
def test_a_section_keeps_a_search(world: World):
    api, path = world.api, f"Sections/{world.project}"
    for number, (search, letters) in enumerate(FILTERS[::6] + COMBINED[::2]):
        for member in ("object_search", "related_search"):
            section = api.made(path, {"name": f"{member}{number}", member: search})
            assert world.found("media", section=section) == letters, search
            assert world.found("state", section=section) == letters, search


@rule("Object search", "Each operation is for the dtypes it makes sense for; another is 400.")
@pytest.mark.parametrize("operation", ALLOWED)
def test_an_operation_is_refused_for_other_dtypes(world: World, operation):
    for each in ATTRIBUTES:
        dtype = each["dtype"]
        value = {"isnull": True, "distance_lte": [1, 48, 8], "polygon": [[7, 47], [9, 47], [8, 49]]}.get(
            operation, FITTING.get(dtype, "text")
        )
        if operation == "in":
            value = [value]
        if operation.endswith("range"):
            value = [value, value]
        said = world.ask("localization", {"object_search": term(each["name"], operation, value)})
        assert said.status == (200 if dtype in ALLOWED[operation].split() else 400), (dtype, said.body)


@rule("Object search", "What is no search, misses a member, names nothing known or has a value that fits not, is 400.")
@pytest.mark.parametrize("search", REFUSED, ids=text)
def test_what_is_no_search_is_refused(world: World, search):
    for kind in KINDS:
        assert world.refuses(kind, encoded_search=encoded(search))
    for kind in WITH_BODIES:
        assert world.refuses(kind, {"object_search": search})
    for kind in RELATED_KINDS:
        assert world.refuses(kind, encoded_related_search=encoded(search))


@rule("QP", "Base64 is taken in both alphabets, without padding, and with `+` turned into a blank on its way.")
@pytest.mark.parametrize("kind", KINDS)
def test_base64_is_taken_as_it_comes(world: World, kind):
    for value in ("Foo>>>???~~~", "\N{SNOWMAN}\N{GRINNING FACE}~\xff\xfe"):
        number = world.ids[kind]["D"]
        path = f"{kind.capitalize()}/{number}"
        assert world.api.patch(path, {"attributes": {"s": value}}).status == 200
        text = base64.b64encode(json.dumps(term("s", "eq", value), ensure_ascii=False).encode()).decode()
        for given in (text, text.rstrip("="), text.replace("+", "-").replace("/", "_"), text.replace("+", " ")):
            assert world.found(kind, encoded_search=given) == "D"
    assert world.api.patch(path, {"null_attributes": ["s"]}).status == 200


@rule("QP", "What is not base64 of JSON is 400.")
@pytest.mark.parametrize("given", ["%%%", "e", "bm8ganNvbg==", "W10=", "/////w=="])
def test_what_cannot_be_decoded_is_refused(world: World, given):
    for kind in KINDS:
        assert "encoded_search" in world.refuses(kind, encoded_search=given)
    for kind in RELATED_KINDS:
        assert "encoded_related_search" in world.refuses(kind, encoded_related_search=given)


@rule("Object search", "Names are those of all types of the kind, unless `type` chooses one.")
@pytest.mark.parametrize("kind", KINDS)
def test_names_are_those_of_all_types(world: World, kind):
    main, other = world.types[kind], world.others[kind]
    assert world.found(kind, encoded_search=encoded(term("n", "gt", 0))) == "ABE"
    assert world.found(kind, encoded_search=encoded(term("n", "gt", 0)), type=main) == "AB"
    assert world.found(kind, encoded_search=encoded(term("n", "gt", 0)), type=other) == "E"
    both = {"method": "and", "operations": [term("n", "gt", 0), term("$type", "eq", other)]}
    assert world.found(kind, encoded_search=encoded(both)) == "E"


@rule("QR", "Media found by a related search tell in `incident` how many annotations match, and sort by `$incident`.")
def test_incidents_are_counted(world: World):
    boxes = [world.box(world.ids["media"]["B"], attributes={"n": 2, "s": "more"}) for _ in range(2)]
    related = encoded(term("n", "in", [1, 2]))
    by_name = {each["name"]: each["incident"] for each in world.listed("media", encoded_related_search=related)}
    assert by_name == {"A": 2, "B": 4}
    assert world.found("media", encoded_related_search=related, sort_by="-$incident") == "BA"
    assert world.found("media", encoded_related_search=related, sort_by="$incident") == "AB"
    only = encoded(term("s", "eq", "more"))
    assert [each["incident"] for each in world.listed("media", encoded_related_search=only)] == [2]
    for number in boxes:
        assert world.api.delete(f"Localization/{number}").status == 200
    assert world.listed("media", encoded_related_search=only) == []
    assert {each["incident"] for each in world.listed("media", encoded_related_search=related)} == {2}
