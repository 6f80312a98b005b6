"""Share links: guests see what a link names and nothing else, change nothing, and are out when it ends."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.kinds import Kind
from chalicelib.core.models.media_files import MediaFiles, VideoDefinition
from chalicelib.core.models.share_links import SHARE_LINK
from chalicelib.core.resource import timestamp
from chalicelib.http.dispatch import GUEST_SECONDS
from chalicelib.http.operation import GUESTS
from chalicelib.resources.share_links import service
from chalicelib.storage.dynamodb import entities, records
from tests.contract.test_permissions import ask
from tests.contract.world import build
from tests.service import Api
from tests.sweeps import sweep

NOBODY = Api(None)


@pytest.fixture(scope="module")
def world():
    """A world with a second media, in a folder of its own and with a box, that no link shows."""
    made = build()
    project, things = made.things["project"], made.things
    folder = made.owner.made(f"Sections/{project}", {"name": "hidden folder"})
    body = {"type": things["media_type"], "name": "hiddenmark.mp4", "md5": "", "section_id": folder}
    made.things["hidden"] = made.owner.made(f"Medias/{project}", body)
    box = {"media_id": made.things["hidden"], "type": things["localization_type"], "frame": 0}
    made.things["hidden_box"] = made.owner.made(f"Localizations/{project}", box)[0]
    made.things["folder"] = folder
    return made


def link_to(world, **spec) -> tuple[int, str]:
    """A new link: its id, and the token of its address."""
    said = world.owner.post(f"ShareLinks/{world.things['project']}", spec)
    assert said.status == 201, said.body
    return said.json["id"], said.json["url"].rpartition("/")[2]


def guest_of(token, **more) -> Api:
    said = NOBODY.post("Guest", {"token": token, **more})
    assert said.status == 200, said.body
    return Api(None, said.json["token"])


@pytest.fixture(scope="module")
def guest(world):
    return guest_of(link_to(world, media_ids=[world.things["media"]])[1])


def test_a_guest_sees_the_media_and_its_annotations(world, guest):
    project, things = world.things["project"], world.things
    assert [each["id"] for each in guest.get(f"Medias/{project}").json] == [things["media"]]
    assert guest.get(f"Media/{things['media']}").status == 200
    assert [each["id"] for each in guest.get(f"Localizations/{project}").json] == [things["localization"]]
    assert guest.get(f"LocalizationCount/{project}").json == 1
    assert [each["id"] for each in guest.get(f"States/{project}").json] == [things["state"]]
    assert [each["id"] for each in guest.get(f"Versions/{project}").json] == [things["version"]]
    assert guest.get(f"LocalizationTypes/{project}").json


def test_a_guest_sees_nothing_else(world, guest):
    project, things = world.things["project"], world.things
    for path in (f"Media/{things['hidden']}", f"Localization/{things['hidden_box']}", f"Section/{things['folder']}"):
        assert guest.get(path).status in (403, 404), path
    assert guest.get(f"Sections/{project}").json == []
    assert guest.get(f"Medias/{project}", media_id=things["hidden"]).json == []
    assert guest.put(f"Medias/{project}", {"ids": [things["hidden"]]}).json == []
    assert guest.get(f"Project/{project}").json["usernames"] == []
    assert world.owner.get(f"Project/{project}").json["usernames"]


def test_a_link_to_a_section_shows_its_media_those_that_come_later_too(world):
    project, things = world.things["project"], world.things
    guest = guest_of(link_to(world, section=things["folder"])[1])
    assert [each["id"] for each in guest.get(f"Medias/{project}").json] == [things["hidden"]]
    body = {"type": things["media_type"], "name": "later.mp4", "md5": "", "section_id": things["folder"]}
    later = world.owner.made(f"Medias/{project}", body)
    assert [each["id"] for each in guest.get(f"Medias/{project}").json] == [things["hidden"], later]
    assert world.owner.delete(f"Media/{later}").status == 200


@sweep("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_guests_call_what_is_declared_for_them_and_change_nothing(operation, world, guest):
    before = world.writes()
    said = ask(guest, operation, world)
    assert b"hiddenmark" not in said.body
    if operation.id not in GUESTS and operation.needs.value != "anyone":
        assert said.status == 403
    if operation.id != "OpenShareLink":
        assert world.writes() == before


def test_what_is_declared_for_guests_is_there_and_only_reads():
    known = {operation.id: operation for operation in OPERATIONS}
    assert known.keys() >= GUESTS
    assert {known[name].needs.value for name in GUESTS} == {"View Only"}
    assert all(known[name].is_read for name in GUESTS)


@sweep("operation", [o for o in OPERATIONS if o.id in GUESTS], ids=lambda operation: operation.id)
def test_a_guest_of_one_project_reaches_no_other(operation, world, guest, elsewhere):
    assert ask(guest, operation, elsewhere).status == 404


@pytest.fixture(scope="module")
def elsewhere():
    return build()


def test_the_urls_that_a_guest_gets_live_five_minutes(world, guest):
    project, media = world.things["project"], world.things["media"]
    key = f"{world.things['organization']}/{project}/{media}/a.mp4"
    file = {"path": key, "resolution": [1, 1], "codec": "h264"}

    files = MediaFiles(streaming=[VideoDefinition(**file)], archival=[VideoDefinition(**file)])
    entities.edit(Kind.MEDIA, media, lambda found: msgspec.structs.replace(found, media_files=files), user=1)
    loading = guest_of(link_to(world, media_ids=[media], downloads=True)[1])
    for who, *lives_wanted in (
        (guest, GUEST_SECONDS),
        (loading, GUEST_SECONDS, GUEST_SECONDS),
        (world.owner, 86400, 86400),
    ):
        shown = who.get(f"Media/{media}", presigned=86400).body.decode()
        lives = [int(found) for found in re.findall(r"X-Amz-Expires=(\d+)", shown)]
        assert lives == lives_wanted
    for shown in (guest.get(f"Media/{media}").json, guest.get(f"Medias/{project}").json[0]):
        assert shown["media_files"].get("archival") is None
        assert shown["media_files"]["streaming"]


def test_an_ended_link_is_closed_for_those_who_are_in(world):
    number, token = link_to(world, media_ids=[world.things["media"]])
    guest = guest_of(token)
    assert guest.get(f"Media/{world.things['media']}").status == 200
    assert world.owner.delete(f"ShareLink/{number}").status == 200
    assert guest.get(f"Media/{world.things['media']}").status == 401
    assert NOBODY.post("Guest", {"token": token}).status == 404


def test_a_link_ends_when_it_says(world):
    soon = timestamp(datetime.now(UTC) + timedelta(days=1))
    number, token = link_to(world, media_ids=[world.things["media"]], expires_datetime=soon)
    guest = guest_of(token)
    assert world.owner.patch(f"ShareLink/{number}", {"expires_datetime": "2001-01-01"}).status == 400

    past = timestamp(datetime.now(UTC) - timedelta(seconds=1))
    records.edit(SHARE_LINK, number, lambda link: msgspec.structs.replace(link, expires_datetime=past))
    assert guest.get(f"Media/{world.things['media']}").status == 401
    assert NOBODY.post("Guest", {"token": token}).status == 404


def test_a_link_opens_as_often_as_it_says(world):
    number, token = link_to(world, media_ids=[world.things["media"]], most_openings=1)
    assert guest_of(token).get(f"Media/{world.things['media']}").status == 200
    assert NOBODY.post("Guest", {"token": token}).status == 404
    assert world.owner.get(f"ShareLink/{number}").json["openings"] == 1


def test_a_passphrase_is_asked_for_and_not_guessed(world, monkeypatch):

    monkeypatch.setattr(service, "TRIALS", 2)
    number, token = link_to(world, media_ids=[world.things["media"]], passphrase="deep sea")
    assert "deep sea" not in world.owner.get(f"ShareLink/{number}").body.decode()
    assert world.owner.get(f"ShareLink/{number}").json["has_passphrase"] is True
    assert NOBODY.post("Guest", {"token": token}).status == 403
    assert guest_of(token, passphrase="deep sea").token
    for _ in range(2):
        assert NOBODY.post("Guest", {"token": token, "passphrase": "wrong"}).status == 403
    assert NOBODY.post("Guest", {"token": token, "passphrase": "deep sea"}).status == 403
    assert world.owner.patch(f"ShareLink/{number}", {"passphrase": None}).status == 200
    assert guest_of(token).token


def test_a_link_names_a_section_or_media_of_the_project(world, elsewhere):
    project = world.things["project"]
    for body in (
        {},
        {"section": world.things["folder"], "media_ids": [world.things["media"]]},
        {"media_ids": [10**9]},
        {"section": 10**9},
        {"media_ids": [elsewhere.things["media"]]},
    ):
        assert world.owner.post(f"ShareLinks/{project}", body).status == 400, body


def test_links_are_for_full_control_and_their_addresses_are_shown_once(world):
    project = world.things["project"]
    number, token = link_to(world, media_ids=[world.things["media"]])
    said = world.owner.get(f"ShareLinks/{project}")
    assert token not in said.body.decode()
    assert number in [link["id"] for link in said.json]
    assert world.members["Can Execute"].get(f"ShareLinks/{project}").status == 403


def test_a_guest_of_a_deleted_project_sees_nothing():
    world = build()
    guest = guest_of(link_to(world, media_ids=[world.things["media"]])[1])
    assert world.owner.delete(f"Project/{world.things['project']}").status == 200
    assert guest.get(f"Media/{world.things['media']}").status == 401
    assert guest.get(f"Medias/{world.things['project']}").status == 401


def test_links_go_with_their_project():
    world = build()
    number, _ = link_to(world, media_ids=[world.things["media"]])
    assert world.owner.delete(f"Project/{world.things['project']}").status == 200
    world.owner.drain()
    assert records.maybe(SHARE_LINK, number) is None
