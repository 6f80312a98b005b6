import math
import re
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chalicelib
from chalicelib.core.values.attribute_values import (
    _CONVERSIONS,
    Converter,
    check_definition,
    check_definitions,
    convert,
    converter,
    fill,
    merge,
)
from chalicelib.core.values.attributes import AttributeType, Dtype
from chalicelib.errors import BadInput
from chalicelib.query import values
from chalicelib.query.layout import SQL_TYPE


def names_in(catalogue):
    """The dtypes that a catalogue of the console's sentences has words for."""
    text = (Path(chalicelib.__file__).parent / "console" / catalogue).read_text()
    return re.findall(r"(\w+): \"", re.search(r" dtypes: \{(.*?)\}", text, re.DOTALL)[1])


NOW = "2026-01-02T03:04:05.678Z"


def attribute(dtype, name="A b", **more):
    if dtype == "enum":
        more.setdefault("choices", ["x", "y"])
    if dtype == "float_array":
        more.setdefault("size", 2)
    return AttributeType(name=name, dtype=dtype, **more)


def refusal(dtype, value, **more):
    with pytest.raises(BadInput) as caught:
        convert(attribute(dtype, **more), value)
    assert "A b" in caught.value.message
    return caught.value.message


DTYPES = set(get_args(Dtype))
CATALOGUES = ("strings_settings.js", "de/settings.js", "es/settings.js")


@pytest.mark.parametrize(
    ("place", "has"),
    [
        ("_CONVERSIONS of core/values/attribute_values.py", _CONVERSIONS),
        ("STORED of query/values.py", values.STORED),
        (
            "WANTED of query/values.py, or not _SIMPLE of query/operators.py",
            {**values.WANTED, "geopos": 0, "float_array": 0},
        ),
        ("SQL_TYPE of query/layout.py", SQL_TYPE),
        *((f"dtypes of console/{name}", names_in(name)) for name in CATALOGUES),
    ],
)
def test_every_dtype_has_a_row(place, has):
    assert DTYPES - {*has} == set(), f"add it to {place}"


class TestConversion:
    @pytest.mark.parametrize(
        ("dtype", "value", "kept"),
        [
            ("bool", False, False),
            ("bool", "TRUE", True),
            ("bool", "false", False),
            ("int", 0, 0),
            ("int", -1.9, -1),
            ("int", "12", 12),
            ("int", " -7 ", -7),
            ("int", True, 1),
            ("int", 2**63 - 1, 2**63 - 1),
            ("float", 0, 0.0),
            ("float", 1.5, 1.5),
            ("float", "-1e3", -1000.0),
            ("enum", "y", "y"),
            ("string", "", ""),
            ("string", 5, 5),
            ("string", False, False),
            ("string", ["a", ""], ["a", ""]),
            ("string", [1, 2.5], [1, 2.5]),
            ("string", 'é\n"\\\u0000😀', 'é\n"\\\u0000😀'),
            ("blob", "x" * 10_000, "x" * 10_000),
            ("datetime", "2020-01-02", "2020-01-02T00:00:00"),
            ("datetime", "2020-01-02T03:04:05.000006", "2020-01-02T03:04:05.000006"),
            ("datetime", "2020-01-02T03:04:05Z", "2020-01-02T03:04:05+00:00"),
            ("datetime", "2020-01-02T03:04:05-07:00", "2020-01-02T03:04:05-07:00"),
            ("datetime", "2020-01-02 15:04:05.5", "2020-01-02T15:04:05.500000"),
            ("datetime", "2020-05", "2020-05-01T00:00:00"),
            ("geopos", [-71.5, 42], [-71.5, 42.0]),
            ("geopos", "42_-71.5", [-71.5, 42.0]),
            ("geopos", ["1", "2"], [1.0, 2.0]),
            ("float_array", [], []),
            ("float_array", [1, "2.5", 3.5], [1.0, 2.5, 3.5]),
            ("float_array", [0.5] * 3, [0.5] * 3),
        ],
    )
    def test_what_is_let_in_and_how_it_is_kept(self, dtype, value, kept):
        result = convert(attribute(dtype), value)
        assert result == kept
        assert type(result) is type(kept)

    @pytest.mark.parametrize(
        ("dtype", "value"),
        [
            ("bool", 1),
            ("bool", 0),
            ("bool", "yes"),
            ("int", "1.5"),
            ("int", "x"),
            ("int", ""),
            ("int", 2**63),
            ("int", "9" * 30),
            ("int", "9223372036854775808"),
            ("int", 1e30),
            ("int", math.nan),
            ("int", math.inf),
            ("float", "text"),
            ("float", "nan"),
            ("float", math.inf),
            ("float", 10**400),
            ("enum", "z"),
            ("enum", ["x"]),
            ("enum", 1),
            ("datetime", "yesterday"),
            ("datetime", "10:30"),
            ("datetime", "03/04/2026"),
            ("datetime", "26-03-04"),
            ("datetime", "01.03.2026"),
            ("datetime", "Jan 2 2020 3:04pm"),
            ("datetime", "0001-01-01T00:00:00+14:00"),
            ("datetime", "9999-12-31T23:00:00-02:00"),
            ("datetime", "2020-01-02 03:04 XYZ"),
            ("datetime", 5),
            ("datetime", "5"),
            ("datetime", "2020-13-45"),
            ("datetime", "9" * 99),
            ("datetime", "1" * 1000),
            ("geopos", [1]),
            ("geopos", [1, 2, 3]),
            ("geopos", ["a", 1]),
            ("geopos", [181, 0]),
            ("geopos", [0, -90.5]),
            ("geopos", [True, 0]),
            ("geopos", [math.nan, 0]),
            ("geopos", "1"),
            ("float_array", 1),
            ("float_array", "1,2"),
            ("float_array", [None]),
            ("float_array", [True]),
            ("float_array", ["a"]),
            ("float_array", [[1]]),
            ("float_array", [math.nan]),
            ("float_array", [1.0, math.inf]),
            ("string", ["x", 1]),
            ("string", [True]),
            ("string", [[1]]),
            ("string", []),
            ("string", {}),
            ("string", math.nan),
            ("string", [1.0, math.inf]),
            ("string", 2**64),
        ],
    )
    def test_what_is_refused(self, dtype, value):
        refusal(dtype, value)

    @pytest.mark.parametrize("dtype", ["bool", "int", "float", "enum", "string", "datetime", "geopos", "float_array"])
    @pytest.mark.parametrize("value", [None, {"a": 1}, [{}]])
    def test_null_and_objects_are_no_values(self, dtype, value):
        refusal(dtype, value)

    @pytest.mark.parametrize("dtype", ["int", "float"])
    def test_bounds_are_inclusive(self, dtype):
        bounds = {"minimum": -1, "maximum": 2}
        assert convert(attribute(dtype, **bounds), -1) == -1
        assert convert(attribute(dtype, **bounds), "2") == 2
        assert "below the minimum -1" in refusal(dtype, -2, **bounds)
        assert "above the maximum 2" in refusal(dtype, 3, **bounds)

    def test_a_bound_of_zero_is_a_bound(self):
        assert "minimum 0" in refusal("int", -1, minimum=0)

    @given(st.text(max_size=200) | st.floats() | st.integers() | st.lists(st.text() | st.integers() | st.floats()))
    def test_nothing_breaks_but_by_bad_input(self, value):
        for dtype in ("bool", "int", "float", "enum", "string", "datetime", "geopos", "float_array", "blob"):
            try:
                kept = convert(attribute(dtype), value)
            except BadInput:
                continue
            assert convert(attribute(dtype), kept) == kept


class TestDefinitions:
    @pytest.mark.parametrize("name", ["a", "Tail Depth (m) <1% >&:;#@,-_", "Größe"])
    def test_names_that_are_valid(self, name):
        assert check_definition(attribute("int", name)).name == name

    @pytest.mark.parametrize("name", ["$a", "a.b", "a'b", "a/b", "a\0", "x" * 300, "a=b"])
    def test_names_that_are_not(self, name):
        with pytest.raises(BadInput, match="is not valid"):
            check_definition(attribute("int", name))

    def test_an_enum_has_choices(self):
        for choices in (None, []):
            with pytest.raises(BadInput, match="enum attribute type definition missing 'choices' field"):
                check_definition(AttributeType(name="a", dtype="enum", choices=choices))

    def test_a_float_array_has_a_size(self):
        with pytest.raises(BadInput, match="float_array attribute type definition missing 'size' field"):
            check_definition(AttributeType(name="a", dtype="float_array"))

    def test_a_default_is_converted(self):
        assert check_definition(attribute("int", default="5")).default == 5
        assert check_definition(attribute("bool", default=False)).default is False
        with pytest.raises(BadInput, match=r"^default: Invalid value for attribute"):
            check_definition(attribute("enum", default="z"))

    def test_bounds_leave_something_between_them(self):
        with pytest.raises(BadInput, match="minimum"):
            check_definition(attribute("int", minimum=2, maximum=1))

    def test_names_are_unique_within_a_type(self):
        with pytest.raises(BadInput, match=r"'A b' is already an attribute\."):
            check_definitions([attribute("int"), attribute("bool")])
        assert len(check_definitions([attribute("int"), attribute("bool", "B")])) == 2


class TestFilling:
    def test_given_then_now_then_default_then_absent(self):
        definitions = [
            attribute("int", "given", default=1),
            attribute("datetime", "now", use_current=True, default="2020-01-01T00:00:00"),
            attribute("int", "zero", default=0),
            attribute("bool", "no", default=False),
            attribute("string", "empty", default=""),
            attribute("float_array", "none", default=[]),
            attribute("string", "absent"),
        ]
        assert fill(definitions, {"given": "0", "_tator_import_workflow": ["x"]}, NOW) == {
            "given": 0,
            "now": "2026-01-02T03:04:05.678+00:00",
            "zero": 0,
            "no": False,
            "empty": "",
            "none": [],
        }

    def test_what_is_required_is_missed_by_name(self):
        with pytest.raises(BadInput, match="Missing attribute value for 'A b'"):
            fill([attribute("int", required=True)], {}, NOW)
        assert fill([attribute("int", required=True, default=0)], {}, NOW) == {"A b": 0}

    def test_defaults_are_not_shared(self):
        definitions = [attribute("float_array", default=[1.0])]
        fill(definitions, {}, NOW)["A b"].append(2.0)
        assert fill(definitions, {}, NOW) == {"A b": [1.0]}

    def test_a_name_that_is_not_defined_is_refused(self):
        with pytest.raises(BadInput, match=r"'unknown' .* there is no such attribute"):
            fill([attribute("int", "known")], {"known": 0, "unknown": 5}, NOW)
        with pytest.raises(BadInput, match=r"'A c' .* Did you mean 'A b'\?"):
            fill([attribute("int")], {"A c": 1}, NOW)


class TestMerging:
    DEFINITIONS = (
        attribute("int", "n", default=7),
        attribute("string", "s"),
        attribute("geopos", "g"),
        attribute("float_array", "f"),
    )

    def test_only_what_was_given_changes(self):
        current = {"n": 1, "s": "a", "g": [1.0, 2.0]}
        assert merge(self.DEFINITIONS, current, {"n": 0, "f": []}, None, None) == {**current, "n": 0, "f": []}
        assert current == {"n": 1, "s": "a", "g": [1.0, 2.0]}

    def test_reset_follows_and_nulls_come_last(self):
        merged = merge(self.DEFINITIONS, {"s": "a"}, {"n": 1, "s": "b"}, ["n", "s"], ["g", "s"])
        assert merged == {"n": 7, "s": None, "g": None}

    @pytest.mark.parametrize("change", [({"q": 1}, None, None), (None, ["q"], None), (None, None, ["q"])])
    def test_unknown_names_are_refused_by_name(self, change):
        with pytest.raises(BadInput, match="Invalid attribute 'q'"):
            merge(self.DEFINITIONS, {}, *change)

    def test_media_sections_may_always_change(self):
        change, allowed = {"tator_user_sections": "x"}, ("tator_user_sections",)
        assert merge((), {}, change, None, None, always_allowed=allowed) == change
        assert merge((), {}, change, None, [*allowed], always_allowed=allowed) == {"tator_user_sections": None}

    def test_one_value_by_name(self):
        assert Converter(self.DEFINITIONS).convert("n", "3") == 3
        with pytest.raises(BadInput, match="Invalid attribute"):
            Converter(self.DEFINITIONS).convert("q", 1)


def test_converters_are_kept_for_the_same_definitions():
    definitions = [attribute("int"), attribute("bool", "B")]
    assert converter(definitions) is converter(list(definitions))
    assert converter(definitions) is not converter(definitions[:1])
    for _ in range(1100):
        converter([attribute("int")])
    assert converter(definitions).fill({"A b": 1}, NOW) == {"A b": 1}
