"""States: what they describe, their segments, members, merging, trimming and deletion."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.rulebook import LOCALIZATIONS, STATES, rule
from tests.rules.worlds import World, empty_world

UNKNOWN_ID = 999_999_999


@pytest.fixture(scope="module")
def world() -> World:
    made = empty_world()
    made.ids["media"] = {letter: made.media(letter) for letter in "AB"}
    more = {"media_types": [made.types["media"]]}
    for association in ("Media", "Frame"):
        spec = {"name": association, "association": association, **more}
        made.types[association] = made.api.made(f"StateTypes/{made.project}", spec)
    spec = {"name": "parental", "association": "Localization", "delete_child_localizations": True, **more}
    made.types["parental"] = made.api.made(f"StateTypes/{made.project}", spec)
    return made


def boxes(world: World, *frames: int, media: str = "A") -> list[int]:
    where = {"media_id": world.ids["media"][media], "type": world.types["localization"]}
    return world.made("localization", [{**where, "frame": frame} for frame in frames]) if frames else []


def track(world: World, members: list[int], **more: Any) -> int:
    return world.state([world.ids["media"]["A"]], localization_ids=members, **more)


def patch(world: World, number: int, **body: Any) -> Any:
    said = world.api.patch(f"State/{number}", body)
    assert said.status == 200, said.body
    return said.json["object"]


@rule(
    "States",
    "One made is shown with all its members; its media and localizations each once.",
    takes="media_ids localization_ids type frame",
    of=[STATES],
)
def test_what_is_shown(world: World):
    media, members = world.ids["media"]["A"], boxes(world, 12, 13)
    number = world.state([media, media], localization_ids=[*members, members[0]], frame=3, attributes={"n": 0})
    one = world.one("state", number)
    wanted = {
        "id": number,
        "project": world.project,
        "type": world.types["state"],
        "meta": world.types["state"],
        "media": [media],
        "localizations": members,
        "segments": [[12, 13]],
        "frame": 3,
        "version": world.version,
        "parent": None,
        "attributes": {"n": 0},
        "mark": 0,
        "variant_deleted": False,
        "created_by": world.api.user.id,
        "modified_by": world.api.user.id,
        "effective_permission": 0,
    }
    assert {name: one[name] for name in wanted} == wanted
    assert world.listed("state", {"ids": [number]})[0] == one


@rule("States", "Segments are runs of consecutive frames of the localizations; there are none without any.")
@pytest.mark.parametrize(
    ("frames", "segments"),
    [
        ([], None),
        ([5], [[5, 5]]),
        ([3, 1, 2], [[1, 3]]),
        ([1, 2, 4, 5, 9], [[1, 2], [4, 5], [9, 9]]),
        ([0, 0], [[0, 0], [0, 0]]),
        ([1, 2, 2, 3], [[1, 2], [2, 3]]),
    ],
    ids=str,
)
def test_segments(world: World, frames, segments):
    assert world.one("state", track(world, boxes(world, *frames)))["segments"] == segments


@rule("States", "`type` and media are needed, and what is named must be in the project; a Frame state needs a frame.")
@pytest.mark.parametrize(
    "wrong",
    [
        *({name: None} for name in ("type", "media_ids")),
        {"media_ids": []},
        {"media_ids": [UNKNOWN_ID]},
        {"media_ids": 5},
        {"type": UNKNOWN_ID},
        {"localization_ids": [UNKNOWN_ID]},
        {"version": UNKNOWN_ID},
        {"frame": -1},
        {"frame": "1"},
        {"elemental_id": "none"},
    ],
    ids=str,
)
def test_wrong_specs_are_refused(world: World, wrong):
    good = {"type": world.types["state"], "media_ids": [world.ids["media"]["A"]]}
    said = world.api.post(world.path("state"), {**good, **wrong})
    assert said.status == 400, said.body
    before = world.numbers("state")
    assert world.api.post(world.path("state"), [good, {**good, **wrong}]).status == 400
    assert world.numbers("state") == before


@rule("States", "Media and localizations of another project are 400, at creation and in changes.")
def test_things_of_another_project_are_refused(world: World):
    other = empty_world([])
    media = other.media("x")
    box = other.box(media)
    good = {"type": world.types["state"], "media_ids": [world.ids["media"]["A"]]}
    for wrong in ({"media_ids": [media]}, {"localization_ids": [box]}, {"type": other.types["state"]}):
        assert world.api.post(world.path("state"), {**good, **wrong}).status == 400, wrong
    number = world.state([world.ids["media"]["A"]])
    for body in ({"localization_ids_add": [box]}, {"media_ids": [media]}, {"localization_ids": [box]}):
        assert world.api.patch(f"State/{number}", body).status == 400, body
    assert world.one("state", number)["media"] == [world.ids["media"]["A"]]


@rule("States", "Only a state of a frame must have a frame; otherwise the association is for people.")
def test_associations(world: World):
    where = {"media_ids": [world.ids["media"]["A"]]}
    assert world.api.post(world.path("state"), {"type": world.types["Frame"], **where}).status == 400
    number = world.made("state", {"type": world.types["Frame"], "frame": 0, **where})[0]
    assert world.one("state", number)["frame"] == 0
    world.made("state", {"type": world.types["Media"], "localization_ids": boxes(world, 1), **where})
    world.made("state", {"type": world.types["state"], "localization_ids": [], **where})


@rule(
    "States",
    "`localization_ids_add` and `_remove` are sets: repeats and unknown ids do no harm; media follow.",
    takes="localization_ids_add localization_ids_remove",
    of=[STATES],
)
def test_members_are_added_and_removed(world: World):
    first, second, third = boxes(world, 1, 2, 9)
    strange = boxes(world, 3, media="B")
    number = track(world, [first])
    after = patch(world, number, localization_ids_add=[second, second, first, UNKNOWN_ID])
    assert after["id"] == number
    one = world.one("state", number)
    assert (sorted(one["localizations"]), one["segments"]) == ([first, second], [[1, 2]])
    patch(world, number, localization_ids_add=[third, *strange])
    one = world.one("state", number)
    assert (set(one["media"]), one["segments"]) == (set(world.ids["media"].values()), [[1, 3], [9, 9]])
    patch(world, number, localization_ids_remove=[third, third, UNKNOWN_ID, *strange])
    one = world.one("state", number)
    assert (sorted(one["localizations"]), one["segments"]) == ([first, second], [[1, 2]])
    patch(world, number, localization_ids_remove=[first, second])
    one = world.one("state", number)
    assert (one["localizations"], one["segments"] or []) == ([], [])


@rule("States", "Adding through the elemental id again and again leaves each localization once.")
def test_members_added_by_element_are_there_once(world: World):
    first, second = boxes(world, 1, 2)
    number = track(world, [first])
    one = world.one("state", number)
    path = f"State/{one['version']}/{one['elemental_id']}"
    for _ in range(2):
        said = world.api.patch(path, {"localization_ids_add": [second]})
        assert said.status == 200, said.body
    latest = world.api.get(path).json
    assert (sorted(latest["localizations"]), latest["mark"], latest["media"]) == ([first, second], 2, one["media"])
    assert world.one("state", number)["localizations"] == [first]


@rule("States", "`localization_ids` and `media_ids` in a change replace what there was.")
def test_members_are_replaced(world: World):
    first, second = boxes(world, 1, 5)
    number = track(world, [first])
    patch(world, number, localization_ids=[second])
    one = world.one("state", number)
    assert (one["localizations"], one["segments"]) == ([second], [[5, 5]])
    patch(world, number, media_ids=[world.ids["media"]["A"], world.ids["media"]["B"]])
    assert set(world.one("state", number)["media"]) == set(world.ids["media"].values())


@rule("States", "A change of frame and attributes leaves the rest.")
def test_changes(world: World):
    number = track(world, boxes(world, 1), frame=5, attributes={"n": 1, "s": "x"})
    before = world.one("state", number)
    patch(world, number, frame=0, attributes={"n": 0})
    after = world.one("state", number)
    assert (after["frame"], after["attributes"]) == (0, {"n": 0, "s": "x"})
    same = ("media", "localizations", "segments", "version", "elemental_id", "created_datetime", "mark", "type")
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    assert world.api.patch(f"State/{number}", {"frame": -1}).status == 400


@rule(
    "States",
    "MergeStates adds the other's localizations and media, and the other is gone.",
    takes="merge_state_id",
    of=[STATES],
)
def test_merging_states(world: World):
    first, second = boxes(world, 1), boxes(world, 2, media="B")
    number = track(world, first)
    other = world.state([world.ids["media"]["B"]], localization_ids=second)
    assert world.api.patch(f"MergeStates/{number}", {"merge_state_id": other}).status == 200
    one = world.one("state", number)
    assert (sorted(one["localizations"]), one["segments"]) == ([*first, *second], [[1, 2]])
    assert set(one["media"]) == set(world.ids["media"].values())
    assert world.api.get(f"State/{other}").status == 404
    assert other not in world.numbers("state", show_deleted=1, show_all_marks=1)
    for body, status in (({"merge_state_id": other}, 404), ({"merge_state_id": UNKNOWN_ID}, 404), ({}, 400)):
        assert world.api.patch(f"MergeStates/{number}", body).status == status
    assert world.api.patch(f"MergeStates/{UNKNOWN_ID}", {"merge_state_id": number}).status == 404


@rule(
    "States",
    "TrimStateEnd drops what lies before a frame or behind it; what no other state has is gone.",
    takes="frame endpoint",
    of=[STATES],
)
def test_trimming(world: World):
    members = boxes(world, 1, 2, 3, 4, 5)
    number, other = track(world, members), track(world, [members[0]])
    assert world.api.patch(f"TrimStateEnd/{number}", {"frame": 3, "endpoint": "start"}).status == 200
    assert world.one("state", number)["localizations"] == members[2:]
    assert world.one("state", other)["localizations"] == [members[0]]
    assert world.api.get(f"Localization/{members[0]}").status == 200
    assert world.api.get(f"Localization/{members[1]}").status == 404
    said = world.api.patch(f"TrimStateEnd/{number}", {"frame": 4, "endpoint": "end"})
    assert said.status == 200
    assert "1" in said.message
    assert world.one("state", number)["segments"] == [[3, 4]]
    for body in ({"frame": 3}, {"endpoint": "end"}, {"frame": -1, "endpoint": "end"}, {"frame": 3, "endpoint": "x"}):
        assert world.api.patch(f"TrimStateEnd/{number}", body).status == 400, body
    assert world.api.patch(f"TrimStateEnd/{UNKNOWN_ID}", {"frame": 3, "endpoint": "end"}).status == 404


@rule("States", "A tombstone of a state keeps its media and localizations.")
def test_tombstones_keep_members(world: World):
    members = boxes(world, 1)
    for delete in (
        lambda number: world.api.delete(f"State/{number}"),
        lambda number: world.api.delete(world.path("state"), {"ids": [number]}, count=1),
    ):
        number = track(world, members)
        element = world.one("state", number)["elemental_id"]
        assert delete(number).status == 200
        [tomb] = world.listed("state", elemental_id=element, show_deleted=1)
        assert (tomb["localizations"], tomb["variant_deleted"], len(tomb["media"])) == (members, True, 1)
        assert world.one("localization", members[0])["variant_deleted"] is False


@rule("States", "A type with `delete_child_localizations` takes along the localizations that no other state has.")
@pytest.mark.parametrize("body", [{}, {"prune": 1}], ids=str)
@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
def test_children_are_deleted(world: World, body, many):
    shared, own = boxes(world, 1, 2)
    where = {"media_ids": [world.ids["media"]["A"]], "type": world.types["parental"]}
    number = world.made("state", {**where, "localization_ids": [shared, own]})[0]
    track(world, [shared])
    if many:
        said = world.api.delete(world.path("state"), {**body, "ids": [number]})
    else:
        said = world.api.delete(f"State/{number}", body or None)
    assert said.status == 200, said.body
    found = world.numbers("localization")
    assert shared in found
    assert own not in found
    shown = world.numbers("localization", show_deleted=1, show_all_marks=1, merge=0)
    assert (own in shown) is not bool(body)


@rule("States", "A localization that is deleted or changed stays a member; merges and trims keep marks apart.")
def test_members_outlive_their_deletion(world: World):
    members = boxes(world, 1, 2)
    number = track(world, members)
    assert world.api.delete(f"Localization/{members[0]}").status == 200
    assert world.one("state", number)["localizations"] == members
    assert world.numbers("localization", related_id=number) == members[1:]


@rule(
    "States",
    "`state_ids` choose a track's localizations.",
    takes="state_ids",
    of=[LOCALIZATIONS],
)
def test_members_by_state(world: World):
    members = boxes(world, 4, 2)
    number = track(world, members)
    assert world.numbers("localization", {"state_ids": [number]}) == members
    assert world.numbers("localization", {"state_ids": [number]}, frame=2) == [members[1]]
