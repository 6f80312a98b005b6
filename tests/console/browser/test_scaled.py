"""Measures of one camera while a shape is selected, and attributes that get them."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.console.browser.dives import Dive, attach
from tests.console.browser.projects import new_project
from tests.console.browser.waits import until
from tests.resources.media.samples import picture

SIZE = (800, 600)


@pytest.fixture(scope="module")
def seabed(stack):
    """A picture with two lasers, a fish as a line and a plot as a box."""
    api = stack.api
    project = new_project(api, "Scaled")
    still = api.create(f"MediaTypes/{project}", {"name": "Still", "dtype": "image"})
    floats = [{"name": name, "dtype": "float"} for name in ("Length", "Area")]
    types = {
        name: api.create(
            f"LocalizationTypes/{project}",
            {"name": name, "dtype": dtype, "media_types": [still], "attribute_types": attributes},
        )
        for name, dtype, attributes in (("Laser", "dot", []), ("Fish", "line", floats), ("Plot", "box", floats))
    }
    url = api.upload(project, picture(*SIZE))
    media = api.create(f"Medias/{project}", {"type": still, "name": "seabed.jpg", "md5": "", "url": url})
    until(lambda: (api.ask("GET", f"Media/{media}")["media_files"] or {}).get("image"), "the picture has a file")
    version = api.ask("GET", f"Versions/{project}")[0]["id"]
    at = {"media_id": media, "frame": 0, "version": version}
    shapes = [
        {**at, "type": types["Laser"], "x": 300 / 800, "y": 0.5},
        {**at, "type": types["Laser"], "x": 400 / 800, "y": 0.5},
        {**at, "type": types["Fish"], "x": 100 / 800, "y": 100 / 600, "u": 300 / 800, "v": 400 / 600},
        {**at, "type": types["Plot"], "x": 0.25, "y": 0.25, "width": 0.5, "height": 0.5},
    ]
    api.ask("POST", f"Localizations/{project}", shapes)
    return Dive(api, project, media, version, types)


def test_lasers_measure_what_is_selected_and_all_shapes_get_attributes(page, seabed):
    page.goto(seabed.path(frame=0))
    page.wait_for_selector(".stage[data-frame='0']")
    panel = page.locator(".annotate-panel")
    panel.get_by_role("button", name="Measure").click()
    part = panel.get_by_role("region", name="Measure")
    part.get_by_label("Scale", exact=True).last.select_option("Known length in the picture")
    part.get_by_label("Shapes of known length").select_option("Laser")
    part.get_by_label("Their length").fill("0.1")
    expect(part.get_by_role("status")).to_contain_text("Select or draw")
    panel.get_by_role("button", name="Fish").first.click()
    expect(part.get_by_role("status")).to_contain_text("Length0.5000 ± 0.0072")
    panel.get_by_role("button", name="Plot").first.click()
    expect(part.get_by_role("status")).to_contain_text("Area0.1200")
    part.get_by_label("Length into").select_option("Length")
    part.get_by_label("Area into").select_option("Area")
    part.get_by_role("button", name="Set attributes of all shapes").click()
    expect(page.get_by_text("Changed 2 of 2.")).to_be_visible()
    found = {each["type"]: each["attributes"] for each in seabed.boxes() if each["attributes"].get("Length")}
    assert found[seabed.types["Fish"]]["Length"] == pytest.approx(0.5)
    assert found[seabed.types["Plot"]]["Area"] == pytest.approx(0.12)


def test_an_altitude_is_kept_for_the_project(page, seabed):
    page.goto(seabed.path(frame=0))
    page.wait_for_selector(".stage[data-frame='0']")
    panel = page.locator(".annotate-panel")
    for _ in range(2):
        panel.get_by_role("button", name="Measure").click()
        part = panel.get_by_role("region", name="Measure")
        part.get_by_label("Scale", exact=True).last.select_option("Altitude and field of view")
        if part.get_by_label("Altitude", exact=True).input_value() == "":
            part.get_by_label("Altitude", exact=True).fill("2")
            part.get_by_label("Field of view").fill("90")
        panel.get_by_role("button", name="Fish").first.click()
        expect(part.get_by_role("status")).to_contain_text("Length2.5000")
        page.reload()
        page.wait_for_selector(".stage[data-frame='0']")


def test_a_lens_is_chosen_and_gives_the_field_of_view(page, seabed):
    """A pinhole of 400 pixels sees 90 degrees; the second lens is twice as long, so that all is half as large."""
    for name, focal in (("near.json", 400), ("far.json", 800)):
        lens = {"camera_matrix": [[focal, 0, 400], [0, focal, 300], [0, 0, 1]], "image_width": 800, "image_height": 600}
        attach(seabed.api, seabed.project, seabed.media, json.dumps(lens).encode(), name)
    page.goto(seabed.path(frame=0))
    page.wait_for_selector(".stage[data-frame='0']")
    panel = page.locator(".annotate-panel")
    panel.get_by_role("button", name="Measure").click()
    part = panel.get_by_role("region", name="Measure")
    part.get_by_label("Scale", exact=True).last.select_option("Altitude and field of view")
    part.get_by_label("Altitude", exact=True).fill("2")
    panel.get_by_role("button", name="Fish").first.click()
    for name, length in (("near.json", "2.5000"), ("far.json", "1.2500")):
        part.get_by_label("Lens").select_option(name)
        expect(part.get_by_label("Field of view")).to_have_count(0)
        expect(part.get_by_role("status")).to_contain_text(f"Length{length}")
