"""Finding media and annotations, changing many, uploading, applets."""

from __future__ import annotations

import re
import uuid

from PIL import Image
from playwright.sync_api import Route, expect

from tests.console.browser.projects import new_project
from tests.console.browser.views import show
from tests.video.clips import KINDS, make

MANY = 4000
FRAMES = 100
"""Frames in which the list is scrolled from its start to its end."""
PIXEL = bytes.fromhex("47494638396101000100800000ffffff00000021f90401000000002c00000000010001000002024401003b")
SPY = """<body><script>
const found = [];
for (const read of [() => parent.localStorage, () => sessionStorage, () => top.document, () => document.cookie]) {
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
    # a video plays under the pointer
    show(page, f"/#/projects/{meadow}?search=filename:rabbit*")
    card = page.locator("[data-index='0'] .media-card")
    still = card.locator("img").get_attribute("src")
    card.hover()
    expect(card.locator("img")).not_to_have_attribute("src", still)
    expect(card.locator("img")).to_have_attribute("src", re.compile("gif"))


def test_terms_of_a_search_all_have_to_hold(page, meadow):
    written = {
        "Site:Wall Depth:>400": "Site:Wall AND Depth:>400",
        "Site:Wall OR Site:Burrow": "Site:Wall OR Site:Burrow",
        "a && b || c": "a && b || c",
        "a NOT b -c !d": "a AND NOT b AND -c AND !d",
        "(a b) OR c": "(a AND b) OR c",
        "(a)(b)^2 c": "(a) AND (b)^2 AND c",
        "Site:(Wall Burrow) Depth:[1 TO 5] Depth: >4": "Site:(Wall Burrow) AND Depth:[1 TO 5] AND Depth: >4",
        'Site:"a OR b" c\\ d "e f"~2': 'Site:"a OR b" AND c\\ d AND "e f"~2',
        "a (b": "a (b",
        'a "b': 'a "b',
    }
    show(page, f"/#/projects/{meadow}?search=Weather:Sun Site:Burrow")
    expect(page.get_by_role("status").filter(has_text="media")).to_have_text("7 media")
    made = page.evaluate(
        """async (given) => {
          const base = document.querySelector("script[src*='/app.js']").src.replace(/app[.]js$/, "");
          const { conjunction } = await import(`${base}ui/search.js`);
          return given.map(conjunction);
        }""",
        list(written),
    )
    assert dict(zip(written, made, strict=True)) == written


def test_a_wrong_search_says_why(new_page, meadow):
    page = new_page(allow=("status of 400",))
    show(page, f"/#/projects/{meadow}?search=Species:(")
    expect(page.get_by_role("alert")).to_contain_text("Close each (")
    page.wait_for_load_state("networkidle")
    expect(page.locator(".toast")).to_have_count(0)  # told once


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


def test_an_upload_is_paused_and_goes_on_where_it_was(page, stack, tmp_path):
    project = new_project(stack.api, "uploads")
    stack.api.create(f"MediaTypes/{project}", {"name": "Picture", "dtype": "image"})
    sent: list[str] = []
    page.on("requestfinished", lambda request: sent.append(request.url) if request.method == "PUT" else None)
    show(page, f"/#/projects/{project}/upload")
    held: list[Route] = []
    page.route(re.compile("partNumber=2"), lambda route: held.append(route), times=1)  # noqa: PLW0108 playwright inspects it
    # 40 MB in three parts: a picture, and what readers of it pass over
    Image.new("RGB", (8, 8)).save(tmp_path / "large.png")
    with (tmp_path / "large.png").open("ab") as file:
        file.write(bytes(40_000_000))
    with page.expect_event("requestfinished", lambda request: "partNumber=" in request.url):
        page.locator("input[type=file]:not([webkitdirectory])").set_input_files(tmp_path / "large.png")
    page.get_by_role("button", name="Pause large.png").click()
    expect(page.get_by_text("Paused", exact=True)).to_be_visible()
    page.get_by_role("button", name="Resume large.png").click()
    expect(page.get_by_text("Done", exact=True)).to_be_visible()
    parts = [re.search(r"partNumber=(\d)", url)[1] for url in sent if "partNumber=" in url]
    assert set(parts) == {"1", "2", "3"}
    # a folder becomes a folder
    folder = tmp_path / "Reef"
    for name in ("a.gif", "b.gif", "Port/Bow/c.gif", "Starboard/Bow/d.gif"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(PIXEL)
    page.locator("input[webkitdirectory]").set_input_files(folder)
    expect(page.get_by_text("Done", exact=True)).to_have_count(5)
    expect(page.get_by_text("5 done")).to_be_visible()
    sections = {each["path"]: each["id"] for each in stack.api.ask("GET", f"Sections/{project}")}
    count = {path: stack.api.ask("GET", f"MediaCount/{project}", section=number) for path, number in sections.items()}
    found = {path: number for path, number in count.items() if path.startswith("Reef")}
    assert found == {"Reef": 2, "Reef.Port": 0, "Reef.Port.Bow": 1, "Reef.Starboard": 0, "Reef.Starboard.Bow": 1}
    page.get_by_role("link", name="Media", exact=True).click()
    expect(page.get_by_role("link", name="Bow")).to_have_count(2)


def test_uploads_wait_for_transfers_alone_and_wrong_files_are_told_at_once(page, stack, tmp_path):
    project = new_project(stack.api, "many uploads")
    stack.api.create(f"MediaTypes/{project}", {"name": "Video", "dtype": "video"})
    stack.api.create(f"MediaTypes/{project}", {"name": "Picture", "dtype": "image"})

    def unfinished(route: Route) -> None:
        answer = route.fetch()
        jobs = [{**each, "job": {**each["job"], "status": "started"}} for each in answer.json()]
        route.fulfill(response=answer, json=jobs)

    page.route(re.compile(r"/rest/Transcodes/\d+$"), unfinished)
    film = make(next(kind for kind in KINDS if kind.name == "plain"), tmp_path)
    films = [tmp_path / f"film {n}.mp4" for n in range(4)]
    for each in films:
        each.write_bytes(film.read_bytes())
    pictures = [tmp_path / f"picture {n}.gif" for n in range(5)]
    for picture in pictures:
        picture.write_bytes(PIXEL)
    cut = film.read_bytes()[:200]
    wrong = {"letter.mp4": b"Dear Ada, " * 100, "cut.mp4": cut, "none.png": b"", "notes.txt": b"a"}
    damaged = tmp_path / "damaged.jpg"
    Image.new("RGB", (64, 64)).save(damaged)
    damaged.write_bytes(damaged.read_bytes()[:300])
    for name, content in wrong.items():
        (tmp_path / name).write_bytes(content)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if "_uploads" in request.url else None)
    show(page, f"/#/projects/{project}/upload")
    given = [*films, *pictures, damaged, *(tmp_path / each for each in wrong)]
    page.locator("input[type=file]:not([webkitdirectory])").set_input_files(given)
    expect(page.get_by_text("Failed", exact=True)).to_have_count(4)
    expect(page.get_by_text("is a JPEG image that is damaged or incomplete")).to_have_count(1)
    expect(page.get_by_text("The content is not that of a video")).to_have_count(1)
    expect(page.get_by_text("its index (moov) is missing")).to_have_count(1)
    expect(page.get_by_role("alert")).to_contain_text("notes.txt")
    expect(page.get_by_text("Transcoding", exact=True)).to_have_count(4)
    expect(page.get_by_text("Done", exact=True)).to_have_count(5)
    assert len(sent) == len([*films, *pictures, damaged])
    page.unroute(re.compile(r"/rest/Transcodes/\d+$"))
    expect(page.get_by_text("Done", exact=True)).to_have_count(9)
    other = new_project(stack.api, "another")
    stack.api.create(f"MediaTypes/{other}", {"name": "Picture", "dtype": "image"})
    show(page, f"/#/projects/{other}/upload")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_media_of_several_types_are_changed_at_once(page, stack):
    api, project = stack.api, new_project(stack.api, "two types")
    weather = {"name": "Weather", "dtype": "enum", "choices": ["Sun", "Rain"]}
    for name, more in (("Photo", []), ("Scan", [{"name": "Depth", "dtype": "float"}])):
        spec = {"name": name, "dtype": "image", "attribute_types": [weather, *more]}
        kind = api.create(f"MediaTypes/{project}", spec)
        api.create(f"Medias/{project}", {"type": kind, "name": f"{name}.jpg", "md5": ""})
    show(page, f"/#/projects/{project}")
    for index in (0, 1):
        page.locator(f"[data-index='{index}']").hover()
        page.locator(f"[data-index='{index}']").get_by_role("checkbox").check()
    page.get_by_role("button", name="Edit attributes").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Depth")).to_have_count(0)
    dialog.get_by_label("Weather").select_option("Rain")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    assert [each["attributes"]["Weather"] for each in api.ask("GET", f"Medias/{project}")] == ["Rain", "Rain"]


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


def test_thousands_of_results_scroll_with_few_nodes_and_without_stutter(page, stack):
    project = new_project(stack.api, "many")
    photo = stack.api.create(f"MediaTypes/{project}", {"name": "Photo", "dtype": "image"})
    dot = stack.api.create(f"LocalizationTypes/{project}", {"name": "Dot", "dtype": "dot", "media_types": [photo]})
    media = stack.api.create(f"Medias/{project}", {"type": photo, "name": "a.jpg", "md5": ""})
    spec = {"type": dot, "media_id": media[0] if isinstance(media, list) else media, "frame": 0, "x": 0.5, "y": 0.5}
    for _ in range(MANY // 500):
        stack.api.create(f"Localizations/{project}", [spec] * 500)
    page.route("**/LocalizationGraphic/*", lambda route: route.fulfill(body=PIXEL, content_type="image/gif"))
    show(page, f"/#/projects/{project}/crops")
    page.locator("[data-index='0'] img").wait_for()
    inspector = page.context.new_cdp_session(page)
    inspector.send("Performance.enable")

    def metric(name):
        return {each["name"]: each["value"] for each in inspector.send("Performance.getMetrics")["metrics"]}[name]

    before = metric("ThreadTime")
    most = page.evaluate(
        """async (frames) => {
          const list = document.querySelector('.virtual'), step = (list.scrollHeight - list.clientHeight) / frames;
          let most = 0;
          for (let n = 1; n <= frames; n++) {
            list.scrollTop = n * step;
            await new Promise(requestAnimationFrame);
            most = Math.max(most, document.querySelectorAll('*').length);
          }
          return most;
        }""",
        FRAMES,
    )
    busy = (metric("ThreadTime") - before) / FRAMES
    expect(page.locator(f"[data-index='{MANY - 1}'] img")).to_be_visible()
    assert most < 2_000
    assert busy < 1 / 30, f"a frame of scrolling takes {busy * 1000:.1f} ms of the processor"
