"""Groups of users in an organization."""

from __future__ import annotations

from typing import Any

from chalicelib.access.groups import GROUP, Group, GroupSpec, GroupUpdateSpec
from chalicelib.access.users import check_known
from chalicelib.core.models.accounts import Organization
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Id, Resource
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call, NoQuery
from chalicelib.storage.dynamodb import ids, records


class GroupQuery(Resource, kw_only=True):
    """The filter of a group list: a member."""

    user: Id | None = None


def list_groups(call: Call[Organization, GroupQuery, None]) -> list[Group]:
    """The groups of the organization, by id."""
    wanted = call.query.user
    return [
        group for group in records.list_children(GROUP, call.organization) if wanted is None or wanted in group.members
    ]


def make_group(call: Call[Organization, GroupQuery, GroupSpec]) -> Group:
    """Create a group; every member must belong to the organization or to one of its projects."""
    members = list(dict.fromkeys(call.body.initial_members or []))
    check_known(members, call.organization)
    group = Group(id=ids.reserve(GROUP.name)[0], organization=call.organization, name=call.body.name, members=members)
    return records.create(GROUP, group)


def change_group(call: Call[Group, NoQuery, GroupUpdateSpec], change: dict[str, Any]) -> dict[str, Any]:
    """Rename a group, add and remove members."""
    added = change.pop("add_members", [])
    removed = change.pop("remove_members", [])
    check_known(added, call.target.organization)
    if added or removed:
        members = dict.fromkeys([*call.target.members, *added])
        change["members"] = [member for member in members if member not in removed]
    return change


OPERATIONS = record_operations(
    RecordResource(
        kind=GROUP,
        tag="Organizations",
        audits="membership",
        read=Permission.MEMBER,
        write=Permission.ADMIN,
        query=GroupQuery,
        spec=GroupSpec,
        update=GroupUpdateSpec,
        find=list_groups,
        store=make_group,
        check_change=change_group,
        answers_deleted_id=True,
    )
)
