"""Whether the service is well: in one word for everyone, part by part for callers with a token."""

from __future__ import annotations

from collections.abc import Callable
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

    part: str
    status: str = "ok"
    version: Annotated[str | None, Meta(description="The version of the service, in the part `service` only.")] = None


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


@OPERATIONS.get("/rest/HealthCheckFull", "HealthCheckFull", needs=Permission.SIGNED_IN)
def health_check_full(call: Call[None, NoQuery, None]) -> list[HealthStatus]:
    """Whether the service and what it depends on answer; 503 names the part that does not.

    It asks every part, so it needs a token; HealthCheck is open and asks none.
    """
    for part, reach in PARTS:
        try:
            reach()
        except LimnError as failure:
            raise Unavailable(f"The {part} does not answer.") from failure
    return [*health_check(call), *(HealthStatus(part=part) for part, _ in PARTS)]
