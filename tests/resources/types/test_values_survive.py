"""What is written is what is read: empty values, and texts byte for byte, of everything that has attributes."""

from __future__ import annotations

import pytest

from tests.sweeps import sweep

ATTRIBUTES = [
    {"name": "flag", "dtype": "bool", "default": True},
    {"name": "count", "dtype": "int", "default": 5},
    {"name": "size", "dtype": "float", "default": 5.0},
    {"name": "text", "dtype": "string", "default": "text"},
    {"name": "blob", "dtype": "blob"},
    {"name": "vector", "dtype": "float_array", "size": 2, "default": [1.0, 2.0]},
]
EMPTY = {"flag": False, "count": 0, "size": 0.0, "text": "", "vector": []}
TEXTS = {
    "unicode": "Ünïcödé 漢字 \U0001f9a0 e\u0301 \u200d\u2028\u2029\ufeff\uffff",
    "lines": "\n first\r\nsecond\rthird\t\v\f\n",
    "quotes": "\"'`“„«\\\"\\'",
    "backslashes": "\\ \\n \\u0041 \\\\ \\x00 %s {0} ${a} $1",
    "controls": "".join(map(chr, range(1, 32))) + "\x7f\x85",
    "zero": "a\x00b",
    "markup": "<script>&amp;</script> -- ; DROP TABLE localization; ''",
    "blanks": "  \t ",
    "large": '0123456789abcdé\\"' * 640,
}
KINDS = ["Media", "Localization", "State", "Leaf", "File"]


class Things:
    """One kind of thing in a project: how it is made, and where it is read."""

    def __init__(self, api, project, word):
        self.api, self.word = api, word
        video = api.made(f"MediaTypes/{project}", {"name": "v", "dtype": "video", "attribute_types": ATTRIBUTES})
        common = {"name": "t", "attribute_types": ATTRIBUTES}
        annotated = {**common, "media_types": [video]}
        media = {"type": video, "name": "a.mp4", "md5": ""}
        number = api.made(f"Medias/{project}", media)
        self.many = f"{'Leaves' if word == 'Leaf' else f'{word}s'}/{project}"
        types = f"{word}Types/{project}"
        match word:
            case "Media":
                self.spec = media
            case "Localization":
                kind = api.made(types, {**annotated, "dtype": "box"})
                self.spec = {"type": kind, "media_id": number, "frame": 0}
            case "State":
                kind = api.made(types, {**annotated, "association": "Media"})
                self.spec = {"type": kind, "media_ids": [number]}
            case "Leaf":
                self.spec = {"type": api.made(types, common), "name": "leaf"}
            case _:
                self.spec = {"type": api.made(types, common), "name": "f", "description": "d"}

    def make(self, attributes):
        made = self.api.made(self.many, {**self.spec, "attributes": attributes})
        return made[0] if isinstance(made, list) else made

    def change(self, number, attributes):
        assert self.api.patch(f"{self.word}/{number}", {"attributes": attributes}).status == 200

    def read(self, number):
        """The attributes by id, which lists and the change log's last word must confirm."""
        one = self.api.get(f"{self.word}/{number}").json["attributes"]
        (listed,) = [row["attributes"] for row in self.api.get(self.many).json if row["id"] == number]
        assert listed == one
        return one


@pytest.fixture(params=KINDS)
def things(request, api, project):
    return Things(api, project, request.param)


@pytest.fixture
def annotations(api, project):
    return Things(api, project, "Localization")


def same(one, other):
    """Equal in what is named, and 0 is not false."""
    return all(one[name] == value and type(one[name]) is type(value) for name, value in other.items())


def test_empty_values_are_values_when_created_and_when_changed(things):
    number = things.make(EMPTY)
    assert same(things.read(number), EMPTY)
    other = things.make({})
    assert same(things.read(other), {each["name"]: each["default"] for each in ATTRIBUTES if "default" in each})
    assert "blob" not in things.read(other)
    things.change(other, EMPTY)
    assert same(things.read(other), EMPTY)
    things.change(other, {"count": 1})
    assert same(things.read(other), {**EMPTY, "count": 1})


def test_empty_values_are_values_in_bulk(things):
    number = things.make({})
    if things.word == "File":
        pytest.skip("files have no bulk change")
    assert things.api.patch(things.many, {"attributes": EMPTY}, type=things.spec["type"]).status == 200
    assert same(things.read(number), EMPTY)


@pytest.mark.slow
@sweep("name, text", TEXTS.items(), ids=lambda case: case[0])
def test_texts_come_back_byte_for_byte(things, name, text):
    number = things.make({"text": text, "blob": text})
    assert (things.read(number)["text"], things.read(number)["blob"]) == (text, text)
    other = things.make({})
    things.change(other, {"text": text})
    assert things.read(other)["text"] == text
    things.change(other, {"count": 1})
    assert things.read(other)["text"] == text


# one as large as `large` cannot be asked for
@sweep("text", [text for name, text in TEXTS.items() if name != "large"], ids=repr)
def test_texts_are_found_by_what_they_are(api, project, annotations, text):
    things = annotations
    number = things.make({"text": text})
    things.make({"text": "another"})
    search = {"object_search": {"attribute": "text", "operation": "eq", "value": text}}
    found = api.put(things.many, search)
    assert found.status == 200, found.body
    assert [row["id"] for row in found.json] == [number]
    logs = api.get(f"ChangeLog/{project}", entity_id=number, entity_type="localization").json
    assert {"name": "text", "value": text} in logs[0]["description_of_change"]["new"]


def test_a_geometry_of_zeros_survives(api, project):
    things = Things(api, project, "Localization")
    zeros = {"x": 0.0, "y": 0.0, "width": 0.0, "height": 0.0}
    number = api.made(things.many, {**things.spec, **zeros})[0]
    assert zeros.items() <= api.get(f"Localization/{number}").json.items()
    other = api.made(things.many, {**things.spec, **dict.fromkeys(zeros, 0.5)})[0]
    assert api.patch(f"Localization/{other}", zeros).status == 200
    assert zeros.items() <= api.get(f"Localization/{other}").json.items()
    assert api.get(things.many, fields="x,width").json == [{"x": 0.0, "width": 0.0}] * 2
