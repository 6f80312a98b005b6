"""No key that a caller writes is signed, read or removed unless it is the caller's to name.

A foreign key is put into every text of every body, one at a time; then everything that signs, reads or removes is
called. What the object store was asked for is recorded beneath the API.
"""

from __future__ import annotations

import msgspec
import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.accounts import ORGANIZATION, PROJECT, USER
from chalicelib.core.entities import ImageDefinition, MediaFiles, VideoDefinition
from chalicelib.core.kinds import Kind
from chalicelib.core.object_keys import ObjectKey
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.objects import objects as service_objects
from tests import objects
from tests.contract.examples import full_body_of, query_of
from tests.contract.test_mass_assignment import MAKES, path_of, placed
from tests.contract.world import build

MARK = "foreign"
replace = msgspec.structs.replace


def foreign_keys(world):
    """Keys of objects that are not the caller's to name, and spellings of them."""
    neighbour = world.neighbour.get("Projects").json[0]
    there = f"{neighbour['organization']}/{neighbour['id']}"
    mine = f"{world.things['organization']}/{world.things['project']}"
    keys = [
        f"user_data/{world.stranger.user.id}/avatar.png?{MARK}",
        f"{there}/9/{MARK}.mp4",
        f"{there}/files/9/{MARK}.bin",
        f"{there}/generic/{MARK}.html",
        f"{neighbour['organization']}/{MARK}.png",
        f"{neighbour['organization']}/{world.things['project']}/{world.things['media']}/{MARK}@1.mp4",
        f"_uploads/2026-01-01/{there}/{world.stranger.user.id}/{MARK}.mp4",
        f"_temporary/{neighbour['id']}/{MARK}.mp4",
        f"projects/{neighbour['id']}/commits/000000000001/{MARK}",
        f"{mine}/jobs/9/{MARK}.json",
        f"answers/{MARK}",
    ]
    spelled = [f"{mine}/{world.things['media']}/../../{there}/9/{MARK}.mp4", f"/{keys[1]}", f"{keys[1]}\x00.mp4"]
    spelled.append(f"{settings().s3_endpoint}/{settings().media_bucket}/{keys[1]}")
    return keys, keys + spelled


@pytest.fixture(scope="module")
def world():
    return build()


@pytest.fixture
def asked(monkeypatch):
    """The keys that the object store was asked for."""
    found = []
    real = service_objects._store

    def recording(key, bucket=None):
        if isinstance(key, ObjectKey):
            found.append(key.path)
        return real(key, bucket)

    monkeypatch.setattr(service_objects, "_store", recording)
    return found


def with_text(body, text):
    """The body with a text in the place of each of its texts, one place at a time."""
    if isinstance(body, str):
        yield text
    elif isinstance(body, dict):
        for name, value in body.items():
            yield from ({**body, name: changed} for changed in with_text(value, text))
    elif isinstance(body, list):
        for index, value in enumerate(body):
            yield from ([*body[:index], changed, *body[index + 1 :]] for changed in with_text(value, text))


def use_everything(world):
    """Call what signs, reads or removes."""
    things, api = world.things, world.owner
    api.get("User/GetCurrent", presigned=3600)
    api.get("Users", username=api.user.username, presigned=3600)
    api.get(f"Medias/{things['project']}", presigned=3600)
    for name in ("Organizations", "Projects", f"Project/{things['project']}"):
        api.get(name)
    media = things["media"]
    for path in (
        f"Media/{media}",
        f"GetFrame/{media}",
        f"GetClip/{media}",
        f"Permalink/{media}",
        f"GetClonedMedia/{media}",
    ):
        api.get(path, presigned=3600) if path.startswith("Media/") else api.get(path, frame_ranges="0:1")
    for element in ("streaming", "archival", "audio", "image", "thumbnail", "thumbnail_gif"):
        api.get(f"Permalink/{media}", element=element)
    api.get(f"File/{things['file']}")
    api.patch(f"User/{api.user.id}", {"clear_avatar": 1})


BODIES = [operation for operation in MAKES if operation.id not in ("Notify", "CreateObtainAuthToken")]


def test_no_text_of_any_body_makes_the_store_touch_a_foreign_object(world, asked, monkeypatch):
    monkeypatch.setattr("chalicelib.access.passwords.hash_password", lambda _: "no hash")
    keys, spelled = foreign_keys(world)
    for key in keys:
        objects.write(key, b"x")
    asked.clear()
    count = 0
    for operation in BODIES:
        full = full_body_of(operation)
        full = (
            [placed(operation, each, world.things) for each in full]
            if isinstance(full, list)
            else (placed(operation, full, world.things) if isinstance(full, dict) else full)
        )
        for place, _ in enumerate(with_text(full, "")):
            key = spelled[count % len(spelled)]
            body = list(with_text(full, key))[place]
            said = world.owner.ask(operation.method, path_of(operation, world), body, **query_of(operation))
            assert said.status < 500, (operation.id, body, said.body)
            assert b"X-Amz-Signature" not in said.body or MARK.encode() not in said.body, (operation.id, body)
            count += 1
    use_everything(world)
    assert count > 100
    assert [key for key in asked if MARK in key] == []
    assert all(objects.size(key) == 1 for key in keys)


def test_keys_that_older_releases_stored_unchecked_are_not_used(world, asked):
    keys, _ = foreign_keys(world)
    for key in keys:
        objects.write(key, b"x")
    asked.clear()
    things = world.things
    for key in keys:
        entry = VideoDefinition(path=key, segment_info=key, codec="h264", resolution=[720, 1280])
        still = [ImageDefinition(path=key, resolution=[1, 1])]
        files = MediaFiles(streaming=[entry], archival=[entry], image=still, thumbnail=still, thumbnail_gif=still)
        entities.edit(Kind.MEDIA, things["media"], lambda old, files=files: replace(old, media_files=files), user=None)
        entities.edit(Kind.FILE, things["file"], lambda old, key=key: replace(old, path=key), user=None)
        records.edit(USER, world.owner.user.id, lambda old, key=key: replace(old, profile={"avatar": key}))
        records.edit(PROJECT, things["project"], lambda old, key=key: replace(old, thumb=key, first_thumb=key))
        records.edit(ORGANIZATION, things["organization"], lambda old, key=key: replace(old, thumb=key))
        use_everything(world)
        world.owner.patch(f"Media/{things['media']}", {"media_files": {"streaming": [], "image": []}})
        world.owner.delete(f"VideoFile/{things['media']}", role="archival", index=0)
    assert [key for key in asked if MARK in key] == []
    assert all(objects.size(key) == 1 for key in keys)


@pytest.mark.parametrize("value", [7, [1], {"a": 1}, "a\x00b", "1/1/1/secret.txt", None, True])
def test_the_avatar_of_a_profile_is_set_by_a_picture_alone(world, value):
    said = world.owner.patch(f"User/{world.owner.user.id}", {"set_profile_keys": {"avatar": value}})
    assert said.status == 400
    assert "avatar" in said.message


def test_every_operation_with_a_body_is_tried():
    assert len(BODIES) > len([each for each in OPERATIONS if each.body not in (None, bytes)]) // 2
