"""Permalinks: who may follow them, and where they redirect to."""

from __future__ import annotations

import msgspec
import pytest

from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import USER
from chalicelib.core.models.media_files import MediaFiles
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, records
from tests.service import join, new_user

HOSTILE = (
    "https://evil.example/v.mp4",
    "https://user:password@listed.example.org/v.mp4",
    "https://listed.example.org@evil.example/v.mp4",
    "https://listed.example.org\\@evil.example/v.mp4",
    "javascript://listed.example.org/%0aalert(1)",
    "javascript:alert(1)",
    "data:text/html,x",
    "//evil.example/v.mp4",
    "ftp://listed.example.org/v.mp4",
    "https://listed.example.org/\r\nSet-Cookie: a=b",
    "https://listed.example.org/a b",
    "https://listed.example.org/\u0000",
    "https://listed.example.org.evil.example€/",
    "https://[::1/v.mp4",
)


class TestPermalink:
    @pytest.fixture
    def media(self, api, project, organization):
        kind = api.made(f"MediaTypes/{project}", {"name": "video", "dtype": "video"})
        number = api.made(f"Medias/{project}", {"type": kind, "name": "a.mp4", "md5": ""})
        place = f"{organization}/{project}/{number}"
        files = {
            "streaming": [
                {"path": f"{place}/{height}.mp4", "codec": "h264", "resolution": [height, height * 2]}
                for height in (240, 700, 1080)
            ],
            "thumbnail": [{"path": f"{place}/t.jpg", "resolution": [10, 10]}],
            "audio": [{"path": f"{place}/a.m4a", "codec": "aac"}, {"path": f"{place}/b.m4a", "codec": "aac"}],
        }
        found = msgspec.convert(files, MediaFiles)
        entities.edit(Kind.MEDIA, number, lambda old: msgspec.structs.replace(old, media_files=found), user=None)
        return number

    @pytest.mark.parametrize(
        ("query", "name"),
        [
            ({}, "700.mp4"),
            ({"quality": 0}, "240.mp4"),
            ({"quality": 5000}, "1080.mp4"),
            ({"element": "streaming", "quality": 1000}, "1080.mp4"),
            ({"element": "thumbnail"}, "t.jpg"),
            ({"element": "audio"}, "a.m4a"),
        ],
    )
    def test_it_redirects_a_member_to_the_nearest_file(self, media, member, query, name):
        said = member("View Only").get(f"Permalink/{media}", **query)
        assert said.status == 301
        assert f"/{name}?" in said.headers["Location"]
        assert said.headers["Cache-Control"] == "no-store"

    def test_what_is_not_there_is_not_found(self, api, media):
        assert api.get(f"Permalink/{media}", element="archival").status == 404
        assert api.get(f"Permalink/{media}", element="nonsense").status == 400
        assert api.get(f"Permalink/{media}", quality=-1).status == 400
        assert api.get("Permalink/999999999").status == 404

    def test_strangers_and_nobody_learn_nothing(self, nobody, stranger, media):
        assert nobody.get(f"Permalink/{media}").status == nobody.get("Permalink/999999999").status == 401
        assert stranger.get(f"Permalink/{media}").status == stranger.get("Permalink/999999999").status == 404

    def test_the_membership_of_anonymous_opens_it_to_everyone(self, nobody, stranger, media, project):
        guest = new_user()
        records.edit(USER, guest.user.id, lambda user: msgspec.structs.replace(user, username="anonymous"))
        try:
            assert nobody.get(f"Permalink/{media}").status == 401
            join(guest, project, "View Only")
            assert nobody.get(f"Permalink/{media}").status == stranger.get(f"Permalink/{media}").status == 301
        finally:
            records.edit(USER, guest.user.id, lambda user: msgspec.structs.replace(user, username=guest.user.username))


class TestRedirects:
    """A permalink redirects to the service's own files and to listed origins, and nowhere else."""

    LISTED = "https://listed.example.org"

    @pytest.fixture
    def stored(self, api, project, monkeypatch):
        """Stores a file with a path, past every check, and gives its media."""
        changed = msgspec.structs.replace(settings(), allowed_origins=[self.LISTED])
        monkeypatch.setattr("chalicelib.resources.uploads.fetching.settings", lambda: changed)
        kind = api.made(f"MediaTypes/{project}", {"name": "video", "dtype": "video"})

        def store(path):
            number = api.made(f"Medias/{project}", {"type": kind, "name": "a.mp4", "md5": ""})
            file = {"path": path, "codec": "h264", "resolution": [720, 1280], "reference_only": 1}
            found = msgspec.convert({"streaming": [file]}, MediaFiles)
            entities.edit(Kind.MEDIA, number, lambda old: msgspec.structs.replace(old, media_files=found), user=None)
            return number

        return store

    @pytest.mark.parametrize("path", HOSTILE)
    def test_what_was_stored_before_it_was_checked_redirects_nowhere(self, api, stored, path):
        said = api.get(f"Permalink/{stored(path)}")
        # what is not a URL is the key of an object, and stays in the service's own store
        location = said.headers.get("Location", "")
        assert said.status in (403, 404) or location.startswith(f"{settings().s3_endpoint}/")
        assert "://" not in path or said.status in (403, 404)

    @pytest.mark.parametrize(
        ("path", "location"),
        [
            (f"{LISTED}/v.mp4?x=1", f"{LISTED}/v.mp4?x=1"),
            (f"{LISTED}/Größe €.mp4".replace(" ", "%20"), f"{LISTED}/Gr%C3%B6%C3%9Fe%20%E2%82%AC.mp4"),
        ],
    )
    def test_a_listed_origin_is_redirected_to_with_a_valid_header(self, api, stored, path, location):
        said = api.get(f"Permalink/{stored(path)}")
        assert (said.status, said.headers["Location"]) == (301, location)
        assert said.headers["Location"].isascii()

    @pytest.mark.parametrize("path", [path for path in HOSTILE if not path.startswith("https://evil.example/")])
    def test_a_hostile_path_is_refused_where_it_is_stored(self, api, project, path):
        kind = api.made(f"MediaTypes/{project}", {"name": "video", "dtype": "video"})
        number = api.made(f"Medias/{project}", {"type": kind, "name": "a.mp4", "md5": ""})
        file = {"path": path, "codec": "h264", "resolution": [720, 1280], "reference_only": 1}
        said = api.post(f"VideoFiles/{number}", file, role="streaming")
        assert (said.status in (400, 403), "path" in said.message) == (True, True)
        assert api.patch(f"Media/{number}", {"multi": None, "media_files": {"streaming": [file]}}).status in (400, 403)

    def test_a_path_with_letters_beyond_ascii_is_stored_percent_encoded(self, api, project):
        kind = api.made(f"MediaTypes/{project}", {"name": "video", "dtype": "video"})
        number = api.made(f"Medias/{project}", {"type": kind, "name": "a.mp4", "md5": ""})
        file = {"path": f"{self.LISTED}/€.mp4", "codec": "h264", "resolution": [720, 1280], "reference_only": 1}
        assert api.post(f"VideoFiles/{number}", file, role="streaming").status == 201
        [shown] = api.get(f"VideoFiles/{number}", role="streaming").json
        assert shown["path"] == f"{self.LISTED}/%E2%82%AC.mp4"
