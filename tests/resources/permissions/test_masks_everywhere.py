"""Fine-grained permissions: whatever groups, row protections and memberships there are, everything obeys one mask.

The masks are added up here once more, in the plainest way; then lists, counts, single reads, bulk changes and single
changes must each see exactly what these say.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from chalicelib.access.masks import BITS_OF, DEPTHS, FULL, mask_of
from chalicelib.core.models.accounts import AFFILIATION, Affiliation
from chalicelib.core.permissions import LEVEL_OF, Level
from chalicelib.storage.dynamodb import ids, records
from tests.service import Api, join, new_sibling, new_user

pytestmark = pytest.mark.usefixtures("fine_grained")

FLAG = [{"name": "flag", "dtype": "int"}]
DOOR = BITS_OF[Level.VIEW]
LEVELS = list(Level)[1:]
PATHS = {
    "media": "Media",
    "localization": "Localization",
    "state": "State",
    "section": "Section",
    "version": "Version",
    "file": "File",
}
COUNTED = ("media", "localization", "state")
EDITS: dict[str, dict[str, Any]] = {
    "media": {"name": "renamed"},
    "localization": {"x": 0.25},
    "state": {"frame": 3},
    "section": {"name": "renamed"},
    "version": {"description": "changed"},
    "file": {"description": "changed"},
}
WRITE = dict.fromkeys(PATHS, Level.EDIT) | {"file": Level.EXECUTE}


@dataclass
class World:
    """A project with a little of everything: kind → id → what it lies in, kind → ids."""

    owner: Api
    organization: int
    project: int
    things: dict[str, dict[int, dict[str, list[int]]]] = field(default_factory=dict)
    elements: dict[int, str] = field(default_factory=dict)
    given: list[int] = field(default_factory=list)
    """Row protections of this round."""


@pytest.fixture
def world(api, organization, project) -> World:
    kind = api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image", "attribute_types": FLAG})
    types = {"media_types": [kind]}
    box = api.made(f"LocalizationTypes/{project}", {"name": "b", "dtype": "box", **types, "attribute_types": FLAG})
    track = {"name": "s", "association": "Media", **types, "attribute_types": FLAG}
    state = api.made(f"StateTypes/{project}", track)
    file = api.made(f"FileTypes/{project}", {"name": "f"})
    world = World(api, organization, project)
    sections = [api.made(f"Sections/{project}", {"name": name}) for name in ("one", "two")]
    versions = [api.get(f"Versions/{project}").json[0]["id"], api.made(f"Versions/{project}", {"name": "2"})]
    world.things = {
        "section": {number: {} for number in sections},
        "version": {number: {} for number in versions},
        "file": {
            api.made(f"Files/{project}", {"name": name, "description": "", "type": file}): {} for name in ("a", "b")
        },
        "media": {},
        "localization": {},
        "state": {},
    }
    for place in range(4):
        section = [*sections, None][place % 3]
        spec = {"type": kind, "name": f"{place}.jpg", "md5": ""} | ({"section_id": section} if section else {})
        folder = {"section": [section]} if section else {}
        media = api.made(f"Medias/{project}", spec)
        world.things["media"][media] = folder
        version = versions[place // 2]
        on = {"type": box, "media_id": media, "frame": 0, "version": version}
        (number,) = api.made(f"Localizations/{project}", [on])
        world.things["localization"][number] = {"media": [media], "version": [version], **folder}
        world.elements[number] = api.get(f"Localization/{number}").json["elemental_id"]
        several = list(world.things["media"])[-2:]
        (number,) = api.made(f"States/{project}", [{"type": state, "media_ids": several, "version": version}])
        folders = [each for one in several for each in world.things["media"][one].get("section", [])]
        world.things["state"][number] = {"media": several, "version": [version], "section": folders}
    return world


DISTANCE = {
    ("section", "media"): 1,
    **{(holder, kind): 1 for holder in ("media",) for kind in ("localization", "state")},
    **{(holder, kind): 2 for holder in ("section", "version") for kind in ("localization", "state")},
}
"""How many levels below what holds it a thing lies."""
DEPTH = {"section": 1, "version": 1, "file": 1, "media": 2, "localization": 3, "state": 3}


def expected(world: World, whole: int, rows: dict[tuple[str, int], int], kind: str, number: int) -> int:
    mask = whole >> 8 * DEPTH[kind] | rows.get((kind, number), 0)
    for holder, holders in world.things[kind][number].items():
        for each in holders:
            mask |= rows.get((holder, each), 0) >> 8 * DISTANCE[holder, kind]
    return mask


def some_mask(chance: random.Random) -> int:
    return chance.choice(
        (
            mask_of(chance.choice(LEVELS)),
            BITS_OF[chance.choice(LEVELS)] << 8 * chance.randrange(DEPTHS),
            chance.getrandbits(8 * DEPTHS),
            (FULL & ~chance.choice((1, 2, 8))) << 8 * chance.randrange(3),
        )
    )


def guest(world: World, chance: random.Random) -> tuple[Api, int, dict[tuple[str, int], int]]:
    """A new user with random rights: themselves, their mask on the project, and those on things in it."""
    who = new_user()
    assert who.user
    join(who, new_sibling(world.owner, world.project), "View Only")  # known to the organization
    whole = DOOR
    subjects = {"user": who.user.id}
    if chance.random() < 0.3:
        level = chance.choice(["View Only", "Can Edit", "Can Transfer"])
        join(who, world.project, level)
        whole |= mask_of(LEVEL_OF[level])
    if chance.random() < 0.5:
        affiliation = Affiliation(
            id=ids.reserve(AFFILIATION.name)[0],
            organization=world.organization,
            user=who.user.id,
            permission="Member",
        )
        records.create(AFFILIATION, affiliation)
        subjects["organization"] = world.organization
    in_it = chance.random() < 0.7
    members = [who.user.id] if in_it else []
    group = world.owner.made(f"Groups/{world.organization}", {"name": f"{who.user.id}", "initial_members": members})
    rows: dict[tuple[str, int], int] = {}
    allow(world, DOOR, "project", world.project, "user", who.user.id)
    candidates = [(kind, number) for kind, things in world.things.items() for number in things]
    for target in chance.sample(candidates, chance.randrange(1, 7)):
        subject = chance.choice([*subjects, "group"])
        mask = some_mask(chance)
        allow(world, mask, *target, subject, subjects.get(subject, group))
        if subject != "group" or in_it:
            rows[target] = rows.get(target, 0) | mask
    if chance.random() < 0.4:
        mask = some_mask(chance)
        allow(world, mask, "project", world.project, "user", who.user.id)
        whole |= mask
    return who, whole, rows


def allow(world: World, mask: int, name: str, number: int, subject: str, of: int) -> None:
    world.given.append(world.owner.made("RowProtections", {name: number, subject: of, "permission": mask}))


def level(mask: int) -> Level:
    return max(each for each, bits in BITS_OF.items() if mask & bits == bits)


def check(world: World, seed: int) -> None:
    who, whole, rows = guest(world, random.Random(seed))
    masks = {
        kind: {number: expected(world, whole, rows, kind, number) for number in things}
        for kind, things in world.things.items()
    }
    assert who.get(f"Project/{world.project}").json["effective_permission"] == whole
    for kind, path in PATHS.items():
        check_reads(world, who, kind, path, masks[kind])
    for number, mask in masks["localization"].items():
        (version,) = world.things["localization"][number]["version"]
        status = who.get(f"Localization/{version}/{world.elements[number]}").status
        assert status == (200 if level(mask) >= Level.VIEW else 404), number
    check_bulk(world, who, masks, seed)
    for kind, path in PATHS.items():
        for number, mask in masks[kind].items():
            status = 404 if level(mask) is Level.NONE else 403 if level(mask) < WRITE[kind] else 200
            assert who.patch(f"{path}/{number}", EDITS[kind]).status == status, (kind, number)
    while world.given:  # else those for the organization count for whoever comes next
        world.owner.delete(f"RowProtection/{world.given.pop()}")


def check_reads(world: World, who: Api, kind: str, path: str, masks: dict[int, int]) -> None:
    """The list, the count and every single read show what may be seen, each with its mask."""
    seen = {number: mask for number, mask in masks.items() if level(mask) >= Level.VIEW}
    listed = who.get(f"{'Medias' if kind == 'media' else path + 's'}/{world.project}").json
    assert {item["id"] for item in listed} == set(seen), kind
    if kind in COUNTED:
        assert who.get(f"{path}Count/{world.project}").json == len(seen), kind
    for number in masks:
        assert who.get(f"{path}/{number}").status == (200 if number in seen else 404), (kind, number)
    if kind != "file":
        assert {item["id"]: item["effective_permission"] for item in listed} == seen, kind
        for number, mask in seen.items():
            assert who.get(f"{path}/{number}").json["effective_permission"] == mask, (kind, number)


def check_bulk(world: World, who: Api, masks: dict[str, dict[int, int]], seed: int) -> None:
    """A change of all changes what single changes might."""
    for kind, path in (("localization", "Localizations"), ("state", "States"), ("media", "Medias")):
        may = {number for number, mask in masks[kind].items() if level(mask) >= Level.EDIT}
        said = who.patch(f"{path}/{world.project}", {"attributes": {"flag": seed}})
        assert said.status in ((200,) if may else (200, 403)), (kind, said.body)
        rows = world.owner.get(f"{path}/{world.project}").json
        assert {row["id"] for row in rows if row["attributes"].get("flag") == seed} == may, kind


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 103])
def test_everything_sees_what_the_mask_says(world, seed):
    check(world, seed)


@pytest.mark.nightly
def test_everything_sees_what_the_mask_says_of_many(world):
    for seed in range(100, 200):
        check(world, seed)
