"""Jobs: launch algorithms, list and cancel their jobs."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from chalicelib.core.models.accounts import Project
from chalicelib.core.models.jobs import JOB, Job, JobGroup, JobLog, JobUpdate, StoredJob
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource, answer
from chalicelib.core.responses import CreateListResponse, MessageResponse
from chalicelib.errors import BadInput, NotFound
from chalicelib.http.addresses import PROJECT, WITHIN_PROJECT, in_project
from chalicelib.http.operation import Call, Located, NoQuery, Operations
from chalicelib.resources.jobs import cleanup, status_sync
from chalicelib.resources.jobs import service as jobs_service
from chalicelib.resources.jobs.runs import JobSpec, Run, as_response
from chalicelib.resources.transcodes import service as transcodes_service
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Jobs")
MOST_LINES = 1_000


class AlgorithmLaunchSpec(JobSpec, kw_only=True):
    """The body of a launch; without ids and query, it covers all media of the project."""

    media_ids: Annotated[
        list[int] | None, Meta(description="Ids of the media; without ids and query, all media of the project.")
    ] = None


class AlgorithmLaunch(Resource, kw_only=True):
    """The answer to a launch: the jobs, and their group."""

    message: str
    uid: list[str]
    gid: str


class JobsStarted(CreateListResponse, kw_only=True):
    """The answer to a launch, for clients of every version."""

    uid: list[str]
    gid: str


class JobQuery(Resource, kw_only=True):
    """The filters of a project's jobs."""

    gid: Annotated[str | None, Meta(description="Those started together.")] = None
    media_id: Annotated[list[int] | None, Meta(description="Those over any of these media.")] = None


class JobGroupQuery(Resource, kw_only=True):
    """The filters of a project's launches."""

    gid: Annotated[str | None, Meta(description="One of them.")] = None


class JobLogQuery(Resource, kw_only=True):
    """The step, and the number of lines."""

    node: Annotated[
        str | None, Meta(description="Id or task of the step; the first that failed, else the last that began.")
    ] = None
    lines: Annotated[int, Meta(ge=1, le=MOST_LINES, description="How many lines, the last ones.")] = 100


def _find(path: dict[str, Any]) -> Located[Run | StoredJob]:
    """A job of an algorithm, or a transcode."""
    found: Run | StoredJob
    try:
        found = jobs_service.find(path["uid"])
    except NotFound:
        found = records.get(JOB, path["uid"])
    return Located(target=found, project=found.project)


ONE = in_project("job", _find, variables={"uid": str})


@OPERATIONS.post(
    "/rest/AlgorithmLaunch/{project}",
    "AlgorithmLaunch",
    needs=Permission.EXECUTE,
    addresses=PROJECT,
    returns=AlgorithmLaunch,
    legacy=True,
)
def launch_all(call: Call[Project, NoQuery, AlgorithmLaunchSpec]) -> JobsStarted:
    """Start an algorithm as older clients do: over all media where none are named."""
    return _launch_jobs(call, all_media=True)


@OPERATIONS.post(
    "/rest/Jobs/{project}", "CreateJobList", needs=Permission.EXECUTE, addresses=PROJECT, returns=CreateListResponse
)
def launch(call: Call[Project, NoQuery, JobSpec]) -> JobsStarted:
    """Start an algorithm over media, in batches of `files_per_job`: a job each.

    `media_query`, parameters of GetMediaList, wins over `media_ids`. Where its engine is away the jobs wait as Pending
    and are handed over later.
    """
    return _launch_jobs(call, all_media=False)


@OPERATIONS.get("/rest/Jobs/{project}", "GetJobList", needs=Permission.VIEW, addresses=WITHIN_PROJECT)
def list_jobs(call: Call[Project, JobQuery, None]) -> list[Job]:
    """The jobs of a project as they stand, oldest first; with `gid` also the transcodes of that group."""
    return jobs_service.list_jobs(call.project, call.query.gid, call.query.media_id, call.scope)


@OPERATIONS.delete("/rest/Jobs/{project}", "DeleteJobList", needs=Permission.EXECUTE, addresses=WITHIN_PROJECT)
def delete_jobs(call: Call[Project, JobQuery, None]) -> MessageResponse:
    """Cancel and remove jobs of a project."""
    count = jobs_service.remove_many(call.project, call.query.gid, call.query.media_id, call.scope)
    return MessageResponse(message=f"Deleted {count} jobs for project {call.project}!")


@OPERATIONS.get("/rest/Job/{uid}", "GetJob", needs=Permission.VIEW, addresses=ONE)
def get_job(call: Call[Run | StoredJob, NoQuery, None]) -> Job:
    """One job with its nodes, as it stands; also a transcode."""
    if isinstance(call.target, StoredJob):
        return jobs_service.transcode_as_job(call.target)
    return as_response(status_sync.current([call.target])[0])


@OPERATIONS.delete("/rest/Job/{uid}", "DeleteJob", needs=Permission.EXECUTE, addresses=ONE)
def delete_job(call: Call[Run | StoredJob, NoQuery, None]) -> MessageResponse:
    """Cancel one job and remove it."""
    if isinstance(call.target, StoredJob):
        transcodes_service.cancel([call.target])
    else:
        cleanup.remove([call.target])
    return MessageResponse(message=f"Job with UID {call.target.uid} deleted!")


@OPERATIONS.patch("/rest/Job/{uid}", "UpdateJob", needs=Permission.EXECUTE, addresses=ONE)
def change_job(call: Call[Run | StoredJob, NoQuery, JobUpdate]) -> MessageResponse:
    """Report the progress of a job, as its steps do with `{uid}` of their parameters.

    The last report replaces the one before. Without a report, progress counts the steps that ended.
    """
    jobs_service.report(_run(call.target), call.body.progress)
    return MessageResponse(message=f"Job {call.target.uid} successfully updated!")


@OPERATIONS.get("/rest/JobGroups/{project}", "GetJobGroupList", needs=Permission.VIEW, addresses=WITHIN_PROJECT)
def list_groups(call: Call[Project, JobGroupQuery, None]) -> list[JobGroup]:
    """The launches of a project: their jobs by status, and the sum of their progress."""
    return jobs_service.groups(call.project, call.query.gid, call.scope)


@OPERATIONS.get("/rest/JobLog/{uid}", "GetJobLog", needs=Permission.VIEW, addresses=ONE)
def get_log(call: Call[Run | StoredJob, JobLogQuery, None]) -> JobLog:
    """The last lines that a step of a job printed.

    They come from where the step ran: the local stack, CloudWatch Logs, or the job cluster. `log` of the answer, and of
    each node of a job, names the place.
    """
    run = status_sync.current([_run(call.target)])[0]
    return jobs_service.output(run, call.query.node, call.query.lines)


def _run(target: Run | StoredJob) -> Run:
    if isinstance(target, StoredJob):
        raise BadInput("A transcode reports its own progress and has no steps; its message says why it failed.")
    return target


def launch_response(launched: jobs_service.Launched) -> JobsStarted:
    """The answer to a launch."""
    uids = [run.uid for run in launched.runs]
    return JobsStarted(
        message=f"Algorithm {launched.algorithm.name} started successfully!",
        id=list(uids),
        uid=uids,
        gid=launched.gid,
        object=[msgspec.to_builtins(answer(as_response(run))) for run in launched.runs],
    )


def _launch_jobs(call: Call[Project, NoQuery, Any], *, all_media: bool) -> JobsStarted:
    return launch_response(jobs_service.launch(call.target, call.scope, call.body, all_media=all_media))
