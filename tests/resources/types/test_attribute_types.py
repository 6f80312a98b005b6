"""Attributes over HTTP: added, renamed, changed and removed, with what that does to values."""

from __future__ import annotations

import pytest

from tests.resources.types.boxes import Boxes, spec
from tests.service import join, new_user

DTYPES = {
    "bool": {},
    "int": {},
    "float": {},
    "enum": {"choices": ["a", "b"]},
    "string": {},
    "datetime": {},
    "geopos": {},
    "float_array": {"size": 3},
}


@pytest.fixture
def boxes(api, project) -> Boxes:
    media_type = api.made(f"MediaTypes/{project}", {"name": "video", "dtype": "video"})
    spec = {"name": "box", "dtype": "box", "media_types": [media_type]}
    number = api.made(f"LocalizationTypes/{project}", spec)
    media = api.made(f"Medias/{project}", {"type": media_type, "name": "a.mp4", "md5": ""})
    return Boxes(api, project, media_type, media, number)


class TestAdding:
    def test_without_a_default_nothing_that_exists_gets_it(self, boxes):
        old = boxes.box()
        said = boxes.add({"name": "Species", "dtype": "string"})
        assert (said.status, said.message) == (201, "New attribute type 'Species' added")
        assert boxes.values(old) == {}
        assert boxes.values(boxes.box(Species="cod")) == {"Species": "cod"}
        added = boxes.defined()["Species"]
        assert (added["dtype"], added["description"], added["required"], added["order"]) == ("string", "", False, 0)

    @pytest.mark.parametrize(
        ("addition", "kept"),
        [
            ({"dtype": "int", "default": 0}, 0),
            ({"dtype": "bool", "default": False}, False),
            ({"dtype": "string", "default": ""}, ""),
            ({"dtype": "geopos", "default": [-179.0, -89.0]}, [-179.0, -89.0]),
            ({"dtype": "float_array", "size": 3, "default": [0.0, 0.0, 0.0]}, [0.0, 0.0, 0.0]),
            ({"dtype": "enum", "choices": ["a", "b"], "default": "b"}, "b"),
        ],
    )
    def test_a_default_becomes_the_value_of_all_there_is(self, boxes, addition, kept):
        old = boxes.box()
        assert boxes.add({"name": "x", **addition}).status == 201
        assert boxes.values(old) == {"x": kept}
        assert boxes.values(boxes.box()) == {"x": kept}

    def test_a_default_can_be_filtered_by_at_once_and_reaches_tombstones_and_earlier_marks(self, boxes):
        first, gone = boxes.box(), boxes.box()
        assert boxes.api.patch(f"Localization/{first}", {"frame": 3, "in_place": 0}).status == 200
        assert boxes.api.delete(f"Localization/{gone}").status == 200
        assert boxes.add({"name": "depth", "dtype": "int", "default": 7}).status == 201
        assert boxes.count(attribute="depth::7") == 1
        everything = {"show_all_marks": 1, "show_deleted": 1, "merge": 0}
        found = boxes.api.get(f"Localizations/{boxes.project}", **everything).json
        assert len(found) > 2
        assert {each["attributes"].get("depth") for each in found} == {7}

    def test_what_lies_on_another_type_stays_as_it_is(self, boxes):
        other = boxes.other_type()
        spec = {"media_id": boxes.media, "type": other, "frame": 0}
        dot = boxes.api.made(f"Localizations/{boxes.project}", spec)[0]
        boxes.add({"name": "depth", "dtype": "int", "default": 7})
        assert boxes.values(dot) == {}

    @pytest.mark.parametrize(
        ("addition", "text"),
        [
            ({"name": "x", "dtype": "enum"}, "enum attribute type definition missing 'choices' field"),
            ({"name": "x", "dtype": "float_array"}, "size"),
            ({"name": "x", "dtype": "int", "default": "many"}, "x"),
            ({"name": "$x", "dtype": "int"}, "is not valid"),
            ({"name": "a/b", "dtype": "int"}, "is not valid"),
            ({"name": "x"}, "dtype"),
            ({"dtype": "int"}, "name"),
            ({"name": "x", "dtype": "unknown"}, "Input should be"),
            ({"name": "x", "dtype": "unknown"}, "literal_error"),
        ],
    )
    def test_a_definition_that_breaks_a_rule_is_refused_with_the_rule(self, boxes, addition, text):
        said = boxes.add(addition)
        assert said.status == 400
        assert text in said.body.decode()
        assert boxes.defined() == {}

    def test_a_name_the_type_has_is_refused(self, boxes):
        boxes.add({"name": "x", "dtype": "int"})
        said = boxes.add({"name": "x", "dtype": "string"})
        assert said.status == 400
        assert "is already an attribute." in said.message

    @pytest.mark.parametrize("what", ["MediaType", "StateType", "LeafType", "FileType"])
    def test_every_kind_of_type_takes_attributes(self, boxes, what):
        more = {
            "MediaType": {"dtype": "image"},
            "StateType": {"association": "Media", "media_types": [boxes.media_type]},
        }.get(what, {})
        number = boxes.api.made(f"{what}s/{boxes.project}", {"name": "n", **more})
        assert boxes.add({"name": "x", "dtype": "int"}, number, what).status == 201
        assert [each["name"] for each in boxes.api.get(f"{what}/{number}").json["attribute_types"]] == ["x"]

    def test_media_get_a_default_beside_their_section(self, boxes):
        boxes.add({"name": "x", "dtype": "int", "default": 4}, boxes.media_type, "MediaType")
        attributes = boxes.api.get(f"Media/{boxes.media}").json["attributes"]
        assert attributes == {"x": 4, "tator_user_sections": "", "svc_user_sections": ""}


class TestRenaming:
    def test_values_go_along_and_what_lacks_it_stays_without(self, boxes):
        boxes.add({"name": "old", "dtype": "string"})
        with_it, without = boxes.box(old="cod"), boxes.box()
        said = boxes.change("old", {"name": "int -> float 100%, (new); @#:&"})
        assert said.status == 200
        name = next(iter(boxes.defined()))
        assert name == "int -> float 100%, (new); @#:&"
        assert boxes.values(with_it) == {name: "cod"}
        assert boxes.values(without) == {}

    def test_filters_know_the_new_name_and_no_longer_the_old(self, boxes):
        boxes.add({"name": "old", "dtype": "string"})
        boxes.box(old="cod")
        boxes.change("old", {"name": "new"})
        assert boxes.count(attribute="new::cod") == 1
        assert boxes.api.get(f"LocalizationCount/{boxes.project}", attribute="old::cod").status == 400

    def test_the_definition_keeps_its_place_and_its_members(self, boxes):
        for name in "abc":
            boxes.add({"name": name, "dtype": "int", "minimum": 1, "description": name, "order": 3})
        boxes.change("b", {"name": "z"})
        assert list(boxes.defined()) == ["a", "z", "c"]
        assert {name: boxes.defined()["z"][name] for name in ("minimum", "description", "order")} == {
            "minimum": 1,
            "description": "b",
            "order": 3,
        }

    @pytest.mark.parametrize("name", ["taken", "$x", "a/b"])
    def test_a_name_that_is_taken_or_not_valid_is_refused(self, boxes, name):
        boxes.add({"name": "taken", "dtype": "int"})
        boxes.add({"name": "x", "dtype": "int"})
        number = boxes.box(x=1, taken=2)
        assert boxes.change("x", {"name": name}).status == 400
        assert list(boxes.defined()) == ["taken", "x"]
        assert boxes.values(number) == {"taken": 2, "x": 1}

    def test_an_unknown_name_is_refused(self, boxes):
        said = boxes.change("nothing", {"name": "x"})
        assert said.status == 400
        assert "Could not find attribute name" in said.message

    def test_the_words_of_older_clients_are_understood(self, boxes):
        boxes.add({"name": "old", "dtype": "int"})
        number = boxes.box(old=1)
        body = {
            "entity_type": "LocalizationType",
            "old_attribute_type_name": "old",
            "new_attribute_type": {"name": "new", "dtype": "float"},
            "global": "false",
            "max_instances": 10,
        }
        assert boxes.api.patch(f"AttributeType/{boxes.type}", body).status == 200
        assert boxes.values(number) == {"new": 1.0}
        gone = {"entity_type": "LocalizationType", "attribute_to_delete": "new"}
        assert boxes.api.delete(f"AttributeType/{boxes.type}", gone).status == 200
        assert boxes.defined() == {}


class TestChanging:
    def test_an_unknown_dtype_is_refused_and_nothing_renamed(self, boxes):
        boxes.add({"name": "x", "dtype": "int"})
        assert boxes.change("x", {"name": "y", "dtype": "unknown"}).status == 400
        assert list(boxes.defined()) == ["x"]

    @pytest.mark.parametrize(
        ("before", "value", "after", "kept"),
        [("int", 5, "float", 5.0), ("float", 5.75, "int", 5), ("float", 0.0, "int", 0), ("string", "a", "enum", "a")],
    )
    def test_values_are_converted_and_found_by_filters(self, boxes, before, value, after, kept):
        boxes.add({"name": "x", "dtype": before, **DTYPES[before]})
        number = boxes.box(x=value)
        boxes.change("x", {"name": "x", "dtype": after, **DTYPES[after]})
        found = boxes.values(number)["x"]
        assert (found, type(found)) == (kept, type(kept))
        assert boxes.count(attribute=f"x::{kept}") == 1

    def test_a_value_that_is_no_choice_stays(self, boxes):
        boxes.add({"name": "x", "dtype": "string"})
        number = boxes.box(x="whale")
        assert boxes.change("x", {"name": "x", "dtype": "enum", "choices": ["a"]}).status == 200
        assert boxes.values(number) == {"x": "whale"}

    @pytest.mark.parametrize(
        ("before", "value", "after"),
        [
            ({"dtype": "enum", "choices": ["a", "b"]}, "a", {"choices": ["b"]}),
            ({"dtype": "int"}, 3, {"minimum": 3.5}),
            ({"dtype": "float"}, 0.5, {"maximum": 0.25}),
            ({"dtype": "string"}, None, {"required": True}),
        ],
    )
    def test_what_makes_values_invalid_is_refused_with_their_number_unless_forced(self, boxes, before, value, after):
        boxes.add({"name": "x", **before})
        number = boxes.box(**{} if value is None else {"x": value})
        change = {"name": "y", "dtype": before["dtype"], **after}
        said = boxes.change("x", change)
        assert (said.status, "1 localization has" in said.message, "force" in said.json["details"]) == (400, True, True)
        assert "x" in boxes.defined()
        said = boxes.change("x", change, force=True)
        assert (said.status, "1 localization has" in said.message) == (200, True)
        assert boxes.values(number).get("y") == value
        assert boxes.change("y", {"name": "x", "dtype": before["dtype"], **after}).status == 200

    def test_a_choice_that_nothing_has_is_removed_at_once(self, boxes):
        boxes.add({"name": "x", "dtype": "enum", "choices": ["a", "b"]})
        gone = boxes.box(x="a")
        assert boxes.api.delete(f"Localization/{gone}").status == 200
        assert boxes.change("x", {"name": "x", "dtype": "enum", "choices": ["b"]}).status == 200

    def test_anything_but_the_name_needs_the_dtype(self, boxes):
        boxes.add({"name": "x", "dtype": "int"})
        said = boxes.change("x", {"name": "x", "minimum": 3})
        assert said.status == 400
        assert "dtype" in said.message
        assert boxes.change("x", {"name": "x", "dtype": "int", "minimum": 3}).status == 200
        assert boxes.defined()["x"]["minimum"] == 3
        assert boxes.api.post(f"Localizations/{boxes.project}", spec(boxes, x=2)).status == 400

    def test_0_false_and_empty_are_changes(self, boxes):
        boxes.add({"name": "x", "dtype": "int", "description": "d", "order": 4, "required": True, "default": 3})
        zero = {"dtype": "int", "description": "", "order": 0, "required": False, "default": 0, "visible": False}
        boxes.change("x", {"name": "x", **zero})
        assert {name: boxes.defined()["x"][name] for name in zero} == zero

    def test_a_patch_keeps_what_it_does_not_name(self, boxes):
        boxes.add({"name": "x", "dtype": "int", "minimum": 1, "style": "long_string"})
        boxes.change("x", {"name": "x", "dtype": "int", "maximum": 9})
        kept = boxes.defined()["x"]
        assert (kept["minimum"], kept["maximum"], kept["style"]) == (1, 9, "long_string")

    def test_a_replacement_forgets_what_it_does_not_name(self, boxes):
        boxes.add({"name": "x", "dtype": "int", "minimum": 1, "default": 3})
        number = boxes.box()
        body = {"entity_type": "LocalizationType", "current_name": "x"}
        update = {"attribute_type_update": {"name": "y", "dtype": "float", "maximum": 9}}
        assert boxes.api.put(f"AttributeType/{boxes.type}", {**body, **update}).status == 200
        made = boxes.defined()["y"]
        assert (made.get("minimum"), made["maximum"], made.get("default")) == (None, 9, None)
        assert boxes.values(number) == {"y": 3.0}

    def test_a_new_default_must_fit_and_an_old_one_that_no_longer_does_is_dropped(self, boxes):
        boxes.add({"name": "x", "dtype": "string", "default": "whale"})
        assert boxes.change("x", {"name": "x", "dtype": "enum", "choices": ["a"], "default": "b"}).status == 400
        assert boxes.change("x", {"name": "x", "dtype": "enum", "choices": ["a"]}).status == 200
        assert boxes.defined()["x"].get("default") is None

    def test_without_global_only_the_type_changes_and_then_the_other_can(self, boxes):
        definition = {"name": "x", "dtype": "int"}
        boxes.add(definition)
        other = boxes.other_type(definition)
        assert boxes.change("x", {"name": "y", "dtype": "float"}).status == 200
        assert boxes.defined(other)["x"]["dtype"] == "int"
        assert boxes.change("x", {"name": "z", "dtype": "float"}, other).status == 200
        assert list(boxes.defined(other)) == ["z"]

    @pytest.mark.parametrize("everywhere", ["true", True])
    def test_with_global_every_type_that_has_it_changes(self, boxes, everywhere):
        boxes.add({"name": "x", "dtype": "int"})
        other = boxes.other_type({"name": "x", "dtype": "int"})
        boxes.add({"name": "x", "dtype": "int"}, boxes.media_type, "MediaType")
        assert boxes.change("x", {"name": "y", "dtype": "float"}, **{"global": everywhere}).status == 200
        assert boxes.defined(other)["y"]["dtype"] == "float"
        media = boxes.api.get(f"MediaType/{boxes.media_type}").json["attribute_types"]
        assert [(each["name"], each["dtype"]) for each in media] == [("y", "float")]

    def test_with_global_one_type_that_cannot_keeps_all_from_changing(self, boxes):
        boxes.add({"name": "x", "dtype": "int"})
        other = boxes.other_type({"name": "x", "dtype": "string"})
        assert boxes.change("x", {"name": "y", "dtype": "float"}, **{"global": "true"}).status == 400
        assert boxes.defined()["x"]["dtype"] == "int"
        assert list(boxes.defined(other)) == ["x"]


class TestRemoving:
    def test_the_definition_and_all_values_go(self, boxes):
        boxes.add({"name": "x", "dtype": "int"})
        boxes.add({"name": "y", "dtype": "int"})
        number = boxes.box(x=1, y=2)
        said = boxes.remove("x")
        assert (said.status, said.message) == (200, "Attribute 'x' deleted")
        assert boxes.values(number) == {"y": 2}
        assert list(boxes.defined()) == ["y"]
        assert boxes.api.patch(f"Localization/{number}", {"attributes": {"x": 1}}).status == 400

    def test_added_again_it_begins_empty(self, boxes):
        boxes.add({"name": "x", "dtype": "int"})
        number = boxes.box(x=1)
        boxes.remove("x")
        boxes.add({"name": "x", "dtype": "int"})
        assert boxes.values(number) == {}
        assert boxes.count(attribute_null="x::true") == 1

    def test_an_unknown_name_is_refused(self, boxes):
        said = boxes.remove("x")
        assert said.status == 400
        assert "Could not find attribute name" in said.message


class TestSections:
    def test_the_attributes_of_sections_are_the_projects(self, boxes):
        api, project = boxes.api, boxes.project
        section = api.made(f"Sections/{project}", {"name": "a"})
        assert boxes.add({"name": "x", "dtype": "int", "default": 3}, project, "Section").status == 201
        assert api.get(f"Section/{section}").json["attributes"] == {"x": 3}
        update = {"name": "y", "dtype": "float"}
        body = {"entity_type": "Section", "current_name": "x", "attribute_type_update": update}
        assert api.patch(f"AttributeType/{project}", body).status == 200
        assert api.get(f"Section/{section}").json["attributes"] == {"y": 3.0}
        assert [each["name"] for each in api.get(f"Project/{project}").json["attribute_types"]] == ["y"]
        assert boxes.remove("y", "Section", project).status == 200
        assert api.get(f"Section/{section}").json["attributes"] == {}
        assert api.get(f"Project/{project}").json["attribute_types"] == []

    def test_removing_one_they_have_not_is_no_error(self, boxes):
        assert boxes.remove("x", "Section", boxes.project).status == 200


class TestWhoMay:
    BODIES = {
        "post": {"addition": {"name": "y", "dtype": "int"}},
        "patch": {"current_name": "x", "attribute_type_update": {"name": "y"}},
        "put": {"current_name": "x", "attribute_type_update": {"name": "y", "dtype": "int"}},
        "delete": {"name": "x"},
    }

    @pytest.mark.parametrize("method", BODIES)
    @pytest.mark.parametrize("what", ["LocalizationType", "Section"])
    def test_only_full_control_of_the_project(self, boxes, stranger, nobody, method, what):
        boxes.add({"name": "x", "dtype": "int"})
        path = f"AttributeType/{boxes.type if what == 'LocalizationType' else boxes.project}"
        body = {"entity_type": what, **self.BODIES[method]}
        assert getattr(nobody, method)(path, body).status == 401
        assert getattr(stranger, method)(path, body).status == 404
        for level in ("View Only", "Can Edit", "Can Transfer", "Can Execute"):
            user = new_user()
            join(user, boxes.project, level)
            assert getattr(user, method)(path, body).status == 403
        assert list(boxes.defined()) == ["x"]

    def test_a_type_that_is_not_there_is_not_found(self, boxes):
        assert boxes.add({"name": "x", "dtype": "int"}, 987_654_321).status == 404
        assert boxes.add({"name": "x", "dtype": "int"}, boxes.type, "Nothing").status == 400
