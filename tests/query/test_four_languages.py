"""One random tree, said in every language that can say it, finds the same things in the same order.

Filter parameters can only say that several things hold at once; object searches, in the parameter and in the body, and
search strings also say `or` and `not`. A vector's distance is asked for in a body beside any of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from tests.query.query_rig import BOX, Rig, box, term
from tests.query.query_worlds import SEEDS
from tests.query.random_queries import encoded
from tests.sweeps import examples

VALUES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "n": ("int", (0, 1, 2, 3, -7, 2**40)),
    "f": ("float", (0.0, 0.5, -1.25, 3.0, 1e9)),
    "b": ("bool", (True, False)),
    "e": ("enum", ("red", "green", "ärger")),
    "s": ("string", ("foo", "bar", "a b", 'a"b', "a\\b", "a::b", "日本", "5")),
    "t": ("datetime", ("2026-01-02T03:04:05.000Z", "2026-01-02T03:04:06.000Z", "2027-01-01T00:00:00.000Z")),
}
"""Attribute of `Rig`'s boxes → its dtype, and values that no language takes for something else."""
ORDERED = ("int", "float", "datetime")


@dataclass
class Said:
    """One tree: as filter parameters where they can say it, as an object search, and as a search string."""

    parameters: dict[str, list[str]] | None
    search: dict[str, Any]
    string: str


def quoted(value: Any) -> str:
    return '"' + plain(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def leaf(rng: Random) -> Said:
    name = rng.choice(list(VALUES))
    dtype, values = VALUES[name]
    value = rng.choice(values)
    text, field = f"{name}::{plain(value)}", f"{name}:{quoted(value)}"
    forms = [Said({"attribute": [text]}, term(name, "eq", value), field)]
    absent = rng.choice([True, False])
    exists = f"_exists_:{name}"
    nothing = Said(
        {"attribute_null": [f"{name}::{plain(absent)}"]},
        term(name, "isnull", absent),
        f"(NOT {exists})" if absent else exists,
    )
    if dtype in ORDERED:
        for word, said in (
            ("lt", "{{* TO {0}}}"),
            ("lte", "[* TO {0}]"),
            ("gt", "{{{0} TO *}}"),
            ("gte", "[{0} TO *]"),
        ):
            string = f"{name}:{said.format(quoted(value))}"
            forms.append(Said({f"attribute_{word}": [text]}, term(name, word, value), string))
        low, high = sorted((value, rng.choice(values)))
        both_ends = {"attribute_gte": [f"{name}::{low}"], "attribute_lte": [f"{name}::{high}"]}
        between = f"{name}:[{quoted(low)} TO {quoted(high)}]"
        forms.append(Said(both_ends, term(name, "range", [low, high]), between))
    if dtype == "string":
        part = rng.choice(("o", "a", "b", "本"))
        forms.append(
            Said({"attribute_contains": [f"{name}::{part}"]}, term(name, "icontains", part), f"{name}:*{part}*")
        )
    return rng.choice([nothing, *forms, *forms])


def tree(rng: Random, depth: int = 3) -> Said:
    match rng.randrange(8) if depth else 0:
        case 4 | 5:
            parts = [tree(rng, depth - 1) for _ in range(rng.randrange(2, 4))]
            search = {"method": "and", "operations": [part.search for part in parts]}
            return Said(together(parts), search, "(" + " AND ".join(part.string for part in parts) + ")")
        case 6:
            parts = [tree(rng, depth - 1) for _ in range(2)]
            search = {"method": "or", "operations": [part.search for part in parts]}
            return Said(None, search, "(" + " OR ".join(part.string for part in parts) + ")")
        case 7:
            part = tree(rng, depth - 1)
            return Said(None, {"method": "not", "operations": [part.search]}, f"(NOT {part.string})")
    return leaf(rng)


def together(parts: list[Said]) -> dict[str, list[str]] | None:
    found: dict[str, list[str]] = {}
    for part in parts:
        if part.parameters is None:
            return None
        for name, items in part.parameters.items():
            found.setdefault(name, []).extend(items)
    return found


def boxes(rng: Random) -> list[Any]:
    made = []
    for number in range(1, 25):
        attributes = {name: rng.choice(values) for name, (_, values) in VALUES.items() if rng.random() < 0.8}
        vector = [float(rng.randrange(4)), float(rng.randrange(4))]
        made.append(box(number, attributes | {"v": vector}))
    return made


@pytest.mark.slow
@examples(6, 200, SEEDS)
def test_what_one_language_finds_every_other_finds(seed: int):
    rng = Random(seed)
    rig = Rig(*boxes(rng))
    answered = by_parameters = 0
    for _ in range(10):
        said = tree(rng)
        nearest = {"name": "v", "center": [1.0, 2.0], "metric": "l2norm", "order": rng.choice(["asc", "desc"])}
        float_array = [nearest] if rng.random() < 0.3 else None
        beside = {"float_array": float_array}
        more: dict[str, Any] = {"type": BOX, "start": rng.choice([None, 0, 2]), "stop": rng.choice([None, None, 9])}
        more |= {"sort_by": [rng.choice(["n", "-f", "$id", "-t"])]} if rng.random() < 0.5 else {}
        found = rig.ask(body=beside, encoded_search=encoded(said.search), **more)
        assert rig.ask(body={"object_search": said.search, **beside}, **more) == found, said
        assert rig.ask(body=beside, search=said.string, **more) == found, said
        if said.parameters is not None:
            assert rig.ask(body=beside, **said.parameters, **more) == found, said
            by_parameters += 1
        answered += bool(found)
    assert by_parameters
    assert answered
    rig.view.close()
