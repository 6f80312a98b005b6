"""Changes of attributes are one commit however many things there are; things follow when they are read."""

from __future__ import annotations

from typing import Any

from chalicelib.resources.annotations import edits as annotations_edits
from chalicelib.storage.dynamodb import entities, ids, steps
from tests.resources.types.test_attribute_types import boxes

__all__ = ["boxes"]


def test_no_change_rewrites_anything(boxes, monkeypatch):
    boxes.add({"name": "x", "dtype": "int"})
    numbers = [boxes.box(x=value) for value in range(3)]
    monkeypatch.setattr(steps, "apply", _refused)
    monkeypatch.setattr(entities, "rewrite", _refused)
    assert boxes.change("x", {"name": "y", "dtype": "float"}).status == 200
    assert boxes.add({"name": "x", "dtype": "string", "default": "new"}).status == 201
    assert [boxes.values(number) for number in numbers] == [{"y": float(n), "x": "new"} for n in range(3)]
    assert boxes.count(attribute_gt="y::0.5") == 2
    assert boxes.count(attribute="x::new") == 3
    assert boxes.remove("y").status == 200
    assert [boxes.values(number) for number in numbers] == [{"x": "new"}] * 3


def test_lists_say_the_same_as_single_reads(boxes):
    boxes.add({"name": "x", "dtype": "int"})
    numbers = [boxes.box(x=value) for value in range(3)]
    assert boxes.count() == 3  # the view has seen them under the old name
    boxes.change("x", {"name": "y", "dtype": "float"})
    boxes.api.patch(f"Localization/{numbers[0]}", {"attributes": {"y": 7}})
    boxes.add({"name": "z", "dtype": "geopos", "default": [1.0, 2.0]})
    listed = boxes.api.get(f"Localizations/{boxes.project}").json
    assert {each["id"]: each["attributes"] for each in listed} == {n: boxes.values(n) for n in numbers}
    assert listed[1]["attributes"] == {"y": 1.0, "z": [1.0, 2.0]}
    assert boxes.count(attribute_distance="z::1::2::1") == 3


def test_a_value_set_to_null_is_not_filled_again(boxes):
    number = boxes.box()
    boxes.add({"name": "x", "dtype": "int", "default": 3})
    boxes.api.patch(f"Localization/{number}", {"null_attributes": ["x"]})
    boxes.add({"name": "y", "dtype": "int", "default": 4})
    assert boxes.values(number) == {"x": None, "y": 4}


def test_bulk_edits_and_copies_take_values_along(boxes):
    boxes.add({"name": "x", "dtype": "int"})
    numbers = [boxes.box(x=value) for value in range(3)]
    boxes.change("x", {"name": "y"})
    body = {"attributes": {"y": 9}, "ids": numbers[:1]}
    assert boxes.api.patch(f"Localizations/{boxes.project}?show_all_marks=1", body).status == 200
    boxes.change("y", {"name": "z"})
    moved = boxes.api.patch(f"Localization/{numbers[1]}", {"frame": 5})
    assert moved.status == 200
    boxes.add({"name": "y", "dtype": "string"})
    listed = boxes.api.get(f"Localizations/{boxes.project}").json
    assert sorted(each["attributes"]["z"] for each in listed) == [1, 2, 9]
    assert all(each["attributes"].keys() == {"z"} for each in listed)


def test_a_definition_changed_in_the_middle_of_an_edit_is_no_matter(boxes, monkeypatch):
    boxes.add({"name": "x", "dtype": "int"})
    number = boxes.box(x=1)
    real = annotations_edits.merge

    def renamed_before(*args):
        monkeypatch.setattr(annotations_edits, "merge", real)
        boxes.change("x", {"name": "y"})
        boxes.add({"name": "x", "dtype": "string"})
        return real(*args)

    monkeypatch.setattr(annotations_edits, "merge", renamed_before)
    assert boxes.api.patch(f"Localization/{number}", {"attributes": {"x": 2}}).status in (200, 400)
    assert boxes.values(number) in ({"y": 2}, {"y": 1})
    assert boxes.count(attribute_null="x::true") == 1


def test_a_creation_that_read_the_type_before_is_read_as_it_is_now(boxes, monkeypatch):
    boxes.add({"name": "x", "dtype": "int"})
    real = ids.reserve

    def renamed_before(*args):
        monkeypatch.setattr(ids, "reserve", real)
        boxes.change("x", {"name": "y"})
        boxes.add({"name": "late", "dtype": "int", "default": 5})
        return real(*args)

    monkeypatch.setattr(ids, "reserve", renamed_before)
    number = boxes.box(x=1)
    assert boxes.values(number) == {"y": 1, "late": 5}
    assert boxes.count(attribute="late::5") == 1
    assert boxes.count(attribute="y::1") == 1


def _refused(*_: Any, **__: Any) -> None:
    raise AssertionError("nothing may be rewritten")
