"""Markup in names, descriptions and values is text in every view, and no view breaks the page's policy."""

from __future__ import annotations

import itertools
import json
import uuid
from typing import Any

import pytest
from playwright.sync_api import Page, expect

NASTY = (
    "<img src=x onerror=window.hit=1>",
    "<script>window.hit=1</script>",
    '"><svg onload=window.hit=1>',
    "javascript:window.hit=1//",
    "${window.hit=1}{{window.hit=1}}",
    "&lt;b&gt;\u202e<b>bold</b>",
)
_turns = itertools.cycle(NASTY)


@pytest.fixture(scope="session")
def nasty(stack) -> dict[str, Any]:
    """A project in which every text is markup."""
    api = stack.api
    word = lambda: f"{next(_turns)} {uuid.uuid4().hex[:6]}"  # noqa: E731
    organization = api.create("Organizations", {"name": word()})
    project = api.create("Projects", {"name": word(), "summary": word(), "organization": organization})
    attributes = [
        {"name": "<svg onload(1)> &lt;b>", "dtype": "enum", "choices": [word(), word()], "description": word()},
        {"name": "<b>bold", "dtype": "string", "default": word()},
    ]
    media_type = api.create(
        f"MediaTypes/{project}",
        {"name": word(), "dtype": "image", "description": word(), "attribute_types": attributes},
    )
    box = api.create(
        f"LocalizationTypes/{project}",
        {
            "name": word(),
            "dtype": "box",
            "description": word(),
            "media_types": [media_type],
            "attribute_types": attributes,
        },
    )
    version = api.create(f"Versions/{project}", {"name": word(), "description": word()})
    media = api.create(
        f"Medias/{project}",
        {
            "type": media_type,
            "name": word(),
            "md5": "",
            "section": word(),
            "attributes": {attributes[0]["name"]: attributes[0]["choices"][0]},
        },
    )
    media = media[0] if isinstance(media, list) else media
    api.create(f"Sections/{project}", {"name": word(), "dtype": "saved_search", "lucene_string": "_id:>0"})
    shape = {"x": 0.1, "y": 0.1, "width": 0.2, "height": 0.2}
    api.create(
        f"Localizations/{project}",
        [
            {
                "media_id": media,
                "type": box,
                "frame": 0,
                **shape,
                "version": version,
                "attributes": {attributes[0]["name"]: attributes[0]["choices"][1]},
            }
        ],
    )
    return {"organization": organization, "project": project, "media": media}


def views(nasty: dict[str, Any]) -> list[str]:
    project = f"/#/projects/{nasty['project']}"
    pages = ("", "/crops", "/upload", "/jobs", "/manage", "/manage/types", "/manage/members", "/manage/versions")
    more = ("/manage/algorithms", "/manage/applets", "/manage/history?user=all")
    return [
        "/#/",
        "/#/profile",
        f"/#/organizations/{nasty['organization']}",
        *(f"{project}{page}" for page in pages + more),
    ]


def show(page: Page, address: str) -> None:
    """Go to a view and wait until it has read what it shows."""
    page.goto(address)
    page.locator(f"body[data-view={json.dumps(address.removeprefix('/#').partition('?')[0])}]").wait_for()
    expect(page.locator(".loading")).to_have_count(0)


def test_markup_in_names_is_text_in_every_view(new_page, nasty):
    page = new_page(allow=("Failed to load resource",))  # the media has no picture
    for view in views(nasty):
        show(page, view)
        assert page.evaluate("window.hit") is None, view
        assert page.locator("main script, main [onerror], main [onload], main img[src='x']").count() == 0, view
    show(page, f"/#/projects/{nasty['project']}")
    page.get_by_role("listitem").first.wait_for()
    assert any(part in page.locator("main").inner_text() for part in NASTY)


def test_an_address_of_the_console_cannot_run_script(page, stack):
    for address in (
        "/#/javascript:window.hit=1",
        "/#/projects/<img src=x onerror=window.hit=1>",
        "/#/%3Cscript%3Ewindow.hit=1",
    ):
        page.goto(address)
        page.locator("#main").wait_for()
        assert page.evaluate("window.hit") is None
