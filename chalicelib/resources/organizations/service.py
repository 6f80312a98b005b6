"""Taking an organization away, with all that is its own."""

from __future__ import annotations

from typing import Any

import msgspec

from chalicelib.access.groups import GROUP
from chalicelib.access.identities.providers import IDENTITY_PROVIDER
from chalicelib.access.identities.scim_users import SCIM_USER
from chalicelib.access.row_protections import ROW_PROTECTION, organization_scope
from chalicelib.core.models.accounts import AFFILIATION, ORGANIZATION, PROJECT, Organization
from chalicelib.core.models.integrations import BUCKET, HOSTED_TEMPLATE, JOB_CLUSTER
from chalicelib.core.models.personal import ERASURE
from chalicelib.core.records import RecordKind
from chalicelib.errors import BadInput
from chalicelib.resources.accounts.invitations import INVITATION
from chalicelib.resources.uploads import thumbs
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.transactions import Transaction

ORGANIZATION_KINDS: tuple[RecordKind[Any], ...] = (
    INVITATION,
    GROUP,
    BUCKET,
    JOB_CLUSTER,
    HOSTED_TEMPLATE,
    IDENTITY_PROVIDER,
    SCIM_USER,
)
"""What lies under an organization beside affiliations; a test holds that none is missing."""


def delete_organization(organization: Organization, user: int) -> None:
    """Remove an organization that owns no projects any more.

    It is marked before its projects are counted, and the mark keeps new ones out. What it owns goes first, then its
    members, the caller and the organization itself together at the end: a call that was stopped half-way may be
    repeated.

    Raises:
        BadInput: it still owns projects; nothing was changed.
    """
    number = organization.id
    records.edit(ORGANIZATION, number, lambda current: msgspec.structs.replace(current, closing=True))
    projects = [project for project in records.list_linked(PROJECT, "organization", number) if not project.deleted]
    if projects:
        records.edit(ORGANIZATION, number, lambda current: msgspec.structs.replace(current, closing=False))
        raise BadInput(f"Organization {number} still owns {len(projects)} projects: delete those first.")
    for kind in ORGANIZATION_KINDS:
        for record in records.list_children(kind, number):
            records.discard(kind, kind.id_of(record))
    for row in records.list_children(ROW_PROTECTION, organization_scope(number)):
        records.discard(ROW_PROTECTION, row.id)
    for erasure in records.list_linked(ERASURE, "organization", number):
        records.discard(ERASURE, erasure.id)
    thumbs.remove_replaced_organization(organization, None)
    own = []
    for affiliation in records.list_children(AFFILIATION, number):
        if affiliation.user == user:
            own.append(affiliation)
        else:
            records.discard(AFFILIATION, affiliation.id)
    change = Transaction()
    records.drop(change, ORGANIZATION, records.get(ORGANIZATION, number))
    for affiliation in own:
        records.drop(change, AFFILIATION, affiliation)
    change.run()
