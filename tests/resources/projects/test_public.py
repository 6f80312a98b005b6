"""Public projects: anybody reads them, changes nothing and learns nothing of members; closed again at once."""

from __future__ import annotations

import re
from dataclasses import replace

import msgspec
import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.kinds import Kind
from chalicelib.core.models.media_files import MediaFiles, VideoDefinition
from chalicelib.core.permissions import Permission
from chalicelib.http.dispatch import GUEST_SECONDS
from chalicelib.http.operation import GUESTS
from chalicelib.storage.dynamodb import entities
from tests.contract.test_permissions import ask
from tests.contract.world import World, build
from tests.service import Api, join, new_user
from tests.sweeps import sweep

NOBODY = Api(None)
OF_LINKS = frozenset({"GetComment", "GetDataset", "GetDatasetRows"})
"""What guests call that only a share link opens."""


def opened(world: World, **more) -> None:
    said = world.owner.patch(f"Project/{world.things['project']}", {"public": "unlisted", **more})
    assert said.status == 200, said.body


@pytest.fixture(scope="module")
def world() -> World:
    """A public project with a file, and somebody else's that is not."""
    made = build()
    opened(made)
    key = f"{made.things['organization']}/{made.things['project']}/{made.things['media']}/a.mp4"
    file = VideoDefinition(path=key, resolution=[1, 1], codec="h264")
    files = MediaFiles(streaming=[file], archival=[file])
    entities.edit(Kind.MEDIA, made.things["media"], lambda it: msgspec.structs.replace(it, media_files=files), user=1)
    return made


@pytest.fixture(scope="module")
def private() -> World:
    return build()


@pytest.mark.slow
@sweep("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_nobody_but_members_reaches_more_than_the_reads_of_a_public_project(operation, world, private):
    before = world.writes()
    if operation.needs is not Permission.ANYONE:
        assert ask(NOBODY, operation, private).status == 401
        said = ask(NOBODY, operation, world)
        if operation.id in GUESTS - OF_LINKS:
            # the media has no frames to draw or time
            assert said.status == (400 if operation.id in ("GetFrame", "GetFrameTimes") else 200), said.body
        else:
            assert said.status in (401, 404)
            assert said.status == 401 or operation.id in OF_LINKS
        answers = [said]
        if operation.needs.level:
            answers.append(ask(world.stranger, operation, world))
            assert operation.id in GUESTS - OF_LINKS or answers[1].status == 404
        for each in answers:
            assert b"@example.org" not in each.body
            assert world.owner.user.username.encode() not in each.body
        assert world.writes() == before


@sweep("operation", [o for o in OPERATIONS if o.id in GUESTS], ids=lambda operation: operation.id)
def test_what_anybody_reads_is_read_the_same_with_an_account(operation, world):
    assert ask(world.stranger, operation, world).status == ask(NOBODY, operation, world).status or (
        operation.id in OF_LINKS
    )


def test_the_whole_project_is_shown_without_its_members(world):
    project, things = world.things["project"], world.things
    said = NOBODY.get(f"Project/{project}").json
    assert (said["usernames"], said["permission"], said["bucket"]) == ([], "View Only", None)
    assert [each["id"] for each in NOBODY.get(f"Medias/{project}").json] == [things["media"]]
    assert [each["id"] for each in NOBODY.get(f"Localizations/{project}").json] == [things["localization"]]
    assert NOBODY.get(f"Sections/{project}").json
    assert NOBODY.get(f"Comments/{project}").json == []


def test_files_are_signed_for_five_minutes_and_originals_where_that_is_allowed(world):
    media = f"Media/{world.things['media']}"
    for is_allowed, lives in ((False, [GUEST_SECONDS]), (True, [GUEST_SECONDS] * 2)):
        opened(world, public_downloads=is_allowed)
        shown = NOBODY.get(media, presigned=86400).body.decode()
        assert [int(each) for each in re.findall(r"X-Amz-Expires=(\d+)", shown)] == lives
    opened(world, public_downloads=False)


def test_members_keep_their_levels(world):
    viewer = world.members["View Only"]
    assert viewer.get(f"Project/{world.things['project']}").json["usernames"]
    assert viewer.get(f"Memberships/{world.things['project']}").status in (200, 403)
    assert viewer.get(f"Comments/{world.things['project']}").json


def test_a_listed_project_is_in_the_list_until_it_is_closed():
    world = build()
    project = world.things["project"]

    def listed() -> list[int]:
        return [each["id"] for each in NOBODY.get("PublicProjects", stop=1000).json]

    opened(world)
    assert project not in listed()
    opened(world, public="listed")
    assert project in listed()
    assert world.owner.patch(f"Project/{project}", {"public": None}).status == 200
    assert project not in listed()
    assert NOBODY.get(f"Project/{project}").status == 401
    assert world.stranger.get(f"Project/{project}").status == 404


def test_a_deleted_project_is_closed():
    world = build()
    opened(world, public="listed")
    project = world.things["project"]
    assert world.owner.delete(f"Project/{project}").status == 200
    assert NOBODY.get(f"Medias/{project}").status == 401
    assert project not in [each["id"] for each in NOBODY.get("PublicProjects", stop=1000).json]


def test_full_control_opens_no_project_without_the_administrator_of_the_organization(private):
    project = private.things["project"]
    full = new_user()
    join(full, project, "Full Control")
    said = full.patch(f"Project/{project}", {"public": "listed"})
    assert (said.status, "administrative access" in said.message) == (403, True)
    assert full.patch(f"Project/{project}", {"public_downloads": True}).status == 403
    assert full.patch(f"Project/{project}", {"public": None}).status == 200
    assert private.members["Can Execute"].patch(f"Project/{project}", {"public": None}).status == 403


def test_an_organization_that_forbids_it_closes_what_is_open():
    world = build()
    opened(world, public="listed")
    project, organization = world.things["project"], f"Organization/{world.things['organization']}"
    assert world.owner.patch(organization, {"forbids_public_projects": True}).status == 200
    assert NOBODY.get(f"Project/{project}").status == 401
    assert project not in [each["id"] for each in NOBODY.get("PublicProjects", stop=1000).json]
    assert world.owner.patch(f"Project/{project}", {"public": "unlisted"}).status == 403
    body = {"name": "another", "organization": world.things["organization"], "public": "listed"}
    assert world.owner.post("Projects", body).status == 403
    assert world.owner.patch(organization, {"forbids_public_projects": False}).status == 200
    assert NOBODY.get(f"Project/{project}").status == 200


def test_the_audit_log_says_who_opened_it(world):
    entries = world.owner.get(f"AuditLog/{world.things['organization']}", kind="policy").json
    assert {"public": "unlisted"} in [each["values"] for each in entries if each["operation"] == "UpdateProject"]
    assert {each["user"] for each in entries if "public" in (each["values"] or {})} == {world.owner.user.id}


def test_a_wrong_token_is_refused_where_none_is_needed(world):
    assert replace(NOBODY, token="0" * 40).get(f"Project/{world.things['project']}").status == 401
