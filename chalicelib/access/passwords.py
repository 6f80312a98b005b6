"""Passwords and tokens: argon2id, lockout, and the same work whether or not a user exists.

Three failed passwords lock an account until ten minutes after the last failure. An attempt is counted before its
password is checked, so that parallel attempts cannot exceed the limit; a success resets the count. Since anyone can
lock an account whose name they know, the email that reports a lock has a token: with it the right password is accepted
in spite of the lock (docs/decisions/039).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from chalicelib.access.authentication import PROVIDER_SECONDS, session_end
from chalicelib.access.identities.providers import demands
from chalicelib.core.models.accounts import TOKEN, UNLOCK, UNLOCK_HOURS, USER, Unlock, User
from chalicelib.core.models.credentials import Credential, hash_of, key_of, new_token, session_key
from chalicelib.core.resource import now
from chalicelib.core.time import clock
from chalicelib.errors import BadInput, NotFound
from chalicelib.storage.audit.concern import concern, name_of
from chalicelib.storage.dynamodb import attempts, credentials, record_rows, records
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction

if TYPE_CHECKING:
    from argon2 import PasswordHasher

ALLOWED_FAILURES = 3
LOCK_SECONDS = 600
REFUSAL_SECONDS = 0.3
"""Duration of every refusal in seconds: several times what hashing, counting and an email take together."""
PAUSES = (0.04, 0.08, 0.08)
"""Seconds to wait where the limit is reached: other sign-ins of the user may be in progress with the right password."""
STRENGTH = {"time_cost": 2, "memory_cost": 19 * 1024, "parallelism": 1}
"""Parameters of argon2id: passes, KiB and threads."""
TOKENS_A_USER = 20
"""The number of tokens of a user that are valid at the same time; a new one revokes the oldest."""
REFUSED = "Could not authenticate with provided credentials!"
_SHORTEST = 8


def new_mailed_token() -> str:
    """A random token for a link in an email: 256 bits, in hex. It is stored as its `hash_of`."""
    return secrets.token_hex(32)


def check_strength(password: str, *about: str) -> None:
    """Raise BadInput for a password that is too short, only digits, or equal to one of the words in `about`."""
    if len(password) < _SHORTEST:
        raise BadInput(f"password: at least {_SHORTEST} characters are needed.")
    if password.isdigit():
        raise BadInput("password: digits alone are too easy to guess.")
    if password.casefold() in {word.casefold() for word in about if word}:
        raise BadInput("password: it must not be the name or address of the account.")


def hash_password(password: str) -> str:
    """The argon2id hash of a password, including its salt and parameters."""
    return str(_hasher().hash(password))


def verify(
    username: str, password: str, on_lock: Callable[[User], None] | None = None, *, unlock_token: str | None = None
) -> User:
    """The active user with a name, case-insensitive, and a password.

    Args:
        username: the name.
        password: the password.
        on_lock: called with the user whose account this failure locks.
        unlock_token: the token of the email that reported a lock; it bypasses the lock, and three failures revoke it.

    Raises:
        BadInput: the same message, after the same time, for an unknown name, a wrong password, a locked account and an
            inactive account.
    """
    began = time.monotonic()
    try:
        return _verify(username, password, on_lock, unlock_token)
    except BadInput:
        time.sleep(max(0.0, began + REFUSAL_SECONDS - time.monotonic()))
        raise


def create_unlock(user: User) -> str:
    """A new unlock token of a user."""
    token = new_mailed_token()
    records.create(UNLOCK, Unlock(id=hash_of(token), user=user.id, created=clock.seconds()))
    return token


def unlock(user: int) -> None:
    """Reset the count of a user's failed passwords."""
    attempts.clear(_lock_key(user))


def _verify(username: str, password: str, on_lock: Callable[[User], None] | None, unlock_token: str | None) -> User:
    user = records.get_claimed(USER, "username", username.strip().casefold())
    if user is None:
        is_match(_hash_of_no_user(), password)
        raise BadInput(REFUSED)
    way = _find_unlock(user, unlock_token) if unlock_token else None
    number = _count_attempt(user.id) if way is None else _count_unlock(way)
    good = is_match(user.password_hash, password)
    if number is None or not good or not user.is_active:
        if number is not None:
            concern(affiliated=user.id, kind="refusal", target=f"user {user.id}")
        if on_lock and way is None and number == ALLOWED_FAILURES and user.is_active:
            on_lock(user)
        raise BadInput(REFUSED)
    unlock(user.id)
    if way is not None:
        _end_unlock(way)
    if (provider := demands(user)) is not None:
        raise BadInput(f"Sign in with {provider.name}: your organization allows no passwords.")
    return user


def _count_attempt(user: int) -> int | None:
    for pause in (0.0, *PAUSES):
        time.sleep(pause)
        number = attempts.count(_lock_key(user), ALLOWED_FAILURES, LOCK_SECONDS, extend=True)
        if number is not None:
            return number
    return None


def _find_unlock(user: User, token: str) -> Unlock | None:
    found = records.maybe(UNLOCK, hash_of(token))
    is_usable = found and found.user == user.id and clock.seconds() - found.created < UNLOCK_HOURS * 3600
    return found if is_usable else None


def _count_unlock(way: Unlock) -> int | None:
    return attempts.count(f"unlock|{way.id}", ALLOWED_FAILURES, UNLOCK_HOURS * 3600)


def _end_unlock(way: Unlock) -> None:
    try:
        records.remove(UNLOCK, way.id)
    except NotFound:  # used by another sign-in at the same time
        raise BadInput(REFUSED) from None


def _lock_key(user: int) -> str:
    return f"sign-in|{user}"


def issue_token(user: User, *, refresh: bool, name: str = "", provider: int = 0) -> str:
    """Create a token of a user; `refresh` revokes all earlier ones, `name` says what it is for.

    One by an identity provider, whose id is given, ends after an hour, unless the provider confirms the user again.

    Only hashes are stored, so an earlier token cannot be shown again: every call makes a new one.

    Raises:
        BadInput: the account was deactivated meanwhile.
    """
    token = new_token("session", user.id)
    made = Credential(
        id=key_of(token),
        kind="session",
        user=user.id,
        username=user.username,
        name=name,
        provider=provider,
        created_datetime=now(),
    )

    def add_token(current: User) -> User:
        if not current.is_active:
            raise BadInput(REFUSED)
        kept = [] if refresh else current.tokens[-(TOKENS_A_USER - 1) :]
        until = current.confirmed_until if provider else None
        return msgspec.structs.replace(current, tokens=[*kept, hash_of(token)], confirmed_until=until)

    concern(affiliated=user.id, user=user.id, username=user.username, credential=name_of(made))

    def exchange(change: Transaction, before: User, after: User) -> None:
        # the user as it is now: to leave the staff ends the rights of tokens that are made at the same time, too
        stored = msgspec.structs.replace(made, is_staff=after.is_staff)
        ends = int(clock.seconds()) + PROVIDER_SECONDS if provider else session_end()
        credentials.put(change, stored, ends, made.created_datetime[:10])
        revoke_removed(change, before, after)

    records.edit(USER, user.id, add_token, also=exchange)
    return token


def revoke(change: Transaction, hashes: Iterable[str]) -> None:
    """Add the revocation of tokens to a transaction, also of those that earlier releases stored with the records."""
    for gone in hashes:
        credentials.remove(change, [session_key(gone)])
        change.delete(RecordRow(f"{TOKEN.name}#{gone}", record_rows.ALONE))


def revoke_removed(change: Transaction, before: User, after: User) -> None:
    """Add the revocation of the tokens that an edit of a user removed to its transaction."""
    revoke(change, set(before.tokens) - set(after.tokens))


def is_match(stored: str, password: str) -> bool:
    """Whether a password is that of a stored hash."""
    from argon2.exceptions import Argon2Error, InvalidHashError  # noqa: PLC0415 only signing in needs it

    try:
        return bool(_hasher().verify(stored, password))
    except (Argon2Error, InvalidHashError):
        return False


@lru_cache(maxsize=1)
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher  # noqa: PLC0415 only signing in needs it

    return PasswordHasher(**STRENGTH)


@lru_cache(maxsize=1)
def _hash_of_no_user() -> str:
    return hash_password(secrets.token_hex(16))
