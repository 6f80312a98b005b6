"""The similar among crops: from one crop to its like, their labels, a label for many, and back."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.browser.dives import SPECIES
from tests.console.browser.test_accessibility import AXE, FOUND

LOOK = {"name": "Look", "dtype": "float_array", "size": 2}
COD, TUNA = [1.0, 0.1], [0.1, 1.0]


@pytest.fixture
def looks(dive):
    """Four crops like cod, of which one has no label, three like tuna, and one without a vector."""
    video = dive.api.ask("GET", f"MediaTypes/{dive.project}")[0]["id"]
    known = {each["name"]: each["id"] for each in dive.api.ask("GET", f"LocalizationTypes/{dive.project}")}
    species = {key: value for key, value in SPECIES.items() if key != "default"}
    spec = {"name": "Looked at", "dtype": "box", "media_types": [video], "attribute_types": [species, LOOK]}
    number = known.get("Looked at") or dive.api.create(f"LocalizationTypes/{dive.project}", spec)
    rows = [("Cod", [1.0, 0.1 + n / 100]) for n in range(1, 4)] + [(None, COD)]
    rows += [("Tuna", [0.1 + n / 100, 1.0]) for n in range(3)] + [("Tuna", None)]
    specs = []
    for n, (label, vector) in enumerate(rows):
        attributes = {"Species": label, "Look": vector}
        given = {name: value for name, value in attributes.items() if value is not None}
        specs.append({**dive.box(5, x=0.1 + n / 20), "type": number, "attributes": given})
    return number, dive.api.create(f"Localizations/{dive.project}", specs)


def species(dive, ids):
    found = {row["id"]: row["attributes"].get("Species") for row in dive.boxes()}
    return [found[each] for each in ids]


def test_the_similar_come_first_and_are_labelled_as_their_neighbours(page, dive, looks):
    _type, ids = looks
    page.goto(f"/#/projects/{dive.project}/media/{dive.media}?frame=5&select={ids[3]}")
    page.get_by_role("link", name="Find the similar").click()
    crops = page.locator(".crop:not(.waiting)")
    expect(page.get_by_text("The most similar first")).to_be_visible()
    expect(crops).to_have_count(7)  # the one without a vector cannot be compared
    labels = [text.strip() for text in page.locator(".crop-label").all_inner_texts()]
    assert labels == ["–", "Cod", "Cod", "Cod", "Tuna", "Tuna", "Tuna"]
    page.evaluate(AXE)
    assert page.evaluate(FOUND) == []
    crops.first.get_by_role("button").click()
    page.get_by_role("button", name="Cod 3/6").click()
    expect(page.locator(".crop-label").first).to_have_text("Cod")
    assert species(dive, ids[3:4]) == ["Cod"]
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".crop-label").first).to_have_text("–")
    assert species(dive, ids[3:4]) == [None]
    page.goto(page.url + "&search=Species:Tuna")
    expect(crops).to_have_count(3)
    page.get_by_role("button", name="By time again").click()
    expect(crops).to_have_count(4)


def test_queues_show_the_unlike_and_the_duplicates_first(page, dive, looks):
    number, _ids = looks
    page.goto(f"/#/projects/{dive.project}/crops?type={number}")
    crops = page.locator(".crop:not(.waiting)")
    expect(crops).to_have_count(8)
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menu").get_by_text("The most unlike first").click()
    expect(crops).to_have_count(7)
    expect(page.locator(".crop-label").first).to_have_text("Tuna")  # the smaller group is farther from the mean
    page.goto(page.url.replace("unlike", "duplicates"))
    expect(page.get_by_role("group", name="Near duplicates")).to_be_visible()
    expect(crops.nth(1)).to_be_visible()
    page.get_by_role("button", name="By time again").click()
    expect(crops).to_have_count(8)
