"""Passwords and tokens: argon2id, lock-out, and the same work whether or not a user exists.

Three failed passwords lock an account until ten minutes after the last failure (`spec/3` §2.2, design §7).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from chalicelib.access.authentication import hash_of
from chalicelib.core.accounts import TOKEN, USER, StoredToken, User
from chalicelib.core.resource import now
from chalicelib.errors import BadInput
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction

if TYPE_CHECKING:
    from argon2 import PasswordHasher

ALLOWED_FAILURES = 3
LOCK_SECONDS = 600.0
REFUSAL_SECONDS = 0.2
"""How long every refusal takes: several times what hashing, counting and a notice do together."""
TOKENS_A_USER = 20
"""So many tokens of a user are good at the same time; the next one ends the oldest."""
REFUSED = "Could not authenticate with provided credentials!"
_SHORTEST = 8


def check_strength(password: str, *about: str) -> None:
    """Raise BadInput for a password that is too short, only digits, or one of the words it is about."""
    if len(password) < _SHORTEST:
        raise BadInput(f"password: at least {_SHORTEST} characters are needed.")
    if password.isdigit():
        raise BadInput("password: digits alone are too easy to guess.")
    if password.casefold() in {word.casefold() for word in about if word}:
        raise BadInput("password: it must not be the name or address of the account.")


def hash_password(password: str) -> str:
    """The argon2id hash of a password, its salt and parameters included."""
    return str(_hasher().hash(password))


def verify(username: str, password: str, on_lock: Callable[[User], None] | None = None) -> User:
    """The active user with a name, in any case, and password.

    Args:
        username: the name.
        password: the password.
        on_lock: called with the user whose account this failure locks.

    Raises:
        BadInput: one sentence for an unknown name, a wrong password, a locked and an inactive account, and after the
            same time: what a failure of an account costs beside is hidden in it.
    """
    began = time.monotonic()
    try:
        return _verified(username, password, on_lock)
    except BadInput:
        time.sleep(max(0.0, began + REFUSAL_SECONDS - time.monotonic()))
        raise


def _verified(username: str, password: str, on_lock: Callable[[User], None] | None) -> User:
    user = records.claimed(USER, "username", username.strip().casefold())
    good = _matches(user.password_hash if user else _nobodys_hash(), password)
    if user is None:
        raise BadInput(REFUSED)
    locked = user.failed_logins >= ALLOWED_FAILURES and time.time() - user.last_failed_login < LOCK_SECONDS
    if locked or not good or not user.is_active:
        failed = records.edit(USER, user.id, _failed)
        if on_lock and failed.failed_logins == ALLOWED_FAILURES:
            on_lock(failed)
        raise BadInput(REFUSED)
    if user.failed_logins:
        records.edit(USER, user.id, _succeeded)
    return user


def issue_token(user: User, *, refresh: bool) -> str:
    """A new token of a user; with `refresh` all earlier ones end with it.

    Only hashes are stored, so an earlier token cannot be shown again: every call makes a new one.
    """
    token = secrets.token_hex(20)
    stored = StoredToken(
        id=hash_of(token), user=user.id, username=user.username, is_staff=user.is_staff, created_datetime=now()
    )

    def hold(current: User) -> User:
        kept = [] if refresh else current.tokens[-(TOKENS_A_USER - 1) :]
        return msgspec.structs.replace(current, tokens=[*kept, stored.id])

    def exchange(change: Transaction, before: User, after: User) -> None:
        records.add(change, TOKEN, stored)
        revoke(change, set(before.tokens) - set(after.tokens))

    records.edit(USER, user.id, hold, also=exchange)
    return token


def revoke(change: Transaction, hashes: Iterable[str]) -> None:
    """Make the end of tokens part of a transaction."""
    for gone in hashes:
        change.delete(RecordRow(f"{TOKEN.name}#{gone}", records.ALONE))


def _failed(user: User) -> User:
    moment = time.time()
    expired = moment - user.last_failed_login >= LOCK_SECONDS
    failures = 1 if expired else user.failed_logins + 1
    return msgspec.structs.replace(user, failed_logins=failures, last_failed_login=moment)


def _succeeded(user: User) -> User:
    return msgspec.structs.replace(user, failed_logins=0, last_failed_login=0.0)


def _matches(stored: str, password: str) -> bool:
    from argon2.exceptions import Argon2Error, InvalidHashError  # noqa: PLC0415 only signing in needs it

    try:
        return bool(_hasher().verify(stored, password))
    except (Argon2Error, InvalidHashError):
        return False


@lru_cache(maxsize=1)
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher  # noqa: PLC0415 only signing in needs it

    return PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


@lru_cache(maxsize=1)
def _nobodys_hash() -> str:
    return hash_password(secrets.token_hex(16))
