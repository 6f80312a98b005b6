"""Create a project with all records that it needs, and delete one."""

from __future__ import annotations

import contextlib
import logging
import uuid
from collections.abc import Callable, Iterator

import msgspec

from chalicelib.core.log.commits import Note
from chalicelib.core.models.accounts import (
    AFFILIATION,
    MEMBERSHIP,
    ORGANIZATION,
    PROJECT,
    Membership,
    Project,
    ProjectSpec,
)
from chalicelib.core.models.definitions import VERSION, Version
from chalicelib.core.permissions import LEVEL_OF, Level
from chalicelib.core.resource import now
from chalicelib.core.time.retry import CONFLICTS
from chalicelib.errors import BadInput, Conflict, Forbidden, LimnError, NotFound
from chalicelib.resources.projects import purging
from chalicelib.resources.versions import service as versions_service
from chalicelib.storage.dynamodb import ids, limits, records
from chalicelib.storage.dynamodb.transactions import Transaction

_logger = logging.getLogger("limn.projects")
_MEMBERS_AT_ONCE = 20
"""Memberships created with the project itself; each is three rows of a transaction's hundred."""


def create_project(spec: ProjectSpec, creator: int, default_level: str) -> Project:
    """Create a project with its first version, its creator's membership, and the organization's default memberships.

    The creator's membership, the version and the first twenty other memberships are created in one transaction.

    Raises:
        BadInput: the organization has a project of this name.
        Forbidden: the organization is being deleted.
    """
    project = Project(
        id=ids.reserve(PROJECT.name)[0],
        name=spec.name,
        summary=spec.summary or "",
        organization=spec.organization,
        enable_downloads=spec.enable_downloads is not False,
        bucket=spec.bucket,
        upload_bucket=spec.upload_bucket,
        backup_bucket=spec.backup_bucket,
        elemental_id=(spec.elemental_id or str(uuid.uuid4())).lower(),
        created=now(),
        created_by=creator,
    )
    others = _others(spec.organization, creator) if LEVEL_OF[default_level] > Level.NONE else []
    members = [(creator, "Full Control"), *((user, default_level) for user in others)]
    numbers = ids.reserve(MEMBERSHIP.name, len(members))
    memberships = [
        Membership(id=number, project=project.id, user=user, permission=level)  # type: ignore[arg-type]
        for number, (user, level) in zip(numbers, members, strict=True)
    ]
    _store(project, versions_service.baseline(project.id), memberships[:_MEMBERS_AT_ONCE])
    for membership in memberships[_MEMBERS_AT_ONCE:]:
        with _full_but_for_creator(membership, project):
            add_member(membership, creator)
    return project


@contextlib.contextmanager
def _full_but_for_creator(membership: Membership, project: Project) -> Iterator[None]:
    """Leave out a user of the organization who has as many memberships as there may be; raise it for the creator."""
    try:
        yield
    except limits.Full:
        if membership.user == project.created_by:
            raise
        _logger.warning("user %d has no room for project %d", membership.user, project.id)


def add_member(membership: Membership, user: int, taken: LimnError | None = None) -> None:
    """Store a membership. Raises `taken` where the user has one already."""
    change = Transaction()
    _add_member(change, membership, user, taken)
    change.run()


def _add_member(change: Transaction, membership: Membership, user: int, taken: LimnError | None = None) -> None:
    records.add(change, MEMBERSHIP, membership, taken=taken)
    data = {"user": membership.user, "permission": membership.permission}
    change.note(membership.project, user, Note(type="member.added", kind="membership", id=membership.id, data=data))


def _store(project: Project, first: Version, memberships: list[Membership]) -> None:
    """Store all records at once, unless the organization is being deleted."""
    for _ in CONFLICTS.attempts():
        change = Transaction()
        if records.guard(change, ORGANIZATION, project.organization).closing:
            raise Forbidden
        records.add(change, PROJECT, project, taken=name_taken())
        records.add(change, VERSION, first, user=project.created_by)
        for membership in memberships:
            with _full_but_for_creator(membership, project):
                _add_member(change, membership, project.created_by)
        try:
            change.run()
        except Conflict:
            continue
        return
    raise Conflict("The organization is being changed by too many at once; nothing was made.")


def delete_project(project: Project) -> None:
    """Mark a project as deleted, free its name, and remove all access to it; a purge removes its contents later.

    A crash before the mark leaves no effect. After a crash behind the mark, the purge finishes.

    Every access to a project requires a membership, so without memberships its contents cannot be read, even by id.
    """
    purging.order(project)

    def mark(current: Project) -> Project | None:
        return msgspec.structs.replace(current, deleted=now()) if current.deleted is None else None

    def let_go(change: Transaction, _before: Project, _after: Project) -> None:
        for membership in records.list_children(MEMBERSHIP, project.id)[:_MEMBERS_AT_ONCE]:
            records.drop(change, MEMBERSHIP, membership)

    _run_as_member(lambda: records.edit(PROJECT, project.id, mark, also=let_go))
    purging.let_go(project.id)


def _run_as_member(do: Callable[[], object]) -> None:
    """Run a function that raises NotFound if a membership is removed at the same time; repeat it then."""
    for _ in CONFLICTS.attempts():
        try:
            do()
        except NotFound:
            continue
        return
    raise Conflict("The members of the project are being changed by too many at once; nothing was changed.")


def name_taken() -> BadInput:
    """The error for a second project with a name."""
    return BadInput("name: the organization already has a project of this name.")


def _others(organization: int, creator: int) -> list[int]:
    users = (affiliation.user for affiliation in records.list_children(AFFILIATION, organization))
    return [user for user in dict.fromkeys(users) if user != creator]
