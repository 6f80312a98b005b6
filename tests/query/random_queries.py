"""Random queries about a world, in all four languages."""

from __future__ import annotations

import base64
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import (
    Definitions,
)
from chalicelib.query.columns import UNDERSCORED
from chalicelib.query.parsers.bodies import (
    FloatArrayQuery,
    IdQuery,
    LeafIdQuery,
    LocalizationIdQuery,
    MediaIdQuery,
    StateIdQuery,
)
from chalicelib.query.parsers.parameters import (
    FileQuery,
    LeafQuery,
    ListQuery,
    LocalizationQuery,
    MediaQuery,
    StateQuery,
)
from tests.query.query_worlds import GOOD, ODD, UUIDS, World, good, world

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
COLUMN_NAMES = {
    Kind.MEDIA: {
        "$id": "int", "$type": "int", "$name": "string", "$fps": "float", "$num_frames": "int", "$created_by": "int",
        "$created_datetime": "datetime", "$section": "int", "$incident": "int",
    },
    Kind.LOCALIZATION: {
        "$id": "int", "$x": "float", "$frame": "int", "$version": "int", "$created_by": "int",
        "$elemental_id": "string", "$variant_deleted": "bool", "$section": "int",
    },
    Kind.STATE: {
        "$id": "int", "$frame": "int", "$version": "int", "$created_datetime": "datetime", "$section": "int",
        "$length": "int", "$num_frames": "int", "$duration": "float",
    },
    Kind.LEAF: {"$id": "int", "$name": "string", "$depth": "int", "$path": "string"},
    Kind.FILE: {"$id": "int", "$name": "string"},
}  # fmt: skip
FILTERS = {
    "": "bool int float enum string datetime", "_lt": "int float datetime", "_lte": "int float datetime",
    "_gt": "int float datetime", "_gte": "int float datetime", "_contains": "string enum", "_distance": "geopos",
}  # fmt: skip
OPERATIONS = {
    **dict.fromkeys(("eq", "in"), "bool int float enum string datetime blob"),
    **dict.fromkeys(("lt", "lte", "gt", "gte", "range"), "int float enum string datetime blob"),
    **dict.fromkeys(("icontains", "istartswith", "iendswith", "iendswidth"), "enum string blob"),
    **dict.fromkeys(("date_eq", "date_lt", "date_lte", "date_gt", "date_gte", "date_range"), "datetime"),
    **dict.fromkeys(("distance_lte", "polygon"), "geopos"),
}
KILOMETRES = (0.0, 60.0, 100.0, 6000.0, 19990.0, 30000.0)
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
KINDS = (Kind.MEDIA, Kind.LOCALIZATION, Kind.LOCALIZATION, Kind.STATE, Kind.LEAF, Kind.FILE)
Asked = list[tuple[Kind, ListQuery, IdQuery]]


class Asker:
    """Asks random questions about one world, mostly such as can be answered."""

    def __init__(self, rng: Random, made: Definitions) -> None:
        self.rng = rng
        self.made = made

    def often(self, share: float = 0.2) -> bool:
        return self.rng.random() < share

    def name(self, kind: Kind) -> tuple[str, str]:
        """A name that things of a kind have, and its dtype; now and then one they have not."""
        known = [(each.name, each.dtype) for type_ in self.made.types(kind).values() for each in type_.attribute_types]
        if self.often(0.04):
            return self.rng.choice([("nope", "int"), ("$nope", "string"), ("n", "float")])
        return self.rng.choice([*known, *known, *COLUMN_NAMES[kind].items()])

    def word(self, words: dict[str, str], dtype: str) -> str:
        fitting = [word for word, dtypes in words.items() if dtype in dtypes.split()]
        return self.rng.choice(fitting if fitting and not self.often(0.04) else list(words))

    def value(self, dtype: str) -> Any:
        return self.rng.choice(ODD) if self.often(0.03) else good(self.rng, dtype)

    def filter(self, kind: Kind) -> dict[str, Any]:
        name, dtype = self.name(kind)
        word = "isnull" if self.often(0.1) else self.word(OPERATIONS, dtype)
        match word:
            case "isnull":
                value: Any = self.rng.choice([True, False])
            case "in":
                value = [self.value(dtype) for _ in range(self.rng.randrange(4))]
            case "range" | "date_range":
                value = [self.value(dtype), self.value(dtype)]
            case "distance_lte":
                value = [self.rng.choice(KILOMETRES), *self.rng.choice(GOOD["geopos"])[::-1]]
            case "polygon":
                value = [list(self.rng.choice(GOOD["geopos"])) for _ in range(self.rng.randrange(3, 8))]
                value = [[lon + self.rng.choice([0, 0, 0.5, 180]), lat] for lon, lat in value]
            case "icontains" | "istartswith" | "iendswith" | "iendswidth":
                value = self.rng.choice(GOOD["string"])
            case _:
                value = self.value(dtype)
        if name == "$section" and kind in NESTED:
            word, value = "eq", self.rng.randrange(1, 4)
        return {"attribute": name, "operation": word, "value": value, "inverse": self.often(0.3)}

    def search(self, kind: Kind, depth: int = 3) -> dict[str, Any]:
        choice = self.rng.randrange(10) if depth else 0
        if choice >= 8 and kind in NESTED:
            name, to = self.rng.choice(list(NESTED[kind].items()))
            value = self.search(to, depth - 1)
            return {"attribute": name, "operation": "search", "value": value, "inverse": self.often(0.3)}
        if choice >= 4:
            method = self.rng.choice(["and", "OR", "not"])
            size = 1 if method == "not" else self.rng.randrange(4)
            return {"method": method, "operations": [self.search(kind, depth - 1) for _ in range(size)]}
        return self.filter(kind)

    def filters(self, kind: Kind) -> dict[str, Any]:
        found: dict[str, list[str]] = {}
        for _ in range(self.rng.choice([0, 1, 1, 2])):
            name, dtype = self.name(kind)
            word, value = "_null", self.rng.choice(["true", "false"])
            if not self.often(0.1):
                word, value = self.word(FILTERS, dtype), as_text(self.value(dtype))
            if word == "_distance":
                lon, lat = self.rng.choice(GOOD["geopos"])
                value = f"{self.rng.choice(KILOMETRES)}::{lat}::{lon}"
            found.setdefault(f"attribute{word}", []).append(f"{name}::{value}")
        return found

    def string(self, kind: Kind, depth: int = 2) -> str:
        """A search string."""
        rng = self.rng
        if depth and self.often(0.5):
            one, other = self.string(kind, depth - 1), self.string(kind, depth - 1)
            form = rng.choice(["{0} AND {1}", "{0} OR {1}", "{0} {1}", "(+{0} -{1})", "NOT {0}", "({0}) AND NOT ({1})"])
            return form.format(f"({one})", f"({other})")
        if self.often():
            return rng.choice(["foo", "fo*", "*", '"a.b"', "fob~", "/[Ff]o+/", "Ärger"])
        name, dtype = self.name(kind)
        name = name if self.often(0.9) else rng.choice(list(UNDERSCORED[kind]))
        field = name.replace(" ", "\\ ")
        if self.often(0.1):
            return f"_exists_:{field}"
        value = f'"{as_text(self.value(dtype))}"'
        if dtype in ("string", "enum", "blob"):
            value = rng.choice([value, "f*", "?oo", "fop~1", "*ger", "/F.*/", "(a foo)"])
        forms = (
            [value] if dtype in ("bool", "geopos", "float_array") else [value, f"[{value} TO *]", f"{{* TO {value}}}"]
        )
        return f"{field}:{rng.choice([*forms, *([f'>{value}', f'<={value}'] if len(forms) > 1 else [])])}"

    def ids(self) -> list[int]:
        return self.rng.sample(range(1, 26), self.rng.randrange(26))

    def question(self, kind: Kind) -> tuple[ListQuery, IdQuery]:  # noqa: C901, PLR0915 one after the other
        """Parameters and a body."""
        rng = self.rng
        given: dict[str, Any] = self.filters(kind) if self.often(0.4) else {}
        body: dict[str, Any] = {}

        eager = rng.choice([0.3, 0.6, 1.0])

        def maybe(where: dict[str, Any], member: str, value: Callable[[], Any], share: float = 0.12) -> None:
            if self.often(share * eager):
                where[member] = value()

        maybe(given, "encoded_search", lambda: encoded(self.search(kind)), 0.3)
        maybe(
            given,
            "sort_by",
            lambda: [rng.choice(["", "-"]) + self.name(kind)[0] for _ in range(rng.randrange(1, 4))],
            0.5,
        )
        maybe(given, "search", lambda: self.string(kind), 0.25)
        maybe(given, "start", lambda: rng.randrange(4))
        maybe(given, "stop", lambda: rng.randrange(7))
        maybe(given, "type", lambda: rng.randrange(1, 4))
        maybe(given, "after", lambda: rng.randrange(1, 10))
        maybe(body, "ids", self.ids)
        maybe(body, "object_search", lambda: self.search(kind), 0.2)
        if kind in NESTED:
            other = Kind.MEDIA if kind.is_annotation else rng.choice([Kind.STATE, Kind.LOCALIZATION])
            if self.often():
                given |= {f"related_{word}": value for word, value in self.filters(other).items()}
            maybe(given, "encoded_related_search", lambda: encoded(self.search(other, 1)))
            maybe(given, "section", lambda: rng.randrange(1, 4))
            maybe(given, "multi_section", lambda: [rng.randrange(1, 5) for _ in range(2)])
            maybe(given, "media_id", self.ids)
            maybe(given, "elemental_id", lambda: rng.choice(UUIDS))
        if kind is Kind.MEDIA:
            maybe(given, "name", lambda: rng.choice(["a.MP4", "ü"]))
            maybe(given, "annotation_search", lambda: self.string(Kind.LOCALIZATION))
            maybe(given, "dtype", lambda: rng.choice(["image", "video"]))
            maybe(given, "after_name", lambda: "a.mp4")
            maybe(given, "archive_lifecycle", lambda: rng.choice(["all", "archived"]), 0.4)
            maybe(body, "state_ids", self.ids)
            maybe(body, "localization_ids", self.ids)
        if kind.is_annotation:
            maybe(given, "version", lambda: rng.sample((1, 2, 3), rng.randrange(4)), 0.4)
            maybe(given, "related_id", self.ids)
            for flag in ("merge", "show_deleted", "show_all_marks", "exclude_parents"):
                maybe(given, flag, lambda: rng.randrange(2), 0.3)
            maybe(given, "media_search", lambda: self.string(Kind.MEDIA))
            maybe(given, "media_query", lambda: "type=1&attribute_null=n::true")
            maybe(body, "media_ids", self.ids)
            maybe(body, "elemental_ids", lambda: rng.sample(UUIDS, 2))
        if kind is Kind.LOCALIZATION:
            maybe(given, "frame", lambda: rng.randrange(3))
            maybe(body, "state_ids", self.ids)
            maybe(body, "frame_state_ids", self.ids)
        if kind is Kind.STATE:
            maybe(body, "localization_ids", self.ids)
        if kind is Kind.LEAF:
            maybe(given, "leaf_id", self.ids)
            maybe(given, "ancestor", lambda: "P")
        if self.often():
            self.nearest(kind, given, body)
        return msgspec.convert(given, QUERY[kind], strict=False), BODY[kind](**body)

    def nearest(self, kind: Kind, given: dict[str, Any], body: dict[str, Any]) -> None:
        found = [
            (type_.id, each.name)
            for type_ in self.made.types(kind).values()
            for each in type_.attribute_types
            if each.dtype == "float_array"
        ]
        if not found:
            return
        given["type"], name = self.rng.choice(found)
        body["float_array"] = [
            FloatArrayQuery(
                name=name,
                center=good(self.rng, "float_array"),
                metric=self.rng.choice([None, "l2norm", "l1norm", "ip"]),
                order=self.rng.choice([None, "desc"]),
                lower_bound=self.rng.choice([None, None, 1.0]),
                upper_bound=self.rng.choice([None, None, 4.0]),
            )
            for _ in range(self.rng.choice([1, 1, 2]))
        ]


def encoded(search: Any) -> str:
    return base64.b64encode(msgspec.json.encode(search)).decode()


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def asked_world(seed: int) -> tuple[World, Asked]:
    """A world and some questions about it."""
    rng = Random(seed)
    made = world(rng)
    asker = Asker(rng, made.definitions)
    return made, [(kind, *asker.question(kind)) for kind in rng.choices(KINDS, k=8)]
