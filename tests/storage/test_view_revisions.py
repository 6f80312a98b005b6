"""Views follow changes to attributes: whatever the order of writes, reads and revisions, all read the same values."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import strategies as st

from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import LocalizationType
from chalicelib.core.models.entities import Localization
from chalicelib.core.values.attributes import AttributeType
from chalicelib.core.values.revisions import Added, Recast, Removed, Renamed, Revision, revised, up_to_date
from chalicelib.query import check, parse
from chalicelib.query.parsers.parameters import LocalizationQuery
from chalicelib.storage.view.snapshot import files as view_files
from chalicelib.storage.view.view import View
from tests.query.query_rig import BOX, box, type_of
from tests.query.query_worlds import PROJECT, change_of, commit
from tests.storage.commits import reopened, written_and_replayed
from tests.storage.test_view import gone
from tests.sweeps import examples

NAMES = ["a", "b", "c", "d"]
VALUES: dict[str, list[Any]] = {
    "int": [0, -7, 2**60],
    "float": [0.5, -2.0, 1e300],
    "string": ["", "é", "7"],
    "geopos": [[8.0, 48.0]],
    "bool": [False, True],
    "float_array": [[1.0, -2.5], [0.0]],
}


class History:
    """A type whose attributes change, its things as they were written, and a log of both."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.attributes: dict[str, str] = {}
        self.revisions: list[Revision] = []
        self.earlier: list[tuple[int, dict[str, str]]] = [(0, {})]
        self.things: dict[int, Localization] = {}
        self.changes = [self.definition()]

    def definition(self) -> Any:
        attributes = [AttributeType(name=name, dtype=dtype) for name, dtype in self.attributes.items()]
        made = type_of(LocalizationType, BOX, attributes, dtype="box", revisions=list(self.revisions))
        return change_of("localization_type", made)

    def revise(self) -> None:
        """Change an attribute in one of the ways there are."""
        rng, free = self.rng, [name for name in NAMES if name not in self.attributes]
        name = rng.choice(sorted(self.attributes)) if self.attributes else None
        kind = rng.choice(["add", "remove", "rename", "recast"])
        if kind == "add" and free:
            dtype = rng.choice(sorted(VALUES))
            self.attributes[free[0]] = dtype
            self.revisions.append(Added(free[0], rng.choice([None, *VALUES[dtype]])))
        elif kind == "remove" and name:
            del self.attributes[name]
            self.revisions.append(Removed(name))
        elif kind == "rename" and name and free:
            self.attributes[free[0]] = self.attributes.pop(name)
            self.revisions.append(Renamed(name, free[0]))
        elif kind == "recast" and name and (dtype := {"int": "float", "float": "int"}.get(self.attributes[name])):
            self.attributes[name] = dtype
            self.revisions.append(Recast(name, dtype))  # type: ignore[arg-type]
        self.earlier.append((len(self.revisions), dict(self.attributes)))
        self.changes.append(self.definition())

    def write(self) -> None:
        """Write a thing, now and then under a definition that is no longer the newest."""
        revision, attributes = self.rng.choice(self.earlier[-2:])
        number = self.rng.randint(1, 6)
        values = {name: self.rng.choice(VALUES[dtype]) for name, dtype in attributes.items() if self.rng.random() < 0.8}
        self.things[number] = box(number, values, revision=revision)
        self.changes.append(change_of("localization", self.things[number]))

    def delete(self) -> None:
        """Delete a thing, if there is one of that number."""
        number = self.rng.randint(1, 6)
        if self.things.pop(number, None):
            self.changes.append(gone("localization", number))

    def expected(self) -> dict[int, dict[str, Any]]:
        """The values of every thing, as they have become."""
        return {number: up_to_date(each, self.revisions).attributes for number, each in self.things.items()}


def read(view: View) -> dict[int, dict[str, Any]]:
    documents = view.documents(check(parse(Kind.LOCALIZATION, LocalizationQuery()), view.definitions))
    return {each["id"]: each["attributes"] for each in map(msgspec.json.decode, documents)}


def asked(view: View, name: str, text: str) -> set[int]:
    return set(
        view.ids(check(parse(Kind.LOCALIZATION, LocalizationQuery(attribute=[f"{name}::{text}"])), view.definitions))
    )


@pytest.mark.slow
@examples(6, 500, st.integers(0, 2**32))
def test_any_history_of_attributes_reads_as_its_end(tmp_path_factory, seed: int):
    rng = Random(seed)
    view, history = View(PROJECT), History(rng)
    for turn in range(30):
        if turn == 15:
            view = reopened(view)
        rng.choice([history.revise, history.write, history.write, history.delete])()
        if rng.random() < 0.4:
            view.apply([commit(view.seq + 1, history.changes)])
            history.changes = []
            if rng.random() < 0.5:
                assert read(view) == history.expected()
    view.apply([commit(view.seq + 1, history.changes)])
    expected = history.expected()
    folder = tmp_path_factory.mktemp("files")
    another = rng.choice([reopened, lambda view: written_and_replayed(view, folder), view_files.copy])
    for each in (another(view), view):
        found = read(each)
        assert found == expected
        assert {n: list(map(repr, v.values())) for n, v in found.items()} == {
            n: list(map(repr, v.values())) for n, v in expected.items()
        }
        for name, dtype in history.attributes.items():
            for value in {"int": [0, -7], "float": [0.5, -2.0], "string": ["é"], "bool": [True]}.get(dtype, ()):
                fitting = {number for number, values in expected.items() if values.get(name) == value}
                assert asked(each, name, str(value)) == fitting
        each.close()


def test_a_document_is_revised_once_though_many_read_it_at_once():
    view, history = View(PROJECT), History(Random(1))
    history.attributes = {"a": "int"}
    things = [change_of("localization", box(number, {"a": number})) for number in range(1, 200)]
    view.apply([commit(1, [history.definition(), *things])])
    history.attributes = {"b": "int", "a": "string"}
    history.revisions = [Renamed("a", "b"), Added("a", "new")]
    view.apply([commit(2, [history.definition()])])
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: read(view), range(8)))
    assert all(each == {number: {"b": number, "a": "new"} for number in range(1, 200)} for each in answers)


class TestRevised:
    def test_the_order_of_values_stays(self):
        assert list(revised({"a": 1, "b": 2, "c": 3}, [Renamed("b", "x")])) == ["a", "x", "c"]

    def test_what_is_no_number_is_not_recast(self):
        values = {"a": None, "b": "x", "c": True}
        assert revised(values, [Recast(name, "float") for name in values]) == values

    def test_a_removed_value_does_not_come_back_with_its_name(self):
        assert revised({"a": 1}, [Removed("a"), Added("a")]) == {}
