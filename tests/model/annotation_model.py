"""Localizations and states in plain Python: the rules of marks, tombstones, layers and tracks, and nothing else.

A document is what the interface shows of a row, without the members that change by themselves. Which row of an element
is the latest is not kept but looked up; so are segments' frames and members' states.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

Doc = dict[str, Any]
Told = tuple[Doc, Doc]
LOCALIZATION, STATE = "localization", "state"
UNTOLD = {"attributes", "created_datetime"}
DELETED: Told = ({"_deleted": False}, {"_deleted": True})
TOMBSTONED: Told = ({"_variant_deleted": False}, {"_variant_deleted": True})
GEOMETRY = {
    "box": ("x", "y", "width", "height"),
    "line": ("x", "y", "u", "v"),
    "dot": ("x", "y"),
    "poly": ("points",),
}
DEFAULTS = {"kind": "a", "text": ""}
"""Attributes of every type that have a default; all others have none."""


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same: 0 is not false, and 1 not 1.0."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def element(row: Doc) -> tuple[int, str]:
    """The name of the element that a row is a mark of."""
    return row["version"], row["elemental_id"]


def media_of(row: Doc) -> list[int]:
    """The media of a row of either kind."""
    return row["media"] if isinstance(row["media"], list) else [row["media"]]


def told(before: Doc, after: Doc) -> Told:
    """What the change log says of a change."""
    names = [name for name in before if name not in UNTOLD and not same(before[name], after[name])]
    old = {f"_{name}": before[name] for name in names}
    new = {f"_{name}": after[name] for name in names}
    for name in {**before["attributes"], **after["attributes"]}:
        was, now = before["attributes"].get(name), after["attributes"].get(name)
        if not same(was, now):
            old[name], new[name] = was, now
    return old, new


def told_of_all(pairs: Iterable[tuple[Doc, Doc]]) -> Told:
    """What the change log says of each of several rows: all members that changed in any, as they were in the first."""
    old: Doc = {}
    new: Doc = {}
    for before, after in pairs:
        was, now = told(before, after)
        old, new = {**was, **old}, {**new, **now}
    return old, new


def merged(attributes: Doc, body: Doc) -> Doc:
    """Attributes after a change."""
    resets = {name: DEFAULTS.get(name) for name in body.get("reset_attributes", ())}
    nulls = dict.fromkeys(body.get("null_attributes", ()))
    return {**attributes, **body.get("attributes", {}), **resets, **nulls}


@dataclass
class Model:
    """What a project holds.

    Attributes:
        dtypes: by localization type, its shape.
        parental: the state types whose states take their localizations along.
        bases: by version, the versions it is derived from.
        rows: by kind and id, what was not deleted for good.
        media: by id, the name and attributes of those that were not deleted.
        logs: by kind and id, what the change log says of it, in order.
    """

    dtypes: dict[int, str]
    parental: set[int]
    bases: dict[int, list[int]]
    rows: dict[str, dict[int, Doc]] = field(default_factory=lambda: {LOCALIZATION: {}, STATE: {}})
    media: dict[int, Doc] = field(default_factory=dict)
    logs: dict[tuple[str, int], list[Told]] = field(default_factory=dict)

    # --- looking ---------------------------------------------------------------------------------------------------

    def marks(self, kind: str, name: tuple[int, str]) -> list[Doc]:
        """The rows of an element, the latest last."""
        rows = [row for row in self.rows[kind].values() if element(row) == name]
        return sorted(rows, key=lambda row: (row["mark"], row["id"]))

    def is_latest(self, kind: str, row: Doc) -> bool:
        """Whether a row is the one that counts of its element."""
        return self.marks(kind, element(row))[-1] is row

    def is_seen(self, kind: str, row: Doc) -> bool:
        """Whether an ordinary list shows a row."""
        return self.is_latest(kind, row) and not row["variant_deleted"]

    def ancestors(self, version: int) -> set[int]:
        """The versions that one is derived from, over any number of steps."""
        found: set[int] = set()
        waiting = list(self.bases[version])
        while waiting:
            base = waiting.pop()
            if base not in found and base != version:
                found.add(base)
                waiting += self.bases[base]
        return found

    def select(
        self,
        kind: str,
        fits: Callable[[Doc], bool] = lambda _: True,
        *,
        version: Iterable[int] = (),
        merge: int = 1,
        show_deleted: int = 0,
        show_all_marks: int = 0,
    ) -> list[Doc]:
        """What a list shows, in order."""
        versions = set(version)
        chosen = [
            row
            for row in self.rows[kind].values()
            if fits(row)
            and (not versions or row["version"] in versions)
            and (show_all_marks or self.is_latest(kind, row))
        ]
        if merge and len(versions) > 1:
            parents = {row["parent"] for row in chosen}
            chosen = [row for row in chosen if row["id"] not in parents and not self._is_shadowed(row, chosen)]
        if not show_deleted:
            chosen = [row for row in chosen if not row["variant_deleted"]]
        return sorted(chosen, key=lambda row: row["id"])

    def _is_shadowed(self, row: Doc, among: list[Doc]) -> bool:
        return any(
            other["elemental_id"] == row["elemental_id"] and row["version"] in self.ancestors(other["version"])
            for other in among
        )

    # --- making ----------------------------------------------------------------------------------------------------

    def add(self, kind: str, row: Doc, *, is_told: bool = True) -> Doc:
        """Store a new row as the next mark of its element."""
        rows = self.marks(kind, element(row))
        row["mark"] = rows[-1]["mark"] + 1 if rows else 0
        self.rows[kind][row["id"]] = row
        self.logs[kind, row["id"]] = []
        if is_told:
            new = {f"_{name}": value for name, value in row.items() if name not in UNTOLD and value is not None}
            new |= {name: value for name, value in row["attributes"].items() if value is not None}
            self.tell(kind, [row["id"]], (dict.fromkeys(new), new))
        return row

    def tell(self, kind: str, numbers: Iterable[int], entry: Told) -> None:
        """Let the change log say something, if it is anything."""
        if entry[1]:
            for number in dict.fromkeys(numbers):
                self.logs[kind, number].append(entry)

    # --- changing one ----------------------------------------------------------------------------------------------

    def changed(self, kind: str, row: Doc, body: Doc, user: int) -> Doc:
        """A row as a PATCH of it makes it."""
        after = {**row, "modified_by": user, "attributes": merged(row["attributes"], body)}
        for name in ("frame", "parent", "elemental_id"):
            after[name] = body.get(name, row[name])
        if kind == LOCALIZATION:
            after["version"] = body.get("version", row["version"])
            for name in GEOMETRY[self.dtypes[row["type"]]]:
                after[name] = body.get(name, row[name])
        elif body.get("localization_ids_add") or body.get("localization_ids_remove"):
            gone = body.get("localization_ids_remove", [])
            wanted = dict.fromkeys([*row["localizations"], *body.get("localization_ids_add", [])])
            kept = [number for number in wanted if number not in gone and number in self.rows[LOCALIZATION]]
            new = [number for number in kept if number not in row["localizations"]]
            after |= self.track(kept)
            after["media"] = list(dict.fromkeys([*row["media"], *(self.rows[LOCALIZATION][n]["media"] for n in new)]))
        return after

    def foreign(self, row: Doc, shape: Doc) -> set[str]:
        """The coordinates that a localization of this row's type does not have."""
        return shape.keys() - set(GEOMETRY[self.dtypes[row["type"]]])

    def track(self, members: list[int]) -> Doc:
        """The members of a state that follow from its localizations."""
        runs: list[list[int]] = []
        for frame in sorted(self.rows[LOCALIZATION][number]["frame"] for number in members):
            if runs and runs[-1][1] == frame - 1:
                runs[-1][1] = frame
            else:
                runs.append([frame, frame])
        return {"localizations": members, "segments": runs}

    def write(self, kind: str, before: Doc, after: Doc, number: int | None, entry: Told | None = None) -> Doc:
        """Change a row in place, or with a number by a copy that has it.

        Args:
            kind: of the row.
            before: the row.
            after: as it becomes.
            number: of the copy, or None.
            entry: what is told of it, where that is not the difference.
        """
        moves = element(before) != element(after)
        if number is None:
            del self.rows[kind][before["id"]]
            if moves:
                rows = self.marks(kind, element(after))
                after["mark"] = rows[-1]["mark"] + 1 if rows else 0
            self.rows[kind][after["id"]] = after
            self.tell(kind, [after["id"]], entry or told(before, after))
            return after
        made = self.add(kind, {**after, "id": number}, is_told=moves)
        if not moves:
            self.tell(kind, [before["id"], number], entry or told(before, made))
        return made

    def bury(self, kind: str, row: Doc, user: int, number: int) -> None:
        """Delete one: a copy of it becomes the tombstone of its element, unless it is that already."""
        if number == row["id"]:
            assert self.is_latest(kind, row)
            assert row["variant_deleted"]
            return
        newest = self.marks(kind, element(row))[-1]
        made = {**row, "id": number, "variant_deleted": True, "modified_by": user}
        self.add(kind, made, is_told=False)
        self.tell(kind, [row["id"], newest["id"], number], TOMBSTONED)

    def prune(self, kind: str, numbers: Iterable[int]) -> None:
        """Delete rows for good."""
        for number in numbers:
            del self.rows[kind][number]
            self.tell(kind, [number], DELETED)

    def flip(self, kind: str, rows: Iterable[Doc], user: int) -> None:
        """Make tombstones of rows themselves."""
        for row in rows:
            if not row["variant_deleted"]:
                row |= {"variant_deleted": True, "modified_by": user}
                self.tell(kind, [row["id"]], TOMBSTONED)

    # --- media -----------------------------------------------------------------------------------------------------

    def delete_media(self, numbers: Iterable[int]) -> None:
        """Delete media with what lies on them: every mark of localizations, and of states of which no media is left."""
        for number in numbers:
            del self.media[number]
            self.tell("media", [number], DELETED)
        self.prune(LOCALIZATION, [n for n, row in self.rows[LOCALIZATION].items() if row["media"] not in self.media])
        self.prune(STATE, [n for n, row in self.rows[STATE].items() if not set(row["media"]) & self.media.keys()])

    # --- tracks ----------------------------------------------------------------------------------------------------

    def in_other_states(self, states: list[Doc]) -> set[int]:
        """The localizations that states of other elements contain."""
        own = {element(state) for state in states}
        others = (row for row in self.rows[STATE].values() if self.is_seen(STATE, row) and element(row) not in own)
        return {number for row in others for number in row["localizations"]}

    def whole(self, kind: str, numbers: Iterable[int]) -> list[int]:
        """The rows with all other marks of their elements."""
        rows = [self.rows[kind][number] for number in numbers if number in self.rows[kind]]
        return list(dict.fromkeys(mark["id"] for row in rows for mark in self.marks(kind, element(row))))

    def delete_children(self, states: list[Doc], user: int, *, prune: bool) -> None:
        """Delete the localizations that only these states contain, where their type asks for it."""
        states = [state for state in states if state["type"] in self.parental]
        shared = self.in_other_states(states)
        own = [each for state in states for each in state["localizations"] if each not in shared]
        if prune:
            self.prune(LOCALIZATION, self.whole(LOCALIZATION, own))
        else:
            rows = [self.rows[LOCALIZATION][number] for number in own if number in self.rows[LOCALIZATION]]
            self.flip(LOCALIZATION, [row for row in rows if self.is_latest(LOCALIZATION, row)], user)

    def merge(self, into: Doc, other: Doc, user: int) -> None:
        """Give a state the members of another, which goes with all its marks."""
        kept = self.marks(STATE, element(into))[-1]
        wanted = dict.fromkeys([*kept["localizations"], *other["localizations"]])
        members = [number for number in wanted if number in self.rows[LOCALIZATION]]
        media = [*kept["media"], *other["media"], *(self.rows[LOCALIZATION][n]["media"] for n in members)]
        after = {**kept, **self.track(members), "media": list(dict.fromkeys(media)), "modified_by": user}
        self.write(STATE, kept, after, None)
        self.prune(STATE, self.whole(STATE, [other["id"]]))

    def trim(self, row: Doc, frame: int, endpoint: str, user: int) -> int:
        """Cut off a track's localizations; how many are deleted, those in no other state."""
        state = self.marks(STATE, element(row))[-1]
        there = [number for number in state["localizations"] if number in self.rows[LOCALIZATION]]
        frames = {number: self.rows[LOCALIZATION][number]["frame"] for number in there}
        out = [n for n in there if (frames[n] < frame if endpoint == "start" else frames[n] > frame)]
        if not out:
            return 0
        shared = self.in_other_states([state])
        going = [number for number in out if number not in shared]
        doomed = self.whole(LOCALIZATION, going)
        left = [number for number in there if number not in out]
        after = {**state, **self.track(left), "modified_by": user}
        self.write(STATE, state, after, None)
        self.prune(LOCALIZATION, doomed)
        return len(going)
