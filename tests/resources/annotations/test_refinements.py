"""Masks, turned boxes, ellipses, polylines, holes and skeletons over HTTP, beside clients that do not know them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pycocotools import mask as coco
from shapely import affinity, geometry

from tests.resources.annotations.boxes import Here, settle

WIDTH, HEIGHT = 200, 100
TRIANGLE = [[0.1, 0.1], [0.9, 0.1], [0.5, 0.9]]
HOLE = [[0.4, 0.2], [0.6, 0.2], [0.5, 0.3]]
SKELETON = {"points": ["nose", "left eye", "right eye"], "edges": [[0, 1], [0, 2]]}


@pytest.fixture
def here(api, project) -> Here:
    found = settle(api, project)
    api.patch(f"Media/{found.media}", {"width": WIDTH, "height": HEIGHT})
    return found


def type_of(here: Here, dtype: str, *refinements: str, **more: Any) -> int:
    spec = {"name": f"{dtype} {refinements}", "dtype": dtype, "media_types": [here.media_type]}
    return here.api.made(f"LocalizationTypes/{here.project}", {**spec, "refinements": refinements, **more})


def mask_of(height: int = 20, width: int = 40) -> tuple[dict[str, Any], int]:
    found = np.asfortranarray(np.random.default_rng(height).integers(0, 2, (height, width)), dtype=np.uint8)
    return {"size": [height, width], "counts": coco.encode(found)["counts"].decode()}, int(found.sum())


BOX = {"x": 0.5, "y": 0.5, "width": 0.2, "height": 0.2}


def found_by(here: Here, **query: Any) -> list[int]:
    return [each["id"] for each in here.api.get(here.many, **query).json]


def test_each_is_refused_where_its_type_does_not_allow_it(here):
    mask, _ = mask_of()
    for member in ({"mask": mask}, {"angle": 30.0}, {"form": "ellipse"}):
        said = here.api.post(here.many, here.spec(**BOX, **member))
        assert said.status == 400
        assert f"{next(iter(member))}: the type" in said.message
    poly = type_of(here, "poly")
    for member in ({"closed": False}, {"holes": [HOLE]}, {"visible": [2, 2, 2]}):
        said = here.api.post(here.many, here.spec(type=poly, points=TRIANGLE, **member))
        assert (said.status, f"{next(iter(member))}: the type" in said.message) == (400, True), said.message
    assert here.count() == 0


def test_a_mask_is_kept_as_it_was_sent_and_its_area_is_that_of_coco(here):
    kind, (mask, pixels) = type_of(here, "box", "mask"), mask_of()
    number = here.make(type=kind, **BOX, mask=mask)
    assert here.one(number)["mask"] == mask
    assert found_by(here, attribute=f"$area::{pixels}") == [number]
    assert found_by(here, search=f"_area:{pixels} AND _form:mask") == [number]
    assert found_by(here, attribute=f"$area::{pixels + 1}") == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": [20, 41]}, "mask.size"),
        ({"counts": "\x00"}, "mask.counts"),
        ({"counts": "0"}, "its runs have 0 pixels"),
        ({"counts": "1" * 65_537}, "65,536"),
        ({"size": [65_536, 65_536]}, "more than the 134,217,728 pixels"),
    ],
)
def test_a_mask_that_does_not_fit_is_refused_by_member(here, change, message):
    kind, (mask, _) = type_of(here, "box", "mask"), mask_of()
    said = here.api.post(here.many, here.spec(type=kind, **BOX, mask=mask | change))
    assert (said.status, message in said.message) == (400, True), said.message


def test_an_old_client_moves_a_box_with_its_mask_and_may_not_resize_it(here):
    kind, (mask, _) = type_of(here, "box", "mask"), mask_of()
    number = here.make(type=kind, **BOX, mask=mask)
    said = here.api.patch(f"Localization/{number}", {"x": 0.25, "y": 0.25})
    assert said.status == 200, said.message
    moved = here.listed()[0]
    assert (moved["x"], moved["y"], moved["mask"]) == (0.25, 0.25, mask)
    said = here.api.patch(f"Localization/{moved['id']}", {"width": 0.4})
    assert (said.status, "mask.size" in said.message) == (400, True)
    assert here.api.patch(f"Localization/{moved['id']}", {"width": 0.4, "mask": None}).status == 200
    assert (here.listed()[0]["width"], here.listed()[0].get("mask")) == (0.4, None)


def test_a_turned_box_has_the_bounds_and_the_area_of_shapely(here):
    kind = type_of(here, "box", "angle", "ellipse")
    number = here.make(type=kind, **BOX, angle=30.0)
    turned = affinity.rotate(geometry.box(100, 50, 140, 70), 30)
    left, top, right, bottom = turned.bounds
    assert here.one(number)["bounds"] == pytest.approx(
        [left / WIDTH, top / HEIGHT, (right - left) / WIDTH, (bottom - top) / HEIGHT]
    )
    assert found_by(here, attribute_gt="$angle::29", attribute_lt="$area::800.1") == [number]
    here.api.patch(f"Localization/{number}", {"angle": None})
    assert "bounds" not in here.listed()[0], "what does not refine a shape is not shown"
    round_one = here.make(type=kind, **BOX, form="ellipse", angle=90.0)
    assert here.one(round_one)["bounds"] == pytest.approx([0.55, 0.4, 0.1, 0.4])
    area = math.pi * 20 * 10
    assert found_by(here, attribute_gte=f"$area::{area - 0.01}", attribute_lte=f"$area::{area + 0.01}") == [round_one]
    assert found_by(here, attribute="$form::ellipse") == [round_one]


def test_holes_lie_within_their_polygon_move_with_it_and_count_for_its_area(here):
    kind = type_of(here, "poly", "holes", "open")
    said = here.api.post(here.many, here.spec(type=kind, points=TRIANGLE, holes=[[[0, 0], [0.5, 0.2], [0.4, 0.3]]]))
    assert (said.status, "holes[0]" in said.message) == (400, True)
    number = here.make(type=kind, points=TRIANGLE, holes=[HOLE])
    area = geometry.Polygon(TRIANGLE, [HOLE]).area * WIDTH * HEIGHT
    assert found_by(here, attribute_gte=f"$area::{area - 0.01}", attribute_lte=f"$area::{area + 0.01}") == [number]
    moved = [[x + 0.05, y + 0.05] for x, y in TRIANGLE]
    assert here.api.patch(f"Localization/{number}", {"points": moved}).status == 200
    (after,) = here.listed()
    assert after["holes"] == [[[pytest.approx(x + 0.05), pytest.approx(y + 0.05)] for x, y in HOLE]]
    said = here.api.patch(f"Localization/{after['id']}", {"points": [[0.0, 0.0], [0.1, 0.0], [0.0, 0.1]]})
    assert (said.status, "holes[0]" in said.message) == (400, True)
    line = here.make(type=kind, points=TRIANGLE, closed=False)
    assert found_by(here, attribute="$form::open") == [line]
    assert found_by(here, attribute_null="$area::true") == [line]


def test_a_skeleton_has_the_points_of_its_type_and_they_are_counted(here):
    kind = type_of(here, "poly", "skeleton", skeleton=SKELETON)
    for shape in ({"points": TRIANGLE[:2]}, {"points": TRIANGLE, "visible": [2, 2]}):
        said = here.api.post(here.many, here.spec(type=kind, **shape))
        assert (said.status, "has 3 points, not 2" in said.message) == (400, True), said.message
    number = here.make(type=kind, points=TRIANGLE, visible=[2, 0, 2])
    assert found_by(here, attribute="$points_visible::2") == [number]
    assert here.api.patch(f"Localization/{number}", {"points": [[0, 0], *TRIANGLE[1:]]}).status == 200
    assert here.listed()[0]["visible"] == [2, 0, 2]
    said = here.api.patch(f"LocalizationType/{kind}", {"skeleton": {"points": ["one"]}})
    assert (said.status, "make a new type" in said.message) == (400, True)


def test_types_refuse_refinements_of_other_shapes(here):
    for dtype, wanted in (("box", ["holes"]), ("dot", ["mask"]), ("poly", ["skeleton"]), ("poly", ["open", "open"])):
        spec = {"name": "t", "dtype": dtype, "media_types": [here.media_type], "refinements": wanted}
        assert here.api.post(f"LocalizationTypes/{here.project}", spec).status == 400, wanted


def test_the_change_log_tells_of_a_mask_and_a_restored_box_has_it_again(here):
    kind, (mask, _) = type_of(here, "box", "mask"), mask_of()
    number = here.make(type=kind, **BOX, mask=mask)
    here.api.patch(f"Localization/{number}", {"mask": None, "in_place": 1})
    created, removed = here.api.get(f"History/{here.project}/localization/{number}").json
    assert (created["new"]["mask"], removed["old"]["mask"], removed["new"]["mask"]) == (mask, mask, None)
    other = here.make(type=kind, **BOX, mask=mask)
    here.api.delete(f"Localization/{other}", {"prune": 1})
    change = here.api.get(f"History/{here.project}/localization/{other}").json[-1]["change"]
    said = here.api.post(f"Restore/{here.project}", {"changes": [change]})
    assert said.status == 200, said.message
    assert here.one(other)["mask"] == mask


def test_statistics_sum_the_area(here):
    kind, (mask, pixels) = type_of(here, "box", "mask"), mask_of()
    here.make(type=kind, **BOX, mask=mask)
    here.make(type=kind, **BOX)
    said = here.api.get(f"Statistics/{here.project}", kind="localization", measure="sum::$area")
    assert said.status == 200, said.message
    assert said.json["rows"] == [{"sum::$area": pytest.approx(pixels + 800)}]


def test_between_two_masks_of_a_track_there_are_boxes_and_angles_change_on_the_shorter_way(here):
    kind, (mask, _) = type_of(here, "box", "mask", "angle"), mask_of()
    spec = {"name": "track", "association": "Localization", "media_types": [here.media_type]}
    track = here.api.made(f"StateTypes/{here.project}", spec)
    for first, second in (({"mask": mask}, {"mask": mask}), ({"angle": 350.0}, {"angle": 10.0})):
        numbers = [here.make(type=kind, frame=frame, **BOX, **more) for frame, more in ((0, first), (2, second))]
        state = {"type": track, "media_ids": [here.media], "localization_ids": numbers}
        here.api.made(f"States/{here.project}", state)
    found = here.listed(interpolate=True, frame=1)
    assert [("mask" in each, each.get("angle")) for each in found] == [(False, None), (False, 360.0)]
