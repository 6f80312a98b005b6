"""Masks by brush, eraser, filling and edges, and ellipses, turned boxes, polylines, holes and skeletons in Chromium."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from pycocotools import mask as coco

from chalicelib.core.values import rle
from chalicelib.formats.interpolation import between
from chalicelib.formats.model import Label, Refined
from tests.console.browser.dives import Screen, close
from tests.console.browser.reefs import FINE, SIZE, Reef, object_pixels, reef
from tests.console.browser.stack import Stack
from tests.console.browser.waits import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),  # of pycocotools
]
Pixels = np.ndarray[Any, np.dtype[np.bool_]]
ROOT = "const root = document.querySelector('script[src*=\"app.js\"]').src.replace('app.js', '');"
KEYS = {"Area": "1", "Body": "2", "Fish": "3"}
"""Of types, by name."""


@pytest.fixture(scope="module")
def made(stack: Stack) -> Reef:
    return reef(stack)


class Painting(Screen):
    """The annotation view of one of its images."""

    def open_image(self, media: int) -> None:
        self.page.goto(f"/#/projects/{self.dive.project}/media/{media}")
        self.page.wait_for_selector('.stage[data-frame="0"]')
        self.saving("saved", "unsaved")

    def click(self, *places: tuple[float, float], **more: Any) -> None:
        for place in places:
            self.page.mouse.click(*self.point(*place), **more)

    def all_saved(self) -> list[dict[str, Any]]:
        """Its localizations, after everything is saved."""
        self.saved()
        return self.dive.rows()


@pytest.fixture
def screen(page: Page, made: Reef) -> Painting:
    made.clear()
    painting = Painting(page, made)
    painting.open_image(made.media)
    return painting


def pixels(row: dict[str, Any], size: tuple[int, int] = SIZE) -> Pixels:
    """The mask of a row in its whole picture, by pycocotools."""
    width, height = size
    whole = np.zeros((height, width), dtype=np.bool_)
    tall, wide = row["mask"]["size"]
    left, top = round(row["x"] * width), round(row["y"] * height)
    whole[top : top + tall, left : left + wide] = coco.decode(row["mask"])
    return whole


def stroked(
    start: tuple[float, float], stop: tuple[float, float], radius: float, size: tuple[int, int] = SIZE
) -> Pixels:
    """The pixels whose middles are within a distance of a stretch; places are in fractions."""
    y, x = np.mgrid[0 : size[1], 0 : size[0]] + 0.5
    (ax, ay), (bx, by) = ((place[0] * size[0], place[1] * size[1]) for place in (start, stop))
    length = (bx - ax) ** 2 + (by - ay) ** 2
    share = np.clip(((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length, 0, 1)
    made: Pixels = np.hypot(x - ax - share * (bx - ax), y - ay - share * (by - ay)) <= radius
    return made


def overlap(one: Pixels, two: Pixels) -> float:
    return float((one & two).sum() / (one | two).sum())


def test_a_mask_is_painted_erased_and_undone_pixel_by_pixel(screen):
    screen.press(KEYS["Fish"], "b", *["'"] * 6)
    diameter = int("".join(filter(str.isdigit, screen.page.locator(".stage-hint").inner_text().split("pixels")[0])))
    screen.drag((0.2, 0.3), (0.4, 0.6))
    (row,) = screen.all_saved()
    painted = stroked((0.2, 0.3), (0.4, 0.6), diameter / 2)
    assert overlap(pixels(row), painted) > 0.98, "the pointer stands on whole pixels of the screen"
    assert row["mask"]["size"] == [round(row["height"] * SIZE[1]), round(row["width"] * SIZE[0])]
    screen.press("B")
    screen.drag((0.2, 0.6), (0.4, 0.3))
    (erased,) = screen.all_saved()
    assert overlap(pixels(erased), painted & ~stroked((0.2, 0.6), (0.4, 0.3), diameter / 2)) > 0.97
    screen.press("Control+z")
    (again,) = screen.all_saved()
    assert again["mask"] == row["mask"], "bit by bit"
    screen.press("Control+z")
    assert screen.all_saved() == []


def test_the_next_mask_begins_with_enter_and_masks_are_joined_and_cut(screen):
    screen.press(KEYS["Fish"], "b", *["'"] * 6)
    screen.drag((0.2, 0.2), (0.4, 0.4))
    screen.press("Enter")
    screen.drag((0.4, 0.2), (0.2, 0.4))
    one, two = map(pixels, screen.all_saved())
    screen.press("Escape", "v", "Control+a", "D")
    cut = [pixels(row) for row in screen.all_saved()]
    assert any((each == (one & ~two)).all() or (each == (two & ~one)).all() for each in cut)
    screen.press("Control+z", "J")
    (joined,) = screen.all_saved()
    assert (pixels(joined) == (one | two)).all()
    screen.press("Control+z")
    assert len(screen.all_saved()) == 2


def test_the_edges_of_an_object_are_found_in_its_box(screen):
    screen.press(KEYS["Fish"])
    screen.drag((0.33, 0.27), (0.62, 0.73))
    screen.press("v", "E")
    rows = until(lambda: [row for row in screen.all_saved() if "mask" in row], "the edges are found")
    assert overlap(pixels(rows[0]), object_pixels(SIZE)) > 0.97


def test_a_mask_with_a_hole_becomes_a_polygon_and_a_mask_again(screen, made):
    screen.press(KEYS["Fish"])
    screen.drag((0.2, 0.2), (0.5, 0.7))
    screen.press("v", "B", *["'"] * 6)
    screen.drag((0.3, 0.45), (0.4, 0.45))
    (row,) = screen.all_saved()
    screen.press("Escape", "P")
    (polygon,) = screen.all_saved()
    assert polygon["type"] == made.types["Area"]
    assert len(polygon["holes"]) == 1
    assert close([polygon["points"][0][0]], [0.2]) or close([polygon["points"][0][0]], [0.5])
    screen.press("P")
    (again,) = screen.all_saved()
    assert overlap(pixels(again), pixels(row)) > 0.98
    screen.press("G")
    screen.click((0.35, 0.45))
    (full,) = screen.all_saved()
    assert pixels(full).sum() == full["mask"]["size"][0] * full["mask"]["size"][1]


def test_boxes_are_turned_resized_and_made_ellipses(screen):
    screen.press(KEYS["Fish"])
    screen.drag((0.4, 0.4), (0.6, 0.6))
    screen.press("v")
    x, y = screen.point(0.5, 0.4)
    screen.page.mouse.move(x, y - 26)
    screen.page.mouse.down()
    screen.page.mouse.move(*screen.point(0.8, 0.5), steps=3)
    screen.page.mouse.up()
    (row,) = screen.all_saved()
    assert row["angle"] == pytest.approx(90, abs=1)
    # turned by a right angle, the handle at its lower end makes the box wider
    half = 0.1 * SIZE[0] / SIZE[1]
    screen.drag((0.5, 0.5 + half), (0.5, 0.5 + half + 0.1))
    screen.press("Q")
    (ellipse,) = screen.all_saved()
    assert ellipse["form"] == "ellipse"
    assert ellipse["width"] == pytest.approx(0.2 + 0.1 * SIZE[1] / SIZE[0], abs=0.005)
    assert ellipse["height"] == pytest.approx(0.2, abs=0.005)
    assert ellipse["y"] + ellipse["height"] / 2 == pytest.approx(0.55, abs=0.005)
    screen.press("Q")
    (plain,) = screen.all_saved()
    assert "form" not in plain


def test_polylines_end_open_and_polygons_have_holes(screen):
    screen.press(KEYS["Area"])
    screen.click((0.1, 0.7), (0.2, 0.8), (0.3, 0.7))
    screen.press("Enter")
    (line,) = screen.all_saved()
    assert line["closed"] is False
    assert len(line["points"]) == 3
    screen.click((0.4, 0.5), (0.8, 0.5), (0.8, 0.9), (0.4, 0.9), (0.4, 0.5))
    screen.press("v")
    screen.click((0.45, 0.85))
    screen.press("O")
    screen.click((0.5, 0.6), (0.7, 0.6), (0.7, 0.8))
    screen.press("Enter")
    polygon = next(row for row in screen.all_saved() if "closed" not in row)
    assert close(np.ravel(polygon["holes"]), [0.5, 0.6, 0.7, 0.6, 0.7, 0.8])
    screen.page.mouse.move(*screen.point(0.67, 0.65))
    screen.press("O")
    assert all("holes" not in row for row in screen.all_saved())


def test_a_skeleton_is_clicked_by_names_and_its_points_are_dragged_hidden_and_taken_away(screen):
    hint = screen.page.locator(".stage-hint")
    screen.press(KEYS["Body"])
    expect(hint).to_contain_text("click nose (1 of 3)")
    screen.click((0.2, 0.2))
    expect(hint).to_contain_text("click fin (2 of 3)")
    screen.page.keyboard.down("Shift")
    screen.click((0.3, 0.3))
    screen.page.keyboard.up("Shift")
    expect(hint).to_contain_text("click tail (3 of 3)")
    screen.press("V")
    (row,) = screen.all_saved()
    assert row["visible"] == [2, 1, 0]
    assert close(np.ravel(row["points"]), [0.2, 0.2, 0.3, 0.3, 0, 0])
    screen.press("v")
    screen.drag((0.2, 0.2), (0.25, 0.1))
    screen.page.mouse.move(*screen.point(0.6, 0.5))
    screen.press("V")
    screen.page.mouse.move(*screen.point(0.3, 0.3))
    screen.press("V")
    (row,) = screen.all_saved()
    assert row["visible"] == [2, 0, 2]
    assert close(np.ravel(row["points"]), [0.25, 0.1, 0, 0, 0.6, 0.5])


def test_each_key_has_one_command_where_all_shapes_are_allowed(screen):
    screen.press("?")
    sheet = screen.page.get_by_role("dialog")
    expect(sheet).to_contain_text("Masks and other shapes")
    keys = sheet.locator(".key-button .key").all_inner_texts()
    assert len(keys) == len(set(keys)), sorted(key for key in keys if keys.count(key) > 1)


def test_run_lengths_regions_and_strokes_are_those_of_pycocotools(screen):
    chance = np.random.default_rng(3)
    masks = [chance.random(chance.integers(1, 40, 2)) < chance.random() for _ in range(150)]
    masks += [np.ones((3, 5), bool), np.zeros((4, 4), bool), np.ones((1, 1), bool), np.eye(33, dtype=bool)]
    texts = [coco.encode(np.asfortranarray(each, dtype=np.uint8))["counts"].decode() for each in masks]
    sizes = [list(each.shape) for each in masks]
    strokes = [[*(chance.random(4) * 60 - 10).tolist(), float(chance.random() * 12)] for _ in range(60)]
    runs, whole, bits = screen.page.evaluate(
        "async ({ texts, sizes, strokes }) => {"
        + ROOT
        + """
          const { runsOf, textOf } = await import(root + 'masks/runs.js');
          const { Region } = await import(root + 'masks/region.js');
          const size = { width: 90, height: 70 };
          const whole = texts.map((counts, at) => {
            const [height, width] = sizes[at];
            const mask = { size: [height, width], counts };
            const place = { x: 7 / 90, y: 5 / 70, width: width / 90, height: height / 70 };
            return Region.of({ ...place, mask }, size).shape;
          });
          const bits = strokes.map(([ax, ay, bx, by, radius]) => {
            const region = new Region({ width: 48, height: 40 });
            region.stroke({ x: ax, y: ay }, { x: bx, y: by }, radius, false);
            return [region.count, region.shape];
          });
          return [texts.map((text) => [runsOf(text), textOf(runsOf(text))]), whole, bits];
        }""",
        {"texts": texts, "sizes": sizes, "strokes": strokes},
    )
    for (decoded, encoded), text in zip(runs, texts, strict=True):
        assert decoded == rle.decode(text)
        assert encoded == text
    for shape, mask in zip(whole, masks, strict=True):
        if not mask.any():
            assert shape is None
            continue
        rows, columns = np.nonzero(mask)
        part = mask[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
        assert shape["mask"]["counts"] == coco.encode(np.asfortranarray(part, dtype=np.uint8))["counts"].decode()
        assert close([shape["x"] * 90, shape["y"] * 70], [7 + columns.min(), 5 + rows.min()])
    for (count, shape), (ax, ay, bx, by, radius) in zip(bits, strokes, strict=True):
        expected = stroked((ax / 48, ay / 40), (bx / 48, by / 40), radius, (48, 40))
        assert count == expected.sum()
        assert not count or (pixels(shape, (48, 40)) == expected).all()


def test_a_stroke_at_4k_costs_less_than_a_frame_of_the_screen(screen, made):
    screen.open_image(made.fine)
    screen.press(KEYS["Fish"], "b", "'", "'")
    session = screen.page.context.new_cdp_session(screen.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        found = session.send("Performance.getMetrics")["metrics"]
        return next(float(each["value"]) for each in found if each["name"] == "ScriptDuration")

    screen.drag((0.1, 0.1), (0.9, 0.9))
    steps, costs = 20, []
    for turn in range(4):
        before = spent()
        screen.page.mouse.move(*screen.point(0.2, 0.3 + turn / 10))
        screen.page.mouse.down()
        for step in range(steps):
            screen.page.mouse.move(*screen.point(0.2 + 0.6 * step / steps, 0.3 + turn / 10 + 0.1 * (step % 2)))
        screen.page.mouse.up()
        costs.append((spent() - before) * 1000 / steps)
    assert min(costs) < 16, costs
    screen.saved()
    (row,) = made.rows(made.fine)
    assert pixels(row, FINE).any()


POINTS_OF_A_LINE = (0.1, 0.2, 0.3, 0.4, 0.2, 0.9), (0.2, 0.1, 0.5, 0.4, 0.4, 0.7)


@pytest.mark.parametrize(
    ("kind", "shapes", "refined"),
    [
        ("box", ((0.1, 0.2, 0.3, 0.4), (0.2, 0.3, 0.1, 0.2)), (Refined(angle=350.0), Refined(angle=10.0))),
        ("box", ((0.1, 0.2, 0.3, 0.4), (0.2, 0.3, 0.1, 0.2)), (None, Refined(angle=40.0, is_ellipse=True))),
        ("box", ((0.1, 0.2, 0.3, 0.4), (0.2, 0.3, 0.1, 0.2)), (Refined(is_ellipse=True), None)),
        ("poly", POINTS_OF_A_LINE, (Refined(is_open=True), Refined(is_open=True))),
        ("poly", POINTS_OF_A_LINE, (Refined(visible=(2, 1, 0)), Refined(visible=(1, 1, 2)))),
    ],
)
def test_refined_shapes_between_keyframes_are_those_of_the_service(screen, kind, shapes, refined):
    def members(shape: tuple[float, ...], more: Refined | None) -> dict[str, Any]:
        points = np.reshape(shape, (-1, 2)).tolist()
        box = dict(zip(("x", "y", "width", "height"), shape, strict=False))
        made: dict[str, Any] = {"points": points} if kind == "poly" else {**box}
        more = more or Refined()
        made |= {"angle": more.angle} if more.angle else {}
        made |= {"form": "ellipse"} if more.is_ellipse else {}
        made |= {"closed": False} if more.is_open else {}
        return made | ({"visible": list(more.visible)} if more.visible else {})

    ends = [
        Label(media="m", kind=kind, shape=shape, refined=more, frame=frame)
        for shape, more, frame in zip(shapes, refined, (0, 4), strict=True)
    ]
    theirs = [members(label.shape, label.refined) for label in between(*ends)]
    mine = screen.page.evaluate(
        "async ([kind, one, two]) => {"
        + ROOT
        + """
          const { blend } = await import(root + 'draw/interpolation.js');
          return [0.25, 0.5, 0.75].map(blend(kind, one, two));
        }""",
        [kind, *(members(shape, more) for shape, more in zip(shapes, refined, strict=True))],
    )
    for one, two in zip(mine, theirs, strict=True):
        assert one.keys() == two.keys()
        for name, value in two.items():
            assert one[name] == value or np.ravel(one[name]) == pytest.approx(np.ravel(value)), name


def test_a_type_of_skeletons_is_made_and_changed_under_manage(page, made):
    page.goto(f"/#/projects/{made.project}/manage/types")
    page.get_by_role("button", name="New type").click()
    page.get_by_role("menuitem", name="Shapes").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Masks")).to_be_visible()
    dialog.get_by_label("Name", exact=True).fill("Crab")
    dialog.get_by_label("Shape").select_option("poly")
    expect(dialog.get_by_label("Masks")).to_have_count(0)
    dialog.get_by_label("A skeleton of named points").check()
    dialog.get_by_label("Points of the skeleton").fill("claw\neye\nleg")
    dialog.get_by_label("Edges of the skeleton").fill("claw - eye\neye - tail")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_role("alert")).to_contain_text('"eye - tail" is not two names of points')
    dialog.get_by_label("Edges of the skeleton").fill("claw - eye\neye - leg")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("dialog")).to_have_count(0)

    def crab() -> dict[str, Any]:
        types = made.api.ask("GET", f"LocalizationTypes/{made.project}")
        return next(each for each in types if each["name"] == "Crab")

    assert crab()["refinements"] == ["skeleton"]
    assert crab()["skeleton"] == {"points": ["claw", "eye", "leg"], "edges": [[0, 1], [1, 2]]}
    page.get_by_role("button", name="Actions of Crab").click()
    page.get_by_role("menuitem", name="Edit").click()
    dialog.get_by_label("Edges of the skeleton").fill("claw - leg")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert crab()["skeleton"]["edges"] == [[0, 2]]


def test_a_conflict_tells_what_refines_each_shape(screen):
    rows = [
        ({"x": 0.1, "mask": {"size": [2, 3], "counts": "132"}}, {"x": 0.1, "angle": 30}),
        ({"points": [[0.1, 0.2]], "visible": [2]}, {"points": [[0.1, 0.2]], "visible": [1]}),
        ({"points": [[0.1, 0.2]], "holes": [[[0.3, 0.4]]]}, {"points": [[0.1, 0.2]], "closed": False}),
    ]
    found = screen.page.evaluate(
        "async (rows) => {"
        + ROOT
        + """
          const { differences } = await import(root + 'draw/conflicts.js');
          const row = (shape) => ({ kind: 'localization', attributes: {}, shape });
          return rows.map(([one, two]) => differences({ mine: row(one), theirs: { row: row(two) } })[0].slice(1));
        }""",
        rows,
    )
    assert found == [
        ["left 10.0 %, mask of 3 pixels in 3 × 2", "left 10.0 %, angle 30.0°"],
        ["points 10.0 %/20.0 %, visible 2", "points 10.0 %/20.0 %, visible 1"],
        ["points 10.0 %/20.0 %, holes 30.0 %/40.0 %", "points 10.0 %/20.0 %, closed false"],
    ]
