"""The upkeep function: on a schedule, runs the due tasks of projects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from chalicelib.maintenance import upkeep

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

SPARE = 120.0
"""Seconds that started work on a project needs to end."""
logger = Logger(service="limn")


def handler(_: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Run the due tasks of as many projects as time allows; returns their number."""
    count = upkeep.run(context.get_remaining_time_in_millis() / 1000 - SPARE)
    logger.info("looked after", extra={"projects": count})
    return {"projects": count}
