"""Second factors of sign-ins by password: codes of an authenticator app, passkeys, and recovery codes.

docs/decisions/202, docs/decisions/189
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import msgspec
from msgspec import Meta

from chalicelib.access.identities import passkeys
from chalicelib.access.identities.passkeys import PasskeyProof
from chalicelib.core.models.accounts import USER, User
from chalicelib.core.models.credentials import SecondFactor, hash_of
from chalicelib.core.resource import now
from chalicelib.core.time import clock
from chalicelib.core.values import one_time_codes
from chalicelib.errors import BadInput, Forbidden, TooMany
from chalicelib.storage import sealing
from chalicelib.storage.audit.concern import concern
from chalicelib.storage.dynamodb import attempts, records

SignInCode = Annotated[
    str,
    Meta(
        min_length=6,
        max_length=30,
        description="A code of the user's authenticator app, six digits, or a recovery code. Each counts once.",
    ),
]
PURPOSE = "second factor"
RECOVERY_CODES = 10
ALLOWED_CODES, LOCK_SECONDS = 5, 600
"""Wrong codes of an app until no more are checked for a while."""
ALLOWED_IN_A_DAY, DAY = 30, 24 * 3600
"""Whoever has the password guesses a code in a day with a chance below 1 in 10,000: three codes are good at a time."""
ISSUER = "Limn"
_OR_PASSKEY = " Or give `passkey`, what the browser answers to the member `passkey` of this body."


class CodeNeeded(Forbidden):
    """The password is right, and a code is needed beside it, or one of the passkeys of which the body tells."""

    def __init__(self, user: User, before: str) -> None:
        first = "Give `code` too: six digits of your authenticator app, or a recovery code."
        super().__init__(f"{before}{first}{_OR_PASSKEY if user.passkeys else ''}")
        self.more = {"needs": "code", **({"passkey": passkeys.ask(user)} if user.passkeys else {})}


def begin(user: User) -> tuple[str, str]:
    """Give a user a new secret, valid once a code confirms it. Returns the secret as text, and its `otpauth` URI.

    Raises:
        BadInput: a second factor is in force already.
    """
    secret = one_time_codes.new_secret()
    sealed = sealing.seal(secret, PURPOSE)

    def set_secret(current: User) -> User:
        if is_on(current):
            raise BadInput("A second factor is in force already. Remove it first, with one of its codes.")
        return msgspec.structs.replace(current, second_factor=SecondFactor(sealed=sealed))

    records.edit(USER, user.id, set_secret)
    return one_time_codes.as_text(secret), one_time_codes.address(secret, ISSUER, user.username)


def confirm(user: User, code: str | None, passkey: PasskeyProof | None) -> list[str]:
    """Put the second factor in force by a first code or a passkey, or replace its recovery codes by a later one.

    Returns:
        the recovery codes, which are stored as hashes.

    Raises:
        BadInput: none was begun. CodeNeeded, Forbidden, TooMany: as `prove`.
    """
    made = [one_time_codes.new_recovery_code() for _ in range(RECOVERY_CODES)]
    hashes = [_recovery_hash(each) for each in made]

    def renew(factor: SecondFactor) -> SecondFactor:
        since = factor.confirmed_datetime or now()
        return msgspec.structs.replace(factor, confirmed_datetime=since, recovery=hashes)

    _prove(user, code, passkey, renew, lambda _user: None)
    return made


def remove(user: User, code: str | None, passkey: PasskeyProof | None) -> None:
    """End the second factor with one of its codes or a passkey. Raises as `confirm`."""
    _prove(user, code, passkey, lambda _factor: None, lambda _user: None)


def reset(user: int) -> None:
    """End the second factor and the passkeys of a user who has lost them."""
    records.edit(USER, user, lambda current: msgspec.structs.replace(current, second_factor=None, passkeys=[]))
    _clear(user)


def is_on(user: User) -> bool:
    """Whether sign-ins of a user by password need a code."""
    return user.second_factor is not None and user.second_factor.confirmed_datetime is not None


def prove(user: User, code: str | None, passkey: PasskeyProof | None, on_limit: Callable[[User], None]) -> None:
    """Check the code or passkey of a sign-in whose password is right; it counts this once.

    Args:
        user: who signs in; without a second factor neither is needed nor looked at.
        code: of the app, or a recovery code.
        passkey: of the user, instead of a code.
        on_limit: called with the user where this wrong code is the last that is checked for a while.

    Raises:
        CodeNeeded: there is none. Forbidden: it is wrong, or counted before. BadInput: the passkey is malformed.
        TooMany: too many were wrong; recovery codes count all the same.
    """
    if not is_on(user):
        return
    _prove(user, code, passkey, lambda factor: factor, on_limit, before="The password is right. ")


def _prove(
    user: User,
    code: str | None,
    passkey: PasskeyProof | None,
    then: Callable[[SecondFactor], SecondFactor | None],
    on_limit: Callable[[User], None],
    *,
    before: str = "",
) -> None:
    """Check a passkey, or use up a code, and change the second factor."""
    if code:
        _verify(user, code, then, on_limit)
    elif passkey is None:
        raise CodeNeeded(user, before)
    else:
        passkeys.prove(user, passkey)
        records.edit(USER, user.id, lambda current: _change_factor(current, then))


def _change_factor(current: User, then: Callable[[SecondFactor], SecondFactor | None]) -> User:
    """A user whose passkey was proved; where no code confirmed an app, the second factor is passkeys alone."""
    factor = current.second_factor if is_on(current) else None
    return msgspec.structs.replace(current, second_factor=then(factor or SecondFactor(sealed="")))


def _verify(
    user: User,
    code: str,
    then: Callable[[SecondFactor], SecondFactor | None],
    on_limit: Callable[[User], None],
) -> None:
    """Use up a code, and change the second factor in the same write."""
    code = code.strip()
    digits = code.replace(" ", "")
    number = _count(user.id) if one_time_codes.is_of_app(digits) else None
    if user.second_factor is None:
        raise BadInput("No second factor was begun. Begin with POST /rest/SecondFactor.")
    sealed = user.second_factor.sealed
    secret = sealing.unseal(sealed, PURPOSE) if number is not None and sealed else b""

    def use(current: User) -> User:
        factor = current.second_factor
        if factor is None or factor.sealed != sealed:
            raise _wrong()
        if number is not None:
            step = one_time_codes.step_of(secret, digits, clock.seconds(), factor.last_step) if secret else None
            if step is None:
                raise _wrong()
            used = msgspec.structs.replace(factor, last_step=step)
        else:
            hashed = _recovery_hash(code)
            if hashed not in factor.recovery:
                raise _wrong()
            used = msgspec.structs.replace(factor, recovery=[each for each in factor.recovery if each != hashed])
        return msgspec.structs.replace(current, second_factor=then(used))

    try:
        records.edit(USER, user.id, use)
    except Forbidden:
        concern(affiliated=user.id, kind="refusal", target=f"user {user.id}")
        if number == ALLOWED_CODES:
            on_limit(user)
        raise
    _clear(user.id)


def _wrong() -> Forbidden:
    return Forbidden("The code is wrong, or was used before. Give the one that the app shows now, or a recovery code.")


def _count(user: int) -> int:
    """Count a code before it is checked: its number among those since the last right one."""
    _count_one(_day_key(user), ALLOWED_IN_A_DAY, DAY)
    return _count_one(_key(user), ALLOWED_CODES, LOCK_SECONDS)


def _count_one(key: str, most: int, seconds: int) -> int:
    number = attempts.count(key, most, seconds)
    if number is None:
        message = "Too many wrong codes. Wait, or give a recovery code."
        raise TooMany(message, retry_after=attempts.seconds_left(key))
    return number


def _clear(user: int) -> None:
    attempts.clear(_key(user))
    attempts.clear(_day_key(user))


def _key(user: int) -> str:
    return f"code|{user}"


def _day_key(user: int) -> str:
    return f"code of a day|{user}"


def _recovery_hash(code: str) -> str:
    return hash_of(code.casefold().replace("-", "").replace(" ", ""))
