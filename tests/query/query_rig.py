"""A small fixed project and a way to ask it, through SQL and the plain evaluation at once."""

from __future__ import annotations

from typing import Any

import msgspec

from chalicelib.core.kinds import TYPE_OF, DefinitionKind, Kind
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
from chalicelib.query import check, evaluate, parse
from chalicelib.storage.view.view import View
from tests.query.query_worlds import PROJECT, UUIDS, World
from tests.query.random_queries import BODY, QUERY, encoded

STAMP = "2026-01-02T03:04:05.678Z"
BOX, OTHER_BOX = 1, 2
MADE = {
    "project": PROJECT,
    "created_by": 1,
    "created_datetime": STAMP,
    "modified_by": 1,
    "modified_datetime": STAMP,
}


def types(**dtypes: str) -> list[AttributeType]:
    return [AttributeType(name=name.replace("_", " "), dtype=dtype) for name, dtype in dtypes.items()]


def type_of(struct: Any, number: int, attribute_types: list[AttributeType], **more: Any) -> Any:
    given = {"id": number, "project": PROJECT, "name": f"type {number}", "elemental_id": UUIDS[0]}
    return struct(**given, attribute_types=attribute_types, **more)


def media(number: int, name: str = "a.mp4", **more: Any) -> Media:
    given = {"id": number, "type": 1, "name": name, "elemental_id": UUIDS[0]}
    return Media(**MADE | given | more)


def box(number: int, attributes: dict[str, Any] | None = None, **more: Any) -> Localization:
    given = {"type": BOX, "media": 1, "frame": number, "version": 1, "elemental_id": f"{number:032x}"}
    return Localization(**MADE | given | more, id=number, attributes=attributes or {})


def state(number: int, attributes: dict[str, Any] | None = None, **more: Any) -> State:
    given = {"type": 1, "media": [1], "version": 1, "elemental_id": f"{number:032x}"}
    return State(**MADE | given | more, id=number, attributes=attributes or {})


def leaf(number: int, name: str, path: str, **more: Any) -> Leaf:
    return Leaf(**MADE, id=number, type=1, name=name, path=path, **more)


def file(number: int, name: str, **more: Any) -> File:
    return File(**MADE, id=number, type=1, name=name, elemental_id=UUIDS[0], **more)


def section(number: int, dtype: str, **more: Any) -> Section:
    given = {"name": "s", "path": f"s{number}", "elemental_id": UUIDS[0], "tator_user_sections": f"tag{number}"}
    return Section(id=number, project=PROJECT, dtype=dtype, **given, **more)


def version(number: int, *bases: int) -> Version:
    given = {"project": PROJECT, "name": f"v{number}", "number": number, "elemental_id": UUIDS[0]}
    return Version(id=number, bases=list(bases), **given)


class Rig:
    """A project with one type of each kind but two of boxes, to which a test adds things."""

    def __init__(self, *things: Any, sections: tuple[Section, ...] = (), versions: tuple[Version, ...] = ()) -> None:
        made = Definitions(project=PROJECT)
        attributes = types(
            n="int", s="string", f="float", b="bool", e="enum", t="datetime", g="geopos", v="float_array", blob="blob",
            Deep_Name="int",
        )  # fmt: skip
        made.put(TYPE_OF[Kind.MEDIA], type_of(MediaType, 1, types(site="string", depth="float"), dtype="video"))
        made.put(TYPE_OF[Kind.LOCALIZATION], type_of(LocalizationType, BOX, attributes, dtype="box"))
        made.put(TYPE_OF[Kind.LOCALIZATION], type_of(LocalizationType, OTHER_BOX, types(s="int"), dtype="box"))
        made.put(TYPE_OF[Kind.STATE], type_of(StateType, 1, types(n="int", w="string"), association="Localization"))
        made.put(TYPE_OF[Kind.LEAF], type_of(LeafType, 1, types(n="int")))
        made.put(TYPE_OF[Kind.FILE], type_of(FileType, 1, types(n="int")))
        for each in sections:
            made.put(DefinitionKind.SECTION, each)
        for each in versions:
            made.put(DefinitionKind.VERSION, each)
        found: dict[Kind, list[Any]] = {kind: [] for kind in Kind}
        for each in things:
            found[Kind(type(each).__name__.lower())].append(each)
        self.world = World(made, found)
        self.view = View(PROJECT)
        self.view.apply(self.world.commits())

    def ask(
        self, kind: Kind = Kind.LOCALIZATION, body: dict[str, Any] | None = None, scope: Any = None, **given: Any
    ) -> list[int]:
        """The ids that parameters and a body find, after checking that everything agrees on them."""
        parameters = msgspec.convert(given, QUERY[kind], strict=False)
        asked = msgspec.convert(body, BODY[kind]) if body is not None else None
        query = check(parse(kind, parameters, asked), self.view.definitions, scope)
        expected = evaluate.ids(query, self.world.things)
        assert self.view.ids(query) == expected
        assert self.view.count(query) == len(expected)
        return expected

    def search(self, search: Any, kind: Kind = Kind.LOCALIZATION, **given: Any) -> list[int]:
        """The ids that an object search finds, both ways it may come."""
        found = self.ask(kind, {"object_search": search}, **given)
        assert self.ask(kind, encoded_search=encoded(search), **given) == found
        return found


def term(name: str, operation: str, value: Any, *, inverse: bool = False) -> dict[str, Any]:
    return {"attribute": name, "operation": operation, "value": value, "inverse": inverse}
