"""Shapes in the picture of one camera, measured through HTTP."""

import json
import math

import pytest

from chalicelib.core.measuring.cameras import Camera
from chalicelib.core.measuring.planes import Ground
from chalicelib.core.values import rle
from tests import objects
from tests.core.measuring.test_figures import seen
from tests.resources.media.samples import media_type, picture, uploaded
from tests.service import join, new_sibling, new_user

SIZE = WIDTH, HEIGHT = 800, 600
MEASURES = ("length", "width", "area", "perimeter", "length_error", "width_error", "area_error", "perimeter_error")


class Place:
    """A project with a picture, types of lasers and bars, and types whose shapes are measured."""

    def __init__(self, api, project):
        self.api, self.project = api, project
        floats = [{"name": name, "dtype": "float"} for name in MEASURES]
        self.image = media_type(project, "image", attribute_types=[{"name": "Altitude", "dtype": "float"}])
        self.types = {
            name: api.made(
                f"LocalizationTypes/{project}",
                {"name": name, "dtype": dtype, "media_types": [self.image], "attribute_types": attributes, **more},
            )
            for name, dtype, attributes, more in (
                ("laser", "dot", [], {}),
                ("bar", "line", [{"name": "Known", "dtype": "float"}], {}),
                ("fish", "line", [*floats, {"name": "Note", "dtype": "string"}], {}),
                ("plot", "box", floats, {"refinements": ["mask", "angle", "ellipse"]}),
                ("coral", "poly", floats, {"refinements": ["holes", "open"]}),
            )
        }
        self.version = api.get(f"Versions/{project}").json[0]["id"]
        url = uploaded(api, project, picture(*SIZE), "seabed.jpg")
        body = {"type": self.image, "name": "seabed.jpg", "md5": "", "url": url}
        self.media = api.made(f"Medias/{project}", body)
        api.drain()

    def attach(self, data, name):
        """Give the picture an attachment."""
        info = self.api.get(f"UploadInfo/{self.project}", media_id=self.media, filename=name).json
        objects.write(info["key"], data)
        said = self.api.post(f"AuxiliaryFiles/{self.media}", {"path": info["key"], "name": name}, role="attachment")
        assert said.status in (200, 201)

    def draw(self, name, frame=0, **shape):
        body = {"media_id": self.media, "type": self.types[name], "frame": frame, "version": self.version, **shape}
        said = self.api.post(f"Localizations/{self.project}", body)
        assert said.status == 201, said.body
        return said.json["id"][0]

    def line(self, name, start, end, **more):
        return self.draw(name, **line(start, end), **more)

    def lasers(self, start, end, **more):
        for x, y in (start, end):
            self.draw("laser", x=x / WIDTH, y=y / HEIGHT, **more)

    def measure(self, scale, *names, dry=False, **more):
        body = {"media_ids": [self.media], "scale": scale, "attributes": {name: name for name in names}, **more}
        return self.api.patch(f"ScaledMeasurements/{self.project}", body, **({"dry_run": True} if dry else {}))

    def once(self, scale, shape, **more):
        return self.api.post(f"ScaledMeasure/{self.media}", {"scale": scale, "shape": shape, **more})

    def by_lasers(self, length=0.1, **more):
        return {"reference": {"type": self.types["laser"], "length": length, **more}}

    def values(self, number):
        found = self.api.get(f"Localization/{number}").json["attributes"]
        return {name: value for name, value in found.items() if value is not None}


def line(start, end):
    """The members of a line between two pixels."""
    (x, y), (right, bottom) = start, end
    return {"x": x / WIDTH, "y": y / HEIGHT, "u": (right - x) / WIDTH, "v": (bottom - y) / HEIGHT}


@pytest.fixture
def place(api, project):
    return Place(api, project)


def test_lasers_measure_all_shapes_of_their_frame(place):
    place.lasers((300, 300), (400, 300))  # 0.1 m: a millimetre for each pixel
    fish = place.line("fish", (100, 100), (400, 500))
    plot = place.draw("plot", x=0.25, y=0.25, width=0.5, height=0.5)
    ring = [[0.5, 0.0], [1.0, 0.0], [1.0, 0.5], [0.5, 0.5]]
    hole = [[0.6, 0.1], [0.7, 0.1], [0.7, 0.2], [0.6, 0.2]]
    coral = place.draw("coral", points=ring, holes=[hole])
    said = place.measure(place.by_lasers(), "length", "width", "area", "length_error")
    assert (said.status, said.json["matched"], said.json["changed"]) == (200, 3, 3), said.body
    assert place.values(fish) == pytest.approx({"length": 0.5, "length_error": math.sqrt(2e-6 + 0.5**2 * 2e-4)})
    assert place.values(plot) == pytest.approx(
        {"length": 0.4, "width": 0.3, "area": 0.12, "length_error": math.sqrt(2e-6 + 0.4**2 * 2e-4)}
    )
    found = place.values(coral)
    assert found["area"] == pytest.approx(0.4 * 0.3 - 0.08 * 0.06)
    assert (found["length"], found["width"]) == (pytest.approx(0.5), pytest.approx(0.3))


def test_a_line_of_known_length_measures_masks_and_turned_ellipses(place):
    place.line("bar", (10, 10), (10, 210), attributes={"Known": 50.0})  # a quarter of a unit for each pixel
    runs = [0, 20, 10, 20]  # two columns of 30 pixels, 20 inside in the first and in the second
    mask = {"size": [30, 2], "counts": rle.encode([*runs, 10])}
    masked = place.draw("plot", x=100 / WIDTH, y=200 / HEIGHT, width=2 / WIDTH, height=30 / HEIGHT, mask=mask)
    ellipse = {"x": 0.25, "y": 0.25, "width": 0.25, "height": 0.2, "angle": 30.0, "form": "ellipse"}
    turned = place.draw("plot", **ellipse)
    scale = {"reference": {"type": place.types["bar"], "attribute": "Known"}, "point_error": 0.5}
    said = place.measure(scale, "area", "length", "width", types=[place.types["plot"]])
    assert (said.status, said.json["changed"]) == (200, 2), said.body
    found = place.values(masked)
    assert found["area"] == pytest.approx(40 / 16)
    assert found["width"] == pytest.approx(2 / 4)
    assert found["length"] == pytest.approx(math.hypot(20, 2) / 4)
    assert place.values(turned) == pytest.approx(
        {"length": 200 / 4, "width": 120 / 4, "area": math.pi * 100 * 60 / 16}, rel=1e-3
    )


def test_altitude_of_an_attribute_and_a_tilt_measure_on_the_ground(place):
    above = {"attribute": "Altitude", "field_of_view": 70.0, "tilt": 25.0, "altitude_error": 0.1}
    ground = Ground(size=SIZE, altitude=2.5, field_of_view=70.0, tilt=25.0)
    ends = seen(ground, (-0.4, -1.0)), seen(ground, (0.2, -0.2))
    fish = place.line("fish", *ends)
    assert place.measure({"above": above}, "length").json["matched"] == 0
    assert place.api.patch(f"Media/{place.media}", {"attributes": {"Altitude": 2.5}}).status == 200
    said = place.measure({"above": above, "point_error": 0}, "length", "length_error")
    assert (said.status, said.json["changed"]) == (200, 1), said.body
    assert place.values(fish) == pytest.approx({"length": 1.0, "length_error": 0.04})


def test_altitude_comes_from_telemetry(place):
    info = place.api.get(f"UploadInfo/{place.project}", media_id=place.media, filename="rov.csv").json
    objects.write(info["key"], b"time,alt\n0,2.0\n10,4.0\n")
    file = {"path": info["key"], "name": "rov.csv", "mime": "text/csv"}
    assert place.api.post(f"AuxiliaryFiles/{place.media}", file, role="attachment").status in (200, 201)
    above = {"telemetry": {"file": "rov.csv", "column": "alt"}, "field_of_view": 90.0}
    said = place.once({"above": above}, line((0, 300), (800, 300)))
    assert said.status == 200, said.body
    assert said.json["length"] == pytest.approx(4.0)
    assert said.json["pixel"] == pytest.approx(4 / 800)
    assert "width" not in said.json or said.json["width"] is None


WATER = Camera(700.0, 690.0, 410.0, 290.0, (-0.31, 0.12, 0.001, -0.0007, 0.05))
"""A wide lens with barrel distortion, of pictures twice as large as those of the place."""


def calibration(**more):
    matrix = [2 * WATER.fx, 0, 2 * WATER.cx, 0, 2 * WATER.fy, 2 * WATER.cy, 0, 0, 1]
    given = {"camera_matrix": {"rows": 3, "cols": 3, "data": matrix}, "image_width": 1600}
    given |= {"image_height": 1200, "distortion_coefficients": {"data": list(WATER.distortion)}, **more}
    return json.dumps(given).encode()


def test_the_distortion_of_the_lens_is_taken_out(place):
    place.attach(calibration(), "lens.json")
    lens = {"file": "lens.json"}
    # a bar of 0.6 m in the corner of the picture, 2 m below
    start, end = (WATER.project((x, y, 2.0)) for x, y in ((-0.95, -0.7), (-0.35, -0.7)))
    shape = line(start, end)
    above = {"above": {"altitude": 2.0}, "lens": lens}
    assert place.once(above, shape).json["length"] == pytest.approx(0.6, rel=1e-6)
    view = 2 * math.degrees(math.atan(WIDTH / 2 / WATER.fx))
    crooked = place.once({"above": {"altitude": 2.0, "field_of_view": view}}, shape).json["length"]
    assert abs(crooked / 0.6 - 1) > 0.02
    place.lasers(*(WATER.project((x, 0.0, 2.0)) for x in (-0.05, 0.05)))
    fish = place.line("fish", start, end)
    assert place.measure({**place.by_lasers(), "lens": lens}, "length").status == 200
    assert place.values(fish)["length"] == pytest.approx(0.6, rel=1e-6)


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ({"above": {"altitude": 1, "field_of_view": 60}, "lens": {"file": "lens.json"}}, "field_of_view: give it, or"),
        ({"above": {"altitude": 1}}, "field_of_view: give it, or scale.lens"),
        ({"above": {"altitude": 1}, "lens": {}}, "scale.lens.file, scale.lens.file_id: give one"),
        ({"above": {"altitude": 1}, "lens": {"file": "no.json"}}, "no attachment with the name 'no.json'"),
        ({"above": {"altitude": 1}, "lens": {"file": "bad.json"}}, "focal length"),
        ({"above": {"altitude": 1}, "lens": {"file": "folded.json"}}, "the lens"),
    ],
)
def test_a_lens_that_cannot_be_used_is_refused_with_its_reason(place, scale, words):
    place.attach(calibration(), "lens.json")
    place.attach(calibration(camera_matrix=[[0, 0, 1], [0, 1, 1], [0, 0, 1]]), "bad.json")
    place.attach(calibration(distortion_coefficients=[-50, 0, 0, 0]), "folded.json")
    said = place.once(scale, line((1, 1), (700, 500)))
    assert (said.status, words in said.message) == (400, True), said.body


def test_a_lens_may_be_a_file_of_the_project_and_of_one_side_of_two(place):
    kind = place.api.made(f"FileTypes/{place.project}", {"name": "Calibration"})
    sides = {"left": Camera(900.0, 900.0, 400.0, 300.0), "right": WATER}
    members = {f"{name}_{side}": getattr(one, name) for side, one in sides.items() for name in ("fx", "fy", "cx", "cy")}
    members |= dict(zip(("k1_right", "k2_right", "p1_right", "p2_right", "k3_right"), WATER.distortion, strict=True))
    number = place.api.made(f"Files/{place.project}", {"name": "rig.json", "description": "", "type": kind})
    key = place.api.get(f"UploadInfo/{place.project}", filename="rig.json", file_id=number).json["key"]
    objects.write(key, json.dumps(members).encode())
    assert place.api.patch(f"File/{number}", {"path": key}).status == 200
    shape = line(*(WATER.project((x, 0.5, 2.0)) for x in (-0.9, 0.9)))
    scale = {"above": {"altitude": 2.0}, "lens": {"file_id": number, "side": "right"}}
    assert place.once(scale, shape).json["length"] == pytest.approx(1.8, rel=1e-6)
    scale["lens"]["file_id"] = 999_999
    assert place.once(scale, shape).status == 404


def test_the_nearest_reference_within_its_frames_counts(place):
    place.api.patch(f"Media/{place.media}", {"num_frames": 100})
    place.lasers((300, 300), (400, 300), frame=10)
    place.lasers((300, 300), (500, 300), frame=20)
    shape = line((0, 300), (400, 300))
    lengths = {}
    for frame in (0, 4, 10, 14, 16, 40):
        said = place.once(place.by_lasers(frames=6), shape, frame=frame)
        lengths[frame] = round(said.json["length"], 6) if said.status == 200 else said.message
    assert [lengths[frame] for frame in (4, 10, 14, 16)] == [0.4, 0.4, 0.4, 0.2]
    assert all("not known on frame" in lengths[frame] for frame in (0, 40))


def test_shapes_that_see_no_ground_are_named_and_nothing_changes(place):
    above = {"altitude": 2.0, "field_of_view": 100.0, "tilt": 70.0}
    good = place.line("fish", (300, 500), (500, 500))
    bad = place.line("fish", (300, 10), (500, 500))
    said = place.measure({"above": above}, "length")
    assert said.status == 400
    assert place.values(good) == {}
    tried = place.measure({"above": above}, "length", dry=True).json
    assert [each["id"] for each in tried["refusals"]] == [bad]
    assert "above the horizon" in tried["refusals"][0]["reason"]
    assert "above the horizon" in place.once({"above": above}, line((300, 10), (500, 500))).message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scale": {}}, "either reference or above"),
        ({"scale": {"above": {"field_of_view": 60}}}, "one of altitude"),
        ({"scale": {"above": {"field_of_view": 180, "altitude": 1}}}, "field_of_view"),
        ({"scale": {"above": {"field_of_view": 60, "altitude": 0}}}, "altitude"),
        ({"scale": {"reference": {"type": 999_999, "length": 1}}}, "no localization type 999999"),
        ({"scale": {"above": {"field_of_view": 60, "telemetry": {"file": "x", "column": "y"}}}}, "no attachment"),
        ({"attributes": {}}, "attributes"),
        ({"attributes": {"length": "Note"}}, "need float"),
        ({"attributes": {"length": "Lenght"}}, "no type has this attribute"),
        ({"types": [999_999]}, "no localization type 999999"),
        ({"media_query": "x=1"}, "either media_ids or media_query"),
    ],
)
def test_what_is_wrong_is_refused_with_its_name(place, change, words):
    body = {"media_ids": [place.media], "scale": {"above": {"altitude": 1, "field_of_view": 60}}}
    body |= {"attributes": {"length": "length"}} | change
    said = place.api.patch(f"ScaledMeasurements/{place.project}", body)
    assert (said.status, words in said.message + said.json["details"]) == (400, True), said.body


def test_numbers_that_cannot_be_a_scale_are_left_out(place):
    place.lasers((300, 300), (300 + 1e-200, 300))
    shape = line((0, 300), (400, 300))
    assert "not known on frame" in place.once(place.by_lasers(), shape).message
    above = {"above": {"attribute": "Altitude", "field_of_view": 70.0}}
    for altitude in (1e300, -2.0, 0.0):
        place.api.patch(f"Media/{place.media}", {"attributes": {"Altitude": altitude}})
        assert "not known on frame" in place.once(above, shape).message


def test_references_that_are_none_are_refused_with_their_reason(place):
    shape = line((0, 300), (400, 300))
    place.draw("laser", x=0.5, y=0.5)
    assert "has 1 dots" in place.once(place.by_lasers(), shape).message
    for reference, words in (
        ({"type": place.types["plot"], "length": 1}, "lines or dots"),
        ({"type": place.types["bar"]}, "either length or attribute"),
        ({"type": place.types["laser"], "attribute": "Known"}, "no length of their own"),
    ):
        assert words in place.once({"reference": reference}, shape).message
    above = {"above": {"altitude": 1, "field_of_view": 60}}
    assert "line, box or polygon" in place.once(above, {"x": 0.5, "y": 0.5}).message
    assert "line, box or polygon" in place.once(above, {}).message
    for counts in ("~~", rle.encode([0, 10**15])):
        mask = {"size": [60, 80], "counts": counts}
        said = place.once(above, {"x": 0.5, "y": 0.5, "width": 0.1, "height": 0.1, "mask": mask})
        assert (said.status, "mask.counts" in said.message) == (400, True)


def test_who_may_not_see_the_media_or_edit_is_refused(place, api, project):
    stranger, viewer = new_user(), new_user()
    join(viewer, project, "View Only")
    join(stranger, new_sibling(api, project), "View Only")
    scale = {"above": {"altitude": 1, "field_of_view": 60}}
    body = {"scale": scale, "shape": line((0, 0), (10, 0))}
    assert viewer.post(f"ScaledMeasure/{place.media}", body).status == 200
    assert stranger.post(f"ScaledMeasure/{place.media}", body).status in (403, 404)
    patch = {"media_ids": [place.media], "scale": scale, "attributes": {"length": "length"}}
    assert viewer.patch(f"ScaledMeasurements/{project}", patch).status == 403
