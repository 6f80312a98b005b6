"""Attribute types: the definitions of user-defined attributes (`spec/3` §10).

`{id}` is the id of a type, or of a project where the attributes are those of its sections. What it is stands in the
body, so the handlers find it, and check that the caller has full control there, by themselves.
"""

from __future__ import annotations

from typing import Any

from chalicelib.domain.attribute_specs import AttributeTypeDelete, AttributeTypeSpec, AttributeTypeUpdate
from chalicelib.domain.permissions import Level, Permission
from chalicelib.domain.responses import MessageResponse
from chalicelib.errors import Forbidden, NotFound
from chalicelib.operations.addresses import plain
from chalicelib.operations.operation import Call, NoQuery, Operation
from chalicelib.services import access, attribute_types
from chalicelib.services.attribute_types import Home

TAG = "Types"
PATH = "/rest/AttributeType/{id}"
ADDRESS = plain(lambda path: path["id"], id=int)
_NEEDS = "Needs full control of the project."


def create_attribute_type(call: Call[int, NoQuery, AttributeTypeSpec]) -> MessageResponse:
    """Add an attribute; its default becomes the value of everything there is."""
    home = _home(call, call.body.entity_type)
    attribute_types.add(home, call.body.addition, call.caller.id)
    return MessageResponse(message=f"New attribute type '{call.body.addition.name}' added")


def update_attribute_type(call: Call[int, NoQuery, AttributeTypeUpdate]) -> MessageResponse:
    """Change the members given."""
    return _change(call, whole=False)


def replace_attribute_type(call: Call[int, NoQuery, AttributeTypeUpdate]) -> MessageResponse:
    """Make the definition what the body says; members it lacks disappear."""
    return _change(call, whole=True)


def delete_attribute_type(call: Call[int, NoQuery, AttributeTypeDelete]) -> MessageResponse:
    """Remove an attribute with all its values."""
    attribute_types.remove(_home(call, call.body.entity_type), call.body.name, call.caller.id)
    return MessageResponse(message=f"Attribute '{call.body.name}' deleted")


def _change(call: Call[int, NoQuery, AttributeTypeUpdate], *, whole: bool) -> MessageResponse:
    body = call.body
    said = attribute_types.change(
        _home(call, body.entity_type),
        body.current_name,
        body.attribute_type_update,
        call.caller.id,
        whole=whole,
        everywhere=body.everywhere in (True, "true"),
    )
    return MessageResponse(message=said)


def _home(call: Call[int, NoQuery, Any], what: str) -> Home:
    """What the path addresses, if the caller has full control there. Raises NotFound or Forbidden."""
    home = attribute_types.home_of(what, call.target)
    level = access.project_level(call.caller, home.project)
    if level is Level.NONE:
        raise NotFound.of("Project" if what == "Section" else what, call.target)
    if level < Level.FULL:
        raise Forbidden
    return home


OPERATIONS = (
    Operation(
        id="CreateAttributeType",
        method="POST",
        path=PATH,
        summary="Add an attribute to a type.",
        details=f"Where it has a default, that becomes the value of everything of the type. {_NEEDS}",
        needs=Permission.SIGNED_IN,
        addresses=ADDRESS,
        body=AttributeTypeSpec,
        returns=MessageResponse,
        handler=create_attribute_type,
        tag=TAG,
    ),
    Operation(
        id="UpdateAttributeType",
        method="PATCH",
        path=PATH,
        summary="Rename or change an attribute of a type.",
        details="Values go along: under the new name, and from int to float and back. No other dtypes but enum and "
        f"string become each other. {_NEEDS}",
        needs=Permission.SIGNED_IN,
        addresses=ADDRESS,
        body=AttributeTypeUpdate,
        returns=MessageResponse,
        handler=update_attribute_type,
        tag=TAG,
    ),
    Operation(
        id="ReplaceAttributeType",
        method="PUT",
        path=PATH,
        summary="Replace the definition of an attribute of a type.",
        details=f"As a change, but members that are not given disappear. {_NEEDS}",
        needs=Permission.SIGNED_IN,
        addresses=ADDRESS,
        body=AttributeTypeUpdate,
        returns=MessageResponse,
        handler=replace_attribute_type,
        tag=TAG,
    ),
    Operation(
        id="DeleteAttributeType",
        method="DELETE",
        path=PATH,
        summary="Remove an attribute from a type, with all its values.",
        details=_NEEDS,
        needs=Permission.SIGNED_IN,
        addresses=ADDRESS,
        body=AttributeTypeDelete,
        returns=MessageResponse,
        handler=delete_attribute_type,
        tag=TAG,
    ),
)
