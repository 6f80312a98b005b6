"""AWS Batch on this machine: moto's, with jobs that stay where they are until a test moves them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

import boto3
from botocore.config import Config
from moto.batch.models import BatchBackend, Job, batch_backends
from moto.batch_simple.models import BatchSimpleBackend
from moto.core import DEFAULT_ACCOUNT_ID
from moto.core.models import default_user_config

from infra.emulator import aws

ROLE = f"arn:aws:iam::{DEFAULT_ACCOUNT_ID}:role/batch"
TRUST = '{"Version":"2012-10-17","Statement":[]}'


@contextmanager
def queue(monkeypatch: Any) -> Iterator[str]:
    """A Fargate queue; its ARN."""
    before = default_user_config["batch"]
    default_user_config["batch"] = {"use_docker": False}

    def hold(self: Any, include_start_attempt: bool, job: Job) -> None:
        job.status = "SUBMITTED"
        self.backend._jobs[job.job_id] = job
        job.job_queue.jobs.append(job)

    def register(self: Any, *, container_properties: Any, **more: Any) -> Any:
        # moto knows no tasks of several containers: one stands for them
        sizes = [{"type": "VCPU", "value": "0.25"}, {"type": "MEMORY", "value": "512"}]
        instead = {"image": "several", "resourceRequirements": sizes}
        return registered(self, container_properties=container_properties or instead, **more)

    registered = BatchBackend.register_job_definition
    monkeypatch.setattr(BatchBackend, "register_job_definition", register)
    monkeypatch.setattr(BatchSimpleBackend, "_mark_job_as_finished", hold)
    client, iam, ec2 = boto3.client("batch"), boto3.client("iam"), boto3.client("ec2")
    with suppress(iam.exceptions.EntityAlreadyExistsException):
        iam.create_role(RoleName="batch", AssumeRolePolicyDocument=TRUST)
    subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]
    group = ec2.describe_security_groups()["SecurityGroups"][0]["GroupId"]
    resources = {"type": "FARGATE", "maxvCpus": 16, "subnets": [subnet], "securityGroupIds": [group]}
    name = f"limn-{id(monkeypatch)}"
    environment = client.create_compute_environment(
        computeEnvironmentName=name, type="MANAGED", state="ENABLED", computeResources=resources, serviceRole=ROLE
    )["computeEnvironmentArn"]
    order = [{"order": 1, "computeEnvironment": environment}]
    yield client.create_job_queue(jobQueueName=name, state="ENABLED", priority=1, computeEnvironmentOrder=order)[
        "jobQueueArn"
    ]
    batch_backends[DEFAULT_ACCOUNT_ID][aws.REGION].reset()
    default_user_config["batch"] = before


def jobs() -> dict[str, Job]:
    """The jobs there are, by id."""
    return batch_backends[DEFAULT_ACCOUNT_ID][aws.REGION]._jobs


def move(number: str, status: str, reason: str | None = None) -> None:
    """Move a job, and with it what waits for it in vain."""
    job = jobs()[number]
    job.status = status
    if status in ("STARTING", "RUNNING", "SUCCEEDED"):
        job.job_started_at = datetime.now(UTC)
    if status in ("SUCCEEDED", "FAILED"):
        job.job_stopped, job.job_stopped_at = True, datetime.now(UTC)
        job.job_stopped_reason = reason
    if status == "FAILED":
        for other in jobs().values():
            waits = {entry["jobId"] for entry in other.depends_on or []}
            if number in waits and other.status not in ("SUCCEEDED", "FAILED"):
                move(other.job_id, "FAILED", "Dependent Job failed")


class Recorder:
    """A Batch client that keeps what it is told after botocore found it in order."""

    def __init__(self) -> None:
        self.definitions: dict[str, dict[str, Any]] = {}
        self.submitted: list[dict[str, Any]] = []
        self.jobs: dict[str, dict[str, Any]] = {}
        self._model = boto3.client("batch", config=Config(parameter_validation=True)).meta.service_model

    def _check(self, operation: str, told: dict[str, Any]) -> None:
        from botocore.validate import validate_parameters

        validate_parameters(told, self._model.operation_model(operation).input_shape)

    def describe_job_definitions(self, **told: Any) -> dict[str, Any]:
        self._check("DescribeJobDefinitions", told)
        found = self.definitions.get(told["jobDefinitionName"])
        return {"jobDefinitions": [found] if found else []}

    def register_job_definition(self, **told: Any) -> dict[str, Any]:
        self._check("RegisterJobDefinition", told)
        self.definitions[told["jobDefinitionName"]] = told
        return {"jobDefinitionArn": f"arn:aws:batch:{aws.REGION}:{DEFAULT_ACCOUNT_ID}:job-definition/d:1"}

    def submit_job(self, **told: Any) -> dict[str, Any]:
        self._check("SubmitJob", told)
        assert told["jobDefinition"] in self.definitions
        number = f"job-{len(self.submitted)}"
        self.submitted.append(told)
        self.jobs[number] = {"jobId": number, "jobName": told["jobName"], "status": "SUBMITTED"}
        return {"jobId": number}

    def describe_jobs(self, **told: Any) -> dict[str, Any]:
        self._check("DescribeJobs", told)
        return {"jobs": [self.jobs[number] for number in told["jobs"] if number in self.jobs]}

    def list_jobs(self, **told: Any) -> dict[str, Any]:
        self._check("ListJobs", told)
        [name] = told["filters"][0]["values"]
        found = [job for job in self.jobs.values() if fnmatchcase(job["jobName"], name)]
        start = int(told.get("nextToken", 0))
        more = {"nextToken": str(start + 2)} if len(found) > start + 2 else {}
        return {"jobSummaryList": found[start : start + 2], **more}

    def terminate_job(self, **told: Any) -> dict[str, Any]:
        self._check("TerminateJob", told)
        self.jobs[told["jobId"]]["status"] = "FAILED"
        return {"ResponseMetadata": {}}
