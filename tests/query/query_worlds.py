"""Random projects, for the tests of the query engine."""

from __future__ import annotations

import uuid
from random import Random
from typing import Any

import msgspec
from hypothesis import strategies as st

from chalicelib.core.kinds import TYPE_OF, DefinitionKind, Kind
from chalicelib.core.log.commits import Change, Commit
from chalicelib.core.models.definitions import (
    Definitions,
    FileType,
    LeafType,
    LocalizationType,
    MediaType,
    Section,
    StateType,
    Version,
)
from chalicelib.core.models.entities import File, Leaf, Localization, Media, State
from chalicelib.core.values.attributes import AttributeType

PROJECT = 7
NAMES = ("n", "s", "Deep Name", "x%y")
DTYPES = ("bool", "int", "float", "enum", "string", "datetime", "geopos", "float_array", "blob")
GOOD = {
    "bool": (True, False),
    "int": (0, 1, 2, 3, -1, 2**40, 2**63 - 1),
    "float": (0.0, -0.0, 1.0, 1.5, -2.0, 3.0, 1e300),
    "datetime": (
        "2020-01-02",
        "2020-01-02T03:04:05Z",
        "2020-01-02T03:04:05+02:00",
        "2021-06-07T00:00:00.123456",
        "2020-01-02T00:00",
    ),
    "geopos": ([0.0, 0.0], [8.0, 48.0], [8.5, 48.5], [179.9, 1.0], [-179.9, 1.0], [0.0, 90.0], [-1.0, -1.0]),
}
GOOD |= dict.fromkeys(
    ("enum", "string", "blob"),
    ("", "a", "A", "Foo", "foo", "bar", "Ärger", "äRGER", "ΣΑΣ", "true", "5", "İx", "a.b", "日本"),
)
ODD = (None, "x", "12", 5, 5.5, True, ["a"], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0], 10**30, "2020")
STAMPS = ("2026-01-02T03:04:05.678Z", "2026-01-03T00:00:00.000Z")
UUIDS = [str(uuid.UUID(int=number)) for number in range(1, 6)]


class World(msgspec.Struct):
    """A project: its definitions and its things."""

    definitions: Definitions
    things: dict[Kind, list[Any]]

    def commits(self) -> list[Commit]:
        """A log that comes to this world: definitions, then things."""
        defined = [
            change_of(kind.value, each) for kind, found in self.definitions.by_kind.items() for each in found.values()
        ]
        made = [change_of(kind.value, each) for kind, found in self.things.items() for each in found]
        return [commit(1, defined), commit(2, made)]


def change_of(kind: str, thing: Any) -> Change:
    return Change(kind, thing.id, msgspec.Raw(msgspec.json.encode(thing)))


def commit(seq: int, changes: list[Change]) -> Commit:
    return Commit(project=PROJECT, seq=seq, at="2026-01-02T03:04:05.678Z", user=1, changes=changes)


def attribute_types(rng: Random) -> list[AttributeType]:
    names = rng.sample(NAMES, rng.randrange(len(NAMES) + 1))
    return [AttributeType(name=name, dtype=rng.choice(DTYPES)) for name in names]


def attributes(rng: Random, type_: Any) -> dict[str, Any]:
    found = {}
    for each in type_.attribute_types:
        match rng.randrange(8):
            case 0:
                continue
            case 1:
                found[each.name] = rng.choice(ODD)
            case _:
                found[each.name] = good(rng, each.dtype)
    return found


def good(rng: Random, dtype: str) -> Any:
    """A value of a dtype."""
    if dtype == "float_array":
        return [float(rng.randrange(-3, 4)) for _ in range(rng.choice([2, 2, 3]))]
    return rng.choice(GOOD[dtype])


def some_ids(rng: Random, most: int) -> list[int]:
    return rng.sample(range(1, 15), rng.randrange(most + 1))


def definitions(rng: Random) -> Definitions:
    made = Definitions(project=PROJECT)

    def add(kind: Kind, struct: Any, number: int, **more: Any) -> None:
        given = {"project": PROJECT, "name": f"t{number}", "elemental_id": UUIDS[0]}
        made.put(TYPE_OF[kind], struct(id=number, attribute_types=attribute_types(rng), **given, **more))

    for number in range(1, rng.randrange(2, 4)):
        add(Kind.MEDIA, MediaType, number, dtype=rng.choice(["image", "video"]))
    for number in range(1, rng.randrange(2, 5)):
        add(Kind.LOCALIZATION, LocalizationType, number, dtype="box")
    for number in range(1, rng.randrange(2, 4)):
        add(Kind.STATE, StateType, number, association="Localization")
    add(Kind.LEAF, LeafType, 1)
    add(Kind.FILE, FileType, 1)
    for number in (1, 2, 3):
        bases = rng.sample((1, 2, 3), rng.randrange(3))
        version = Version(id=number, project=PROJECT, name="v", number=number, bases=bases, elemental_id=UUIDS[0])
        made.put(DefinitionKind.VERSION, version)
    for number, dtype in ((1, "folder"), (2, "playlist"), (3, "saved_search")):
        given = {"project": PROJECT, "name": "s", "path": f"s{number}", "dtype": dtype, "elemental_id": UUIDS[0]}
        search = {"attribute": rng.choice(["$id", "$fps"]), "operation": "gt", "value": 1}
        section = Section(id=number, media=some_ids(rng, 4), tator_user_sections=f"tag{number}", **given)
        section.object_search = search if number == 3 else None
        made.put(DefinitionKind.SECTION, section)
    return made


def _common(rng: Random, kind: Kind, number: int, made: Definitions) -> dict[str, Any]:
    type_ = rng.choice(list(made.types(kind).values()))
    return {
        "id": number,
        "project": PROJECT,
        "type": type_.id,
        "attributes": attributes(rng, type_),
        "created_by": rng.choice([1, 2, None]),
        "created_datetime": rng.choice(STAMPS),
        "modified_by": 1,
        "modified_datetime": rng.choice(STAMPS),
    }


def _marked(rng: Random) -> dict[str, Any]:
    return {
        "version": rng.randrange(1, 4),
        "parent": rng.choice([None, rng.randrange(1, 15)]),
        "elemental_id": rng.choice(UUIDS),
        "mark": rng.randrange(2),
        "latest": rng.randrange(8) > 0,
        "variant_deleted": rng.randrange(8) == 0,
    }


def world(rng: Random) -> World:
    made = definitions(rng)
    things: dict[Kind, list[Any]] = {kind: [] for kind in Kind}
    for number in range(1, rng.randrange(1, 7)):
        media = Media(
            **_common(rng, Kind.MEDIA, number, made),
            name=rng.choice(["a.mp4", "A.mp4", "b.png", "Ü"]),
            primary_section=rng.choice([None, 1, 1, 2, 3]),
            archive_state=rng.choice(["live", "live", "archived"]),
            fps=rng.choice([None, *GOOD["float"]]),
            num_frames=rng.choice([None, 0, 1, 2**40]),
            elemental_id=rng.choice(UUIDS),
        )
        if rng.randrange(2):
            media.attributes["tator_user_sections"] = "tag1"
        things[Kind.MEDIA].append(media)
    for number in range(1, rng.randrange(1, 25)):
        shape = {"media": rng.randrange(1, 7), "frame": rng.randrange(3), "x": rng.choice([None, 0.0, -0.0, 0.25, 1.0])}
        box = Localization(**_common(rng, Kind.LOCALIZATION, number, made), **_marked(rng), **shape)
        things[Kind.LOCALIZATION].append(box)
    for number in range(1, rng.randrange(1, 8)):
        links = {"media": rng.sample(range(1, 7), rng.randrange(1, 3)), "localizations": some_ids(rng, 4)}
        frame = rng.choice([None, 0, 1, 2])
        segments = rng.choice([None, [], [[0, 0]], [[2, 4], [7, 7]]])
        state = State(**_common(rng, Kind.STATE, number, made), **_marked(rng), **links, frame=frame, segments=segments)
        things[Kind.STATE].append(state)
    for number in range(1, 4):
        name = rng.choice(["a", "B"])
        leaf = Leaf(**_common(rng, Kind.LEAF, number, made), name=name, path=rng.choice(["P", "P.a", "Px"]))
        things[Kind.LEAF].append(leaf)
        file = File(**_common(rng, Kind.FILE, number, made), name=name, elemental_id=rng.choice(UUIDS))
        things[Kind.FILE].append(file)
    return World(made, things)


SEEDS = st.integers(0, 2**48)
"""Worlds come from seeds: drawing each of their hundreds of values would take twenty times as long as asking."""
