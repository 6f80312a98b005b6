"""Search strings, and what all four languages can say."""

from __future__ import annotations

import pytest

from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import Definitions
from chalicelib.errors import BadInput
from chalicelib.query import check, parse, tree
from chalicelib.query.operators import Op
from chalicelib.query.parsers.parameters import LocalizationQuery
from tests.query.query_rig import Rig, box, leaf, media, state, term
from tests.query.random_queries import encoded


@pytest.fixture(scope="module")
def rig() -> Rig:
    return Rig(
        media(
            1,
            "Reef one.mp4",
            attributes={"site": "North/West"},
            fps=25.0,
            num_frames=100,
            created_datetime="2022-01-31T12:00:00.000Z",
        ),
        media(
            2,
            "reef-two.mp4",
            attributes={"site": "cod bay", "depth": -5.5},
            created_datetime="2022-02-01T00:00:00.000Z",
        ),
        box(1, {"s": "Atlantic Cod", "n": 1, "Deep Name": 3, "t": "2020-05-06T12:00:00Z"}),
        box(2, {"s": "cod", "n": -2, "b": True}),
        box(3, {"s": "Cold", "n": 30}),
        box(4, media=2),
        state(5, {"w": "xyz"}, media=[2]),
        leaf(6, "Gadus", "P.Gadus"),
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("s:cod", [2]),
        ("s:COD", [2]),
        ("s:*cod", [1, 2]),
        ("s:co?d", [3]),
        ('s:"atlantic cod"', [1]),
        ('s:"cod atlantic"~2', [1]),
        ("s:atlantic\\ cod", [1]),
        ("cod", [1, 2]),
        ("co*", [2, 3]),
        ("s:cod AND n:1", []),
        ("s:cod OR n:1", [1, 2]),
        ("s:cod n:1", [1, 2]),
        ("+s:*cod -n:1", [2]),
        ("NOT s:cod", [1, 3, 4]),
        ("s:*cod && NOT n:1", [2]),
        ("s:cod || n:30", [2, 3]),
        ("s:(cod OR cold)", [2, 3]),
        ("s:cold~1", [2, 3]),
        ("s:cod~0", [2]),
        ("s:cod^3 OR n:30^0.5", [2, 3]),
        ("s:/C.*/", []),
        ('s:"cod"', [1, 2]),
        ('s:"co"', []),
        ("!s:cod", [1, 3, 4]),
        ("s:*cod AND !n:1", [2]),
        ("!(s:cod OR n:1)", [3, 4]),
        ("n:[1 TO 30]", [1, 3]),
        ("n:{1 TO 30]", [3]),
        ("n:[* TO 1]", [1, 2]),
        ("n:>1", [3]),
        ("n:>=1", [1, 3]),
        ("n:<-1", [2]),
        ("n:-2", [2]),
        ("n:[-5 TO 0]", [2]),
        ("_exists_:n", [1, 2, 3]),
        ("n:*", [1, 2, 3]),
        ("_exists_:nope", []),
        ("Deep\\ Name:3", [1]),
        ("b:true", [2]),
        ("t:2020-05-06", [1]),
        ("t:2020-05", [1]),
        ("t:[2020-05-06 TO 2020-05-06]", [1]),
        ("t:>2020-05-06", []),
        ("t:<2020-05-06", []),
        ("_frame:2", [2]),
        ("_annotation_version:1 AND _meta:1 AND _postgres_id:3", [3]),
        ("*", [1, 2, 3, 4]),
        ("*:*", [1, 2, 3, 4]),
        ("$frame:[3 TO *]", [3, 4]),
    ],
)
def test_localizations(rig: Rig, text, found):
    assert rig.ask(search=text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("filename:reef*", [1, 2]),
        ("filename:reef", [1, 2]),
        ("filename:REEF-two", [2]),
        ("filename:ree", []),
        ('filename:"reef one"', [1]),
        ('filename:"one reef"', []),
        ('_exact_name:"reef one.mp4"', [1]),
        ("_exact_name:reef", []),
        ("_exact_name:reef-two.mp4", [2]),
        ("site:North/West", [1]),
        ("site:/a/b", []),
        ("_fps:25 AND _num_frames:[1 TO 100]", [1]),
        ("_duration:4", [1]),
        ("_created_datetime:>2022-01-31", [2]),
        ("_created_datetime:2022-01-31", [1]),
        ("depth:>-6", [2]),
        ("_dtype:video", [1, 2]),
        ("_dtype:image", []),
        ("reef", [1, 2]),
    ],
)
def test_media(rig: Rig, text, found):
    assert rig.ask(Kind.MEDIA, search=text) == found


def test_the_other_searches(rig: Rig):
    assert rig.ask(Kind.MEDIA, annotation_search="s:cod") == [1]
    assert rig.ask(Kind.MEDIA, annotation_search="w:x*") == [2]
    assert rig.ask(media_search="site:cod\\ bay") == [4]
    assert rig.ask(Kind.STATE, media_search="filename:*two*") == [5]
    assert rig.ask(Kind.LEAF, search="_exact_treeleaf_name:gadus AND _treeleaf_depth:0") == [6]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("(s:cod", "Close each ( and ["),
        ("s:", "something after a colon"),
        ("s:cod AND", "something after"),
        ("s:cod)", '")" is not expected there: each ) needs a ('),
        ('"cod', 'a phrase needs a " at both ends'),
        ("n:[1 2]", "ranges as name:[1 TO 5]"),
        ("n:1]", "a range is name:[1 TO 5]"),
        ("AND cod", "AND and OR stand between two terms"),
        ("cod\\", "before a character that is meant literally"),
    ],
)
def test_a_string_that_cannot_be_read_is_told_its_rule(rig: Rig, text, rule):
    with pytest.raises(BadInput) as refused:
        rig.ask(search=text)
    assert str(refused.value).startswith("search is not a search string: ")
    assert rule in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "(s:cod",
        "s:",
        "nope:1",
        "n:x",
        "n:1*",
        "[1 TO 2]",
        "s:/(a/",
        "s:/a{99999}/",
        "s:/((a{1,100}){1,100}){1,100}/",
        "s:/[[:foo:]]/",
        "s:" + "?" * 2000,
        "(" * 40 + "s:a" + ")" * 40,
        "s:a " * 3000,
        "s:cod~.",
        "s:cod^.",
        '"cod bay"~.',
        '"cod bay"~2.5',
    ],
)
def test_bad_strings_are_refused(rig: Rig, text):
    with pytest.raises(BadInput):
        rig.ask(search=text)


@pytest.mark.parametrize(
    ("parameter", "search", "text"),
    [
        ({"attribute": ["n::1"]}, term("n", "eq", 1), "n:1"),
        ({"attribute_gt": ["n::0"]}, term("n", "gt", 0), "n:>0"),
        ({"attribute_lte": ["n::1"]}, term("n", "lte", 1), "n:[* TO 1]"),
        ({"attribute_contains": ["s::co"]}, term("s", "icontains", "CO"), "s:*co*"),
        ({"attribute_null": ["n::true"]}, term("n", "isnull", value=True), "NOT _exists_:n"),
        ({"attribute": ["$frame::2"]}, term("$frame", "eq", 2), "_frame:2"),
        (
            {"attribute_gte": ["n::1"], "attribute_contains": ["s::c"]},
            {"method": "and", "operations": [term("n", "gte", 1), term("s", "icontains", "c")]},
            "n:>=1 AND s:*c*",
        ),
    ],
)
def test_what_several_languages_can_say_means_the_same(rig: Rig, parameter, search, text):
    found = rig.ask(**parameter)
    assert found
    assert rig.search(search) == found
    assert rig.ask(search=text) == found
    assert rig.ask(body={"ids": found}) == found


def test_bodies_and_searches_combine(rig: Rig):
    assert rig.ask(body={"ids": [1, 2]}, search="cod", encoded_search=encoded(term("n", "lt", 0))) == [2]


def test_annotations_are_found_by_the_address_of_who_made_them():
    query = parse(Kind.LOCALIZATION, LocalizationQuery(search="_email:Ada@example.org"))
    asked: list[str] = []

    def users(address: str) -> list[int]:
        asked.append(address)
        return [7, 3]

    checked = check(query, Definitions(project=1), users=users)
    assert tree.Test("created_by", Op.IN, (3, 7)) in getattr(checked.where, "terms", (checked.where,))
    assert asked == ["Ada@example.org"]
    with pytest.raises(BadInput, match="whole address"):
        check(parse(Kind.LOCALIZATION, LocalizationQuery(search="_email:ada*")), Definitions(project=1))
