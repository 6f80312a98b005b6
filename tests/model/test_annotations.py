"""Random histories of localizations and states over HTTP, beside a model in plain Python: both always agree."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.model.annotation_model import LOCALIZATION, STATE, Doc, element, merged, told, told_of_all
from tests.model.annotation_world import (
    EVERYTHING,
    NAMES,
    PATH,
    attribute_changes,
    flags,
    frames,
    kinds,
    picks,
    selections,
    shapes,
    values,
)
from tests.model.machine import run
from tests.model.media_rules import MediaRules

pytestmark = pytest.mark.slow

ENOUGH = 20
"""Of so many of a kind no more are made: changes are what is looked at."""


class Histories(MediaRules):
    """A project of which people write at random what they may."""

    # --- creating --------------------------------------------------------------------------------------------------

    @precondition(lambda self: len(self.model.rows[LOCALIZATION]) < ENOUGH)
    @rule(
        who=flags,
        copies=st.sampled_from([1, 1, 4]),
        specs=st.lists(
            st.tuples(
                picks,
                picks,
                frames,
                st.sampled_from([None, 0, 1, 2, 3]),
                st.sampled_from([None, *NAMES]),
                shapes,
                values,
                st.one_of(st.none(), picks),
            ),
            min_size=1,
            max_size=3,
        ),
    )
    def create_localizations(self, who: int, specs: list[Any], copies: int) -> None:
        user = self.write_as(who)
        bodies, rows = [], []
        for type_, media, frame, version, name, shape, attributes, parent in specs * copies:
            body = {
                "type": self.types[LOCALIZATION][type_ % 4],
                "media_id": self.media[media % len(self.media)],
                "frame": frame,
                "attributes": attributes,
                **shape,
            }
            row = dict.fromkeys(("x", "y", "width", "height", "u", "v", "points")) | shape
            above = self.row(LOCALIZATION, parent)["id"] if parent is not None and self.has(LOCALIZATION) else None
            row |= {"media": body["media_id"], "frame": frame, "parent": above}
            rows.append(row | self.common(user, body, version, name, attributes))
            bodies.append(body if above is None else {**body, "parent": above})
        self.created(LOCALIZATION, bodies, rows)

    @precondition(lambda self: len(self.model.rows[STATE]) < ENOUGH)
    @rule(
        who=flags,
        copies=st.sampled_from([1, 1, 4]),
        specs=st.lists(
            st.tuples(
                picks,
                st.lists(picks, min_size=1, max_size=2),
                frames,
                st.sampled_from([None, 0, 1, 2, 3]),
                st.sampled_from([None, *NAMES]),
                st.lists(picks, max_size=5),
                values,
            ),
            min_size=1,
            max_size=3,
        ),
    )
    def create_states(self, who: int, specs: list[Any], copies: int) -> None:
        user = self.write_as(who)
        bodies, rows = [], []
        for type_, media, frame, version, name, members, attributes in specs * copies:
            numbers = [self.row(LOCALIZATION, pick)["id"] for pick in members] if self.has(LOCALIZATION) else []
            body = {
                "type": self.types[STATE][type_ % 4],
                "media_ids": [self.media[pick % len(self.media)] for pick in media],
                "frame": frame,
                "localization_ids": numbers,
                "attributes": attributes,
            }
            places = [self.model.rows[LOCALIZATION][number]["media"] for number in numbers]
            row = {"media": list(dict.fromkeys([*body["media_ids"], *places])), "frame": frame, "parent": None}
            track = self.model.track(list(dict.fromkeys(numbers)))
            row |= track if numbers else {"localizations": [], "segments": None}
            rows.append(row | self.common(user, body, version, name, attributes))
            bodies.append(body)
        self.created(STATE, bodies, rows)

    # --- one -------------------------------------------------------------------------------------------------------

    @rule(
        who=flags,
        kind=kinds,
        pick=picks,
        by_name=st.booleans(),
        change=attribute_changes,
        shape=shapes,
        is_foreign=st.sampled_from([False, False, False, True]),
        more=st.fixed_dictionaries(
            {},
            optional={
                "frame": frames,
                "in_place": flags,
                "pedantic": flags,
                "elemental_id": st.sampled_from(NAMES),
                "version": picks,
                "localization_ids_add": st.lists(picks, max_size=4),
                "localization_ids_remove": st.lists(picks, max_size=4),
            },
        ),
    )
    def patch_one(
        self, who: int, kind: str, pick: int, by_name: bool, change: Doc, shape: Doc, is_foreign: bool, more: Doc
    ) -> None:
        if not self.has(kind):
            return
        user = self.write_as(who)
        row = self.row(kind, pick)
        body = {**change, **more}
        newest = self.model.marks(kind, element(row))[-1]
        foreign = self.model.foreign(newest, shape) if kind == LOCALIZATION else set()
        if kind == LOCALIZATION:
            body |= shape if is_foreign else {name: shape[name] for name in shape.keys() - foreign}
        for name in ("localization_ids_add", "localization_ids_remove"):
            if name in body:
                picked = [self.row(LOCALIZATION, each)["id"] for each in body[name]] if self.has(LOCALIZATION) else []
                body[name] = picked
                if kind == LOCALIZATION:
                    del body[name]
        if "version" in body:
            body["version"] = self.version(body["version"])
            if kind == STATE:
                del body["version"]
        path = f"{row['version']}/{row['elemental_id']}" if by_name else row["id"]
        is_stale = body.get("pedantic") and not by_name and row is not newest
        is_deleted = self.is_deleted(kind, row)
        if is_stale or is_deleted or (is_foreign and foreign):
            self.ask("PATCH", f"{PATH[kind]}/{path}", body, status=404 if is_deleted and not is_stale else 400)
            return
        said = self.ask("PATCH", f"{PATH[kind]}/{path}", body)
        in_place = body.get("in_place", 0 if by_name else 1)
        after = self.model.changed(kind, newest, body, user)
        self.model.write(kind, newest, after, None if in_place else said["object"]["id"])

    @rule(
        who=flags,
        kind=kinds,
        pick=picks,
        by_name=st.booleans(),
        body=st.fixed_dictionaries({}, optional={"prune": flags, "pedantic": flags}),
    )
    def delete_one(self, who: int, kind: str, pick: int, by_name: bool, body: Doc) -> None:
        if not self.has(kind):
            return
        user = self.write_as(who)
        row = self.row(kind, pick)
        path = f"{row['version']}/{row['elemental_id']}" if by_name else row["id"]
        newest = self.model.marks(kind, element(row))[-1]
        row = newest if by_name else row
        if body.get("pedantic") and row is not newest:
            self.ask("DELETE", f"{PATH[kind]}/{path}", body, status=400)
            return
        said = self.ask("DELETE", f"{PATH[kind]}/{path}", body)
        prune = bool(body.get("prune"))
        if kind == STATE:
            self.model.delete_children([row], user, prune=prune)
        if prune:
            assert said["id"] == row["id"]
            self.model.prune(kind, [row["id"]])
            self.ask("GET", f"{PATH[kind]}/{row['id']}", status=404)
        else:
            self.model.bury(kind, row, user, said["id"])

    def is_deleted(self, kind: str, row: Doc) -> bool:
        """Whether the newest mark of a row's element is its deletion."""
        return bool(self.model.marks(kind, element(row))[-1]["variant_deleted"])

    # --- many ------------------------------------------------------------------------------------------------------

    @rule(
        who=flags,
        kind=kinds,
        choice=selections,
        change=attribute_changes,
        more=st.fixed_dictionaries(
            {}, optional={"in_place": flags, "new_version": picks, "new_elemental_id": st.sampled_from(NAMES)}
        ),
        off=st.sampled_from([0, 0, 0, 1]),
    )
    def patch_many(self, who: int, kind: str, choice: Doc, change: Doc, more: Doc, off: int) -> None:
        user = self.write_as(who)
        if kind == LOCALIZATION and "ids" in choice and self.has(kind):
            choice = {**choice, "show_all_marks": 1}
        found, query, selecting = self.chosen(kind, choice)
        body = {**selecting, **change, **more}
        if "new_version" in body:
            body["new_version"] = self.version(body["new_version"])
        several = len({row["type"] for row in found}) > 1
        refused = off or several or not (change or more)
        self.ask(
            "PATCH",
            f"{PATH[kind]}s/{self.project}",
            body,
            status=400 if refused else 200,
            **query,
            count=len(found) + off,
        )
        if refused or not found:
            return

        def changed(row: Doc) -> Doc:
            after = {**row, "modified_by": user, "attributes": merged(row["attributes"], body)}
            after["version"] = body.get("new_version", row["version"])
            after["elemental_id"] = body.get("new_elemental_id", row["elemental_id"])
            return after

        pairs = [(row, changed(row)) for row in found]
        is_of_values = not body.keys() & {"new_version", "new_elemental_id"}
        in_place = body.get("in_place", int(not (kind == STATE and "new_version" in body)))
        if in_place:
            entry = told_of_all(pairs) if is_of_values else told(*pairs[0])
            self.moved(kind, pairs, entry)
            return
        self.copied(kind, pairs, told(*pairs[0]))

    def moved(self, kind: str, pairs: list[tuple[Doc, Doc]], entry: Any) -> None:
        """Rows that stay in their element keep their mark; the others follow in their order."""
        for before, after in sorted(pairs, key=lambda pair: element(pair[0]) != element(pair[1])):
            self.model.write(kind, before, after, None, entry)

    def copied(self, kind: str, pairs: list[tuple[Doc, Doc]], entry: Any) -> None:
        """The new rows have ids of their own, in the order of the originals."""
        known = self.model.rows[kind]
        everything = self.ask("GET", f"{PATH[kind]}s/{self.project}", **EVERYTHING)
        new = sorted(row["id"] for row in everything if row["id"] not in known)
        assert len(new) == len(pairs)
        for number, (before, after) in zip(self.in_order(kind, new, pairs), pairs, strict=True):
            self.model.write(kind, before, after, number, entry)

    def in_order(self, kind: str, new: list[int], pairs: list[tuple[Doc, Doc]]) -> list[int]:
        """The ids of copies, as their originals are ordered: they rise within an element only."""
        free: dict[Any, list[int]] = {}
        for number in new:
            free.setdefault(element(self.learn(kind, number)), []).append(number)
        return [free[element(after)].pop(0) for _, after in pairs]

    @rule(
        who=flags,
        kind=kinds,
        choice=selections,
        body=st.fixed_dictionaries({}, optional={"prune": flags, "pedantic": flags}),
        off=st.sampled_from([0, 0, 0, 1]),
    )
    def delete_many(self, who: int, kind: str, choice: Doc, body: Doc, off: int) -> None:
        user = self.write_as(who)
        found, query, selecting = self.chosen(kind, choice)
        stale = body.get("pedantic") and not all(self.model.is_latest(kind, row) for row in found)
        status = 400 if off or stale else 200
        path = f"{PATH[kind]}s/{self.project}"
        self.ask("DELETE", path, {**selecting, **body}, status=status, **query, count=len(found) + off)
        if status == 400:
            return
        prune = bool(body.get("prune"))
        if kind == STATE:
            self.model.delete_children(found, user, prune=prune)
        if prune:
            self.model.prune(kind, [row["id"] for row in found])
        else:
            self.model.flip(kind, found, user)

    # --- undoing ---------------------------------------------------------------------------------------------------

    @rule(who=flags, kind=kinds, pick=picks, body=st.fixed_dictionaries({}, optional={"prune": flags}))
    def undo_a_deletion(self, who: int, kind: str, pick: int, body: Doc) -> None:
        if self.has(kind):
            self.write_as(who)
            row = self.row(kind, pick)
            self.undone(lambda: self.ask("DELETE", f"{PATH[kind]}/{row['id']}", body))

    @rule(who=flags, kind=kinds, choice=selections, body=st.fixed_dictionaries({}, optional={"prune": flags}))
    def undo_a_deletion_of_many(self, who: int, kind: str, choice: Doc, body: Doc) -> None:
        self.write_as(who)
        _, query, selecting = self.chosen(kind, choice)
        self.undone(lambda: self.ask("DELETE", f"{PATH[kind]}s/{self.project}", {**selecting, **body}, **query))

    # --- tracks ----------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.has(STATE))
    @rule(who=flags, into=picks, other=picks)
    def merge_states(self, who: int, into: int, other: int) -> None:
        user = self.write_as(who)
        kept, lost = self.row(STATE, into), self.row(STATE, other)
        type_ = self.model.marks(STATE, element(kept))[-1]["type"]
        status = 400 if element(kept) == element(lost) or type_ != lost["type"] else 200
        if self.is_deleted(STATE, kept) or self.is_deleted(STATE, lost):
            status = 404
        body = {"merge_state_id": lost["id"]}
        self.ask("PATCH", f"MergeStates/{kept['id']}", body, status=status)
        if status == 200:
            self.model.merge(kept, lost, user)

    @precondition(lambda self: self.has(STATE))
    @rule(who=flags, pick=picks, frame=frames, endpoint=st.sampled_from(["start", "end"]))
    def trim_state(self, who: int, pick: int, frame: int, endpoint: str) -> None:
        user = self.write_as(who)
        row = self.row(STATE, pick)
        is_deleted = self.is_deleted(STATE, row)
        body = {"frame": frame, "endpoint": endpoint}
        self.ask("PATCH", f"TrimStateEnd/{row['id']}", body, status=404 if is_deleted else 200)
        if is_deleted:
            return
        self.model.trim(row, frame, endpoint, user)

    # --- versions --------------------------------------------------------------------------------------------------

    @rule(pick=picks, others=st.lists(picks, max_size=2))
    def rebase(self, pick: int, others: list[int]) -> None:
        self.write_as(0)
        number = self.version(pick)
        bases = list(dict.fromkeys(self.version(other) for other in others))
        if any(number == base or number in self.model.ancestors(base) for base in bases):
            return
        self.ask("PATCH", f"Version/{number}", {"bases": bases})
        self.model.bases[number] = bases

    # --- what must agree -------------------------------------------------------------------------------------------

    @rule(kind=kinds, choice=selections, start=st.integers(0, 2))
    def look(self, kind: str, choice: Doc, start: int) -> None:
        found, query, body = self.chosen(kind, choice)
        for method, path in (("PUT", "s"), ("PUT", "Count")):
            said = self.ask(method, f"{PATH[kind]}{path}/{self.project}", body, **query, start=start)
            expected = [row["id"] for row in found[start:]]
            if path == "Count":
                assert said == len(expected)
            else:
                assert [row["id"] for row in said] == expected

    @rule(kind=kinds, pick=picks)
    def read_one(self, kind: str, pick: int) -> None:
        if not self.has(kind):
            return
        row = self.row(kind, pick)
        self.agrees(kind, self.ask("GET", f"{PATH[kind]}/{row['id']}"))
        name = f"{PATH[kind]}/{row['version']}/{row['elemental_id']}"
        self.agrees(kind, self.ask("GET", name, mark=row["mark"]))
        newest = self.model.marks(kind, element(row))[-1]
        assert self.ask("GET", name)["id"] == newest["id"]


@pytest.mark.parametrize(
    ("examples", "steps"), [(4, 25), pytest.param(200, 50, marks=pytest.mark.nightly)], ids=["short", "long"]
)
def test_lists_counts_reads_and_change_logs_agree_with_the_model(examples, steps):
    run(Histories, examples, steps)
