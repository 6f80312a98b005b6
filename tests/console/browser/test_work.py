"""Jobs with their steps and logs, trigger rules, and imports that create types."""

from __future__ import annotations

import json
import uuid

import pytest
from playwright.sync_api import expect

from tests.console.browser import markup
from tests.console.browser.projects import new_project
from tests.console.browser.views import show
from tests.infra.local.steps import manifest, shell


@pytest.fixture
def yard(stack):
    """A project with an image and an algorithm that says hello."""
    api = stack.api
    project = new_project(api, "Yard")
    photo = api.create(f"MediaTypes/{project}", {"name": "Photo", "dtype": "image"})
    markup.image(api, project, {"type": photo, "name": "a.jpg"})
    text = manifest(shell("greet", "echo hello from the step"))
    sent = {"name": "greet.yaml", "upload_url": api.upload(project, text.encode())}
    url = api.ask("POST", f"SaveAlgorithmManifest/{project}", sent)["url"]
    user = api.ask("GET", "User/GetCurrent")["id"]
    name = f"Greet {uuid.uuid4().hex[:6]}"  # names are unique across projects
    api.create(f"Algorithms/{project}", {"name": name, "user": user, "manifest": url, "files_per_job": 1})
    return {"api": api, "project": project, "algorithm": name}


def test_an_algorithm_is_launched_by_hand_and_by_a_rule_and_its_log_is_read(page, yard):
    project = yard["project"]
    show(page, f"/#/projects/{project}/jobs")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Launch").click()
    expect(dialog.get_by_text("1 media in 1 jobs")).to_be_visible()
    dialog.get_by_role("button", name="Launch").click()
    group = page.locator(".job-group")
    expect(group.locator(".job-head")).to_contain_text(yard["algorithm"])
    expect(group.locator(".nodes .chip", has_text="Succeeded")).to_be_visible()
    group.get_by_role("button", name="Log").click()
    expect(dialog.locator(".log")).to_contain_text("hello from the step")
    dialog.get_by_role("button", name="Close").click()

    show(page, f"/#/projects/{project}/manage/webhooks")
    page.get_by_role("button", name="Add a rule").click()
    dialog.get_by_label("Name").fill("new media")
    dialog.get_by_role("button", name="Create").click()
    row = page.get_by_role("row").filter(has_text="new media")
    expect(row).to_contain_text("limn.media.ready")
    row.get_by_role("button", name="Actions of new media").click()
    page.get_by_role("menuitem", name="Pause").click()
    expect(row).to_contain_text("Paused")
    (rule,) = yard["api"].ask("GET", f"TriggerRules/{project}")
    assert (rule["algorithm"], rule["active"]) == (yard["algorithm"], False)


def test_an_import_is_tried_then_carried_out_and_creates_the_types_it_needs(page, yard):
    api, project = yard["api"], yard["project"]
    box = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 10, 12], "area": 120, "iscrowd": 0}
    image = {"id": 1, "file_name": "a.jpg", "width": 64, "height": 48}
    coco = {"images": [image], "categories": [{"id": 1, "name": "Heron"}], "annotations": [box]}
    show(page, f"/#/projects/{project}/transfers")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="New import").click()
    file = {"name": "herons.json", "mimeType": "application/json", "buffer": json.dumps(coco).encode()}
    dialog.locator("input[type=file]").set_input_files(file)
    dialog.get_by_label("Create the types").check()
    dialog.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="Report").click()
    expect(dialog.get_by_role("listitem")).to_contain_text("Heron")
    dialog.get_by_role("button", name="Close").click()
    assert api.ask("GET", f"LocalizationTypes/{project}") == []
    page.get_by_role("button", name="Import it now").click()
    expect(page.get_by_role("listitem").filter(has_not_text="trial").get_by_text("succeeded")).to_be_visible()
    (made,) = api.ask("GET", f"LocalizationTypes/{project}")
    assert made["name"] == "Heron"
    (found,) = api.ask("GET", f"Localizations/{project}")
    assert abs(found["x"] - 1 / 64) < 0.001
