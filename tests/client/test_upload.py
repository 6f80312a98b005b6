"""Uploads: folders, resume, and failures of single files."""

from __future__ import annotations

import hashlib
import os
import threading

import pytest

from infra.client import configuration, exchange, failures, uploads
from infra.client.client import Client
from infra.client.failures import Failure

MIB = 1024 * 1024


@pytest.fixture(autouse=True)
def image_type(api, signed_in):
    return api.made(f"MediaTypes/{signed_in}", {"name": "Picture", "dtype": "image"})


@pytest.fixture
def folder(tmp_path):
    """Two pictures and one in a folder below, beside what is no media."""
    root = tmp_path / "dive"
    (root / "reef").mkdir(parents=True)
    for place in ("b.png", "a.png", "reef/c.png"):
        (root / place).write_bytes(b"picture " + place.encode())
    (root / "notes.txt").write_text("no media")
    (root / ".hidden.png").write_bytes(b"x")
    return root


@pytest.mark.slow
def test_a_folder_becomes_media_of_the_same_bytes(limn, folder, api, signed_in):
    ran = limn("--json", "upload", folder, "--folders", "--section", "Dive 1")
    assert ran.status == 0, ran.err
    assert {name: ran.json[name] for name in ("uploaded", "present", "failed")} == {
        "uploaded": 3,
        "present": 0,
        "failed": 0,
    }
    media = {each["name"]: each for each in api.get(f"Medias/{signed_in}").json}
    sections = {each["id"]: each["name"] for each in api.get(f"Sections/{signed_in}").json}
    assert {name: sections[each["primary_section"]] for name, each in media.items()} == {
        "a.png": "Dive 1",
        "b.png": "Dive 1",
        "c.png": "reef",
    }
    assert media["a.png"]["md5"] == hashlib.md5(b"picture a.png").hexdigest()


@pytest.mark.slow
def test_a_second_run_uploads_what_is_new_or_changed_or_was_deleted(limn, folder, api, signed_in):
    assert limn("upload", folder).status == 0
    again = limn("--json", "upload", folder).json
    assert (again["uploaded"], again["present"]) == (0, 3)
    (folder / "d.png").write_bytes(b"new")
    (folder / "b.png").write_bytes(b"changed")
    [gone] = [each["id"] for each in api.get(f"Medias/{signed_in}").json if each["name"] == "a.png"]
    assert api.delete(f"Media/{gone}").status == 200
    third = limn("--json", "upload", folder).json
    assert (third["uploaded"], third["present"]) == (3, 1)
    assert len(api.get(f"Medias/{signed_in}").json) == 5


def test_a_folder_without_media_is_an_error(limn, tmp_path, signed_in):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("no media")
    ran = limn("upload", tmp_path / "notes")
    assert ran.status == 2
    assert "no file has the name of an image or a video" in ran.err


def test_a_dry_run_sends_nothing(limn, folder, api, signed_in):
    assert len(limn("--json", "upload", folder, "--dry-run").json["files"]) == 3
    assert api.get(f"Medias/{signed_in}").json == []


def test_a_file_that_fails_does_not_stop_the_others(limn, folder, api, signed_in):
    (folder / "empty.png").write_bytes(b"")
    ran = limn("--json", "upload", folder)
    assert ran.status == failures.INCOMPLETE
    assert (ran.json["uploaded"], ran.json["failed"]) == (3, 1)
    [failed] = [each for each in ran.json["files"] if each["status"] == "failed"]
    assert (failed["path"], failed["reason"]) == (str(folder / "empty.png"), "The file is empty.")


def test_a_command_that_waits_fails_for_files_that_the_service_cannot_read(limn, folder, api, signed_in):
    from PIL import Image

    Image.new("RGB", (8, 8)).save(folder / "a.png")
    assert limn("upload", folder).status == 0
    api.drain()
    ran = limn("--json", "upload", folder, "--wait")
    assert ran.status == failures.INCOMPLETE
    assert (ran.json["present"], ran.json["failed"]) == (1, 2)
    assert all(each["reason"] for each in ran.json["files"] if each["status"] == "failed")


def test_a_file_that_no_type_of_the_project_is_for_says_so(limn, folder, api, signed_in):
    (folder / "dive.mp4").write_bytes(b"\0" * 64)
    ran = limn("--json", "upload", folder)
    [failed] = [each for each in ran.json["files"] if each["status"] == "failed"]
    assert "no media type of videos" in failed["reason"]
    assert "Picture (image)" in failed["reason"]
    assert len(api.get(f"Medias/{signed_in}").json) == 3


def test_the_md5_is_made_while_parts_are_sent(tmp_path, signed_in, config, monkeypatch):
    begun, add_up = threading.Event(), uploads._md5

    class Waiting(Client):
        def put_bytes(self, url, data):
            assert begun.wait(60)
            return super().put_bytes(url, data)

    def noted(path, is_over):
        begun.set()
        return add_up(path, is_over)

    monkeypatch.setattr(uploads, "_md5", noted)
    path = tmp_path / "a.png"
    path.write_bytes(b"picture")
    journal = uploads.Journal()
    uploader = uploads.Uploader(Waiting(configuration.current(None)), uploads.Target(signed_in), journal, parallel=1)
    [outcome] = uploader.run([uploads.UploadFile(path, path.name)])
    journal.close()
    assert outcome.status == "uploaded", outcome


def test_a_part_that_was_acknowledged_is_a_row_of_its_own(config):
    """The state of 10,000 parts is 5 MB; written with each part, it would be 50 GB."""
    journal, state = uploads.Journal(), uploads.UploadState(urls=["u" * 100] * 1000)
    journal.put("a", state)
    changed = []
    journal._rows.set_trace_callback(changed.append)
    journal.add_part("a", state, 7, "tag")
    assert sum(map(len, changed)) < 200
    assert journal.get("a") == state
    assert journal.get("a").parts == {"7": "tag"}
    journal.put("a", uploads.UploadState())
    assert journal.get("a").parts == {}
    journal.close()


def test_a_file_that_becomes_shorter_while_it_is_sent_says_so(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    assert b"".join(exchange.FilePart(path, 1, 2)) == b"bc"
    with pytest.raises(Failure, match="became shorter"):
        list(exchange.FilePart(path, 1, 9))


class Died(BaseException):
    """The process ends here."""


class Dying(Client):
    """A client that dies before its nth request, or after it when the answer is lost."""

    def __init__(self, profile, at, *, is_after):
        super().__init__(profile)
        self.at, self.is_after, self.sent = at, is_after, 0
        self.parts = 0
        self._send, self._web.request = self._web.request, self._counted

    def _counted(self, method, url, **how):
        self.sent += 1
        if self.sent == self.at and not self.is_after:
            raise Died
        answer = self._send(method, url, **how)
        self.parts += "/rest/" not in url
        if self.sent == self.at:
            raise Died
        return answer


@pytest.mark.slow
@pytest.mark.parametrize("is_after", [False, True])
def test_an_upload_that_dies_at_any_request_continues_and_creates_one_media(
    tmp_path, service, api, signed_in, config, is_after
):
    profile, target = configuration.current(None), uploads.Target(signed_in)
    for at in range(1, 20):
        path = tmp_path / f"{at}.png"
        path.write_bytes(os.urandom(5 * MIB + 1))
        parts = []
        for dies in (at, 0):
            client = Dying(profile, dies, is_after=is_after)
            journal = uploads.Journal()
            uploader = uploads.Uploader(client, target, journal, parallel=1, part_size=5 * MIB)
            source = uploads.UploadFile(path, path.name)
            try:
                [outcome] = uploader.run([source])
            except Died:
                outcome = None
            journal.close()
            parts.append(client.parts)
        assert outcome.status in ("uploaded", "present"), outcome
        found = api.get(f"Medias/{signed_in}", name=path.name).json
        [media] = found
        assert (media["id"], media["md5"]) == (outcome.media, hashlib.md5(path.read_bytes()).hexdigest())
        assert sum(parts) <= 2 + (is_after and 1)  # a part is sent again only where its answer was lost
        if sum(parts) == 2 and at > 6:
            break
    else:
        pytest.fail("an upload takes more requests than were tried")
