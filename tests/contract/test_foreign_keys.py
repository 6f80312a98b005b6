"""No key that a caller writes is signed, read or removed unless it is the caller's to name.

A foreign key is put into every text of every body, one at a time; then everything that signs, reads or removes is
called. What the object store was asked for is recorded beneath the API.
"""

from __future__ import annotations

import contextlib

import msgspec
import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.keys import object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import ORGANIZATION, PROJECT, USER
from chalicelib.core.models.media_files import ImageDefinition, MediaFiles, VideoDefinition
from chalicelib.maintenance import upkeep
from chalicelib.resources.projects import purging
from chalicelib.resources.projects.messages import PurgeProject
from chalicelib.resources.uploads import tus, unclaimed
from chalicelib.settings import override, settings
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.objects import objects as service_objects
from tests import objects
from tests.contract.examples import full_body_of, query_of
from tests.contract.test_mass_assignment import MAKES, placed
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
    for key in foreign_keys(world)[1]:
        said = api.post(f"DownloadInfo/{things['project']}", {"keys": [key]})
        assert b"X-Amz-Signature" not in said.body, key


def delete_everything(world):
    """Delete what the world has, the project last; purge it, and sweep what is left."""
    things, api = world.things, world.owner
    for path in ("Media", "File", "Section", "Localization", "State", "Leaf"):
        api.delete(f"{path}/{things[path.lower()]}")
    for word in ("Medias", "Localizations", "States", "Leaves", "Sections", "TemporaryFiles"):
        api.delete(f"{word}/{things['project']}", {}, count=0)
    for word in ("Algorithm", "Applet", "Analysis"):
        api.delete(f"{word}/{things[word.lower()]}")
    with override(deleted_retention=-60):
        upkeep.look_after(things["project"])
    assert api.delete(f"Project/{things['project']}").status == 200
    for turn in range(purging.ROUNDS + 1):
        message = PurgeProject(id=f"purge-{turn}", project=things["project"], organization=things["organization"])
        purging.purge(msgspec.structs.replace(message, round=turn), 60)
    api.patch(f"Organization/{things['organization']}", {"thumb": None})
    api.delete(f"Organization/{things['organization']}")
    tus.sweep()
    unclaimed.sweep()


def plant(world, key):
    """Store a key unchecked in every document that names one, as an older release may have."""
    things = world.things
    entry = VideoDefinition(path=key, segment_info=key, codec="h264", resolution=[720, 1280])
    still = [ImageDefinition(path=key, resolution=[1, 1])]
    files = MediaFiles(streaming=[entry], archival=[entry], image=still, thumbnail=still, thumbnail_gif=still)
    entities.edit(Kind.MEDIA, things["media"], lambda old: replace(old, media_files=files), user=None)
    entities.edit(Kind.FILE, things["file"], lambda old: replace(old, path=key), user=None)
    records.edit(USER, world.owner.user.id, lambda old: replace(old, profile={"avatar": key}))
    records.edit(PROJECT, things["project"], lambda old: replace(old, thumb=key, first_thumb=key))
    records.edit(ORGANIZATION, things["organization"], lambda old: replace(old, thumb=key))


BODIES = [operation for operation in MAKES if operation.id not in ("Notify", "CreateObtainAuthToken")]


def send_texts(world, spelled, *, whole):
    """Send every body with a foreign key in the place of each of its texts, one at a time; returns how many."""
    count = 0
    for operation in BODIES:
        full = full_body_of(operation)
        full = (
            [placed(operation, each, world.things) for each in full]
            if isinstance(full, list)
            else (placed(operation, full, world.things) if isinstance(full, dict) else full)
        )
        for place, _ in enumerate(with_text(full, "")):
            for key in spelled if whole else [spelled[count % len(spelled)]]:
                body = list(with_text(full, key))[place]
                said = world.owner.ask(operation.method, world.path(operation), body, **query_of(operation))
                assert said.status < 500, (operation.id, body, said.body)
                assert b"X-Amz-Signature" not in said.body or MARK.encode() not in said.body, (operation.id, body)
                count += 1
    return count


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_no_text_of_any_body_makes_the_store_touch_a_foreign_object(world, asked, no_hashing, whole):
    keys, spelled = foreign_keys(world)
    for key in keys:
        objects.write(key, b"x")
    asked.clear()
    assert send_texts(world, spelled, whole=whole) > 100
    use_everything(world)
    assert [key for key in asked if MARK in key] == []
    assert all(objects.size(key) == 1 for key in keys)


def test_keys_that_older_releases_stored_unchecked_are_not_used(world, asked):
    keys, _ = foreign_keys(world)
    for key in keys:
        objects.write(key, b"x")
    asked.clear()
    things = world.things
    for key in keys:
        plant(world, key)
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


def test_deletions_and_purges_remove_nothing_that_is_foreign(asked):
    world = build()
    mine = f"{world.things['organization']}/{world.things['project']}/"
    keys = [key for key in foreign_keys(world)[0] if not key.startswith(mine)]
    for key in keys:
        objects.write(key, b"x")
    asked.clear()
    own = f"{mine}{world.things['media']}/own.mp4"
    objects.write(own, b"x")
    for key in (keys[1], keys[5], keys[4]):
        plant(world, key)
        clone = world.owner.get(f"Media/{world.things['media']}").json
        assert clone["media_files"]["streaming"][0]["path"] == key
    delete_everything(world)
    assert [key for key in asked if MARK in key] == []
    assert all(objects.size(key) == 1 for key in keys)
    assert objects.size(own) is None


def accept(path, *_):
    """What a builder does whose authorization was forgotten."""
    return object_keys.noted(path) if isinstance(path, str) and path else None


@pytest.mark.parametrize(
    ("builder", "place"),
    [
        ("authorize_media_key", 5),
        ("authorize_file_key", 2),
        ("authorize_picture_key", 1),
        ("authorize_organization_key", 4),
        ("authorize_avatar_key", 1),
        ("authorize_project_key", 1),
    ],
)
def test_these_tests_notice_a_builder_that_authorizes_nothing(asked, monkeypatch, builder, place):
    """Without each of the comparisons a foreign object is touched, and the tests above would fail."""
    world = build()
    key = foreign_keys(world)[0][place]
    objects.write(key, b"x")
    plant(world, key)
    asked.clear()
    monkeypatch.setattr(object_keys, builder, accept)
    with contextlib.suppress(AssertionError):
        use_everything(world)
    world.owner.delete(f"File/{world.things['file']}")
    assert [each for each in asked if MARK in each] != []


def test_every_operation_with_a_body_is_tried():
    assert len(BODIES) > len([each for each in OPERATIONS if each.body not in (None, bytes)]) // 2
