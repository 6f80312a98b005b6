"""The map: places of media and annotations, an area to search in, and the way to the frame."""

from __future__ import annotations

import io
import re

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.console.browser.projects import new_project

CORALS = {"near": [8.0, 48.0], "far": [8.5, 48.2], "away": [-120.0, 36.0]}


@pytest.fixture(scope="module")
def atlas(stack) -> dict[str, int]:
    """A project with three annotations and a media at places; the ids of project and media."""
    api, project = stack.api, new_project(stack.api, "Atlas")
    site = {"name": "Site", "dtype": "geopos"}
    image = api.create(f"MediaTypes/{project}", {"name": "still", "dtype": "video", "attribute_types": [site]})
    named = [{"name": "Position", "dtype": "geopos"}, {"name": "Label", "dtype": "string"}]
    spec = {"name": "coral", "dtype": "dot", "media_types": [image], "attribute_types": named}
    dot = api.create(f"LocalizationTypes/{project}", spec)
    media = api.create(
        f"Medias/{project}", {"type": image, "name": "a.mp4", "md5": "", "attributes": {"Site": [8.0, 48.0]}}
    )
    rows = [
        {"media_id": media, "type": dot, "frame": frame, "x": 0.5, "y": 0.5, "attributes": {"Position": place}}
        for frame, place in enumerate(CORALS.values(), 7)
    ]
    api.ask("POST", f"Localizations/{project}", rows)
    return {"project": project, "media": media}


def test_places_are_on_the_map_and_lead_to_their_frame(page, atlas):
    page.goto(f"/#/projects/{atlas['project']}/map")
    drawing = page.get_by_role("group", name="Map with 3 places")
    expect(drawing.get_by_role("link")).to_have_count(3)
    expect(drawing.locator("path.land")).to_have_attribute("d", re.compile("^M"))
    expect(page.get_by_text("3 of 3 places")).to_be_visible()
    drawing.get_by_role("link", name="coral, frame 8").click()
    page.wait_for_url(re.compile(rf"/media/{atlas['media']}\?frame=8&select=\d+"))


def test_tiles_of_the_operator_lie_below_the_coastline_where_their_places_are(page, atlas):
    """Each tile is white with a black line down its middle; without a name, no other server is asked."""
    tile, asked = Image.new("RGB", (256, 256), "white"), []
    tile.paste("black", (0, 124, 256, 132))
    out = io.BytesIO()
    tile.save(out, "PNG")
    page.on("request", lambda request: asked.append(request.url) if "tiles.example" in request.url else None)
    page.goto(f"/#/projects/{atlas['project']}/map")
    drawing = page.get_by_role("group", name="Map with 3 places")
    expect(drawing.locator("path.land")).to_have_attribute("d", re.compile("^M"))
    expect(drawing.locator("image")).to_have_count(0)
    assert asked == []

    def with_tiles(route):
        answer = route.fetch()
        text = answer.text().replace(
            'name="tiles" content="" data-source=""',
            'name="tiles" content="https://tiles.example/{z}/{x}/{y}.png" data-source="Chart office"',
        )
        policy = answer.headers["content-security-policy"].replace("data:", "data: https://tiles.example", 1)
        route.fulfill(body=text, headers={**answer.headers, "content-security-policy": policy})

    page.route(re.compile(r"//[^/]+/$"), with_tiles)
    page.route("https://tiles.example/**", lambda route: route.fulfill(body=out.getvalue(), content_type="image/png"))
    with page.expect_response("https://tiles.example/**"):
        page.reload()
    expect(page.get_by_text("Chart office")).to_be_visible()
    expect(drawing.locator("image").first).to_have_attribute("href", re.compile("^https://tiles.example/[0-9]+/"))
    tops = drawing.locator(".tiles > svg").evaluate_all("all => all.map(each => Number(each.getAttribute('y')))")
    highs = drawing.locator(".tiles > svg").evaluate_all("all => all.map(each => Number(each.getAttribute('height')))")
    ends = {round(top + high, 3) for top, high in zip(tops, highs, strict=True)}
    assert {round(top, 3) for top in tops} - {round(min(tops), 3)} <= ends


def test_an_area_that_is_drawn_is_searched(page, atlas):
    page.goto(f"/#/projects/{atlas['project']}/map?by=localization%3APosition")
    drawing = page.get_by_role("group", name=re.compile("^Map with"))
    expect(drawing.get_by_role("link")).to_have_count(3)
    page.get_by_role("button", name="Draw an area").click()
    box = drawing.bounding_box()
    search = page.get_by_role("button", name="Search here")
    expect(search).to_be_disabled()
    for x, y in ((0.5, 0.05), (0.92, 0.05), (0.92, 0.9), (0.5, 0.9)):
        drawing.click(position={"x": box["width"] * x, "y": box["height"] * y})
    expect(drawing.locator("circle.corner")).to_have_count(4)
    search.click()
    expect(page.get_by_text("2 of 2 places")).to_be_visible()
    expect(drawing.get_by_role("link", name="coral, frame 9")).to_have_count(0)
    page.get_by_role("button", name="Clear the area").click()
    expect(page.get_by_text("3 of 3 places")).to_be_visible()


def test_media_have_places_too_and_the_keys_move_the_map(page, atlas):
    page.goto(f"/#/projects/{atlas['project']}/map?by=media%3ASite")
    drawing = page.get_by_role("group", name="Map with 1 places")
    link = drawing.get_by_role("link", name="a.mp4")
    circle = link.locator("circle")
    before = float(circle.get_attribute("cx"))
    drawing.press("ArrowRight")
    expect(circle).not_to_have_attribute("cx", str(before))
    assert float(circle.get_attribute("cx")) < before
    link.click()
    page.wait_for_url(re.compile(rf"/media/{atlas['media']}$"))
