"""Random projects and random questions about them, for the tests of the query engine."""

from __future__ import annotations

import base64
import uuid
from typing import Any

import msgspec
from hypothesis import strategies as st

from chalicelib.domain.attributes import AttributeType
from chalicelib.domain.commits import Change, Commit
from chalicelib.domain.definitions import (
    Definitions,
    FileType,
    LeafType,
    LocalizationType,
    MediaType,
    Section,
    StateType,
    Version,
)
from chalicelib.domain.entities import File, Leaf, Localization, Media, State
from chalicelib.domain.kinds import TYPE_OF, DefinitionKind, Kind
from chalicelib.query.bodies import (
    FloatArrayQuery,
    IdQuery,
    LeafIdQuery,
    LocalizationIdQuery,
    MediaIdQuery,
    StateIdQuery,
)
from chalicelib.query.parameters import FileQuery, LeafQuery, ListQuery, LocalizationQuery, MediaQuery, StateQuery

PROJECT = 7
NAMES = ("n", "s", "Deep Name", "x%y")
DTYPES = ("bool", "int", "float", "enum", "string", "datetime", "geopos", "float_array", "blob")
TEXTS = st.sampled_from(["", "a", "A", "Foo", "foo", "bar", "Ärger", "äRGER", "ΣΑΣ", "true", "5", "İx", "a.b", "日本"])
NUMBERS = st.sampled_from([0.0, -0.0, 1.0, 1.5, -2.0, 3.0, 1e300])
INTS = st.sampled_from([0, 1, 2, 3, -1, 2**40, 2**63 - 1])
TIMES = st.sampled_from(
    ["2020-01-02", "2020-01-02T03:04:05Z", "2020-01-02T03:04:05+02:00", "2021-06-07T00:00:00.123456", "2020-01-02T00:00"]
)
PLACES = st.sampled_from([[0.0, 0.0], [8.0, 48.0], [8.5, 48.5], [179.9, 1.0], [-179.9, 1.0], [0.0, 90.0], [-1.0, -1.0]])
VECTORS = st.lists(st.integers(-3, 3).map(float), min_size=2, max_size=3)
GOOD = {
    "bool": st.booleans(),
    "int": INTS,
    "float": NUMBERS,
    "enum": TEXTS,
    "string": TEXTS,
    "blob": TEXTS,
    "datetime": TIMES,
    "geopos": PLACES,
    "float_array": VECTORS,
}
ODD = st.sampled_from([None, "x", "12", 5, 5.5, True, ["a"], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0], 10**30, "2020"])
STAMPS = st.sampled_from(["2026-01-02T03:04:05.678Z", "2026-01-03T00:00:00.000Z"])
UUIDS = [str(uuid.UUID(int=number)) for number in range(1, 6)]
IDS = st.integers(1, 14)
QUERY = {
    Kind.MEDIA: MediaQuery,
    Kind.LOCALIZATION: LocalizationQuery,
    Kind.STATE: StateQuery,
    Kind.LEAF: LeafQuery,
    Kind.FILE: FileQuery,
}
BODY = {
    Kind.MEDIA: MediaIdQuery,
    Kind.LOCALIZATION: LocalizationIdQuery,
    Kind.STATE: StateIdQuery,
    Kind.LEAF: LeafIdQuery,
    Kind.FILE: IdQuery,
}


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


@st.composite
def attribute_types(draw) -> list[AttributeType]:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=4))
    return [AttributeType(name=name, dtype=draw(st.sampled_from(DTYPES))) for name in names]


@st.composite
def attributes(draw, type_: Any) -> dict[str, Any]:
    found = {}
    for each in type_.attribute_types:
        match draw(st.integers(0, 5)):
            case 0:
                continue
            case 1:
                found[each.name] = draw(ODD)
            case _:
                found[each.name] = draw(GOOD[each.dtype])
    return found


def _type(draw, struct: Any, number: int, **more: Any) -> Any:
    return struct(
        id=number, project=PROJECT, name=f"t{number}", elemental_id=UUIDS[0], attribute_types=draw(attribute_types()), **more
    )


@st.composite
def definitions(draw) -> Definitions:
    made = Definitions(project=PROJECT)
    for number in range(1, draw(st.integers(2, 3))):
        made.put(DefinitionKind.MEDIA_TYPE, _type(draw, MediaType, number, dtype=draw(st.sampled_from(["image", "video"]))))
    for number in range(1, draw(st.integers(2, 4))):
        made.put(DefinitionKind.LOCALIZATION_TYPE, _type(draw, LocalizationType, number, dtype="box"))
    for number in range(1, draw(st.integers(2, 3))):
        made.put(DefinitionKind.STATE_TYPE, _type(draw, StateType, number, association="Localization"))
    made.put(DefinitionKind.LEAF_TYPE, _type(draw, LeafType, 1))
    made.put(DefinitionKind.FILE_TYPE, _type(draw, FileType, 1))
    for number in (1, 2, 3):
        bases = draw(st.lists(st.integers(1, 3), max_size=2, unique=True))
        version = Version(id=number, project=PROJECT, name=f"v{number}", number=number, bases=bases, elemental_id=UUIDS[0])
        made.put(DefinitionKind.VERSION, version)
    for number, dtype in ((1, "folder"), (2, "playlist"), (3, "saved_search")):
        section = Section(
            id=number,
            project=PROJECT,
            name=f"s{number}",
            path=f"s{number}",
            dtype=dtype,
            elemental_id=UUIDS[0],
            media=draw(st.lists(IDS, max_size=3)),
            tator_user_sections=f"tag{number}",
            object_search=draw(searches(Kind.MEDIA)) if dtype == "saved_search" else None,
        )
        made.put(DefinitionKind.SECTION, section)
    return made


def _common(draw, kind: Kind, number: int, made: Definitions) -> dict[str, Any]:
    type_ = draw(st.sampled_from(list(made.types(kind).values())))
    return {
        "id": number,
        "project": PROJECT,
        "type": type_.id,
        "attributes": draw(attributes(type_)),
        "created_by": draw(st.sampled_from([1, 2, None])),
        "created_datetime": draw(STAMPS),
        "modified_by": 1,
        "modified_datetime": draw(STAMPS),
    }


def _marked(draw) -> dict[str, Any]:
    return {
        "version": draw(st.integers(1, 3)),
        "parent": draw(st.none() | IDS),
        "elemental_id": draw(st.sampled_from(UUIDS)),
        "mark": draw(st.integers(0, 1)),
        "latest": draw(st.integers(0, 3)) > 0,
        "variant_deleted": draw(st.integers(0, 4)) == 0,
    }


@st.composite
def worlds(draw) -> World:
    made = draw(definitions())
    things: dict[Kind, list[Any]] = {kind: [] for kind in Kind}
    for number in range(1, draw(st.integers(1, 6))):
        media = Media(
            **_common(draw, Kind.MEDIA, number, made),
            name=draw(st.sampled_from(["a.mp4", "A.mp4", "b.png", "Ü"])),
            primary_section=draw(st.none() | st.integers(1, 3)),
            archive_state=draw(st.sampled_from(["live", "live", "archived"])),
            fps=draw(st.none() | NUMBERS),
            num_frames=draw(st.none() | INTS),
            elemental_id=draw(st.sampled_from(UUIDS)),
        )
        if draw(st.booleans()):
            media.attributes["tator_user_sections"] = "tag1"
        things[Kind.MEDIA].append(media)
    media_ids = st.integers(1, 6)
    for number in range(1, draw(st.integers(1, 13))):
        x = draw(st.none() | st.sampled_from([0.0, -0.0, 0.25, 1.0]))
        things[Kind.LOCALIZATION].append(
            Localization(
                **_common(draw, Kind.LOCALIZATION, number, made),
                **_marked(draw),
                media=draw(media_ids),
                frame=draw(st.integers(0, 2)),
                x=x,
            )
        )
    for number in range(1, draw(st.integers(1, 7))):
        things[Kind.STATE].append(
            State(
                **_common(draw, Kind.STATE, number, made),
                **_marked(draw),
                media=draw(st.lists(media_ids, min_size=1, max_size=2, unique=True)),
                localizations=draw(st.lists(IDS, max_size=3, unique=True)),
                frame=draw(st.none() | st.integers(0, 2)),
            )
        )
    for number in range(1, 4):
        name = draw(st.sampled_from(["a", "B"]))
        leaf = Leaf(**_common(draw, Kind.LEAF, number, made), name=name, path=draw(st.sampled_from(["P", "P.a", "Px"])))
        things[Kind.LEAF].append(leaf)
        file = File(**_common(draw, Kind.FILE, number, made), name=name, elemental_id=draw(st.sampled_from(UUIDS)))
        things[Kind.FILE].append(file)
    return World(made, things)


# --- questions -----------------------------------------------------------------------------------------------------

COLUMN_NAMES = {
    Kind.MEDIA: ["$id", "$type", "$name", "$fps", "$num_frames", "$section", "$created_by", "$created_datetime"],
    Kind.LOCALIZATION: ["$id", "$x", "$frame", "$version", "$created_by", "$elemental_id", "$variant_deleted", "$section"],
    Kind.STATE: ["$id", "$frame", "$version", "$created_by", "$created_datetime", "$section"],
    Kind.LEAF: ["$id", "$name", "$depth", "$path"],
    Kind.FILE: ["$id", "$name"],
}
ANY_VALUE = st.one_of(*GOOD.values())


@st.composite
def filters(draw, kind: Kind) -> dict[str, Any]:
    """One filter of an object search; often one that must be refused."""
    name = draw(st.sampled_from([*NAMES, *NAMES, *COLUMN_NAMES[kind]]))
    if kind is not Kind.LEAF and kind is not Kind.FILE and name == "$section":
        value = draw(st.integers(1, 3))
        return {"attribute": name, "operation": "eq", "value": value}
    operation = draw(
        st.sampled_from(
            ["eq", "eq", "lt", "lte", "gt", "gte", "in", "icontains", "istartswith", "iendswith", "isnull", "date_eq"]
            + ["date_lte", "date_range", "range", "distance_lte"]
        )
    )
    match operation:
        case "in":
            value = draw(st.lists(ANY_VALUE, max_size=3))
        case "range" | "date_range":
            values = GOOD[draw(st.sampled_from(["int", "float", "datetime", "string"]))]
            value = [draw(values), draw(values)]
        case "icontains" | "istartswith" | "iendswith":
            value = draw(TEXTS)
        case "isnull":
            value = draw(st.booleans())
        case "distance_lte":
            value = [draw(st.sampled_from([0.0, 60.0, 100.0, 6000.0, 19990.0, 30000.0])), *draw(PLACES)[::-1]]
        case _:
            value = draw(ANY_VALUE)
    return {"attribute": name, "operation": operation, "value": value, "inverse": draw(st.booleans())}


NESTED = {
    Kind.MEDIA: {"$related_localizations": Kind.LOCALIZATION, "$related_states": Kind.STATE},
    Kind.LOCALIZATION: {
        "$coincident_states": Kind.STATE,
        "$coincident_localizations": Kind.LOCALIZATION,
        "$track_membership": Kind.STATE,
        "$related_media": Kind.MEDIA,
    },
    Kind.STATE: {
        "$coincident_states": Kind.STATE,
        "$coincident_localizations": Kind.LOCALIZATION,
        "$related_media": Kind.MEDIA,
    },
}


@st.composite
def searches(draw, kind: Kind, depth: int = 3) -> dict[str, Any]:
    choice = draw(st.integers(0, 9)) if depth else 0
    if choice >= 8 and kind in NESTED:
        name, to = draw(st.sampled_from(list(NESTED[kind].items())))
        value = draw(searches(to, depth - 1))
        return {"attribute": name, "operation": "search", "value": value, "inverse": draw(st.booleans())}
    if choice >= 4:
        method = draw(st.sampled_from(["and", "OR", "not"]))
        size = 1 if method == "not" else draw(st.integers(0, 3))
        return {"method": method, "operations": [draw(searches(kind, depth - 1)) for _ in range(size)]}
    return draw(filters(kind))


def encoded(search: Any) -> str:
    return base64.b64encode(msgspec.json.encode(search)).decode()


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


@st.composite
def attribute_filters(draw, kind: Kind) -> dict[str, Any]:
    found: dict[str, list[str]] = {}
    names = st.sampled_from([*NAMES, *NAMES, *COLUMN_NAMES[kind]])
    for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2]))):
        word = draw(st.sampled_from(["", "_lt", "_lte", "_gt", "_gte", "_contains", "_null", "_distance"]))
        value = as_text(draw(ANY_VALUE))
        if word == "_null":
            value = draw(st.sampled_from(["true", "false"]))
        elif word == "_distance":
            lon, lat = draw(PLACES)
            value = f"{draw(st.sampled_from([0, 100, 19990]))}::{lat}::{lon}"
        found.setdefault(f"attribute{word}", []).append(f"{draw(names)}::{value}")
    return found


def maybe(values: Any) -> Any:
    """Usually None."""
    return st.one_of(st.none(), st.none(), st.none(), st.none(), values)


@st.composite
def questions(draw, kind: Kind) -> tuple[ListQuery, IdQuery | None]:
    given: dict[str, Any] = draw(attribute_filters(kind))
    flag = st.integers(0, 1)
    sort = st.builds("{}{}".format, st.sampled_from(["", "-"]), st.sampled_from([*NAMES, *COLUMN_NAMES[kind]]))
    given |= {
        "encoded_search": draw(maybe(searches(kind).map(encoded))),
        "sort_by": draw(maybe(st.lists(sort, min_size=1, max_size=3))),
        "start": draw(maybe(st.integers(0, 3))),
        "stop": draw(maybe(st.integers(0, 6))),
        "type": draw(maybe(st.integers(1, 3))),
        "after": draw(maybe(IDS)),
    }
    body: dict[str, Any] = {"ids": draw(maybe(st.lists(IDS, max_size=9))), "object_search": draw(maybe(searches(kind)))}
    if kind is Kind.MEDIA or kind.is_annotation:
        related = draw(attribute_filters(Kind.MEDIA if kind.is_annotation else Kind.STATE))
        if draw(st.integers(0, 3)) == 0:
            given |= {f"related_{word}": value for word, value in related.items()}
        given |= {
            "encoded_related_search": draw(
                maybe(searches(Kind.MEDIA if kind.is_annotation else Kind.LOCALIZATION, 1).map(encoded))
            ),
            "section": draw(maybe(st.integers(1, 3))),
            "multi_section": draw(maybe(st.lists(st.integers(1, 4), max_size=2))),
            "media_id": draw(maybe(st.lists(IDS, max_size=3))),
            "elemental_id": draw(maybe(st.sampled_from(UUIDS))),
        }
    if kind is Kind.MEDIA:
        given |= {
            "name": draw(maybe(st.sampled_from(["a.MP4", "ü"]))),
            "dtype": draw(maybe(st.sampled_from(["image", "video"]))),
            "after_name": draw(maybe(st.just("a.mp4"))),
            "archive_lifecycle": draw(maybe(st.sampled_from(["all", "archived"]))),
        }
        body |= {"state_ids": draw(maybe(st.lists(IDS, max_size=2))), "localization_ids": draw(maybe(st.lists(IDS)))}
    if kind.is_annotation:
        given |= {
            "version": draw(maybe(st.lists(st.integers(1, 3), max_size=3))),
            "related_id": draw(maybe(st.lists(IDS, max_size=3))),
            "merge": draw(flag),
            "show_deleted": draw(flag),
            "show_all_marks": draw(flag),
            "exclude_parents": int(draw(st.integers(0, 5)) == 0),
            "media_query": draw(maybe(st.just("type=1&attribute_null=n::true"))),
        }
        body |= {"media_ids": draw(maybe(st.lists(IDS))), "elemental_ids": draw(maybe(st.lists(st.sampled_from(UUIDS))))}
    if kind is Kind.LOCALIZATION:
        given["frame"] = draw(maybe(st.integers(0, 2)))
        body |= {"state_ids": draw(maybe(st.lists(IDS))), "frame_state_ids": draw(maybe(st.lists(IDS)))}
    if kind is Kind.STATE:
        body["localization_ids"] = draw(maybe(st.lists(IDS)))
    if kind is Kind.LEAF:
        given |= {"leaf_id": draw(maybe(st.lists(IDS))), "ancestor": draw(maybe(st.just("P")))}
    if kind is not Kind.FILE and draw(st.integers(0, 5)) == 0:
        given["type"] = draw(st.integers(1, 2))
        nearest = st.builds(
            FloatArrayQuery,
            name=st.sampled_from(NAMES),
            center=VECTORS,
            metric=st.sampled_from([None, "l2norm", "ip", "l1norm"]),
            order=st.sampled_from([None, "desc"]),
            lower_bound=maybe(st.just(1.0)),
            upper_bound=maybe(st.just(2.0)),
        )
        body["float_array"] = draw(st.lists(nearest, min_size=1, max_size=2))
    known = {field.name for field in msgspec.structs.fields(BODY[kind])}
    given = {name: value for name, value in given.items() if value is not None}
    asked = BODY[kind](**{name: value for name, value in body.items() if name in known})
    return msgspec.convert(given, QUERY[kind], strict=False), asked


@st.composite
def asked_worlds(draw) -> tuple[World, list[tuple[Kind, ListQuery, IdQuery | None]]]:
    """A world and some questions about it."""
    world = draw(worlds())
    asked = []
    for _ in range(6):
        kind = draw(st.sampled_from([Kind.MEDIA, Kind.LOCALIZATION, Kind.LOCALIZATION, Kind.STATE, Kind.LEAF, Kind.FILE]))
        asked.append((kind, *draw(questions(kind))))
    return world, asked


