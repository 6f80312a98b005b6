"""Uploads that go on where they broke off: tus 1.0 at /files/."""

import base64
import hashlib
import zlib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from chalicelib.access.masks import BITS_OF
from chalicelib.core.permissions import Level
from chalicelib.core.resource import timestamp
from chalicelib.core.web.tus import LARGEST_CHUNK, MAX_UPLOAD_BYTES
from chalicelib.resources.uploads import tus
from chalicelib.settings import override, settings
from chalicelib.storage.objects import tus_uploads as rows
from tests import objects
from tests.resources.media.samples import BUNNY, media_type
from tests.resources.uploads.tus_client import (
    BYTES,
    MIB,
    VERSION,
    asked,
    begun,
    left_of,
    multiparts,
    offset,
    pairs,
    sent,
    upload_of,
)
from tests.service import join

# moto leaves the spooled files of uploads to the garbage collector
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


class TestCapabilities:
    @pytest.mark.parametrize("path", ["/files/", "/files/anything"])
    def test_options_say_what_is_spoken_to_anybody(self, nobody, path):
        said = nobody.ask("OPTIONS", path)
        assert said.status == 204
        assert said.headers["Tus-Version"] == said.headers["Tus-Resumable"] == "1.0.0"
        assert said.headers["Tus-Max-Size"] == str(MAX_UPLOAD_BYTES)
        assert set(said.headers["Tus-Extension"].split(",")) == {
            "creation",
            "creation-with-upload",
            "expiration",
            "checksum",
            "termination",
        }
        assert "sha1" in said.headers["Tus-Checksum-Algorithm"].split(",")
        assert f"max-append-size={LARGEST_CHUNK}" in said.headers["Upload-Limit"]
        assert "Upload-Offset" in said.headers["Access-Control-Allow-Headers"]


class TestWhoMay:
    def test_nobody_and_strangers_may_not_begin(self, nobody, stranger, member, project):
        said = [
            asked(who, "POST", "/files", **VERSION, Upload_Length=1, Upload_Metadata=pairs(project=project))
            for who in (nobody, stranger, member("Can Edit"), member("Can Transfer"))
        ]
        assert [answer.status for answer in said] == [401, 404, 403, 201]
        assert all(answer.headers["Tus-Resumable"] == "1.0.0" for answer in said)

    @pytest.mark.parametrize("fine_grained", [False, True])
    @pytest.mark.parametrize("method", ["HEAD", "PATCH", "DELETE", "GET", "POST"])
    def test_only_the_creator_and_administrators_reach_an_upload(
        self, api, nobody, stranger, member, project, method, fine_grained
    ):
        creator, other, admin = member("Can Transfer"), member("Can Transfer"), member("Full Control")
        with override(fine_grained_permissions=fine_grained):
            path = begun(creator, project, 10)
            headers = {**BYTES, "Upload_Offset": 0, "X_HTTP_Method_Override": "DELETE"}
            said = [asked(who, method, path, **headers).status for who in (nobody, stranger, other, member("Can Edit"))]
            assert said == [401, 404, 404, 404]
            assert offset(creator, path) == 0
            assert asked(admin, method, path, **headers).status in (200, 204, 409)

    @pytest.mark.parametrize("fine_grained", [False, True])
    def test_a_creator_who_left_the_project_reaches_it_no_more(self, api, member, project, fine_grained):
        creator = member("Can Transfer")
        path = begun(creator, project, 10)
        membership = next(each for each in api.get(f"Memberships/{project}").json if each["user"] == creator.user.id)
        with override(fine_grained_permissions=fine_grained):
            assert api.patch(f"Membership/{membership['id']}", {"permission": "Can Edit"}).status == 200
            assert sent(creator, path, 0, b"01234").status == 403
            assert api.delete(f"Membership/{membership['id']}").status == 200
            for method in ("HEAD", "PATCH", "DELETE", "GET"):
                assert asked(creator, method, path, **BYTES, Upload_Offset=0).status == 404

    def test_another_s_upload_is_no_source_where_parts_of_the_project_are_closed(self, api, colleague, project):
        path = begun(api, project, 3, b"abc")
        spec = {"url": f"{settings().public_url}{path}", "name": "a.txt", "lookup": "a", "hours": 1}
        with override(fine_grained_permissions=True):
            own = {"project": project, "user": colleague.user.id}
            api.made("RowProtections", {**own, "permission": BITS_OF[Level.EDIT]})
            said = colleague.post(f"TemporaryFiles/{project}", spec)
            assert (said.status, "another user" in said.message) == (403, True), said.body
            assert api.post(f"TemporaryFiles/{project}", spec).status == 201

    def test_an_upload_that_never_was_is_not_found(self, api):
        assert asked(api, "HEAD", f"/files/{'0' * 32}", **VERSION).status == 404


class TestCreation:
    def test_who_may_upload_to_one_project_need_not_name_it(self, api, member, project, organization):
        uploader = member("Can Transfer")
        wanted = {**VERSION, "Upload_Length": 1, "Upload_Metadata": pairs(filename="a.mp4")}
        said = asked(uploader, "POST", "/files", **wanted)
        assert said.status == 201, said.body
        assert upload_of(said.headers["Location"]).project == project
        other = api.made("Projects", {"name": "another", "organization": organization})
        join(uploader, other, "View Only")
        assert asked(uploader, "POST", "/files", **wanted).status == 201
        for who in (api, member("Can Edit")):
            said = asked(who, "POST", "/files", **wanted)
            assert (said.status, "project is required" in said.message) == (400, True)

    def test_an_upload_begins_with_nothing(self, api, project, organization):
        metadata = pairs(project=project, filename="a.mp4")
        said = asked(api, "POST", "/files/", **VERSION, Upload_Length=10, Upload_Metadata=metadata)
        assert said.status == 201
        assert said.headers["Location"].startswith(f"{settings().public_url}/files/")
        assert said.headers["Upload-Expires"].endswith("GMT")
        assert said.headers["Upload-Offset"] == "0"
        upload = upload_of(said.headers["Location"])
        assert upload.key.split("/")[2:5] == [str(organization), str(project), str(api.user.id)]
        assert upload.key.endswith(".mp4")

    @pytest.mark.parametrize(
        ("headers", "status", "word"),
        [
            ({}, 400, "Upload-Length"),
            ({"Upload_Length": "-ten"}, 400, "Upload-Length"),
            ({"Upload_Length": "1", "Upload_Concat": "partial"}, 400, "Upload-Concat"),
            ({"Upload_Length": MAX_UPLOAD_BYTES + 1}, 413, str(MAX_UPLOAD_BYTES)),
            ({"Upload_Defer_Length": "1"}, 400, "Upload-Defer-Length"),
            ({"Upload_Length": "1", "Upload_Metadata": "project !!"}, 400, "base64"),
            ({"Upload_Length": "1", "Upload_Metadata": "project MQ==,project MQ=="}, 400, "once"),
            ({"Upload_Length": "1", "Upload_Metadata": "project LTE="}, 400, "project"),
            ({"Upload_Length": "1", "Upload_Metadata": "a " + "A" * 5000}, 400, "4096"),
        ],
    )
    def test_what_is_missing_or_wrong_is_named(self, api, project, headers, status, word):
        headers.setdefault("Upload_Metadata", pairs(project=project))
        said = asked(api, "POST", "/files/", **VERSION, **headers)
        assert said.status == status
        assert word in said.message

    def test_the_first_bytes_may_come_along(self, api, project):
        path = begun(api, project, 10, b"01234")
        assert offset(api, path) == 5
        assert sent(api, path, 5, b"56789").headers["Upload-Offset"] == "10"
        assert objects.read(upload_of(path).key) == b"0123456789"

    def test_an_upload_of_nothing_is_finished_at_once(self, api, project):
        path = begun(api, project, 0)
        assert objects.read(upload_of(path).key) == b""

    @pytest.mark.parametrize(("version", "status"), [({}, 412), ({"Tus_Resumable": "0.2.2"}, 412)])
    @pytest.mark.parametrize("method", ["POST", "PATCH", "HEAD", "DELETE"])
    def test_other_versions_are_not_spoken(self, api, project, method, version, status):
        path = "/files/" if method == "POST" else begun(api, project, 10)
        said = asked(api, method, path, **version, Upload_Length=10, Upload_Metadata=pairs(project=project))
        assert said.status == status
        assert said.headers["Tus-Version"] == "1.0.0"


class TestAppending:
    def test_bytes_go_on_where_they_broke_off(self, api, project):
        path = begun(api, project, 10, filename="a.bin")
        assert sent(api, path, 0, b"0123").status == 204
        assert offset(api, path) == 4
        assert sent(api, path, 4, b"456789").headers["Upload-Offset"] == "10"
        assert objects.read(upload_of(path).key) == b"0123456789"
        assert left_of(path) == []

    @pytest.mark.parametrize("wrong", [0, 3, 5])
    def test_another_offset_is_a_conflict_that_names_the_right_one(self, api, project, wrong):
        path = begun(api, project, 10, b"0123")
        said = sent(api, path, wrong, b"x")
        assert said.status == 409
        assert "4" in said.message
        assert offset(api, path) == 4

    def test_more_than_was_said_is_refused_and_nothing_kept(self, api, project):
        path = begun(api, project, 5, b"0123")
        assert sent(api, path, 4, b"xy").status == 400
        assert offset(api, path) == 4

    def test_another_content_type_is_415(self, api, project):
        path = begun(api, project, 5)
        said = asked(api, "PATCH", path, b"x", **VERSION, Upload_Offset=0, Content_Type="application/json")
        assert said.status == 415

    @pytest.mark.parametrize("given", ["", "-1", "1e3", "x"])
    def test_an_offset_that_is_no_number_is_400(self, api, project, given):
        path = begun(api, project, 5)
        assert asked(api, "PATCH", path, b"x", **BYTES, Upload_Offset=given).status == 400

    def test_a_chunk_too_large_for_lambda_is_413_and_says_what_is_not(self, api, project):
        path = begun(api, project, 10 * MIB)
        said = sent(api, path, 0, bytes(LARGEST_CHUNK + 1))
        assert said.status == 413
        assert str(LARGEST_CHUNK) in said.message
        assert f"max-append-size={LARGEST_CHUNK}" in said.headers["Upload-Limit"]
        assert sent(api, path, 0, bytes(LARGEST_CHUNK)).status == 204

    def test_a_large_upload_of_uneven_chunks_is_what_was_sent(self, api, project):
        data = b"".join(hashlib.sha256(number.to_bytes(4, "big")).digest() * 3200 for number in range(140))
        path, at = begun(api, project, len(data)), 0
        for size in [LARGEST_CHUNK, 1, LARGEST_CHUNK, 100, 70_000, LARGEST_CHUNK, LARGEST_CHUNK]:
            assert sent(api, path, at, data[at : at + size]).status == 204
            at = min(at + size, len(data))
            assert upload_of(path).waiting < 5 * MIB
        assert objects.read(upload_of(path).key) == data
        assert left_of(path) == []
        assert multiparts(upload_of(path).key) == []

    def test_clients_that_cannot_patch_may_post(self, api, project):
        path = begun(api, project, 5)
        said = asked(api, "POST", path, b"01234", **BYTES, Upload_Offset=0, X_HTTP_Method_Override="PATCH")
        assert said.status == 204
        assert asked(api, "POST", path, **VERSION, X_HTTP_Method_Override="PUT").status == 400

    def test_of_two_at_once_one_goes_on(self, api, project):
        path = begun(api, project, 10)
        upload = upload_of(path)
        assert tus.append(upload, 0, b"01234").offset == 5
        with pytest.raises(tus.Conflict):
            tus.append(upload, 0, b"abcde")
        assert len(left_of(path)) == 1
        sent(api, path, 5, b"56789")
        assert objects.read(upload.key) == b"0123456789"

    @pytest.mark.slow
    @pytest.mark.parametrize("size", [1000, 3 * MIB])
    def test_of_many_threads_at_one_offset_one_is_stored(self, api, project, size):
        """Each offset is written by exactly one; with chunks of 3 MiB the second ones race for a part, too."""
        path = begun(api, project, 3 * size)
        told = []
        for turn in range(3):
            bodies = [bytes([65 + turn * 4 + number]) * size for number in range(4)]
            with ThreadPoolExecutor(4) as threads:
                at = offset(api, path)
                assert at == turn * size
                said = list(threads.map(lambda body, at=at: sent(api, path, at, body).status, bodies))
            assert sorted(said) == [204, 409, 409, 409]
            told.append(bodies[said.index(204)])
        assert objects.read(upload_of(path).key) == b"".join(told)
        assert left_of(path) == []


class TestChecksum:
    @pytest.mark.parametrize(
        ("name", "digest"),
        [
            ("sha1", hashlib.sha1(b"01234").digest()),
            ("sha256", hashlib.sha256(b"01234").digest()),
            ("md5", hashlib.md5(b"01234").digest()),
            ("crc32", zlib.crc32(b"01234").to_bytes(4, "big")),
        ],
    )
    def test_right_ones_pass_and_wrong_ones_keep_nothing(self, api, project, name, digest):
        path = begun(api, project, 5)
        checksum = f"{name} {base64.b64encode(digest).decode()}"
        said = sent(api, path, 0, b"0123x", Upload_Checksum=checksum)
        assert said.status == 460
        assert offset(api, path) == 0
        assert sent(api, path, 0, b"01234", Upload_Checksum=checksum).status == 204

    @pytest.mark.parametrize("checksum", ["sha7 AAAA", "sha1 !", "sha1"])
    def test_what_is_not_understood_is_400_or_460(self, api, project, checksum):
        path = begun(api, project, 5)
        assert sent(api, path, 0, b"01234", Upload_Checksum=checksum).status in (400, 460)
        assert offset(api, path) == 0


class TestEnd:
    def test_what_was_ended_is_gone_with_all_its_bytes(self, api, project):
        path = begun(api, project, 20 * MIB, bytes(LARGEST_CHUNK))
        sent(api, path, LARGEST_CHUNK, bytes(LARGEST_CHUNK))
        sent(api, path, 2 * LARGEST_CHUNK, bytes(LARGEST_CHUNK))
        upload = upload_of(path)
        assert len(multiparts(upload.key)) == 1
        assert asked(api, "DELETE", path, **VERSION).status == 204
        assert multiparts(upload.key) == []
        assert left_of(path) == []
        assert asked(api, "HEAD", path, **VERSION).status == 410
        assert sent(api, path, 3 * LARGEST_CHUNK, b"x").status == 410
        assert asked(api, "DELETE", path, **VERSION).status == 204

    def test_a_finished_one_takes_its_object_along(self, api, project):
        path = begun(api, project, 1, b"x")
        asked(api, "DELETE", path, **VERSION)
        assert objects.head(upload_of(path).key) is None


class TestTime:
    def later(self, path, **more):
        """Let an upload's time be over."""
        upload = upload_of(path)
        past = timestamp(datetime.now(UTC) - timedelta(seconds=1))
        old = upload.until
        rows.save(msgspec.structs.replace(upload, until=past))
        rows.finish_check(old, upload.id, delayed=upload_of(path))

    def test_what_took_too_long_is_gone_and_swept(self, api, project):
        path = begun(api, project, 20 * MIB, bytes(LARGEST_CHUNK))
        sent(api, path, LARGEST_CHUNK, bytes(LARGEST_CHUNK))
        sent(api, path, 2 * LARGEST_CHUNK, b"x")
        self.later(path)
        assert asked(api, "HEAD", path, **VERSION).status == 410
        upload = upload_of(path)
        assert len(multiparts(upload.key)) == 1
        assert tus.sweep() >= 1
        assert multiparts(upload.key) == []
        assert left_of(path) == []
        assert asked(api, "HEAD", path, **VERSION).status == 410

    def test_a_finished_one_is_forgotten_and_its_object_stays(self, api, project):
        path = begun(api, project, 1, b"x")
        self.later(path)
        tus.sweep()
        assert asked(api, "HEAD", path, **VERSION).status == 410
        assert objects.read(upload_of(path).key) == b"x"

    def test_what_has_time_left_is_looked_at_again(self, api, project):
        path = begun(api, project, 2, b"x")
        upload = upload_of(path)
        moved = msgspec.structs.replace(upload, until=timestamp(datetime.now(UTC) - timedelta(seconds=1)))
        rows.finish_check(upload.until, upload.id, delayed=moved)
        tus.sweep()
        assert offset(api, path) == 1
        assert (upload.until, upload.id) in list(rows.list_due("9"))


class Died(BaseException):
    """The container went away."""


class TestUse:
    def test_what_nobody_finished_is_finished_by_who_uses_it(self, api, project, monkeypatch):
        path = begun(api, project, 4)

        def die(*_):
            raise Died

        with monkeypatch.context() as patch:
            patch.setattr(tus, "finish", die)
            with pytest.raises(Died):
                tus.append(upload_of(path), 0, b"data")
        assert objects.head(upload_of(path).key) is None
        body = {"name": "a.bin", "url": settings().public_url + path, "lookup": "x", "hours": 1}
        assert api.post(f"TemporaryFiles/{project}", body).status == 201
        assert objects.read(upload_of(path).key) == b"data"

    def test_a_finished_upload_can_be_downloaded(self, api, project):
        path = begun(api, project, 4, b"da")
        assert asked(api, "GET", path).status == 409
        sent(api, path, 2, b"ta")
        said = asked(api, "GET", path)
        assert said.status == 302
        assert upload_of(path).key in said.headers["Location"]
        assert said.headers["Cache-Control"] == "no-store"

    @pytest.mark.slow
    def test_a_video_is_transcoded_from_its_address(self, api, project):
        data = BUNNY.read_bytes()
        path = begun(api, project, len(data), filename="bunny.mp4")
        for at in range(0, len(data), LARGEST_CHUNK):
            assert sent(api, path, at, data[at : at + LARGEST_CHUNK]).status == 204
        url = settings().public_url + path
        spec = {
            "type": media_type(project, streaming_config=[{"resolution": 144, "vcodec": "h264", "crf": 40}]),
            "gid": "0e4c1a56-5d0b-4c05-a2a8-5ff9a0b9c9f4",
            "uid": f"tus-{project}",
            "url": url,
            "name": "bunny.mp4",
            "section": "Uploads",
            "md5": "x",
        }
        said = api.post(f"Transcodes/{project}", spec)
        assert said.status == 201, said.body
        assert said.json["object"]["spec"]["size"] == len(data)
        api.drain()
        assert api.get(f"Transcode/{said.json['id']}").json["job"]["status"] == "succeeded"

    @pytest.mark.parametrize("of", ["unfinished", "unknown", "another project's", "ended"])
    def test_what_is_not_there_to_be_used_is_refused(self, api, project, organization, of):
        other = api.made("Projects", {"name": f"other {project}", "organization": organization})
        path = begun(api, other if of == "another project's" else project, 4, b"da" if of == "unfinished" else b"data")
        if of == "ended":
            asked(api, "DELETE", path, **VERSION)
        url = f"{settings().public_url}/files/{'0' * 32}" if of == "unknown" else settings().public_url + path
        said = api.post(f"TemporaryFiles/{project}", {"name": "a.bin", "url": url, "lookup": "x", "hours": 1})
        assert said.status == (400 if of == "unfinished" else 403)
