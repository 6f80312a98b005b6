"""Tracks in Chromium: what they take, keyframes, what is shown between them, gaps."""

from __future__ import annotations

import random
import re

import pytest
from playwright.sync_api import expect

from chalicelib.formats.interpolation import blend
from chalicelib.formats.model import members_of_shape
from tests.console.browser.dives import close


def on_frame(screen):
    return screen.page.get_by_role("list", name="Annotations on this frame").get_by_role("button")


def tracks(screen):
    return screen.page.get_by_role("list", name="Tracks").get_by_role("button")


def frames(dive):
    """The frames of the members of each track, in the order of tracks."""
    on = {row["id"]: row["frame"] for row in dive.boxes()}
    return [sorted(on[number] for number in track["localizations"]) for track in dive.tracks()]


def track_of(dive, *places):
    """A track with boxes on frames, at the left edges given."""
    numbers = dive.api.create(f"Localizations/{dive.project}", [dive.box(frame, x=x) for frame, x in places])
    spec = {"type": dive.types["track"], "media_ids": [dive.media], "localization_ids": numbers}
    dive.api.create(f"States/{dive.project}", [{**spec, "version": dive.version}])


def go(screen, frame):
    screen.press("g", *str(frame), "Enter")
    screen.at(frame)


def test_a_track_takes_shapes_of_its_type_alone_and_says_that_it_is_drawn_into(screen, dive):
    dive.api.create(f"Localizations/{dive.project}", [dive.box(0, x=0.1)])
    screen.open(0)
    banner = screen.page.get_by_text("· Esc to stop")
    screen.press("n", "t")
    expect(banner).to_be_visible()
    go(screen, 9)
    screen.press("2")
    expect(banner).to_have_count(0)
    screen.drag((0.5, 0.5), (0.7, 0.4))
    screen.saved()
    assert frames(dive) == [[0]]
    screen.press("Escape", "Escape", "Home")
    screen.at(0)
    screen.press("n", "t", "1")
    expect(banner).to_be_visible()
    screen.press("Escape")
    expect(banner).to_have_count(0)


def test_a_shape_of_a_track_gets_no_second_one(screen, dive):
    track_of(dive, (0, 0.1), (20, 0.5))
    screen.open(0)
    screen.press("n", "t")
    expect(screen.page.get_by_text("· Esc to stop")).to_be_visible()
    screen.saved()
    assert frames(dive) == [[0, 20]]
    go(screen, 40)
    screen.press("1")
    screen.drag((0.5, 0.5), (0.7, 0.7))
    screen.saved()
    assert frames(dive) == [[0, 20, 40]]


def test_shapes_of_one_frame_are_no_track_and_tracks_that_share_a_frame_are_not_merged(screen, dive):
    dive.api.create(f"Localizations/{dive.project}", [dive.box(50, x=0.1), dive.box(50, x=0.6)])
    screen.open(50)
    screen.press("Control+a", "t")
    expect(screen.page.get_by_text("Two of the shapes are on frame 50.")).to_be_visible()
    track_of(dive, (0, 0.1), (20, 0.5))
    track_of(dive, (20, 0.6), (30, 0.1))
    expect(tracks(screen)).to_have_count(2)
    for at in (0, 1):
        tracks(screen).nth(at).click(modifiers=["Control"] if at else [])
    screen.press("M")
    expect(screen.page.get_by_text("Two of the shapes are on frame 20.")).to_be_visible()
    screen.saved()
    assert frames(dive) == [[0, 20], [20, 30]]


def test_selecting_a_shape_of_a_track_draws_nothing_into_it(screen, dive):
    track_of(dive, (0, 0.1))
    screen.open(0)
    screen.press("n")
    expect(screen.page.get_by_text("· Esc to stop")).to_have_count(0)
    go(screen, 9)
    screen.press("1")
    screen.drag((0.5, 0.5), (0.7, 0.7))
    screen.saved()
    assert frames(dive) == [[0]]
    screen.press("Escape", "n")
    screen.press("d")
    tracks(screen).first.click()
    screen.press("d")
    expect(screen.page.get_by_text("· Esc to stop")).to_be_visible()
    go(screen, 20)
    screen.drag((0.5, 0.5), (0.7, 0.7))
    screen.saved()
    assert frames(dive) == [[0, 20]]


def test_what_is_between_keyframes_is_shown_moved_and_ended_on_every_frame(screen, dive):
    track_of(dive, (0, 0.1), (20, 0.5))
    screen.open(10)
    expect(on_frame(screen)).to_have_count(1)
    expect(on_frame(screen).first.get_by_title("between keyframes")).to_be_visible()
    screen.drag((0.35, 0.5), (0.35, 0.7))  # from 0.3 to 0.5 wide, 0.4 to 0.6 high
    screen.saved()
    assert frames(dive) == [[0, 10, 20]]
    made = next(row for row in dive.boxes() if row["frame"] == 10)
    assert close([made["x"], made["y"]], [0.3, 0.6])
    screen.press("ArrowRight", "ArrowRight", "Delete")
    screen.saved()
    assert frames(dive) == [[0, 10, 11, 12, 20]]
    seen = {row["frame"]: row for row in dive.boxes(interpolate="true") if row["x"] is not None}
    assert sorted(seen) == [*range(12), 20]
    assert close([seen[11]["x"], seen[11]["y"]], [0.32, 0.58])
    expect(on_frame(screen)).to_have_count(0)
    screen.press("ArrowLeft")
    expect(on_frame(screen)).to_have_count(1)
    for _ in range(2):
        screen.press("Control+z")
    screen.saved()
    assert frames(dive) == [[0, 20]]


def test_what_is_computed_is_not_called_unsaved_and_a_gap_is_no_crop(screen, dive):
    track_of(dive, (0, 0.2), (20, 0.6))
    screen.open(10)
    screen.press("n")
    selection = screen.page.locator(".annotate-panel .selection")
    expect(selection).to_contain_text("between keyframes")
    expect(selection).not_to_contain_text("not saved yet")
    screen.press("Delete")
    screen.saved()
    assert frames(dive) == [[0, 9, 10, 20]]
    screen.page.goto(f"/#/projects/{dive.project}/crops?type={dive.types['box']}")
    expect(screen.page.get_by_text("3 crops")).to_be_visible()
    outline = {"type": dive.types["poly"], "media_id": dive.media, "version": dive.version, "frame": 3}
    dive.api.create(f"Localizations/{dive.project}", [{**outline, "points": [[0.1, 0.1], [0.3, 0.1], [0.2, 0.3]]}])
    screen.page.goto(f"/#/projects/{dive.project}/crops?type={dive.types['poly']}")
    expect(screen.page.get_by_text("1 crop")).to_be_visible()


def test_a_keyframe_is_made_and_taken_away_where_one_looks(screen, dive):
    track_of(dive, (0, 0.1), (20, 0.5))
    screen.open(5)
    screen.press("n", "i")
    screen.saved()
    assert frames(dive) == [[0, 5, 20]]
    screen.press("Shift+Delete")
    screen.saved()
    assert frames(dive) == [[0, 20]]
    expect(on_frame(screen)).to_have_count(1)


def test_tracks_are_extended_split_trimmed_and_merged_as_they_are_seen(screen, dive):
    track_of(dive, (0, 0.1), (20, 0.5))
    screen.open(30)
    tracks(screen).first.click()
    screen.at(0)
    go(screen, 30)
    screen.press("e")
    screen.saved()
    assert frames(dive) == [[0, 20, 30]]
    go(screen, 10)
    screen.press("x")
    screen.saved()
    assert sorted(frames(dive)) == [[0, 9], [10, 20, 30]]
    assert len(dive.boxes(interpolate="true")) == 31
    go(screen, 4)
    screen.press("Escape")
    tracks(screen).nth(0).click()
    screen.press("{")
    screen.saved()
    assert sorted(frames(dive)) == [[4, 9], [10, 20, 30]]
    tracks(screen).nth(0).click()
    tracks(screen).nth(1).click(modifiers=["Shift"])
    screen.page.get_by_role("button", name="Merge the selected tracks").click()
    screen.saved()
    assert frames(dive) == [[4, 9, 10, 20, 30]]
    undo = screen.page.get_by_role("button", name="Undo", exact=True)
    while undo.is_enabled():
        undo.click()
    screen.saved()
    assert frames(dive) == [[0, 20]]


def test_a_locked_track_is_not_changed_and_a_hidden_one_is_not_shown(screen, dive):
    track_of(dive, (0, 0.4), (20, 0.4))
    screen.open(0)
    screen.press("n", "L")
    selection = screen.page.locator(".annotate-panel .selection")
    expect(selection).to_contain_text("The track is locked. Unlock it to change it.")
    screen.press("Delete")
    expect(on_frame(screen)).to_have_count(1)
    expect(screen.page.locator(".toast")).to_contain_text("The track is locked.")
    screen.press("L", "H")
    expect(on_frame(screen)).to_have_count(0)
    screen.press("ArrowRight")
    screen.at(1)
    expect(on_frame(screen)).to_have_count(0)


def test_tracks_of_one_label_have_names_of_their_own(screen, dive):
    for x in (0.1, 0.2, 0.3):
        track_of(dive, (0, x))
    screen.open(0)
    expect(tracks(screen)).to_have_count(3)
    assert len({re.sub(r"\s+", " ", each) for each in tracks(screen).all_inner_texts()}) == 3


@pytest.mark.parametrize("seed", [1, 2])
def test_the_console_and_the_service_compute_the_same_shapes(screen, seed):
    screen.open(0)
    chance = random.Random(seed)

    def points():
        return [chance.random() for _ in range(2 * chance.randint(3, 9))]

    cases = [("box", [chance.random() for _ in range(4)], [chance.random() for _ in range(4)]) for _ in range(5)]
    cases += [("poly", points(), points()) for _ in range(40)]
    asked = [
        {"kind": kind, "one": members_of_shape(kind, one), "two": members_of_shape(kind, two)}
        for kind, one, two in cases
    ]
    seen = screen.page.evaluate(
        """async (cases) => {
          const root = document.querySelector('script[src*="app.js"]').src.replace('app.js', '');
          const { blend } = await import(root + 'draw/interpolation.js');
          return cases.map(({ kind, one, two }) => blend(kind, one, two)(0.3));
        }""",
        asked,
    )
    for (kind, one, two), shape in zip(cases, seen, strict=True):
        mine = members_of_shape(kind, blend(kind, tuple(one), tuple(two))(0.3))
        for name, value in mine.items():
            flat = [n for point in value for n in point] if name == "points" else [value]
            theirs = [n for point in shape[name] for n in point] if name == "points" else [shape[name]]
            assert theirs == pytest.approx(flat)


def test_a_keyframe_is_dragged_along_the_timeline_between_its_neighbours(screen, dive):
    track_of(dive, (0, 0.1), (20, 0.5), (40, 0.5))
    screen.open(0)
    expect(tracks(screen)).to_have_count(1)
    bar = screen.page.get_by_role("slider", name="Timeline")
    box = bar.bounding_box()
    lane = box["y"] + 39
    screen.page.mouse.move(box["x"] + 20 / 59 * box["width"], lane)
    screen.page.mouse.down()
    screen.page.mouse.move(box["x"] + 30 / 59 * box["width"], lane, steps=4)
    screen.page.mouse.up()
    screen.saved()
    assert frames(dive) == [[0, 30, 40]]
    screen.page.mouse.move(box["x"] + 30 / 59 * box["width"], lane)
    screen.page.mouse.down()
    screen.page.mouse.move(box["x"] + 55 / 59 * box["width"], lane, steps=4)
    screen.page.mouse.up()
    screen.saved()
    assert frames(dive) == [[0, 39, 40]]


def test_the_present_frame_stays_marked_and_the_picture_stays_where_it_is(screen, dive):
    screen.open(30)
    picture = screen.page.locator("canvas.picture")
    before = picture.bounding_box()
    for x in (0.1, 0.2, 0.3):
        track_of(dive, (30, x))
    expect(tracks(screen)).to_have_count(3)
    assert picture.bounding_box() == before
    screen.page.set_viewport_size({"width": 1200, "height": 800})
    expect(screen.page.get_by_role("slider", name="Timeline")).to_have_attribute("aria-valuenow", "30")
    head, bar = screen.page.locator(".playhead").bounding_box(), screen.page.locator(".timeline").bounding_box()
    assert close([(head["x"] + 1 - bar["x"]) / bar["width"]], [30 / 59])


def test_a_link_that_is_followed_right_after_a_step_keeps_its_frame(screen, dive):
    screen.open(5)
    screen.press("ArrowRight")
    screen.at(6)
    screen.page.evaluate("path => { location.hash = path; }", dive.path(frame=40)[2:])
    screen.at(40)
    screen.page.wait_for_timeout(600)
    screen.at(40)
    assert "frame=40" in screen.page.url


def test_what_is_read_is_said_and_the_frame_that_one_looks_at_comes_first(screen, dive):
    dive.api.create(f"Localizations/{dive.project}", [dive.box(5), *(dive.box(9) for _ in range(20))])
    held: list = []

    def hold(route):
        if "frame=" in route.request.url or route.request.method != "GET":
            route.continue_()
        else:
            held.append(route)

    screen.page.route("**/rest/Localizations/*", hold)
    screen.page.goto(dive.path(frame=5))
    screen.at(5)
    expect(on_frame(screen)).to_have_count(1)
    expect(screen.page.get_by_text("Still reading")).to_be_visible()
    screen.press("g", "9", "Enter")
    expect(on_frame(screen)).to_have_count(20)
    screen.press("ArrowRight")
    screen.at(10)
    expect(on_frame(screen)).to_have_count(0)
    expect(screen.page.get_by_text("Nothing on this frame")).to_have_count(0)
    while held:
        held.pop().continue_()
    screen.saving("saved")
    expect(screen.page.get_by_text("Nothing on this frame")).to_be_visible()


def test_a_step_does_not_draw_the_timeline_anew(screen, dive):
    dive.api.create(f"Localizations/{dive.project}", [dive.box(frame) for frame in range(60)])
    screen.open(5)
    expect(on_frame(screen)).to_have_count(1)
    screen.page.evaluate(
        """() => {
          window.drawn = 0;
          const bar = document.querySelector('.timeline canvas, canvas.timeline');
          const { fillRect } = CanvasRenderingContext2D.prototype;
          CanvasRenderingContext2D.prototype.fillRect = function (...given) {
            if (this.canvas === bar) window.drawn += 1;
            return fillRect.apply(this, given);
          };
        }"""
    )
    for frame in range(6, 12):
        screen.press("ArrowRight")
        screen.at(frame)
    assert screen.page.evaluate("window.drawn") == 0


def test_one_more_shape_does_not_draw_the_others_anew(screen, dive):
    boxes = [dive.box(5, x=n % 10 / 12, y=n // 10 / 12, width=0.05, height=0.05) for n in range(60)]
    ids = dive.api.create(f"Localizations/{dive.project}", [*boxes, dive.box(2), dive.box(9)])
    track = {"type": dive.types["track"], "media_ids": [dive.media], "version": dive.version}
    dive.api.create(f"States/{dive.project}", [{**track, "localization_ids": ids[-2:]}])
    screen.open(5)
    expect(screen.page.get_by_role("list", name="Annotations on this frame")).to_be_visible()
    screen.page.evaluate(
        """() => {
          window.traced = 0;
          const { closePath } = Path2D.prototype;
          Path2D.prototype.closePath = function () { window.traced += 1; return closePath.apply(this); };
        }"""
    )
    screen.press("1")
    screen.drag((0.9, 0.9), (0.97, 0.97))
    screen.saved()
    assert 0 < screen.page.evaluate("window.traced") < 60
