"""Names, events, stores and callers that mean harm to what lies in a registered bucket."""

from __future__ import annotations

import io
import json
import uuid
import zlib

import pytest
from PIL import Image

from chalicelib.core.keys.key_forms import is_referable
from chalicelib.core.keys.object_keys import source_prefix
from chalicelib.errors import BadInput
from chalicelib.resources.bucket_sources import listing
from chalicelib.resources.bucket_sources.messages import LookAtObjects
from chalicelib.storage.objects import objects, placement
from chalicelib.storage.objects.protocol import Listed
from tests.resources.bucket_sources.test_bucket_sources import deliver, listed, media_of, notify, register
from tests.resources.media.samples import media_type, picture
from tests.service import join, new_user


def made(lake, number=1):
    lake.put(f"survey/{number}.jpg", picture())


@pytest.mark.parametrize(
    "name",
    [
        "", "/", "a/", "/a.jpg", "a//b.jpg", "./a.jpg", "a/../b.jpg", "a/..", "a\0.jpg", "a\n.jpg", "a\x7f.jpg",
        "x" * 513, f"{'a/' * 512}b.jpg", "あ" * 342, "720@7.jpg", "a/720@7", "720@7.JPG", "1/2/3/720_A@8.jpg",
        "1/2/files/3/a@8.jpg", "_uploads/2026-01-01/1/2/3/a@8.jpg", "_buckets/1/2/3/4/a.jpg",
    ],
)  # fmt: skip
def test_names_that_no_media_refers_to(name):
    assert not is_referable(name, 7)


@pytest.mark.parametrize(
    "name", ["é.jpg", "e\u0301.jpg", "a b+c%2F.jpg", "720@8.jpg", "d@7/x.jpg", "..a.jpg", f"{'a/' * 505}b{'c' * 8}.jpg"]
)
def test_names_that_a_media_refers_to(name):
    assert is_referable(name, 7)


def test_a_prefix_leaves_room_for_names():
    assert source_prefix(1, 7, f"{'あ' * 333}/").name
    with pytest.raises(BadInput, match="1000 bytes"):
        source_prefix(1, 7, f"{'あ' * 334}/")


@pytest.mark.slow
def test_names_of_all_kinds_become_the_media_of_their_own_bytes(api, project, spec, lake):
    names = ["é.jpg", "e\u0301.jpg", "a b+c%2F.jpg", "x@99.jpg", "d'\"<&>.jpg", f"{'a/' * 500}b.jpg"]
    for width, name in enumerate(names, 20):
        lake.put(f"survey/{name}", picture(width, 16))
    for name in ("a//b.jpg", f"1@{lake.number}.jpg", "tab\t.jpg"):
        lake.put(f"survey/{name}", picture())
    source = api.get(f"BucketSource/{register(api, project, spec)}").json
    assert (source["status"], source["created"], source["skipped"]) == ("listed", len(names), 3)
    found = api.get(f"Medias/{project}").json
    assert sorted(each["width"] for each in found) == list(range(20, 20 + len(names)))
    assert all(api.get(f"GetFrame/{each['id']}").status == 200 for each in found)


def test_one_bucket_under_two_numbers_shows_no_file_of_the_service(api, project, organization, spec, lake):
    lake.put(f"{organization}/{project}/77/720_AbCdEfGhIj@{lake.number + 1000}.jpg", picture())
    assert api.get(f"BucketSource/{register(api, project, {**spec, 'prefix': ''})}").json["created"] == 0


@pytest.mark.slow
def test_forged_events_leave_no_message_that_fails(api, project, spec, lake):
    made(lake)
    register(api, project, {**spec, "prefix": ""})
    before = api.get(f"Medias/{project}").json
    for name in ("", "a\0.jpg", "あ" * 1024, "\ud800".encode(errors="replace").decode(), "../x.jpg", "survey/"):
        listing.look_at(LookAtObjects(bucket=lake.name, names=[name], event="x"))
    listing.look_at(LookAtObjects(bucket="b" * 1024, names=["x"], event="x"))
    for body in (
        {"Records": [{"s3": {"bucket": {"name": lake.name}, "object": each}} for each in ({}, "x", {"key": 5}, [])]},
        {"Records": [5, None, {"s3": None}]},
        {"source": "aws.s3", "detail": [1]},
    ):
        deliver(json.dumps(body))
    api.drain()
    assert api.get(f"Medias/{project}").json == before


@pytest.mark.slow
def test_many_events_for_one_object_make_one_media_and_index_it_once(api, project, spec, lake):
    source = register(api, project, spec)
    made(lake)
    lake.calls.clear()
    for number in range(40):
        notify(lake, "survey/1.jpg", sequencer=str(number))
    api.drain()
    assert len(media_of(api, project)) == 1
    assert lake.calls["LIST"] == 40
    assert lake.calls["RANGE"] <= 2
    assert listed(api, source)["created"] == 0


def one(name="survey/a.jpg", size=1, etag="e"):
    return Listed(name, size, etag, "2026-01-01T00:00:00.000000Z")


@pytest.mark.parametrize(
    "page",
    [
        [one(), one()],
        [one("survey/b.jpg"), one("survey/a.jpg")],
        [one("elsewhere/a.jpg")],
        [one(size=-1)],
        [one(size=10**30)],
        [one(etag="e" * 300_000)],
        [one(f"survey/{number:05}.jpg") for number in range(1001)],
    ],
)
def test_a_store_that_lies_ends_the_listing_with_a_reason(api, project, spec, lake, monkeypatch, page):
    class Store:
        def page(self, *_):
            return page

    source = register(api, project, spec)
    monkeypatch.setattr(placement, "store_of", lambda _: Store())
    with pytest.raises(BadInput, match="page"):
        objects.page(source_prefix(1, lake.number, "survey/"))
    assert api.patch(f"BucketSource/{source}", {"list_now": True}).status == 200
    api.drain()
    shown = api.get(f"BucketSource/{source}").json
    assert (shown["status"], "page" in shown["message"]) == ("failed", True)
    assert api.get(f"Medias/{project}").json == []


def test_a_bomb_of_pixels_is_a_media_that_says_so(api, project, spec, lake):
    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    header = (60_000).to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
    body = zlib.compress(b"\0" * 10_000_000, 9)
    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    lake.put("survey/bomb.png", bomb)
    made(lake)
    register(api, project, spec)
    found = media_of(api, project)
    assert found["bomb.png"]["media_files"]["bucket_object"]["message"]
    assert api.get(f"GetFrame/{found['bomb.png']['id']}").status in (400, 413)
    shown = api.get(f"GetFrame/{found['1.jpg']['id']}")
    assert Image.open(io.BytesIO(shown.body)).size


@pytest.mark.slow
def test_a_bucket_of_the_same_name_in_another_organization_is_another(api, project, spec, lake, register):
    from tests.resources.bucket_sources import test_bucket_sources as rules

    made(lake)
    source = rules.register(api, project, spec)
    (media,) = media_of(api, project).values()
    path = media["media_files"]["image"][0]["path"]
    assert api.delete(f"BucketSource/{source}").status == 200
    stranger = new_user(is_staff=True)
    organization = stranger.made("Organizations", {"name": f"other {uuid.uuid4()}"})
    theirs = stranger.made("Projects", {"name": f"other {uuid.uuid4()}", "organization": organization})
    number = register(stranger, organization).number
    said = stranger.post(f"BucketSources/{theirs}", {**spec, "bucket": lake.number})
    assert said.status == 400, said.body
    still = media_type(theirs, "image")
    own = stranger.made(f"Medias/{theirs}", {"type": still, "name": "b.jpg", "md5": ""})
    parts = path.split("/")
    for text in (
        path,
        "/".join([parts[0], str(organization), *parts[2:]]),
        "/".join([parts[0], str(organization), parts[2], str(theirs), str(own), *parts[5:]]),
        "/".join([parts[0], str(organization), str(number), str(theirs), str(own), *parts[5:]]),
    ):
        entry = {"path": text, "resolution": [1, 1], "mime": "image/jpeg"}
        assert stranger.post(f"ImageFiles/{own}", entry, role="image").status in (400, 403), text
        assert stranger.post(f"DownloadInfo/{theirs}", {"keys": [text]}).status in (400, 403), text
        body = {"media_files": {"image": [entry]}}
        assert stranger.post(f"MoveVideo/{own}", body).status in (400, 403), text
    # without its source the media stays, and is read as before
    assert api.get(f"GetFrame/{media['id']}").status == 200


def test_odd_values_of_a_source_are_refused_by_name(api, project, spec, lake):
    odd = [10**400, -1, 1.5, True, "", "a\0b", "x" * 5000, [], [[]], {"a": 1}, None, "\u202e"]
    accepted = {"name": {"\u202e"}, "pattern": {"\u202e"}, "prefix": {""}, "section": {None}, "listing_hours": {None}}
    accepted["pattern"].add(None)
    for member in (*spec, "pattern", "section", "listing_hours"):
        for value in odd:
            if isinstance(value, str | None) and value in accepted.get(member, ()):
                continue
            said = api.post(f"BucketSources/{project}", {**spec, member: value})
            assert said.status == 400, (member, str(value)[:20], said.body)
            assert member in said.message + said.json["details"], (member, said.body)
    for more in ({"run": "x"}, {"bucket_name": "x"}):
        assert api.post(f"BucketSources/{project}", {**spec, **more}).status == 400, more
    # what a client sends back as it read it has no effect
    made = api.made(f"BucketSources/{project}", {**spec, "status": "listed", "created_by": 1})
    source = api.get(f"BucketSource/{made}").json
    assert (source["status"], source["created_by"]) == ("listing", api.user.id)


def test_administrators_of_the_project_alone_open_no_further_objects(api, project, spec, lake):
    source = register(api, project, {**spec, "pattern": "open/*"})
    member = new_user()
    join(member, project, "Full Control")
    for opening in ({"pattern": "*"}, {"media_types": spec["media_types"]}):
        assert member.patch(f"BucketSource/{source}", opening).status == 403
        assert api.patch(f"BucketSource/{source}", opening).status == 200
    assert member.patch(f"BucketSource/{source}", {"name": "Dives", "listing_hours": 1}).status == 200


def test_a_source_goes_on_without_its_creator(api, project, organization, spec, lake):
    creator = new_user()
    join(creator, project, "Full Control")
    affiliation = api.made(f"Affiliations/{organization}", {"user": creator.user.id, "permission": "Admin"})
    source = register(creator, project, spec)
    assert api.delete(f"Affiliation/{affiliation}").status == 200
    assert new_user(is_staff=True).patch(f"User/{creator.user.id}", {"is_active": False}).status == 200
    made(lake)
    assert api.patch(f"BucketSource/{source}", {"list_now": True}).status == 200
    api.drain()
    (media,) = media_of(api, project).values()
    assert media["created_by"] == creator.user.id


def test_members_at_every_level_reach_a_source_as_their_level_says(api, project, spec, lake):
    made(lake)
    source = register(api, project, spec)
    (media,) = media_of(api, project).values()
    for level in ("View Only", "Can Edit", "Can Transfer"):
        member = new_user()
        join(member, project, level)
        assert member.get(f"BucketSource/{source}").status == 403
        assert member.patch(f"BucketSource/{source}", {"list_now": True}).status == 403
        assert member.delete(f"BucketSource/{source}").status == 403
        said = member.post(f"DownloadInfo/{project}", {"keys": [media["media_files"]["image"][0]["path"]]})
        assert said.status == (201 if level == "Can Transfer" else 403), (level, said.body)
    gone = new_user()
    join(gone, project, "Full Control")
    assert gone.get(f"BucketSource/{source}").status == 200
    assert new_user(is_staff=True).patch(f"User/{gone.user.id}", {"is_active": False}).status == 200
    assert gone.get(f"BucketSource/{source}").status == 401
