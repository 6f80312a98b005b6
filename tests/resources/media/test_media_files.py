"""The records of a media's files, by role and index."""

import sys
from datetime import timedelta

import pytest

from chalicelib.resources.entities import object_cleanup
from chalicelib.resources.media import streams
from chalicelib.resources.media.files import moving
from tests import objects
from tests.resources.media.samples import media_type, uploaded


@pytest.fixture
def media(api, project):
    return api.made(f"Medias/{project}", {"type": media_type(project), "name": "a.mp4", "md5": ""})


@pytest.fixture
def key(project, organization, media):
    return lambda name: f"{organization}/{project}/{media}/{name}"


def video(key, name="720", **more):
    return {
        "path": key(f"{name}.mp4"),
        "segment_info": key(f"{name}.json"),
        "codec": "h264",
        "resolution": [1, 2],
        **more,
    }


class TestVideoFiles:
    def test_added_inserted_replaced_and_removed(self, api, media, key):
        url = f"VideoFiles/{media}"
        assert api.get(url, role="streaming").json == []
        for name in ("a", "c"):
            assert api.post(url, video(key, name), role="streaming").status == 201
        assert api.post(url, video(key, "b"), role="streaming", index=1).status == 201
        assert [entry["path"] for entry in api.get(url, role="streaming").json] == [key(f"{n}.mp4") for n in "abc"]
        assert api.patch(f"VideoFile/{media}", video(key, "d", size=5), role="streaming", index=2).status == 200
        assert api.get(f"VideoFile/{media}", role="streaming", index=2).json["size"] == 5
        assert api.delete(f"VideoFile/{media}", role="streaming", index=0).status == 200
        assert [entry["path"] for entry in api.get(url, role="streaming").json] == [key("b.mp4"), key("d.mp4")]
        assert api.get(f"VideoFile/{media}", role="streaming", index=2).status == 400

    def test_members_that_the_service_does_not_know_are_kept(self, api, project, media, key):
        own = {"camera": {"serial": 7}, "others": [1]}
        assert api.post(f"VideoFiles/{media}", video(key, "a", **own), role="streaming").status == 201
        assert api.post(f"VideoFiles/{media}", video(key, "b"), role="streaming").status == 201
        files = (
            api.get(f"VideoFiles/{media}", role="streaming").json,
            api.get(f"Media/{media}").json["media_files"]["streaming"],
            api.get(f"Medias/{project}", media_id=media).json[0]["media_files"]["streaming"],
        )
        for found in files:
            assert found == [video(key, "a", **own), video(key, "b")]
        changed = {"media_files": {"streaming": [video(key, "b", lens="35 mm")]}}
        assert api.patch(f"Media/{media}", changed).status == 200
        assert api.get(f"VideoFile/{media}", role="streaming", index=0).json["lens"] == "35 mm"

    def test_uploads_of_older_clients_are_moved_to_the_media(self, api, project, media):
        path, segments = (uploaded(api, project, data, name) for data, name in ((b"video", "v.mp4"), (b"{}", "v.json")))
        entry = {"url": path, "segments_url": segments, "codec": "h264", "resolution": [1, 2]}
        said = api.post(f"MoveVideo/{media}", {"media_files": {"streaming": [entry]}})
        assert (said.status, said.json["id"]) == (201, media), said.body
        (found,) = api.get(f"VideoFiles/{media}", role="streaming").json
        assert objects.read(found["path"]) == b"video"
        assert objects.read(found["segment_info"]) == b"{}"
        for wrong in ("9/9/9/x.mp4", "https://elsewhere.example.org/x.mp4", f"{path.partition('?')[0]}x"):
            said = api.post(f"MoveVideo/{media}", {"media_files": {"streaming": [{**entry, "url": wrong}]}})
            assert said.status in (400, 403), wrong
        assert api.post(f"MoveVideo/{media}", {"media_files": {}}).status == 400
        for more in ({"ids": [media]}, {"quality": 3}, {"bucket_object": {"path": path, "bucket_id": 1}}):
            said = api.post(f"MoveVideo/{media}", {"media_files": {"streaming": [entry], **more}})
            assert (said.status, next(iter(more)) in said.message + said.json["details"]) == (400, True), said.body
        assert len(api.get(f"VideoFiles/{media}", role="streaming").json) == 1

    def test_copies_of_a_move_that_died_are_removed(self, api, project, media, key, monkeypatch):
        entry = {"path": uploaded(api, project, b"text", "a.txt"), "name": "a.txt"}
        monkeypatch.setattr(object_cleanup, "GRACE", timedelta(0))
        with monkeypatch.context() as patch:
            patch.setattr(moving, "edit_media", lambda *_, **__: sys.exit())
            with pytest.raises(SystemExit):
                api.post(f"MoveVideo/{media}", {"media_files": {"attachment": [entry]}})
        assert len(list(objects.under(key("")))) == 1
        object_cleanup.sweep(project)
        assert list(objects.under(key(""))) == []
        assert api.post(f"MoveVideo/{media}", {"media_files": {"attachment": [entry]}}).status == 201
        object_cleanup.sweep(project)
        assert list(objects.under(key(""))) == [api.get(f"AuxiliaryFiles/{media}", role="attachment").json[0]["path"]]

    def test_an_index_beyond_the_end_is_refused(self, api, media, key):
        assert api.post(f"VideoFiles/{media}", video(key), role="streaming", index=0).status == 400

    def test_keys_of_others_are_forbidden(self, api, media, key):
        other = {**video(key), "path": key("x.mp4").replace(f"/{media}/", "/999999/")}
        assert api.post(f"VideoFiles/{media}", other, role="archival").status == 403

    def test_a_segment_file_of_any_size_is_not_read(self, api, media, key, monkeypatch):
        monkeypatch.setattr(streams, "LARGEST_SEGMENT_FILE", 1000)
        asked = []
        monkeypatch.setattr(streams.objects, "read", asked.append)
        monkeypatch.setattr(streams.objects, "read_range", lambda key, *_, **__: asked.append(key))
        objects.write(key("long.json"), b" " * 1001)
        objects.write(key("long.mp4"), b"video")
        assert api.post(f"VideoFiles/{media}", video(key, "long"), role="streaming").status == 201
        said = api.get(f"FrameTimes/{media}")
        assert (said.status, "1001 bytes; at most 1000" in said.message) == (400, True), said.body
        assert [each for each in asked if each.path == key("long.json")] == []

    def test_streaming_needs_its_segments_and_urls_a_reference(self, api, media, key):
        bare = {"path": key("a.mp4"), "codec": "h264", "resolution": [1, 2]}
        assert api.post(f"VideoFiles/{media}", bare, role="streaming").status == 400
        assert api.post(f"VideoFiles/{media}", bare, role="archival").status == 201
        url = {**bare, "path": "https://example.com/a.mp4"}
        assert api.post(f"VideoFiles/{media}", url, role="streaming").status == 400
        assert api.post(f"VideoFiles/{media}", {**url, "reference_only": 1}, role="streaming").status == 201
        assert api.get(f"Media/{media}").json["media_files"]["streaming"][0]["path"] == url["path"]

    @pytest.mark.parametrize("query", [{}, {"role": "foo"}, {"role": "image"}])
    def test_the_role_must_be_one_of_a_video_s(self, api, media, key, query):
        assert api.post(f"VideoFiles/{media}", video(key), **query).status == 400

    def test_a_role_without_files_is_404_to_changes(self, api, media, key):
        assert api.patch(f"VideoFile/{media}", video(key), role="archival", index=0).status == 404
        assert api.delete(f"VideoFile/{media}", role="archival", index=0).status == 404

    def test_editors_may_not(self, member, media, key):
        assert member("Can Edit").post(f"VideoFiles/{media}", video(key), role="streaming").status == 403


@pytest.mark.parametrize(
    ("word", "role", "body"),
    [
        ("Image", "thumbnail", {"resolution": [1, 2], "mime": "image/jpeg"}),
        ("Audio", "audio", {"codec": "aac"}),
        ("Auxiliary", "attachment", {"name": "notes.txt"}),
    ],
)
def test_other_kinds_go_the_same_way(api, media, key, word, role, body):
    body = {"path": key("file"), **body}
    assert api.post(f"{word}Files/{media}", body, role=role).status == 201
    assert api.get(f"{word}File/{media}", role=role, index=0).json == body
    if word != "Image":
        assert len(api.get(f"{word}Files/{media}").json) == 1


def test_the_path_of_a_sound_has_the_older_name_url_too(api, media, key):
    first, second = key("first"), key("second")
    assert api.post(f"AudioFiles/{media}", {"url": first, "codec": "aac"}).status == 201
    assert api.get(f"AudioFile/{media}", index=0).json == {"path": first, "codec": "aac"}
    assert api.patch(f"AudioFile/{media}", {"url": second, "codec": "aac"}, index=0).status == 200
    assert api.get(f"AudioFile/{media}", index=0).json["path"] == second
    nested = {"media_files": {"audio": [{"url": first, "codec": "aac"}]}}
    assert api.patch(f"Media/{media}", nested).status == 200
    assert api.get(f"AudioFile/{media}", index=0).json["path"] == first


@pytest.mark.parametrize("side", [-1, 65_537, 10**12])
def test_sides_of_a_media_are_those_of_a_picture(api, project, side):
    video_type = media_type(project)
    media = api.made(f"Medias/{project}", {"type": video_type, "name": "a.mp4", "md5": ""})
    spec = {"type": video_type, "name": "b.mp4", "md5": "", "width": side}
    for said in (api.post(f"Medias/{project}", spec), api.patch(f"Media/{media}", {"height": side})):
        assert said.status == 400
        assert any(name in str(said.json) for name in ("width", "height"))
    assert api.patch(f"Media/{media}", {"width": 65_536, "height": 0}).status == 200
