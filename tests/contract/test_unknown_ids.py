"""An id in a body that names nothing: where it is refused, the answer names the member that has it."""

from __future__ import annotations

import re

import msgspec.inspect as shapes
import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.http.operation import OneOf
from tests.contract.examples import body_of
from tests.contract.world import World, build
from tests.sweeps import sweep

UNKNOWN = 10**9
WITH_BODY = [operation for operation in OPERATIONS if operation.body not in (None, bytes)]


@pytest.fixture(scope="module")
def world() -> World:
    return build()


def ids_of(operation):
    """The members of an operation's body that may be ids, each with a body in which it names nothing."""
    options = operation.body.options if isinstance(operation.body, OneOf) else (operation.body,)
    example = body_of(operation)
    example = example[0] if isinstance(example, list) else example
    for option in options:
        shape = shapes.type_info(option)
        is_list = isinstance(shape, shapes.ListType)
        for field in getattr(shape.item_type if is_list else shape, "fields", ()):
            value = unknown(field.type)
            if value is not None:
                body = {**example, field.encode_name: value}
                yield field.encode_name, [body] if is_list else body


def unknown(shape):
    """An id, or a list of one, for a member that takes it."""
    if isinstance(shape, shapes.Metadata):
        return unknown(shape.type)
    if isinstance(shape, shapes.UnionType):
        return next((value for kind in shape.types if (value := unknown(kind)) is not None), None)
    if isinstance(shape, shapes.IntType):
        return UNKNOWN if shape.le is None or shape.le >= UNKNOWN else None
    if isinstance(shape, shapes.ListType):
        value = unknown(shape.item_type)
        return None if value is None or isinstance(value, list) else [value]
    return None


@sweep("operation", WITH_BODY, ids=lambda operation: operation.id)
def test_an_id_that_names_nothing_is_refused_by_the_name_of_its_member(operation, world):
    for member, body in ids_of(operation):
        said = world.owner.ask(operation.method, world.path(operation), body)
        assert said.status < 500, (member, said.body)
        if re.search(rf"(matches|has no .*) \W*{UNKNOWN}", said.body.decode()):
            assert member in said.message + said.json["details"], (operation.id, member, said.body)


def test_the_item_of_a_list_is_named_with_the_member(world):
    project = world.things["project"]
    kind = world.owner.made(f"MediaTypes/{project}", {"name": "pictures", "dtype": "image"})
    image = {"type": kind, "name": "a.jpg", "md5": ""}
    leaf = {"name": "x", "type": world.things["leaf_type"]}
    for path, bodies, place in (
        ("Leaves", [leaf, {**leaf, "parent": UNKNOWN}], "[1].parent: No Leaf matches"),
        ("Leaves", [leaf, {**leaf, "attributes": {"nope": 1}}], "[1].attributes: Invalid attribute 'nope'"),
        ("Medias", [image, {**image, "type": UNKNOWN}], "[1].type: the project has no media type"),
        ("Medias", [image, {**image, "attributes": {"nope": 1}}], "[1].attributes: Invalid attribute 'nope'"),
        ("Medias", [image, {**image, "section_id": UNKNOWN}], "[1].section_id: project"),
    ):
        said = world.owner.post(f"{path}/{project}", bodies)
        assert (said.status in (400, 404), said.message.startswith(place)) == (True, True), (bodies[1], said.body)


def test_of_two_members_with_the_same_number_none_is_named(world):
    things = world.things
    body = {"media_id": things["media"], "type": things["localization_type"], "frame": 0}
    path = f"Localizations/{things['project']}"
    said = world.owner.post(path, [body | {"parent": UNKNOWN, "mark": UNKNOWN}])
    assert (said.status, said.message) == (404, f"No Localization matches {UNKNOWN}.")
    said = world.owner.post(path, [body | {"parent": UNKNOWN}])
    assert (said.status, said.message) == (404, f"[0].parent: No Localization matches {UNKNOWN}.")
