"""What is seen is what is answered: tracks of all kinds, as the console draws them and as the service lists them."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.console.browser.projects import new_project

FRAMES = 24
NAMES = ("box", "rock", "line", "dot", "poly", "body")
SEEN = """async ([localizations, states, types, stateTypes, frames]) => {
  const root = document.querySelector('script[src*="app.js"]').src.replace('app.js', '');
  const { AnnotationDocument, baseOf } = await import(root + 'draw/document.js');
  const { TrackSet } = await import(root + 'draw/track_set.js');
  const { hasPlace } = await import(root + 'draw/geometry.js');
  const doc = new AnnotationDocument();
  doc.load(localizations.map((item) => baseOf('localization', item)));
  doc.load(states.map((item) => baseOf('state', item, (id) => doc.keyById('localization', id))));
  const shown = { peek: () => ({ has: () => true }) };
  const typeOf = (row) => (row.kind === 'state' ? stateTypes : types).find(({ id }) => id === row.type);
  const session = { doc, typeOf, isTrack: (row) => row.kind === 'state', shownLayers: shown };
  const tracks = new TrackSet(session);
  return frames.map((frame) => [...doc.on(frame), ...tracks.computedOn(frame)]
    .filter(([, row]) => hasPlace(row.shape)).map(([, row]) => [row.type, row.shape]));
}"""


@pytest.fixture(scope="module")
def world(stack: Any) -> dict[str, Any]:
    """A project with a video without files, and a type of each kind of shape and of tracks."""
    api = stack.api
    project = new_project(api, "Seen")
    video = api.create(f"MediaTypes/{project}", {"name": "Video", "dtype": "video"})
    more: dict[str, Any] = {
        "box": {"dtype": "box", "refinements": ["mask", "angle", "ellipse"]},
        "rock": {"dtype": "box"},
        "poly": {"dtype": "poly", "refinements": ["open", "holes"]},
        "body": {"dtype": "poly", "refinements": ["skeleton"], "skeleton": {"points": ["a", "b", "c"], "edges": []}},
    }
    types = {
        name: api.create(
            f"LocalizationTypes/{project}", {"name": name, "dtype": name, "media_types": [video], **more.get(name, {})}
        )
        for name in NAMES
    }
    track = {"association": "Localization", "media_types": [video]}
    moving = api.create(f"StateTypes/{project}", {"name": "Moving", **track})
    still = api.create(f"StateTypes/{project}", {"name": "Still", "interpolation": "none", **track})
    media = api.create(f"Medias/{project}", {"type": video, "name": "clip.mp4", "md5": ""})
    return {"api": api, "project": project, "media": media, "types": types, "tracks": (moving, still)}


def shape_of(name: str, chance: random.Random) -> dict[str, Any]:
    """A random shape of a type, refined at random; one in six begins a gap."""
    if chance.random() < 1 / 6:
        return {}

    def some(least: float = 0.0, most: float = 0.5) -> float:
        return chance.uniform(least, most)

    if name in ("box", "rock"):
        plain = {"x": some(), "y": some(), "width": some(0.1), "height": some(0.1)}
        refined: list[dict[str, Any]] = [{}, {"angle": some(0, 359)}, {"form": "ellipse"}]
        return plain | (chance.choice(refined) if name == "box" else {})
    if name == "line":
        return {"x": some(), "y": some(), "u": some(-0.5), "v": some(-0.5)}
    if name == "dot":
        return {"x": some(), "y": some()}
    corners = 3 if name == "body" else chance.randint(3, 7)
    points = [[some(), some()] for _ in range(corners)]
    if name == "body":
        return {"points": points} | chance.choice([{}, {"visible": [2, 1, 2]}])
    return {"points": points} | chance.choice([{}, {"closed": False}])


def fill(world: dict[str, Any], chance: random.Random) -> None:
    """Tracks with gaps, two shapes on a frame, shapes of other types and of other tracks."""
    api, project, media = world["api"], world["project"], world["media"]
    made: list[int] = []
    for _ in range(12):
        name = chance.choice(NAMES)
        keys = sorted(chance.sample(range(FRAMES), 4))
        if chance.random() < 0.2:
            keys[1] = keys[0]
        specs = []
        for frame in keys:
            kind = chance.choice(NAMES) if chance.random() < 0.15 else name
            specs.append({"type": world["types"][kind], "media_id": media, "frame": frame, **shape_of(kind, chance)})
        own = api.ask("POST", f"Localizations/{project}", specs)["id"]
        shared = chance.sample(made, min(len(made), 1)) if chance.random() < 0.3 else []
        made += own
        track = {"type": chance.choice(world["tracks"]), "media_ids": [media], "localization_ids": own + shared}
        api.create(f"States/{project}", [track])


@pytest.mark.parametrize("seed", range(4))
def test_the_console_shows_what_the_service_answers(world, page, seed):
    api, project = world["api"], world["project"]
    for kind in ("States", "Localizations"):
        api.ask("DELETE", f"{kind}/{project}", {"prune": 1})
    fill(world, random.Random(seed))
    lists = [
        api.ask("GET", f"{kind}/{project}") for kind in ("Localizations", "States", "LocalizationTypes", "StateTypes")
    ]
    answered = api.ask("GET", f"Localizations/{project}", interpolate="true")
    page.goto("/")
    seen = page.evaluate(SEEN, [*lists, list(range(FRAMES))])
    for frame, shapes in enumerate(seen):
        there = [row for row in answered if row["frame"] == frame and (row["x"] is not None or row["points"])]
        assert sorted(map(repr, map(rounded, shapes))) == sorted(repr(rounded([row["type"], row])) for row in there), (
            frame
        )


def rounded(found: Any) -> Any:
    """A type with the numbers of a shape, to a hundred-millionth."""
    number, shape = found
    plain = [shape.get(name) for name in ("x", "y", "width", "height", "u", "v")]
    points = [each for point in shape.get("points") or [] for each in point]
    values = [None if each is None else round(each, 8) + 0.0 for each in plain + points]
    angle = None if shape.get("angle") is None else round(shape["angle"], 6) % 360
    return number, values, angle, shape.get("form"), shape.get("closed"), shape.get("visible")
