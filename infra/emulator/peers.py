"""Whether a network address is this machine, and which headers a proxy adds."""

from __future__ import annotations

import ipaddress
from functools import lru_cache

PROXIED = frozenset(("via", "forwarded", "x-forwarded-for", "x-real-ip"))
"""Headers with which a proxy names itself or its client."""


@lru_cache(maxsize=256)
def is_loopback(address: str) -> bool:
    """Whether a network address is one of loopback, also as IPv6 writes those of IPv4."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return (getattr(found, "ipv4_mapped", None) or found).is_loopback
