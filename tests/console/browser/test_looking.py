"""How one looks in Chromium: the picture's look, shapes that are shown, frames that are found."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.console.browser.dives import Screen
from tests.console.browser.test_tracks import on_frame, tracks

PIXEL = """(name) => {
  const canvas = document.querySelector(name);
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
  copy.drawImage(canvas, 0, 0);
  return [...copy.getImageData(canvas.width * 0.1, canvas.height * 0.1, 1, 1).data].slice(0, 3);
}"""


def looking(screen):
    screen.page.get_by_role("button", name="Looking").click()


def test_the_picture_is_looked_at_darker_and_stays_as_it_is(screen):
    screen.open(5)
    before = screen.page.evaluate(PIXEL, "canvas.picture")
    looking(screen)
    screen.page.get_by_label("Brightness").fill("0.5")
    screen.page.wait_for_function("!document.querySelector('canvas.looked').hidden")
    seen = screen.page.evaluate(PIXEL, "canvas.looked")
    assert screen.page.evaluate(PIXEL, "canvas.picture") == before
    assert all(abs(one - two / 2) < 4 for one, two in zip(seen, before, strict=True))
    screen.page.locator(".stage").focus()
    screen.press("ArrowRight")
    screen.at(6)
    screen.page.get_by_role("button", name="As it is").click()
    expect(screen.page.locator("canvas.looked")).to_be_hidden()


def test_only_shapes_of_a_type_or_with_a_value_are_shown(screen, dive):
    line = {"type": dive.types["line"], "media_id": dive.media, "version": dive.version, "frame": 5}
    dive.api.create(
        f"Localizations/{dive.project}",
        [
            dive.box(5, attributes={"Species": "Tuna"}),
            dive.box(5, x=0.1),
            {**line, "x": 0.1, "y": 0.1, "u": 0.2, "v": 0.2},
        ],
    )
    screen.open(5)
    expect(on_frame(screen)).to_have_count(3)
    looking(screen)
    screen.page.get_by_label("Show only the type").select_option("B line")
    expect(on_frame(screen)).to_have_count(1)
    screen.page.get_by_role("button", name="Show all").click()
    screen.page.get_by_label("Show only with the value").fill("tun")
    expect(on_frame(screen)).to_have_count(1)


def test_frames_that_a_search_finds_are_gone_through(screen, dive):
    for frame, species in ((7, "Tuna"), (20, "Cod"), (31, "Tuna"), (45, "Tuna")):
        dive.api.create(f"Localizations/{dive.project}", [dive.box(frame, attributes={"Species": species})])
    screen.open(0)
    field = screen.page.get_by_label("Find in this media")
    field.fill("Species:Tuna")
    field.press("Enter")
    screen.at(7)
    expect(screen.page.get_by_text("3 frames")).to_be_visible()
    screen.page.locator(".stage").focus()
    screen.press("F3", "F3")
    screen.at(45)
    screen.press("Shift+F3")
    screen.at(31)


def test_terms_of_a_search_in_the_media_all_have_to_hold_and_a_wrong_one_finds_nothing(new_page, dive):
    for frame, species in ((7, "Tuna"), (20, "Cod"), (31, "Tuna")):
        dive.api.create(f"Localizations/{dive.project}", [dive.box(frame, attributes={"Species": species})])
    screen = Screen(new_page(allow=("status of 400",)), dive).open(0)
    field = screen.page.get_by_label("Find in this media")
    field.fill("Species:Tuna _frame:>10")
    field.press("Enter")
    screen.at(31)
    found = screen.page.get_by_role("search").get_by_role("status")
    expect(found).to_have_text("1 frame")
    field.fill("Genus:Tuna")
    field.press("Enter")
    expect(screen.page.locator(".toast")).to_contain_text("Genus")
    expect(found).to_have_count(0)


def test_all_is_shown_again_and_the_button_goes(screen, dive):
    dive.api.create(f"Localizations/{dive.project}", [dive.box(5)])
    screen.open(5)
    screen.page.get_by_role("button", name="Looking", exact=True).click()
    screen.page.get_by_label("Show only the type").select_option("B line")
    expect(on_frame(screen)).to_have_count(0)
    button = screen.page.get_by_role("button", name="Show all")
    button.click()
    expect(on_frame(screen)).to_have_count(1)
    expect(button).to_have_count(0)


def test_each_way_of_looking_changes_the_picture_or_its_shapes(screen, dive):
    track = {"type": dive.types["track"], "media_ids": [dive.media], "version": dive.version}
    first, _ = dive.api.create(f"Localizations/{dive.project}", [dive.box(5), dive.box(5, x=0.1)])
    dive.api.create(f"States/{dive.project}", [{**track, "localization_ids": [first]}])
    screen.open(5)
    looking(screen)
    expect(on_frame(screen)).to_have_count(2)
    seen = """[...document.querySelectorAll('.stage canvas')]
      .map((each) => each.hidden || each.style.opacity + each.toDataURL()).join()"""
    page = screen.page

    def changes(act):
        before = page.evaluate(seen)
        act()
        page.wait_for_function(f"(before) => {seen} !== before", arg=before)

    for name, value in (("Contrast", "0.5"), ("Gamma", "2"), ("Sharpen", "1"), ("Opacity", "0.4"), ("Outline", "3")):
        changes(lambda name=name, value=value: page.get_by_label(name, exact=True).fill(value))
    page.get_by_role("button", name="As it is").click()
    for channel in ("Red alone", "Green alone", "Blue alone", "Gray"):
        page.get_by_label("Channel").select_option(channel)
        page.wait_for_function("!document.querySelector('canvas.looked').hidden")
        assert len(set(page.evaluate(PIXEL, "canvas.looked"))) == 1
    changes(lambda: page.get_by_label("Labels", exact=True).select_option("Never"))
    changes(lambda: page.get_by_label("Grid").check())
    tracks(screen).first.click()
    page.get_by_label("Show only the active track").check()
    expect(on_frame(screen)).to_have_count(1)


def test_speeds_from_a_tenth_to_eight_are_chosen_and_the_screen_is_filled(screen, dive):
    screen.page.add_init_script("localStorage['limn.language'] = 'de'")
    screen.open(5)
    speed = screen.page.get_by_label("Tempo")
    assert speed.locator("option").all_inner_texts()[:3] == ["0,1×", "0,25×", "0,5×"]
    assert speed.locator("option").last.inner_text() == "8×"
    speed.select_option("2,5×")
    screen.page.locator(".stage").focus()
    screen.press("F")
    screen.page.wait_for_function("document.fullscreenElement?.matches('.annotate')")
    screen.press("F")
    screen.page.wait_for_function("!document.fullscreenElement")
