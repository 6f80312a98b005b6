"""Signing in by password: the password, then the second factor, with mails about wrong ones."""

from __future__ import annotations

from chalicelib.access import passwords
from chalicelib.access.identities import second_factors
from chalicelib.core.models.accounts import User
from chalicelib.resources.email import notifications


def verify(username: str, password: str, code: str | None, *, unlock_token: str | None = None) -> User:
    """The active user with a name, a password and, where the user has a second factor, a code.

    Raises:
        BadInput: as `passwords.verify`. CodeNeeded, Forbidden, TooMany: as `second_factors.prove`.
    """
    user = passwords.verify(username, password, notifications.notify_of_lock, unlock_token=unlock_token)
    second_factors.prove(user, code, notifications.notify_of_wrong_codes)
    return user
