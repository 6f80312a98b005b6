"""Rate limits on requests that send email, register accounts or try tokens.

Each limit counts by caller (the user, or the network address of an anonymous one) and, where an email is sent, by its
recipient too. It counts before any lookup, so that a 429 does not reveal whether an account exists.
"""

from __future__ import annotations

import ipaddress
import math
import threading
from collections import OrderedDict
from dataclasses import dataclass

from chalicelib.access.authentication import Caller
from chalicelib.core.time import clock
from chalicelib.errors import TooMany
from chalicelib.storage.dynamodb import attempts

HOUR = 3600
_NETWORK_BITS = 64
"""Prefix length for IPv6 addresses: one household has all addresses of such a network."""


@dataclass(frozen=True)
class Limit:
    """Uses per hour, or another number of seconds, by one caller and for one address. 0: no limit."""

    name: str
    by_caller: int = 0
    by_address: int = 0
    seconds: int = HOUR


REGISTRATION = Limit("registration", by_caller=200, by_address=10)
INVITATION = Limit("invitation", by_caller=100, by_address=10)
PASSWORD_RESET = Limit("password reset", by_caller=60, by_address=5)
ADDRESS_CHANGE = Limit("address change", by_caller=20, by_address=5)
LOCK_MAIL = Limit("lock mail", by_address=3)
PROJECT_MAIL = Limit("project mail", by_caller=200, by_address=60)
NOTIFICATION = Limit("notification", by_caller=60)
LOOKUP = Limit("lookup", by_caller=600)
"""Lookups of users whom the caller does not know, and of ones that do not exist."""
LINK_OPENING = Limit("opening of share links", by_caller=300)
PASSKEY_CHALLENGE = Limit("sign-ins by passkey", by_caller=600)
DEVICE_SIGN_IN = Limit("sign-ins by device", by_caller=60)
KEPT_ANSWERS = Limit("Idempotency-Key", by_caller=50_000)
"""Requests whose answers are kept for a day: `http/idempotency.py`."""
GUEST_READING = Limit("reading without an account", by_caller=3_000, seconds=300)
"""Requests of guests of share links, and of readers of public projects."""
LOT = 25
"""Requests of guests that a process counts in memory before it adds them to the shared counter."""
_MOST_GUESTS = 10_000
TOKEN_TRIAL = Limit("token trial", by_caller=60)
"""Wrong tokens from emails."""


def check(limit: Limit, caller: Caller | None = None, address: str = "") -> None:
    """Count one use of a limit.

    Args:
        limit: the limit.
        caller: the caller.
        address: the recipient of an email.

    Raises:
        TooMany: the caller or the address has reached the limit of an hour; `retry_after` is the time until it ends.
    """
    if limit.by_caller and caller is not None:
        _count(limit, f"by {name_of(caller)}", limit.by_caller)
    if limit.by_address and address:
        _count(limit, f"to {address.strip().casefold()}", limit.by_address)


@dataclass
class _Guests:
    """What a process knows of one network address."""

    uncounted: int = 0
    refused_until: float = 0.0


_guests: OrderedDict[str, _Guests] = OrderedDict()
_lock = threading.Lock()


def check_guest(caller: Caller) -> None:
    """Count a request of a guest, or of somebody who is not signed in, by network address.

    One request in 25 costs a call to the store, and none of an address that is refused. So a process lets through 24
    requests more than the limit at the most.

    Raises:
        TooMany: the address has reached the limit; `retry_after` is the time until it may go on.
    """
    limit, who = GUEST_READING, name_of(caller)
    with _lock:
        held = _guests.setdefault(who, _Guests())
        _guests.move_to_end(who)
        if len(_guests) > _MOST_GUESTS:
            _guests.popitem(last=False)
        held.uncounted += 1
        is_lot = held.uncounted >= LOT
        if is_lot:
            held.uncounted = 0
    key = _key(limit, f"by {who}")
    is_counted = is_lot and clock.seconds() >= held.refused_until
    if is_counted and attempts.count(key, limit.by_caller, limit.seconds, by=LOT) is None:
        held.refused_until = clock.seconds() + attempts.seconds_left(key)
    left = math.ceil(held.refused_until - clock.seconds())
    if left > 0:
        message = f"Too many requests without an account: {limit.by_caller} in {limit.seconds} s are allowed. Sign in."
        raise TooMany(message, retry_after=left)


def give_back(limit: Limit, caller: Caller) -> None:
    """Undo the count of a caller's use: the limit does not apply to it."""
    attempts.give_back(_key(limit, f"by {name_of(caller)}"))


def name_of(caller: Caller) -> str:
    """The key that a caller is counted by."""
    if caller.id:
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
    if attempts.count(key, most, limit.seconds) is None:
        message = f"Too many requests of this kind ({limit.name}): {most} an hour are allowed."
        raise TooMany(message, retry_after=attempts.seconds_left(key))


def _key(limit: Limit, who: str) -> str:
    return f"{limit.name}|{who}"
