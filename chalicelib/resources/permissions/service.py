"""Row protections: their targets, and who may see and set them.

A caller with the ACL bit on a target sets its row protections. If fine-grained permissions are off, the bit belongs to
full control of the project, or to administrators of the organization.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from chalicelib.access import authentication, grants
from chalicelib.access.authentication import Caller
from chalicelib.access.groups import GROUP
from chalicelib.access.masks import ACL, mask_of
from chalicelib.access.row_protections import (
    IN_PROJECT,
    ROW_PROTECTION,
    SUBJECTS,
    TARGETS,
    RowProtection,
    RowProtectionQuery,
    RowProtectionSpec,
    organization_scope,
    project_scope,
)
from chalicelib.access.scope import mask_on
from chalicelib.access.users import check_known
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import AFFILIATION, MEMBERSHIP, ORGANIZATION
from chalicelib.core.models.algorithms import ALGORITHM
from chalicelib.core.models.definitions import SECTION, VERSION
from chalicelib.core.models.integrations import BUCKET, HOSTED_TEMPLATE, JOB_CLUSTER
from chalicelib.core.permissions import Level
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import given, now
from chalicelib.errors import BadInput, Forbidden, NotFound
from chalicelib.settings import settings
from chalicelib.storage.audit.concern import concern
from chalicelib.storage.dynamodb import entities, ids, records


class ProtectedTarget(NamedTuple):
    """A protected target and where it belongs; the target is None once it is deleted."""

    name: str
    number: int
    scope: str
    owner: int
    """The project or organization."""
    record: Any


_TARGET_RECORD: dict[str, RecordKind[Any]] = {
    "section": SECTION,
    "version": VERSION,
    "algorithm": ALGORITHM,
    "target_group": GROUP,
    "bucket": BUCKET,
    "job_cluster": JOB_CLUSTER,
    "hosted_template": HOSTED_TEMPLATE,
}


def create(spec: RowProtectionSpec, caller: Caller) -> RowProtection:
    """Create a row protection.

    Raises:
        BadInput: the body does not name exactly one target and one subject.
        NotFound: one of them does not exist, or the caller may not see the target.
        Forbidden: the caller lacks the ACL bit on the target.
    """
    members = given(spec)
    name = _one_of(members, TARGETS, "protected object")
    subject = _one_of(members, SUBJECTS, "subject")
    place = find(name, members[name])
    note_place(place)
    _check_acl(caller, place)
    _check_subject(caller, place, subject, members[subject])
    row = RowProtection(
        id=ids.reserve(ROW_PROTECTION.name)[0],
        permission=spec.permission,
        created_datetime=now(),
        created_by=caller.id,
        scope=place.scope,
        **{name: members[name], subject: members[subject]},
    )
    return records.create(ROW_PROTECTION, row)


def _check_subject(caller: Caller, place: ProtectedTarget, subject: str, number: int) -> None:
    """Check that a subject is known where the target is, or to the caller.

    A user must belong to the organization of the target or to one of its projects; an organization must be that of the
    target or one of the caller's; a group must be of such an organization.

    Raises:
        NotFound: it is not; the same as where it does not exist.
    """
    owner = authentication.project_of(place.owner).organization if place.name in IN_PROJECT else place.owner
    if subject == "user":
        check_known([number], owner)
        return
    group = records.maybe(GROUP, number) if subject == "group" else None
    organization = group.organization if group else number
    found = group if subject == "group" else records.maybe(ORGANIZATION, number)
    is_known = organization == owner or authentication.organization_level(caller, organization)
    if found is None or not is_known:
        raise NotFound.of(subject.capitalize(), number)


def list_protections(query: RowProtectionQuery, caller: Caller) -> list[RowProtection]:
    """The rows that match all filters, on targets for which the caller has the ACL bit, by id."""
    wanted = given(query)
    found: dict[int, RowProtection] = {}
    decides: dict[tuple[str, int], bool] = {}
    for scope in _scopes(wanted, caller):
        for row in records.list_children(ROW_PROTECTION, scope):
            if all(getattr(row, name) == value for name, value in wanted.items()):
                if row.target not in decides:
                    decides[row.target] = has_acl(caller, place_of(row))
                if decides[row.target]:
                    found[row.id] = row
    return [found[number] for number in sorted(found)]


def check_acl(caller: Caller, row: RowProtection) -> None:
    """Raise NotFound if the caller may not see the target, Forbidden if the caller lacks its ACL bit."""
    place = place_of(row)
    note_place(place)
    if not has_acl(caller, place):
        raise (Forbidden() if _level(caller, place) else NotFound.of("RowProtection", row.id))


def note_place(place: ProtectedTarget) -> None:
    """Record in the audit log whose permissions a request changes."""
    if place.scope == project_scope(place.owner):
        concern(project=place.owner)
    else:
        concern(organization=place.owner)


def has_acl(caller: Caller, place: ProtectedTarget) -> bool:
    """Whether a caller has the ACL bit on a target."""
    return bool(_mask(caller, place) & ACL)


def find(name: str, number: int) -> ProtectedTarget:
    """The target that a member of a row protection names. Raises NotFound."""
    if name == "project":
        return ProtectedTarget(name, number, project_scope(number), number, authentication.project_of(number))
    if name == "target_organization":
        return ProtectedTarget(name, number, organization_scope(number), number, records.get(ORGANIZATION, number))
    record: Any = (
        records.get(_TARGET_RECORD[name], number) if name in _TARGET_RECORD else entities.get(Kind(name), number)
    )
    owner = record.project if name in IN_PROJECT else record.organization
    return ProtectedTarget(
        name, number, (project_scope if name in IN_PROJECT else organization_scope)(owner), owner, record
    )


def _one_of(members: dict[str, Any], names: Iterable[str], noun: str) -> str:
    found = [name for name in names if name in members]
    if len(found) != 1:
        raise BadInput(
            f"A row protection names exactly one {noun}, one of {', '.join(names)}; this one names "
            f"{' and '.join(found) or 'none'}."
        )
    return found[0]


def _check_acl(caller: Caller, place: ProtectedTarget) -> None:
    if not has_acl(caller, place):
        raise (Forbidden() if _level(caller, place) else NotFound.of(place.name.capitalize(), place.number))


def place_of(row: RowProtection) -> ProtectedTarget:
    """The place of a row's target; a deleted target counts as its project or organization."""
    name, number = row.target
    try:
        return find(name, number)
    except NotFound:
        owner = int(row.scope.partition("|")[2])
        return ProtectedTarget(
            "project" if name in IN_PROJECT else "target_organization", owner, row.scope, owner, None
        )


def _level(caller: Caller, place: ProtectedTarget) -> Level:
    level: Callable[[Caller, int], Level] = (
        authentication.project_level if place.name in IN_PROJECT else authentication.organization_level
    )
    return level(caller, place.owner)


def _mask(caller: Caller, place: ProtectedTarget) -> int:
    if not settings().fine_grained_permissions:
        return mask_of(_level(caller, place))
    if place.name in IN_PROJECT:
        return mask_on(authentication.grants_in_project(caller, place.owner), place.name, place.record)
    known = authentication.grants_in_organization(caller, place.owner)
    return known.whole if place.name == "target_organization" else known.on(place.name, place.number)


def _scopes(wanted: dict[str, int], caller: Caller) -> list[str]:
    """The partitions with matching rows: of the given target, else all where the caller may have the ACL bit."""
    for name in TARGETS:
        if name in wanted:
            try:
                return [find(name, wanted[name]).scope]
            except NotFound:
                return []
    projects = {item.project for item in records.list_linked(MEMBERSHIP, "user", caller.id)}
    organizations = {item.organization for item in records.list_linked(AFFILIATION, "user", caller.id)}
    if settings().fine_grained_permissions:
        projects |= grants.subjects_in_reach(caller.id, "project")
        organizations |= grants.subjects_in_reach(caller.id, "target_organization")
    return [
        *(project_scope(number) for number in sorted(projects)),
        *(organization_scope(number) for number in sorted(organizations)),
    ]


def change(row: RowProtection, permission: int) -> RowProtection:
    """Replace the permissions of a row."""
    return records.edit(ROW_PROTECTION, row.id, lambda current: msgspec.structs.replace(current, permission=permission))
