"""Whether the service is well: in one word for everyone, part by part for callers with a token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from msgspec import Meta

from chalicelib import __version__
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.errors import LimnError, Unavailable
from chalicelib.http.operation import Call, NoQuery, Operation
from chalicelib.queues import sending
from chalicelib.storage import health, sealing

TAG = "Service"


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


def health_check(call: Call[None, NoQuery, None]) -> list[HealthStatus]:  # noqa: ARG001 nothing of it matters
    """The service answers."""
    return [HealthStatus(part="service", version=__version__)]


def health_check_full(call: Call[None, NoQuery, None]) -> list[HealthStatus]:
    """The service and what it depends on answer."""
    for part, reach in PARTS:
        try:
            reach()
        except LimnError as failure:
            raise Unavailable(f"The {part} does not answer.") from failure
    return [*health_check(call), *(HealthStatus(part=part) for part, _ in PARTS)]


PAGES = (
    Operation(
        id="GetHealth",
        method="GET",
        path="/health",
        summary="The same as HealthCheck, for load balancers and monitors.",
        needs=Permission.ANYONE,
        returns=list[HealthStatus],
        handler=health_check,
        tag=TAG,
    ),
)
OPERATIONS = (
    Operation(
        id="HealthCheck",
        method="GET",
        path="/rest/HealthCheck",
        summary="Whether the service answers.",
        needs=Permission.ANYONE,
        returns=list[HealthStatus],
        handler=health_check,
        tag=TAG,
    ),
    Operation(
        id="HealthCheckFull",
        method="GET",
        path="/rest/HealthCheckFull",
        summary="Whether the service and what it depends on answer; 503 names the part that does not.",
        details="It asks every part, so it needs a token; HealthCheck is open and asks none.",
        needs=Permission.SIGNED_IN,
        returns=list[HealthStatus],
        handler=health_check_full,
        tag=TAG,
    ),
)
