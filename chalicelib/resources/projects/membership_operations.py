"""Memberships: users' permissions in a project."""

from __future__ import annotations

from typing import Any

from chalicelib.access import users
from chalicelib.core.log.commits import Note
from chalicelib.core.models.accounts import MEMBERSHIP, USER, Membership, Project
from chalicelib.core.models.definitions import VERSION
from chalicelib.core.permissions import Permission
from chalicelib.errors import NotFound, Taken
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call, NoQuery
from chalicelib.resources.email import notifications
from chalicelib.resources.projects import service as projects_service
from chalicelib.resources.projects.schemas import MembershipSpec, MembershipUpdate
from chalicelib.storage.dynamodb import ids, records
from chalicelib.storage.objects import presigned


def list_memberships(call: Call[Project, NoQuery, None]) -> list[Membership]:
    """All members of the project, by last name."""
    named = users.with_user_names(records.list_children(MEMBERSHIP, call.project))
    return sorted(named, key=lambda item: ((item.last_name or "").casefold(), (item.username or "").casefold()))


def make_membership(call: Call[Project, NoQuery, MembershipSpec]) -> Membership:
    """Add a user to the project."""
    user = users.look_up(call.caller, lambda: records.maybe(USER, call.body.user), call.organization)
    if user is None:
        raise NotFound.of("User", call.body.user)
    _check_version(call.project, call.body.default_version)
    membership = Membership(
        id=ids.reserve(MEMBERSHIP.name)[0],
        project=call.project,
        user=user.id,
        permission=call.body.permission,
        default_version=call.body.default_version,
        added_by=0 if call.caller.is_staff else call.caller.id,
    )
    presigned.forget(user.id, call.project)  # what an earlier membership left
    taken = Taken(f"Membership already exists for project {call.project}, user {user.id}!")
    projects_service.add_member(membership, call.caller.id, taken)
    notifications.notify_of_membership(membership, call.target)
    return membership


def check_change(call: Call[Membership, NoQuery, MembershipUpdate], change: dict[str, Any]) -> dict[str, Any]:
    """Raise BadInput unless a default version belongs to the project."""
    _check_version(call.project, change.get("default_version"))
    return change


def note_change(before: Membership, after: Membership | None) -> Note:
    """The event of a changed or removed membership, with the values of the members that changed."""
    data: dict[str, Any] = {"user": before.user, "permission": (after or before).permission}
    if after is None:
        return Note(type="member.removed", kind="membership", id=before.id, data=data)
    names = [name for name in ("permission", "default_version") if getattr(before, name) != getattr(after, name)]
    data |= {word: {name: getattr(one, name) for name in names} for word, one in (("old", before), ("new", after))}
    return Note(type="member.updated", kind="membership", id=before.id, data=data)


def _check_version(project: int, version: int | None) -> None:
    if version is not None and records.get(VERSION, version).project != project:
        raise NotFound.of("Version", version)


OPERATIONS = record_operations(
    RecordResource(
        kind=MEMBERSHIP,
        tag="Memberships",
        audits="membership",
        read=Permission.VIEW,
        write=Permission.FULL,
        spec=MembershipSpec,
        update=MembershipUpdate,
        find=list_memberships,
        store=make_membership,
        check_change=check_change,
        event_of=note_change,
        show=lambda membership: users.with_user_names([membership])[0] if membership.username is None else membership,
    )
)
