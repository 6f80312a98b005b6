"""Share links of each kind: a guest gets exactly what the link names, and no operation gives anything else."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec
import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.kinds import Kind
from chalicelib.core.models.credentials import pack_ids, unpack_ids
from chalicelib.core.models.media_files import MediaFiles, VideoDefinition
from chalicelib.core.models.share_links import MOST_FOUND
from chalicelib.http.operation import GUESTS
from chalicelib.resources.share_links import targets
from chalicelib.storage.dynamodb import entities
from tests.contract.test_permissions import ask
from tests.contract.world import World, build
from tests.resources.share_links.test_share_links import NOBODY, guest_of, link_to
from tests.service import Api
from tests.sweeps import sweep

KINDS = ("section", "media_ids", "frames", "view", "dataset", "search", "comment", "downloads", "passphrase")
FRAMES = 40


@dataclass(frozen=True)
class Shown:
    """A world with something to show by each kind of link, a guest of each, and what no link shows."""

    world: World
    specs: dict[str, dict]
    guests: dict[str, Api]
    hidden: World


@pytest.fixture(scope="module")
def shown() -> Shown:
    world = build()
    owner, things, project = world.owner, world.things, world.things["project"]
    media, type_, box = things["media"], things["media_type"], things["localization_type"]

    def known(found):
        key = f"{things['organization']}/{project}/{found.id}/a.mp4"
        file = VideoDefinition(path=key, resolution=[1, 1], codec="h264")
        link = VideoDefinition(path="https://media.example.org/hiddenmark.mp4", resolution=[1, 1], codec="h264")
        return msgspec.structs.replace(
            found, num_frames=FRAMES, media_files=MediaFiles(streaming=[file], archival=[link])
        )

    entities.edit(Kind.MEDIA, media, known, user=1)
    layer = owner.made(f"Versions/{project}", {"name": "other layer"})
    one = {"media_id": media, "type": box, "x": 0.1, "y": 0.1, "width": 0.5, "height": 0.5}
    boxes = [{**one, "frame": frame, "version": things["version"]} for frame in (9, 10, 19)]
    boxes.append({**one, "frame": 12, "version": layer})
    things["boxes"] = owner.made(f"Localizations/{project}", boxes)
    folder = owner.made(f"Sections/{project}", {"name": "shared folder"})
    things["inside"] = owner.made(
        f"Medias/{project}", {"type": type_, "name": "in.mp4", "md5": "", "section_id": folder}
    )
    search = {"attribute": "$name", "operation": "iendswith", "value": "a.mp4"}
    found = owner.made(f"Sections/{project}", {"name": "search", "object_search": search})
    comment = owner.made(f"Comments/{project}", {"media_id": media, "frame": 12, "end_frame": 14, "text": "look"})
    owner.made(f"Comments/{project}", {"parent": comment, "text": "I see"})
    frozen = owner.made(f"Datasets/{project}", {"name": "v1", "media": {"ids": [media]}})
    later = {"media_id": media, "type": type_}
    owner.drain()
    assert owner.get(f"Dataset/{frozen}").json["status"] == "succeeded"
    things["after"] = owner.made(f"Localizations/{project}", {**later, "type": box, "frame": 30})[0]
    hidden = _hidden(world)
    specs = {
        "section": {"section": folder},
        "media_ids": {"media_ids": [media]},
        "frames": {"frames": {"media_id": media, "start": 10, "stop": 20}},
        "view": {"view": {"media_id": media, "frame": 12, "versions": [layer]}},
        "dataset": {"dataset": frozen},
        "search": {"search": found},
        "comment": {"comment": comment},
        "downloads": {"media_ids": [media], "downloads": True},
        "passphrase": {"media_ids": [media], "passphrase": "eight kelp beds"},
    }
    said = {"passphrase": {"passphrase": "eight kelp beds"}}
    guests = {kind: guest_of(link_to(world, **spec)[1], **said.get(kind, {})) for kind, spec in specs.items()}
    return Shown(world, specs, guests, hidden)


def _hidden(world: World) -> World:
    """The same world, addressed at what no link shows; all of it is named hiddenmark."""
    owner, things, project = world.owner, dict(world.things), world.things["project"]
    folder = owner.made(f"Sections/{project}", {"name": "hiddenmark folder"})
    media = {"type": things["media_type"], "name": "hiddenmark.mov", "md5": "", "section_id": folder}
    things["media"] = owner.made(f"Medias/{project}", media)
    box = {"media_id": things["media"], "type": things["localization_type"], "frame": 0}
    things["localization"] = owner.made(f"Localizations/{project}", box)[0]
    state = {"media_ids": [things["media"]], "type": things["state_type"]}
    things["state"] = owner.made(f"States/{project}", state)[0]
    things["comment"] = owner.made(f"Comments/{project}", {"media_id": things["media"], "text": "hiddenmark"})
    things["dataset"] = owner.made(f"Datasets/{project}", {"name": "hiddenmark"})
    things["section"] = folder
    owner.drain()
    return replace(world, things=things)


def listed(guest: Api, path: str, **query) -> list:
    said = guest.get(path, **query)
    assert said.status == 200, said.body
    return [each["id"] for each in said.json]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@sweep("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_no_operation_gives_a_guest_what_the_link_does_not_show(operation, kind, shown):
    guest, before = shown.guests[kind], shown.world.writes()
    for world in (shown.world, shown.hidden):
        said = ask(guest, operation, world)
        original = b"https://media.example.org/hiddenmark.mp4" if kind == "downloads" else b"-"
        assert b"hiddenmark" not in said.body.replace(original, b"")
        assert "Location" not in said.headers
        if operation.id not in GUESTS and operation.needs.value != "anyone":
            assert said.status == 403
    parts = ("media", "localization", "state", "comment", "dataset", "section")
    if operation.id in GUESTS and operation.addresses.kind in parts:
        assert said.status == 404
    if operation.id != "OpenShareLink":
        assert shown.world.writes() == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_guest_sees_the_media_that_the_link_leads_to(kind, shown):
    things = shown.world.things
    wanted = things["inside"] if kind == "section" else things["media"]
    assert listed(shown.guests[kind], f"Medias/{things['project']}") == [wanted]
    assert shown.guests[kind].get(f"MediaCount/{things['project']}").json == 1
    assert shown.guests[kind].get(f"Media/{wanted}").status == 200


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("element", ["auto", "streaming", "archival"])
def test_a_permalink_gives_a_guest_no_file(kind, element, shown):
    said = shown.guests[kind].get(f"Permalink/{shown.world.things['media']}", element=element)
    assert said.status == 403
    assert "Location" not in said.headers


class TestFrames:
    def test_only_annotations_of_these_frames_are_shown(self, shown):
        guest, things = shown.guests["frames"], shown.world.things
        _, first, last, other = things["boxes"]
        assert listed(guest, f"Localizations/{things['project']}") == [first, last, other]
        assert [guest.get(f"Localization/{each}").status for each in things["boxes"]] == [404, 200, 200, 200]
        assert listed(guest, f"States/{things['project']}") == []
        assert guest.get(f"State/{things['state']}").status == 404

    def test_no_other_frame_is_drawn_or_timed(self, shown):
        guest, media = shown.guests["frames"], shown.world.things["media"]
        for frames in (9, 20, [10, 20], [0, 10]):
            said = guest.get(f"GetFrame/{media}", frames=frames)
            assert (said.status, said.message) == (403, "frames: this link shows frames 10 to 19."), frames
        assert guest.get(f"GetFrame/{media}").status == 403
        assert guest.get(f"GetFrame/{media}", frames=10).status != 403
        assert guest.get(f"FrameTimes/{media}", start=9, stop=12).status == 403
        assert guest.get(f"FrameTimes/{media}", start=10, stop=21).status == 403

    @pytest.mark.parametrize("kind", ["frames", "comment"])
    def test_no_file_is_named_or_signed(self, shown, kind):
        guest, things = shown.guests[kind], shown.world.things
        for query in ({}, {"presigned": 300}, {"presigned": 300, "presign_only": "streaming"}):
            media, project = f"Media/{things['media']}", f"Medias/{things['project']}"
            for path, more in ((media, {}), (project, {}), (project, {"format": "csv"})):
                said = guest.get(path, **query, **more)
                assert said.status == 200 or "presign_only" in query
                assert b"mp4?" not in said.body
                assert b"X-Amz" not in said.body
                assert b"/a.mp4" not in said.body

    def test_a_span_lies_within_its_video(self, shown):
        things = shown.world.things
        for start, stop in ((0, FRAMES + 1), (10, 10), (12, 11)):
            spec = {"frames": {"media_id": things["media"], "start": start, "stop": stop}}
            assert shown.world.owner.post(f"ShareLinks/{things['project']}", spec).status == 400


def test_a_view_shows_its_layers_only(shown):
    guest, things = shown.guests["view"], shown.world.things
    *others, one = things["boxes"]
    assert listed(guest, f"Localizations/{things['project']}") == [one]
    assert [guest.get(f"Localization/{each}").status for each in others] == [404] * 3
    assert [each["name"] for each in guest.get(f"Versions/{things['project']}").json] == ["other layer"]


class TestDataset:
    def test_rows_are_those_that_were_frozen(self, shown):
        guest, things = shown.guests["dataset"], shown.world.things
        uid = shown.specs["dataset"]["dataset"]
        rows = guest.get(f"DatasetRows/{uid}", media_id=things["media"])
        assert [row["id"] for row in rows.json] == things["boxes"]
        assert {(row["x"], row["version"]) for row in rows.json} == {(0.1, "Baseline"), (0.1, "other layer")}
        assert {row["kind"] for row in rows.json} == {"box"}
        assert [
            row["id"] for row in guest.get(f"DatasetRows/{uid}", media_id=things["media"], table="states").json
        ] == [things["state"]]
        assert guest.get(f"Dataset/{uid}").json["name"] == "v1"

    def test_rows_as_they_are_now_are_not_shown(self, shown):
        guest, things = shown.guests["dataset"], shown.world.things
        assert listed(guest, f"Localizations/{things['project']}") == []
        assert guest.get(f"Localization/{things['after']}").status == 404
        assert guest.get(f"State/{things['state']}").status == 404

    def test_members_read_the_rows_too(self, shown):
        uid, things = shown.specs["dataset"]["dataset"], shown.world.things
        viewer = shown.world.members["View Only"]
        assert len(viewer.get(f"DatasetRows/{uid}", media_id=things["media"]).json) == 4
        assert viewer.get(f"DatasetRows/{uid}", media_id=things["inside"]).status == 400

    def test_an_unfinished_version_is_not_shared(self, shown):
        project, frozen = shown.world.things["project"], shown.world.things["dataset"]
        said = shown.world.owner.post(f"ShareLinks/{project}", {"dataset": frozen})
        assert said.status == 400
        assert "is pending" in said.message


class TestSearch:
    def test_it_shows_what_it_finds_when_it_is_opened(self, shown):
        world, things = shown.world, shown.world.things
        number, token = link_to(world, **shown.specs["search"])
        early = guest_of(token)
        body = {"type": things["media_type"], "name": "new a.mp4", "md5": "", "section_id": things["section"]}
        made = world.owner.made(f"Medias/{things['project']}", body)
        assert listed(early, f"Medias/{things['project']}") == [things["media"]]
        assert sorted(listed(guest_of(token), f"Medias/{things['project']}")) == sorted([things["media"], made])
        assert world.owner.delete(f"Media/{made}").status == 200
        assert world.owner.delete(f"ShareLink/{number}").status == 200
        assert early.get(f"Media/{things['media']}").status == 401

    def test_more_media_than_a_link_shows_are_refused(self, shown, monkeypatch):
        monkeypatch.setattr(targets, "MOST_FOUND", 0)
        _, token = link_to(shown.world, **shown.specs["search"])
        assert NOBODY.post("Guest", {"token": token}).status == 400

    def test_a_search_is_no_folder_and_a_folder_is_no_search(self, shown):
        project = shown.world.things["project"]
        for spec in ({"search": shown.specs["section"]["section"]}, {"section": shown.specs["search"]["search"]}):
            assert shown.world.owner.post(f"ShareLinks/{project}", spec).status == 400


def test_a_comment_shows_its_thread_and_its_frames(shown):
    guest, things = shown.guests["comment"], shown.world.things
    said = guest.get(f"Comments/{things['project']}")
    assert [each["text"] for each in said.json] == ["look", "I see"]
    assert guest.get(f"GetFrame/{things['media']}", frames=11).status == 403
    assert guest.get(f"GetFrame/{things['media']}", frames=14).status != 403
    assert listed(shown.guests["media_ids"], f"Comments/{things['project']}") == []


def test_a_link_to_a_reply_shows_the_thread_and_ends_with_it(shown):
    world, things = shown.world, shown.world.things
    first = world.owner.made(f"Comments/{things['project']}", {"media_id": things["media"], "text": "one"})
    reply = world.owner.made(f"Comments/{things['project']}", {"parent": first, "text": "two"})
    _, token = link_to(world, comment=reply)
    guest = guest_of(token)
    assert listed(guest, f"Comments/{things['project']}") == [first, reply]
    assert world.owner.delete(f"Comment/{first}").status == 200
    assert listed(guest, f"Comments/{things['project']}") == []
    assert NOBODY.post("Guest", {"token": token}).status == 404


def test_guests_learn_nobodys_address(shown):
    guest, things = shown.guests["media_ids"], shown.world.things
    for name in ("$user", "$created_by"):
        search = {"attribute": name, "operation": "eq", "value": shown.world.owner.user.email}
        said = guest.put(f"Medias/{things['project']}", {"object_search": search})
        assert said.status == 400 or said.json == []


def test_uses_are_counted_with_the_last_one(shown):
    number, token = link_to(shown.world, **shown.specs["frames"])
    assert shown.world.owner.get(f"ShareLink/{number}").json["last_opened_datetime"] is None
    guest_of(token)
    said = shown.world.owner.get(f"ShareLink/{number}").json
    assert said["openings"] == 1
    assert said["last_opened_datetime"] > said["created_datetime"]


@pytest.mark.parametrize("numbers", [(), (1,), (3, 7, 8), tuple(range(5, 5 * MOST_FOUND, 5))])
def test_packed_ids_are_unpacked(numbers):
    assert unpack_ids(pack_ids(numbers)) == numbers
