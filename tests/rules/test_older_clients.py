"""What clients of all ages rely on: names, nulls, shapes of answers, and the log of changes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.rulebook import LEAVES, LOCALIZATIONS, MEDIA, STATES, rule
from tests.rules.worlds import KINDS, ONE, World, empty_world, world_of_letters

LOGGED = ("media", "localization", "state", "leaf")


@pytest.fixture(scope="module")
def world() -> World:
    return world_of_letters()


@rule("Clients", "Everything tells its type as `type` and as `meta`; media their summary level by both names.")
@pytest.mark.parametrize("kind", KINDS)
def test_both_names_of_the_type(world: World, kind):
    for one in (*world.listed(kind), world.one(kind, world.ids[kind]["A"])):
        assert one["type"] == one["meta"] in (world.types[kind], world.others[kind])
        if kind == "media":
            assert one["summary_level"] == one["summaryLevel"]


@rule("Clients", "Attributes may stand at base level of what creates annotations and leaves; `attributes` wins.")
@pytest.mark.parametrize("kind", ["localization", "state", "leaf"])
def test_attributes_at_base_level(world: World, kind):
    media = world.ids["media"]["A"]
    base: dict[str, dict[str, Any]] = {
        "localization": {"media_id": media, "frame": 0, "width": 0, "height": 0, "u": 0, "v": 0},
        "state": {"media_ids": [media], "localization_ids": []},
        "leaf": {"name": "x", "parent": None, "project": 12345},
    }
    given = {**base[kind], "type": world.types[kind], "n": 7, "s": "base", "b": False, "f": 0, "project": 12345}
    [number] = world.made(kind, {**given, "attributes": {"s": "inner"}})
    assert world.one(kind, number)["attributes"] == {"n": 7, "s": "inner", "b": False, "f": 0.0}
    assert world.one(kind, number)["project"] == world.project
    [number] = world.made(kind, [given])
    assert world.one(kind, number)["attributes"] == {"n": 7, "s": "base", "b": False, "f": 0.0}
    assert world.api.delete(f"{ONE[kind]}/{number}").status == 200


@rule("Clients", "At creation null is absence; in a PATCH it is refused, but for members that it clears.")
def test_nulls_at_creation_are_absent(world: World):
    media = world.ids["media"]["A"]
    nulls = dict.fromkeys(("version", "x", "y", "width", "height", "u", "v", "points", "parent", "elemental_id"))
    box = {"media_id": media, "type": world.types["localization"], "frame": 0}
    [number] = world.made("localization", {**box, **nulls, "attributes": None, "user_elemental_id": None})
    assert world.one("localization", number)["version"] == world.version
    for name in (*nulls, "attributes", "null_attributes", "frame"):
        said = world.api.patch(f"Localization/{number}", {name: None})
        assert (said.status, name in said.body.decode()) == (400, True), said.body
    state = {"media_ids": [media], "type": world.types["state"]}
    assert world.made("state", {**state, "localization_ids": None, "frame": None, "version": None, "attributes": None})
    leaf = {"name": "null", "type": world.types["leaf"], "parent": None, "attributes": None}
    [number] = world.made("leaf", leaf)
    assert world.api.delete(f"Leaf/{number}").status == 200
    spec = {"type": world.types["media"], "name": "null", "md5": ""}
    nulls = dict.fromkeys(("fps", "num_frames", "attributes", "media_id", "email_spec", "url", "section_id"))
    number = world.made("media", {**spec, **nulls})
    assert world.api.delete(f"Media/{number}").status == 200
    gone = {"ids": [999_999_999], "object_search": None, "float_array": None, "prune": None}
    assert world.api.delete(world.path("localization"), gone, count=0).status == 200


@rule("Clients", "Values that a clone sends back as they were read are taken, jobs' names among them.")
def test_what_was_read_can_be_sent_back(world: World):
    tags = {"_tator_import_workflow": ["x"], "tator_user_sections": ""}
    spec = {"type": world.types["media"], "name": "clone", "md5": ""}
    number = world.made("media", {**spec, "attributes": {"n": 1, **tags}})
    attributes = world.one("media", number)["attributes"]
    assert attributes["n"] == 1
    assert attributes.get("_tator_import_workflow", []) != ["x"]
    box = world.one("localization", world.ids["localization"]["A"])
    members = ("x", "y", "width", "height", "u", "v", "frame", "version", "parent", "type", "attributes", "points")
    [copy] = world.made("localization", {"media_id": number, **{name: box[name] for name in members}})
    made = world.one("localization", copy)
    assert {name: made[name] for name in members} == {name: box[name] for name in members}
    assert world.api.delete(f"Media/{number}").status == 200


@rule("Clients", "A change may name what was read as it was read; another value is refused by the member's name.")
@pytest.mark.parametrize("kind", LOGGED)
def test_a_change_sends_back_what_was_read(world: World, kind):
    number = world.ids[kind]["A"]
    read = world.one(kind, number)
    mine = {"localization": {"media_id": read.get("media")}, "state": {"media_ids": read.get("media")}}.get(kind, {})
    said = world.api.patch(f"{ONE[kind]}/{number}", {**read, **mine, "attributes": {"n": 1}, "modified_by": 77})
    assert said.status == 200, said.body
    read = world.one(kind, number)
    for name, value in (("id", number + 1), ("project", 77), ("meta", 77), ("created_by", 77), ("type", None)):
        said = world.api.patch(f"{ONE[kind]}/{number}", {"attributes": {"n": 2}, name: value})
        assert (said.status, said.json["details"].split(":")[0]) == (400, name), said.body
    assert "Did you mean 'attributes'?" in world.api.patch(f"{ONE[kind]}/{number}", {"atributes": {}}).json["details"]
    assert world.one(kind, number) == read
    said = world.api.patch(f"{ONE[kind]}/{number}", {"project": read["project"], "id": number})
    assert (said.status, world.one(kind, number)) == (200, read)


@rule("Clients", "A creation may name what was read: what the service sets has no effect, other names mean the same.")
@pytest.mark.parametrize("kind", ["localization", "state", "leaf"])
def test_a_creation_sends_back_what_was_read(world: World, kind):
    read = world.one(kind, world.ids[kind]["A"])
    copied = {name: value for name, value in read.items() if name not in ("type", "elemental_id")}
    copied |= {"name": "copied"} if kind == "leaf" else {}
    [number] = world.made(kind, copied)
    made = world.one(kind, number)
    same = read.keys() - {"id", "name", "path", "elemental_id", "mark"}
    assert {name for name in same if made[name] != read[name]} <= {"created_datetime", "modified_datetime"}
    assert world.api.delete(f"{ONE[kind]}/{number}").status == 200


@rule(
    "Clients", "Booleans come as `True` and `true`; a number is not a boolean.", takes="no_cache presigned", of=[MEDIA]
)
@rule("QM", "`presign_only` says of which roles the paths become URLs.", takes="presign_only", of=[MEDIA])
def test_booleans_of_the_newest_client(world: World):
    for value in ("True", "true", "False", "false"):
        assert world.ask("media", presigned=60, no_cache=value).status == 200
    for wrong in ({"no_cache": 1}, {"presigned": 0}, {"presigned": 700_000}, {"presign_only": "poster"}):
        assert world.ask("media", **wrong).status == 400, wrong
    assert world.ask("media", presigned=86_400, presign_only="streaming,thumbnail").status == 200


@rule(
    "Clients",
    "A bulk change of the older client names the version `version`.",
    takes="new_version",
    of=(LOCALIZATIONS, STATES),
)
def test_the_older_name_of_a_new_version(world: World):
    layer = world.new_version("older")
    number = world.box(world.ids["media"]["A"])
    said = world.api.patch(world.path("localization"), {"ids": [number], "attributes": {"n": 1}, "version": layer})
    assert said.status == 200, said.body
    assert world.one("localization", number)["version"] == layer
    assert world.numbers("localization", version=layer) == [number]
    assert world.api.delete(world.path("localization"), {"prune": 1}, version=layer, count=1).status == 200


@rule("Clients", "Answers have the members that clients look for: `message` with `id`, `object` or a bare number.")
def test_answers(world: World):
    media = world.ids["media"]["A"]
    made = world.api.post(
        world.path("localization"), {"media_id": media, "type": world.types["localization"], "frame": 0}
    )
    assert (made.status, isinstance(made.message, str), len(made.json["id"])) == (201, True, 1)
    number = made.json["id"][0]
    changed = world.api.patch(f"Localization/{number}", {"x": 0})
    assert (changed.status, changed.json["object"]["id"], changed.json["object"]["x"]) == (200, number, 0)
    gone = world.api.delete(f"Localization/{number}")
    assert (gone.status, isinstance(gone.json["id"], int), isinstance(gone.message, str)) == (200, True, True)
    refused = world.api.get("Localization/999999999")
    assert (refused.status, isinstance(refused.message, str)) == (404, True)
    wrong = world.api.post(world.path("localization"), {})
    assert {"message", "details"} <= wrong.json.keys()


@rule(
    "Clients",
    "Ten thousand ids with repeats are no trouble; the order is the list's.",
    takes="ids",
    of=[LEAVES],
)
def test_many_ids(world: World):
    for kind in LOGGED:
        ids = list(world.ids[kind].values())
        assert world.found(kind, {"ids": ids * 2_000}) == "ABCDE"
    leaves = world.listed("leaf")
    assert world.listed("leaf", {"ids": [each["id"] for each in reversed(leaves)]}) == leaves


def logs(world: World, **query: Any) -> list[Any]:
    said = world.api.get(f"ChangeLog/{world.project}", **query)
    assert said.status == 200, said.body
    return said.json


def told(log: Any) -> list[tuple[str, Any, Any]]:
    old, new = log["description_of_change"]["old"], log["description_of_change"]["new"]
    assert [each["name"] for each in old] == [each["name"] for each in new]
    return sorted((before["name"], before["value"], after["value"]) for before, after in zip(old, new, strict=True))


@rule(
    "Change log",
    "Creation, change and deletion leave an entry each, oldest first; built-in names begin with `_`.",
)
@rule("Change log", "A creation tells what has a value, a change what differs, a deletion that `_deleted` is true.")
@pytest.mark.parametrize("kind", LOGGED)
def test_the_log_of_one(kind):
    world = world_of_letters()
    number = world.ids[kind]["A"]
    assert world.api.patch(f"{ONE[kind]}/{number}", {"attributes": {"n": 0, "s": "Foo"}}).status == 200
    body = {"frame": 9} if kind in ("localization", "state") else {"name": "renamed"}
    assert world.api.patch(f"{ONE[kind]}/{number}", body).status == 200
    gone = {"prune": 1} if kind in ("localization", "state") else None
    assert world.api.delete(f"{ONE[kind]}/{number}", gone).status == 200
    created, first, second, deleted = logs(world, entity_type=kind, entity_id=number)
    rows = {name: (old, new) for name, old, new in told(created)}
    assert rows["_id"] == (None, number)
    assert rows["n"] == (None, 1)
    assert rows["b"] == (None, True)
    assert all(old is None and new is not None for old, new in rows.values())
    assert told(first) == [("n", 1, 0)]
    [(name, value)] = body.items()
    found = [row for row in told(second) if row[0] != "_path"]  # a leaf's follows its name
    assert found == [(f"_{name}", 0 if name == "frame" else "A", value)]
    assert ("_deleted", False, True) in told(deleted)
    assert all(new is True for _, _, new in told(deleted))
    assert {log["user"] for log in (created, first, second, deleted)} == {world.api.user.id}
    assert [log["id"] for log in logs(world, entity_type=kind, entity_id=number)] == sorted(
        {log["id"] for log in logs(world, entity_type=kind, entity_id=number)}
    )


@rule("Change log", "A bulk change is one entry, listed for each of its entities and for no other.")
@pytest.mark.parametrize("kind", LOGGED)
def test_the_log_of_many(world: World, kind):
    ids = world.ids[kind]
    before = {letter: len(logs(world, entity_type=kind, entity_id=ids[letter])) for letter in "ABD"}
    said = world.api.patch(world.path(kind), {"ids": [ids["A"], ids["B"]], "attributes": {"s": "both"}})
    assert said.status == 200, said.body
    after = {letter: logs(world, entity_type=kind, entity_id=ids[letter]) for letter in "ABD"}
    assert {letter: len(found) - before[letter] for letter, found in after.items()} == {"A": 1, "B": 1, "D": 0}
    assert after["A"][-1] == after["B"][-1]
    assert told(after["A"][-1]) == [("s", "Foo", "both")]
    for wrong in ({}, {"entity_type": "file"}, {"entity_id": 0}):
        assert world.api.get(f"ChangeLog/{world.project}", **wrong).status == 400


@rule("Change log", "Deleting a type or a media has entries for everything that is deleted with it.")
def test_the_log_of_what_goes_along(no_delays):
    world = empty_world([])
    media = world.media("m")
    box, state = world.box(media), world.state([media])
    assert world.api.delete(f"LocalizationType/{world.types['localization']}").status == 200
    world.api.drain()
    assert ("_deleted", False, True) in told(logs(world, entity_type="localization", entity_id=box)[-1])
    assert world.api.delete(f"Media/{media}").status == 200
    for kind, number in (("media", media), ("state", state)):
        assert ("_deleted", False, True) in told(logs(world, entity_type=kind, entity_id=number)[-1])
