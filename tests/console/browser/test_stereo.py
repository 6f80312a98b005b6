"""Lengths live while both cameras of a rig are drawn on."""

from __future__ import annotations

import uuid

import pytest
import requests
from playwright.sync_api import expect

from tests.console.browser.dives import Dive
from tests.console.browser.projects import new_project
from tests.console.browser.waits import until
from tests.core.measuring.test_calibrations import opencv_yaml
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
    info = api.ask("GET", f"UploadInfo/{project}", media_id=media, filename="calibration.yml")
    requests.put(info["urls"][0], data=opencv_yaml(), timeout=120).raise_for_status()
    file = {"path": info["key"], "name": "calibration.yml", "mime": "text/yaml"}
    api.ask("POST", f"AuxiliaryFiles/{media}", file, role="attachment")
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
