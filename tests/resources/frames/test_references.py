"""Media by reference: a streaming file and its segment file that are URLs are read by ranges, as ours are."""

import io
from dataclasses import replace

import msgspec
import pytest
from PIL import Image

from chalicelib.errors import Forbidden
from chalicelib.resources.frames import service as frames_service
from chalicelib.resources.uploads import fetching
from chalicelib.video.files.source import BytesSource
from tests.resources.media.samples import frame_shown, media_type, video
from tests.video.made import FileSource, transcode

VIDEO, SEGMENTS = "https://media.example.org/film.mp4", "https://media.example.org/film.json"


@pytest.fixture
def made(tmp_path):
    path = tmp_path / "film.mp4"
    path.write_bytes(video(75))
    (tmp_path / "out").mkdir()
    return transcode(FileSource(path), tmp_path / "out", 60, [{"resolution": 64}])


@pytest.fixture
def read(monkeypatch, made):
    """A server with the two files; what is read of it, as (URL, offset, length)."""
    seen = []

    class Served(BytesSource):
        def __init__(self, url, _organization):
            if url != VIDEO:
                raise Forbidden(url)
            super().__init__(made.files["64"])

        def read(self, offset, length):
            seen.append((VIDEO, offset, length))
            return super().read(offset, length)

    monkeypatch.setattr(fetching, "HttpSource", Served)
    monkeypatch.setattr(fetching, "fetch_url", lambda url, most, _: msgspec.json.encode(made.info("64")))
    return seen


@pytest.fixture
def media(api, project, read):
    number = api.made(f"Medias/{project}", {"type": media_type(project), "name": "film.mp4", "md5": ""})
    entry = {
        "path": VIDEO,
        "segment_info": SEGMENTS,
        "codec": "h264",
        "resolution": [64, 96],
        "reference_only": 1,
    }
    said = api.post(f"VideoFiles/{number}", entry, role="streaming")
    assert said.status == 201, said.body
    return number


def test_its_frames_are_read_by_ranges(api, media, read, made):
    viewer = replace(api, headers={"Accept": "*/*"})
    for frame in (60, 3, 74):
        assert frame_shown(viewer.get(f"GetFrame/{media}", frames=frame).body) == frame
    assert sum(length for _, _, length in read) < len(made.files["64"]) * 1.5


def test_an_image_elsewhere_is_shown(api, project, monkeypatch):
    picture = io.BytesIO()
    Image.new("RGB", (40, 30), "red").save(picture, "PNG")
    monkeypatch.setattr(frames_service, "HttpSource", lambda url, organization: BytesSource(picture.getvalue()))
    number = api.made(f"Medias/{project}", {"type": media_type(project, dtype="image"), "name": "i.png", "md5": ""})
    entry = {"path": "https://media.example.org/i.png", "resolution": [30, 40]}
    assert api.post(f"ImageFiles/{number}", entry, role="image").status == 400
    assert api.post(f"ImageFiles/{number}", {**entry, "reference_only": 1}, role="image").status == 201
    said = api.get(f"GetFrame/{number}")
    assert (said.status, Image.open(io.BytesIO(said.body)).size) == (200, (40, 30))


def test_clips_are_cut_of_it(api, media):
    said = api.get(f"GetClip/{media}", frame_ranges="30:40")
    assert (said.status, said.json["segment_start_frames"]) == (200, [25])
    assert said.json["segment_end_frames"] == [49]


def test_a_segment_file_of_another_tenant_is_refused(api, project, media):
    entry = {"path": VIDEO, "segment_info": "9/9/9/x.json", "codec": "h264", "resolution": [64, 96]}
    said = api.post(f"VideoFiles/{media}", {**entry, "reference_only": 1}, role="streaming")
    assert said.status in (400, 403, 404)


def test_graphics_are_cut_out_of_it(api, project, media):
    number = api.get(f"Media/{media}").json["type"]
    box = api.made(f"LocalizationTypes/{project}", {"name": "b", "dtype": "box", "media_types": [number]})
    spec = {"type": box, "media_id": media, "frame": 33, "x": 0.0, "y": 0.0, "width": 1.0, "height": 1.0}
    (shape,) = api.made(f"Localizations/{project}", spec)
    said = api.get(f"LocalizationGraphic/{shape}")
    assert frame_shown(said.body) == 33
    assert Image.open(io.BytesIO(said.body)).size == (96, 64)
