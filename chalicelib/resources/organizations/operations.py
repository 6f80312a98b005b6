"""Organizations."""

from __future__ import annotations

import uuid
from typing import Annotated

import msgspec
from msgspec import Meta

from chalicelib.access import authentication
from chalicelib.access.authentication import Caller
from chalicelib.core.keys import object_keys
from chalicelib.core.models.accounts import AFFILIATION, ORGANIZATION, Affiliation, Organization
from chalicelib.core.permissions import Level, Permission
from chalicelib.core.resource import Resource, given
from chalicelib.core.responses import CreateResponse, MessageResponse
from chalicelib.errors import BadInput, Forbidden, Taken
from chalicelib.http.addresses import ORGANIZATION_ADDRESS, ORGANIZATION_BY_ID
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.organizations import service as organizations_service
from chalicelib.resources.organizations.schemas import OrganizationSpec, OrganizationUpdate
from chalicelib.resources.uploads import service as uploads_service
from chalicelib.resources.uploads import thumbs
from chalicelib.resources.uploads.operations import DAY, MOST_PARTS, WEEK, UploadInfo
from chalicelib.settings import settings
from chalicelib.storage import outbound
from chalicelib.storage.audit.concern import concern
from chalicelib.storage.dynamodb import ids, records

OPERATIONS = Operations(tag="Organizations", audits="policy")


class OrganizationUploadQuery(Resource, kw_only=True):
    """The parts and the lifetime of an upload of an organization."""

    expiration: Annotated[int, Meta(ge=1, le=WEEK, description="Seconds that the URLs are good for.")] = DAY
    num_parts: Annotated[int, Meta(ge=1, le=MOST_PARTS, description="Parts of the upload.")] = 1


@OPERATIONS.get("/rest/Organizations", "GetOrganizationList", needs=Permission.SIGNED_IN)
def list_organizations(call: Call[None, NoQuery, None]) -> list[Organization]:
    """The organizations the caller belongs to, by name."""
    found = sorted(_organizations_of(call.caller), key=lambda organization: organization.name.casefold())
    return thumbs.show_organizations(call.caller.id, found)


@OPERATIONS.post("/rest/Organizations", "CreateOrganization", needs=Permission.SIGNED_IN)
def create_organization(call: Call[None, NoQuery, OrganizationSpec]) -> CreateResponse:
    """Make an organization, with the caller as its administrator.

    For staff, or for anyone where the deployment allows it.
    """
    if not call.caller.is_staff and not settings().anyone_may_create_organizations:
        raise Forbidden
    if call.body.thumb is not None:
        raise BadInput("thumb: a new organization has no uploads yet; set its picture by a PATCH.")
    _refuse_same_name(call.caller, call.body.name)
    organization = Organization(
        id=ids.reserve(ORGANIZATION.name)[0],
        name=call.body.name,
        default_membership_permission=call.body.default_membership_permission or "No Access",
        allowed_origins=_origins(call.body.allowed_origins or []),
        access_token_days=call.body.access_token_days,
        usage_limits=call.body.usage_limits,
        created_by=call.caller.id,
    )
    admin = Affiliation(
        id=ids.reserve(AFFILIATION.name)[0],
        organization=organization.id,
        user=call.caller.id,
        permission="Admin",
        added_by=0,
    )
    concern(organization=organization.id)
    records.create(
        ORGANIZATION, organization, taken=_name_taken(), also=lambda change: records.add(change, AFFILIATION, admin)
    )
    return CreateResponse(message=f"Organization {organization.name} created!", id=organization.id)


@OPERATIONS.get("/rest/Organization/{id}", "GetOrganization", needs=Permission.MEMBER, addresses=ORGANIZATION_BY_ID)
def get_organization(call: Call[Organization, NoQuery, None]) -> Organization:
    """One organization, with the caller's place in it."""
    return thumbs.show_organizations(call.caller.id, [_seen(call.target, call.level)])[0]


@OPERATIONS.patch("/rest/Organization/{id}", "UpdateOrganization", needs=Permission.ADMIN, addresses=ORGANIZATION_BY_ID)
def update_organization(call: Call[Organization, NoQuery, OrganizationUpdate]) -> MessageResponse:
    """Change an organization."""
    change = given(call.body)
    if not change:
        names = ", ".join(OrganizationUpdate.__struct_fields__)
        raise BadInput(f"Nothing to change: give one of {names}.")
    if "allowed_origins" in change:
        change["allowed_origins"] = _origins(change["allowed_origins"])
    if call.body.name and call.body.name.casefold() != call.target.name.casefold():
        _refuse_same_name(call.caller, call.body.name)
    if change.get("thumb") is not None:
        thumbs.check_organization(call.target, change["thumb"])
    if "usage_limits" in change:
        change["usage_warned"] = {}
    records.edit(
        ORGANIZATION, call.target.id, lambda current: msgspec.structs.replace(current, **change), taken=_name_taken()
    )
    if "thumb" in change:
        thumbs.remove_replaced_organization(call.target, change["thumb"])
    return MessageResponse(message=f"Organization {call.target.id} updated successfully!")


@OPERATIONS.delete(
    "/rest/Organization/{id}",
    "DeleteOrganization",
    needs=Permission.ADMIN,
    addresses=ORGANIZATION_BY_ID,
    audits="deletion",
)
def delete_organization(call: Call[Organization, NoQuery, None]) -> MessageResponse:
    """Delete an organization that owns no projects any more, with all that belongs to it."""
    organizations_service.delete_organization(call.target, call.caller.id)
    return MessageResponse(message=f"Organization {call.target.id} deleted successfully!")


@OPERATIONS.get(
    "/rest/OrganizationUploadInfo/{organization}",
    "GetOrganizationUploadInfo",
    needs=Permission.MEMBER,
    addresses=ORGANIZATION_ADDRESS,
    lends_writing=True,
)
def get_upload_info(call: Call[Organization, OrganizationUploadQuery, None]) -> UploadInfo:
    """Where to upload a file of an organization, such as its picture: a key and a URL for each part.

    With several parts, finish with CompleteUpload in any project of the organization.
    """
    key = object_keys.organization_key(call.organization, str(uuid.uuid4()))
    upload, urls = uploads_service.begin(key, call.query.num_parts, call.query.expiration)
    return UploadInfo(urls=urls, key=key.path, upload_id=upload)


def _origins(given: list[str]) -> list[str]:
    """Origins as they are stored, each once. Raises BadInput for one that is not https at a public address."""
    found = []
    for index, text in enumerate(given):
        member = f"allowed_origins[{index}]"
        address = outbound.check_registered(text, member)
        if address.scheme != "https" or address.target != "/":
            raise BadInput(f"{member}: {text[:200]!r} is not an origin such as https://media.example.org.")
        found.append(address.origin.removesuffix(":443"))
    return list(dict.fromkeys(found))


def _organizations_of(caller: Caller) -> list[Organization]:
    found = authentication.organizations_of(caller)
    return [_seen(records.get(ORGANIZATION, number), level) for number, level in found.items()]


def _seen(organization: Organization, level: Level) -> Organization:
    return msgspec.structs.replace(organization, permission="Admin" if level >= Level.FULL else "Member")


def _refuse_same_name(caller: Caller, name: str) -> None:
    if any(organization.name.casefold() == name.casefold() for organization in _organizations_of(caller)):
        raise _name_taken()


def _name_taken() -> BadInput:
    return Taken("name: you already belong to an organization of this name.")
