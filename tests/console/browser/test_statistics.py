"""Counts of surveys in the view of statistics."""

from __future__ import annotations

from playwright.sync_api import expect


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
