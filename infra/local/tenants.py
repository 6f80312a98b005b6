"""The tenant of a request, for shares of what the requests of a process have in common."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Hashable

from chalicelib.access import authentication
from chalicelib.access.authentication import Caller, WrongNetwork
from chalicelib.core.models.credentials import hash_of

SECONDS = 60.0
"""How long the tenant of a token is remembered."""
_MAX_TENANTS = 10_000
_known: OrderedDict[str, tuple[float, Hashable]] = OrderedDict()


def tenant_of(authorization: str | None) -> Hashable:
    """The first organization of the caller, else the caller; one for all requests without a good token."""
    if not authorization:
        return "nobody"
    name = hash_of(authorization)
    found, now = _known.get(name), time.monotonic()
    if found is None or found[0] < now:
        try:
            found = (now + SECONDS, _find(authorization))
        except Exception:  # noqa: BLE001 the request itself says what is wrong
            return "nobody"
        _known[name] = found
        while len(_known) > _MAX_TENANTS:
            _known.popitem(last=False)
    return found[1]


def _find(authorization: str) -> Hashable:
    try:
        caller = authentication.authenticate(authorization)
    except WrongNetwork as wrong:  # where the request comes from is not known here
        caller = wrong.caller
    if caller.is_guest and caller.credential and caller.credential.projects:
        return ("organization", authentication.project_of(caller.credential.projects[0]).organization)
    # a token with limits counts as its user does
    organizations = authentication.organizations_of(Caller(id=caller.id))
    return ("organization", min(organizations)) if organizations else ("user", caller.id)
