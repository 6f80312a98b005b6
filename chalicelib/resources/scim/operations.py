"""SCIM 2.0 for the identity provider of an organization: `/scim/v2/{organization}`.

Bearer is an access token of an administrator of the organization whose `operations` name the group `scim`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Annotated, Any

from msgspec import Meta, field

from chalicelib.core.models.accounts import Organization
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.errors import Forbidden, LimnError
from chalicelib.http.addresses import ORGANIZATION_ADDRESS
from chalicelib.http.operation import Answer, Call, NoQuery, Operations
from chalicelib.resources.scim import groups, protocol, users
from chalicelib.settings import settings
from chalicelib.storage.audit import chain

TAG = "scim"
Text = Annotated[str, Meta(max_length=1000)]
_ONE = replace(ORGANIZATION_ADDRESS, variables={"organization": int, "id": str})
_ROOT = "/scim/v2/{organization}"
PAGES = Operations(
    tag=TAG, needs=Permission.ADMIN, addresses=ORGANIZATION_ADDRESS, scoped=True, returns=protocol.CONTENT_TYPE
)


class ScimQuery(Resource, kw_only=True):
    """The parameters of lists, as RFC 7644 names them."""

    filter: Text | None = None
    start_index: Annotated[int, Meta(description="The first is 1.")] = field(default=1, name="startIndex")
    count: Annotated[int, Meta(description="At most 200.")] = 100
    attributes: Text | None = None
    excluded_attributes: Text | None = field(default=None, name="excludedAttributes")

    @property
    def has_members(self) -> bool:
        """Whether the answer includes the members of groups."""
        left_out = {protocol.canonical(each.strip()) for each in (self.excluded_attributes or "").split(",")}
        wanted = {protocol.canonical(each.strip()) for each in (self.attributes or "").split(",") if each.strip()}
        return "members" not in left_out and (not wanted or "members" in wanted)


def _scim(handler: Callable[[Any], Answer]) -> Callable[[Any], Answer]:
    """Require an access token for SCIM, and format errors as SCIM does."""

    @wraps(handler)
    def serve(call: Call[Organization, Any, Any]) -> Answer:
        held = call.caller.credential
        if held is None or held.kind != "access" or TAG not in held.operations:
            message = f"An access token of an administrator is needed whose `operations` name `{TAG}`."
            return protocol.encode_error(Forbidden(message))
        try:
            return handler(call)
        except LimnError as failure:
            if not (draft := chain.current()).is_written:
                draft.kind = None  # nothing was done that the audit log would tell of
            return protocol.encode_error(failure)

    return serve


def _page(call: Call[Organization, ScimQuery, None], found: list[dict[str, Any]]) -> Answer:
    return protocol.encode(protocol.page(found, call.query.start_index, call.query.count))


def _encode_created(shown: dict[str, Any]) -> Answer:
    return protocol.encode(shown, 201, Location=shown["meta"]["location"])


@PAGES.get(_ROOT + "/Users", "ListScimUsers")
@_scim
def list_users(call: Call[Organization, ScimQuery, None]) -> Answer:
    """List the users that were provisioned through SCIM."""
    return _page(call, users.list_documents(call.organization, call.query.filter))


@PAGES.post(_ROOT + "/Users", "CreateScimUser", audits="membership")
@_scim
def create_user(call: Call[Organization, NoQuery, bytes]) -> Answer:
    """Create a user, with an account and an affiliation."""
    return _encode_created(users.describe(users.create(call.caller, call.organization, protocol.read(call.body))))


@PAGES.get(_ROOT + "/Users/{id}", "GetScimUser", addresses=_ONE)
@_scim
def get_user(call: Call[Organization, ScimQuery, None]) -> Answer:
    """One user."""
    return protocol.encode(users.describe(users.find(call.organization, call.path["id"])))


@PAGES.put(_ROOT + "/Users/{id}", "ReplaceScimUser", addresses=_ONE, audits="membership")
@_scim
def replace_user(call: Call[Organization, NoQuery, bytes]) -> Answer:
    """Replace a user."""
    found = users.find(call.organization, call.path["id"])
    return protocol.encode(users.describe(users.replace(found, protocol.read(call.body))))


@PAGES.patch(_ROOT + "/Users/{id}", "UpdateScimUser", addresses=_ONE, audits="membership")
@_scim
def update_user(call: Call[Organization, NoQuery, bytes]) -> Answer:
    """Change attributes of a user."""
    found = users.find(call.organization, call.path["id"])
    after = protocol.apply_patch(users.describe(found), protocol.read(call.body))
    return protocol.encode(users.describe(users.replace(found, after)))


@PAGES.delete(_ROOT + "/Users/{id}", "DeleteScimUser", addresses=_ONE, audits="membership")
@_scim
def delete_user(call: Call[Organization, NoQuery, None]) -> Answer:
    """Delete a user: an account that SCIM made is deactivated, of another one the affiliation ends."""
    users.remove(users.find(call.organization, call.path["id"]))
    return protocol.encode(None, 204)


@PAGES.get(_ROOT + "/Groups", "ListScimGroups")
@_scim
def list_groups(call: Call[Organization, ScimQuery, None]) -> Answer:
    """List the groups of the organization."""
    query = call.query
    return _page(call, groups.list_documents(call.organization, query.filter, has_members=query.has_members))


@PAGES.post(_ROOT + "/Groups", "CreateScimGroup", audits="membership")
@_scim
def create_group(call: Call[Organization, NoQuery, bytes]) -> Answer:
    """Create a group."""
    return _encode_created(groups.describe(groups.create(call.organization, protocol.read(call.body))))


@PAGES.get(_ROOT + "/Groups/{id}", "GetScimGroup", addresses=_ONE)
@_scim
def get_group(call: Call[Organization, ScimQuery, None]) -> Answer:
    """One group."""
    found = groups.find(call.organization, call.path["id"])
    return protocol.encode(groups.describe(found, has_members=call.query.has_members))


@PAGES.put(_ROOT + "/Groups/{id}", "ReplaceScimGroup", addresses=_ONE, audits="membership")
@_scim
def replace_group(call: Call[Organization, NoQuery, bytes]) -> Answer:
    """Replace a group."""
    found = groups.find(call.organization, call.path["id"])
    return protocol.encode(groups.describe(groups.replace(found, protocol.read(call.body))))


@PAGES.patch(_ROOT + "/Groups/{id}", "UpdateScimGroup", addresses=_ONE, audits="membership")
@_scim
def update_group(call: Call[Organization, NoQuery, bytes]) -> Answer:
    """Change attributes of a group."""
    found = groups.find(call.organization, call.path["id"])
    after = protocol.apply_patch(groups.describe(found), protocol.read(call.body))
    return protocol.encode(groups.describe(groups.replace(found, after)))


@PAGES.delete(_ROOT + "/Groups/{id}", "DeleteScimGroup", addresses=_ONE, audits="membership")
@_scim
def delete_group(call: Call[Organization, NoQuery, None]) -> Answer:
    """Delete a group."""
    groups.remove(groups.find(call.organization, call.path["id"]))
    return protocol.encode(None, 204)


@PAGES.get(_ROOT + "/ServiceProviderConfig", "GetScimConfiguration")
@_scim
def get_configuration(_: Call[Organization, NoQuery, None]) -> Answer:
    """The parts of SCIM that the service supports."""
    no = {"supported": False}
    shown = {
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
        "patch": {"supported": True},
        "bulk": {**no, "maxOperations": 0, "maxPayloadSize": 0},
        "filter": {"supported": True, "maxResults": protocol.LARGEST_PAGE},
        "changePassword": no,
        "sort": no,
        "etag": no,
        "authenticationSchemes": [
            {"type": "oauthbearertoken", "name": "Access token", "description": "An access token for `scim`."}
        ],
    }
    return protocol.encode(shown)


@PAGES.get(_ROOT + "/ResourceTypes", "ListScimResourceTypes")
@_scim
def list_resource_types(call: Call[Organization, NoQuery, None]) -> Answer:
    """The types of resources: users and groups."""
    kinds = [_resource_type(call.organization, *each) for each in (("User", protocol.USER), ("Group", protocol.GROUP))]
    return protocol.encode(protocol.page(kinds, 1, len(kinds)))


@PAGES.get(_ROOT + "/Schemas", "ListScimSchemas")
@_scim
def list_schemas(_: Call[Organization, NoQuery, None]) -> Answer:
    """The attributes of users and groups."""
    return protocol.encode(protocol.page(SCHEMAS, 1, len(SCHEMAS)))


def _resource_type(organization: int, name: str, schema: str) -> dict[str, Any]:
    location = f"{settings().public_url}/scim/v2/{organization}/ResourceTypes/{name}"
    return {
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
        "id": name,
        "name": name,
        "endpoint": f"/{name}s",
        "schema": schema,
        "meta": {"resourceType": "ResourceType", "location": location},
    }


def _attribute(name: str, kind: str = "string", *inner: dict[str, Any], **more: Any) -> dict[str, Any]:
    shown = {"name": name, "type": kind, "multiValued": False, "required": False, "caseExact": False}
    shown |= {"mutability": "readWrite", "returned": "default", "uniqueness": "none", **more}
    return shown | ({"subAttributes": list(inner)} if inner else {})


def _schema(uri: str, name: str, *attributes: dict[str, Any]) -> dict[str, Any]:
    schemas = ["urn:ietf:params:scim:schemas:core:2.0:Schema"]
    return {"schemas": schemas, "id": uri, "name": name, "attributes": list(attributes)}


SCHEMAS = [
    _schema(
        protocol.USER,
        "User",
        _attribute("userName", required=True, uniqueness="server"),
        _attribute("externalId", caseExact=True),
        _attribute("name", "complex", _attribute("givenName"), _attribute("familyName"), _attribute("formatted")),
        _attribute("displayName", mutability="readOnly"),
        _attribute(
            "emails", "complex", _attribute("value"), _attribute("type"), _attribute("primary", "boolean"),
            multiValued=True,
        ),
        _attribute("active", "boolean"),
    ),
    _schema(
        protocol.GROUP,
        "Group",
        _attribute("displayName", required=True, uniqueness="server"),
        _attribute("externalId", caseExact=True),
        _attribute("members", "complex", _attribute("value"), _attribute("display"), multiValued=True),
    ),
]  # fmt: skip
"""The attributes that are stored; others are ignored."""
