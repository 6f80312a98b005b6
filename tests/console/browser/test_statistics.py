"""Counts of surveys in the view of statistics."""

from __future__ import annotations

import re

import pytest
import requests
from playwright.sync_api import expect

from tests.console.browser.projects import new_project


def test_counts_by_media_and_their_accumulation_are_those_of_the_service(page, stack, meadow):
    rows = stack.api.ask("GET", f"Sightings/{meadow}", label="Species")
    assert len(rows) > 2
    points = stack.api.ask("GET", f"SpeciesAccumulation/{meadow}", label="Species")
    page.goto(f"/#/projects/{meadow}/statistics?by=Species")
    table = page.get_by_role("group", name="Counts by media").get_by_role("table")
    expect(table.locator("tbody tr")).to_have_count(min(len(rows), 200))
    first = table.locator("tbody tr").first.get_by_role("cell")
    expect(first.nth(0)).to_have_text(rows[0]["name"])
    expect(first.nth(1)).to_have_text(rows[0]["label"])
    expect(first.nth(2)).to_have_text(str(rows[0]["maxn"]))
    expect(page.get_by_role("img", name=f"in {len(points)} media")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").last.click()
    assert download.value.suggested_filename == "sightings.csv"
    lines = download.value.path().read_text().splitlines()
    assert len(lines) == len(rows) + 1
    first.nth(2).get_by_role("link").click()
    page.wait_for_url(f"**/media/{rows[0]['media']}*")


@pytest.fixture(scope="module")
def survey(stack) -> int:
    """A project with two media of one dive and one of another, with annotations and a log of depths."""
    api, project = stack.api, new_project(stack.api, "Survey")
    dive = {"name": "Dive", "dtype": "string"}
    video = api.create(f"MediaTypes/{project}", {"name": "video", "dtype": "video", "attribute_types": [dive]})
    named = [{"name": "Species", "dtype": "string"}]
    spec = {"name": "fish", "dtype": "dot", "media_types": [video], "attribute_types": named}
    dot = api.create(f"LocalizationTypes/{project}", spec)
    for name, number, seen in (("a", "1", ["cod", "cod"]), ("b", "1", ["cod", "ling"]), ("c", "2", ["cod"])):
        body = {"type": video, "name": f"{name}.mp4", "md5": "", "attributes": {"Dive": number}}
        media = api.create(f"Medias/{project}", body)
        api.ask("PATCH", f"Media/{media}", {"num_frames": 10, "fps": 5})
        rows = [
            {"media_id": media, "type": dot, "frame": 0, "x": 0.5, "y": 0.5, "attributes": {"Species": each}}
            for each in seen
        ]
        api.ask("POST", f"Localizations/{project}", rows)
    info = api.ask("GET", f"UploadInfo/{project}", media_id=media, filename="log.csv")
    log = b"time,depth\n0,5\n60,15\n120,15\n"
    requests.put(info["urls"][0], data=log, timeout=120).raise_for_status()
    file = {"path": info["key"], "name": "log.csv", "mime": "text/csv"}
    api.ask("POST", f"AuxiliaryFiles/{media}", file, role="attachment")
    return project


def test_counts_by_dive_and_time_at_depth_have_plots_and_csv(page, survey):
    page.goto(f"/#/projects/{survey}/statistics?by=Species")
    rows = page.get_by_role("group", name="Counts by media").get_by_role("table").locator("tbody tr")
    expect(rows).to_have_count(4)
    page.get_by_label("Rows by").select_option("Dive")
    expect(rows).to_have_count(3)
    expect(rows.first.get_by_role("cell").first).to_have_text("1")
    expect(page.get_by_role("img", name="MaxN: cod 2, ling 1")).to_be_visible()
    # dive 1: 3 of 20 frames, dive 2: 1 of 10
    expect(page.get_by_role("img", name=re.compile("^MeanCount: cod 0.125, ling 0.05"))).to_be_visible()
    expect(page.get_by_text("2.0 different in 2 samples")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Accumulation as CSV").click()
    assert len(download.value.path().read_text().splitlines()) == 3

    depths = page.get_by_role("region", name="Time at depth")
    depths.get_by_label("Attachment with the telemetry").fill("log.csv")
    depths.get_by_role("button", name="Show").click()
    expect(depths.get_by_role("img", name="0.0 – 10.0 1.0, 10.0 – 20.0 1.0")).to_be_visible()
    with page.expect_download() as download:
        depths.get_by_role("button", name="Time at depth as CSV").click()
    assert download.value.path().read_text().splitlines()[1:] == ["0.0,60.0,1", "10.0,60.0,1"]
