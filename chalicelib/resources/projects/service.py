"""Create a project with all records that it needs, and delete one."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Sequence

import msgspec

from chalicelib.core.batches import batched
from chalicelib.core.log.commits import Note
from chalicelib.core.models.accounts import AFFILIATION, MEMBERSHIP, ORGANIZATION, PROJECT, Membership, Project
from chalicelib.core.models.definitions import VERSION, Version
from chalicelib.core.permissions import LEVEL_OF, Level
from chalicelib.core.resource import now
from chalicelib.core.time.retry import CONFLICTS
from chalicelib.errors import BadInput, Conflict, Forbidden, LimnError, NotFound, Taken
from chalicelib.resources.projects import purging
from chalicelib.resources.projects.schemas import ProjectSpec
from chalicelib.resources.versions import service as versions_service
from chalicelib.storage.dynamodb import ids, records
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.view import views

_MEMBERS_WITH_PROJECT = 20
"""Memberships created with the project itself; each is three rows of a transaction's hundred."""
_MEMBERS_PER_TRANSACTION = 30
"""The same of a transaction that creates memberships only."""


def create_project(spec: ProjectSpec, creator: int, default_level: str) -> Project:
    """Create a project with its first version, its creator's membership, and the organization's default memberships.

    The creator's membership, the version and the first twenty memberships are created in one transaction, the others
    by thirties.

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
        usage_limits=spec.usage_limits,
        public=spec.public,
        public_downloads=bool(spec.public_downloads),
        elemental_id=(spec.elemental_id or str(uuid.uuid4())).lower(),
        created=now(),
        created_by=creator,
    )
    others = _others(spec.organization, creator) if LEVEL_OF[default_level] > Level.NONE else []
    members = [(creator, "Full Control"), *((user, default_level) for user in others)]
    numbers = ids.reserve(MEMBERSHIP.name, len(members))
    memberships = [
        Membership(
            id=number,
            project=project.id,
            user=user,
            permission=level,  # type: ignore[arg-type]
            added_by=0 if user == creator else creator,
        )
        for number, (user, level) in zip(numbers, members, strict=True)
    ]
    _store(project, versions_service.baseline(project.id), memberships[:_MEMBERS_WITH_PROJECT])
    for some in batched(memberships[_MEMBERS_WITH_PROJECT:], _MEMBERS_PER_TRANSACTION):
        _add_members(some, creator)
    return project


def _add_members(some: Sequence[Membership], creator: int) -> None:
    """Store further memberships of a new project; without effect for users who were made members meanwhile."""
    try:
        change = Transaction()
        for membership in some:
            _add_member(change, membership, creator, is_owed=True)
        change.run()
    except Conflict:
        for membership in some:
            with contextlib.suppress(Conflict):
                add_member(membership, creator, is_owed=True)


def add_member(membership: Membership, user: int, taken: LimnError | None = None, *, is_owed: bool = False) -> None:
    """Store a membership, `is_owed` as in `records.add`. Raises `taken` where the user has one already."""
    change = Transaction()
    _add_member(change, membership, user, taken, is_owed=is_owed)
    change.run()


def _add_member(
    change: Transaction, membership: Membership, user: int, taken: LimnError | None = None, *, is_owed: bool = False
) -> None:
    records.add(change, MEMBERSHIP, membership, taken=taken, is_owed=is_owed)
    data = {"user": membership.user, "permission": membership.permission}
    change.add_note(membership.project, user, Note(type="member.added", kind="membership", id=membership.id, data=data))


def _store(project: Project, first: Version, memberships: list[Membership]) -> None:
    """Store all records at once, unless the organization is being deleted."""
    for _ in CONFLICTS.attempts():
        change = Transaction()
        if records.guard(change, ORGANIZATION, project.organization).closing:
            raise Forbidden
        records.add(change, PROJECT, project, taken=name_taken())
        records.add(change, VERSION, first, user=project.created_by)
        for membership in memberships:
            is_owed = membership.user != project.created_by  # to count them for each user takes half a minute
            _add_member(change, membership, project.created_by, is_owed=is_owed)
        try:
            change.run()
        except Conflict:
            continue
        return
    raise Conflict("The organization has too many concurrent updates; nothing was made. Retry.")


def delete_project(project: Project) -> None:
    """Mark a project as deleted, free its name, and remove all access to it; a purge removes its contents later.

    A crash before the mark leaves no effect. After a crash behind the mark, the purge finishes.

    Every access to a project requires a membership, so without memberships its contents cannot be read, even by id.
    """
    purging.order(project)

    def mark(current: Project) -> Project | None:
        return msgspec.structs.replace(current, deleted=now()) if current.deleted is None else None

    def let_go(change: Transaction, _before: Project, _after: Project) -> None:
        for membership in records.list_children(MEMBERSHIP, project.id)[:_MEMBERS_WITH_PROJECT]:
            records.drop(change, MEMBERSHIP, membership)

    _run_as_member(lambda: records.edit(PROJECT, project.id, mark, also=let_go))
    purging.let_go(project.id)
    views.drop(project.id)


def _run_as_member(do: Callable[[], object]) -> None:
    """Run a function that raises NotFound if a membership is removed at the same time; repeat it then."""
    for _ in CONFLICTS.attempts():
        try:
            do()
        except NotFound:
            continue
        return
    raise Conflict("The members of the project have too many concurrent updates; nothing was changed. Retry.")


def name_taken() -> BadInput:
    """The error for a second project with a name."""
    return Taken("name: the organization already has a project of this name.")


def _others(organization: int, creator: int) -> list[int]:
    users = (affiliation.user for affiliation in records.list_children(AFFILIATION, organization))
    return [user for user in dict.fromkeys(users) if user != creator]
