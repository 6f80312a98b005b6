"""Calls to AWS Batch and to the logs of its jobs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.resources.jobs.engines.base import EngineUnavailable, WorkflowRefused
from chalicelib.settings import settings

LOG_GROUP = "/aws/batch/job"
"""The log group of jobs on Fargate."""
JOBS_PER_CALL = 100
"""Maximum jobs described in one call."""
_ANSWERS = {
    "submit_job": "jobId",
    "describe_jobs": "jobs",
    "list_jobs": "jobSummaryList",
    "describe_job_definitions": "jobDefinitions",
    "register_job_definition": "jobDefinitionArn",
}
"""The members that every answer has."""
_REFUSED = ("ClientException", "ValidationException", "AccessDeniedException")
CONFIG = Config(connect_timeout=1.5, read_timeout=3, retries={"total_max_attempts": 2, "mode": "standard"})
"""Two attempts must fit into the time of an API request; a job that Batch did not accept is submitted later."""


@lru_cache(maxsize=2)
def client(*, once: bool = False) -> Any:
    """The Batch client of this process; `once`: a client without retries, for calls that are not idempotent."""
    config = CONFIG.merge(Config(retries={"total_max_attempts": 1, "mode": "standard"})) if once else CONFIG
    return boto3.client("batch", endpoint_url=settings().aws_endpoint or None, config=config)


@lru_cache(maxsize=1)
def logs_client() -> Any:
    """The CloudWatch Logs client of this process."""
    return boto3.client("logs", endpoint_url=settings().aws_endpoint or None, config=CONFIG)


def ensure_definition(definition: dict[str, Any]) -> str:
    """The name of an existing job definition, registered if needed: its name derives from its content."""
    name = definition["jobDefinitionName"]
    if name not in _definitions:
        found = call("describe_job_definitions", jobDefinitionName=name, status="ACTIVE")
        if not found["jobDefinitions"]:
            call("register_job_definition", **definition)
        _definitions.add(name)
    return str(name)


_definitions: set[str] = set()


def list_jobs(name: str) -> set[str]:
    """The jobs with a name, or with the prefix before its `*`."""
    filters = [{"name": "JOB_NAME", "values": [name]}]
    more: dict[str, Any] = {}
    found: set[str] = set()
    while True:
        answer = call("list_jobs", jobQueue=settings().job_queue, filters=filters, **more)
        found |= {str(job["jobId"]) for job in answer["jobSummaryList"] if "jobId" in job}
        if not answer.get("nextToken"):
            return found
        more = {"nextToken": answer["nextToken"]}


def describe_jobs(numbers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Batch's descriptions of the jobs that it knows, by id."""
    found = {}
    for start in range(0, len(numbers), JOBS_PER_CALL):
        for job in call("describe_jobs", jobs=list(numbers[start : start + JOBS_PER_CALL]))["jobs"]:
            found[str(job.get("jobId"))] = job
    return found


def call(operation: str, **more: Any) -> dict[str, Any]:
    """Batch's answer to a call. Raises WorkflowRefused, or EngineUnavailable, also if it is unreadable."""
    try:
        asked = client(once=True) if operation == "submit_job" else client()
        answer: dict[str, Any] = getattr(asked, operation)(**more)
    except ClientError as failure:
        code = failure.response["Error"]["Code"]
        if code in _REFUSED:
            raise WorkflowRefused(
                f"AWS Batch refuses: {failure.response['Error'].get('Message', code)[:300]}"
            ) from failure
        raise EngineUnavailable(f"AWS Batch does not answer ({code}).") from failure
    except BotoCoreError as failure:
        raise EngineUnavailable(f"AWS Batch does not answer ({type(failure).__name__}).") from failure
    except (AttributeError, KeyError, TypeError, ValueError) as failure:
        # botocore ignores unexpected content
        raise EngineUnavailable("AWS Batch sent an answer that cannot be read.") from failure
    if _ANSWERS.get(operation, "ResponseMetadata") not in answer:
        raise EngineUnavailable("AWS Batch answers with something else than was asked.")
    return answer
