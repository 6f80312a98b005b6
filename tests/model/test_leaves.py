"""Random histories of leaves over HTTP: what is shown and logged is at any time what a model in plain Python says.

`tests/model/test_annotations.py` does the same with annotations and media.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from tests.model.annotation_model import DELETED, UNTOLD, Doc, Told, merged, same, told, told_of_all
from tests.model.machine import TwoWriters, run

pytestmark = pytest.mark.slow

ENOUGH = 15
"""Of so many leaves no more are made: changes are what is looked at."""
SHOWN_ONLY = {"modified_datetime", "effective_permission", "meta"}

picks = st.integers(0, 999)
"""Which of those there are, counted round."""
flags = st.sampled_from([0, 1])
names = st.sampled_from(["a", "B_2", "c d"])
parents = st.one_of(st.none(), picks)
attributes = st.fixed_dictionaries(
    {}, optional={"kind": st.sampled_from("ab"), "text": st.sampled_from(["", "x", 0, False]), "n": st.integers(-1, 1)}
)
changes = st.fixed_dictionaries(
    {}, optional={"attributes": attributes, "reset_attributes": st.sampled_from([["text"], ["n", "kind"]])}
)


class Trees(TwoWriters):
    """A project in which two people plant leaves, hang them elsewhere and fell them."""

    @initialize()
    def begin(self) -> None:
        owner = self.found("trees")
        text = {"name": "text", "dtype": "string", "default": ""}
        kind = {"name": "kind", "dtype": "enum", "choices": ["a", "b"], "default": "a"}
        of = [kind, text, {"name": "n", "dtype": "int"}]
        self.type = owner.made(f"LeafTypes/{self.project}", {"name": "leaf", "attribute_types": of})
        self.leaves: dict[int, Doc] = {}
        self.logs: dict[int, list[Told]] = {}

    # --- helpers ---------------------------------------------------------------------------------------------------

    def pick(self, number: int) -> int:
        return sorted(self.leaves)[number % len(self.leaves)]

    def below(self, number: int) -> list[int]:
        children = [leaf["id"] for leaf in self.leaves.values() if leaf["parent"] == number]
        return [*children, *(lower for child in children for lower in self.below(child))]

    def hung(self, leaf: Doc) -> Doc:
        """A leaf with the path and depth that follow from the leaf above it, or stay where that is gone."""
        name = leaf["name"].replace(" ", "_")
        if leaf["parent"] is None:
            return {**leaf, "path": f"{self.label}.{name}", "depth": 0}
        above = self.leaves.get(leaf["parent"])
        if above is None:
            return {**leaf, "path": f"{leaf['path'].rpartition('.')[0]}.{name}"}
        return {**leaf, "path": f"{above['path']}.{name}", "depth": above["depth"] + 1}

    def become(self, after: Doc) -> None:
        """Store a changed leaf, and let the change log say so."""
        number = after["id"]
        self.tell([number], told(self.leaves[number], after))
        self.leaves[number] = after

    def tell(self, numbers: list[int], entry: Told) -> None:
        if entry[1]:
            for number in numbers:
                self.logs[number].append(entry)

    # --- what people do --------------------------------------------------------------------------------------------

    @rule(who=flags, specs=st.lists(st.tuples(names, parents, attributes), min_size=1, max_size=3))
    def create(self, who: int, specs: list[Any]) -> None:
        if len(self.leaves) >= ENOUGH:
            return
        user = self.write_as(who)
        bodies = []
        for name, parent, values in specs:
            above = self.pick(parent) if parent is not None and self.leaves else None
            bodies.append({"name": name, "type": self.type, "parent": above, "attributes": values})
        numbers = self.ask("POST", f"Leaves/{self.project}", bodies, status=201)["id"]
        for number, body in zip(numbers, bodies, strict=True):
            row = {**body, "id": number, "project": self.project, "created_by": user, "modified_by": user}
            row["attributes"] = {"kind": "a", "text": "", **body["attributes"]}
            row["created_datetime"] = self.ask("GET", f"Leaf/{number}")["created_datetime"]
            row = self.hung({**row, "path": "", "depth": 0})
            self.leaves[number] = row
            new = {f"_{key}": value for key, value in row.items() if key not in UNTOLD and value is not None}
            new |= row["attributes"]
            self.logs[number] = [(dict.fromkeys(new), new)]

    @rule(
        who=flags, pick=picks, change=changes, name=st.one_of(st.none(), names), parent=st.one_of(parents, st.just(-1))
    )
    def patch_one(self, who: int, pick: int, change: Doc, name: str | None, parent: int | None) -> None:
        if not self.leaves:
            return
        user = self.write_as(who)
        before = self.leaves[self.pick(pick)]
        body = {**change} if name is None else {**change, "name": name}
        if parent is not None:
            body["parent"] = -1 if parent == -1 else self.pick(parent)
        if body.get("parent") == before["id"]:
            self.ask("PATCH", f"Leaf/{before['id']}", body, status=400)
            return
        self.ask("PATCH", f"Leaf/{before['id']}", body)
        after = {**before, "modified_by": user, "attributes": merged(before["attributes"], body)}
        after["name"] = body.get("name", before["name"])
        if "parent" in body:
            after["parent"] = None if body["parent"] == -1 else body["parent"]
        lower = self.below(before["id"])
        if after["parent"] in lower:
            top = after["parent"]
            swapped = {**self.leaves[top], "parent": before["parent"], "path": before["path"], "depth": before["depth"]}
            self.settle({top: swapped, before["id"]: after}, top)
        else:
            self.settle({before["id"]: after}, before["id"])

    def settle(self, changed: dict[int, Doc], top: int) -> None:
        """Take over changed leaves, and give them and all below the topmost the places that follow."""
        old = dict(self.leaves)
        self.leaves |= changed
        for number in [top, *self.below(top)]:
            self.leaves[number] = self.hung(self.leaves[number])
        new, self.leaves = self.leaves, old
        for number in [number for number in new if not same(new[number], old[number])]:
            self.become(new[number])

    @rule(who=flags, picked=st.lists(picks, min_size=1, max_size=5), change=changes, off=st.sampled_from([0, 0, 0, 1]))
    def patch_many(self, who: int, picked: list[int], change: Doc, off: int) -> None:
        if not self.leaves or not change:
            return
        user = self.write_as(who)
        numbers = sorted({self.pick(each) for each in picked})
        status = 400 if off else 200
        body = {"ids": numbers, **change}
        self.ask("PATCH", f"Leaves/{self.project}", body, status=status, count=len(numbers) + off)
        if off:
            return
        after = {
            number: {
                **self.leaves[number],
                "modified_by": user,
                "attributes": merged(self.leaves[number]["attributes"], change),
            }
            for number in numbers
        }
        self.tell(numbers, told_of_all((self.leaves[number], after[number]) for number in numbers))
        self.leaves |= after

    @rule(who=flags, pick=picks)
    def delete_one(self, who: int, pick: int) -> None:
        if not self.leaves:
            return
        self.write_as(who)
        number = self.pick(pick)
        gone = [number, *self.below(number)]
        self.ask("DELETE", f"Leaf/{number}")
        self.fell(gone)

    @rule(who=flags, picked=st.lists(picks, min_size=1, max_size=3), off=st.sampled_from([0, 0, 0, 1]))
    def delete_many(self, who: int, picked: list[int], off: int) -> None:
        if not self.leaves:
            return
        self.write_as(who)
        numbers = sorted({self.pick(each) for each in picked})
        status = 400 if off else 200
        self.ask("DELETE", f"Leaves/{self.project}", {"ids": numbers}, status=status, count=len(numbers) + off)
        if not off:
            self.fell(numbers)

    @rule(who=flags, picked=st.lists(picks, min_size=1, max_size=3), one=st.booleans())
    def undo_a_deletion(self, who: int, picked: list[int], one: bool) -> None:
        """Every leaf is as it was, but for who changed it last; without the leaf above it none comes back."""
        if not self.leaves:
            return
        self.write_as(who)
        numbers = sorted({self.pick(each) for each in picked[: 1 if one else None]})
        before = self.shown()
        path, body = (f"Leaf/{numbers[0]}", None) if one else (f"Leaves/{self.project}", {"ids": numbers})
        change = self.ask("DELETE", path, body)["change"]
        gone = [numbers[0], *self.below(numbers[0])] if one else numbers
        above = {self.leaves[number]["parent"] for number in gone} - {None}
        is_orphan = not above <= self.leaves.keys()
        self.ask("POST", f"Restore/{self.project}", {"changes": [change]}, status=409 if is_orphan else 200)
        if is_orphan:
            self.fell(gone)
            return
        after = self.shown()
        signs = {"modified_by", "modified_datetime"}
        assert [{n: v for n, v in leaf.items() if n not in signs} for leaf in after] == [
            {n: v for n, v in leaf.items() if n not in signs} for leaf in before
        ]
        for leaf in after:
            self.leaves[leaf["id"]]["modified_by"] = leaf["modified_by"]
            self.logs[leaf["id"]] = self.logged(leaf["id"])

    def fell(self, numbers: list[int]) -> None:
        for number in numbers:
            del self.leaves[number]
            self.tell([number], DELETED)
            self.ask("GET", f"Leaf/{number}", status=404)

    # --- what must agree -------------------------------------------------------------------------------------------

    @invariant()
    def lists_and_counts_agree(self) -> None:
        if not hasattr(self, "leaves"):
            return
        shown = self.shown()
        assert [leaf["id"] for leaf in shown] == sorted(self.leaves)
        for leaf in shown:
            self.agrees(leaf)
        assert self.ask("GET", f"LeafCount/{self.project}") == len(self.leaves)

    @rule(pick=picks)
    def read_one(self, pick: int) -> None:
        if self.leaves:
            number = self.pick(pick)
            self.agrees(self.ask("GET", f"Leaf/{number}"))

    def agrees(self, shown: Doc) -> None:
        assert shown["meta"] == shown["type"]
        plain = {name: value for name, value in shown.items() if name not in SHOWN_ONLY}
        assert same(plain, self.leaves[shown["id"]]), (plain, self.leaves[shown["id"]])

    def shown(self) -> list[Doc]:
        found: list[Doc] = self.ask("GET", f"Leaves/{self.project}")
        return found

    def logged(self, number: int) -> list[Told]:
        """What the change log says of a leaf, in order: values before and after."""
        return [
            (_values(log["description_of_change"]["old"]), _values(log["description_of_change"]["new"]))
            for log in self.ask("GET", f"ChangeLog/{self.project}", entity_id=number, entity_type="leaf")
        ]

    def teardown(self) -> None:
        for number, entries in getattr(self, "logs", {}).items():
            said = self.logged(number)
            assert same(said, entries), (number, said, entries)


def _values(side: list[Doc]) -> Doc:
    return {each["name"]: each["value"] for each in side}


@pytest.mark.parametrize(
    ("examples", "steps"), [(8, 15), pytest.param(150, 50, marks=pytest.mark.nightly)], ids=["short", "long"]
)
def test_lists_counts_reads_and_change_logs_agree_with_the_model(examples, steps):
    run(Trees, examples, steps)
