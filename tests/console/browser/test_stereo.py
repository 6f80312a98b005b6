"""Lengths live while both cameras of a rig are drawn on."""

from __future__ import annotations

import base64
import io
import uuid

import pytest
from PIL import Image, ImageChops, ImageStat
from playwright.sync_api import expect

from tests.console.browser.dives import Dive, attach
from tests.console.browser.projects import new_project
from tests.console.browser.waits import until
from tests.core.measuring.test_calibrations import opencv_yaml, viame_json
from tests.core.measuring.test_cameras import RIG, SIZE
from tests.resources.media.samples import picture

ENDS = ((-0.2, 0.1, 3.0), (0.3, 0.1, 3.0))
"""A bar of half a metre, three metres away."""


@pytest.fixture(scope="module")
def pair(stack):
    """Two pictures of a calibrated rig, and a media that shows both."""
    api = stack.api
    project = new_project(api, "Stereo")
    still = api.create(f"MediaTypes/{project}", {"name": "Still", "dtype": "image"})
    multi = api.create(f"MediaTypes/{project}", {"name": "Pair", "dtype": "multi"})
    line = api.create(f"LocalizationTypes/{project}", {"name": "Bar", "dtype": "line", "media_types": [still]})
    for name in ("left", "right"):
        url = api.upload(project, picture(*SIZE))
        body = {"type": still, "md5": "", "url": url, "gid": str(uuid.uuid4()), "uid": str(uuid.uuid1())}
        api.create(f"Medias/{project}", {**body, "name": f"{name}.jpg"})

    def complete():
        found = api.ask("GET", f"Medias/{project}", sort_by="$name")
        return found if len(found) == 2 and all((each["media_files"] or {}).get("image") for each in found) else []

    views = [each["id"] for each in until(complete, "the pictures have files")]
    media = api.create(f"Medias/{project}", {"type": multi, "name": "The pair", "md5": ""})
    api.ask("PATCH", f"Media/{media}", {"multi": {"ids": views, "layout": [1, 2]}})
    attach(api, project, media, opencv_yaml(), "calibration.yml")
    version = api.ask("GET", f"Versions/{project}")[0]["id"]
    left, right = ([RIG.left.project(end) for end in ENDS], [RIG.right.project(RIG.to_right(end)) for end in ENDS])
    for view, pixels in zip(views, (left, right), strict=True):
        (x, y), (u, v) = ((a / SIZE[0], b / SIZE[1]) for a, b in pixels)
        body = {"type": line, "media_id": view, "frame": 0, "version": version, "x": x, "y": y, "u": u - x, "v": v - y}
        api.ask("POST", f"Localizations/{project}", [body])
    return Dive(api, project, media, version, {"line": line})


def test_a_length_is_shown_while_the_same_line_is_chosen_on_both_cameras(page, pair):
    page.goto(pair.path(frame=0))
    page.wait_for_selector(".stage[data-frame='0']")
    measure = page.get_by_role("status", name="Measure", exact=True)
    expect(measure).to_contain_text("on the left camera")
    page.locator(".annotate-panel").get_by_role("button", name="Bar").first.click()
    expect(measure).to_contain_text("Draw the same on the right camera")
    expect(page.locator(".guides polyline")).to_have_count(2)
    page.get_by_role("button", name="Work on right.jpg").click()
    expect(page.get_by_role("button", name="Work on left.jpg")).to_be_visible()
    page.locator(".annotate-panel").get_by_role("button", name="Bar").first.click()
    expect(measure).to_contain_text("Length 0.5000")
    expect(measure).to_contain_text("error 0.00 px")


def _pixels(page, side):
    """What the rectified view of a camera shows."""
    page.wait_for_selector(".rectified-camera canvas[data-frame='0']")
    canvas = page.locator(".rectified-camera canvas").nth(side)
    found = canvas.evaluate("each => each.toDataURL('image/png')")
    return Image.open(io.BytesIO(base64.b64decode(found.split(",")[1]))).convert("RGB")


def test_the_rectified_view_is_the_picture_of_the_service_with_shapes_on_one_row(page, pair):
    page.goto(pair.path(frame=0))
    page.wait_for_selector(".stage[data-frame='0']")
    shape = page.locator(".annotate-panel").get_by_role("button", name="Bar").first
    shape.click()
    expect(page.locator(".guides polyline")).to_have_count(2)
    page.get_by_role("button", name="Rectified", exact=True).click()
    expect(page.locator(".rectified-camera").nth(0).locator("circle")).to_have_count(2)
    expect(page.locator(".rectified-camera").nth(1).locator("line.epipolar")).to_have_count(2)
    for side in (0, 1):
        query = {"part": side, "rectified_file": "calibration.yml", "force_scale": "480x270", "format": "png"}
        answer = pair.api._session.get(f"{pair.api.url}/rest/GetFrame/{pair.media}", params=query, timeout=120)
        assert answer.status_code == 200, answer.text
        drawn = Image.open(io.BytesIO(answer.content)).convert("RGB")
        apart = ImageStat.Stat(ImageChops.difference(drawn, _pixels(page, side).resize(drawn.size))).mean
        assert max(apart) < 4, apart
    page.get_by_role("button", name="Rectified", exact=True).click()
    page.get_by_role("button", name="Work on right.jpg").click()
    page.locator(".annotate-panel").get_by_role("button", name="Bar").first.click()
    page.get_by_role("button", name="Rectified", exact=True).click()
    expect(page.locator(".rectified-camera").nth(1).locator("circle")).to_have_count(2)
    rows = [
        [
            float(each.get_attribute("cy"))
            for each in page.locator(".rectified-camera").nth(side).locator("circle").all()
        ]
        for side in (0, 1)
    ]
    assert rows[0] == pytest.approx(rows[1], abs=0.5)


def test_of_several_calibrations_the_one_that_is_chosen_measures(page, pair):
    """The second is in millimetres, so the bar is five hundred long."""
    attach(pair.api, pair.project, pair.media, viame_json(T=[1000 * each for each in RIG.translation]), "mm.json")
    page.goto(pair.path(frame=0))
    page.wait_for_selector(".stage[data-frame='0']")
    choice = page.get_by_role("combobox", name="Calibration")
    expect(choice).to_have_value("file:calibration.yml")
    choice.select_option("mm.json")
    page.locator(".annotate-panel").get_by_role("button", name="Bar").first.click()
    expect(page.locator(".guides polyline")).to_have_count(2)
    page.get_by_role("button", name="Work on right.jpg").click()
    page.locator(".annotate-panel").get_by_role("button", name="Bar").first.click()
    expect(page.get_by_role("status", name="Measure", exact=True)).to_contain_text("Length 500.0")
    page.reload()
    expect(choice).to_have_value("file:mm.json")
