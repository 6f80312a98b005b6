"""Users by SCIM: those that an organization's provider made, and members whom it took over (docs/decisions/204)."""

from __future__ import annotations

import uuid
from typing import Any

import msgspec

from chalicelib.access import rate_limits, users
from chalicelib.access.authentication import Caller
from chalicelib.access.identities.scim_users import SCIM_USER, ScimUser
from chalicelib.core.models.accounts import AFFILIATION, MEMBERSHIP, PROJECT, USER, Affiliation, User
from chalicelib.core.records import padded
from chalicelib.core.resource import now
from chalicelib.core.text.numbers import natural
from chalicelib.errors import BadInput, NotFound
from chalicelib.resources.accounts import administration, creation
from chalicelib.resources.scim import protocol
from chalicelib.resources.scim.protocol import Invalid, Taken
from chalicelib.settings import settings
from chalicelib.storage.audit.concern import concern
from chalicelib.storage.dynamodb import ids, records
from chalicelib.storage.dynamodb.transactions import Transaction

_ATTEMPTS = 5
_LONGEST_NAME = 150


class UserDocument(msgspec.Struct, kw_only=True):
    """A user as a document of SCIM describes it."""

    user_name: str
    external_id: str | None
    first_name: str
    last_name: str
    email: str
    active: bool


def find(organization: int, number: str) -> ScimUser:
    """A user of an organization by its id. Raises NotFound."""
    found = records.get_claimed(SCIM_USER, "user", f"{organization}|{natural(number) or 0}")
    if found is None:
        raise NotFound.of("User", number)
    return found


def list_documents(organization: int, filter_: str | None) -> list[dict[str, Any]]:
    """The users of an organization that SCIM manages, by id, or those that a filter selects."""
    if filter_:
        name, value = protocol.read_filter(filter_)
        found = _select(organization, name, value)
    else:
        found = records.list_children(SCIM_USER, organization)
    known = users.by_id(each.user for each in found)
    shown = sorted((each for each in found if each.user in known), key=lambda each: each.user)
    return [describe(each, known[each.user]) for each in shown]


def _select(organization: int, name: str, value: str) -> list[ScimUser]:
    claims = {"userName": ("user_name", value.casefold()), "externalId": ("external_id", value), "id": ("user", value)}
    if name in claims:
        claim, word = claims[name]
        one = records.get_claimed(SCIM_USER, claim, f"{organization}|{word}")
        return [one] if one else []
    if name in ("emails", "emails.value"):
        numbers = {user.id for user in users.with_address(value)}
        return [each for each in records.list_children(SCIM_USER, organization) if each.user in numbers]
    raise Invalid("invalidFilter", "filter: userName, externalId, id and emails.value may be compared.")


def describe(found: ScimUser, user: User | None = None) -> dict[str, Any]:
    """A user as a document of SCIM."""
    user = user or records.get(USER, found.user)
    shown: dict[str, Any] = {
        "schemas": [protocol.USER],
        "id": str(user.id),
        "userName": found.user_name,
        "name": {"givenName": user.first_name, "familyName": user.last_name, "formatted": user.display_name},
        "displayName": user.display_name,
        "emails": [{"value": user.email, "type": "work", "primary": True}] if user.email else [],
        "active": found.active,
        "meta": {
            "resourceType": "User",
            "created": found.created_datetime,
            "lastModified": found.modified_datetime,
            "location": f"{settings().public_url}/scim/v2/{found.organization}/Users/{user.id}",
        },
    }
    return shown | ({"externalId": found.external_id} if found.external_id else {})


def create(caller: Caller, organization: int, document: dict[str, Any]) -> ScimUser:
    """Make a user with an account and an affiliation; or take over a member of the organization with the address.

    Addresses of strangers are refused as often as these are looked up in an hour.

    Raises:
        Taken: the name is taken in the organization, or an account that is no member of it has the address.
        TooMany: too many addresses were those of strangers.
        Invalid: a member breaks a rule.
    """
    wanted = _read(document)
    if records.get_claimed(SCIM_USER, "user_name", f"{organization}|{wanted.user_name.casefold()}"):
        raise Taken(f"userName: the organization has a user {wanted.user_name!r}.")
    rate_limits.check(rate_limits.LOOKUP, caller)
    holders = users.holders(wanted.email)
    places = [each for user in holders if (each := records.first(AFFILIATION, organization, f"{padded(user.id)}|"))]
    if holders and not places:
        raise Taken("emails: an account that is no member of the organization has this address. Invite it.")
    rate_limits.give_back(rate_limits.LOOKUP, caller)
    made = _take_over(places[0], wanted) if places else _make(organization, wanted)
    return made if made.active == wanted.active else replace(made, document)


def replace(found: ScimUser, document: dict[str, Any]) -> ScimUser:
    """Replace the attributes of a user with those of a document. Raises as `create`."""
    wanted = _read(document)
    concern(target=f"user {found.user}")
    if _is_controlled(found):

        def change(current: User) -> User:
            if current.email == wanted.email:
                standing, email = current.email_standing, current.email
            else:
                standing, email = "declared", wanted.email
            names = {"first_name": wanted.first_name, "last_name": wanted.last_name}
            return msgspec.structs.replace(current, email=email, email_standing=standing, **names)

        records.edit(USER, found.user, change)
    if wanted.active != found.active:
        _activate(found, active=wanted.active)

    def note(current: ScimUser) -> ScimUser:
        return msgspec.structs.replace(
            current,
            user_name=wanted.user_name,
            external_id=wanted.external_id,
            active=wanted.active,
            modified_datetime=now(),
        )

    return records.edit(SCIM_USER, found.id, note, taken=Taken("userName or externalId: another user has it."))


def remove(found: ScimUser) -> None:
    """Remove a user: close an account that the provider made, else end the affiliation."""
    concern(target=f"user {found.user}")
    _activate(found, active=False)
    records.remove(SCIM_USER, found.id)


def _read(document: dict[str, Any]) -> UserDocument:
    """What a document says of a user. Raises Invalid."""
    user_name = protocol.read_text(document, "userName", _LONGEST_NAME)
    if user_name is None:
        raise Invalid("invalidValue", "userName: it is needed.")
    name = document.get("name") or {}
    if not isinstance(name, dict):
        raise Invalid("invalidValue", "name: an object with givenName and familyName is needed.")
    name = {protocol.canonical(key): value for key, value in name.items()}
    try:
        email = creation.check_address(_address(document) or user_name)
    except BadInput as failure:
        raise Invalid("invalidValue", f"emails: {failure.message}") from None
    return UserDocument(
        user_name=user_name,
        external_id=protocol.read_text(document, "externalId"),
        first_name=protocol.read_text(name, "givenName", _LONGEST_NAME) or "",
        last_name=protocol.read_text(name, "familyName", _LONGEST_NAME) or "",
        email=email,
        active=protocol.read_flag(document, "active", default=True),
    )


def _address(document: dict[str, Any]) -> str | None:
    """The primary address of a document, else the first."""
    found = document.get("emails") or []
    if isinstance(found, dict):
        found = [found]
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise Invalid("invalidValue", "emails: a list of objects with a value is needed.")
    first = sorted(found, key=lambda each: str(each.get("primary")).casefold() != "true")
    return protocol.read_text(first[0], "value") if first else None


def _make(organization: int, wanted: UserDocument) -> ScimUser:
    """A new user without password, with an affiliation, in one transaction."""
    name = wanted.user_name.partition("@")[0] or wanted.user_name
    for attempt in range(_ATTEMPTS):
        user = User(
            id=ids.reserve(USER.name)[0],
            username=name if not attempt else f"{name}-{uuid.uuid4().hex[:6]}",
            first_name=wanted.first_name,
            last_name=wanted.last_name,
            email=wanted.email,
            email_standing="declared",
            elemental_id=str(uuid.uuid4()),
            created_datetime=now(),
        )
        concern(target=f"user {user.id}")
        change, taken = Transaction(), creation.name_taken()
        records.add(change, USER, user, taken=taken)
        records.add(change, AFFILIATION, _affiliation(organization, user.id, added_by=0))
        made = _scim_user(organization, user.id, wanted, is_own=True)
        records.add(change, SCIM_USER, made, taken=Taken("userName or externalId: another user has it."))
        try:
            change.run()
        except BadInput as refusal:
            if refusal is not taken:
                raise
        else:
            return made
    raise Taken("userName: no user name is free for it.")


def _take_over(place: Affiliation, wanted: UserDocument) -> ScimUser:
    concern(target=f"user {place.user}")
    made = _scim_user(place.organization, place.user, wanted, is_own=False, added_by=place.added_by)
    return records.create(SCIM_USER, made, taken=Taken("emails: the organization has a user with this address."))


def _scim_user(organization: int, user: int, wanted: UserDocument, *, is_own: bool, added_by: int = 0) -> ScimUser:
    return ScimUser(
        id=ids.reserve(SCIM_USER.name)[0],
        organization=organization,
        user=user,
        user_name=wanted.user_name,
        external_id=wanted.external_id,
        is_own=is_own,
        added_by=added_by,
        created_datetime=now(),
        modified_datetime=now(),
    )


def _affiliation(organization: int, user: int, *, added_by: int) -> Affiliation:
    number = ids.reserve(AFFILIATION.name)[0]
    return Affiliation(id=number, organization=organization, user=user, permission="Member", added_by=added_by)


def _is_controlled(found: ScimUser) -> bool:
    """Whether the provider changes and closes the account itself: it made it, and nobody else owns it.

    The account is none of the staff's, and no owner of its address proved by mail that it is theirs.
    """
    user = records.get(USER, found.user)
    return found.is_own and not user.is_staff and user.email_standing != "confirmed"


def _activate(found: ScimUser, *, active: bool) -> None:
    """Open or close an account that the provider made; give or take the place of another in the organization."""
    held = records.first(AFFILIATION, found.organization, f"{padded(found.user)}|")
    if _is_controlled(found):
        administration.set_active(records.get(USER, found.user), active=active)
    elif not active:
        for membership in records.list_linked(MEMBERSHIP, "user", found.user):
            project = records.maybe(PROJECT, membership.project)
            if project is not None and project.organization == found.organization:
                records.discard(MEMBERSHIP, membership.id)
        if held is not None:
            records.discard(AFFILIATION, held.id)
    if active and held is None:
        records.create(AFFILIATION, _affiliation(found.organization, found.user, added_by=found.added_by))
