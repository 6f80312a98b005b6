"""A type or a version is deleted: in one commit nothing of it is visible anywhere, and the queue buries the rows."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.core.kinds import Kind
from chalicelib.maintenance import compaction, rebuild
from chalicelib.resources.types import retirement
from chalicelib.storage.dynamodb import entities, retired
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import log
from chalicelib.storage.objects import owners
from chalicelib.storage.view import views
from chalicelib.storage.view.snapshot import snapshots
from tests.resources.annotations.boxes import EVERYTHING
from tests.resources.types.retired_world import CASES, COUNT, SINGULAR, World, build, check, number_of, split
from tests.roles import RECORDER
from tests.storage.commits import contents, replayed

pytestmark = pytest.mark.usefixtures("no_delays")


@pytest.fixture
def world(api, project) -> World:
    return build(api, project)


@pytest.mark.slow
@pytest.mark.parametrize("word", CASES)
def test_in_one_commit_nothing_of_it_is_to_be_seen_and_the_rest_stays(world, word):
    before = world.commits()
    message = world.remove(word, number_of(world, word))
    assert world.commits() == before + 1
    if word in COUNT:
        assert f"{number_of(world, word)} (and {COUNT[word]} instances)" in message
    check(world, word)
    assert world.api.get(f"{word}/{number_of(world, word)}").status == 404
    views.drop(world.project)
    check(world, word)
    world.api.drain()
    check(world, word)
    assert retired.current(world.project).entries == ()


def _deletions(world: World, kind: str, number: int) -> list[dict[str, Any]]:
    told = world.api.get(f"ChangeLog/{world.project}", entity_id=number, entity_type=kind).json
    return [each for each in told if {"name": "_deleted", "value": True} in each["description_of_change"]["new"]]


@pytest.mark.parametrize("word", CASES)
def test_the_queue_buries_the_rows_and_the_change_log_says_who(world, word):
    gone, left = split(world, CASES[word])
    world.remove(word, number_of(world, word))
    at_once = {number: _deletions(world, "localization", number) for number in gone.get("Localizations", ())}
    assert all(len(found) == 1 and found[0]["user"] == world.api.user.id for found in at_once.values())
    if at_once:
        listed = world.api.get(f"ChangeLog/{world.project}", user_id=world.api.user.id).json
        assert [each["id"] for each in listed] == sorted(each["id"] for each in listed)
        assert {each["id"] for found in at_once.values() for each in found} <= {each["id"] for each in listed}
    kept = {(plural, number) for plural in gone for number in gone[plural]}
    rows = {plural: owners.get_owners(Kind(SINGULAR[plural].lower()), gone[plural]) for plural in gone}
    assert not any(is_deleted for found in rows.values() for _, is_deleted in found.values())
    world.api.drain()
    me = world.api.get("User/GetCurrent").json["id"]
    for plural, number in kept:
        kind = SINGULAR[plural].lower()
        ((_, is_deleted),) = owners.get_owners(Kind(kind), [number]).values()
        assert is_deleted, (plural, number)
        if kind in ("media", "localization"):
            (entry,) = _deletions(world, kind, number)
            assert entry["user"] == me
    for plural, numbers in left.items():
        rows_left = owners.get_owners(Kind(SINGULAR[plural].lower()), numbers)
        assert not any(is_deleted for _, is_deleted in rows_left.values())


def test_what_else_tells_of_things_tells_nothing_of_them(world):
    """Related filters, neighbours, sections, clones, graphics and elemental ids."""
    api, project = world.api, world.project
    boxes, (first, _, third) = (
        world.things["Localizations", "doomed here"],
        world.things["Medias", "doomed"],
    )
    box, name = world.one(boxes[0]), api.get(f"Media/{first}").json["elemental_id"]
    by_name = f"Localization/{box['version']}/{box['elemental_id']}"
    related = {"related_attribute_gte": "$frame::0"}
    section = {"section": world.doomed["section"]}
    clone = {"dest_project": project, "dest_type": world.media_type, "dest_section": "copies"}
    assert api.get(by_name).status == 200
    assert set(world.ids("Medias", **related)) == {world.media, first}
    world.remove("LocalizationType", world.doomed["LocalizationType"])
    assert api.get(by_name).status == 404
    assert api.get(f"LocalizationGraphic/{boxes[0]}").status == 404
    assert set(world.ids("Medias", **related)) == {world.media, first}
    world.remove("LocalizationType", world.kept["LocalizationType"])
    world.remove("StateType", world.kept["StateType"])
    world.remove("StateType", world.doomed["StateType"])
    assert world.ids("Medias", **related) == []
    assert api.get(f"MediaPrev/{world.media}").json["prev"] == third
    assert api.get(f"MediaCount/{project}", **section).json == 3
    assert api.get(f"MediaCount/{project}", elemental_id=name).json == 1
    (copy,) = api.post(f"CloneMedia/{project}", clone, media_id=first).json["id"]
    world.remove("MediaType", world.doomed["MediaType"])
    assert api.get(f"MediaPrev/{world.media}").json["prev"] == copy
    assert api.get(f"MediaCount/{project}", **section).json == 0
    assert world.ids("Medias", elemental_id=name) == [copy]
    for path in ("MediaNext", "GetFrame", "GetClonedMedia", "Media"):
        assert api.get(f"{path}/{first}").status == 404, path
    assert api.post(f"CloneMedia/{project}", clone, media_id=first).json.get("id", []) == []


@pytest.mark.parametrize("word", ["LocalizationType", "StateType", "LeafType", "FileType", "MediaType"])
def test_nothing_is_made_of_a_type_that_went(world, word):
    number = world.doomed[word]
    world.remove(word, number)
    assert creation(world, word, number).status in (400, 404)


def creation(world: World, word: str, number: int, count: int = 1):
    """A request for things of a type, or in a version."""
    box = {"media_id": world.media, "type": world.kept["LocalizationType"], "frame": 0}
    plural, spec = {
        "LocalizationType": ("Localizations", {**box, "type": number}),
        "StateType": ("States", {"media_ids": [world.media], "type": number}),
        "LeafType": ("Leaves", {"name": "late", "type": number}),
        "FileType": ("Files", {"name": "late", "description": "", "type": number}),
        "MediaType": ("Medias", {"type": number, "name": "late.mp4", "md5": ""}),
        "Version": ("Localizations", {**box, "version": number}),
        "on media": ("Localizations", {**box, "media_id": world.things["Medias", "doomed"][0]}),
        "states on media": (
            "States",
            {"media_ids": world.things["Medias", "doomed"][:2], "type": world.kept["StateType"]},
        ),
    }[word]
    body: Any = spec
    if plural in ("Localizations", "States", "Leaves"):
        body = [{**spec, "name": f"late {n}"} if plural == "Leaves" else spec for n in range(count)]
    return world.api.post(f"{plural}/{world.project}", body)


OTHERS = [*(word for word in CASES if word != "LocalizationType"), "on media", "states on media"]
RACES = [("LocalizationType", 1), pytest.param("LocalizationType", 12, marks=pytest.mark.slow)]
RACES += [pytest.param(word, 1, marks=pytest.mark.slow) for word in OTHERS]
SINGLE = ("FileType", "MediaType")
"""Of these, a request makes one thing."""
RACES += [pytest.param(word, 12, marks=pytest.mark.nightly) for word in OTHERS if word not in SINGLE]


@pytest.mark.slow
@pytest.mark.parametrize(("word", "count"), RACES)
def test_a_creation_that_read_the_definition_before_it_went_shows_nothing_and_is_buried(
    world, word, count, monkeypatch
):
    """It commits after the definition went: its request succeeds, as if just before, and everything of it goes too."""
    definition = word if word in CASES else "MediaType"
    real, made = entities.create, []

    def late(kind, created, **more):
        if not made:
            world.remove(definition, number_of(world, definition))
            made.extend((kind, each.id) for each in created)
        real(kind, created, **more)

    monkeypatch.setattr(entities, "create", late)
    sleeping = replayed(world.project, list(log.read_after(world.project, 0)))
    said = creation(world, word, number_of(world, definition), count)
    assert said.status == 201, said.json
    assert len(made) == count
    check(world, definition)
    unseen(world, made)
    views.drop(world.project)
    check(world, definition)
    sleeping.apply(log.read_after(world.project, sleeping.seq))
    agree(world, sleeping)
    world.api.drain()
    check(world, definition)
    unseen(world, made)
    for kind, number in made:
        ((_, is_deleted),) = owners.get_owners(kind, [number]).values()
        assert is_deleted


def unseen(world: World, made: list[tuple[Kind, int]]) -> None:
    for kind, number in made:
        word = "Leaf" if kind is Kind.LEAF else kind.capitalize()
        assert world.api.get(f"{word}/{number}").status == 404
        assert entities.many(kind, [number]) == {}


def agree(world: World, view) -> None:
    """A view that slept, a replay of the log, a snapshot and a rebuild come to the same, now and later."""
    project = world.project
    expected = contents(view)
    assert contents(replayed(project, list(log.read_after(project, 0)))) == expected
    assert contents(rebuild.rebuild(project)) == expected
    assert contents(snapshots.begin(project)) == expected


SOME = {"LocalizationType": "compaction", "Version": "rebuild", "on media": "compaction", "MediaType": "rebuild"}
FOLDED = [
    pytest.param(word, how, marks=[] if SOME[word] == how else [pytest.mark.nightly])
    for word in SOME
    for how in ("compaction", "rebuild")
]


@pytest.mark.slow
@pytest.mark.parametrize(("word", "how"), FOLDED)
def test_a_snapshot_from_between_knows_what_later_commits_do_not_bring_back(world, word, how, monkeypatch):
    """The definition goes, the log is folded, and only then comes the commit of a creation that began before."""
    definition = word if word in CASES else "MediaType"
    real, made = entities.create, []

    def late(kind, created, **more):
        if not made:
            world.remove(definition, number_of(world, definition))
            made.extend((kind, each.id) for each in created)
            compaction.compact(world.project, force=True) if how == "compaction" else rebuild.rebuild(world.project)
        real(kind, created, **more)

    monkeypatch.setattr(entities, "create", late)
    assert creation(world, word, number_of(world, definition)).status == 201
    expected = contents(replayed(world.project, list(log.read_after(world.project, 0))))
    begun = snapshots.begin(world.project)
    assert begun.seq == world.commits() - 1
    begun.apply(log.read_after(world.project, begun.seq))
    assert contents(begun) == expected
    views.drop(world.project)
    check(world, definition)
    unseen(world, made)
    RECORDER.refused.clear()  # a request in the middle of which another function's work is done


@pytest.mark.slow
def test_an_edit_that_read_a_thing_before_it_went_does_not_bring_it_back(world, monkeypatch):
    number, real, once = world.things["Localizations", "doomed here"][0], Transaction.run, []

    def late(change):
        if not once:
            once.append(change)
            world.remove("LocalizationType", world.doomed["LocalizationType"])
        return real(change)

    monkeypatch.setattr(Transaction, "run", late)
    assert world.api.patch(f"Localization/{number}", {"frame": 77}).status in (
        200,
        404,
    )  # before the deletion, or after
    assert once
    monkeypatch.undo()
    check(world, "LocalizationType")
    world.api.drain()
    check(world, "LocalizationType")


@pytest.mark.slow
def test_two_media_types_at_once_leave_no_state_whose_media_are_all_gone(world, monkeypatch):
    """Each has media left as the other sees it; who comes second looks again."""
    track = world.things["States", "kept both"][0]
    real, once = retirement._retire, []

    def slowly(*given):
        if not once:
            once.append(given)
            world.remove("MediaType", world.kept["MediaType"])
        real(*given)

    monkeypatch.setattr(retirement, "_retire", slowly)
    world.remove("MediaType", world.doomed["MediaType"])
    assert world.ids("States", **EVERYTHING) == world.ids("Localizations", **EVERYTHING) == world.ids("Medias") == []
    assert world.api.get(f"State/{track}").status == 404
    world.api.drain()
    states = {number for (plural, _), numbers in world.things.items() if plural == "States" for number in numbers}
    assert all(is_deleted for _, is_deleted in owners.get_owners(Kind.STATE, states).values())
    assert retired.current(world.project).entries == ()


def test_what_names_a_definition_beyond_one_transaction_forgets_it_later(world, monkeypatch):
    monkeypatch.setattr(retirement, "MOST_NAMING", 1)
    world.remove("MediaType", world.doomed["MediaType"])
    world.api.drain()
    for word in ("LocalizationType", "StateType"):
        for each in world.api.get(f"{word}s/{world.project}").json:
            assert world.doomed["MediaType"] not in each["media"]


@pytest.mark.slow
def test_a_purge_of_the_project_meanwhile_ends_all_of_it(world):
    for word in ("MediaType", "Version"):
        world.remove(word, number_of(world, word))
    assert world.api.delete(f"Project/{world.project}").status == 200
    world.api.drain()
    assert retired.current(world.project).entries == ()
    for (plural, _), numbers in world.things.items():
        assert owners.get_owners(Kind(SINGULAR[plural].lower()), numbers) == {}


def test_favorites_go_with_their_type(world):
    spec = {
        "name": "f",
        "type": world.doomed["LocalizationType"],
        "entity_type_name": "Localization",
        "values": {},
    }
    number = world.api.made(f"Favorites/{world.project}", spec)
    world.remove("LocalizationType", world.doomed["LocalizationType"])
    assert world.api.get(f"Favorites/{world.project}").json == []
    assert [world.api.ask(method, f"Favorite/{number}").status for method in ("GET", "DELETE")] == [404, 404]
