"""The function that keeps jobs current when nobody looks: on a schedule, and on events of AWS Batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from chalicelib.services import job_standing
from chalicelib.services.engines import batch_jobs

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

SWEEP_SECONDS = 40.0
logger = Logger(service="limn")


def handler(event: dict[str, Any], _: LambdaContext) -> None:
    """One job that Batch tells of, or all that go on."""
    if event.get("detail-type") == "Batch Job State Change":
        uid = batch_jobs.uid_in(str(event.get("detail", {}).get("jobName", "")))
        if uid:
            job_standing.refresh(uid)
        return
    logger.info("jobs swept", extra={"jobs": job_standing.sweep(SWEEP_SECONDS)})
