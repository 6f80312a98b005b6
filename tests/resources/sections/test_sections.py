"""Sections over HTTP: folders, playlists and saved searches, their paths, tags and media."""

from __future__ import annotations

import base64
import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.access.scope import UNRESTRICTED
from chalicelib.resources.sections import service as sections_service
from chalicelib.storage.log import log


class Sections:
    """A project with a media type, and its sections."""

    def __init__(self, api: Any, project: int) -> None:
        self.api, self.project, self.many = api, project, f"Sections/{project}"
        self.media_type = api.made(f"MediaTypes/{project}", {"name": "v", "dtype": "video"})

    def make(self, name: str = "a", **more: Any) -> int:
        return self.api.made(self.many, {"name": name, **more})

    def one(self, number: int) -> Any:
        return self.api.get(f"Section/{number}").json

    def names(self, **query: Any) -> list[str]:
        said = self.api.get(self.many, **query)
        assert said.status == 200, said.body
        return [each["name"] for each in said.json]

    def media(self, **more: Any) -> int:
        return self.api.made(f"Medias/{self.project}", {"type": self.media_type, "name": "a.mp4", "md5": "", **more})


@pytest.fixture
def here(api, project) -> Sections:
    return Sections(api, project)


class TestCreating:
    def test_what_is_not_given_has_its_default(self, here):
        said = here.api.post(here.many, {"name": "A b"})
        assert (said.status, isinstance(said.json["id"], int)) == (201, True)
        one = here.one(said.json["id"])
        wanted = {
            "name": "A b",
            "path": "A_b",
            "dtype": "folder",
            "visible": True,
            "explicit_listing": False,
            "attributes": {},
            "media": [],
            "object_search": None,
            "related_search": None,
            "project": here.project,
            "created_by": here.api.user.id,
        }
        assert wanted.items() <= one.items()
        assert uuid.UUID(one["elemental_id"])

    def test_an_absent_tag_is_made_up_as_a_uuid1_and_shown_under_both_names(self, here):
        one = here.one(here.make())
        assert uuid.UUID(one["svc_user_sections"]).version == 1
        assert one["svc_user_sections"] == one["tator_user_sections"]

    @pytest.mark.parametrize("name", ["svc_user_sections", "tator_user_sections"])
    def test_a_null_tag_is_refused_and_another_kept(self, here, name):
        said = here.api.post(here.many, {"name": "a", name: None})
        assert said.status == 400
        assert "user_sections" in said.body.decode()
        assert here.names() == []
        assert here.one(here.make(**{name: "my tag"}))["svc_user_sections"] == "my tag"

    def test_null_for_any_other_member_is_as_if_it_were_absent(self, here):
        nulls = {"path": None, "object_search": None, "media": None, "elemental_id": None, "svc_user_sections": "t"}
        assert here.api.post(here.many, {"name": "a", **nulls}).status == 201

    @pytest.mark.parametrize(
        ("more", "dtype"),
        [
            ({}, "folder"),
            ({"object_search": {"attribute": "$name", "operation": "eq", "value": "x"}}, "saved_search"),
            ({"related_search": {"attribute": "$frame", "operation": "eq", "value": 1}}, "saved_search"),
            ({"dtype": "playlist"}, "playlist"),
        ],
    )
    def test_the_dtype_follows_from_the_searches_where_it_is_not_given(self, here, more, dtype):
        assert here.one(here.make(**more))["dtype"] == dtype

    def test_a_path_is_taken_once(self, here):
        here.make("A b")
        said = here.api.post(here.many, {"name": "A_b"})
        assert said.status == 400
        assert "already exists!" in said.message
        assert said.json["rule"] == "taken"
        assert "'A_b'; give another one as path" in said.json["details"], "nobody gave a path"
        assert here.one(here.make("A_b", path="other.place"))["path"] == "other.place"

    def test_of_eight_who_want_one_path_one_gets_it(self, here):
        with ThreadPoolExecutor(8) as pool:
            said = list(pool.map(lambda _: here.api.post(here.many, {"name": "a"}).status, range(8)))
        assert sorted(said) == [201, *[400] * 7]

    @pytest.mark.parametrize("name", ["1f0c9f3e-8a6b-4b7e-9a51-2f8f4f7a6c10", "0 Ünïcode / x", "a..b", ".", "x" * 128])
    def test_any_name_makes_a_path_that_can_be_used_again(self, here, name):
        path = here.one(here.make(name))["path"]
        here.api.delete(here.many)
        assert here.one(here.make("again", path=path))["path"] == path

    def test_media_are_attached_and_bad_ones_refused(self, here):
        media = here.media()
        assert here.one(here.make("list", dtype="playlist", media=[media]))["media"] == [media]
        assert here.api.post(here.many, {"name": "b", "media": [media, 987_654_321]}).status == 400

    def test_editors_write_and_viewers_read(self, here, member, stranger):
        number = here.make()
        viewer, editor = member("View Only"), member("Can Edit")
        assert viewer.get(f"Section/{number}").status == 200
        assert viewer.post(here.many, {"name": "b"}).status == 403
        assert viewer.delete(here.many).status == 403
        assert stranger.get(f"Section/{number}").status == 404
        assert editor.patch(f"Section/{number}", {"name": "b"}).status == 200
        assert editor.delete(f"Section/{number}").status == 200


class TestListing:
    @pytest.fixture
    def cars(self, here) -> Sections:
        for path in ("Honda", "Honda.Civic", "Honda.Civic.EX_L", "Honda.Accord", "Honda.Accord.EX", "Toyota"):
            here.make(path.rpartition(".")[2], path=path)
        return here

    def test_they_are_ordered_by_name(self, here):
        for name in "bca":
            here.make(name)
        assert here.names() == ["a", "b", "c"]

    def test_by_name_in_any_case_and_by_elemental_id(self, cars):
        assert cars.names(name="honda") == ["Honda"]
        assert cars.names(name="hond") == []
        element = cars.api.get(cars.many, name="Toyota").json[0]["elemental_id"]
        assert cars.names(elemental_id=element.upper()) == ["Toyota"]
        assert cars.api.get(cars.many, elemental_id="x").status == 400

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ({"ancestors": "Honda.Civic.EX_L"}, ["Civic", "EX_L", "Honda"]),
            ({"descendants": "Honda.Civic"}, ["Civic", "EX_L"]),
            ({"descendants": "Hond"}, []),
            ({"match": "Honda.*.EX_L"}, ["EX_L"]),
            ({"match": "Honda.*{1}"}, ["Accord", "Civic"]),
            ({"match": "Honda.*{1,}"}, ["Accord", "Civic", "EX", "EX_L"]),
            ({"match": "Honda.*{,1}"}, ["Accord", "Civic", "Honda"]),
            ({"match": "*.EX*"}, ["EX", "EX_L"]),
            ({"match": "*.ex@"}, ["EX"]),
            ({"match": "*.Civic|Accord"}, ["Accord", "Civic"]),
            ({"match": "Honda.!Civic"}, ["Accord"]),
            ({"match": "Honda", "name": "Toyota"}, []),
        ],
    )
    def test_by_place_in_the_tree(self, cars, query, names):
        assert cars.names(**query) == names

    @pytest.mark.parametrize("match", ["Honda.", "a b", "*{x}", "(", "a|"])
    def test_a_pattern_that_is_none_is_refused(self, cars, match):
        assert cars.api.get(cars.many, match=match).status == 400

    def test_by_their_attributes(self, here):
        here.api.post(
            f"AttributeType/{here.project}",
            {"entity_type": "Section", "addition": {"name": "depth", "dtype": "int"}},
        )
        here.make("deep", attributes={"depth": 9})
        here.make("flat", attributes={"depth": 1})
        search = {"attribute": "depth", "operation": "gt", "value": 5}
        encoded = base64.b64encode(json.dumps(search).encode()).decode()
        assert here.names(encoded_search=encoded) == ["deep"]
        assert here.api.get(here.many, encoded_search="%%%").status == 400


class TestChanging:
    def test_only_what_is_named_changes(self, here):
        number = here.make("a", path="p", explicit_listing=True)
        before = here.one(number)
        assert here.api.patch(f"Section/{number}", {"visible": False}).status == 200
        assert here.one(number) == {**before, "visible": False}
        search = {"attribute": "$name", "operation": "eq", "value": "x"}
        change = {"name": "b", "dtype": "saved_search", "related_search": search, "svc_user_sections": "t"}
        assert here.api.patch(f"Section/{number}", change).status == 200
        assert change.items() <= here.one(number).items()

    @pytest.mark.parametrize("path", ["taken", "a b", "a..b", ".a", ""])
    def test_a_path_must_be_one_and_free(self, here, path):
        here.make("taken")
        number = here.make("a")
        assert here.api.patch(f"Section/{number}", {"path": path}).status == 400
        assert here.one(number)["path"] == "a"

    def test_a_path_that_was_left_is_free(self, here):
        number = here.make("a")
        assert here.api.patch(f"Section/{number}", {"path": "b.c"}).status == 200
        assert here.one(here.make("a"))["path"] == "a"

    def test_media_are_added_and_taken_out(self, here):
        first, second, third = (here.media() for _ in range(3))
        number = here.make(dtype="playlist", media=[first, second])
        said = here.api.patch(f"Section/{number}", {"media_add": [third, second], "media_del": [first]})
        assert said.status == 200
        assert here.one(number)["media"] == [second, third]
        assert here.api.patch(f"Section/{number}", {"media_add": [987_654_321]}).status == 400

    def test_of_eight_who_add_a_media_at_once_none_is_lost(self, here):
        number = here.make(dtype="playlist")
        media = [here.media() for _ in range(8)]
        with ThreadPoolExecutor(8) as pool:
            said = list(pool.map(lambda one: here.api.patch(f"Section/{number}", {"media_add": [one]}).status, media))
        assert said == [200] * 8
        assert sorted(here.one(number)["media"]) == media

    def test_attributes_are_merged_and_unknown_ones_refused(self, here):
        for name in ("x", "y"):
            addition = {"name": name, "dtype": "int"}
            here.api.post(f"AttributeType/{here.project}", {"entity_type": "Section", "addition": addition})
        number = here.make(attributes={"x": 1})
        assert here.one(number)["attributes"] == {"x": 1}
        assert here.api.patch(f"Section/{number}", {"attributes": {"y": 0}}).status == 200
        assert here.one(number)["attributes"] == {"x": 1, "y": 0}
        assert here.api.patch(f"Section/{number}", {"attributes": {"unknown": 2}}).status == 400
        assert here.api.patch(f"Section/{number}", {"attributes": {"x": "many"}}).status == 400

    def test_the_beginning_of_many_paths_is_replaced(self, here):
        for path in ("a", "a.b", "a.c", "ab", "d.a"):
            here.make(path.replace(".", " "), path=path)
        body = {"path_substitution": {"old": "a", "new": "z"}}
        said = here.api.patch(here.many, body, descendants="a")
        assert said.status == 200
        assert "3" in said.message
        paths = sorted(each["path"] for each in here.api.get(here.many).json)
        assert paths == ["ab", "d.a", "z", "z.b", "z.c"]

    @pytest.mark.parametrize(("old", "new"), [("a", "a.a"), ("a.a", "a")])
    def test_paths_may_become_those_that_others_leave(self, here, old, new):
        for path in ("a.a", "a.a.a", "a.a.a.a"):
            here.make(path, path=path)
        said = here.api.patch(here.many, {"path_substitution": {"old": old, "new": new}})
        assert said.status == 200
        paths = sorted(each["path"] for each in here.api.get(here.many).json)
        depth = 3 if new == "a.a" else 1
        assert paths == [".".join("a" * count) for count in range(depth, depth + 3)]

    def test_a_substitution_onto_what_is_taken_is_refused_and_leaves_all_as_it_was(self, here):
        for path in ("a.b", "a.c", "z.c"):
            here.make(path.replace(".", " "), path=path)
        body = {"path_substitution": {"old": "a", "new": "z"}}
        assert here.api.patch(here.many, body, descendants="a").status == 400
        assert sorted(each["path"] for each in here.api.get(here.many).json) == ["a.b", "a.c", "z.c"]


class TestDeleting:
    def test_media_stay_and_belong_to_none(self, here):
        number = here.make("folder")
        media, other = here.media(section_id=number), here.media(section="elsewhere")
        assert here.api.get(f"Media/{media}").json["primary_section"] == number
        assert here.api.delete(f"Section/{number}").status == 200
        assert here.api.get(f"Section/{number}").status == 404
        left = here.api.get(f"Media/{media}").json
        assert (left["primary_section"], left["attributes"]["tator_user_sections"]) == (None, "")
        assert here.api.get(f"Media/{other}").json["primary_section"] is not None

    def test_the_log_tells_of_media_that_left_a_change_and_not_a_creation(self, here):
        number = here.make("folder")
        media = here.media(section_id=number)
        here.api.delete(f"Section/{number}")
        told = [edit for commit in log.read_after(here.project, 0) for edit in commit.edits if edit.ids == [media]]
        assert [(edit.old["_primary_section"], edit.new["_primary_section"]) for edit in told] == [(number, None)]

    def test_many_go_by_query(self, here):
        for path in ("a", "a.b", "c"):
            here.make(path.replace(".", " "), path=path)
        said = here.api.delete(here.many, descendants="a")
        assert said.message == "Successfully deleted 2 sections!"
        assert here.names() == ["c"]

    def test_its_path_is_free_again(self, here):
        here.api.delete(f"Section/{here.make('a')}")
        assert here.one(here.make("a"))["path"] == "a"


class TestFolders:
    def test_a_media_finds_its_folder_in_any_case_or_makes_it(self, here):
        number = here.make("Reef 1")
        assert here.api.get(f"Media/{here.media(section='reef 1')}").json["primary_section"] == number
        made = here.api.get(f"Media/{here.media(section='Kelp')}").json
        section = here.one(made["primary_section"])
        assert (section["name"], section["dtype"]) == ("Kelp", "folder")
        assert section["svc_user_sections"] == made["attributes"]["tator_user_sections"]
        assert uuid.UUID(section["svc_user_sections"]).version == 1

    @pytest.mark.parametrize("tag", [None, 5, ["t"]])
    def test_a_tag_of_a_media_that_is_not_text_is_refused(self, here, tag):
        attributes = {"attributes": {"tator_user_sections": tag}}
        new = {"type": here.media_type, "name": "a.mp4", "md5": "", **attributes}
        media = f"Media/{here.media()}"
        for said in (here.api.post(f"Medias/{here.project}", new), here.api.patch(media, attributes)):
            assert (said.status, "tator_user_sections" in said.message) == (400, True), said.body

    def test_a_playlist_of_the_name_is_no_folder(self, here):
        number = here.make("Reef", dtype="playlist")
        found = here.api.get(f"Media/{here.media(section='Reef')}").json["primary_section"]
        assert found != number
        assert here.one(found)["dtype"] == "folder"

    def test_another_case_at_the_same_time_gets_the_same(self, here, monkeypatch):
        first = sections_service.folder_for(UNRESTRICTED, here.project, "reef", 1)
        real, early = sections_service._folder, iter([True])

        def look(*place):  # the first look is from before the other made it
            return None if next(early, False) else real(*place)

        monkeypatch.setattr(sections_service, "_folder", look)
        assert sections_service.folder_for(UNRESTRICTED, here.project, "REEF", 1).id == first.id

    def test_a_folder_that_got_another_name_leaves_its_own_to_the_next(self, here):
        first = sections_service.folder_for(UNRESTRICTED, here.project, "reef", 1).id
        assert here.api.patch(f"Section/{first}", {"name": "kelp", "path": "kelp"}).status == 200
        assert sections_service.folder_for(UNRESTRICTED, here.project, "reef", 1).id != first
        assert sections_service.folder_for(UNRESTRICTED, here.project, "KELP", 1).id == first
        assert here.one(here.make("Kelp", path="another"))["name"] == "Kelp"
        assert "by_name" not in here.one(first)

    @pytest.mark.parametrize("names", [["Reef"] * 8, ["reef", "Reef", "REEF", "rEEF"] * 2])
    def test_eight_who_need_one_at_once_get_the_same(self, here, names):
        with ThreadPoolExecutor(8) as pool:
            made = list(
                pool.map(lambda name: sections_service.folder_for(UNRESTRICTED, here.project, name, 1).id, names)
            )
        assert len(set(made)) == 1
        assert len(here.names()) == 1


class TestMasterSections:
    def test_a_media_takes_that_of_its_folder_unless_it_is_given(self, here):
        master, other = here.make("master"), here.make("other")
        folder = here.make("folder", master_section=master)
        assert here.one(folder)["master_section"] == master
        media = here.media(section_id=folder)
        own = here.media(section_id=folder, master_section=other)
        assert [here.api.get(f"Media/{each}").json["master_section"] for each in (media, own)] == [master, other]
        for body, wanted in (
            ({"master_section": other}, other),
            ({"primary_section": other}, None),
            ({"primary_section": folder}, master),
            ({"primary_section": folder, "master_section": -1}, None),
        ):
            assert here.api.patch(f"Media/{media}", body).status == 200
            assert here.api.get(f"Media/{media}").json["master_section"] == wanted

    def test_it_is_another_section_of_the_project(self, here):
        number = here.make("a")
        for body in ({"master_section": number}, {"master_section": 10**9}):
            said = here.api.patch(f"Section/{number}", body)
            assert (said.status, "master_section" in said.message) == (400, True)
        assert here.api.post(here.many, {"name": "b", "master_section": 10**9}).status == 400
        spec = {"type": here.media_type, "name": "a.mp4", "md5": "", "master_section": 10**9}
        assert here.api.post(f"Medias/{here.project}", spec).status == 400

    def test_null_clears_it_and_so_does_its_deletion(self, here):
        master = here.make("master")
        one, two = (here.make(name, master_section=master) for name in ("one", "two"))
        assert here.api.patch(f"Section/{one}", {"master_section": None}).status == 200
        assert here.one(one)["master_section"] is None
        assert here.api.delete(f"Section/{master}").status == 200
        assert here.one(two)["master_section"] is None
