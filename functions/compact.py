"""The compaction function: on a schedule, compacts logs that have grown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from chalicelib.maintenance import compaction

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

SPARE = 300.0
"""Seconds that a started compaction needs to end: a million entities take one minute."""
logger = Logger(service="limn")


def handler(_: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Compact as many projects as time allows; returns a summary."""
    done = compaction.run(context.get_remaining_time_in_millis() / 1000 - SPARE)
    if done:
        logger.info("compacted", extra={"projects": done})
    return {"projects": done}
