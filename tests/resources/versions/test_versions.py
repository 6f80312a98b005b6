"""Versions over HTTP: layers with numbers and bases, and what goes with one that is deleted."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from chalicelib.core import record_limits
from chalicelib.core.models.definitions import VERSION
from chalicelib.storage.dynamodb import records


class Layers:
    """A project and its versions."""

    def __init__(self, api: Any, project: int) -> None:
        self.api, self.project = api, project

    def make(self, **more: Any) -> int:
        return self.api.made(f"Versions/{self.project}", {"name": "layer", **more})

    def one(self, number: int) -> Any:
        return self.api.get(f"Version/{number}").json

    def listed(self, **query: Any) -> list[Any]:
        return self.api.get(f"Versions/{self.project}", **query).json


@pytest.fixture
def layers(api, project) -> Layers:
    return Layers(api, project)


def test_a_new_project_has_its_baseline(layers):
    (baseline,) = layers.listed()
    assert (baseline["name"], baseline["number"], baseline["bases"]) == ("Baseline", 0, [])


def test_numbers_go_up_and_lists_follow_them(layers):
    made = [layers.make(name=name) for name in "ba"]
    assert [layers.one(number)["number"] for number in made] == [1, 2]
    assert [each["id"] for each in layers.listed(media_id=5)][1:] == made


def test_what_is_not_given_has_its_default(layers):
    one = layers.one(layers.make())
    assert {"description": "", "show_empty": True, "bases": [], "created_by": layers.api.user.id}.items() <= one.items()
    assert uuid.UUID(one["elemental_id"])


def test_eight_made_at_once_have_eight_numbers(layers):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: layers.make(), range(8)))
    assert [each["number"] for each in layers.listed()] == list(range(9))


def test_one_is_made_however_many_others_were_made_since_its_numbers_were_read(layers, monkeypatch):
    earlier = records.list_children(VERSION, layers.project)
    for _ in range(40):
        layers.make()
    with monkeypatch.context() as patch:
        patch.setattr(records, "list_children", lambda *_: earlier)
        late = layers.make()
    assert layers.one(late)["number"] == 41


def test_bases_must_exist_and_nothing_is_made_without_them(layers):
    base = layers.make()
    assert layers.one(layers.make(bases=[base]))["bases"] == [base]
    assert layers.api.post(f"Versions/{layers.project}", {"name": "x", "bases": [base, 987_654_321]}).status == 404
    assert len(layers.listed()) == 3


def test_a_patch_touches_only_what_it_names_and_replaces_the_bases(layers):
    first, second = layers.make(), layers.make()
    number = layers.make(bases=[first], description="d", show_empty=False)
    assert layers.api.patch(f"Version/{number}", {"bases": [second]}).status == 200
    one = layers.one(number)
    assert (one["bases"], one["description"], one["show_empty"]) == ([second], "d", False)
    assert layers.api.patch(f"Version/{number}", {"bases": [], "description": "", "show_empty": True}).status == 200
    one = layers.one(number)
    assert (one["bases"], one["description"], one["show_empty"]) == ([], "", True)
    assert layers.api.patch(f"Version/{number}", {"bases": [987_654_321]}).status == 404
    assert layers.one(number) == one


@pytest.mark.parametrize("body", [{"name": ""}, {"name": "x" * 129}, {"description": "x" * 1025}, {"bases": ["a"]}])
def test_what_breaks_a_bound_is_refused(layers, body):
    assert layers.api.post(f"Versions/{layers.project}", {"name": "x", **body}).status == 400


def test_editors_write_and_viewers_read(layers, member, stranger):
    number = layers.make()
    viewer, editor = member("View Only"), member("Can Edit")
    assert viewer.get(f"Version/{number}").status == 200
    assert viewer.patch(f"Version/{number}", {"name": "x"}).status == 403
    assert viewer.post(f"Versions/{layers.project}", {"name": "x"}).status == 403
    assert viewer.delete(f"Version/{number}").status == 403
    assert stranger.get(f"Version/{number}").status == 404
    assert editor.patch(f"Version/{number}", {"name": "x"}).status == 200
    assert editor.delete(f"Version/{number}").status == 200


class TestDeleting:
    def test_its_localizations_and_states_go_and_those_of_others_stay(self, layers):
        api, project = layers.api, layers.project
        media_type = api.made(f"MediaTypes/{project}", {"name": "v", "dtype": "video"})
        types = {"media_types": [media_type]}
        box = api.made(f"LocalizationTypes/{project}", {"name": "b", "dtype": "box", **types})
        state = api.made(f"StateTypes/{project}", {"name": "s", "association": "Media", **types})
        media = api.made(f"Medias/{project}", {"type": media_type, "name": "a.mp4", "md5": ""})
        doomed = layers.make()
        spec = {"media_id": media, "type": box, "frame": 0}
        (gone,) = api.made(f"Localizations/{project}", {**spec, "version": doomed})
        (kept,) = api.made(f"Localizations/{project}", spec)
        (track,) = api.made(f"States/{project}", {"media_ids": [media], "type": state, "version": doomed})
        api.patch(f"Localization/{gone}", {"frame": 3, "in_place": 0})
        assert api.delete(f"Version/{doomed}").status == 200
        assert api.get(f"Version/{doomed}").status == 404
        assert api.get(f"Localization/{gone}").status == 404
        assert api.get(f"State/{track}").status == 404
        everything = {"show_all_marks": 1, "show_deleted": 1, "merge": 0}
        assert [each["id"] for each in api.get(f"Localizations/{project}", **everything).json] == [kept]
        assert api.get(f"States/{project}", **everything).json == []

    def test_memberships_with_it_as_default_have_none_any_more(self, layers):
        number = layers.make()
        membership = layers.api.get(f"Memberships/{layers.project}").json[0]["id"]
        assert layers.api.patch(f"Membership/{membership}", {"default_version": number}).status == 200
        layers.api.delete(f"Version/{number}")
        assert layers.api.get(f"Membership/{membership}").json["default_version"] is None

    def test_versions_based_on_it_no_longer_are(self, layers):
        base, other = layers.make(), layers.make()
        number = layers.make(bases=[base, other])
        layers.api.delete(f"Version/{base}")
        assert layers.one(number)["bases"] == [other]

    def test_annotations_without_a_version_go_to_the_first_that_is_left(self, layers):
        api, project, second = layers.api, layers.project, layers.make()
        media_type = api.made(f"MediaTypes/{project}", {"name": "v", "dtype": "video"})
        box = api.made(f"LocalizationTypes/{project}", {"name": "b", "dtype": "box", "media_types": [media_type]})
        media = api.made(f"Medias/{project}", {"type": media_type, "name": "a.mp4", "md5": ""})

        def version():
            (made,) = api.made(f"Localizations/{project}", {"media_id": media, "type": box, "frame": 0})
            return api.get(f"Localization/{made}").json["version"]

        first = layers.listed()[0]["id"]
        assert [version(), version()] == [first, first]
        api.delete(f"Version/{first}")
        assert [version(), version()] == [second, second]
        api.delete(f"Version/{second}")
        assert version() == version() == layers.listed()[0]["id"]

    def test_a_project_without_any_begins_again_at_0(self, layers):
        layers.api.delete(f"Version/{layers.listed()[0]['id']}")
        assert layers.listed() == []
        assert layers.one(layers.make())["number"] == 0


def test_a_version_is_never_its_own_ancestor(layers):
    first = layers.make()
    second = layers.make(bases=[first])
    third = layers.make(bases=[second])
    for bases in ([first], [second], [third]):
        said = layers.api.patch(f"Version/{first}", {"bases": bases})
        assert (said.status, "itself" in said.message) == (400, True), bases
    assert layers.one(first)["bases"] == []
    assert layers.api.patch(f"Version/{third}", {"bases": [first, second]}).status == 200


def test_changes_in_parallel_close_no_cycle(layers):
    """Three versions that name each other in a ring at the same time: the last one is refused, whatever the order."""
    for _ in range(4):
        ring = [layers.make() for _ in range(3)]
        begin = Barrier(len(ring))

        def change(place, ring=ring, begin=begin):
            begin.wait()
            return layers.api.patch(f"Version/{ring[place]}", {"bases": [ring[place - 1]]}).status

        with ThreadPoolExecutor(len(ring)) as pool:
            statuses = sorted(pool.map(change, range(len(ring))))
        assert statuses == [200, 200, 400]
        assert sum(bool(layers.one(number)["bases"]) for number in ring) == 2


def test_a_change_between_the_check_and_the_write_closes_no_cycle(layers, monkeypatch):
    first, second = layers.make(), layers.make()
    edit, done = records.edit, []

    def late(kind, number, how, **more):
        if kind is VERSION and number == first and not done:
            done.append(layers.api.patch(f"Version/{second}", {"bases": [first]}).status)
        return edit(kind, number, how, **more)

    monkeypatch.setattr(records, "edit", late)
    said = layers.api.patch(f"Version/{first}", {"bases": [second]})
    assert (said.status, done, "itself" in said.message) == (400, [200], True)
    assert layers.one(first)["bases"] == []


def test_a_project_has_a_bounded_number_of_versions_and_sections(layers, monkeypatch):
    monkeypatch.setitem(record_limits.LIMITS, "version", (record_limits.Most(number=2),))
    monkeypatch.setitem(record_limits.LIMITS, "section", (record_limits.Most(number=1),))
    layers.make()
    for path in ("Versions", "Sections"):
        layers.api.post(f"{path}/{layers.project}", {"name": "a"})
        said = layers.api.post(f"{path}/{layers.project}", {"name": "b"})
        assert (said.status, "at most" in said.message) == (400, True), said.body


def test_filters_of_the_list_are_no_parameters_of_a_creation(layers):
    said = layers.api.post(f"Versions/{layers.project}", {"name": "shown"}, media_id=1)
    assert (said.status, said.message) == (400, "Unknown query parameter: media_id")
