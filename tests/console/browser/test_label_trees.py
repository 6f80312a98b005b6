"""Label trees: leaves are created, renamed, moved, found and deleted, by keyboard; texts are completed from them."""

from __future__ import annotations

import io
import zipfile

import pytest
from playwright.sync_api import expect

from infra.client import taxa
from tests.client.test_taxa import GBIF, URN, WORMS
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


def _zipped(text):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("meta.xml", "<archive/>")
        archive.writestr("data/Taxon.txt", text)
    return out.getvalue()


MATCHES = 'ScientificName,AphiaID,Authority\r\n"Gadus morhua",126436,"Linnaeus, 1758"\r\n"a ""b""",7,\r\n'


def test_a_list_of_taxa_becomes_leaves_and_is_continued(page, wood):
    """An archive below a family first, then the whole: what is there stays. The number of a taxon can be changed."""
    project = wood["project"]
    show(page, f"/#/projects/{project}/manage/leaves")
    dialog, tree = page.get_by_role("dialog"), page.get_by_role("tree")

    def choose(name, data):
        page.get_by_role("button", name="Import taxa").click()
        dialog.get_by_label("File").set_input_files({"name": name, "mimeType": "", "buffer": data})

    choose("photo.csv", b"name,size\ncod,1\n")
    expect(dialog.get_by_role("alert")).to_contain_text("photo.csv: its first line has no taxonID")
    dialog.get_by_role("button", name="Cancel").click()
    choose("worms.zip", _zipped(WORMS))
    expect(dialog.get_by_role("status")).to_have_text("4 accepted taxa; 1 row without an id or name")
    dialog.get_by_label("Only these").fill("Gadus callarias")
    expect(dialog.get_by_text('The list has no accepted taxon "Gadus callarias".')).to_be_visible()
    dialog.get_by_label("Only these").fill("Gadus")
    expect(dialog.get_by_role("status")).to_contain_text("2 accepted taxa")
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("2 taxa created, 0 present.")).to_be_visible()
    expect(tree.get_by_role("treeitem", name="Gadus morhua")).to_contain_text("126")
    choose("worms.txt", WORMS.encode())
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("2 taxa created, 2 present.")).to_be_visible()
    leaves = {leaf["name"]: leaf for leaf in wood["api"].ask("GET", f"Leaves/{project}")}
    assert leaves["Gadus morhua"]["attributes"] == {
        "taxonID": f"{URN}126436", "AphiaID": 126436, "rank": "species", "authority": "Linnaeus, 1758",
        "synonyms": "Gadus callarias",
    }  # fmt: skip
    assert leaves["Gadus morhua"]["parent"] == leaves["Gadus"]["id"]
    assert leaves["Melanogrammus aeglefinus"]["parent"] == leaves["Gadidae"]["id"]
    (type_,) = {leaf["type"] for leaf in leaves.values()}
    assert [each["name"] for each in wood["api"].ask("GET", f"LeafType/{type_}")["attribute_types"]] == [
        each["name"] for each in taxa.ATTRIBUTES
    ]
    tree.get_by_role("treeitem", name="Melanogrammus aeglefinus").click()
    page.keyboard.press("Enter")
    dialog.get_by_label("AphiaID").fill("many")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_label("AphiaID")).to_be_focused()
    expect(dialog.get_by_label("AphiaID")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_label("AphiaID").fill("999")
    dialog.get_by_role("button", name="Save").click()
    expect(tree.get_by_role("treeitem", name="Melanogrammus aeglefinus")).to_contain_text("999")


@pytest.mark.parametrize(("name", "text"), [("w.txt", WORMS), ("g.tsv", GBIF), ("m.csv", MATCHES)])
def test_the_console_and_the_command_line_read_the_same_taxa(page, wood, tmp_path, name, text):
    place = tmp_path / name
    place.write_text(text, newline="")
    found = taxa.read(place)
    synonyms = found.names_of()
    expected = [
        [[taxa.attributes_of(taxon, synonyms.get(taxon.id, ())), parent] for taxon, parent in level]
        for level in found.levels()
    ]
    show(page, f"/#/projects/{wood['project']}/manage/leaves")
    modules = page.evaluate("() => performance.getEntriesByType('resource').map(each => each.name)")
    module = next(each for each in modules if each.endswith("/ui/taxa.js"))
    read = """async ([module, text]) => {
      const found = await (await import(module)).readTaxa(new File([text], 'taxa'));
      return found.levels([]).map(level => level.map(([taxon, parent]) => [found.attributesOf(taxon), parent]));
    }"""
    assert page.evaluate(read, [module, text]) == expected
