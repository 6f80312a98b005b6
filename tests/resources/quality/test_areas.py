"""Areas and paths: masks are compared by pixels, polygons with their holes, polylines and skeletons by distance."""

import random

import pytest

from chalicelib.core.values import rle
from chalicelib.core.values.refinements import corners
from chalicelib.resources.quality import matching
from chalicelib.resources.quality.matching import Shape
from tests.resources.media.samples import media_type

WIDE, HIGH = 96, 64


def mask_shape(number, pixels):
    """A shape of some pixels (x, y) of a picture of WIDE x HIGH; its box is the smallest around them."""
    xs, ys = [x for x, _ in pixels], [y for _, y in pixels]
    left, top, right, bottom = min(xs), min(ys), max(xs) + 1, max(ys) + 1
    columns = bytes((x, y) in pixels for x in range(left, right) for y in range(top, bottom))
    mask = (bottom - top, right - left, rle.encode(rle.runs_of(columns)))
    return Shape(number, "box", "", (left / WIDE, top / HIGH, right / WIDE, bottom / HIGH), mask=mask)


def test_the_overlap_of_random_masks_is_that_of_their_sets_of_pixels():
    chance = random.Random(11)
    for _ in range(200):
        left, top = chance.randrange(40), chance.randrange(30)
        area = [(left + x, top + y) for x in range(chance.randint(1, 40)) for y in range(chance.randint(1, 30))]
        one, two = ({*chance.sample(area, chance.randint(1, len(area)))} for _ in range(2))
        found = matching.similarity(mask_shape(1, one), mask_shape(2, two), 0.02)
        assert found == pytest.approx(len(one & two) / len(one | two))


def test_a_mask_and_a_plain_box_are_compared_by_area():
    pixels = {(x, y) for x in range(10, 20) for y in range(10, 20) if x < 15}
    whole = Shape(2, "box", "", (10 / WIDE, 10 / HIGH, 20 / WIDE, 20 / HIGH))
    assert matching.similarity(mask_shape(1, pixels), whole, 0.02) == pytest.approx(0.5)


def test_a_mask_larger_than_the_grid_is_compared_on_fewer_cells():
    counts = rle.encode([0, 3000 * 2000])
    one = Shape(1, "box", "", (0, 0, 1, 1), mask=(2000, 3000, counts))
    half = Shape(2, "box", "", (0, 0, 0.5, 1), mask=(2000, 1500, rle.encode([0, 1500 * 2000])))
    assert matching.similarity(one, half, 0.02) == pytest.approx(0.5, abs=0.01)


def test_holes_of_polygons_are_no_area():
    square = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    hole = ((0.25, 0.0), (0.75, 0.0), (0.75, 1.0), (0.25, 1.0))
    one, two = (Shape(n, "poly", "", (0, 0, 1, 1), square, holes=holes) for n, holes in ((1, ()), (2, (hole,))))
    assert matching.similarity(one, two, 0.02) == pytest.approx(0.5, abs=0.01)


def test_polylines_have_no_direction_and_no_preference_for_corners():
    one = Shape(1, "path", "", (0, 0, 1, 0), ((0, 0), (1, 0)))
    two = Shape(2, "path", "", (0, 0.01, 1, 0.01), ((1, 0.01), (0.3, 0.01), (0, 0.01)))
    assert matching.similarity(one, two, 0.02) == pytest.approx(0.5)


def test_skeletons_are_compared_point_by_point():
    one = Shape(1, "skeleton", "", (0, 0, 1, 0), ((0, 0), (1, 0)))
    two = Shape(2, "skeleton", "", (0, 0, 1, 0.01), ((0, 0), (1, 0.01)))
    assert matching.similarity(one, two, 0.02) == pytest.approx(0.75)
    assert matching.similarity(one, Shape(3, "skeleton", "", (0, 0, 0, 0), ((0, 0),)), 0.02) == 0


def test_a_report_compares_masks_by_their_pixels(api, project):
    """Two masks in the same box, which share no pixel, are no pair."""
    image = media_type(project, "image")
    media = api.made(f"Medias/{project}", {"type": image, "name": "a.png", "md5": ""})
    api.patch(f"Media/{media}", {"width": WIDE, "height": HIGH})
    kind = {"name": "m", "dtype": "box", "media_types": [image], "refinements": ["mask"]}
    kind = api.made(f"LocalizationTypes/{project}", kind)
    layers = [api.made(f"Versions/{project}", {"name": name}) for name in ("truth", "trial")]
    whole, half = rle.encode([0, 80]), [rle.encode([0, 40, 40]), rle.encode([40, 40])]
    box = {"media_id": media, "type": kind, "frame": 0, "width": 10 / WIDE, "height": 8 / HIGH}
    for version, masks in zip(layers, ((whole, half[0]), (whole, half[1])), strict=True):
        specs = [
            {**box, "version": version, "x": 20 * n / WIDE, "y": 0, "mask": {"size": [8, 10], "counts": counts}}
            for n, counts in enumerate(masks)
        ]
        assert api.post(f"Localizations/{project}", specs).status == 201
    uid = api.post(f"QualityReports/{project}", {"reference": layers[0], "versions": layers[1:]}).json["uid"]
    api.drain()
    (result,) = api.get(f"QualityReport/{uid}").json["results"]
    assert [result["overall"][name] for name in ("matched", "missing", "extra", "mean_iou")] == [1, 1, 1, 1.0]


def turned(number, box, angle, size=(WIDE, HIGH)):
    left, top, width, height = box
    found = tuple(corners(box, angle, size))
    xs, ys = zip(*found, strict=True)
    bounds = (min(xs), min(ys), max(xs), max(ys)) if angle else (left, top, left + width, top + height)
    return Shape(number, "box", "", bounds, corners=found if angle else ())


def test_a_square_and_itself_turned_by_half_a_right_angle_share_an_octagon():
    one, two = (turned(n, (0.3, 0.3, 0.4, 0.4), angle, (100, 100)) for n, angle in ((1, 0), (2, 45)))
    shared = 2 * (2**0.5 - 1)
    assert matching.similarity(one, two, 0.02) == pytest.approx(shared / (2 - shared))
    assert matching.similarity(two, one, 0.02) == pytest.approx(shared / (2 - shared))


def test_turned_boxes_overlap_as_their_outlines_drawn_as_polygons():
    chance = random.Random(4)
    for _ in range(200):
        place = [(chance.uniform(0.2, 0.4), chance.uniform(0.2, 0.4), chance.uniform(0.1, 0.4), 0.3) for _ in range(2)]
        one, two = (turned(n, box, chance.uniform(-180, 180)) for n, box in enumerate(place))
        found = matching.similarity(one, two, 0.02)
        drawn = (Shape(each.id, "poly", "", each.box, each.corners) for each in (one, two))
        assert found == pytest.approx(matching.similarity(*drawn, 0.02), abs=0.03)
        assert matching.similarity(one, one, 0.02) == pytest.approx(1)


def test_turned_boxes_of_layers_are_compared_as_they_lie(api, project):
    video = media_type(project)
    media = api.made(f"Medias/{project}", {"type": video, "name": "a.mp4", "md5": ""})
    api.patch(f"Media/{media}", {"width": 200, "height": 100})
    spec = {"name": "b", "dtype": "box", "media_types": [video], "refinements": ["angle"]}
    kind = api.made(f"LocalizationTypes/{project}", spec)
    layers = [api.made(f"Versions/{project}", {"name": name}) for name in ("one", "same", "across")]
    box = {"media_id": media, "type": kind, "frame": 0, "x": 0.3, "y": 0.4, "width": 0.4, "height": 0.2}
    boxes = [{**box, "version": layer, "angle": angle} for layer, angle in zip(layers, (30, 30, -60), strict=True)]
    assert api.post(f"Localizations/{project}", boxes).status == 201
    body = {"reference": layers[0], "versions": layers[1:], "iou": 0.1}
    report = api.post(f"QualityReports/{project}", body).json["uid"]
    api.drain()
    same, across = api.get(f"QualityReport/{report}").json["results"]
    assert same["overall"]["mean_iou"] == pytest.approx(1)
    # 80 by 20 pixels each, crossing at a right angle: 400 of 2,800
    assert across["overall"]["mean_iou"] == pytest.approx(1 / 7)
