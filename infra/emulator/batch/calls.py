"""The calls of AWS Batch and CloudWatch Logs that the service makes, with the answers of AWS."""

from __future__ import annotations

import time
import uuid
from typing import Any

from infra.emulator.batch import logs
from infra.emulator.batch.scheduler import Scheduler
from infra.emulator.batch.store import ENDED, Job, JobStore

ACCOUNT = "123456789012"
REGION = "us-east-1"
QUEUE = f"arn:aws:batch:{REGION}:{ACCOUNT}:job-queue/limn-local-jobs"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/limn-local-jobs"
_PAGE = 100
_MOST_LINES = 10_000


class CallRefused(Exception):
    """A call that AWS would answer with a ClientException."""


class Calls:
    """The API over one store and its scheduler. Methods are named as boto3 names them and take what it takes."""

    def __init__(self, store: JobStore, scheduler: Scheduler) -> None:
        self._store, self._scheduler = store, scheduler

    def register_job_definition(self, **body: Any) -> dict[str, Any]:
        """Keep a definition."""
        self._store.define(body)
        name = body["jobDefinitionName"]
        return {"jobDefinitionName": name, "jobDefinitionArn": _definition_arn(name), "revision": 1}

    def describe_job_definitions(self, **body: Any) -> dict[str, Any]:
        """The definition of a name."""
        found = self._store.definition(body.get("jobDefinitionName", ""))
        if found is None:
            return {"jobDefinitions": []}
        arn = _definition_arn(found["jobDefinitionName"])
        return {"jobDefinitions": [{**found, "jobDefinitionArn": arn, "revision": 1, "status": "ACTIVE"}]}

    def submit_job(self, **body: Any) -> dict[str, Any]:
        """Queue a job; it is on disk when this returns."""
        definition = self._store.definition(body["jobDefinition"])
        if definition is None:
            raise CallRefused(f"JobDefinition {body['jobDefinition']} does not exist.")
        if body["jobQueue"] != QUEUE:
            raise CallRefused(f"JobQueue {body['jobQueue']} not found.")
        job = Job(id=str(uuid.uuid4()), name=body["jobName"], status="SUBMITTED", request=body, definition=definition)
        needs = [item["jobId"] for item in body.get("dependsOn") or []]
        try:
            self._store.add(job, needs)
        except KeyError as missing:
            raise CallRefused(f"Job {missing.args[0]} does not exist.") from missing
        self._scheduler.wake()
        return {"jobArn": _job_arn(job.id), "jobId": job.id, "jobName": job.name}

    def describe_jobs(self, **body: Any) -> dict[str, Any]:
        """Jobs by their ids; those that do not exist are left out."""
        found = [self._store.get(number) for number in body["jobs"]]
        return {"jobs": [_detail(job) for job in found if job is not None]}

    def list_jobs(self, **body: Any) -> dict[str, Any]:
        """Jobs of a name, which may end in `*`."""
        [name] = [value for item in body["filters"] if item["name"] == "JOB_NAME" for value in item["values"]]
        start = int(body.get("nextToken") or 0)
        found = self._store.named(name)
        page = found[start : start + _PAGE]
        more = {"nextToken": str(start + _PAGE)} if len(found) > start + _PAGE else {}
        return {"jobSummaryList": [_summary(job) for job in page], **more}

    def terminate_job(self, **body: Any) -> dict[str, Any]:
        """End a job and its processes; one that has ended, or does not exist, stays as it is."""
        self._scheduler.terminate(body["jobId"], body["reason"])
        return {}

    def get_log_events(self, **body: Any) -> dict[str, Any]:
        """The last lines of what a job printed."""
        job = str(body["logStreamName"]).rpartition("/")[2]
        lines: list[str] = []
        if self._store.get(job) is not None:
            lines = logs.tail(self._scheduler.logs, job, min(int(body.get("limit") or _MOST_LINES), _MOST_LINES))
        moment = int(time.time() * 1000)
        return {"events": [{"timestamp": moment, "ingestionTime": moment, "message": line} for line in lines]}


def _summary(job: Job) -> dict[str, Any]:
    answer = {
        "jobArn": _job_arn(job.id),
        "jobId": job.id,
        "jobName": job.name,
        "status": job.status,
        "createdAt": int(job.created * 1000),
    }
    if job.reason is not None:
        answer["statusReason"] = job.reason
    if job.started is not None:
        answer["startedAt"] = int(job.started * 1000)
    if job.stopped is not None and job.status in ENDED:
        answer["stoppedAt"] = int(job.stopped * 1000)
    return answer


def _detail(job: Job) -> dict[str, Any]:
    stream = {"logStreamName": f"{job.request['jobDefinition']}/default/{job.id}"} if job.started is not None else {}
    code = {"exitCode": job.exit_code} if job.exit_code is not None else {}
    answer = {**_summary(job), "jobQueue": QUEUE, "jobDefinition": _definition_arn(job.request["jobDefinition"])}
    if "containerProperties" in job.definition:
        return {**answer, "container": {"image": job.definition["containerProperties"]["image"], **stream, **code}}
    [task] = job.definition["ecsProperties"]["taskProperties"]
    containers = [
        {"name": item["name"], "image": item["image"], **({**stream, **code} if item["name"] == "main" else {})}
        for item in task["containers"]
    ]
    return {**answer, "ecsProperties": {"taskProperties": [{"containers": containers}]}}


def _job_arn(number: str) -> str:
    return f"arn:aws:batch:{REGION}:{ACCOUNT}:job/{number}"


def _definition_arn(name: str) -> str:
    return f"arn:aws:batch:{REGION}:{ACCOUNT}:job-definition/{name}:1"
