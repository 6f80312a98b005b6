"""Whether the service is well: in one word for everyone, part by part for callers with a token."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Annotated

from msgspec import Meta

from chalicelib import __version__
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.errors import LimnError, Unavailable
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.queues import sending
from chalicelib.storage import health, sealing

TAG = "Service"
OPERATIONS = Operations(tag=TAG)
PAGES = Operations(tag=TAG)


class HealthStatus(Resource, kw_only=True):
    """A part of the service that is well."""

    part: Annotated[str, Meta(description="Part of the service.")]
    status: Annotated[str, Meta(description="ok.")] = "ok"
    version: Annotated[str | None, Meta(description="The version of the service, in the part `service` only.")] = None


SUMMARY_SECONDS = 10.0
"""How long a summary for callers without a token is kept."""
PARTS: tuple[tuple[str, Callable[[], object]], ...] = (
    ("database", health.reach_database),
    ("object store", health.reach_objects),
    ("queues", sending.reach),
    ("key service", lambda: sealing.seal(b"health", "health")),
)


@OPERATIONS.get("/rest/HealthCheck", "HealthCheck", needs=Permission.ANYONE, summary="Whether the service answers.")
@PAGES.get("/health", "GetHealth", needs=Permission.ANYONE)
def health_check(call: Call[None, NoQuery, None]) -> list[HealthStatus]:  # noqa: ARG001 nothing of it matters
    """The same as HealthCheck, for load balancers and monitors."""
    return [HealthStatus(part="service", version=__version__)]


@OPERATIONS.get("/rest/HealthCheckFull", "HealthCheckFull", needs=Permission.ANYONE)
def health_check_full(call: Call[None, NoQuery, None]) -> list[HealthStatus]:
    """Whether the service and what it depends on answer, and no work was given up; 503 where something is wrong.

    Users learn the parts, and which of them is wrong; callers without a token the whole alone, at most ten seconds old.
    """
    if call.caller.signed_in:
        return _ask_parts()
    if not _summary(int(time.monotonic() / SUMMARY_SECONDS)):
        raise Unavailable("A part of the service does not answer, or work was given up.")
    return health_check(call)


@lru_cache(maxsize=1)
def _summary(_period: int) -> bool:
    """Whether all is well, asked once in a period whoever calls."""
    try:
        _ask_parts()
    except LimnError:
        return False
    return True


def _ask_parts() -> list[HealthStatus]:
    """The parts, asked one after the other. Raises Unavailable, naming what is wrong."""
    for part, reach in PARTS:
        try:
            reach()
        except LimnError as failure:
            raise Unavailable(f"The {part} does not answer.") from failure
    if given_up := sending.count_given_up():
        counts = ", ".join(f"{count} of {name}" for name, count in given_up.items())
        raise Unavailable(
            f"Work was given up: dead letters, {counts}.",
            "`python -m infra.admin dead-letters` shows them, and `redrive all` has them done anew.",
        )
    return [HealthStatus(part="service", version=__version__), *(HealthStatus(part=part) for part, _ in PARTS)]
