"""How often a caller may do what costs others something: send mail, register, try tokens.

Each limit counts by caller (the user, or the network address of an anonymous one) and, where a mail is sent, by its
address too. It counts before anything is looked up, so that an answer of 429 does not tell whether an account exists.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from chalicelib.access.authentication import Caller
from chalicelib.errors import TooMany
from chalicelib.storage.dynamodb import attempts

HOUR = 3600
_NETWORK_BITS = 64
"""Of an IPv6 address: one household has all addresses of such a network."""


@dataclass(frozen=True)
class Limit:
    """How many an hour, of one caller and for one address. 0: not counted."""

    name: str
    by_caller: int = 0
    by_address: int = 0


REGISTRATION = Limit("registration", by_caller=200, by_address=10)
INVITATION = Limit("invitation", by_caller=100, by_address=10)
PASSWORD_RESET = Limit("password reset", by_caller=60, by_address=5)
ADDRESS_CHANGE = Limit("address change", by_caller=20, by_address=5)
LOCK_MAIL = Limit("lock mail", by_address=3)
PROJECT_MAIL = Limit("project mail", by_caller=200, by_address=60)
NOTIFICATION = Limit("notification", by_caller=60)
LOOKUP = Limit("lookup", by_caller=600)
"""Of anonymous callers who ask whether a user exists."""
TOKEN_TRIAL = Limit("token trial", by_caller=60)
"""Of mailed tokens that turned out to be wrong."""


def check(limit: Limit, caller: Caller | None = None, address: str = "") -> None:
    """Count one use of a limit.

    Args:
        limit: the limit.
        caller: who does it.
        address: whom a mail goes to.

    Raises:
        TooMany: the caller or the address has had as many as an hour allows; `retry_after` says when it is over.
    """
    if limit.by_caller and caller is not None:
        _count(limit, f"by {name_of(caller)}", limit.by_caller)
    if limit.by_address and address:
        _count(limit, f"to {address.strip().casefold()}", limit.by_address)


def give_back(limit: Limit, caller: Caller) -> None:
    """Take the count of a caller's use back: it is not one that the limit is about."""
    attempts.give_back(_key(limit, f"by {name_of(caller)}"))


def name_of(caller: Caller) -> str:
    """Under what a caller is counted."""
    if caller.signed_in:
        return f"user {caller.id}"
    try:
        address = ipaddress.ip_address(caller.network_address)
    except ValueError:
        return "address unknown"
    if isinstance(address, ipaddress.IPv6Address):
        return f"network {ipaddress.ip_network((address, _NETWORK_BITS), strict=False)}"
    return f"address {address}"


def _count(limit: Limit, who: str, most: int) -> None:
    key = _key(limit, who)
    if attempts.count(key, most, HOUR) is None:
        message = f"Too many requests of this kind ({limit.name}): {most} an hour are allowed."
        raise TooMany(message, retry_after=attempts.seconds_left(key))


def _key(limit: Limit, who: str) -> str:
    return f"{limit.name}|{who}"
