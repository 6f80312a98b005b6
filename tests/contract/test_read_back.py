"""What clients read and send back: a whole answer in the body of a change or of a creation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.http.read_back import SET_BY_EVERY_CHANGE, is_as_shown, names_of, structs_of
from tests.contract.examples import query_of
from tests.contract.test_mass_assignment import WORD, seen, sound, with_forgery
from tests.contract.world import build
from tests.sweeps import sweep

ELSEWHERE = {"UpdateRowProtection", "UpdateFavorite", "UpdateAccessToken"}
"""What they change is not in this world."""
CHANGES = [
    operation
    for operation in OPERATIONS
    if operation.read_back.shown_by and operation.read_back.same and operation.id not in ELSEWHERE
]
CREATIONS = [operation for operation in OPERATIONS if operation.read_back.same and not operation.read_back.shown_by]
ONCE = {"UpdateJob", "UpdateTriggerRule"}
"""Whose sound body needs more than this world has."""
WITH_REQUIRED = {"UpdateJobCluster", "UpdateJob"}
"""Whose body has required members."""


@pytest.fixture(scope="module")
def world():
    return build()


def shown(world, operation):
    [found] = seen(world, world.path(operation))
    return {name: found.get(member) for name, member in operation.read_back.same.items()}


MODELS = json.loads((Path(__file__).parents[2] / "docs" / "reference" / "client-models.json").read_text())


def test_every_member_of_the_clients_models_of_bodies_is_known():
    unknown = set()
    for operation in OPERATIONS:
        for struct in structs_of(operation.schema_body or operation.body):
            known = {*names_of(struct), *operation.read_back.same, *operation.read_back.renames}
            known |= set(operation.addresses.variables) if operation.addresses else set()
            sent = {name for members in MODELS.get(struct.__name__, {}).values() for name in members.split()}
            unknown |= {f"{operation.id}.{name}" for name in sent - known if not struct.keeps}
    assert unknown == set()


@sweep("operation", CHANGES, ids=lambda operation: operation.id)
def test_a_change_may_name_what_was_read_as_it_was_read(world, operation):
    path, body = world.path(operation), sound(operation, world)
    if operation.id not in ONCE:
        said = world.owner.patch(path, {**body, **shown(world, operation)})
        assert said.status == 200, said.body
    if operation.id not in WITH_REQUIRED:
        before = shown(world, operation)
        said = world.owner.patch(path, {name: item for name, item in before.items() if item is not None})
        assert (said.status, shown(world, operation)) == (200, before), said.body


@sweep("operation", CHANGES, ids=lambda operation: operation.id)
def test_a_change_of_what_cannot_change_is_refused_by_name(world, operation):
    path, before = world.path(operation), seen(world, world.path(operation))
    for name in sorted(operation.read_back.same.keys() - SET_BY_EVERY_CHANGE):
        said = world.owner.patch(path, {**sound(operation, world), name: WORD})
        assert (said.status, said.json["details"].split(":")[0]) == (400, name), said.body
    assert seen(world, path) == before


@sweep("operation", CREATIONS, ids=lambda operation: operation.id)
def test_a_creation_may_name_what_the_service_sets(world, operation):
    known, path, query = operation.read_back, world.path(operation), query_of(operation)
    set_by_service = dict.fromkeys(known.same.keys() - known.later.keys(), WORD)
    said = world.owner.post(path, with_forgery(sound(operation, world), set_by_service), **query)
    if said.status != 201:
        assert world.owner.post(path, sound(operation, world), **query).body == said.body
    assert WORD not in said.body.decode()
    for name in sorted(known.later):
        said = world.owner.post(path, with_forgery(sound(operation, world), {name: WORD}), **query)
        assert (said.status, f"{name}: cannot be given at creation" in said.json["details"]) == (400, True), said.body


@pytest.mark.parametrize(
    ("sent", "shown", "same"),
    [
        ("2026-01-02T03:04:05.678000+00:00", "2026-01-02T03:04:05.678Z", True),
        ("2026-01-02T04:04:05.678+01:00", "2026-01-02T03:04:05.678Z", True),
        ("2026-01-02T03:04:05.679Z", "2026-01-02T03:04:05.678Z", False),
        ([{"name": "a", "minimum": None}], [{"name": "a", "dtype": "int"}], True),
        ([{"name": "a", "minimum": 1}], [{"name": "a"}], False),
        ([{"name": "a"}], [{"name": "a"}, {"name": "b"}], False),
        ("7", 7, True),
        ("8", 7, False),
        ("a", "b", False),
        (None, 7, False),
    ],
)
def test_a_value_is_as_it_was_shown_as_far_as_models_of_clients_hold_it(sent, shown, same):
    assert is_as_shown(sent, shown) is same


def test_a_file_without_an_object_may_be_sent_back(world):
    number = world.owner.made(
        f"Files/{world.things['project']}", {"type": world.things["file_type"], "name": "f", "description": ""}
    )
    read = world.owner.get(f"File/{number}").json
    assert read["path"] == ""
    assert world.owner.patch(f"File/{number}", read).status == 200
