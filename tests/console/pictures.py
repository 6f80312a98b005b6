"""`make pictures`: pictures of every view for docs/console.md, of a stack with the demonstration project.

python -m tests.console.pictures            starts a stack of its own
python -m tests.console.pictures URL TOKEN PROJECT    takes a running one
python -m tests.console.pictures FOLDER [LANGUAGE]    every view, light and dark, 1280 and 1920 wide, to be looked at
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from infra import demo
from tests import chromium
from tests.console import browser_session
from tests.console.browser import views
from tests.console.browser.stack import run

FOLDER = Path(__file__).parent.parent.parent / "docs" / "images" / "console"
SIZE: Any = {"width": 1360, "height": 850}
WIDTHS = (1280, 1920)
RUNNING = 4
"""Words of the command line that names a running stack."""
COLORS = 160
LARGEST = 150_000
"""Bytes of a picture."""
SECONDS = 90
SHOWN = """Promise.all([...document.images].filter((each) => each.getBoundingClientRect().top < innerHeight)
  .map((each) => each.decode().catch(() => 0)))"""
"""Wait for the pictures in sight: those further down are read later."""
VIEWS: tuple[tuple[str, str, str, str], ...] = (
    ("sign-in", "light", "#/sign-in", ""),
    ("projects", "light", "#/", ".project-picture img"),
    ("media", "light", "#/projects/{project}", ".media-picture img"),
    ("media-search", "dark", "#/projects/{project}?search=Weather:Sun", ".media-picture img"),
    ("crops", "dark", "#/projects/{project}/crops?type={animal}", ".crop-picture img"),
    ("annotate", "dark", "#/projects/{project}/media/{clip}?frame=48", ".stage[data-frame='48']"),
    ("upload", "light", "#/projects/{project}/upload", ".drop-zone"),
    ("transfers", "light", "#/projects/{project}/transfers", ".works"),
    ("jobs", "light", "#/projects/{project}/jobs?show=transcodes", ".job-group"),
    ("statistics", "light", "#/projects/{project}/statistics?type={animal}&by=Behavior", ".uplot"),
    ("types", "light", "#/projects/{project}/manage/types", ".type-card"),
    ("leaves", "light", "#/projects/{project}/manage/leaves", "[role=treeitem]"),
    ("members", "light", "#/projects/{project}/manage/members", ".table"),
    ("webhooks", "light", "#/projects/{project}/manage/webhooks", ".table"),
    ("history", "dark", "#/projects/{project}/manage/history", ".history"),
    ("organization", "light", "#/organizations/{organization}", ".table"),
    ("profile", "dark", "#/profile", ".token-form"),
    ("review", "light", "#/projects/{project}/review", ".work .thumb img"),
    ("work", "light", "#/projects/{project}/work", ".work .thumb img"),
    ("comments", "dark", "#/projects/{project}/media/{clip}?frame=48&comment={comment}", ".thread"),
    ("quality", "light", "#/projects/{project}/quality/{report}", ".conflict-both canvas"),
    ("tasks", "dark", "#/projects/{project}/tasks", ".board-card img"),
)
"""Name, appearance, address, and what has to be there before the picture is taken."""


def main() -> None:
    """Take the pictures of a stack."""
    if len(sys.argv) == RUNNING:
        url, token, project = sys.argv[1:]
        take(url, token, int(project))
        return
    with tempfile.TemporaryDirectory() as home, run(Path(home)) as stack:
        project = demo.fill(stack.api)
        if len(sys.argv) > 1:
            look(stack.url, stack.token, project, Path(sys.argv[1]), *sys.argv[2:])
        else:
            take(stack.url, stack.token, project)


def take(url: str, token: str, project: int) -> None:
    """Take the pictures of a project. Raises SystemExit where there is no Chromium."""
    places = _fill(demo.Service(url, token), project)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with _browser() as browser:
        for name, theme, address, condition in VIEWS:
            shot = _shoot(
                browser, (url, "" if name == "sign-in" else token), address.format(**places), condition, theme
            )
            _save(shot, FOLDER / f"{name}.png")


def look(url: str, token: str, project: int, folder: Path, language: str = "en") -> None:
    """Take every view in each appearance and width, as it is: `NAME-THEME-WIDTH.png`."""
    service = demo.Service(url, token)
    places = _fill(service, project)
    folder.mkdir(parents=True, exist_ok=True)
    shown = [(name, address.format(**places), condition) for name, _, address, condition in VIEWS]
    known = {address for _, address, _ in shown}
    others = [each[1:] for each in (*views.addresses(**places, **_more(service, places)), *views.OPEN)]
    slugs = [re.sub(r"\W+", "-", each).strip("-") for each in others]
    shown += [(slug, address, "") for slug, address in zip(slugs, others, strict=True) if address not in known]
    with _browser() as browser:
        for (name, address, condition), theme, width in product(shown, ("light", "dark"), WIDTHS):
            page = (url, "" if f"/{address}" in views.OPEN else token)
            size = {"width": width, "height": width * 9 // 16}
            shot = _shoot(browser, page, address, condition, theme, size, language)
            (folder / f"{name}-{theme}-{width}.png").write_bytes(shot)


@contextlib.contextmanager
def _browser() -> Iterator[Browser]:
    found = chromium.find() or sys.exit(chromium.ABSENT)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=chromium.ARGUMENTS)
        yield browser
        browser.close()


def _shoot(
    browser: Browser,
    place: tuple[str, str],
    address: str,
    condition: str,
    theme: str,
    size: Any = SIZE,
    language: str = "en",
) -> bytes:
    """A view as PNG; `place` is the stack's URL and a token, "" for none."""
    url, token = place
    context = browser.new_context(viewport=size, locale="en-GB" if language == "en" else language, timezone_id="UTC")
    page = context.new_page()
    page.set_default_timeout(SECONDS * 1000)
    page.add_init_script(f"localStorage.setItem('limn.theme', '{theme}')")
    page.add_init_script(f"localStorage.setItem('limn.language', '{language}')")
    if token:
        browser_session.keep(context, url, token)
    page.goto(f"{url}/{address}")
    _wait(page, condition)
    shot = page.screenshot(animations="disabled")
    context.close()
    return shot


def _fill(service: demo.Service, project: int) -> dict[str, Any]:
    """Add to the demonstration what its pictures show; the ids in their addresses."""
    places = {**_places(service, project), "project": project}
    places["report"] = _compare(service, project, places["animal"])
    places["comment"] = _discuss(service, project, places["clip"])
    if not service.ask("GET", f"Exports/{project}"):
        service.create(f"Exports/{project}", {"format": "coco", "name": "Animals", "classes": {"attribute": "Species"}})
    if not service.ask("GET", f"LeafTypes/{project}"):
        _grow(service, project)
    if not service.ask("GET", f"Datasets/{project}"):
        service.create(f"Datasets/{project}", {"name": "Spring", "description": "As the first model was trained"})
    if not service.ask("GET", f"Webhooks/{project}"):
        spec = {"name": "Catalogue", "url": "https://hooks.example.org/limn", "types": ["limn.media.*"]}
        service.ask("POST", f"Webhooks/{project}", spec)
    if not service.ask("GET", f"Tasks/{project}"):
        _plan(service, project)
    folder = service.create(f"Sections/{project}", {"name": "Winter", "dtype": "folder"})
    service.ask("DELETE", f"Section/{folder}")  # so that the history has something to restore
    return places


def _more(service: demo.Service, places: dict[str, Any]) -> dict[str, Any]:
    """What addresses of the console name beside `places`."""
    project, media = places["project"], places["clip"]
    box = service.ask("GET", f"Localizations/{project}", type=places["animal"], media_id=media)[0]["id"]
    task, version = (service.ask("GET", f"{kind}/{project}")[0]["id"] for kind in ("Tasks", "Versions"))
    return {"media": media, "box": box, "task": task, "version": version}


def _grow(service: demo.Service, project: int) -> None:
    """A label tree of a few animals."""
    tree = service.create(f"LeafTypes/{project}", {"name": "Taxon"})
    above: int | None = None
    for names in (["Animalia", "Plantae"], ["Mammalia", "Aves", "Insecta"], ["Lagomorpha", "Rodentia"]):
        made = service.create(f"Leaves/{project}", [{"name": name, "type": tree, "parent": above} for name in names])
        above = made[0]


def _plan(service: demo.Service, project: int) -> None:
    """Tasks, one of them handed in and one at work."""
    spec = {"name": "Spring survey", "media_query": "", "copies": 2, "due_datetime": "2030-05-01T00:00:00Z"}
    service.ask("POST", f"Tasks/{project}", {**spec, "checklist": ["All animals boxed"]})
    done = service.ask("POST", f"NextTask/{project}", {})["id"]
    service.ask("PATCH", f"Task/{done}", {"state": "to review"})
    service.ask("POST", f"NextTask/{project}", {})


def _discuss(service: demo.Service, project: int, clip: int) -> int:
    """A thread on a frame; its first comment."""
    there = service.ask("GET", f"Comments/{project}")
    if there:
        return int(there[0]["id"])
    text = "Is this a **rabbit** or a hare? @admin"
    first = service.create(f"Comments/{project}", {"text": text, "media_id": clip, "frame": 48})
    service.create(f"Comments/{project}", {"text": "A rabbit: see the ears.", "parent": first})
    return int(first)


def _compare(service: demo.Service, project: int, animal: int) -> str:
    """A report of a second layer in which some animals are missing, and some are another species."""
    there = service.ask("GET", f"QualityReports/{project}")
    if there:
        return str(there[-1]["uid"])
    boxes = service.ask("GET", f"Localizations/{project}", type=animal)
    layer = service.create(f"Versions/{project}", {"name": "Second opinion"})
    species = sorted({box["attributes"]["Species"] for box in boxes if box["attributes"].get("Species")})
    copies = []
    for turn, box in enumerate(boxes):
        other = {"Species": species[turn % len(species)]} if turn % 9 == 0 else {}
        place = {name: box[name] for name in ("type", "frame", "y", "width", "height")}
        place |= {"media_id": box["media"], "x": max(0, box["x"] - 0.01), "attributes": box["attributes"] | other}
        if turn % 13:
            copies.append({**place, "version": layer})
    service.ask("POST", f"Localizations/{project}", copies)
    spec = {"reference": boxes[0]["version"], "versions": [layer], "class_attribute": "Species"}
    return str(service.create(f"QualityReports/{project}", {**spec, "query": f"type={animal}"}))


def _wait(page: Page, condition: str) -> None:
    page.locator("body[data-view]:not([data-view=''])").wait_for()
    set_up = page.get_by_role("button", name="Set up review")
    if condition:
        page.locator(condition).or_(set_up).first.wait_for()
        if set_up.is_visible():
            set_up.click()
        page.locator(condition).first.wait_for()
    expect(page.locator(".picture-waiting")).to_have_count(0, timeout=SECONDS * 1000)
    page.wait_for_load_state("networkidle")
    page.evaluate(SHOWN)


def _places(service: demo.Service, project: int) -> dict[str, Any]:
    [clip, *_] = service.ask("GET", f"Medias/{project}", dtype="video", fields="id")
    types = service.ask("GET", f"LocalizationTypes/{project}")
    animal = next(each["id"] for each in types if each["name"] == "Animal")
    about = service.ask("GET", f"Project/{project}")
    return {"clip": clip["id"], "animal": animal, "organization": about["organization"]}


def _save(content: bytes, path: Path) -> None:
    """Write a picture with few colors, smaller where it would have more than 150 KB."""
    whole = Image.open(io.BytesIO(content)).convert("RGB")
    for share in (1, 0.85, 0.7, 0.6):
        size = (round(whole.width * share), round(whole.height * share))
        whole.resize(size, Image.Resampling.LANCZOS).quantize(COLORS, dither=Image.Dither.NONE).save(
            path, optimize=True
        )
        if path.stat().st_size <= LARGEST:
            break
    print(f"{path.name}: {path.stat().st_size // 1000} KB")  # noqa: T201 the command's output


if __name__ == "__main__":
    main()
