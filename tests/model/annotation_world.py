"""A project that a state machine writes in, its model beside it, and what must agree between them at any time."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant

from tests.model.annotation_model import LOCALIZATION, STATE, Doc, Model, media_of, same
from tests.model.machine import TwoWriters

EVERYTHING = {"show_all_marks": 1, "show_deleted": 1, "merge": 0}
PATH = {LOCALIZATION: "Localization", STATE: "State"}
SHOWN_ONLY = {"modified_datetime", "thumbnail_image", "effective_permission", "meta", "user"}
NAMES = [str(uuid.UUID(int=number)) for number in range(3)]
ATTRIBUTES = [
    {"name": "flag", "dtype": "bool"},
    {"name": "count", "dtype": "int"},
    {"name": "kind", "dtype": "enum", "choices": ["a", "b"], "default": "a"},
    {"name": "text", "dtype": "string", "default": ""},
    {"name": "place", "dtype": "geopos"},
    {"name": "vector", "dtype": "float_array", "size": 2},
]

kinds = st.sampled_from([LOCALIZATION, STATE])
picks = st.integers(0, 999)
"""Which of those there are, counted round."""
flags = st.sampled_from([0, 1])
frames = st.integers(0, 5)
units = st.sampled_from([0.0, 0.25, 1.0])
texts = st.one_of(st.text(max_size=8), st.sampled_from(["", '"\\\n', "0"]), st.sampled_from([0, False, 1, True, 1.0]))
values = st.fixed_dictionaries(
    {},
    optional={
        "flag": st.booleans(),
        "count": st.integers(-1, 2),
        "kind": st.sampled_from("ab"),
        "text": texts,
        "place": st.tuples(st.sampled_from([0.0, -180.0]), st.sampled_from([0.0, 90.0])).map(list),
        "vector": st.lists(units, max_size=2),
    },
)
some_names = st.lists(st.sampled_from([each["name"] for each in ATTRIBUTES]), max_size=2, unique=True)
attribute_changes = st.fixed_dictionaries(
    {}, optional={"attributes": values, "reset_attributes": some_names, "null_attributes": some_names}
)
shapes = st.fixed_dictionaries(
    {},
    optional={
        "x": units,
        "y": units,
        "width": units,
        "height": units,
        "u": st.sampled_from([-1.0, 0.0, 1.0]),
        "points": st.lists(st.tuples(units, units).map(list), max_size=2),
    },
)
selections = st.fixed_dictionaries(
    {},
    optional={
        "merge": flags,
        "show_deleted": flags,
        "show_all_marks": flags,
        "versions": st.lists(picks, min_size=1, max_size=3),
        "media": st.lists(picks, min_size=1, max_size=2),
        "type": picks,
        "frame": frames,
        "count": st.integers(-1, 2),
        "name": st.sampled_from(NAMES),
        "ids": st.lists(picks, min_size=1, max_size=4),
    },
)


class World(TwoWriters):
    """A project with types of all shapes and associations, two media, four layers and two writers."""

    @initialize()
    def begin(self) -> None:
        owner = self.found("model")
        text = {"name": "text", "dtype": "string", "default": ""}
        self.video = owner.made(
            f"MediaTypes/{self.project}", {"name": "v", "dtype": "video", "attribute_types": [text]}
        )
        common = {"media_types": [self.video], "attribute_types": ATTRIBUTES}
        dtypes = {
            owner.made(f"LocalizationTypes/{self.project}", {"name": dtype, "dtype": dtype, **common}): dtype
            for dtype in ("box", "line", "dot", "poly")
        }
        state_types = [
            owner.made(f"StateTypes/{self.project}", {"name": f"{n}", "association": association, **more, **common})
            for n, (association, more) in enumerate(
                [
                    ("Media", {}),
                    ("Frame", {"interpolation": "latest"}),
                    ("Localization", {}),
                    ("Localization", {"delete_child_localizations": True}),
                ]
            )
        ]
        self.types = {LOCALIZATION: list(dtypes), STATE: state_types}
        (baseline,) = owner.get(f"Versions/{self.project}").json
        self.versions = [baseline["id"]]
        bases: dict[int, list[int]] = {baseline["id"]: []}
        for above in ([0], [1], []):
            under = [self.versions[place] for place in above]
            number = owner.made(f"Versions/{self.project}", {"name": "layer", "bases": under})
            self.versions.append(number)
            bases[number] = under
        self.model = Model(dtypes=dtypes, parental={state_types[-1]}, bases=bases)
        for name in ("a", "b"):
            self.make_media(name)

    @property
    def media(self) -> list[int]:
        """The ids of the media there are, in order; never none."""
        return sorted(self.model.media)

    def make_media(self, name: str) -> None:
        number = self.ask("POST", f"Medias/{self.project}", {"type": self.video, "name": name, "md5": ""}, status=201)[
            "id"
        ]
        self.model.media[number] = {"name": name, "archive_state": "live", "text": "", "modified_by": self.user}
        self.model.logs["media", number] = []

    @property
    def user(self) -> int:
        """Who writes."""
        assert self.api.user
        return self.api.user.id

    # --- helpers ---------------------------------------------------------------------------------------------------

    def row(self, kind: str, pick: int) -> Doc:
        rows = self.model.rows[kind]
        return rows[sorted(rows)[pick % len(rows)]]

    def version(self, pick: int) -> int:
        return self.versions[pick % len(self.versions)]

    def has(self, kind: str) -> bool:
        return bool(self.model.rows[kind])

    def learn(self, kind: str, number: int) -> Doc:
        """What only the service can know of a new row."""
        return self.ask("GET", f"{PATH[kind]}/{number}")

    def chosen(self, kind: str, choice: Doc) -> tuple[list[Doc], Doc, Doc]:
        """What a selection finds; the parameters and the body that say so."""
        query: Doc = {name: choice[name] for name in ("merge", "show_deleted", "show_all_marks") if name in choice}
        body: Doc = {}
        tests = []
        if versions := [self.version(pick) for pick in choice.get("versions", ())]:
            query["version"] = versions
        if media := [self.media[pick % len(self.media)] for pick in choice.get("media", ())]:
            body["media_ids"] = media
            tests.append(lambda row: not set(media).isdisjoint(media_of(row)))
        if "type" in choice:
            query["type"] = self.types[kind][choice["type"] % len(self.types[kind])]
            tests.append(lambda row: row["type"] == query["type"])
        if "frame" in choice and kind == LOCALIZATION:
            query["frame"] = choice["frame"]
            tests.append(lambda row: row["frame"] == choice["frame"])
        if "count" in choice:
            query["attribute"] = f"count::{choice['count']}"
            tests.append(lambda row: row["attributes"].get("count") == choice["count"])
        if "name" in choice:
            query["elemental_id"] = choice["name"]
            tests.append(lambda row: row["elemental_id"] == choice["name"])
        if "ids" in choice and self.has(kind):
            body["ids"] = [self.row(kind, pick)["id"] for pick in choice["ids"]]
            tests.append(lambda row: row["id"] in body["ids"])
        shown = {name: query[name] for name in ("merge", "show_deleted", "show_all_marks", "version") if name in query}
        return self.model.select(kind, lambda row: all(test(row) for test in tests), **shown), query, body

    def common(self, user: int, body: Doc, version: int | None, name: str | None, attributes: Doc) -> Doc:
        if version is not None:
            body["version"] = self.version(version)
        if name is not None:
            body["elemental_id"] = name
        return {
            "project": self.project,
            "type": body["type"],
            "version": self.version(version or 0),
            "elemental_id": name,
            "attributes": {"kind": "a", "text": "", **attributes},
            "variant_deleted": False,
            "created_by": user,
            "modified_by": user,
            "mark": 0,
            "master_section": None,
        }

    def created(self, kind: str, bodies: list[Doc], rows: list[Doc]) -> None:
        numbers = self.ask("POST", f"{PATH[kind]}s/{self.project}", bodies, status=201)["id"]
        assert len(numbers) == len(set(numbers)) == len(rows)
        for number, row in zip(numbers, rows, strict=True):
            shown = self.learn(kind, number)
            row |= {"id": number, "created_datetime": shown["created_datetime"]}
            row["elemental_id"] = row["elemental_id"] or shown["elemental_id"]
            self.model.add(kind, row)

    def undone(self, delete: Callable[[], Any]) -> None:
        """Every row is as it was after a deletion and its restore, but for who changed it last."""
        before = self.everything()
        change = delete().get("change")
        if self.everything() == before:
            return
        self.ask("POST", f"Restore/{self.project}", {"changes": [change]})
        after = self.everything()
        assert _unsigned(after) == _unsigned(before)
        for kind, rows in after.items():
            for row in rows:
                known = self.model.media if kind == "media" else self.model.rows[kind]
                known[row["id"]]["modified_by"] = row["modified_by"]
                self.model.logs[kind, row["id"]] = self.logged(kind, row["id"])

    def everything(self) -> dict[str, list[Doc]]:
        """All rows by kind, with earlier marks and tombstones, and all media."""
        rows = {kind: self.ask("GET", f"{word}s/{self.project}", **EVERYTHING) for kind, word in PATH.items()}
        return {**rows, "media": self.ask("GET", f"Medias/{self.project}", archive_lifecycle="all")}

    @invariant()
    def lists_and_counts_agree(self) -> None:
        for kind, word in PATH.items():
            shown = self.ask("GET", f"{word}s/{self.project}", **EVERYTHING)
            assert [row["id"] for row in shown] == sorted(self.model.rows[kind])
            for row in shown:
                self.agrees(kind, row)
            seen = [row["id"] for row in self.model.select(kind)]
            assert [row["id"] for row in self.ask("GET", f"{word}s/{self.project}")] == seen
            assert self.ask("GET", f"{word}Count/{self.project}") == len(seen)

    @invariant()
    def media_agree(self) -> None:
        shown = self.ask("GET", f"Medias/{self.project}", archive_lifecycle="all")
        seen = {
            one["id"]: {
                **{name: one[name] for name in ("name", "archive_state", "modified_by")},
                "text": one["attributes"]["text"],
            }
            for one in shown
        }
        assert same({str(number): doc for number, doc in sorted(seen.items())}, self.known_media())
        assert self.ask("GET", f"MediaCount/{self.project}", archive_lifecycle="all") == len(seen)

    def known_media(self) -> Doc:
        return {str(number): self.model.media[number] for number in self.media}

    def agrees(self, kind: str, shown: Doc) -> None:
        expected = self.model.rows[kind][shown["id"]]
        assert (shown["meta"], shown["user"]) == (shown["type"], shown["created_by"])
        plain = {name: value for name, value in shown.items() if name not in SHOWN_ONLY}
        assert same(plain, expected), (plain, expected)

    def logged(self, kind: str, number: int) -> list[tuple[Doc, Doc]]:
        """What the change log says of a row, in order: values before and after; of a media what the model knows."""
        said = [
            tuple(
                {each["name"]: each["value"] for each in log["description_of_change"][side]} for side in ("old", "new")
            )
            for log in self.ask("GET", f"ChangeLog/{self.project}", entity_id=number, entity_type=kind)
        ]
        if kind != "media":
            return said
        return [(old, new) for side in said[1:] if (new := _watched(side[1])) and (old := _watched(side[0]))]

    def teardown(self) -> None:
        if not hasattr(self, "model"):
            return
        for (kind, number), entries in self.model.logs.items():
            said = self.logged(kind, number)
            assert same(said, entries), (kind, number, said, entries)


def _unsigned(found: dict[str, list[Doc]]) -> Any:
    signs = ("modified_by", "modified_datetime")
    return {kind: [{n: v for n, v in row.items() if n not in signs} for row in rows] for kind, rows in found.items()}


def _watched(side: Doc) -> Doc:
    """What the model knows of a media's change log: not its dates, nor who."""
    return {name: value for name, value in side.items() if name in ("text", "_archive_state", "_deleted")}
