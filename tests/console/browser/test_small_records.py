"""Small records where a person looks for them: bookmarks, favorites, copies, files, mails, groups, protections."""

from __future__ import annotations

import uuid

import pytest
from playwright.sync_api import expect

from tests.console.browser import markup
from tests.console.browser.projects import new_project
from tests.console.browser.views import show


@pytest.fixture
def field(stack):
    """A project with one image, and a type of boxes with an attribute."""
    api = stack.api
    project = new_project(api, "Field")
    photo = api.create(f"MediaTypes/{project}", {"name": "Photo", "dtype": "image"})
    label = {"name": "Label", "dtype": "string", "default": ""}
    bird = {"name": "Bird", "dtype": "box", "media_types": [photo], "attribute_types": [label]}
    box = api.create(f"LocalizationTypes/{project}", bird)
    media = markup.image(api, project, {"type": photo, "name": "hide.jpg", "attributes": {}})
    return {"api": api, "project": project, "media": media, "box": box}


def test_a_page_is_bookmarked_renamed_and_opened(page, field):
    show(page, f"/#/projects/{field['project']}/manage/types")
    stars = page.get_by_role("button", name="Bookmarks")
    stars.click()
    page.get_by_role("menuitem", name="Bookmark this page").click()
    page.get_by_role("dialog").get_by_label("Name of the bookmark").fill("Types of birds")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    show(page, f"/#/projects/{field['project']}")
    stars.click()
    page.get_by_role("menuitem", name="Rename or delete").click()
    page.get_by_role("button", name="Actions of Types of birds").click()
    page.get_by_role("menuitem", name="Edit").click()
    page.get_by_label("Name of the bookmark").fill("Birds")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog").get_by_role("cell", name="Birds", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    stars.click()
    page.get_by_role("menuitem", name="Birds", exact=True).click()
    page.wait_for_url("**/manage/types")


def test_values_are_kept_as_a_favorite_and_set_on_another_shape(page, field):
    api, project = field["api"], field["project"]
    shape = {"media_id": field["media"], "type": field["box"], "frame": 0, "y": 0.1, "width": 0.2, "height": 0.2}
    first, second = api.create(
        f"Localizations/{project}", [{**shape, "x": 0.1, "attributes": {"Label": "Heron"}}, {**shape, "x": 0.6}]
    )
    show(page, f"/#/projects/{project}/media/{field['media']}?select={first}")
    page.get_by_role("button", name="Favorites").click()
    page.get_by_role("menuitem", name="Keep these values").click()
    page.get_by_label("Name of the favorite").fill("Grey heron")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    show(page, f"/#/projects/{project}/media/{field['media']}?select={second}")
    page.get_by_role("button", name="Favorites").click()
    page.get_by_role("menuitem", name="Grey heron", exact=True).click()
    page.locator("[data-saving=saved]").wait_for()
    assert api.ask("GET", f"Localization/{second}")["attributes"]["Label"] == "Heron"


def test_selected_media_are_copied_to_another_project(page, field):
    api = field["api"]
    other = new_project(api, f"Copies {uuid.uuid4().hex[:6]}")
    api.create(f"MediaTypes/{other}", {"name": "Photo", "dtype": "image"})
    show(page, f"/#/projects/{field['project']}")
    page.get_by_role("checkbox", name="Select hide.jpg").check(force=True)
    page.get_by_role("button", name="Copy to a project").click()
    page.get_by_role("dialog").get_by_label("Project").select_option(str(other))
    page.get_by_role("dialog").get_by_role("button", name="Copy to a project").click()
    expect(page.locator(".toast.good").filter(has_text="1 media copied.")).to_be_visible()
    assert [each["name"] for each in api.ask("GET", f"Medias/{other}")] == ["hide.jpg"]


def test_a_file_is_added_and_temporary_ones_are_deleted(page, field):
    api, project = field["api"], field["project"]
    api.create(f"FileTypes/{project}", {"name": "Report", "description": ""})
    sent = {"name": "counts.csv", "lookup": "x", "url": api.upload(project, b"a,b")}
    api.ask("POST", f"TemporaryFiles/{project}", sent)
    show(page, f"/#/projects/{project}/manage/files")
    expect(page.get_by_role("cell", name="counts.csv", exact=True)).to_be_visible()
    page.get_by_role("button", name="Delete all").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No temporary files")).to_be_visible()
    page.get_by_role("button", name="Add a file").first.click()
    content = {"name": "may.txt", "mimeType": "text/plain", "buffer": b"twelve herons"}
    page.get_by_role("dialog").locator("input[type=file]").set_input_files(content)
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    expect(page.get_by_role("cell", name="may.txt", exact=True)).to_be_visible()
    (made,) = api.ask("GET", f"Files/{project}")
    assert made["name"] == "may.txt"
    assert "/files/" in made["path"]


def test_an_organization_has_groups_clusters_and_templates(page, field):
    api = field["api"]
    organization = api.ask("GET", f"Project/{field['project']}")["organization"]
    show(page, f"/#/organizations/{organization}")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="New group").click()
    dialog.get_by_label("Name", exact=True).fill("Divers")
    dialog.get_by_role("checkbox", name="admin").check()
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("cell", name="Divers", exact=True)).to_be_visible()
    (group,) = api.ask("GET", f"Groups/{organization}")
    assert len(group["members"]) == 1
    page.get_by_role("button", name="Actions of Divers").click()
    page.get_by_role("menuitem", name="Edit").click()
    dialog.get_by_role("checkbox", name="admin").uncheck()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    assert api.ask("GET", f"Group/{group['id']}")["members"] == []

    page.get_by_role("button", name="Register a template").click()
    dialog.get_by_label("Name", exact=True).fill("Counter")
    dialog.get_by_label("URL").fill(api.upload(field["project"], b"kind: Workflow"))
    dialog.get_by_label("Parameters").fill("depth=3")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("cell", name="Counter", exact=True)).to_be_visible()
    (template,) = api.ask("GET", f"HostedTemplates/{organization}")
    assert template["tparams"] == [{"name": "depth", "value": "3"}]

    page.get_by_role("button", name="Register a cluster").click()
    for label, value in (
        ("Name", "Barn"),
        ("Host", "k8s.example.org"),
        ("Port", "6443"),
        ("Token", "t"),
        ("Cert", "c"),
    ):
        dialog.get_by_label(label, exact=label == "Name").fill(value)
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("cell", name="k8s.example.org:6443")).to_be_visible()


def test_a_row_protection_gives_a_member_a_folder(page, field, stack):
    api, project = field["api"], field["project"]
    number, _ = stack.user(f"row{uuid.uuid4().hex[:8]}")
    api.create(f"Memberships/{project}", {"user": number, "permission": "View Only"})
    folder = api.create(f"Sections/{project}", {"name": "Nests", "dtype": "folder", "path": "Nests"})
    show(page, f"/#/projects/{project}/manage/members")
    page.get_by_label("Row protections of", exact=True).select_option(f"section {folder}")
    page.get_by_role("button", name="New row protection").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("For").select_option(f"user {number}")
    dialog.get_by_label("On itself").select_option("View Only")
    dialog.get_by_label("On what it contains").select_option("Can Edit")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("row").filter(has_text="Can Edit").filter(has_text="Person:")).to_be_visible()
    (row,) = api.ask("GET", "RowProtections", section=folder)
    assert row["permission"] == 0x1F1F1F1F03


def test_a_lasting_link_to_the_file_is_copied(page, field):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    show(page, f"/#/projects/{field['project']}/media/{field['media']}")
    page.get_by_role("button", name="File of the media").click()
    page.get_by_role("menuitem", name="Copy a lasting link").click()
    expect(page.locator(".toast.good")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").endswith(f"/rest/Permalink/{field['media']}")
