"""Every operation of the catalogue, as everybody: refused before the work to whoever may not, and only to them."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.permissions import LEVEL_OF, Level, Permission
from chalicelib.errors import LimnError
from chalicelib.http.decoding import decode_body
from chalicelib.settings import override
from tests.contract.examples import body_of, full_body_of, query_of
from tests.contract.world import World, build, is_own
from tests.service import Api, Said, join, new_user
from tests.sweeps import sweep

PROJECT_LEVELS = ["View Only", "Can Edit", "Can Transfer", "Can Execute", "Full Control"]
GUARDED = [operation for operation in OPERATIONS if operation.needs is not Permission.ANYONE]
LEVELLED = [operation for operation in GUARDED if operation.needs.level > Level.NONE]
IN_PROJECT = [operation for operation in LEVELLED if operation.needs.value in PROJECT_LEVELS]
READS = [o for o in IN_PROJECT if o.method == "GET" and not is_own(o)]
IN_ORGANIZATION = [operation for operation in LEVELLED if operation.needs.value not in PROJECT_LEVELS]


def by_id(operation):
    return operation.id


@pytest.fixture(scope="module")
def world() -> World:
    return build()


def ask(who: Api, operation: Any, world: World, raw: bytes | None = None) -> Said:
    path = world.path(operation)
    if raw is not None:
        return who.ask(operation.method, path, raw=raw, **query_of(operation))
    return who.ask(operation.method, path, body_of(operation), **query_of(operation))


@sweep("operation", GUARDED, ids=by_id)
def test_nobody_is_asked_for_credentials_first(operation, world):
    before = world.writes()
    assert ask(Api(None), operation, world).status == 401
    assert ask(Api(None, token="0" * 40), operation, world).status == 401
    assert world.writes() == before


@sweep("operation", OPERATIONS, ids=by_id)
def test_a_token_that_is_nobodys_is_refused_even_where_none_is_needed(operation, world):
    assert ask(Api(None, token="f" * 40), operation, world).status == 401


@sweep("operation", OPERATIONS, ids=by_id)
def test_an_account_that_was_switched_off_opens_nothing(operation, world):
    assert ask(world.inactive, operation, world).status == 401


@sweep("operation", LEVELLED, ids=by_id)
def test_staff_has_no_way_into_what_it_is_no_member_of(operation, world):
    assert ask(world.superuser, operation, world).status == 404


@sweep("operation", [o for o in IN_ORGANIZATION if o.method == "GET"], ids=by_id)
def test_an_administrator_of_the_organization_is_let_through(operation, world):
    assert ask(world.owner, operation, world).status not in (401, 403)


@pytest.mark.slow
@sweep("operation", LEVELLED, ids=by_id)
def test_a_stranger_is_told_that_nothing_is_there(operation, world):
    before = world.writes()
    assert ask(world.stranger, operation, world).status == 404
    assert ask(world.neighbour, operation, world).status == 404
    assert world.writes() == before


@sweep("operation", IN_PROJECT, ids=by_id)
def test_every_level_below_the_needed_one_is_forbidden(operation, world):
    before = world.writes()
    # what is a user's own is not there for anybody else, whatever their level
    refusal = 404 if is_own(operation) else 403
    for level in PROJECT_LEVELS:
        if LEVEL_OF[level] < operation.needs.level:
            assert ask(world.members[level], operation, world).status == refusal, level
    assert world.writes() == before


def accepted_bodies(operation: Any) -> list[bytes]:
    """Bodies that pass validation and that a handler would refuse: empty, or with every member that may be given."""
    found = []
    for body in ({}, full_body_of(operation), {"ids": [10**9]}, {"attributes": {"no such": 1}}, [], {"count": 7}):
        raw = json.dumps(body).encode()
        try:
            decode_body(operation, raw, "application/json")
        except LimnError:
            continue
        found.append(raw)
    return found


@pytest.mark.slow
@sweep("operation", [o for o in IN_PROJECT if o.body not in (None, bytes)], ids=by_id)
def test_the_permission_is_checked_before_the_content_of_a_body(operation, world):
    low = [name for name in PROJECT_LEVELS if LEVEL_OF[name] < operation.needs.level][:1]
    refusal = 404 if is_own(operation) else 403
    for raw in accepted_bodies(operation):
        for who, status in [*((world.members[name], refusal) for name in low), (world.stranger, 404)]:
            assert ask(who, operation, world, raw=raw).status == status, raw


BAD_BODIES = (b"{", b"[]", b"7", b'{"no_such_member": 1}', b'{"attributes": 1, "ids": "x", "count": -1}')
TOLD_BY_PATH = [o for o in LEVELLED if o.method != "GET" and o.addresses is not None and o.addresses.locate_by is None]
"""Changes of what the path alone names: who may not make them learns nothing of what a body may be."""


@pytest.mark.parametrize("fine", [False, pytest.param(True, marks=pytest.mark.slow)])
@sweep("operation", TOLD_BY_PATH, ids=by_id)
def test_the_permission_is_checked_before_a_body_is_read(operation, world, fine):
    refusal = 404 if is_own(operation) else 403
    low = [name for name in PROJECT_LEVELS if LEVEL_OF[name] < operation.needs.level][:1]
    callers = [(world.stranger, 404)]
    if operation.needs.value in PROJECT_LEVELS:
        callers += [(world.members[name], refusal) for name in low]
    elif operation.needs is Permission.ADMIN:
        callers.append((world.organization_member, refusal))
    bodies = BAD_BODIES if operation.body is not None else BAD_BODIES[:1]
    with override(fine_grained_permissions=fine):
        for raw in bodies:
            for who, status in callers:
                said = who.ask(operation.method, world.path(operation), raw=raw, no_such_parameter="x")
                # with fine-grained permissions, what lies on hidden media is hidden
                assert said.status == status or (fine and said.status == 404), (raw, said.body)


def test_bodies_are_read_before_the_permission_only_where_they_name_what_is_addressed():
    assert {o.id for o in LEVELLED if o.addresses is None or o.addresses.locate_by is not None} == {
        f"{verb}AttributeType" for verb in ("Create", "Update", "Replace", "Delete")
    }


NAMING_AN_AUTHOR = [
    ("POST", "Localizations", [{"type": 10**9, "media_id": 10**9, "frame": 0}]),
    ("POST", "States", [{"type": 10**9, "media_ids": [10**9]}]),
    ("POST", "Medias", {"type": 10**9, "name": "x", "md5": ""}),
    ("PATCH", "Localizations", {"attributes": {"no such": 1}, "new_version": 10**9}),
    ("PATCH", "States", {"attributes": {"no such": 1}, "new_version": 10**9}),
    ("PATCH", "Medias", {"attributes": {"no such": 1}}),
]


@sweep("method, path, body", NAMING_AN_AUTHOR, ids=lambda case: " ".join(map(str, case[:2])))
def test_the_permission_to_name_an_author_is_checked_before_the_rest_of_a_body(world, method, path, body):
    author = {"user_elemental_id": str(uuid.uuid4())}
    named = [{**body[0], **author}] if isinstance(body, list) else {**body, **author}
    who = world.members["Can Transfer"]
    assert who.ask(method, f"{path}/{world.things['project']}", named).status == 403
    assert who.ask(method, f"{path}/{world.things['project']}", body).status in (200, 400, 404)


def test_the_guide_lists_what_each_level_may_write():
    """The table of docs/guides/accounts.md: level, then the tags of what it creates, changes and deletes."""
    text = Path("docs/guides/accounts.md").read_text()
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")
    ]
    told = {
        row[0]: [set(cell.split(", ")) - {"–"} for cell in row[1:]]
        for row in rows
        if row[0] in PROJECT_LEVELS and len(row) == len(VERBS) + 1
    }
    declared = {
        level: [
            {o.tag for o in IN_PROJECT if o.needs.value == level and o.method == method and not o.legacy}
            for method in VERBS
        ]
        for level in PROJECT_LEVELS
    }
    declared["View Only"] = [set(), set(), set()]
    differing = {
        f"{level} {verb}": sorted(says ^ needs)
        for level in PROJECT_LEVELS
        for verb, says, needs in zip(VERBS, told.get(level, [set()] * len(VERBS)), declared[level], strict=True)
        if says != needs
    }
    assert differing == {}, "add or remove these groups in the table of docs/guides/accounts.md"


VERBS = ("POST", "PATCH", "DELETE")


@sweep("operation", IN_ORGANIZATION, ids=by_id)
def test_a_plain_member_of_an_organization_administers_nothing(operation, world):
    status = ask(world.organization_member, operation, world).status
    if operation.needs is Permission.ADMIN:
        assert status == 403
    else:
        assert status not in (401, 403)


@sweep("operation", READS, ids=by_id)
def test_the_needed_level_is_let_through(operation, world):
    assert ask(world.members[operation.needs.value], operation, world).status not in (401, 403)


def test_the_matrix_notices_an_operation_that_was_loosened(world):
    from app import app
    from chalicelib.api.routes import route_of

    operation = next(operation for operation in IN_PROJECT if operation.needs is Permission.FULL)
    loosened = replace(operation, needs=Permission.VIEW)
    view = app.routes[route_of(operation.path)][operation.method].view_function
    operations = view.__closure__[0].cell_contents
    operations[operation.method] = loosened
    try:
        with pytest.raises(AssertionError):
            test_every_level_below_the_needed_one_is_forbidden.case(operation, world)
    finally:
        operations[operation.method] = operation


def test_every_operation_has_its_own_name_and_its_own_route():
    assert len({operation.id for operation in OPERATIONS}) == len(OPERATIONS)
    assert len({(operation.method, operation.path) for operation in OPERATIONS}) == len(OPERATIONS)


def test_a_member_of_the_project_below_keeps_out_of_the_one_above(project):
    outsider = new_user()
    inside = new_user()
    join(inside, project, "View Only")
    assert outsider.get(f"Project/{project}").status == 404
    assert inside.get(f"Project/{project}").status == 200
