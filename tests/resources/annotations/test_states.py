"""States over HTTP: their members, merging and trimming tracks, and the rules of marks for them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

import pytest

EVERYTHING = {"show_all_marks": 1, "show_deleted": 1, "merge": 0}


@dataclass
class Here:
    """A project with two media, a box type and three kinds of states."""

    api: Any
    project: int
    media: list[int]
    box: int
    track: int
    parental: int
    frame: int

    @property
    def many(self) -> str:
        return f"States/{self.project}"

    def boxes(self, *frames: int, media: int = 0) -> list[int]:
        spec = {"media_id": self.media[media], "type": self.box}
        return self.api.made(f"Localizations/{self.project}", [{**spec, "frame": frame} for frame in frames])

    def spec(self, **more: Any) -> dict[str, Any]:
        return {"type": self.track, "media_ids": self.media[:1], **more}

    def make(self, **more: Any) -> int:
        return self.api.made(self.many, self.spec(**more))[0]

    def one(self, number: int) -> Any:
        return self.api.get(f"State/{number}").json

    def listed(self, **query: Any) -> list[Any]:
        return self.api.get(self.many, **query).json

    def box_ids(self, **query: Any) -> list[int]:
        return [box["id"] for box in self.api.get(f"Localizations/{self.project}", **query).json]

    def version(self) -> int:
        return self.api.made(f"Versions/{self.project}", {"name": f"layer {uuid.uuid4().hex}"})


@pytest.fixture
def here(api, project) -> Here:
    media_type = api.made(f"MediaTypes/{project}", {"name": "video", "dtype": "video"})
    types = {"media_types": [media_type], "attribute_types": [{"name": "n", "dtype": "int"}]}
    track = {"name": "track", "association": "Localization", **types}
    return Here(
        api,
        project,
        [api.made(f"Medias/{project}", {"type": media_type, "name": name, "md5": ""}) for name in "ab"],
        api.made(f"LocalizationTypes/{project}", {"name": "box", "dtype": "box", **types}),
        api.made(f"StateTypes/{project}", track),
        api.made(f"StateTypes/{project}", {**track, "name": "parent", "delete_child_localizations": True}),
        api.made(f"StateTypes/{project}", {**track, "name": "frame", "association": "Frame"}),
    )


class TestCreating:
    def test_a_track_has_the_segments_of_its_members(self, here):
        members = here.boxes(12, 13, 15, 14, 20)
        number = here.make(localization_ids=[*members, *members])
        state = here.one(number)
        assert state["localizations"] == members
        assert state["segments"] == [[12, 15], [20, 20]]
        assert state["media"] == here.media[:1]
        assert here.listed() == [state]

    def test_without_members_there_are_no_segments(self, here):
        state = here.one(here.make(localization_ids=[], media_ids=[here.media[0], here.media[0]]))
        assert (state["segments"], state["localizations"], state["media"]) == (None, [], here.media[:1])

    def test_the_media_of_members_are_the_states_too(self, here):
        number = here.make(localization_ids=here.boxes(1, media=1))
        assert here.one(number)["media"] == here.media
        assert [state["id"] for state in here.listed(media_id=here.media)] == [number]

    @pytest.mark.parametrize(
        ("bad", "named"),
        [
            ({"media_ids": []}, "media_ids"),
            ({"media_ids": [10**9]}, "media_ids"),
            ({"localization_ids": [10**9]}, "localization_ids"),
            ({"type": 10**9}, "type"),
            ({"attributes": {"n": "x"}}, "n"),
        ],
    )
    def test_with_one_bad_item_nothing_is_created_and_the_message_names_it(self, here, bad, named):
        said = here.api.post(here.many, [here.spec(), here.spec(**bad), here.spec()])
        assert said.status == 400
        assert "[1]" in said.json["message"] + said.json["details"]
        assert named in said.json["message"] + said.json["details"]
        assert here.listed(**EVERYTHING) == []

    def test_a_state_of_a_frame_needs_one(self, here):
        assert here.api.post(here.many, here.spec(type=here.frame)).status == 400
        assert here.one(here.make(type=here.frame, frame=0))["frame"] == 0

    def test_a_hundred_at_once(self, here):
        numbers = here.api.made(here.many, [here.spec(type=here.frame, frame=frame) for frame in range(100)])
        assert [state["id"] for state in here.listed()] == numbers


class TestMembers:
    def test_adding_is_idempotent_and_ignores_what_exists_nowhere(self, here):
        first, second = here.boxes(1, 3), here.boxes(2, media=1)
        number = here.make(localization_ids=first)
        for _ in range(2):
            body = {"localization_ids_add": [*second, *second, 10**9]}
            assert here.api.patch(f"State/{number}", body).status == 200
        state = here.one(number)
        assert state["localizations"] == [*first, *second]
        assert state["segments"] == [[1, 3]]
        assert state["media"] == here.media

    def test_removing_all_leaves_no_segments(self, here):
        members = here.boxes(1, 2)
        number = here.make(localization_ids=members)
        here.api.patch(f"State/{number}", {"localization_ids_remove": [*members, 10**9]})
        assert (here.one(number)["localizations"], here.one(number)["segments"]) == ([], [])

    def test_adding_by_elemental_id_makes_a_mark_that_has_each_member_once(self, here):
        first, second = here.boxes(1), here.boxes(2)
        old = here.one(here.make(localization_ids=first))
        path = f"State/{old['version']}/{old['elemental_id']}"
        for _ in range(3):
            here.api.patch(path, {"localization_ids_add": second})
        assert here.api.get(path).json["localizations"] == [*first, *second]
        assert here.one(old["id"])["localizations"] == first
        assert len(here.listed()) == 1

    def test_they_may_be_replaced(self, here):
        first, second = here.boxes(1), here.boxes(7, 8)
        number = here.make(localization_ids=first)
        here.api.patch(f"State/{number}", {"localization_ids": second, "media_ids": here.media[1:]})
        state = here.one(number)
        assert (state["localizations"], state["segments"]) == (second, [[7, 8]])
        assert state["media"] == [here.media[1], here.media[0]]
        assert here.api.patch(f"State/{number}", {"localization_ids": [10**9]}).status == 400
        assert here.api.patch(f"State/{number}", {"media_ids": [10**9]}).status == 400

    def test_those_of_another_project_are_refused(self, here, api, organization):
        other = api.made("Projects", {"name": f"other {uuid.uuid4().hex}", "organization": organization})
        media_type = api.made(f"MediaTypes/{other}", {"name": "video", "dtype": "video"})
        box = api.made(f"LocalizationTypes/{other}", {"name": "box", "dtype": "box", "media_types": [media_type]})
        media = api.made(f"Medias/{other}", {"type": media_type, "name": "a", "md5": ""})
        (foreign,) = api.made(f"Localizations/{other}", {"media_id": media, "type": box, "frame": 0})
        number = here.make()
        assert here.api.patch(f"State/{number}", {"localization_ids_add": [foreign]}).status == 400
        assert here.api.post(here.many, here.spec(localization_ids=[foreign])).status == 400

    def test_many_members(self, here):
        members = here.boxes(*range(300))
        number = here.make(localization_ids=members[:150])
        here.api.patch(f"State/{number}", {"localization_ids_add": members[150:]})
        assert here.one(number)["segments"] == [[0, 299]]


class TestMergingAndTrimming:
    def test_merging_adds_the_members_and_deletes_the_other(self, here):
        first, second = here.boxes(1, 2), here.boxes(2, 3, media=1)
        kept, lost = here.make(localization_ids=first), here.make(localization_ids=second, media_ids=here.media[1:])
        assert here.api.patch(f"MergeStates/{kept}", {"merge_state_id": lost}).status == 200
        state = here.one(kept)
        assert state["localizations"] == [*first, *second]
        assert state["segments"] == [[1, 2], [2, 3]]
        assert state["media"] == here.media
        assert here.api.get(f"State/{lost}").status == 404
        assert [each["id"] for each in here.listed(**EVERYTHING)] == [kept]

    def test_what_cannot_be_merged(self, here):
        number = here.make()
        assert here.api.patch(f"MergeStates/{number}", {"merge_state_id": 10**9}).status == 404
        assert here.api.patch(f"MergeStates/{10**9}", {"merge_state_id": number}).status == 404
        assert here.api.patch(f"MergeStates/{number}", {"merge_state_id": number}).status == 400

    def test_states_of_different_types_are_not_merged(self, here):
        number, other = here.make(localization_ids=here.boxes(1)), here.make(type=here.parental)
        said = here.api.patch(f"MergeStates/{number}", {"merge_state_id": other})
        assert (said.status, "Give a state of the same type." in said.message) == (400, True)
        assert here.api.get(f"State/{other}").status == 200

    def test_a_deleted_track_is_merged_neither_way(self, here):
        number, gone = here.make(), here.make()
        assert here.api.delete(f"State/{gone}").status == 200
        assert here.api.patch(f"MergeStates/{number}", {"merge_state_id": gone}).status == 404
        assert here.api.patch(f"MergeStates/{gone}", {"merge_state_id": number}).status == 404

    @pytest.mark.parametrize(
        ("endpoint", "left", "segments"), [("start", [2, 3, 4], [[2, 4]]), ("end", [0, 1, 2], [[0, 2]])]
    )
    def test_trimming_deletes_what_no_other_state_has(self, here, endpoint, left, segments):
        members = here.boxes(0, 1, 2, 3, 4)
        number, other = here.make(localization_ids=members), here.make(localization_ids=[members[0], members[4]])
        said = here.api.patch(f"TrimStateEnd/{number}", {"frame": 2, "endpoint": endpoint})
        assert "Deleted 1" in said.message
        state = here.one(number)
        assert (state["localizations"], state["segments"]) == ([members[place] for place in left], segments)
        assert here.box_ids(**EVERYTHING) == sorted({*state["localizations"], *here.one(other)["localizations"]})

    @pytest.mark.slow
    def test_trimming_a_long_track(self, here):
        members = here.boxes(*range(300))
        number = here.make(localization_ids=members)
        assert "Deleted 290" in here.api.patch(f"TrimStateEnd/{number}", {"frame": 9, "endpoint": "end"}).message
        assert here.one(number)["segments"] == [[0, 9]]
        assert here.box_ids() == members[:10]

    def test_a_trim_needs_a_known_end(self, here):
        number = here.make()
        assert here.api.patch(f"TrimStateEnd/{number}", {"frame": 9, "endpoint": "middle"}).status == 400
        assert here.api.patch(f"TrimStateEnd/{10**9}", {"frame": 9, "endpoint": "end"}).status == 404


class TestDeleting:
    @pytest.mark.parametrize("prune", [0, 1])
    @pytest.mark.parametrize("many", [False, True])
    def test_children_go_with_the_only_state_that_has_them(self, here, prune, many):
        own, shared = here.boxes(1, 2), here.boxes(3)
        number = here.make(type=here.parental, localization_ids=[*own, *shared])
        here.make(localization_ids=shared)
        path = here.many if many else f"State/{number}"
        assert here.api.delete(path, {"prune": prune, **({"ids": [number]} if many else {})}).status == 200
        assert here.box_ids() == shared
        assert here.box_ids(**EVERYTHING) == (shared if prune else [*own, *shared])
        assert len(here.listed()) == 1

    def test_without_the_types_asking_for_it_they_stay(self, here):
        members = here.boxes(1)
        said = here.api.delete(f"State/{here.make(localization_ids=members)}")
        tombstone = here.one(said.json["id"])
        assert (tombstone["variant_deleted"], tombstone["localizations"]) == (True, members)
        assert here.box_ids() == members


class TestMany:
    def test_a_new_version_leaves_the_originals_and_makes_copies(self, here):
        layer = here.version()
        members = here.boxes(1, 2)
        numbers = here.api.made(here.many, [here.spec(localization_ids=members) for _ in range(60)])
        body = {"ids": numbers, "new_version": layer, "attributes": {}}
        assert here.api.patch(here.many, body).status == 200
        copies = here.listed(version=layer)
        assert [copy["localizations"] for copy in copies] == [members] * 60
        assert [copy["elemental_id"] for copy in copies] == [here.one(number)["elemental_id"] for number in numbers]
        assert len(here.listed()) == 120
        both = {"ids": [*numbers, *(copy["id"] for copy in copies)], "prune": 1}
        assert here.api.delete(here.many, both, count=120).status == 200
        assert here.listed(**EVERYTHING) == []

    def test_other_changes_are_in_place(self, here):
        numbers = here.api.made(here.many, [here.spec() for _ in range(5)])
        here.api.patch(here.many, {"attributes": {"n": 0}})
        assert [(state["id"], state["attributes"]) for state in here.listed()] == [(each, {"n": 0}) for each in numbers]

    def test_tracks_are_found_by_their_members(self, here):
        members = here.boxes(1, 2)
        number = here.make(localization_ids=members)
        here.make()
        assert [state["id"] for state in here.api.put(here.many, {"localization_ids": members[:1]}).json] == [number]
        assert here.api.put(f"StateCount/{here.project}", {"localization_ids": members}).json == 1
