import json
from typing import Annotated, Any, ClassVar, Literal

import pytest
from msgspec import UNSET, Meta, UnsetType

from chalicelib.core.models.definition_specs import LocalizationTypeUpdate
from chalicelib.core.models.entities import LocalizationSpec
from chalicelib.core.permissions import Level, Permission
from chalicelib.core.resource import Id, Resource, given
from chalicelib.errors import BadInput, NotFound, TooLarge
from chalicelib.http import bounds
from chalicelib.http.bounds import MAX_DEPTH
from chalicelib.http.decoding import MAX_BODY, decode_body, decode_path, decode_query
from chalicelib.http.operation import Located, OneOf, Operation


class _Address:
    variables: ClassVar = {"id": int, "uid": str}

    def find(self, path):
        return Located(target=path)

    def level(self, caller, found):
        return Level.FULL


class Filters(Resource, kw_only=True):
    accepts: ClassVar = {"meta": "type"}

    type: Id | None = None
    media_id: list[Id] | None = None
    attribute: list[str] | None = None
    search: str | None = None
    presigned: Annotated[int, Meta(ge=1, le=604800)] | None = None
    no_cache: bool = False
    merge: Literal[0, 1] = 1
    dtype: Literal["image", "video"] | None = None
    speed: float | None = None
    key: int | str | None = None
    lifecycle: Annotated[str, Meta(max_length=8)] = "live"


class Addition(Resource, kw_only=True):
    name: str
    dtype: Literal["bool", "int"]
    order: int = 0


class Inner(Resource, kw_only=True):
    accepts: ClassVar = {"summaryLevel": "summary_level"}

    summary_level: int | None = None
    within: list["Inner"] | None = None


class Outer(Resource, kw_only=True):
    inner: Inner | None = None
    all_inner: dict[str, Inner] | None = None
    flag: bool = False
    addition: Addition | None = None
    anything: Any = None


class Ids(Resource, kw_only=True):
    ids: list[Id] | None = None


def operation(**more):
    declared = {
        "id": "Toy",
        "method": "PUT",
        "path": "/rest/Toy/{id}/{uid}",
        "summary": "",
        "needs": Permission.VIEW,
        "addresses": _Address(),
        "handler": lambda _: None,
    }
    return Operation(**(declared | more))


def query(**params):
    return decode_query(
        operation(query=Filters),
        {name: value if isinstance(value, list) else [value] for name, value in params.items()},
    )


def body(type_, value, content_type="application/json", **more):
    raw = value if isinstance(value, bytes | None) else json.dumps(value).encode()
    return decode_body(operation(body=type_, **more), raw, content_type)


def details(type_, value):
    with pytest.raises(BadInput) as caught:
        body(type_, value)
    return caught.value.details


CREATE = OneOf(options=(list[LocalizationSpec], LocalizationSpec))
SPEC = {"media_id": 1, "type": 2, "frame": 3}


class TestPath:
    def test_ids_become_integers_and_texts_are_unquoted(self):
        assert decode_path(operation(), {"id": "007", "uid": "a%20b%2Fc"}) == {"id": 7, "uid": "a b/c"}

    @pytest.mark.parametrize("number", ["0", "-1", "abc", "1.0", "", "9" * 30, "%31%00", "\u0661"])
    def test_what_is_no_positive_integer_is_not_found(self, number):
        with pytest.raises(NotFound, match="id"):
            decode_path(operation(), {"id": number, "uid": "x"})

    @pytest.mark.parametrize("uid", ["", "a%00b", "a%0Ab"])
    def test_texts_are_printable(self, uid):
        with pytest.raises(NotFound, match="uid"):
            decode_path(operation(), {"id": "1", "uid": uid})


class TestQuery:
    def test_nothing_given_is_the_defaults(self):
        assert query() == Filters()

    def test_an_operation_without_query_takes_no_parameter(self):
        with pytest.raises(BadInput, match="Unknown query parameter: x"):
            decode_query(operation(), {"x": ["1"]})

    def test_a_page_beside_the_interface_takes_what_browsers_add(self):
        assert decode_query(operation(path="/docs"), {"utm_source": ["mail"]}) is not None

    def test_lists_come_as_csv_or_repeated_or_both(self):
        assert query(media_id="1,2").media_id == [1, 2]
        assert query(media_id=["1", "2"]).media_id == [1, 2]
        assert query(attribute=["A::b,C::d", "E::f"]).attribute == ["A::b", "C::d", "E::f"]

    def test_a_text_keeps_its_commas(self):
        assert query(search="a,b").search == "a,b"

    @pytest.mark.parametrize("text", ["true", "True", "TRUE"])
    def test_truth_in_any_case(self, text):
        assert query(no_cache=text).no_cache is True
        assert query(no_cache="False").no_cache is False

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("no_cache", "1"),
            ("no_cache", "junk"),
            ("media_id", ""),
            ("media_id", "0"),
            ("media_id", "abc"),
            ("media_id", "1,,2"),
            ("presigned", "700000"),
            ("presigned", "0"),
            ("presigned", "1.0"),
            ("presigned", "1e3"),
            ("presigned", "null"),
            ("merge", "2"),
            ("dtype", "foo"),
            ("dtype", "null"),
            ("speed", "nan"),
            ("speed", "1e999"),
            ("speed", "fast"),
            ("search", ""),
            ("type", "9" * 40),
            ("lifecycle", "much too long"),
        ],
    )
    def test_a_bad_value_is_refused_by_name(self, name, text):
        with pytest.raises(BadInput) as caught:
            query(**{name: text})
        assert caught.value.message == f"Invalid query parameter: {name}"
        assert name in caught.value.details

    def test_enums_tell_what_is_allowed(self):
        with pytest.raises(BadInput) as caught:
            query(dtype="foo")
        assert "'image' or 'video'" in caught.value.details

    def test_numbers_and_words(self):
        assert query(speed="-1.5e2").speed == -150.0
        assert query(merge="0").merge == 0
        assert query(key="abc").key == "abc"
        assert query(search="null").search == "null"

    def test_old_names_are_understood_and_not_together_with_another_value(self):
        assert query(meta="5").type == query(meta="5", type="5").type == 5
        with pytest.raises(BadInput) as caught:
            query(meta="5", type="6")
        assert caught.value.details == "type and meta name one parameter; send one of them."
        with pytest.raises(BadInput, match="meta"):
            query(meta="x")

    @pytest.mark.parametrize(
        ("given", "meant"), [("attributes", "'attribute'"), ("dtyp", "'dtype'"), ("zzzz", "Declared: attribute, ")]
    )
    def test_an_unknown_parameter_is_refused_by_name_with_the_nearest(self, given, meant):
        with pytest.raises(BadInput, match=f"Unknown query parameter: {given}") as caught:
            query(**{given: "1"})
        assert meant in caught.value.details

    def test_different_values_of_a_parameter_that_takes_one_are_refused(self):
        assert query(type=["5", "5"]).type == 5
        with pytest.raises(BadInput, match="type"):
            query(type=["5", "6"])

    def test_a_missing_required_parameter_is_named(self):
        class Needy(Resource, kw_only=True):
            keys: list[str]

        with pytest.raises(BadInput, match="keys"):
            decode_query(operation(query=Needy), {})


class TestPresence:
    @pytest.mark.parametrize("raw", [None, b"", b"  ", b"null"])
    def test_a_missing_body_is_refused_unless_it_may_be_absent(self, raw):
        with pytest.raises(BadInput, match="Missing required request body"):
            body(Ids, raw)
        assert body(Ids, raw, body_required=False) is None

    @pytest.mark.parametrize("raw", [None, b"", b" {} ", b"null"])
    def test_an_operation_without_body_takes_none(self, raw):
        assert body(None, raw) is None
        assert "takes no body" in details(None, {"ids": [1]})

    @pytest.mark.parametrize("content_type", [None, "application/json", "Application/JSON; charset=utf-8", "a/b+json"])
    def test_json_is_taken_under_its_names(self, content_type):
        assert body(Ids, {"ids": [1]}, content_type).ids == [1]

    def test_forms_are_refused(self):
        with pytest.raises(BadInput) as caught:
            body(Ids, b"ids=1", "application/x-www-form-urlencoded")
        assert "x-www-form-urlencoded" in caught.value.details

    def test_too_many_bytes_are_too_large(self):
        with pytest.raises(TooLarge):
            body(Ids, b" " * (MAX_BODY + 1))


class TestJson:
    @pytest.mark.parametrize("raw", [b"{", b'{"ids": [1}', b"{}x", b'{"ids": NaN}', b"\xff\xfe", b'{"ids": [\xff]}'])
    def test_broken_json_is_bad_input(self, raw):
        assert "not valid JSON" in details(Ids, raw)

    def test_nesting_is_bounded(self):
        deep = b'{"anything":' + b"[" * (MAX_DEPTH - 1) + b"]" * (MAX_DEPTH - 1) + b"}"
        assert body(Outer, deep).anything
        assert "levels deep" in details(Outer, deep.replace(b"[]", b"[[]]"))
        assert "levels deep" in details(Outer, b'{"anything":' + b'{"a":' * 60 + b"1" + b"}" * 61)
        assert details(Outer, b"[" * 200_000)

    def test_brackets_in_strings_neither_count_nor_hide(self):
        assert body(Outer, {"anything": "[" * 100 + '"\\' + "]" * 100}).anything
        hidden = b'{"anything":' + b'["]",' * 60 + b"1" + b',"["]' * 60 + b"}"
        assert "levels deep" in details(Outer, hidden)

    def test_integers_have_at_most_64_bits(self):
        assert body(Outer, {"anything": {"a": [2**63 - 1]}}).anything == {"a": [2**63 - 1]}
        assert details(Outer, {"anything": {"a": [2**63]}}).startswith("anything.a[0]")
        assert body(Outer, {"anything": "9" * 30}).anything == "9" * 30


class TestViolations:
    def test_a_missing_member_is_named(self):
        assert details(LocalizationSpec, {"media_id": 1, "type": 2}) == "'frame' is a required property."
        assert details(CREATE, [SPEC, {"media_id": 1}]) == "'type' is a required property of [1]."

    def test_a_wrong_type_is_named_with_its_place(self):
        assert details(CREATE, [SPEC, SPEC | {"frame": "3"}]) == "[1].frame: Expected int, got str."
        refusal = details(LocalizationSpec, SPEC | {"points": [[0.1, 1.2]]})
        assert refusal.startswith("points[0][1]: Expected float <= 1.0: a fraction of the width or height")

    def test_an_unknown_dtype_says_what_it_may_be(self):
        text = details(Outer, {"addition": {"name": "a", "dtype": "foo"}})
        assert "Input should be 'bool' or 'int'" in text
        assert "literal_error" in text
        assert "addition.dtype" in text
        assert "'foo'" in text

    @pytest.mark.parametrize("frame", [3.0, "3", None, True])
    def test_integers_are_json_integers(self, frame):
        assert "frame" in details(CREATE, SPEC | {"frame": frame})

    def test_the_wrong_shape_altogether(self):
        assert details(CREATE, "x")
        assert details(Ids, "x")
        assert details(Outer, [1])


class TestOldForms:
    def test_attributes_at_base_level_are_gathered_and_attributes_win(self):
        made = body(CREATE, SPEC | {"Species": "cod", "Depth": 0, "none": None, "attributes": {"Depth": 5}})
        assert made.attributes == {"Species": "cod", "Depth": 5}
        assert [spec.attributes for spec in body(CREATE, [SPEC | {"a": ""}, SPEC])] == [{"a": ""}, None]

    def test_gathered_names_keep_their_order(self):
        made = body(CREATE, SPEC | dict.fromkeys("zsrqpo", 1))
        assert list(made.attributes) == list("zsrqpo")

    def test_old_names_are_understood_at_any_level(self):
        made = body(
            Outer,
            {"inner": {"summaryLevel": 1, "within": [{"summaryLevel": 2}]}, "all_inner": {"a": {"summaryLevel": 3}}},
        )
        assert made.inner == Inner(summary_level=1, within=[Inner(summary_level=2)])
        assert made.all_inner == {"a": Inner(summary_level=3)}

    def test_both_names_of_a_member_take_one_value(self):
        same = {"summaryLevel": 1, "summary_level": 1}
        assert body(Inner, same) == body(Inner, {"summaryLevel": 1, "summary_level": None}) == Inner(summary_level=1)
        assert body(Inner, {"summaryLevel": None, "summary_level": 0}).summary_level == 0
        rule = "summary_level and summaryLevel name one member; send one of them."
        assert details(Inner, {"summaryLevel": 1, "summary_level": 0}) == rule
        assert details(Outer, {"inner": {"summaryLevel": 1, "summary_level": 0}}) == f"inner: {rule}"

    def test_in_a_patch_null_under_one_name_and_a_value_under_the_other_are_refused(self):
        with pytest.raises(BadInput) as caught:
            body(LocalizationTypeUpdate, {"color_map": None, "colorMap": {"default": "#fff"}}, method="PATCH")
        assert "color_map and colorMap name one member" in caught.value.details

    def test_null_for_an_optional_member_is_its_absence(self):
        assert body(Outer, {"flag": None, "inner": None, "addition": {"name": "a", "dtype": "int", "order": None}})
        assert body(Ids, {"ids": None}) == Ids()
        assert body(Addition, {"name": "a", "dtype": "int", "order": None}).order == 0

    def test_null_within_attributes_is_left_to_their_rules(self):
        assert body(CREATE, SPEC | {"attributes": {"a": None}}).attributes == {"a": None}

    def test_an_unknown_member_is_refused_by_name_with_the_nearest(self):
        assert details(Ids, {"ids": [1], "idz": 5}) == "Ids has no member 'idz'. Did you mean 'ids'?"
        assert details(Outer, {"addition": {"name": "a", "dtype": "int", "ordr": 1}}).startswith("addition: Addition")
        assert details(Outer, {"inner": {"within": [{}, {"x": 1}]}}).startswith("inner.within[1]: Inner has no member")

    def test_the_variables_of_the_path_may_stand_in_the_body(self):
        assert body(Ids, {"ids": [1], "uid": "x"}) == Ids(ids=[1])

    def test_members_that_clients_send_in_vain_are_let_through_where_that_is_declared(self):
        class Spec(Resource, kw_only=True):
            unused: ClassVar = {"progress_name": "for the test"}

            name: str

        assert body(Spec, {"name": "a", "progress_name": 1}) == Spec(name="a")

    def test_a_bare_array_of_ids(self):
        assert body(Ids, [1, 2]) == Ids(ids=[1, 2])
        assert details(Ids, ["a"]).startswith("ids[0]")

    def test_wrong_attributes_are_not_gathered_away(self):
        assert "attributes" in details(CREATE, SPEC | {"attributes": 5, "x1": 1})


class TestOneOf:
    def test_one_or_many(self):
        assert isinstance(body(CREATE, SPEC), LocalizationSpec)
        assert len(body(CREATE, [SPEC] * 500)) == 500

    @pytest.mark.parametrize("count", [0, 501])
    def test_many_are_1_to_500(self, count):
        assert str(count) in details(CREATE, [SPEC] * count)

    def test_the_first_fitting_object_shape_is_taken(self):
        assert isinstance(body(OneOf(options=(Addition, Ids)), {"ids": [1]}), Ids)
        assert "'a'" in details(OneOf(options=(Addition, LocalizationSpec)), {"a": 1})


class Change(Resource, kw_only=True):
    name: str | None = None
    default: int | UnsetType | None = UNSET
    tag: str | UnsetType = UNSET
    inner: Inner | None = None


class TestNull:
    def change(self, value):
        return given(body(Change, value, method="PATCH"))

    def test_in_a_patch_it_clears_a_member_that_can_be_cleared(self):
        assert self.change({"default": None}) == {"default": None}
        assert self.change({"default": 0, "name": ""}) == {"default": 0, "name": ""}
        assert self.change({}) == {}

    @pytest.mark.parametrize("name", ["name", "tag", "inner"])
    def test_in_a_patch_it_is_refused_for_every_other(self, name):
        with pytest.raises(BadInput) as caught:
            self.change({name: None})
        assert name in caught.value.details

    def test_at_creation_it_is_absence(self):
        assert given(body(Change, {"default": None, "name": None}, method="POST")) == {}

    def test_within_a_part_that_a_patch_replaces_it_is_absence(self):
        assert self.change({"inner": {"summary_level": None}}) == {"inner": Inner()}


def test_only_integers_of_many_digits_take_a_full_scan():
    assert not bounds._LONG_DIGITS.search(b'{"x":0.0001234567890123456789}')
    assert bounds._LONG_DIGITS.search(b'{"x":-12345678901234567890}')
