"""Creation of users: the checks of what a request gives, and the record that is stored."""

from __future__ import annotations

import uuid

from chalicelib.access import passwords
from chalicelib.core.models.accounts import USER, AddressStanding, User, UserSpec
from chalicelib.core.resource import now
from chalicelib.core.text import email_addresses
from chalicelib.errors import BadInput, Taken
from chalicelib.resources.accounts import avatars
from chalicelib.storage.dynamodb import ids, records


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
    """An address in its stored form. Raises BadInput if it is malformed or contains a display name."""
    if email_addresses.parse(email, "email").name:
        raise BadInput("email: give the address alone, without a name.")
    return email.strip()


def name_taken() -> BadInput:
    """The error for a second user with a name."""
    return Taken("username: this user name is taken.")


def address_taken() -> BadInput:
    """The error for a second user with a confirmed address."""
    return Taken("email: another user has this address.")
