"""Change a user's address: the change takes effect when its mailed link is opened (docs/decisions/040).

Until then the old address stays valid, and gets a mail about the change.
"""

from __future__ import annotations

import msgspec

from chalicelib.access import passwords, rate_limits, users
from chalicelib.access.authentication import Caller
from chalicelib.core.models.accounts import USER, User
from chalicelib.core.models.credentials import hash_of
from chalicelib.core.time import clock
from chalicelib.errors import BadInput, NotFound
from chalicelib.resources.accounts import creation
from chalicelib.resources.accounts.invitations import CONFIRMATION_HOURS
from chalicelib.resources.email import notifications, system_emails
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records


def check(user: User, email: str, caller: Caller) -> str:
    """Check the address that the user, or staff, wants for a user; call it before anything changes. Returns it.

    Raises:
        BadInput: the address is malformed, another user's, or mail is off and the caller is not of staff.
        TooMany: the caller or the address had too many.
    """
    address = creation.check_address(email)
    if address.casefold() == user.email_key:
        return address
    rate_limits.check(rate_limits.ADDRESS_CHANGE, caller, address)
    _refuse_taken(user, address)
    if not settings().email_enabled and not caller.is_staff:
        raise BadInput("email: this deployment does not send email, so only staff can change an address.")
    return address


def request(user: User, address: str) -> bool:
    """Request the change of a user's address to one that was checked.

    Returns:
        whether the new address must be confirmed by mail first.
    """
    if address.casefold() == user.email_key:
        records.edit(USER, user.id, lambda current: msgspec.structs.replace(current, email=address))
        return False
    if not settings().email_enabled:
        _put(user, address)
        return False
    token = passwords.new_mailed_token()
    # The mail goes first: after a crash in between its link does not work, and the change is asked for again.
    system_emails.enqueue(system_emails.address_change(f"{settings().public_url}/email-confirmation/{token}"), address)

    def set_pending(current: User) -> User:
        return msgspec.structs.replace(
            current, pending_email=address, pending_email_token=hash_of(token), pending_email_since=clock.seconds()
        )

    records.edit(USER, user.id, set_pending)
    notifications.address_change_requested(user, address)
    return True


def find(token: str) -> User | None:
    """The user whose pending address a link confirms; None if the link is unknown, used or expired."""
    user = records.get_claimed(USER, "address_change", hash_of(token))
    is_pending = user and user.is_active and clock.seconds() - user.pending_email_since < CONFIRMATION_HOURS * 3600
    return user if is_pending else None


def confirm(token: str, caller: Caller) -> User:
    """Make a pending address the user's address.

    Raises:
        NotFound: the link is unknown, used or expired.
        BadInput: another user has confirmed the address since.
        TooMany: the caller tried too many tokens.
    """
    rate_limits.check(rate_limits.TOKEN_TRIAL, caller)
    user = find(token)
    if user is None or user.pending_email is None:
        raise NotFound("This confirmation link is not valid, or has expired.")
    rate_limits.give_back(rate_limits.TOKEN_TRIAL, caller)
    _refuse_taken(user, user.pending_email)
    hashed = hash_of(token)

    def change(current: User) -> User:
        if current.pending_email is None or current.pending_email_token != hashed:
            raise NotFound("This confirmation link is not valid, or has expired.")
        return msgspec.structs.replace(
            current,
            email=current.pending_email,
            email_standing="confirmed",
            pending_email=None,
            pending_email_token=None,
        )

    changed = records.edit(USER, user.id, change, taken=creation.address_taken())
    notifications.address_changed(user, changed.email)
    return changed


def _put(user: User, address: str) -> None:
    def change(current: User) -> User:
        return msgspec.structs.replace(current, email=address, email_standing="vouched")

    records.edit(USER, user.id, change)


def _refuse_taken(user: User, address: str) -> None:
    """Raise BadInput if another user has confirmed an address."""
    if any(other.id != user.id and other.email_standing != "declared" for other in users.with_address(address)):
        raise creation.address_taken()
