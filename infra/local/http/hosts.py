"""The names by which the local stack's own pages answer.

A page of the web can let its own name resolve to this machine (DNS rebinding). To a browser `/outbox`, with its tokens
of password resets, would then be a page of the same origin. The name stands in the header Host: an IP address, a name
of loopback and this machine's own names cannot be another site's.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Mapping

from infra.local.http import peers

_HOST = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:/@?#\\]+))(?::[0-9]{1,5})?")


def is_own(headers: Mapping[str, str], listening: str, here: str | None = None) -> bool:
    """Whether a request's Host cannot be the name of another site.

    Args:
        headers: of the request, in any case.
        listening: the name or address that the port listens at.
        here: the address at which a program of this machine connected. Its Host is this address or one of loopback: a
            proxy passes the address by which others reach it.
    """
    host = next((value for name, value in headers.items() if name.lower() == "host"), "")
    found = _HOST.fullmatch(host.strip())
    if found is None:
        return False
    name = (found["six"] or found["name"]).lower().removesuffix(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    if name in (listening.lower(), socket.gethostname().lower()):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return here is None or peers.is_loopback(name) or address == ipaddress.ip_address(here.partition("%")[0])
