"""Refined shapes: masks, turned boxes, ellipses, polylines, polygons with holes and skeletons."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.rulebook import LOCALIZATIONS, rule
from tests.rules.test_localizations import create, spec
from tests.rules.worlds import World, empty_world

BOX = {"x": 0.25, "y": 0.25, "width": 0.02, "height": 0.02}
POINTS = [[0.1, 0.1], [0.9, 0.1], [0.5, 0.9]]
MASK = {"size": [2, 2], "counts": "022"}
REFINED: dict[str, tuple[str, dict[str, Any], list[Any]]] = {
    "mask": (
        "box",
        {**BOX, "mask": MASK},
        [{"size": [2]}, {"size": [2, 2], "counts": "9"}, MASK | {"size": [3, 2]}, 1],
    ),
    "angle": ("box", {**BOX, "angle": 359.5}, [361, -361, "30", True]),
    "form": ("box", {**BOX, "form": "ellipse"}, ["circle", "", 1]),
    "closed": ("poly", {"points": POINTS, "closed": False}, [0, "false"]),
    "holes": (
        "poly",
        {"points": POINTS, "holes": [[[0.4, 0.2], [0.6, 0.2], [0.5, 0.3]]]},
        [[[[0.5, 0.2]]], [[[0.4, 0.2], [0.6, 0.2], [0.5, 1.3]]], [[[0, 1], [0, 0.9], [0.1, 1]]], [0.5]],
    ),
    "visible": ("skeleton", {"points": POINTS, "visible": [0, 1, 2]}, [[0, 1], [0, 1, 3], [0, 1, 2, 2], 2]),
}


@pytest.fixture(scope="module")
def world() -> World:
    made = empty_world()
    made.ids["media"] = {"A": made.media("A")}
    said = made.api.patch(f"Media/{made.ids['media']['A']}", {"width": 100, "height": 100})
    assert said.status == 200
    more = {"skeleton": {"points": ["a", "b", "c"], "edges": [[0, 1]]}}
    for name, dtype, refinements in (
        ("box", "box", ["mask", "angle", "ellipse"]),
        ("poly", "poly", ["open", "holes"]),
        ("skeleton", "poly", ["skeleton"]),
    ):
        given = {"name": name, "dtype": dtype, "media_types": [made.types["media"]], "refinements": refinements}
        body = given | (more if name == "skeleton" else {})
        made.types[name] = made.api.made(f"LocalizationTypes/{made.project}", body)
    return made


@rule(
    "Localizations",
    "Members that refine a shape are kept as they were sent where the type allows them, and refused elsewhere.",
    takes="mask angle form closed holes visible",
    of=[LOCALIZATIONS],
)
@pytest.mark.parametrize("member", REFINED)
def test_refinements(world: World, member: str):
    kind, members, wrong = REFINED[member]
    number = create(world, type=world.types[kind], **members)
    assert world.one("localization", number)[member] == members[member]
    others = create(world, type=world.types[kind], **{name: each for name, each in members.items() if name != member})
    assert member not in world.one("localization", others)
    for value in wrong:
        body = spec(world, type=world.types[kind], **{**members, member: value})
        said = world.api.post(world.path("localization"), body)
        assert said.status == 400, (value, said.body)
        assert member in said.body.decode()
    plain = world.types["localization"]
    assert world.api.post(world.path("localization"), spec(world, type=plain, **members)).status == 400


@rule(
    "Localizations", "null in a change removes what refines a shape; answers have such a member only where it is set."
)
@pytest.mark.parametrize("member", REFINED)
def test_refinements_are_removed(world: World, member: str):
    kind, members, _ = REFINED[member]
    number = create(world, type=world.types[kind], **members)
    said = world.api.patch(f"Localization/{number}", {member: None, "in_place": 1})
    assert said.status == 200, said.body
    assert member not in world.one("localization", number)


@rule(
    "Localizations",
    "`made_of`, at creation, has the ids of up to 100 localizations of the project that one was made of; they may be "
    "deleted later.",
    takes="made_of",
    of=[LOCALIZATIONS],
)
def test_what_one_was_made_of(world: World):
    box = {"type": world.types["box"], **BOX}
    first, second = (create(world, **box) for _ in range(2))
    other = empty_world()
    kind = {"name": "box", "dtype": "box", "media_types": [other.types["media"]]}
    other.types["box"] = other.api.made(f"LocalizationTypes/{other.project}", kind)
    other.ids["media"] = {"A": other.media("A")}
    foreign = create(other, type=other.types["box"], **BOX)
    made = create(world, **box, made_of=[second, first])
    assert world.one("localization", made)["made_of"] == [second, first]
    assert world.api.delete(f"Localization/{second}").status == 200
    assert world.one("localization", made)["made_of"] == [second, first]
    for wrong in ([1.5], ["x"], [first] * 101, first, [10**9], [first, foreign]):
        said = world.api.post(world.path("localization"), spec(world, **box, made_of=wrong))
        assert (said.status, "made_of" in said.body.decode()) == (400, True), wrong
