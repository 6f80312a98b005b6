"""Groups of an organization by SCIM."""

from __future__ import annotations

from typing import Any

import msgspec

from chalicelib.access import users
from chalicelib.access.groups import GROUP, Group
from chalicelib.core.text.numbers import natural
from chalicelib.errors import NotFound
from chalicelib.resources.scim import protocol
from chalicelib.resources.scim.protocol import Invalid, Taken
from chalicelib.settings import settings
from chalicelib.storage.audit.concern import concern
from chalicelib.storage.dynamodb import ids, records


def find(organization: int, number: str) -> Group:
    """A group of an organization by its id. Raises NotFound."""
    found = records.maybe(GROUP, natural(number) or 0)
    if found is None or found.organization != organization:
        raise NotFound.of("Group", number)
    return found


def list_documents(organization: int, filter_: str | None, *, has_members: bool) -> list[dict[str, Any]]:
    """The groups of an organization, by id, or those that a filter selects."""
    found = sorted(records.list_children(GROUP, organization), key=lambda each: each.id)
    if filter_:
        name, value = protocol.read_filter(filter_)
        if name not in ("displayName", "externalId", "id"):
            raise Invalid("invalidFilter", "filter: displayName, externalId and id may be compared.")
        word = value.casefold() if name == "displayName" else value
        found = [each for each in found if word == _word(each, name)]
    return [describe(each, has_members=has_members) for each in found]


def _word(group: Group, name: str) -> str | None:
    """What a filter compares."""
    return {"displayName": group.name.casefold(), "externalId": group.external_id, "id": str(group.id)}[name]


def describe(group: Group, *, has_members: bool = True) -> dict[str, Any]:
    """A group as a document of SCIM."""
    shown: dict[str, Any] = {
        "schemas": [protocol.GROUP],
        "id": str(group.id),
        "displayName": group.name,
        "meta": {
            "resourceType": "Group",
            "location": f"{settings().public_url}/scim/v2/{group.organization}/Groups/{group.id}",
        },
    }
    if has_members:
        names = users.by_id(group.members)
        shown["members"] = [
            {"value": str(each), "display": names[each].display_name} for each in group.members if each in names
        ]
    return shown | ({"externalId": group.external_id} if group.external_id else {})


def create(organization: int, document: dict[str, Any]) -> Group:
    """Make a group. Raises Taken: the organization has one of this name; Invalid: a member breaks a rule."""
    made = Group(id=ids.reserve(GROUP.name)[0], organization=organization, **_read(organization, document, None))
    concern(target=f"group {made.id}")
    return records.create(GROUP, made)


def replace(group: Group, document: dict[str, Any]) -> Group:
    """Replace the attributes of a group with those of a document. Raises as `create`."""
    members = _read(group.organization, document, group)
    return records.edit(GROUP, group.id, lambda current: msgspec.structs.replace(current, **members))


def remove(group: Group) -> None:
    """Delete a group."""
    records.remove(GROUP, group.id)


def _read(organization: int, document: dict[str, Any], held: Group | None) -> dict[str, Any]:
    name = protocol.read_text(document, "displayName", 200)
    if name is None:
        raise Invalid("invalidValue", "displayName: it is needed.")
    for each in records.list_children(GROUP, organization):
        if each.name.casefold() == name.casefold() and (held is None or each.id != held.id):
            raise Taken(f"displayName: the organization has a group {name!r}.")
    given = document.get("members") or []
    if not isinstance(given, list):
        raise Invalid("invalidValue", "members: a list of objects with a value is needed.")
    numbers = dict.fromkeys(natural(str(each.get("value"))) or 0 if isinstance(each, dict) else 0 for each in given)
    try:
        users.check_known([each for each in numbers if held is None or each not in held.members], organization)
    except NotFound:
        raise Invalid("invalidValue", "members: one of them is no user of the organization.") from None
    return {"name": name, "external_id": protocol.read_text(document, "externalId"), "members": list(numbers)}
