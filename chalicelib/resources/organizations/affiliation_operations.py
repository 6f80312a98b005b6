"""Affiliations: the users of an organization."""

from __future__ import annotations

from chalicelib.access import users
from chalicelib.core.models.accounts import AFFILIATION, USER, Affiliation, Organization
from chalicelib.core.permissions import Permission
from chalicelib.errors import NotFound
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call, NoQuery
from chalicelib.resources.email import notifications
from chalicelib.resources.organizations.schemas import AffiliationSpec, AffiliationUpdate
from chalicelib.storage.dynamodb import ids, records


def list_affiliations(call: Call[Organization, NoQuery, None]) -> list[Affiliation]:
    """The users of the organization, by last name, or user name where that is empty."""
    named = users.with_user_names(records.list_children(AFFILIATION, call.organization))
    return sorted(named, key=lambda item: (item.last_name or item.username or "").casefold())


def make_affiliation(call: Call[Organization, NoQuery, AffiliationSpec]) -> Affiliation:
    """Add a user to the organization; one user may have several affiliations, and the first counts."""
    user = users.look_up(call.caller, lambda: records.maybe(USER, call.body.user), call.organization)
    if user is None:
        raise NotFound.of("User", call.body.user)
    affiliation = Affiliation(
        id=ids.reserve(AFFILIATION.name)[0],
        organization=call.organization,
        user=user.id,
        permission=call.body.permission,
        added_by=0 if call.caller.is_staff else call.caller.id,
    )
    records.create(AFFILIATION, affiliation)
    notifications.notify_of_affiliation(affiliation, by=call.caller.id)
    return affiliation


OPERATIONS = record_operations(
    RecordResource(
        kind=AFFILIATION,
        tag="Organizations",
        audits="membership",
        read=Permission.MEMBER,
        write=Permission.ADMIN,
        spec=AffiliationSpec,
        update=AffiliationUpdate,
        find=list_affiliations,
        store=make_affiliation,
        show=lambda affiliation: (
            users.with_user_names([affiliation])[0] if affiliation.username is None else affiliation
        ),
    )
)
