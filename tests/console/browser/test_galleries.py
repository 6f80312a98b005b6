"""Finding media and annotations, changing many, uploading, applets."""

from __future__ import annotations

import re
import uuid

from playwright.sync_api import Route, expect

from tests.console.browser.views import show

SPY = """<body><script>
const found = [];
for (const read of [() => parent.sessionStorage, () => sessionStorage, () => top.document, () => document.cookie]) {
  try { found.push(String(JSON.stringify(read()))); } catch (failure) { found.push(failure.name); }
}
document.body.textContent = "ran " + found.join(" ") + " project " + window.limn.project;
</script></body>"""


def test_search_completes_and_facets_narrow(page, meadow):
    show(page, f"/#/projects/{meadow}")
    status = page.get_by_role("status").filter(has_text="media")
    expect(status).to_have_text("37 media")
    box = page.get_by_role("combobox", name="Search")
    box.press_sequentially("Wea")
    page.get_by_role("option", name=re.compile("Weather")).first.click()
    page.get_by_role("option", name=re.compile("Sun")).first.click()
    expect(box).to_have_value("Weather:Sun")
    expect(status).to_have_text("16 media")
    page.get_by_role("button", name=re.compile(r"^Burrow\s*7")).click()
    expect(status).to_have_text("7 media")
    page.reload()
    expect(status).to_have_text("7 media")
    page.get_by_role("button", name="Remove the filter Site: Burrow").click()
    expect(status).to_have_text("16 media")


def test_a_wrong_search_says_why(new_page, meadow):
    page = new_page(allow=("status of 400",))
    show(page, f"/#/projects/{meadow}?search=Species:(")
    expect(page.get_by_role("alert")).to_contain_text("search")


def test_many_crops_are_relabelled_at_once(page, stack, meadow):
    types = stack.api.ask("GET", f"LocalizationTypes/{meadow}")
    rock = next(each["id"] for each in types if each["name"] == "Animal")
    show(page, f"/#/projects/{meadow}/crops?type={rock}&search=Species:Squirrel")
    crops = page.locator(".crop-picture")
    expect(crops).to_have_count(5)
    crops.nth(0).click()
    crops.nth(2).click(modifiers=["Shift"])
    page.get_by_role("button", name="Set Species").click()
    page.get_by_role("menuitem", name="Bird").click()
    expect(crops).to_have_count(2)
    assert stack.api.ask("GET", f"LocalizationCount/{meadow}", search="Species:Bird", type=rock) == 3


def test_an_upload_is_paused_and_goes_on_where_it_was(page, stack):
    organization = stack.api.create("Organizations", {"name": f"uploads {uuid.uuid4().hex}"})
    project = stack.api.create("Projects", {"name": "uploads", "organization": organization})
    stack.api.create(f"MediaTypes/{project}", {"name": "Picture", "dtype": "image"})
    sent: list[str] = []
    page.on("requestfinished", lambda request: sent.append(request.url) if request.method == "PUT" else None)
    show(page, f"/#/projects/{project}/upload")
    held: list[Route] = []
    page.route(re.compile("partNumber=2"), lambda route: held.append(route), times=1)  # noqa: PLW0108 playwright inspects it
    # 40 MB in three parts; nothing reads it as a picture before all of it is there
    page.locator("input[type=file]:not([webkitdirectory])").set_input_files(
        {"name": "large.png", "mimeType": "image/png", "buffer": bytes(40_000_000)}
    )
    page.wait_for_event("requestfinished", lambda request: "partNumber=" in request.url)
    page.get_by_role("button", name="Pause large.png").click()
    expect(page.get_by_text("Paused", exact=True)).to_be_visible()
    page.get_by_role("button", name="Resume large.png").click()
    expect(page.get_by_text("Done", exact=True)).to_be_visible()
    parts = [re.search(r"partNumber=(\d)", url)[1] for url in sent if "partNumber=" in url]
    assert set(parts) == {"1", "2", "3"}


def test_an_applet_runs_but_cannot_reach_the_token(new_page, stack, meadow):
    page = new_page(allow=("allow-same-origin",))  # the fixture itself tries to put the token into each frame
    url = stack.api.upload(meadow, SPY.encode())
    name = f"{uuid.uuid4().hex}.html"
    saved = stack.api.ask("POST", f"SaveGenericFile/{meadow}", {"name": name, "upload_url": url})
    applet = stack.api.create(f"Applets/{meadow}", {"name": f"spy {name}", "html_file": saved["url"]})
    show(page, f"/#/projects/{meadow}/applets/{applet}")
    body = page.frame_locator("iframe").locator("body")
    expect(body).to_contain_text("ran SecurityError SecurityError SecurityError SecurityError")
    expect(body).to_contain_text(f"project {meadow}")
    assert stack.token not in body.inner_text()


def test_a_place_is_given_as_numbers_or_on_the_map(page, stack, meadow):
    show(page, f"/#/projects/{meadow}?search=filename:whole-000*")
    card = page.locator("[data-index='0']")
    card.hover()
    card.get_by_role("checkbox").check()
    dialog = page.get_by_role("dialog")

    def stored():
        (found,) = stack.api.ask("GET", f"Medias/{meadow}", search="filename:whole-000*")
        return found["attributes"]["Position"]

    page.get_by_role("button", name="Edit attributes").click()
    dialog.get_by_label("Position: latitude").fill("95")
    dialog.get_by_label("Position: longitude").fill("130.25")
    dialog.get_by_label("Position: longitude").press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("latitude")
    dialog.get_by_label("Position: latitude").fill("-12.5")
    dialog.get_by_label("Position: latitude").press("Enter")
    dialog.get_by_role("button", name="Map of Position").click()
    expect(dialog.get_by_role("application")).to_have_accessible_name(re.compile("12.5° S, 130.25° E"))
    dialog.get_by_role("application").press("ArrowUp")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    assert stored() == [130.25, -8.5]
