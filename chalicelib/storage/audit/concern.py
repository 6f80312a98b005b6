"""Whom the entry of a request in the audit log concerns, where its path does not tell."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from chalicelib.core.log.audit import AuditKind
from chalicelib.core.models.accounts import AFFILIATION, PROJECT
from chalicelib.core.models.credentials import Credential
from chalicelib.storage.audit import chain
from chalicelib.storage.dynamodb import record_rows, records

ID_DIGITS = 16
"""Digits of the hash of a token that make its id, as its list shows it."""


def concern(
    *,
    organization: int | None = None,
    project: int | None = None,
    affiliated: int | None = None,
    kind: AuditKind | None = None,
    **members: Any,
) -> None:
    """Record in this request's entry what it concerns.

    Args:
        organization: it is in the log of this organization.
        project: or in that of the organization of this project.
        affiliated: or in those of all organizations with which this user is affiliated.
        kind: what it is about, where the operation does not declare that it is audited.
        members: of the entry.
    """
    draft = chain.current()
    draft.kind = kind or draft.kind
    if draft.kind is None:
        return
    draft.members |= members
    if project:
        draft.members["project"] = project
    if organization:
        draft.organizations = (organization,)
    elif project:
        draft.organizations = organization_of(project)
    elif affiliated:
        draft.organizations = organizations_of(affiliated)


def organization_of(project: int) -> tuple[int, ...]:
    """The organization of a project, which never changes; none where there is no such project."""
    found = _organization_of(project)
    if not found:
        _organization_of.cache_clear()
    return (found,) if found else ()


@lru_cache(10_000)
def _organization_of(project: int) -> int:
    found = records.maybe(PROJECT, project)
    return found.organization if found else 0


def organizations_of(user: int) -> tuple[int, ...]:
    """The organizations with which a user is affiliated."""
    links = record_rows.rows_beneath(record_rows.begin_of_links(AFFILIATION, "user", user))
    return tuple(sorted({int(row.home_pk.partition("#")[2]) for row in links}))[:_MAX_ORGANIZATIONS]


_MAX_ORGANIZATIONS = 20
"""The most organizations that get an entry about a person, which a transaction holds beside its own rows."""


def name_of(credential: Credential | None) -> str | None:
    """How an entry names a credential; the name cannot be used as one."""
    if credential is None:
        return None
    if credential.kind == "session":
        return f"session {credential.id.partition('#')[2][:ID_DIGITS]}"
    return f"{credential.kind} {credential.holder}"
