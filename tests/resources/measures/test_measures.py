"""Dots and lines that two cameras see, measured through HTTP."""

import io
import json

import pytest
from PIL import Image, ImageChops

from chalicelib.core.measuring.rectification import rectify
from chalicelib.video.pictures.drawing import Mesh
from tests import objects
from tests.core.measuring.test_calibrations import opencv_yaml, viame_json, viame_npz
from tests.core.measuring.test_cameras import LEFT, RIG, RIGHT, SIZE, lines
from tests.resources.media.samples import media_type, picture, uploaded
from tests.service import join, new_sibling, new_user

FLOATS = {"length": "Length", "range": "Range", "x": "X", "y": "Y", "z": "Z", "error": "Error"}


class Place:
    """A project with a pair of pictures of a rig, types of lines, dots and tracks, and two layers."""

    def __init__(self, api, project):
        self.api, self.project = api, project
        self.image = media_type(project, "image")
        self.multi = media_type(project, "multi")
        given = [{"name": name, "dtype": "float"} for name in FLOATS.values()] + [{"name": "Note", "dtype": "string"}]
        body = {"media_types": [self.image], "attribute_types": given}
        self.line = api.made(f"LocalizationTypes/{project}", {**body, "name": "line", "dtype": "line"})
        self.dot = api.made(f"LocalizationTypes/{project}", {**body, "name": "dot", "dtype": "dot"})
        track = {"name": "pair", "association": "Localization", "media_types": [self.image]}
        self.track = api.made(f"StateTypes/{project}", track)
        self.version = api.get(f"Versions/{project}").json[0]["id"]
        self.other = api.made(f"Versions/{project}", {"name": "right"})
        self.views = [self._picture(side) for side in ("left", "right")]
        api.drain()
        self.media = api.made(f"Medias/{project}", {"type": self.multi, "name": "rig", "md5": ""})
        assert api.patch(f"Media/{self.media}", {"multi": {"ids": self.views}}).status == 200

    def _picture(self, name):
        return self._imported(name, picture(*SIZE))

    def picture_of(self, name, spots):
        """A media that shows spots of nine pixels, which are 0, 255, 0, at pixels."""
        drawn = Image.new("RGB", SIZE)
        for x, y in spots:
            drawn.paste((0, 255, 0), (round(x) - 4, round(y) - 4, round(x) + 5, round(y) + 5))
        out = io.BytesIO()
        drawn.save(out, "PNG")
        return self._imported(name, out.getvalue())

    def frame(self, **query):
        said = self.api.get(f"GetFrame/{self.media}", **query)
        assert said.status == 200, said.body
        return Image.open(io.BytesIO(said.body)).convert("RGB")

    def _imported(self, name, data):
        url = uploaded(self.api, self.project, data, f"{name}.jpg")
        body = {"type": self.image, "name": f"{name}.jpg", "md5": "", "url": url}
        return self.api.made(f"Medias/{self.project}", body)

    def attach(self, data, name="calibration.yml"):
        """Give the media an attachment."""
        info = self.api.get(f"UploadInfo/{self.project}", media_id=self.media, filename=name).json
        objects.write(info["key"], data)
        file = {"path": info["key"], "name": name, "mime": "text/yaml"}
        assert self.api.post(f"AuxiliaryFiles/{self.media}", file, role="attachment").status in (200, 201)

    def shape(self, side, ends, version=None, **more):
        (x, y), *rest = [(x / SIZE[0], y / SIZE[1]) for x, y in ends]
        body = {"media_id": self.views[side], "frame": 0, "version": version or self.version, "x": x, "y": y, **more}
        if rest:
            body |= {"type": self.line, "u": rest[0][0] - x, "v": rest[0][1] - y}
        else:
            body |= {"type": self.dot}
        said = self.api.post(f"Localizations/{self.project}", body)
        assert said.status == 201, said.body
        return said.json["id"][0]

    def join(self, *numbers):
        body = {"type": self.track, "version": self.version, "localization_ids": list(numbers), "media_ids": self.views}
        said = self.api.post(f"States/{self.project}", body)
        assert said.status == 201, said.body

    def pair(self, pixels, *, swapped=False):
        """A joined pair of lines or dots, of pixels (left, right) of each end."""
        here, there = [one for one, _ in pixels], [two for _, two in pixels]
        found = self.shape(0, here), self.shape(1, there[::-1] if swapped else there)
        self.join(*found)
        return found

    def measure(self, **more):
        body = {"media_ids": [self.media], "file": "calibration.yml", "attributes": FLOATS, **more}
        body = {name: value for name, value in body.items() if value is not None}
        dry = {"dry_run": True} if body.pop("dry", False) else {}
        return self.api.patch(f"StereoMeasurements/{self.project}", body, **dry)

    def values(self, number):
        found = self.api.get(f"Localization/{number}").json["attributes"]
        return dict.fromkeys(FLOATS.values()) | found


@pytest.fixture
def place(api, project):
    return Place(api, project)


def test_joined_lines_get_their_length_in_both_views(place):
    place.attach(opencv_yaml())
    made = [
        (long, place.pair(pixels, swapped=number % 2 == 1)) for number, (long, pixels) in enumerate(lines(6, seed=5))
    ]
    said = place.measure()
    assert (said.status, said.json["matched"], said.json["changed"]) == (200, 12, 12), said.body
    for long, numbers in made:
        left, right = map(place.values, numbers)
        assert left == right
        assert left["Length"] == pytest.approx(long, rel=0.005)
        assert left["Range"] == pytest.approx((left["X"] ** 2 + left["Y"] ** 2 + left["Z"] ** 2) ** 0.5)
        assert left["Error"] < 0.01


def test_ends_at_one_height_are_measured_as_they_are_drawn(place):
    """On a level rig a level line fits with its ends in either order; one of them is many times as long."""
    level = {"R": [1, 0, 0, 0, 1, 0, 0, 0, 1], "T": [-0.5, 0, 0], "image_width": SIZE[0], "image_height": SIZE[1]}
    for side in ("left", "right"):
        level |= {f"{name}_{side}": value for name, value in (("fx", 1400), ("fy", 1400), ("cx", 960), ("cy", 540))}
    place.attach(json.dumps(level).encode())
    for middle in (-0.4, 0.5, 0.1):
        ends = [(960 + 1400 * (middle + half) / 3, 586.7) for half in (-0.21, 0.21)]
        left, _ = place.pair([((x, y), (x - 1400 * 0.5 / 3, y)) for x, y in ends])
        assert place.measure().status == 200
        assert place.values(left)["Length"] == pytest.approx(0.42, rel=1e-3)


def test_a_dot_gets_its_place_and_what_is_not_joined_stays_as_it_is(place):
    place.attach(viame_npz())
    point = (0.4, -0.2, 3.0)
    pixels = RIG.left.project(point), RIG.right.project(RIG.to_right(point))
    first = place.shape(0, [pixels[0]], elemental_id="5b6c2f0e-7e7a-4a53-9d5e-111111111111")
    second = place.shape(1, [pixels[1]], version=place.other, elemental_id="5b6c2f0e-7e7a-4a53-9d5e-111111111111")
    alone = place.shape(0, [pixels[0]])
    said = place.measure(scale=1000.0)
    assert (said.status, said.json["changed"]) == (200, 2), said.body
    found = place.values(first)
    assert [found[name] for name in "XYZ"] == pytest.approx([400, -200, 3000], abs=0.5)
    assert found["Length"] is None
    assert place.values(second)["Range"] == pytest.approx(1000 * (0.16 + 0.04 + 9) ** 0.5, abs=0.5)
    assert place.values(alone)["Range"] is None


def test_a_calibration_of_other_pictures_is_scaled_to_those_of_the_media(place):
    ((long, pixels),) = lines(1, seed=8)
    # the calibration is of pictures of half the size
    half = {
        f"{name}_{side}": getattr(camera, name) / 2
        for side, camera in (("left", LEFT), ("right", RIGHT))
        for name in ("fx", "fy", "cx", "cy")
    }
    place.attach(viame_json(image_width=960, image_height=540, **half))
    left, _ = place.pair(pixels)
    assert place.measure(dry=True).json["changed"] == 2
    said = place.api.post(
        f"StereoMeasure/{place.media}",
        {
            "file": "calibration.yml",
            "left": [[x / SIZE[0], y / SIZE[1]] for (x, y), _ in pixels],
            "right": [[x / SIZE[0], y / SIZE[1]] for _, (x, y) in pixels],
        },
    )
    assert said.status == 200, said.body
    assert said.json["length"] == pytest.approx(long, rel=1e-4)
    for (_, (x, y)), line in zip(pixels, said.json["epipolar"], strict=True):
        near = min(((px - x / SIZE[0]) ** 2 + (py - y / SIZE[1]) ** 2) ** 0.5 for px, py in line)
        assert near < 0.1
    assert place.values(left)["Length"] is None


def test_shapes_that_cannot_be_the_same_thing_are_named_and_nothing_changes(place):
    place.attach(opencv_yaml())
    good = place.pair(next(lines(1))[1])
    bad = place.pair([((200.0, 500.0), (1700.0, 500.0)), ((300.0, 500.0), (1750.0, 520.0))])
    said = place.measure()
    assert said.status == 400
    assert place.values(good[0])["Length"] is None
    tried = place.measure(dry=True).json
    assert {each["id"] for each in tried["refusals"]} == set(bad)
    assert "before both cameras" in tried["refusals"][0]["reason"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"file": None}, "give one of them"),
        ({"file": "missing.yml"}, "no attachment"),
        ({"attributes": {"length": "Lenght"}}, "no type has this attribute"),
        ({"attributes": {"length": "Note"}}, "need float"),
        ({"attributes": {}}, "attributes"),
        ({"attributes": {"width": "Length"}}, "attributes"),
        ({"scale": 0}, "scale"),
    ],
)
def test_what_is_wrong_is_refused_with_its_name(place, more, words):
    place.attach(opencv_yaml())
    place.attach(b"nothing", "broken.yml")
    said = place.measure(**more)
    assert (said.status, words in said.message + said.json["details"]) == (400, True), said.body


def test_a_media_without_two_cameras_and_a_broken_file_are_refused(place):
    place.attach(b"nothing", "broken.yml")
    assert "calibration" in place.measure(file="broken.yml").message
    assert "two cameras" in place.measure(media_ids=[place.views[0]]).message


def test_who_may_not_see_the_media_or_edit_is_refused(place, api, project):
    place.attach(opencv_yaml())
    stranger, viewer = new_user(), new_user()
    join(viewer, project, "View Only")
    join(stranger, new_sibling(api, project), "View Only")
    body = {"file": "calibration.yml", "left": [[0.5, 0.5]]}
    assert viewer.post(f"StereoMeasure/{place.media}", body).status == 200
    assert stranger.post(f"StereoMeasure/{place.media}", body).status in (403, 404)
    patch = {"media_ids": [place.media], "file": "calibration.yml", "attributes": FLOATS}
    assert viewer.patch(f"StereoMeasurements/{project}", patch).status == 403


def test_rectified_pictures_have_what_both_cameras_see_on_one_row(place):
    """Two spots at each place, drawn as the cameras see them, are found in the rectified pictures."""
    points = [(-0.5, -0.4, 3.0), (0.2, 0.35, 2.5), (0.6, 0.0, 4.0)]
    seen = [[RIG.left.project(point) for point in points], [RIG.right.project(RIG.to_right(point)) for point in points]]
    place.views = [place.picture_of(f"spots{side}", spots) for side, spots in enumerate(seen)]
    place.api.drain()
    assert place.api.patch(f"Media/{place.media}", {"multi": {"ids": place.views}}).status == 200
    place.attach(opencv_yaml())
    found = place.api.get(f"StereoRectification/{place.media}", file="calibration.yml")
    assert (found.status, found.json["size"], found.json["is_vertical"]) == (200, [*SIZE], False)
    assert [len(mesh) for mesh in found.json["meshes"]] == [49 * 28] * 2
    pictures = [place.frame(part=part, rectified_file="calibration.yml") for part in (0, 1)]
    rectified = rectify(RIG, (SIZE, SIZE))
    for left, right in zip(*seen, strict=True):
        places = [rectified.place(0, left), rectified.place(1, right)]
        assert places[0][1] == pytest.approx(places[1][1], abs=1e-6)
        for shown, (x, y) in zip(pictures, places, strict=True):
            assert shown.size == SIZE
            assert shown.getpixel((round(x), round(y)))[1] > 200
            assert shown.getpixel((round(x), round(y) + 12))[1] < 60
    assert place.frame(rectified_file="calibration.yml").size == (2 * SIZE[0], SIZE[1])


def test_a_mesh_warps_pictures_of_any_size_to_a_pixel():
    """Cells end at whole pixels of the picture: 100 columns by 7 cells."""
    ramp = Image.merge("RGB", [Image.linear_gradient("L").rotate(90).resize((100, 64))] * 3)
    places = tuple((column / 7, row / 5) for row in range(6) for column in range(8))
    shown = Mesh(7, 5, places).warp(ramp)
    assert max(ImageChops.difference(ramp, shown).getextrema())[1] <= 1
    few = Image.new("RGB", (3, 2), (9, 9, 9))
    assert Mesh(7, 5, places).warp(few).size == (3, 2)


def test_what_cannot_be_rectified_is_named(place):
    place.attach(opencv_yaml())

    def refused(path, **query):
        said = place.api.get(path, **query)
        assert said.status == 400, said.body
        return said.json["message"]

    frame = f"GetFrame/{place.media}"
    assert "part: the rectified cameras are 0 and 1" in refused(frame, rectified_file="calibration.yml", part=2)
    assert "no attachment with the name 'other.yml'" in refused(frame, rectified_file="other.yml")
    assert "rectified_file, rectified_file_id: give one" in refused(
        frame, rectified_file="calibration.yml", rectified_file_id=1
    )
    assert "shows no other media" in refused(f"GetFrame/{place.views[0]}", rectified_file="calibration.yml")
    assert "does not show two cameras" in refused(f"StereoRectification/{place.views[0]}", file="calibration.yml")
    assert "file, file_id: give one" in refused(f"StereoRectification/{place.media}")
    place.attach(viame_json(image_width=1080, image_height=1920), "portrait.json")
    for said in (
        refused(f"StereoRectification/{place.media}", file="portrait.json"),
        place.measure(file="portrait.json").json["message"],
    ):
        assert "is of pictures of 1080 x 1920 pixels, and media" in said
        assert "has 1920 x 1080; the ratio of the sides must be the same" in said
    turned = json.loads(viame_json()) | {"R": [-1, 0, 0, 0, 1, 0, 0, 0, -1]}
    place.attach(json.dumps(turned).encode(), "turned.json")
    assert "opposite directions" in refused(f"StereoRectification/{place.media}", file="turned.json")
