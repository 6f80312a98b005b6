"""Members whose values may be any JSON — attributes, profiles, options of engines, queries — never fail a request.

Each such member of each body gets odd values, as text of JSON: some cannot be made by an encoder. What is accepted is
then read, counted, exported and worked on by the queues.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any, get_args

import msgspec.inspect as shapes
import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.values.attributes import Dtype
from chalicelib.http.operation import OneOf
from tests.contract.examples import example_of, query_of
from tests.contract.test_mass_assignment import placed
from tests.contract.world import build

DTYPES = get_args(Dtype)
DEEPEST = 4
"""Levels of Structs within each other that are looked into."""
HOLE = "\ue000hole\ue000"
"""Stands for the odd value until the body is text."""
NAME = "\ue000name\ue000"
"""Stands for the name of an attribute, another one each time."""
ODD = [
    "null", "true", "7", "-0.0", '""', '"text"', "[]", "{}", "[[]]", '[{"a":[null]}]', '{"":""}', '{"a":{"b":[1,{}]}}',
    "9223372036854775807", "9223372036854775808", "1" * 400, "1e308", "1e309", "-1e400", "NaN", "Infinity",
    r'"\u0000"', r'"\ud800"', r'{"\ud800":1}', r'{"\u0000":"\u0000"}', r'["a\u0000b"]', r'"\ud83d\ude00"',
    '{"a":1,"a":2}', "[" * 40 + "]" * 40, "[" * 400 + "]" * 400, '{"a":' * 30 + "1" + "}" * 30,
    "[1,2,3]", '["a",1,null]',
    '{"operation":7}', '{"operation":[],"value":{}}', '{"method":"and","operations":[7]}', '{"__proto__":{"x":1}}',
    '{"Box":[1]}', '{"type":{}}', '{"id":"x"}', '{"id":NaN}', '{"name":7}', '{"resources":[]}', '{"spec":7}',
]  # fmt: skip
WITH_BODY = sorted(
    (
        operation
        for operation in OPERATIONS
        if operation.body not in (None, bytes) and operation.id not in ("CreateObtainAuthToken", "Notify")
    ),
    key=lambda operation: operation.method == "DELETE",
)
"""Deletions last: an odd search may find everything."""


SEARCHES = [
    {"attribute": HOLE, "operation": "eq", "value": 1},
    {"attribute": NAME, "operation": HOLE, "value": 1},
    {"attribute": NAME, "operation": "gt", "value": HOLE},
    {"attribute": "$id", "operation": "in", "value": HOLE},
    {"attribute": NAME, "operation": "range", "value": HOLE, "inverse": HOLE},
    {"method": HOLE, "operations": [{"attribute": NAME, "operation": "isnull", "value": False}]},
    {"method": "not", "operations": HOLE},
]
FRESH = "\ue000fresh\ue000"
"""Stands for a text that no other body has."""
COMPLETE: dict[str, dict[str, Any]] = {
    "CreateUser": {"username": FRESH, "email": f"{FRESH}@example.org", "password": "battery 8 staple"},
    "CreateMediaList": {"name": f"{FRESH}.jpg", "md5": ""},
    "UpdateMediaList": {"attributes": {"int": 1}},
    "UpdateLocalizationList": {"attributes": {"int": 1}},
    "UpdateStateList": {"attributes": {"int": 1}},
    "UpdateLeafList": {"attributes": {"int": 1}},
    "UpdateAnnotationFrames": {"shift": 1},
    "UpdateTelemetryValues": {"columns": {"int": "c"}},
}
"""Members that a body needs besides those that its type requires."""


def holes(shape: Any, name: str = "", depth: int = 0) -> Iterator[Any]:
    """Examples of a shape with a hole in the place of one free value, one for each."""
    match shape:
        case shapes.Metadata():
            yield from holes(shape.type, name, depth)
        case shapes.UnionType():
            for option in shape.types:
                yield from holes(option, name, depth)
        case shapes.ListType() | shapes.CollectionType():
            yield from ([each] for each in holes(shape.item_type, name, depth))
        case shapes.DictType(value_type=shapes.StructType()):
            yield HOLE
            yield from ({NAME: each} for each in holes(shape.value_type, name, depth))
        case shapes.DictType():
            yield HOLE
            yield from SEARCHES if name.endswith("_search") else [{NAME: HOLE}]
        case shapes.AnyType():
            yield HOLE
        case shapes.StructType() if depth < DEEPEST:
            whole = {each.encode_name: example_of(each.type) for each in shape.fields if each.required}
            for each in shape.fields:
                found = holes(each.type, each.encode_name, depth + 1)
                yield from ({**whole, each.encode_name: value} for value in found)


def bodies(operation: Any) -> Iterator[Any]:
    """The bodies of an operation with a hole, in each of its forms."""
    more = COMPLETE.get(operation.id, {})
    for kind in operation.body.options if isinstance(operation.body, OneOf) else (operation.body,):
        for body in holes(shapes.type_info(kind)):
            yield [more | each for each in body] if isinstance(body, list) else more | body


def filled(operation: Any, body: Any, things: dict[str, Any]) -> Any:
    """A body that names what is there."""
    if isinstance(body, list):
        return [filled(operation, each, things) for each in body]
    named = placed(operation, body, things)
    return {**named, "name": FRESH} if named.get("name") == "xxxxx" else named


@pytest.fixture(scope="module")
def world():
    made = build()
    for word in ("media", "localization", "state", "leaf", "file"):
        for dtype in DTYPES:
            added = {"name": dtype, "dtype": dtype} | ({"choices": ["a", "b"]} if dtype == "enum" else {})
            added |= {"size": 2} if dtype == "float_array" else {}
            body = {"entity_type": f"{word.title()}Type", "addition": added}
            said = made.owner.post(f"AttributeType/{made.things[f'{word}_type']}", body)
            assert said.status == 201, said.body
    return made


CASES = [(operation, body) for operation in WITH_BODY for body in bodies(operation)]
A_PART = 6
"""How many odd values a case gets with every commit, which tries an eighth of the cases; by night all are tried."""
_count = itertools.count(1)


def values(number: int, *, whole: bool) -> list[tuple[str, str]]:
    """Odd values, each with the name of an attribute."""
    step = len(ODD) // A_PART
    chosen = ODD if whole else [ODD[(number + place * step) % len(ODD)] for place in range(A_PART)]
    return [(odd, DTYPES[(number + place) % len(DTYPES)]) for place, odd in enumerate(chosen)]


def send(world: Any, *, whole: bool) -> int:
    """Send every case; returns how many had a success."""
    succeeded = 0
    for number, (operation, body) in list(enumerate(CASES))[:: 1 if whole else 8]:
        template = json.dumps(filled(operation, body, world.things), ensure_ascii=False)
        statuses = set()
        for odd, name in values(number, whole=whole):
            raw = template.replace(json.dumps(HOLE, ensure_ascii=False), odd).replace(NAME, name)
            raw = raw.replace(FRESH, f"fresh{next(_count)}")
            ask = (operation.method, world.path(operation))
            said = world.owner.ask(*ask, raw=raw.encode(), **query_of(operation))
            if said.status == 429:
                world.owner.drain()
                said = world.owner.ask(*ask, raw=raw.encode(), **query_of(operation))
            assert said.status < 500, (operation.id, raw[:1000], said.body)
            json.loads(said.body or b"null", parse_constant=refuse_constant)
            statuses.add(said.status)
        succeeded += min(statuses) < 300
    read_everything(world)
    return succeeded


def refuse_constant(word: str) -> None:
    """JSON knows no NaN and no Infinity."""
    raise AssertionError(word)


def read_everything(world: Any) -> None:
    """Work on what was accepted, and read it."""
    world.owner.drain()
    count = 0
    for operation in OPERATIONS:
        if operation.method == "GET" and operation.path.startswith("/rest/"):
            said = world.owner.get(world.path(operation), **query_of(operation))
            assert said.status < 500, (operation.id, said.body)
            count += said.status == 200
    assert count > 70


def test_no_value_of_a_free_member_fails(world, no_hashing):
    # a key of a file that exists is never sent, so what names files (MoveVideo and its like) has no success
    assert send(world, whole=False) > len(CASES) // 8 // 8


@pytest.mark.nightly
def test_no_value_of_a_free_member_fails_with_all_values(world, no_hashing):
    assert send(world, whole=True) > len(CASES) // 4
