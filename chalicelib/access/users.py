"""Users: making them, and naming them in what others read."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from chalicelib.access import passwords
from chalicelib.core import email_addresses
from chalicelib.core.accounts import USER, Affiliation, Membership, User, UserSpec
from chalicelib.core.resource import now
from chalicelib.errors import BadInput, NotFound
from chalicelib.storage.dynamodb import ids, records

P = TypeVar("P", Membership, Affiliation)


def register(spec: UserSpec, *, is_staff: bool = False, confirmation: str | None = None) -> User:
    """Store a new user; see `build`."""
    return records.create(USER, build(spec, is_staff=is_staff, confirmation=confirmation), taken=name_taken())


def build(spec: UserSpec, *, is_staff: bool = False, confirmation: str | None = None) -> User:
    """A new user, not stored yet; inactive until confirmed where a confirmation word's hash is given.

    Raises:
        BadInput: the name or address is none, or the password is weak; the message names the field.
    """
    username = spec.username.strip()
    if not username or not username.isprintable():
        raise BadInput("username: it must have printable characters only, and at least one that is not blank.")
    if email_addresses.parse(spec.email).name:
        raise BadInput("email: give the address alone, without a name.")
    passwords.check_strength(spec.password, username, spec.email)
    return User(
        id=ids.reserve(USER.name)[0],
        username=username,
        first_name=spec.first_name,
        last_name=spec.last_name,
        email=spec.email.strip(),
        is_staff=is_staff,
        is_active=confirmation is None,
        confirmation_token=confirmation,
        elemental_id=(spec.elemental_id or str(uuid.uuid4())).lower(),
        password_hash=passwords.hash_password(spec.password),
        created_datetime=now(),
    )


def name_taken() -> BadInput:
    """What a second user of a name meets."""
    return BadInput("username: this user name is taken.")


def with_address(email: str) -> list[User]:
    """All users with an address, in any case."""
    return records.linked(USER, "email", email.strip().casefold())


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
