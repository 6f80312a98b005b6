"""Types over HTTP: five of a kind, and what goes with one that is deleted."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.service import new_user

WORDS = ["MediaType", "LocalizationType", "StateType", "LeafType", "FileType"]
EVERY = pytest.mark.parametrize("word", WORDS)


class Types:
    """A project with a media type, and the smallest spec of each kind of type."""

    def __init__(self, api: Any, project: int) -> None:
        self.api, self.project = api, project
        self.media_type = api.made(f"MediaTypes/{project}", {"name": "base", "dtype": "video"})

    def spec(self, word: str, **more: Any) -> dict[str, Any]:
        own = {
            "MediaType": {"dtype": "video"},
            "LocalizationType": {"dtype": "box", "media_types": [self.media_type]},
            "StateType": {"association": "Media", "media_types": [self.media_type]},
        }
        return {"name": "n", **own.get(word, {}), **more}

    def make(self, word: str, **more: Any) -> int:
        return self.api.made(f"{word}s/{self.project}", self.spec(word, **more))

    def one(self, word: str, number: int) -> Any:
        return self.api.get(f"{word}/{number}").json

    def listed(self, word: str, **query: Any) -> list[Any]:
        return self.api.get(f"{word}s/{self.project}", **query).json

    def media(self, number: int | None = None) -> int:
        body = {"type": number or self.media_type, "name": "a.mp4", "md5": ""}
        return self.api.made(f"Medias/{self.project}", body)


@pytest.fixture
def types(api, project) -> Types:
    return Types(api, project)


class TestEveryKind:
    @EVERY
    def test_it_is_made_read_listed_changed_and_deleted(self, types, word):
        number = types.make(word, name="first", description="d", project=4)
        one = types.one(word, number)
        assert (one["id"], one["project"], one["name"]) == (number, types.project, "first")
        assert one["description"] == "d"
        assert one["attribute_types"] == []
        assert uuid.UUID(one["elemental_id"]).version == 4
        assert one in types.listed(word)
        assert types.api.patch(f"{word}/{number}", {"name": "second"}).status == 200
        changed = types.one(word, number)
        assert changed == {**one, "name": "second"}
        said = types.api.delete(f"{word}/{number}")
        assert said.status == 200
        assert str(number) in said.message
        assert "0 instances" in said.message
        assert types.api.get(f"{word}/{number}").status == 404
        assert number not in {each["id"] for each in types.listed(word)}

    @EVERY
    def test_lists_are_by_name_and_of_file_types_by_id(self, types, word):
        numbers = {name: types.make(word, name=name) for name in ("b", "c", "a")}
        listed = [each["id"] for each in types.listed(word) if each["id"] in numbers.values()]
        assert listed == [numbers[name] for name in (("b", "c", "a") if word == "FileType" else "abc")]

    @EVERY
    def test_lists_are_narrowed_by_elemental_id_in_any_case(self, types, word):
        name = str(uuid.uuid4())
        number = types.make(word, elemental_id=name.upper())
        types.make(word)
        assert [each["id"] for each in types.listed(word, elemental_id=name)] == [number]
        assert [each["id"] for each in types.listed(word, elemental_id=name.upper())] == [number]
        assert types.api.get(f"{word}s/{types.project}", elemental_id="no uuid").status == 400

    @EVERY
    def test_names_need_not_be_unique_but_one_is_reserved(self, types, word):
        assert types.make(word) != types.make(word)
        assert types.api.post(f"{word}s/{types.project}", types.spec(word, name="filename")).status == 400

    @EVERY
    @pytest.mark.parametrize("body", [{"name": ""}, {"name": "x" * 65}, {"description": "x" * 257}, {"name": 3}])
    def test_what_breaks_a_bound_is_refused_and_named(self, types, word, body):
        said = types.api.post(f"{word}s/{types.project}", types.spec(word, **body))
        assert said.status == 400
        assert next(iter(body)) in said.json["details"]

    @EVERY
    def test_a_missing_name_is_refused(self, types, word):
        spec = types.spec(word)
        del spec["name"]
        assert types.api.post(f"{word}s/{types.project}", spec).status == 400

    @EVERY
    def test_a_patch_refuses_attributes_and_dtype(self, types, word):
        attributes = [{"name": "x", "dtype": "int"}]
        number = types.make(word, attribute_types=attributes)
        before = types.one(word, number)
        for wrong in ({"attribute_types": []}, {"dtype": "dot"}):
            assert types.api.patch(f"{word}/{number}", {"description": "", **wrong}).status == 400
        assert types.one(word, number) == before

    @EVERY
    def test_definitions_come_back_in_order_with_what_they_lack_filled_in(self, types, word):
        attributes = [
            {"name": "where", "dtype": "geopos", "default": [-179.0, -89.0]},
            {"name": "vector", "dtype": "float_array", "size": 3, "default": [0.0, 0.0, 0.0]},
            {"name": "when", "dtype": "datetime", "use_current": True},
            {"name": "kind", "dtype": "enum", "choices": ["a"], "labels": ["A"], "order": -1},
        ]
        found = types.one(word, types.make(word, attribute_types=attributes))["attribute_types"]
        assert [each["name"] for each in found] == ["where", "vector", "when", "kind"]
        for given, got in zip(attributes, found, strict=True):
            assert {"description": "", "required": False, "order": 0, **given}.items() <= got.items()

    @EVERY
    def test_an_unknown_dtype_of_an_attribute_is_refused(self, types, word):
        spec = types.spec(word, attribute_types=[{"name": "x", "dtype": "unknown"}])
        said = types.api.post(f"{word}s/{types.project}", spec)
        assert said.status == 400
        assert "Input should be" in said.json["details"]
        assert "literal_error" in said.json["details"]

    @EVERY
    def test_only_full_control_makes_changes_and_deletes_one(self, types, member, stranger, word):
        number = types.make(word)
        editor = member("Can Execute")
        assert editor.get(f"{word}/{number}").status == 200
        for user, status in ((editor, 403), (stranger, 404)):
            assert user.post(f"{word}s/{types.project}", types.spec(word)).status == status
            assert user.patch(f"{word}/{number}", {"name": "x"}).status == status
            assert user.delete(f"{word}/{number}").status == status


class TestMediaTypes:
    def test_what_is_not_given_has_its_default(self, types):
        one = types.one("MediaType", types.make("MediaType"))
        assert {
            "default_volume": 0,
            "visible": True,
            "archive_config": None,
            "file_format": None,
        }.items() <= one.items()

    def test_0_and_false_are_kept(self, types):
        number = types.make("MediaType", default_volume=30)
        types.api.patch(f"MediaType/{number}", {"default_volume": 0, "visible": False})
        one = types.one("MediaType", number)
        assert (one["default_volume"], one["visible"]) == (0, False)

    def test_configurations_are_completed_with_their_defaults(self, types):
        spec = {"archive_config": [{"encode": {"vcodec": "copy", "crf": 30}}], "streaming_config": [{"resolution": 0}]}
        one = types.one("MediaType", types.make("MediaType", **spec))
        encode = {"vcodec": "copy", "crf": 30, "preset": "fast", "tune": "fastdecode", "pixel_format": "yuv420p"}
        assert encode.items() <= one["archive_config"][0]["encode"].items()
        assert {"resolution": 0, "vcodec": "h264", "crf": 23}.items() <= one["streaming_config"][0].items()

    @pytest.mark.parametrize(
        "more",
        [{"file_format": "12345"}, {"default_volume": 101}, {"dtype": "film"}, {"streaming_config": [{"crf": 3}]}],
    )
    def test_what_breaks_a_bound_is_refused(self, types, more):
        assert types.api.post(f"MediaTypes/{types.project}", types.spec("MediaType", **more)).status == 400

    def test_default_annotation_types_must_be_the_projects(self, types):
        box = types.make("LocalizationType")
        number = types.make("MediaType", default_box=box)
        assert types.one("MediaType", number)["default_box"] == box
        path = f"MediaType/{number}"
        assert types.api.patch(path, {"default_dot": 987_654_321}).status == 404
        dot = types.make("LocalizationType", dtype="dot")
        assert types.api.patch(path, {"default_dot": dot}).status == 200
        assert types.one("MediaType", number)["default_dot"] == dot


class TestAnnotationTypes:
    BOTH = pytest.mark.parametrize("word", ["LocalizationType", "StateType"])

    @BOTH
    def test_media_types_must_exist(self, types, word):
        said = types.api.post(f"{word}s/{types.project}", types.spec(word, media_types=[types.media_type, 987_654_321]))
        assert said.status == 404
        assert "987654321" in said.message
        assert types.listed(word) == []

    @BOTH
    def test_media_types_are_at_least_one(self, types, word):
        assert types.api.post(f"{word}s/{types.project}", types.spec(word, media_types=[])).status == 400

    @BOTH
    def test_a_patch_adds_media_types(self, types, word):
        number, other = types.make(word), types.make("MediaType")
        assert types.api.patch(f"{word}/{number}", {"media_types": [other]}).status == 200
        assert types.one(word, number)["media"] == [types.media_type, other]

    @BOTH
    def test_lists_are_narrowed_by_one_media(self, types, word):
        other = types.make("MediaType")
        here, there = types.make(word), types.make(word, media_types=[other])
        assert [each["id"] for each in types.listed(word, media_id=types.media())] == [here]
        assert [each["id"] for each in types.listed(word, media_id=types.media(other), type=3)] == [there]
        path = f"{word}s/{types.project}"
        said = types.api.get(path, media_id=[types.media(), types.media()])
        assert said.status == 400
        assert "expect only one media ID!" in said.message
        assert types.api.get(path, media_id=987_654_321).status == 404

    def test_old_and_new_names_of_the_color_map(self, types):
        for name in ("colorMap", "color_map"):
            number = types.make("LocalizationType", **{name: {"default": [1, 2, 3]}})
            assert types.one("LocalizationType", number)["color_map"] == {"default": [1, 2, 3]}

    def test_defaults_of_localization_and_state_types(self, types):
        box = types.one("LocalizationType", types.make("LocalizationType"))
        assert {"line_width": 3, "visible": True, "drawable": True, "grouping_default": True}.items() <= box.items()
        state = types.one("StateType", types.make("StateType"))
        assert {"interpolation": "latest", "dtype": "state", "delete_child_localizations": False}.items() <= (
            state.items()
        )

    def test_a_state_type_may_name_a_default_localization(self, types):
        box = types.make("LocalizationType")
        number = types.make("StateType", default_localization=box)
        assert types.one("StateType", number)["default_localization"] == box


class TestDeleting:
    def test_localizations_vanish_from_lists_and_by_id_and_the_message_counts_the_live_ones(self, types):
        media, box, kept = types.media(), types.make("LocalizationType"), types.make("LocalizationType")
        specs = [{"media_id": media, "type": box, "frame": frame} for frame in range(12)]
        numbers = types.api.made(f"Localizations/{types.project}", specs)
        other = types.api.made(f"Localizations/{types.project}", {"media_id": media, "type": kept, "frame": 0})
        types.api.delete(f"Localization/{numbers[0]}")
        types.api.patch(f"Localization/{numbers[1]}", {"frame": 40, "in_place": 0})
        said = types.api.delete(f"LocalizationType/{box}")
        assert said.status == 200
        assert f"{box} (and 11 instances)" in said.message
        assert {types.api.get(f"Localization/{number}").status for number in numbers} == {404}
        assert [each["id"] for each in types.api.get(f"Localizations/{types.project}").json] == other

    def test_media_take_along_what_lies_on_them_and_types_forget_the_type(self, types):
        doomed = types.make("MediaType")
        box = types.make("LocalizationType", media_types=[types.media_type, doomed])
        media = [types.media(doomed) for _ in range(3)]
        (on_it,) = types.api.made(f"Localizations/{types.project}", {"media_id": media[0], "type": box, "frame": 0})
        said = types.api.delete(f"MediaType/{doomed}")
        assert f"{doomed} (and 3 instances)" in said.message
        assert types.one("LocalizationType", box)["media"] == [types.media_type]
        assert types.api.get(f"Media/{media[0]}").status == 404
        assert types.api.get(f"Localization/{on_it}").status == 404

    @pytest.mark.parametrize("member_name", ["default_box", "default_line", "default_dot"])
    def test_a_media_type_forgets_a_default_that_is_gone(self, types, member_name):
        box = types.make("LocalizationType")
        number = types.make("MediaType", **{member_name: box})
        types.api.delete(f"LocalizationType/{box}")
        assert types.one("MediaType", number)[member_name] is None

    def test_a_state_type_forgets_a_default_that_is_gone(self, types):
        box = types.make("LocalizationType")
        number = types.make("StateType", default_localization=box)
        types.api.delete(f"LocalizationType/{box}")
        assert types.one("StateType", number)["default_localization"] is None

    def test_states_and_leaves(self, types):
        media, state, leaf = types.media(), types.make("StateType"), types.make("LeafType")
        types.api.made(f"States/{types.project}", [{"media_ids": [media], "type": state}] * 4)
        types.api.made(f"Leaves/{types.project}", {"name": "cod", "type": leaf})
        assert f"{state} (and 4 instances)" in types.api.delete(f"StateType/{state}").message
        assert f"{leaf} (and 1 instances)" in types.api.delete(f"LeafType/{leaf}").message
        assert types.api.get(f"StateCount/{types.project}").json == 0
        assert types.api.get(f"LeafCount/{types.project}").json == 0

    def test_the_neighbours_project_is_no_place_to_take_types_from(self, types):
        other = new_user(is_staff=True)
        organization = other.made("Organizations", {"name": f"o {uuid.uuid4().hex}"})
        elsewhere = Types(other, other.made("Projects", {"name": "p", "organization": organization}))
        spec = types.spec("LocalizationType", media_types=[elsewhere.media_type])
        assert types.api.post(f"LocalizationTypes/{types.project}", spec).status == 404
        assert types.api.get(f"LocalizationTypes/{types.project}", media_id=elsewhere.media()).status == 404


class TestEncodingAndColours:
    @pytest.mark.parametrize(
        ("config", "named"),
        [
            ({"preset": "bogus"}, "preset"),
            ({"vcodec": "av1", "preset": "fast"}, "preset"),
            ({"preset": "8"}, "preset"),
            ({"pixel_format": "rgb24"}, "pixel_format"),
            ({"vcodec": "av1", "pixel_format": "yuv444p"}, "pixel_format"),
            ({"crf": 60}, "crf"),
        ],
    )
    def test_a_rendition_that_no_encoder_accepts_is_refused(self, api, project, config, named):
        spec = {"name": "v", "dtype": "video", "streaming_config": [{"resolution": 100, **config}]}
        said = api.post(f"MediaTypes/{project}", spec)
        assert (said.status, named in said.json["message"] + said.json["details"]) == (400, True), said.body

    @pytest.mark.parametrize("encode", [{"preset": "bogus"}, {"tune": "bogus"}, {"pixel_format": "bogus"}])
    def test_an_archival_copy_that_no_encoder_accepts_is_refused(self, api, project, encode):
        spec = {"name": "v", "dtype": "video", "archive_config": [{"encode": encode}]}
        assert api.post(f"MediaTypes/{project}", spec).status == 400

    @pytest.mark.parametrize("config", [{"vcodec": "av1", "preset": "8"}, {"preset": "slow", "crf": 51}, {}])
    def test_what_encoders_accept_is_kept(self, api, project, config):
        spec = {"name": "v", "dtype": "video", "streaming_config": [{"resolution": 100, **config}]}
        assert api.post(f"MediaTypes/{project}", spec).status == 201

    @pytest.mark.parametrize(
        "colours",
        [
            {"default": [256, 0, 0]},
            {"default": [-1, 0, 0]},
            {"default": [1, 2]},
            {"default": "red"},
            {"default": "#12345"},
            {"key": "a", "map": {"x": [0, 0, 300]}},
            {"map": {"x": "#gggggg"}},
            {"version": {"1": [1, 2, 3, 4, 5]}},
            {"map": 5},
        ],
    )
    def test_malformed_colours_are_refused(self, api, project, colours):
        media = api.made(f"MediaTypes/{project}", {"name": "i", "dtype": "image"})
        spec = {"name": "b", "dtype": "box", "media_types": [media], "color_map": colours}
        said = api.post(f"LocalizationTypes/{project}", spec)
        assert (said.status, "color_map" in said.json["message"] + said.json["details"]) == (400, True), said.body
        good = api.made(f"LocalizationTypes/{project}", {**spec, "color_map": {"default": [0, 255, 3, 9]}})
        assert api.patch(f"LocalizationType/{good}", {"color_map": colours}).status == 400
        assert api.patch(f"LocalizationType/{good}", {"color_map": {"map": {"x": "#00ff7F"}}}).status == 200
