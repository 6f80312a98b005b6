"""Memberships: who may do what in a project (`spec/3` §4.3)."""

from __future__ import annotations

import msgspec

from chalicelib.domain.accounts import MEMBERSHIP, USER, Membership, MembershipSpec, MembershipUpdate, Project
from chalicelib.domain.definitions import VERSION
from chalicelib.domain.permissions import Permission
from chalicelib.domain.resource import given
from chalicelib.domain.responses import CreateResponse, MessageResponse
from chalicelib.errors import BadInput, NotFound
from chalicelib.operations.addresses import PROJECT, record_of_project
from chalicelib.operations.operation import Call, NoQuery, Operation
from chalicelib.services import users
from chalicelib.storage import ids, records

TAG = "Memberships"
ONE = record_of_project(MEMBERSHIP)


def list_memberships(call: Call[Project, NoQuery, None]) -> list[Membership]:
    """Everybody in the project, by last name."""
    named = _named(records.listed(MEMBERSHIP, call.project))
    return sorted(named, key=lambda item: ((item.last_name or "").casefold(), (item.username or "").casefold()))


def create_membership(call: Call[Project, NoQuery, MembershipSpec]) -> CreateResponse:
    """Let a user into the project."""
    user = records.get(USER, call.body.user)
    _check_version(call.project, call.body.default_version)
    membership = Membership(
        id=ids.reserve(MEMBERSHIP.name)[0],
        project=call.project,
        user=user.id,
        permission=call.body.permission,
        default_version=call.body.default_version,
    )
    taken = BadInput(f"Membership already exists for project {call.project}, user {user.id}!")
    records.create(MEMBERSHIP, membership, taken=taken)
    return CreateResponse(message=f"Membership of {user.username} created!", id=membership.id)


def get_membership(call: Call[Membership, NoQuery, None]) -> Membership:
    """One membership."""
    return _named([call.target])[0]


def update_membership(call: Call[Membership, NoQuery, MembershipUpdate]) -> MessageResponse:
    """Change the members given."""
    change = given(call.body)
    if not change:
        raise BadInput("Nothing to change: give permission or default_version.")
    _check_version(call.project, call.body.default_version)
    records.edit(MEMBERSHIP, call.target.id, lambda current: msgspec.structs.replace(current, **change))
    return MessageResponse(message=f"Membership {call.target.id} updated successfully!")


def delete_membership(call: Call[Membership, NoQuery, None]) -> MessageResponse:
    """Take a user out of the project."""
    records.remove(MEMBERSHIP, call.target.id)
    return MessageResponse(message=f"Membership {call.target.id} deleted successfully!")


def _check_version(project: int, version: int | None) -> None:
    if version is not None and records.get(VERSION, version).project != project:
        raise NotFound.of("Version", version)


def _named(memberships: list[Membership]) -> list[Membership]:
    found = users.by_id(membership.user for membership in memberships)
    named = []
    for membership in memberships:
        user = found.get(membership.user)
        if user:
            names = {name: getattr(user, name) for name in ("username", "first_name", "last_name", "email")}
            named.append(msgspec.structs.replace(membership, **names))
        else:
            named.append(membership)
    return named


OPERATIONS = (
    Operation(
        id="GetMembershipList",
        method="GET",
        path="/rest/Memberships/{project}",
        summary="The members of a project.",
        needs=Permission.VIEW,
        addresses=PROJECT,
        returns=list[Membership],
        handler=list_memberships,
        tag=TAG,
    ),
    Operation(
        id="CreateMembership",
        method="POST",
        path="/rest/Memberships/{project}",
        summary="Let a user into a project.",
        needs=Permission.FULL,
        addresses=PROJECT,
        body=MembershipSpec,
        returns=CreateResponse,
        handler=create_membership,
        tag=TAG,
    ),
    Operation(
        id="GetMembership",
        method="GET",
        path="/rest/Membership/{id}",
        summary="One membership.",
        needs=Permission.VIEW,
        addresses=ONE,
        returns=Membership,
        handler=get_membership,
        tag=TAG,
    ),
    Operation(
        id="UpdateMembership",
        method="PATCH",
        path="/rest/Membership/{id}",
        summary="Change a member's level or default version.",
        needs=Permission.FULL,
        addresses=ONE,
        body=MembershipUpdate,
        returns=MessageResponse,
        handler=update_membership,
        tag=TAG,
    ),
    Operation(
        id="DeleteMembership",
        method="DELETE",
        path="/rest/Membership/{id}",
        summary="Take a user out of a project.",
        needs=Permission.FULL,
        addresses=ONE,
        returns=MessageResponse,
        handler=delete_membership,
        tag=TAG,
    ),
)
