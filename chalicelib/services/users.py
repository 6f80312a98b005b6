"""Users: making them, and naming them in what others read."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from chalicelib.domain.accounts import USER, User, UserSpec
from chalicelib.domain.addresses import is_address
from chalicelib.domain.resource import now
from chalicelib.errors import BadInput, NotFound
from chalicelib.services import passwords
from chalicelib.storage import ids, records


def register(spec: UserSpec, *, is_staff: bool = False) -> User:
    """Make a user.

    Raises:
        BadInput: the name is taken, the address is none, or the password is weak; the message names the field.
    """
    username = spec.username.strip()
    if not username or not username.isprintable():
        raise BadInput("username: it must have printable characters only, and at least one that is not blank.")
    if not is_address(spec.email):
        raise BadInput(f"email: {spec.email!r} is not an email address.")
    passwords.check_strength(spec.password, username, spec.email)
    user = User(
        id=ids.reserve(USER.name)[0],
        username=username,
        first_name=spec.first_name,
        last_name=spec.last_name,
        email=spec.email,
        is_staff=is_staff,
        elemental_id=(spec.elemental_id or str(uuid.uuid4())).lower(),
        password_hash=passwords.hash_password(spec.password),
        created_datetime=now(),
    )
    return records.create(USER, user, taken=BadInput("username: this user name is taken."))


def by_id(numbers: Iterable[int]) -> dict[int, User]:
    """Those of the users that exist, by id."""
    found = {}
    for number in dict.fromkeys(numbers):
        try:
            found[number] = records.get(USER, number)
        except NotFound:
            continue
    return found
