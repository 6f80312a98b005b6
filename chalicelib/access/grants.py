"""The masks that row protections, memberships and affiliations give a caller, with fine-grained permissions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from chalicelib.access.groups import GROUP
from chalicelib.access.masks import Grants, mask_of
from chalicelib.access.row_protections import ROW_PROTECTION, organization_scope, project_scope, subject_key
from chalicelib.core.models.accounts import AFFILIATION, MEMBERSHIP, PROJECT
from chalicelib.core.permissions import LEVEL_OF
from chalicelib.core.records import padded
from chalicelib.storage.dynamodb import records

Subject = tuple[str, int]


def in_project(user: int, project: int) -> Grants:
    """A user's masks in a project; none in a deleted one, whose row protections stay until the purge."""
    found = records.maybe(PROJECT, project)
    if found is None or found.deleted is not None:
        return Grants()
    membership = records.find(MEMBERSHIP, project, padded(user)) if user else None
    level = membership.permission if membership else "No Access"
    return _sum(user, project_scope(project), "project", project, level)


def in_organization(user: int, organization: int) -> Grants:
    """A user's masks in an organization; with several affiliations the first counts."""
    first = _affiliation(user, organization) if user else None
    return _sum(user, organization_scope(organization), "target_organization", organization, first or "No Access")


def subjects_in_reach(user: int, target: str) -> set[int]:
    """The projects or organizations (by the member that names them) in which a user has a row protection."""
    rows = [row for subject in _subjects(user) for row in records.list_linked(ROW_PROTECTION, "allowed", subject)]
    return {row.target[1] for row in rows if row.target[0] == target}


def _sum(user: int, scope: str, whole: str, number: int, level: str) -> Grants:
    rows = [row for row in records.list_children(ROW_PROTECTION, scope) if user]
    applying = _subjects_of(user, {row.subject for row in rows})
    mask = mask_of(LEVEL_OF[level])
    parts: defaultdict[str, defaultdict[int, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        if row.subject not in applying:
            continue
        name, target = row.target
        if (name, target) == (whole, number):
            mask |= row.permission
        else:
            parts[name][target] |= row.permission
    return Grants(whole=mask, parts={name: dict(masks) for name, masks in parts.items()})


def _subjects_of(user: int, subjects: Iterable[Subject]) -> set[Subject]:
    """The subjects that are the user, or that the user belongs to. Groups are read together: there may be many."""
    wanted = set(subjects)
    groups = records.many(GROUP, [number for name, number in wanted if name == "group"])
    return {
        *({("user", user)} & wanted),
        *(("group", number) for number, group in groups.items() if user in group.members),
        *(
            (name, number)
            for name, number in wanted
            if name == "organization" and _affiliation(user, number) is not None
        ),
    }


def _subjects(user: int) -> Iterable[str]:
    yield subject_key("user", user)
    for organization in {item.organization for item in records.list_linked(AFFILIATION, "user", user)}:
        yield subject_key("organization", organization)
        for group in records.list_children(GROUP, organization):
            if user in group.members:
                yield subject_key("group", group.id)


def _affiliation(user: int, organization: int) -> str | None:
    first = records.first(AFFILIATION, organization, f"{padded(user)}|")
    return first.permission if first else None
