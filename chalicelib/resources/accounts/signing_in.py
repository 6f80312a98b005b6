"""Signing in by password: the password, then the second factor, with mails about wrong ones."""

from __future__ import annotations

from chalicelib.access import passwords
from chalicelib.access.identities import second_factors
from chalicelib.access.identities.passkeys import PasskeyProof
from chalicelib.access.identities.providers import demands
from chalicelib.core.models.accounts import User
from chalicelib.errors import BadInput
from chalicelib.resources.email import notifications


def verify(
    username: str,
    password: str,
    code: str | None,
    passkey: PasskeyProof | None = None,
    *,
    unlock_token: str | None = None,
) -> User:
    """The active user with a name, a password and, where the user has a second factor, a code or a passkey.

    Raises:
        BadInput: as `passwords.verify`. CodeNeeded, Forbidden, TooMany: as `second_factors.prove`.
    """
    user = passwords.verify(username, password, notifications.notify_of_lock, unlock_token=unlock_token)
    second_factors.prove(user, code, passkey, notifications.notify_of_wrong_codes)
    return user


def refuse_provider(user: User, remedy: str) -> None:
    """Raise BadInput with a remedy for a user who has no password, or must sign in with an identity provider."""
    provider = demands(user)
    if provider is not None or not user.password_hash:
        where = provider.name if provider else "your identity provider"
        raise BadInput(f"You sign in with {where}: {remedy}")
