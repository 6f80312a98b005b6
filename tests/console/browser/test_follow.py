"""Following in Chromium: one shape, one key, and the object's path as few keyframes."""

from __future__ import annotations

import math
import uuid

import pytest
from playwright.sync_api import expect

from chalicelib.formats.interpolation import angle_between
from tests.console.browser.dives import Dive
from tests.console.browser.projects import new_project
from tests.console.browser.waits import until
from tests.video.textures import Place, Texture, make

FRAMES = 100
SIZE = (640, 360)
GONE = 50
"""The first frame without the texture that vanishes."""
LEAST_OVERLAP = 0.85


def sways(frame):
    turn = 2 * math.pi * frame / FRAMES
    scale = 1 + 0.2 * math.sin(turn)
    return Place(150 + 80 * math.sin(1.5 * turn), 190 + 70 * math.cos(turn), 84 * scale, 60 * scale)


def turns(frame):
    share = frame / FRAMES
    return Place(320 + 60 * share, 100 + 40 * share, 70, 96, 40 * math.sin(2 * math.pi * share))


def vanishes(frame):
    return Place(520 - frame, 90 + 2 * frame, 64, 64) if frame < GONE else None


class Shoal(Dive):
    """A project with a clip of textures that move on known paths."""

    def add(self, kind, path, frame=0, **more):
        """A shape where a texture is."""
        at = path(frame)
        shape = {"x": at.x / SIZE[0], "y": at.y / SIZE[1]}
        if kind != "dot":
            shape = {"x": (at.x - at.width / 2) / SIZE[0], "y": (at.y - at.height / 2) / SIZE[1]}
            shape |= {"width": at.width / SIZE[0], "height": at.height / SIZE[1]}
        spec = {"type": self.types[kind], "media_id": self.media, "version": self.version, "frame": frame}
        return self.api.create(f"Localizations/{self.project}", [{**spec, **shape, **more}])[0]

    def path_of(self):
        """What its one track shows on each frame, and the frames of its keyframes."""
        rows = self.boxes(interpolate="true")
        return {row["frame"]: row for row in rows if row["x"] is not None}, sorted(r["frame"] for r in self.boxes())


@pytest.fixture(scope="module")
def waters(stack, tmp_path_factory):
    api = stack.api
    project = new_project(api, "Shoal")
    video = api.create(f"MediaTypes/{project}", {"name": "Clip", "dtype": "video"})
    spec = {"name": "Fish", "dtype": "box", "media_types": [video]}
    types = {"box": api.create(f"LocalizationTypes/{project}", spec)}
    spec = {"name": "Ray", "dtype": "box", "media_types": [video], "refinements": ["angle"]}
    types["turned"] = api.create(f"LocalizationTypes/{project}", spec)
    types["dot"] = api.create(f"LocalizationTypes/{project}", {"name": "Eye", "dtype": "dot", "media_types": [video]})
    spec = {"name": "Track", "association": "Localization", "media_types": [video]}
    types["track"] = api.create(f"StateTypes/{project}", spec)
    textures = [Texture(1, sways), Texture(2, turns), Texture(3, vanishes, is_round=True)]
    clip = make(tmp_path_factory.mktemp("waters") / "clip.mp4", textures, FRAMES, SIZE)
    names = {"type": video, "gid": str(uuid.uuid4()), "uid": str(uuid.uuid1()), "name": "shoal.mp4", "md5": ""}
    said = api.ask("POST", f"Transcodes/{project}", {**names, "url": api.upload(project, clip.read_bytes())})
    until(lambda: api.ask("GET", f"Transcode/{said['id']}")["job"]["status"] == "succeeded", "the clip is transcoded")
    return Shoal(api, project, said["media_id"], api.ask("GET", f"Versions/{project}")[0]["id"], types)


@pytest.fixture
def shoal(waters):
    waters.clear()
    return waters


class Screen:
    """The annotation view of the clip."""

    def __init__(self, page, shoal):
        self.page, self.shoal = page, shoal
        self.proposal = page.locator(".proposal[data-stop]")

    def open(self, frame=0):
        self.page.goto(self.shoal.path(frame=frame))
        self.page.wait_for_selector(f'.stage[data-frame="{frame}"]')
        self.page.wait_for_selector('[data-saving="saved"]')
        self.page.locator(".stage").focus()

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def follow(self, key, end):
        """Follow the next shape by a key, until it ends as it should."""
        self.press("n", key)
        expect(self.proposal.or_(self.page.locator(".toast")).first).to_be_visible()
        assert self.page.locator(".toast").all_inner_texts() == []
        expect(self.proposal).to_have_attribute("data-stop", end)

    def saved(self):
        self.press("Control+s")
        self.page.wait_for_selector('[data-saving="saved"]')


@pytest.fixture
def screen(page, shoal):
    return Screen(page, shoal)


def overlap(row, at):
    """Intersection over union of a box and the upright box of a place."""
    left, top = row["x"] * SIZE[0], row["y"] * SIZE[1]
    wide, high = row["width"] * SIZE[0], row["height"] * SIZE[1]
    across = min(left + wide, at.x + at.width / 2) - max(left, at.x - at.width / 2)
    down = min(top + high, at.y + at.height / 2) - max(top, at.y - at.height / 2)
    both = max(0, across) * max(0, down)
    return both / (wide * high + at.width * at.height - both)


def test_one_box_and_one_key_follow_an_object_to_the_end(screen, shoal):
    shoal.add("box", sways)
    screen.open()
    inputs = ["n", "y", "Enter"]
    screen.follow("y", "end")
    assert len(shoal.boxes()) == 1  # nothing is stored before it is accepted
    assert shoal.tracks() == []
    screen.press("Enter")
    screen.saved()
    path, keyframes = shoal.path_of()
    assert sorted(path) == list(range(FRAMES))
    overlaps = [overlap(row, sways(frame)) for frame, row in path.items()]
    assert sum(overlaps) / FRAMES >= LEAST_OVERLAP
    assert len(keyframes) < FRAMES / 2
    by_hand = 2 * len(keyframes)  # each is a step to its frame and a drag, where the size stays
    assert 10 * len(inputs) <= by_hand
    screen.press("Control+z")
    screen.saved()
    assert shoal.tracks() == []
    assert len(shoal.boxes()) == 1


def test_it_stops_where_the_object_is_lost_and_says_where(screen, shoal):
    shoal.add("box", vanishes)
    screen.open()
    screen.follow("y", "look")
    expect(screen.proposal).to_contain_text("lost at frame")
    screen.page.wait_for_selector(f'.stage[data-frame="{GONE - 1}"]')
    expect(screen.page.get_by_role("list", name="Annotations on this frame").get_by_role("button")).to_have_count(1)
    screen.press("Escape")
    expect(screen.proposal).to_have_count(0)
    screen.saved()
    assert len(shoal.boxes()) == 1


def test_turned_boxes_turn(screen, shoal):
    shoal.add("turned", turns, angle=turns(0).angle or 0.0)
    screen.open()
    screen.follow("y", "end")
    screen.press("Enter")
    screen.saved()
    path, _ = shoal.path_of()
    assert sorted(path) == list(range(FRAMES))
    off = [
        abs(angle_between(turns(frame).angle, row.get("angle") or 0, 1) - turns(frame).angle)
        for frame, row in path.items()
    ]
    assert max(off) < 5
    assert sum(overlap(row, turns(frame)) for frame, row in path.items()) / FRAMES >= LEAST_OVERLAP


def test_points_are_followed_back(screen, shoal):
    shoal.add("dot", sways, frame=FRAMES - 1)
    screen.open(FRAMES - 1)
    screen.follow("Y", "end")
    screen.press("Enter")
    screen.saved()
    path, _ = shoal.path_of()
    assert sorted(path) == list(range(FRAMES))
    far = [math.hypot(row["x"] * SIZE[0] - sways(f).x, row["y"] * SIZE[1] - sways(f).y) for f, row in path.items()]
    assert max(far) < 6


def test_following_to_the_next_keyframe_ends_in_it(screen, shoal):
    ids = [shoal.add("box", sways), shoal.add("box", sways, frame=60)]
    spec = {"type": shoal.types["track"], "media_ids": [shoal.media], "localization_ids": ids}
    shoal.api.create(f"States/{shoal.project}", [{**spec, "version": shoal.version}])
    screen.open()
    screen.follow("Alt+y", "end")
    screen.press("Enter")
    screen.saved()
    path, keyframes = shoal.path_of()
    assert sorted(path) == list(range(61))
    assert {0, 60} < set(keyframes)
    assert {row["id"] for row in shoal.boxes()} > set(ids)
    assert sum(overlap(row, sways(frame)) for frame, row in path.items()) / 61 >= LEAST_OVERLAP


def test_fewest_keyframes_keep_every_frame_within_two_per_cent(screen):
    screen.page.goto("/#/")
    kept, straight = screen.page.evaluate(
        """async () => {
          const root = document.querySelector('script[src*="app.js"]').src.replace('app.js', '');
          const { fewest } = await import(root + 'assist/keyframes.js');
          const frames = Array.from({ length: 61 }, (_, at) => at);
          const bent = frames.map((at) => [at < 20 ? at : at < 40 ? 20 : 60 - at]);
          const even = frames.map((at) => [at]);
          return [fewest(frames, bent, bent.map(() => [0.5])), fewest(frames, even, even.map(() => [0.01]))];
        }"""
    )
    assert straight == [0, 60]
    assert len(kept) == 4


def test_no_two_commands_have_one_key(screen):
    screen.open()
    screen.press("?")
    keys = screen.page.get_by_role("dialog").locator(".key-button .key")
    expect(keys.first).to_be_visible()
    found = keys.all_inner_texts()
    assert sorted({each for each in found if found.count(each) > 1}) == []
