"""Users: creation, lookup by address and id, and their names in memberships and affiliations."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import TypeVar, get_args

import msgspec

from chalicelib.access import passwords
from chalicelib.core import email_addresses
from chalicelib.core.accounts import USER, AddressStanding, Affiliation, Membership, User, UserSpec
from chalicelib.core.resource import now
from chalicelib.errors import BadInput, NotFound
from chalicelib.services import avatars
from chalicelib.storage.dynamodb import ids, records

P = TypeVar("P", Membership, Affiliation)
_STANDINGS = get_args(AddressStanding)


def register(
    spec: UserSpec, *, is_staff: bool = False, standing: AddressStanding = "vouched", confirmation: str | None = None
) -> User:
    """Store a new user; see `build`."""
    user = build(spec, is_staff=is_staff, standing=standing, confirmation=confirmation)
    return records.create(USER, user, taken=name_taken())


def build(
    spec: UserSpec, *, is_staff: bool = False, standing: AddressStanding = "vouched", confirmation: str | None = None
) -> User:
    """A new user, not stored yet, though its avatar is.

    Args:
        spec: what the request gives.
        is_staff: whether the user is of staff.
        standing: how far the address is known to be the user's.
        confirmation: the hash of the token in a confirmation link; the user is inactive until it is opened.

    Raises:
        BadInput: a member breaks its rule; the message names it.
        TooLarge: the avatar is larger than 1 MiB.
    """
    username = spec.username.strip()
    if not username or not username.isprintable():
        raise BadInput("username: it must have printable characters only, and at least one that is not blank.")
    email = check_address(spec.email)
    passwords.check_strength(spec.password, username, spec.email)
    profile = avatars.check_profile(spec.profile or {})
    number = ids.reserve(USER.name)[0]
    if spec.new_avatar is not None:
        profile = {**profile, "avatar": avatars.store(number, spec.new_avatar)}
    return User(
        id=number,
        username=username,
        first_name=spec.first_name,
        last_name=spec.last_name,
        email=email,
        email_standing=standing,
        is_staff=is_staff,
        is_active=confirmation is None,
        confirmation_token=confirmation,
        elemental_id=(spec.elemental_id or str(uuid.uuid4())).lower(),
        profile=profile,
        password_hash=passwords.hash_password(spec.password),
        created_datetime=now(),
    )


def check_address(email: str) -> str:
    """An address as it is stored. Raises BadInput where it is malformed or has a name beside it."""
    if email_addresses.parse(email).name:
        raise BadInput("email: give the address alone, without a name.")
    return email.strip()


def name_taken() -> BadInput:
    """The refusal of a second user of a name."""
    return BadInput("username: this user name is taken.")


def address_taken() -> BadInput:
    """The refusal of a second user with a confirmed address."""
    return BadInput("email: another user has this address.")


def with_address(email: str) -> list[User]:
    """All users with an address, in any case."""
    return records.linked(USER, "email", email.strip().casefold())


def holders(email: str) -> list[User]:
    """The users whose address it is: of all that have it, those of the best standing.

    An account that merely declares an address does not stand beside one that confirmed it, or that staff made.
    """
    found = with_address(email)
    best = max((_STANDINGS.index(user.email_standing) for user in found), default=0)
    return [user for user in found if _STANDINGS.index(user.email_standing) == best]


def by_id(numbers: Iterable[int]) -> dict[int, User]:
    """Those of the users that exist, by id."""
    found = {}
    for number in dict.fromkeys(numbers):
        try:
            found[number] = records.get(USER, number)
        except NotFound:
            continue
    return found


def named(places: Sequence[P]) -> list[P]:
    """Memberships or affiliations with the names and address of their users."""
    found = by_id(place.user for place in places)
    return [
        msgspec.structs.replace(
            place, username=user.username, first_name=user.first_name, last_name=user.last_name, email=user.email
        )
        if (user := found.get(place.user))
        else place
        for place in places
    ]
