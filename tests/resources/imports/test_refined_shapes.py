"""Refined shapes leave as COCO, CVAT and JSON lines, and come back into a project whose types are created."""

from __future__ import annotations

from typing import Any

import pytest

from tests import objects
from tests.resources.annotations.boxes import settle
from tests.resources.annotations.test_refinements import BOX, HEIGHT, HOLE, SKELETON, TRIANGLE, WIDTH, mask_of, type_of
from tests.resources.imports.archives import imported
from tests.service import new_project

SHAPES: dict[str, tuple[str, dict[str, Any]]] = {
    "mask": ("box", {**BOX, "mask": mask_of()[0]}),
    "angle": ("box", {**BOX, "angle": 30.0}),
    "ellipse": ("box", {**BOX, "form": "ellipse"}),
    "open": ("poly", {"points": TRIANGLE, "closed": False}),
    "holes": ("poly", {"points": TRIANGLE, "holes": [HOLE]}),
    "skeleton": ("poly", {"points": TRIANGLE, "visible": [2, 0, 1]}),
}
REFINING = ("mask", "angle", "form", "closed", "holes", "visible")
LOST = {"coco": {"open"}, "cvat": {"holes"}, "jsonl": set()}


def placed(api, project):
    found = settle(api, project)
    api.patch(f"Media/{found.media}", {"width": WIDTH, "height": HEIGHT})
    return found


def refinements(found):
    shown = [{name: each[name] for name in REFINING if name in each} for each in found]
    for each in shown:
        if "holes" in each:
            each["holes"] = [[[round(x, 9), round(y, 9)] for x, y in hole] for hole in each["holes"]]
    return sorted(shown, key=repr)


@pytest.mark.slow
@pytest.mark.parametrize("form", LOST)
def test_what_a_format_holds_comes_back_and_the_rest_is_counted(api, project, form):
    here = placed(api, project)
    for name, (dtype, members) in SHAPES.items():
        more = {"skeleton": SKELETON} if name == "skeleton" else {}
        here.make(type=type_of(here, dtype, name, **more), **members)
    uid = api.made(f"Exports/{project}", {"format": form})
    api.drain()
    report = api.get(f"Export/{uid}").json
    assert report["status"] == "succeeded", report
    assert report["simplified"] == len(LOST[form])
    assert report["left_out"] == (form == "coco")
    other = placed(api, new_project(api))
    archive = objects.read(f"_exports/{project}/{uid}/archive.zip")
    result = imported(api, other.project, archive, form, create_types=True, create_media=False)
    assert result["status"] == "succeeded", result
    expected = refinements(here.listed())
    if form in ("coco", "cvat"):
        expected = [each for each in expected if not (LOST[form] & {"open"} and "closed" in each)]
        expected = [{} if LOST[form] & {"holes"} and "holes" in each else each for each in expected]
    assert refinements(other.listed()) == sorted(expected, key=repr), result
