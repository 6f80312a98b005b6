"""Frames as pictures."""

import io
from dataclasses import replace

import pytest
from PIL import Image

from chalicelib.core.models.definitions import ResolutionConfig
from chalicelib.storage.objects import objects as service_objects
from chalicelib.video.pictures import drawing
from chalicelib.video.process import isolation
from tests import objects
from tests.resources.media.samples import frame_shown, media_type, picture, transcode, uploaded, video
from tests.service import new_project, new_user

JPG, PNG = b"\xff\xd8\xff", b"\x89PNG"


@pytest.fixture(scope="module")
def api():
    """One user, project and film for all tests of this module, which only read them."""
    return new_user(is_staff=True)


@pytest.fixture(scope="module")
def project(api):
    return new_project(api)


@pytest.fixture(scope="module")
def viewer(api):
    """The api user with a client that takes pictures."""
    return replace(api, headers={"Accept": "*/*"})


@pytest.fixture(scope="module")
def media(api, project):
    type_ = media_type(project, streaming_config=[ResolutionConfig(resolution=32), ResolutionConfig(resolution=64)])
    said = transcode(api, project, type_, video(75, 96, 64)).json
    api.drain()
    return said["media_id"]


@pytest.fixture
def drawn(monkeypatch):
    """The tasks of drawing that were run."""
    tasks, run_all = [], isolation.run_all
    monkeypatch.setattr(isolation, "run_all", lambda *task, **more: tasks.append(task) or run_all(*task, **more))
    return tasks


def size(said):
    return Image.open(io.BytesIO(said.body)).size


class TestGetFrame:
    @pytest.mark.parametrize("frame", [0, 1, 24, 25, 26, 49, 73, 74])
    def test_frame_n_is_frame_n(self, viewer, media, frame):
        said = viewer.get(f"GetFrame/{media}", frames=frame)
        assert (said.status, said.headers["Content-Type"]) == (200, "image/png")
        assert size(said) == (96, 64)
        assert frame_shown(said.body) == frame

    @pytest.mark.parametrize("accept", ["image/avif,image/webp,image/apng,*/*;q=0.8", "image/*", "image/png"])
    def test_errors_are_pictures_where_pictures_are_preferred_and_json_elsewhere(self, api, media, accept):
        page, program = (replace(api, headers={"Accept": each}) for each in (accept, "*/*"))
        for path, frames, status in ((f"GetFrame/{media}", 75, 400), ("GetFrame/99999999", 0, 404)):
            shown, said = page.get(path, frames=frames), program.get(path, frames=frames)
            assert (shown.status, shown.headers["Content-Type"], size(shown)) == (status, "image/png", (640, 360))
            assert (said.status, said.headers["Content-Type"]) == (status, "application/json")
            assert said.message
        # The message is drawn: another one is another picture.
        assert page.get(f"GetFrame/{media}", frames=75).body != page.get(f"GetFrame/{media}", frames=76).body
        assert page.get(f"Media/{media + 1}").headers["Content-Type"] == "application/json"

    @pytest.mark.parametrize(
        ("query", "height"),
        [
            ({"force_scale": "48x32"}, 32),
            ({"force_scale": "48x33"}, 64),
            ({"force_scale": "24x16", "roi": "0.5:0.5:0:0"}, 32),
            ({"force_scale": "48x32", "roi": "0.5:0.5:0:0"}, 64),
            ({"force_scale": "48x32", "quality": 64}, 64),
            ({"force_scale": "960x640"}, 64),
            ({}, 64),
        ],
    )
    def test_the_lowest_file_that_has_the_pixels_is_decoded(self, viewer, media, drawn, query, height):
        said = viewer.get(f"GetFrame/{media}", frames=40, **query)
        assert said.status == 200
        assert "roi" in query or height == 64 or frame_shown(said.body) == 40
        assert [view.size[1] for task in drawn for view in task[2].views] == [height]

    def test_without_frames_it_is_the_first(self, viewer, media):
        assert frame_shown(viewer.get(f"GetFrame/{media}").body) == 0

    def test_a_picture_drawn_lately_is_not_drawn_again(self, viewer, media, drawn):
        said = viewer.get(f"GetFrame/{media}", frames=7, format="jpg")
        drawn.clear()
        assert viewer.get(f"GetFrame/{media}", frames=7, format="jpg").body == said.body
        assert not drawn
        assert viewer.get(f"GetFrame/{media}", frames=8, format="jpg").body != said.body
        assert len(drawn) == 1

    def test_several_are_tiled(self, viewer, media):
        assert size(viewer.get(f"GetFrame/{media}", frames="5,6,7")) == (192, 128)
        assert size(viewer.get(f"GetFrame/{media}", frames="5,6,7", tile="3x1")) == (288, 64)
        assert size(viewer.get(f"GetFrame/{media}", frames="5,6,7", tile="junk")) == (192, 128)

    def test_quality_chooses_the_closest(self, viewer, media):
        assert size(viewer.get(f"GetFrame/{media}", quality=30)) == (48, 32)

    def test_roi_then_scale(self, viewer, media):
        assert size(viewer.get(f"GetFrame/{media}", roi="0.5:0.5:0.25:0.25")) == (48, 32)
        assert size(viewer.get(f"GetFrame/{media}", roi="0.5:0.5:0:0", force_scale="20x30")) == (20, 30)
        assert viewer.get(f"GetFrame/{media}", frames="1,2,3", roi="1:1:0:0,1:1:0:0").status == 400

    @pytest.mark.parametrize(("form", "start"), [("jpg", JPG), ("png", PNG), ("gif", b"GIF8")])
    def test_formats(self, viewer, media, form, start):
        assert viewer.get(f"GetFrame/{media}", format=form).body.startswith(start)

    def test_an_animation_plays_in_the_order_asked(self, viewer, media):
        said = viewer.get(f"GetFrame/{media}", frames="10,5,20", animate=5)
        assert said.headers["Content-Type"] == "image/gif"
        assert Image.open(io.BytesIO(said.body)).n_frames == 3
        said = viewer.get(f"GetFrame/{media}", frames="10,5", animate=5, format="mp4")
        assert said.body[4:8] == b"ftyp"

    @pytest.mark.parametrize(
        "query", [{"frames": 75}, {"frames": -1}, {"force_scale": "x"}, {"animate": 16}, {"animate": 2, "tile": "1x1"}]
    )
    def test_what_cannot_be_is_refused_as_json(self, viewer, media, query):
        said = viewer.get(f"GetFrame/{media}", **query)
        assert said.status == 400
        assert next(iter(query)) in said.message + said.json["details"]

    def test_an_unknown_format_is_404(self, viewer, media):
        assert viewer.get(f"GetFrame/{media}", format="bmp").status == 404

    def test_too_much_at_once_is_refused_before_decoding(self, viewer, media):
        frames = ",".join(["1"] * 256)
        assert viewer.get(f"GetFrame/{media}", frames=frames, force_scale="4000x4000").status == 400

    def test_what_did_not_change_is_not_sent_again(self, viewer, media):
        said = viewer.get(f"GetFrame/{media}")
        later = replace(viewer, headers={**viewer.headers, "If-Modified-Since": said.headers["Last-Modified"]})
        again = later.get(f"GetFrame/{media}")
        assert (again.status, again.body) == (304, b"")
        viewer.patch(f"Media/{media}", {"name": "other"})
        tagged = replace(viewer, headers={**viewer.headers, "If-None-Match": said.headers["ETag"]})
        assert tagged.get(f"GetFrame/{media}").status == 200

    def test_a_frame_is_one_read_of_its_fragment(self, viewer, media, monkeypatch):
        read = []
        real = service_objects.read_range

        def counting(key, offset, length, **more):
            read.append(length)
            return real(key, offset, length, **more)

        viewer.get(f"GetFrame/{media}", frames=0)
        monkeypatch.setattr(service_objects, "read_range", counting)
        viewer.get(f"GetFrame/{media}", frames=60)
        whole = viewer.get(f"Media/{media}").json["media_files"]["streaming"][-1]["size"]
        assert len(read) == 1
        assert sum(read) < whole / 2
        read.clear()
        assert viewer.get(f"GetFrame/{media}", frames="0,1,30,31,60,74").status == 200
        assert len(read) == 1, "neighbouring fragments are read together"
        read.clear()
        assert viewer.get(f"GetFrame/{media}", frames="0,1,60,74").status == 200
        assert len(read) == 2

    def test_what_costs_too_much_is_refused_before_decoding(self, viewer, media, monkeypatch):
        monkeypatch.setattr(drawing, "MOST_SECONDS", 0.01)
        read = []
        monkeypatch.setattr(objects, "read_range", lambda *given, **_: read.append(given))
        frames = ",".join(str(frame) for frame in range(75))
        said = viewer.get(f"GetFrame/{media}", frames=frames, animate=5)
        assert (said.status, said.message.startswith("frames: drawing this takes about")) == (400, True)
        assert "Ask for fewer frames" in said.message
        assert read == []

    def test_decoding_ends_at_its_deadline(self, viewer, media, monkeypatch):
        monkeypatch.setattr(isolation, "ANSWERING", isolation.Limits(seconds=0.01))
        said = viewer.get(f"GetFrame/{media}", frames=",".join(["5", "70"] * 30), animate=5)
        assert (said.status, said.message) == (400, "Working on the file takes longer than allowed.")

    def test_an_image_has_one_frame(self, api, viewer, project):
        url = uploaded(api, project, picture(30, 20), "a.jpg")
        body = {"type": media_type(project, "image"), "name": "a.jpg", "md5": "", "url": url}
        image = api.made(f"Medias/{project}", body)
        assert viewer.get(f"GetFrame/{image}").status == 400
        api.drain()
        assert size(viewer.get(f"GetFrame/{image}")) == (30, 20)
        assert viewer.get(f"GetFrame/{image}", frames="0,1").status == 400

    def test_a_media_without_files_says_so(self, api, viewer, project):
        media = api.made(f"Medias/{project}", {"type": media_type(project), "name": "a.mp4", "md5": ""})
        said = viewer.get(f"GetFrame/{media}")
        assert (said.status, "streaming" in said.message) == (400, True)

    def test_strangers_see_404(self, stranger, media):
        assert stranger.get(f"GetFrame/{media}", format="png").status == 404
