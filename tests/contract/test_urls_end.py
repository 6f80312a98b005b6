"""Presigned URLs end: no operation gives one to whoever may not read the object any more, and none lives for long.

Which operations give URLs is found by calling all that read, with `presigned` wherever that is declared.
"""

from __future__ import annotations

import re
import time

import msgspec
import pytest

from chalicelib.access.masks import BITS_OF, mask_of
from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.keys import object_keys
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import ORGANIZATION, PROJECT
from chalicelib.core.models.datasets import EXPORT
from chalicelib.core.models.media_files import ImageDefinition, MediaFiles, VideoDefinition
from chalicelib.core.permissions import Level
from chalicelib.http.dispatch import GUEST_SECONDS
from chalicelib.settings import override
from chalicelib.storage.dynamodb import entities, records
from tests.contract.examples import body_of, query_of
from tests.contract.world import World, build
from tests.service import Api, join, new_sibling, new_user

DAY = 86_400
WEEK = 7 * DAY
READING = [operation for operation in OPERATIONS if operation.is_read]
_SIGNED = re.compile(rb'https?://[^"\\\s]+X-Amz-Signature=[0-9a-f]+')


def urls_of(who: Api, world: World, seconds: int = WEEK) -> dict[str, set[str]]:
    """By operation, the presigned URLs in its answer to somebody; operations without any are left out."""
    found = {}
    for operation in READING:
        asked = query_of(operation)
        if "presigned" in operation.query.__struct_fields__:
            asked["presigned"] = seconds
        said = who.ask(operation.method, world.path(operation), body_of(operation), **asked)
        answer = said.body.replace(b"\\u0026", b"&") + b" " + said.headers.get("Location", "").encode()
        if urls := {url.decode() for url in _SIGNED.findall(answer)}:
            found[operation.id] = urls
    return found


def of_project(found: dict[str, set[str]], world: World) -> set[str]:
    """Those that lead to objects of the project."""
    place = re.compile(rf"/\d+/{world.things['project']}/\d+/|/_exports/{world.things['project']}/")
    return {url for urls in found.values() for url in urls if place.search(url.partition("?")[0])}


def life_of(url: str) -> int:
    match = re.search(r"X-Amz-Expires=(\d+)", url)
    assert match, url
    return int(match[1])


def filled() -> World:
    """A world in which whatever may have a file has one."""
    world = build()
    things = world.things
    place = f"{things['organization']}/{things['project']}/{things['media']}"
    video = VideoDefinition(path=f"{place}/a.mp4", resolution=[1, 1], codec="h264", segment_info=f"{place}/a.json")
    picture = ImageDefinition(path=f"{place}/thumb.jpg", resolution=[1, 1])
    files = MediaFiles(streaming=[video], archival=[video], thumbnail=[picture])
    entities.edit(Kind.MEDIA, things["media"], lambda it: msgspec.structs.replace(it, media_files=files), user=1)
    thumb = object_keys.project_picture_key(things["organization"], things["project"], "picture.jpg").path
    records.edit(PROJECT, things["project"], lambda it: msgspec.structs.replace(it, thumb=thumb))
    picture_of_all = f"{things['organization']}/picture.jpg"
    records.edit(ORGANIZATION, things["organization"], lambda it: msgspec.structs.replace(it, thumb=picture_of_all))
    records.edit(EXPORT, things["export"], lambda it: msgspec.structs.replace(it, status="succeeded"))
    return world


@pytest.fixture(scope="module")
def world() -> World:
    return filled()


@pytest.fixture
def viewer(world):
    user = new_user()
    join(user, world.things["project"], "View Only")
    return user


@pytest.mark.slow
def test_urls_live_as_long_as_their_caller_asked_and_a_week_at_most(world, viewer):
    found = urls_of(viewer, world)
    assert {"GetMedia", "GetMediaList", "GetMediaListById", "GetProject", "GetProjectList"} <= found.keys()
    for name, urls in found.items():
        assert all(life_of(url) <= WEEK for url in urls), name
    for name, urls in urls_of(viewer, world, 60).items():
        if "presigned" in next(o for o in READING if o.id == name).query.__struct_fields__:
            assert {life_of(url) for url in urls} == {60}, name


def test_nobody_without_credentials_gets_a_url(world):
    assert urls_of(Api(None), world) == {}


@pytest.mark.slow
def test_a_token_that_was_revoked_gets_no_url(world, viewer):
    made = viewer.post("AccessTokens", {"name": "urls", "projects": [world.things["project"]], "level": "View Only"})
    assert made.status == 201, made.body
    script = Api(None, made.json["token"])
    assert of_project(urls_of(script, world), world)
    assert viewer.delete(f"AccessToken/{made.json['id']}").status == 200
    assert urls_of(script, world) == {}


@pytest.mark.slow
def test_a_member_who_was_removed_gets_no_url_and_another_one_after_coming_back(world, viewer):
    before = of_project(urls_of(viewer, world), world)
    assert before
    again = of_project(urls_of(viewer, world), world)
    assert {url for url in again if life_of(url) == WEEK} == {url for url in before if life_of(url) == WEEK}  # cached
    rows = world.owner.get(f"Memberships/{world.things['project']}").json
    [number] = [row["id"] for row in rows if row["user"] == viewer.user.id]
    assert world.owner.delete(f"Membership/{number}").status == 200
    assert of_project(urls_of(viewer, world), world) == set()
    time.sleep(1.05)  # URLs that are signed in one second are equal
    body = {"user": viewer.user.id, "permission": "View Only"}
    assert world.owner.post(f"Memberships/{world.things['project']}", body).status == 201
    assert of_project(urls_of(viewer, world), world)
    assert not of_project(urls_of(viewer, world), world) & before


def test_a_guest_gets_urls_of_five_minutes_that_are_nobody_else_s_until_the_link_ends(world, viewer):
    project = world.things["project"]
    others = of_project(urls_of(viewer, world), world)
    link = world.owner.post(f"ShareLinks/{project}", {"media_ids": [world.things["media"]], "downloads": True}).json
    opened = Api(None).post("Guest", {"token": link["url"].rpartition("/")[2]}).json
    guest = Api(None, opened["token"])
    found = of_project(urls_of(guest, world), world)
    assert found
    assert {life_of(url) for url in found} == {GUEST_SECONDS}
    assert not found & others
    assert world.owner.delete(f"ShareLink/{link['id']}").status == 200
    assert urls_of(guest, world) == {}


@pytest.mark.slow
def test_readers_of_a_public_project_get_no_url_once_it_is_closed(world):
    project = f"Project/{world.things['project']}"
    assert world.owner.patch(project, {"public": "unlisted"}).status == 200
    found = of_project(urls_of(Api(None), world), world)
    assert found
    assert max(map(life_of, found)) <= GUEST_SECONDS
    assert world.owner.patch(project, {"public": None}).status == 200
    assert urls_of(Api(None), world) == {}


@pytest.mark.slow
def test_nobody_gets_a_url_of_a_deleted_project():
    world = filled()
    viewer = world.members["View Only"]
    assert of_project(urls_of(viewer, world), world)
    assert world.owner.delete(f"Project/{world.things['project']}").status == 200
    for who in (viewer, world.owner):
        assert of_project(urls_of(who, world), world) == set()
    world.owner.drain()
    assert of_project(urls_of(world.owner, world), world) == set()


@pytest.mark.slow
def test_a_media_that_moved_to_a_closed_folder_has_no_url_any_more():
    world = filled()
    things, viewer = world.things, new_user()
    media = f"Media/{things['media']}"
    with override(fine_grained_permissions=True):
        join(viewer, new_sibling(world.owner, things["project"]), "View Only")
        whole, folder = BITS_OF[Level.VIEW], mask_of(Level.VIEW)
        for name, mask in (("project", whole), ("section", folder)):
            body = {name: things[name], "user": viewer.user.id, "permission": mask}
            world.owner.made("RowProtections", body)
        assert world.owner.patch(media, {"primary_section": things["section"]}).status == 200
        assert of_project(urls_of(viewer, world), world)
        assert world.owner.patch(media, {"primary_section": -1}).status == 200
        assert of_project(urls_of(viewer, world), world) == set()
