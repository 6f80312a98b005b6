"""Whether a request comes from this machine.

The local stack's own pages are for the person at this machine: `/outbox` shows tokens of password resets. With `HOST`
other than loopback the port is open to the network, and an address as the header Host is no proof of anything. A proxy
on this machine is known by its headers, by HTTP/1.0, which nginx speaks, or by the Host that it passes (`hosts.py`).
One that hides all three cannot be known: then `LIMN_PAGES=operators` keeps the pages for administrators.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from functools import lru_cache

PROXIED = frozenset(("via", "forwarded", "x-forwarded-for", "x-real-ip"))
"""Headers with which a proxy names itself or its client."""


def is_here(client: str, server: str, headers: Mapping[str, str], version: str = "HTTP/1.1") -> bool:
    """Whether the client of a connection is a program on this machine, and no proxy for another.

    Args:
        client: the network address of the client.
        server: that of this end of the connection; a program on this machine that connects to it has the same.
        headers: of the request, in any case.
        version: of the request's protocol.
    """
    if version == "HTTP/1.0" or not PROXIED.isdisjoint(name.lower() for name in headers):
        return False
    return client == server or is_loopback(client)


@lru_cache(maxsize=256)
def is_loopback(address: str) -> bool:
    """Whether a network address is one of loopback, also as IPv6 writes those of IPv4."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return (getattr(found, "ipv4_mapped", None) or found).is_loopback
