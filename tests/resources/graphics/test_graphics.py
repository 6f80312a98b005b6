"""Pictures of localizations and tracks."""

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from pycocotools import mask as coco

from chalicelib.core.models.definitions import ResolutionConfig
from tests.resources.media.samples import frame_shown, media_type, picture, shade, transcode, uploaded, video
from tests.service import new_project, new_user

WIDTH, HEIGHT, FRAMES = 200, 100, 50


@pytest.fixture(scope="module")
def api():
    """One user, project and film for all tests of this module, which only read them."""
    return new_user(is_staff=True)


@pytest.fixture(scope="module")
def project(api):
    return new_project(api)


@pytest.fixture(scope="module")
def types(api, project):
    video_type = media_type(
        project, streaming_config=[ResolutionConfig(resolution=50), ResolutionConfig(resolution=100)]
    )
    image_type = media_type(project, "image")
    both = {"media_types": [video_type, image_type]}
    made = {"video": video_type, "image": image_type}
    for dtype in ("box", "line", "dot", "poly"):
        made[dtype] = api.made(f"LocalizationTypes/{project}", {"name": dtype, "dtype": dtype, **both})
    for association in ("Localization", "Media"):
        spec = {"name": association, "association": association, **both}
        made[association] = api.made(f"StateTypes/{project}", spec)
    return made


@pytest.fixture(scope="module")
def media(api, project, types):
    said = transcode(api, project, types["video"], video(FRAMES, WIDTH, HEIGHT)).json
    api.drain()
    return said["media_id"]


@pytest.fixture(scope="module")
def image(api, project, types):
    url = uploaded(api, project, picture(WIDTH, HEIGHT), "a.jpg")
    number = api.made(f"Medias/{project}", {"type": types["image"], "name": "a.jpg", "md5": "", "url": url})
    api.drain()
    return number


@pytest.fixture(scope="module")
def make(api, project, types):
    def make(dtype, media, frame=0, **geometry):
        spec = {"type": types[dtype], "media_id": media, "frame": frame, **geometry}
        return api.made(f"Localizations/{project}", spec)[0]

    return make


def box(x=0.25, y=0.25, width=0.2, height=0.4):
    return {"x": x, "y": y, "width": width, "height": height}


def opened(said):
    assert said.status == 200, said.body
    return Image.open(io.BytesIO(said.body))


class TestGetLocalizationGraphic:
    @pytest.mark.parametrize("frame", [0, 24, 25, 49])
    def test_it_is_cut_out_of_its_own_frame(self, api, media, make, frame):
        said = api.get(f"LocalizationGraphic/{make('box', media, frame, **box())}")
        assert said.headers["Content-Type"] == "image/png"
        assert opened(said).size == (40, 40)
        assert frame_shown(said.body) == frame

    @pytest.mark.parametrize(
        ("dtype", "geometry", "size"),
        [
            ("box", box(), (40, 40)),
            ("box", box(width=0.0, height=0.0), (3, 3)),
            ("box", box(x=0.9, y=0.9, width=0.5, height=0.5), (100, 50)),
            ("box", box(0, 0, 1, 1), (200, 100)),
            ("dot", {"x": 0.5, "y": 0.5}, (21, 21)),
            ("line", {"x": 0.5, "y": 0.5, "u": -0.25, "v": 0.25}, (70, 45)),
            ("poly", {"points": [[0.1, 0.1], [0.6, 0.2], [0.3, 0.7]]}, (100, 60)),
        ],
    )
    def test_its_size_follows_from_its_shape(self, api, image, make, dtype, geometry, size):
        found = opened(api.get(f"LocalizationGraphic/{make(dtype, image, **geometry)}")).size
        assert all(abs(side - wanted) <= 1 for side, wanted in zip(found, size, strict=True)), found

    @pytest.mark.parametrize("place", [0.0, 0.001, 0.03, 0.97, 0.999, 1.0])
    def test_a_part_at_the_border_is_shifted_inside_and_keeps_its_size(self, api, image, make, place):
        for x, y in ((place, 0.5), (0.5, place), (place, place)):
            assert opened(api.get(f"LocalizationGraphic/{make('dot', image, x=x, y=y)}")).size == (21, 21)

    def test_margins_of_ones_own(self, api, image, make):
        number = make("box", image, **box())
        query = {"use_default_margins": "False", "margin_x": 5, "margin_y": 0}
        assert opened(api.get(f"LocalizationGraphic/{number}", **query)).size == (50, 40)
        query["margin_y"] = 60_000
        assert opened(api.get(f"LocalizationGraphic/{number}", **query)).size == (50, 100)

    def test_margins_are_left_alone_where_the_default_is_asked_for(self, api, image, make):
        number = make("box", image, **box())
        assert opened(api.get(f"LocalizationGraphic/{number}", margin_x=50, margin_y=50)).size == (40, 40)

    def test_the_part_shown_is_the_part_marked(self, api, project, types, make):
        painted = Image.new("RGB", (100, 100))
        painted.paste((255, 255, 255), (40, 60, 60, 90))
        out = io.BytesIO()
        painted.save(out, "PNG")
        url = uploaded(api, project, out.getvalue(), "a.png")
        number = api.made(f"Medias/{project}", {"type": types["image"], "name": "a.png", "md5": "", "url": url})
        api.drain()
        shape = make("box", number, **box(0.4, 0.6, 0.2, 0.3))
        found = opened(api.get(f"LocalizationGraphic/{shape}"))
        assert found.size == (20, 30)
        assert found.convert("L").getextrema() == (255, 255)
        wider = opened(
            api.get(f"LocalizationGraphic/{shape}", use_default_margins=False, margin_x=1, margin_y=1)
        ).convert("L")
        assert {wider.getpixel(place) for place in ((0, 0), (21, 31), (0, 15), (10, 0))} == {0}
        assert wider.getpixel((1, 1)) == wider.getpixel((20, 30)) == 255

    def test_scales(self, api, image, make):
        number = make("box", image, **box())
        assert opened(api.get(f"LocalizationGraphic/{number}", force_scale="33x44")).size == (33, 44)
        assert opened(api.get(f"LocalizationGraphic/{number}", max_height=10)).size == (10, 10)
        assert opened(api.get(f"LocalizationGraphic/{number}", max_height=50)).size == (40, 40)

    @pytest.mark.parametrize(("form", "start"), [("jpg", b"\xff\xd8\xff"), ("png", b"\x89PNG"), ("gif", b"GIF8")])
    def test_formats(self, api, image, make, form, start):
        number = make("box", image, **box())
        assert api.get(f"LocalizationGraphic/{number}", format=form).body.startswith(start)
        assert api.get(f"LocalizationGraphic/{number}", format="bmp").status == 404

    @pytest.mark.parametrize(
        "query",
        [
            {"use_default_margins": False},
            {"use_default_margins": False, "margin_x": 1},
            {"use_default_margins": False, "margin_x": -1, "margin_y": 1},
            {"force_scale": "x"},
            {"force_scale": "16000x16000"},
            {"max_height": 0},
        ],
    )
    def test_what_cannot_be_is_refused_as_json(self, api, image, make, query):
        said = api.get(f"LocalizationGraphic/{make('box', image, **box())}", **query)
        assert said.status == 400
        assert said.json["message"]

    def test_what_has_no_picture_is_refused(self, api, project, types, media, make):
        assert api.get(f"LocalizationGraphic/{make('box', media)}").status == 400
        assert api.get(f"LocalizationGraphic/{make('poly', media, points=[])}").status == 400
        empty = api.made(f"Medias/{project}", {"type": types["video"], "name": "a.mp4", "md5": ""})
        assert api.get(f"LocalizationGraphic/{make('box', empty, **box())}").status == 400

    def test_what_did_not_change_is_not_sent_again(self, api, image, make):
        number = make("box", image, **box())
        said = api.get(f"LocalizationGraphic/{number}")
        later = replace(api, headers={"Accept": "*/*", "If-Modified-Since": said.headers["Last-Modified"]})
        again = later.get(f"LocalizationGraphic/{number}")
        assert (again.status, again.body) == (304, b"")
        api.patch(f"Localization/{number}", {"width": 0.5})
        tagged = replace(api, headers={"Accept": "*/*", "If-None-Match": said.headers["ETag"]})
        assert opened(tagged.get(f"LocalizationGraphic/{number}")).size == (100, 40)

    def test_who_may(self, api, member, stranger, image, make):
        number = make("box", image, **box())
        assert member("View Only").get(f"LocalizationGraphic/{number}").status == 200
        assert stranger.get(f"LocalizationGraphic/{number}").status == 404
        api.delete(f"Localization/{number}", {"prune": 1})
        assert api.get(f"LocalizationGraphic/{number}").status == 404


class TestGetStateGraphic:
    @pytest.fixture
    def track(self, api, project, types, make):
        def track(media, frames, dtype="box"):
            members = [make(dtype, media, frame, **box()) for frame in frames]
            spec = {"type": types["Localization"], "media_ids": [media], "localization_ids": members}
            return api.made(f"States/{project}", spec)[0]

        return track

    def shades(self, strip, count):
        width = strip.width // count
        grey = strip.convert("L")
        return [grey.getpixel((index * width + width // 2, strip.height // 2)) for index in range(count)]

    def test_tiles_are_in_the_order_of_frames(self, api, media, track):
        frames = [30, 2, 49, 24, 25]
        strip = opened(api.get(f"StateGraphic/{track(media, frames)}", mode="tile"))
        assert strip.size == (5 * 224, 224)
        wanted = [shade(frame) for frame in sorted(frames)]
        assert all(abs(a - b) <= 1 for a, b in zip(self.shades(strip, 5), wanted, strict=True))

    def test_what_is_between_keyframes_is_shown_when_asked_for_and_gaps_are_not(
        self, api, media, track, project, types, make
    ):
        number = track(media, [2, 5, 9])
        api.patch(f"State/{number}", {"localization_ids_add": [make("box", media, 7)]})
        frames = [2, 3, 4, 5, 9]
        for query, wanted in (
            ({}, [2, 5, 9]),
            ({"interpolate": True}, frames),
            ({"interpolate": True, "offset": 3}, [5, 9]),
        ):
            strip = opened(api.get(f"StateGraphic/{number}", mode="tile", **query))
            assert strip.size == (len(wanted) * 224, 224)
            shown = self.shades(strip, len(wanted))
            assert all(abs(a - shade(frame)) <= 1 for a, frame in zip(shown, wanted, strict=True))

    def test_no_more_is_computed_for_an_offset_than_lists_compute(self, api, media, track):
        number = track(media, [2, 9])
        said = api.get(f"StateGraphic/{number}", interpolate=True, offset=100_001)
        assert (said.status, said.json["message"]) == (400, "offset: at most 100000 with interpolate.")
        assert api.get(f"StateGraphic/{number}", interpolate=True, length=1).status == 200

    def test_a_part_of_a_track_in_another_size(self, api, media, track):
        number = track(media, range(10))
        for name in ("force_scale", "forceScale"):
            query = {"mode": "tile", name: "20x30", "offset": 7, "length": 5}
            strip = opened(api.get(f"StateGraphic/{number}", **query))
            assert strip.size == (60, 30)
        assert abs(self.shades(strip, 3)[0] - shade(7)) <= 1

    def test_an_animation_unless_asked_otherwise(self, api, media, track):
        number = track(media, range(6))
        said = api.get(f"StateGraphic/{number}", fps=5)
        assert said.headers["Content-Type"] == "image/gif"
        assert (opened(said).n_frames, opened(said).size, opened(said).info["duration"]) == (6, (224, 224), 200)
        assert api.get(f"StateGraphic/{number}", format="mp4").body[4:8] == b"ftyp"

    def test_two_boxes_of_one_frame_are_two_pictures(self, api, project, types, media, make):
        members = [make("box", media, 3, **box()), make("box", media, 3, **box(x=0.5)), make("box", media, 4, **box())]
        spec = {"type": types["Localization"], "media_ids": [media], "localization_ids": members}
        number = api.made(f"States/{project}", spec)[0]
        assert opened(api.get(f"StateGraphic/{number}", mode="tile", force_scale="10x10")).size == (30, 10)

    def test_images_and_videos_together(self, api, project, types, media, image, make):
        members = [make("box", media, 5, **box()), make("box", image, 0, **box())]
        spec = {"type": types["Localization"], "media_ids": [media, image], "localization_ids": members}
        number = api.made(f"States/{project}", spec)[0]
        strip = opened(api.get(f"StateGraphic/{number}", mode="tile"))
        assert abs(self.shades(strip, 2)[1] - shade(5)) <= 1
        red, green, _ = strip.convert("RGB").getpixel((100, 100))
        assert red > 150 > green

    @pytest.mark.parametrize(
        "query",
        [
            {"mode": "x"},
            {"fps": 0},
            {"length": 101},
            {"length": 0},
            {"offset": -1},
            {"offset": 3},
            {"force_scale": "1"},
            {"force_scale": "16000x10000"},
        ],
    )
    def test_what_cannot_be_is_refused(self, api, media, track, query):
        assert api.get(f"StateGraphic/{track(media, range(3))}", **query).status == 400

    def test_only_tracks_of_boxes(self, api, project, types, media, track):
        other = api.made(f"States/{project}", {"type": types["Media"], "media_ids": [media]})[0]
        assert api.get(f"StateGraphic/{other}").status == 400
        empty = api.made(f"States/{project}", {"type": types["Localization"], "media_ids": [media]})[0]
        assert api.get(f"StateGraphic/{empty}").status == 400
        assert api.get(f"StateGraphic/{track(media, [1], 'dot')}").status == 400

    def test_what_did_not_change_is_not_sent_again(self, api, media, track):
        number = track(media, [1, 2])
        said = api.get(f"StateGraphic/{number}")
        later = replace(api, headers={"Accept": "*/*", "If-Modified-Since": said.headers["Last-Modified"]})
        assert later.get(f"StateGraphic/{number}").status == 304
        member = api.get(f"State/{number}").json["localizations"][0]
        api.patch(f"Localization/{member}", {"x": 0.0})
        tagged = replace(api, headers={"Accept": "*/*", "If-None-Match": said.headers["ETag"]})
        assert tagged.get(f"StateGraphic/{number}").status == 200

    def test_who_may(self, member, stranger, media, track):
        number = track(media, [1])
        assert member("View Only").get(f"StateGraphic/{number}").status == 200
        assert stranger.get(f"StateGraphic/{number}").status == 404


@pytest.fixture(scope="module")
def round_box(api, project, types):
    spec = {"name": "round", "dtype": "box", "media_types": [types["video"], types["image"]]}
    return api.made(f"LocalizationTypes/{project}", {**spec, "refinements": ["ellipse", "mask", "angle"]})


class TestCutOuts:
    def alpha(self, api, number, **query):
        said = api.get(f"LocalizationGraphic/{number}", mask=True, **query)
        assert said.status == 200, said.body
        return np.asarray(Image.open(io.BytesIO(said.body)).convert("RGBA"))[:, :, 3]

    def test_the_outside_of_an_ellipse_is_transparent(self, api, project, image, round_box):
        members = {"x": 0.25, "y": 0.2, "width": 0.5, "height": 0.6, "form": "ellipse"}
        (number,) = api.made(f"Localizations/{project}", {"media_id": image, "type": round_box, "frame": 0, **members})
        alpha = self.alpha(api, number)
        assert alpha.shape == (60, 100)
        assert (alpha[0, 0], alpha[30, 50]) == (0, 255)
        assert alpha.mean() / 255 == pytest.approx(np.pi / 4, abs=0.02)

    def test_of_a_mask_exactly_its_pixels_are_shown(self, api, project, image, round_box):
        found = np.asfortranarray(np.random.default_rng(1).integers(0, 2, (20, 40)), dtype=np.uint8)
        mask = {"size": [20, 40], "counts": coco.encode(found)["counts"].decode()}
        members = {"x": 0.25, "y": 0.2, "width": 0.2, "height": 0.2, "mask": mask}
        (number,) = api.made(f"Localizations/{project}", {"media_id": image, "type": round_box, "frame": 0, **members})
        assert (self.alpha(api, number) == found * 255).all()
        said = api.ask(
            "GET", f"LocalizationGraphic/{number}", mask=True, use_default_margins=False, margin_x=5, margin_y=5
        )
        shown = np.asarray(Image.open(io.BytesIO(said.body)))[:, :, 3]
        assert (shown[5:-5, 5:-5] == found * 255).all()
        assert shown.sum() == found.sum() * 255

    def test_dots_have_no_inside(self, api, project, image, make):
        said = api.get(f"LocalizationGraphic/{make('dot', image, x=0.5, y=0.5)}", mask=True)
        assert (said.status, "no inside" in said.message) == (400, True)
