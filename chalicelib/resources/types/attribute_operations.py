"""Attribute types: the definitions of user-defined attributes.

`{id}` is the id of a type, or of a project for the attributes of its sections. The body names the kind, so the address
reads both.
"""

from __future__ import annotations

from typing import Any

from chalicelib.core.permissions import Permission
from chalicelib.core.responses import MessageResponse
from chalicelib.http.addresses import by_body
from chalicelib.http.operation import Call, Located, NoQuery, Operations
from chalicelib.resources.types import attributes as types_attributes
from chalicelib.resources.types.attribute_schemas import AttributeTypeDelete, AttributeTypeSpec, AttributeTypeUpdate
from chalicelib.resources.types.attributes import Home

OPERATIONS = Operations(tag="Types")
PATH = "/rest/AttributeType/{id}"


def _locate(path: dict[str, Any], body: Any) -> Located[Home]:
    home = types_attributes.home_of(body.entity_type, path["id"])
    return Located(target=home, project=home.project)


ADDRESS = by_body("type", _locate)


@OPERATIONS.post(PATH, "CreateAttributeType", needs=Permission.FULL, addresses=ADDRESS)
def create_attribute_type(call: Call[Home, NoQuery, AttributeTypeSpec]) -> MessageResponse:
    """Add an attribute to a type.

    Where it has a default, that becomes the value of everything of the type.
    """
    types_attributes.add(call.target, call.body.addition, call.caller.id)
    return MessageResponse(message=f"New attribute type '{call.body.addition.name}' added")


@OPERATIONS.patch(PATH, "UpdateAttributeType", needs=Permission.FULL, addresses=ADDRESS)
def update_attribute_type(call: Call[Home, NoQuery, AttributeTypeUpdate]) -> MessageResponse:
    """Rename or change an attribute of a type.

    Values go along: under the new name, and from int to float and back. No other dtypes but enum and string become each
    other. The removal of a choice that entities have, bounds that their values break, and `required` where they have
    none are refused with their number, unless `force` is true.
    """
    return _change(call, whole=False)


@OPERATIONS.put(PATH, "ReplaceAttributeType", needs=Permission.FULL, addresses=ADDRESS)
def replace_attribute_type(call: Call[Home, NoQuery, AttributeTypeUpdate]) -> MessageResponse:
    """Replace the definition of an attribute of a type.

    As a change, but members that are not given disappear.
    """
    return _change(call, whole=True)


@OPERATIONS.delete(PATH, "DeleteAttributeType", needs=Permission.FULL, addresses=ADDRESS)
def delete_attribute_type(call: Call[Home, NoQuery, AttributeTypeDelete]) -> MessageResponse:
    """Remove an attribute from a type, with all its values."""
    types_attributes.remove(call.target, call.body.name, call.caller.id)
    return MessageResponse(message=f"Attribute '{call.body.name}' deleted")


def _change(call: Call[Home, NoQuery, AttributeTypeUpdate], *, whole: bool) -> MessageResponse:
    body = call.body
    said = types_attributes.change(
        call.target,
        body.current_name,
        body.attribute_type_update,
        call.caller.id,
        whole=whole,
        everywhere=body.everywhere in (True, "true"),
        force=body.force,
    )
    return MessageResponse(message=said)
