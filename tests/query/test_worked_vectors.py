"""Worked examples of queries, row by row, and the rows that they leave out."""

from __future__ import annotations

import base64

import msgspec
import pytest

from chalicelib.core.kinds import Kind
from chalicelib.errors import BadInput
from tests.query.query_rig import OTHER_BOX, Rig, box, file, leaf, media, term
from tests.query.random_queries import encoded

A, B, C, D = 1, 2, 3, 4


@pytest.fixture(scope="module")
def rig() -> Rig:
    return Rig(
        media(1, attributes={"site": "x"}),
        box(A, {"n": 1, "s": "Foo"}),
        box(B, {"n": 2, "s": "bar"}),
        box(C, {"n": None}),
        box(D),
    )


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"attribute": ["n::1"]}, [A]),
        ({"attribute_gte": ["n::1"], "attribute_lt": ["n::3"]}, [A, B]),
        ({"attribute": ["n::1", "s::Foo"]}, [A]),
        ({"attribute": ["s::foo"]}, []),
        ({"attribute_contains": ["s::O"]}, [A]),
        ({"attribute_null": ["n::true"], "type": 1}, [C, D]),
        ({"attribute_null": ["n::false"], "type": 1}, [A, B]),
        ({"attribute_null": ["n::true"]}, [C, D]),
        ({"attribute_null": ["zzz::true"], "type": 1}, [A, B, C, D]),
        ({"attribute_null": ["zzz::false"]}, []),
        ({"sort_by": ["n"]}, [A, B, C, D]),
        ({"sort_by": ["-n", "$id"]}, [B, A, C, D]),
        ({"sort_by": ["-n", "-$id"]}, [B, A, D, C]),
        ({"start": 1, "stop": 3}, [B, C]),
        ({"start": 9}, []),
        ({"after": B}, [C, D]),
        ({"type": 99}, []),
        ({"type": 99, "attribute": ["n::1"]}, []),
        ({"related_attribute": ["site::x"]}, [A, B, C, D]),
        ({"related_attribute": ["site::y"]}, []),
        ({"attribute": ["$frame::2"]}, [B]),
        ({"attribute": ["$user::1"]}, [A, B, C, D]),
        ({"force_es": 1}, [A, B, C, D]),
    ],
)
def test_parameters(rig: Rig, given, found):
    assert rig.ask(**given) == found


@pytest.mark.parametrize(
    ("search", "found"),
    [
        (term("n", "in", [1, 2]), [A, B]),
        (term("n", "eq", 1, inverse=True), [B, C, D]),
        ({"method": "not", "operations": [term("n", "eq", 1)]}, [B, C, D]),
        (term("n", "isnull", value=True), [C, D]),
        (term("n", "isnull", "false"), [A, B]),
        ({"method": "AND", "operations": []}, [A, B, C, D]),
        ({"method": "or", "operations": []}, [A, B, C, D]),
        (term("s", "iendswidth", "OO"), [A]),
        (term("s", "iendswith", "OO"), [A]),
        (term("s", "istartswith", "B"), [B]),
        (term("s", "lt", "a"), [A]),
        (term("n", "range", [2, 9]), [B]),
        (term("$created_datetime", "date_range", ["2026-01-02", "2026-01-03"]), [A, B, C, D]),
        (term("$id", "in", []), []),
        (term("$related_media", "search", term("site", "eq", "x")), [A, B, C, D]),
    ],
)
def test_object_searches(rig: Rig, search, found):
    assert rig.search(search) == found


@pytest.mark.parametrize(
    "given",
    [
        {"attribute_contains": ["n::1"]},
        {"attribute": ["n::x"]},
        {"attribute": ["n::1.5"]},
        {"attribute": ["n"]},
        {"attribute": ["nope::1"]},
        {"attribute": ["$fps::1"]},
        {"attribute": ["g::1"]},
        {"attribute": ["blob::x"]},
        {"attribute": ["v::1"]},
        {"attribute_lt": ["b::true"]},
        {"attribute_lt": ["s::a"], "type": 1},
        {"attribute_gt": ["f::nan"]},
        {"attribute_gt": ["f::inf"]},
        {"attribute_gt": ["n::99999999999999999999"]},
        {"attribute": ["t::tomorrow-ish"]},
        {"attribute_distance": ["g::10::48"]},
        {"attribute_distance": ["g::10::91::8"]},
        {"attribute_distance": ["g::-1::48::8"]},
        {"attribute_null": ["n::"]},
        {"sort_by": ["nope"]},
        {"sort_by": ["$nope"]},
        {"attribute": ["s::\ud800"]},
        {"search": "\ud800"},
        {"sort_by": ["-"]},
        {"encoded_search": "%%%"},
        {"encoded_search": base64.b64encode(b"{").decode()},
        {"encoded_search": encoded([])},
        {"related_attribute": ["n::1"]},
    ],
)
def test_bad_parameters_are_refused(rig: Rig, given):
    with pytest.raises(BadInput):
        rig.ask(**given)


@pytest.mark.parametrize(
    "search",
    [
        {},
        {"attribute": "n", "operation": "eq"},
        term("nope", "eq", 1),
        term("$nope", "eq", 1),
        term("n", "near", 1),
        term("n", "eq", None),
        term("n", "eq", [1]),
        term("n", "in", 1),
        term("n", "range", [1]),
        term("n", "icontains", "1"),
        term("g", "distance_lte", [1, 2]),
        {"method": "xor", "operations": []},
        {"method": "not", "operations": []},
        {"method": "and", "operations": {}},
        term("$related_media", "eq", term("site", "eq", "x")),
        term("$related_localizations", "search", term("n", "eq", 1)),
        term("$section", "eq", "x"),
        {"attribute": 1, "operation": "eq", "value": 1},
        term("n", "eq", 1) | {"inverse": "yes"},
    ],
)
def test_bad_object_searches_are_refused(rig: Rig, search):
    with pytest.raises(BadInput):
        rig.search(search)


def test_sizes_are_bounded(rig: Rig):
    deep = term("n", "eq", 1)
    for _ in range(40):
        deep = {"method": "and", "operations": [deep]}
    with pytest.raises(BadInput, match="nest at most"):
        rig.search(deep)
    with pytest.raises(BadInput, match="terms"):
        rig.search({"method": "or", "operations": [term("n", "eq", 1)] * 3000})
    with pytest.raises(BadInput, match="at most"):
        rig.search(term("n", "in", list(range(20_000))))


def test_ids_of_bodies_and_parameters(rig: Rig):
    assert rig.ask(body={"ids": []}) == [A, B, C, D]
    assert rig.ask(body={"ids": [B, B, 77]}) == [B]
    assert rig.ask(body={"ids": list(range(2, 5000))}) == [B, C, D]
    assert rig.ask(body={"media_ids": [1], "ids": [A, B]}, media_id=[2]) == [A, B]
    assert rig.ask(body={"elemental_ids": [f"{B:032X}"]}) == []  # stored without hyphens here: not a canonical UUID
    assert rig.ask(media_id=[2]) == []


def test_base64_is_taken_as_it_comes(rig: Rig):
    text = encoded(term("s", "eq", "Foo>>>???")).rstrip("=")
    assert rig.ask(encoded_search=text) == []
    assert rig.ask(encoded_search=text.replace("+", "-").replace("/", "_")) == []
    assert rig.ask(encoded_search=text.replace("+", " ")) == []


def test_a_name_with_several_dtypes_is_compared_as_each():
    rig = Rig(media(1), box(1, {"s": "5"}), box(2, {"s": 5}, type=OTHER_BOX), box(3, {"s": "x"}))
    assert rig.ask(attribute=["s::5"]) == [1, 2]
    assert rig.ask(attribute=["s::x"]) == [3]
    assert rig.ask(attribute_gt=["s::4"]) == [2]
    assert rig.ask(sort_by=["s"]) == [1, 3, 2]  # texts before numbers
    assert rig.ask(sort_by=["-s"]) == [2, 3, 1]


def test_values_of_another_type_than_their_dtype():
    rig = Rig(
        media(1),
        box(1, {"s": 5}),
        box(2, {"s": [1, "x"]}),
        box(3, {"n": "x"}),
        box(4, {"n": "7"}),
        box(5, {"n": 10**30}),
    )
    assert rig.ask(attribute=["s::5"], type=1) == [1]
    assert rig.ask(attribute_contains=["s::[1,"], type=1) == [2]
    assert rig.ask(attribute_gt=["n::0"]) == [4]
    assert rig.ask(attribute_null=["n::false"]) == [4]


def test_datetimes_are_instants():
    rig = Rig(
        media(1),
        box(1, {"t": "2020-01-02T03:04:05+02:00"}),
        box(2, {"t": "2020-01-02T01:04:05"}),
        box(3, {"t": "2020"}),
    )
    assert rig.ask(attribute=["t::2020-01-02T01:04:05Z"]) == [1, 2]
    assert rig.ask(attribute_lt=["t::2020-01-02"]) == [3]
    assert rig.ask(sort_by=["t"]) == [3, 1, 2]


def test_distance_is_in_kilometres_latitude_first():
    rig = Rig(media(1), box(1, {"g": [8.0, 48.0]}), box(2, {"g": [8.0, 49.0]}), box(3))
    assert rig.ask(attribute_distance=["g::111.1::48.0::8.0"]) == [1]
    assert rig.ask(attribute_distance=["g::111.3::48.0::8.0"]) == [1, 2]
    assert rig.search(term("g", "distance_lte", [20_000, 48.0, 8.0])) == [1, 2]
    assert rig.search(term("g", "distance_lte", [0, 48.0, 8.0], inverse=True)) == [2, 3]


def test_nearest():
    vectors = [[float(number), 0.0, 0.0] for number in range(-4, 4)]
    rig = Rig(
        media(1),
        *(box(number, {"v": vector}) for number, vector in enumerate(vectors, 1)),
        box(9),
        box(10, {"v": [1.0]}),
    )
    asked = {"name": "v", "center": [2.1, 0, 0], "lower_bound": 1, "upper_bound": 3}
    assert rig.ask(body={"float_array": [asked]}, type=1, stop=1) == [6]
    assert rig.ask(body={"float_array": [asked | {"order": "desc"}]}, type=1, stop=1) == [5]
    assert rig.ask(body={"float_array": [{"name": "v", "center": [0.0, 0.0, 0.0]}]}, type=1)[:1] == [5]
    assert rig.ask(body={"float_array": [{"name": "v", "center": [0.0, 0.0, 0.0]}]}, type=1)[-2:] == [9, 10]
    cosine = {"name": "v", "center": [1.0, 0.0, 0.0], "metric": "cosine"}
    assert rig.ask(body={"float_array": [cosine]}, type=1) == [6, 7, 8, 1, 2, 3, 4, 5, 9, 10]
    with pytest.raises(BadInput, match="type"):
        rig.ask(body={"float_array": [asked]})
    with pytest.raises(BadInput, match="n"):
        rig.ask(body={"float_array": [asked | {"name": "n"}]}, type=1)


def test_leaves_and_files():
    rig = Rig(
        leaf(1, "a", "P.a"), leaf(2, "b", "P.a.b", parent=1, depth=1), leaf(3, "A", "P.ab"), file(4, "f"), file(5, "g")
    )
    assert rig.ask(Kind.LEAF, name="a") == [1]
    assert rig.ask(Kind.LEAF, depth=0) == [1, 3]
    assert rig.ask(Kind.LEAF, ancestor="P.a") == [1, 2]
    assert rig.ask(Kind.LEAF, body={"ids": []}) == []
    assert rig.ask(Kind.LEAF, body={"ids": []}, leaf_id=[2]) == [2]
    assert rig.ask(Kind.LEAF, body={"ids": [3]}, leaf_id=[2]) == [2, 3]
    assert rig.ask(Kind.LEAF, sort_by=["-$name"]) == [2, 1, 3]
    assert rig.ask(Kind.FILE, name="g") == [5]
    assert rig.ask(Kind.FILE, after=4, sort_by=["$deleted"]) == [5]


def test_incidents_are_in_the_documents():
    rig = Rig(media(1, attributes={"site": '"incident":null'}), box(1, {"n": 1}), box(2, {"n": 1}))
    from chalicelib.query import check, parse
    from tests.query.random_queries import QUERY

    asked = QUERY[Kind.MEDIA](encoded_related_search=encoded(term("n", "eq", 1)))
    query = check(parse(Kind.MEDIA, asked), rig.view.definitions)
    (document,) = map(msgspec.json.decode, rig.view.documents(query))
    assert document["incident"] == 2
    assert document["attributes"] == {"site": '"incident":null'}
