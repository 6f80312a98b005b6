"""The function that updates jobs without requests: on a schedule, and on events of AWS Batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chalicelib.core.time.parts import run_each
from chalicelib.resources.jobs import cleanup, status_sync
from chalicelib.resources.jobs.engines import batch_jobs
from chalicelib.resources.webhooks import rules

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

RULE_SECONDS = 20.0
"""Seconds for launching what trigger rules launch."""
SWEEP_SECONDS = 30.0
"""Seconds for each half of a sweep; the function has 90, and each half may take one call longer."""


def handler(event: dict[str, Any], _: LambdaContext) -> None:
    """Update the job of an AWS Batch event; on the schedule, update, end and clean up all jobs."""
    if event.get("detail-type") == "Batch Job State Change":
        uid = batch_jobs.uid_in(str(event.get("detail", {}).get("jobName", "")))
        if uid:
            status_sync.refresh(uid)
        return
    run_each(
        [
            ("the sweep of trigger rules", lambda: rules.sweep(RULE_SECONDS)),
            ("the update of jobs", lambda: status_sync.sweep(SWEEP_SECONDS)),
            ("the removal of jobs", lambda: cleanup.sweep(SWEEP_SECONDS)),
        ]
    )
