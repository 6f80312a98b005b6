"""The addresses of all views, and how to wait for one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

import chalicelib

FOLDER = Path(str(chalicelib.__file__)).parent / "console"
PROJECT = (
    *(
        "",
        "/media",
        "/media/{media}",
        "/media/{media}?frame=0&select={box}",
        "/media/{media}?task={task}&version={version}",
        "/crops",
        "/upload",
        "/transfers",
        "/jobs",
    ),
    *("/jobs?show=transcodes", "/review", "/review?tab=annotations", "/statistics", "/statistics?kind=media", "/map"),
    *(
        "/work",
        "/tasks",
        "/tasks?way=list",
        "/tasks?way=people",
        "/comments?of=all",
        "/comments",
        "/quality",
        "/quality/{report}",
        "/quality/people",
    ),
    *(
        "/manage",
        "/manage/types",
        "/manage/leaves",
        "/manage/members",
        "/manage/versions",
        "/manage/algorithms",
        "/manage/applets",
        "/manage/files",
    ),
    *("/manage/webhooks", "/manage/sources", "/manage/shares", "/manage/history?user=all", "/applets/{applet}"),
)
ALL = (
    "/#/",
    "/#/profile",
    "/#/device",
    "/#/organizations/{organization}",
    *(f"/#/projects/{{project}}{each}" for each in PROJECT),
)
"""Addresses of a member, with the names of what they show."""
OPEN = ("/#/sign-in", "/#/shared/4be1", "/#/public", "/#/public/1")
"""Addresses of pages that need no account."""


def addresses(**ids: Any) -> list[str]:
    """All views of a project. Those of which an id is not given are left out."""
    return [each.format(**ids) for each in ALL if set(re.findall(r"{(\w+)}", each)) <= ids.keys()]


def patterns() -> list[re.Pattern[str]]:
    """The addresses that the router knows, and the pages of Manage."""
    found = re.findall(r'pattern: "([^"]+)"', (FOLDER / "router.js").read_text())
    pages = re.search(r"const PAGES = .*?;", (FOLDER / "views" / "manage.js").read_text())
    names = re.findall(r'\["(\w*)"', pages[0]) if pages else []
    whole = [each for each in found if not each.endswith("/:page")]
    whole += [f"/projects/:project/manage/{name}".rstrip("/") for name in names]
    return [re.compile(re.sub(r":\w+", "[^/]+", each)) for each in whole]


def show(page: Page, address: str) -> None:
    """Go to a view and wait until it has read what it shows."""
    page.goto(address)
    page.locator(f"body[data-view={json.dumps(address.removeprefix('/#').partition('?')[0])}]").wait_for()
    expect(page.locator(".loading")).to_have_count(0)
    if "/media/" in address:
        page.locator(".stage[data-frame]").wait_for()
