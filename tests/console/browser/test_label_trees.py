"""Label trees: leaves are created, renamed, moved, found and deleted, by keyboard; texts are completed from them."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.browser.projects import new_project
from tests.console.browser.views import show


@pytest.fixture
def wood(stack):
    """A project with a type of boxes and no leaves."""
    api = stack.api
    project = new_project(api, "Wood")
    photo = api.create(f"MediaTypes/{project}", {"name": "Photo", "dtype": "image"})
    api.create(f"LocalizationTypes/{project}", {"name": "Fish", "dtype": "box", "media_types": [photo]})
    return {"api": api, "project": project}


def test_a_tree_is_built_and_changed_by_keyboard(page, wood):  # noqa: PLR0915 one journey
    project = wood["project"]
    show(page, f"/#/projects/{project}/manage/leaves")
    dialog, tree = page.get_by_role("dialog"), page.get_by_role("tree")

    def item(name):
        return tree.get_by_role("treeitem", name=name, exact=True)

    def paths():
        return {leaf["path"].partition(".")[2] for leaf in wood["api"].ask("GET", f"Leaves/{project}")}

    def press(*keys):
        for key in keys:
            page.keyboard.press(key)

    page.get_by_role("button", name="New label tree").click()
    expect(dialog.get_by_label("Name")).to_be_focused()
    press(*"Taxon", "Enter")
    page.get_by_role("button", name="Add at the top").click()
    dialog.get_by_label("Names").fill("Animalia\nPlantae")
    dialog.get_by_role("button", name="Add").click()
    expect(item("Animalia")).to_be_focused()
    press("n")
    dialog.get_by_label("Names").fill("Cod\nTuna")
    dialog.get_by_role("button", name="Add").click()
    expect(item("Cod")).to_be_focused()

    press("Enter")
    expect(page.locator("input:focus")).to_have_value("Cod")
    press("End", *"fish", "Enter")
    expect(page.get_by_text("is saved.")).to_be_visible()
    assert paths() == {"Animalia", "Plantae", "Animalia.Codfish", "Animalia.Tuna"}
    expect(item("Codfish")).to_be_focused()
    press("x", "End")
    expect(item("Plantae")).to_be_focused()
    press("v")
    expect(item("Codfish")).to_be_focused()
    assert paths() == {"Animalia", "Plantae", "Plantae.Codfish", "Animalia.Tuna"}
    page.get_by_role("button", name="Undo").last.click()
    expect(item("Plantae")).not_to_have_attribute("aria-expanded", "true")
    assert "Animalia.Codfish" in paths()

    item("Tuna").focus()
    press("ArrowLeft")
    expect(item("Animalia")).to_be_focused()
    press("ArrowLeft")
    expect(item("Tuna")).to_have_count(0)
    press("Delete")
    expect(dialog.get_by_text("2 leaves below it")).to_be_visible()
    dialog.get_by_role("button", name="Delete").click()
    expect(item("Plantae")).to_be_focused()
    assert paths() == {"Plantae"}
    page.get_by_role("button", name="Undo").last.click()
    expect(item("Animalia")).to_be_visible()
    assert paths() == {"Animalia", "Plantae", "Animalia.Codfish", "Animalia.Tuna"}

    page.get_by_label("Find a leaf").fill("tun")
    expect(tree.get_by_role("treeitem")).to_have_count(1)
    page.get_by_label("Find a leaf").fill("")
    item("Plantae").drag_to(item("Animalia"))
    expect(page.get_by_text("Plantae is below Animalia now.")).to_be_visible()
    assert "Animalia.Plantae" in paths()


def test_an_attribute_is_completed_from_a_tree_and_changed(page, wood):
    api, project = wood["api"], wood["project"]
    leaves = api.create(f"LeafTypes/{project}", {"name": "Taxon"})
    api.create(f"Leaves/{project}", [{"name": "Animalia", "type": leaves}])
    show(page, f"/#/projects/{project}/manage/types")
    card = page.locator(".type-card", has_text="Fish")
    dialog = page.get_by_role("dialog")

    def attribute():
        return api.ask("GET", f"LocalizationTypes/{project}")[0]["attribute_types"][0]

    card.get_by_role("button", name="Add an attribute").click()
    dialog.get_by_label("Name").fill("Species")
    dialog.get_by_label("Completed from").select_option("Taxon: Animalia")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog).to_have_count(0)
    assert attribute()["autocomplete"]["serviceUrl"] == f"/rest/Leaves/Suggestion/Wood.Animalia/{project}"
    for label, value in (("Description", "As in the tree"), ("Completed from", "")):
        card.get_by_role("button", name="Actions of Species").click()
        page.get_by_role("menuitem", name="Edit").click()
        field = dialog.get_by_label(label)
        field.select_option(value) if label == "Completed from" else field.fill(value)
        dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_have_count(0)
    assert attribute()["description"] == "As in the tree"
    assert not attribute().get("autocomplete")
