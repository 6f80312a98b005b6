"""Transcodes: convert uploaded videos for streaming in browsers."""

from __future__ import annotations

from typing import Any

from chalicelib.core.models.accounts import Project
from chalicelib.core.models.jobs import JOB, StoredJob, Transcode, TranscodeCreated, TranscodeSpec
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.core.responses import CreateResponse, MessageResponse
from chalicelib.http.addresses import WITHIN_PROJECT, record_of_project
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.query.parsers.bodies import MediaIdQuery
from chalicelib.query.parsers.parameters import MediaQuery
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.transcodes import service as transcodes_service

OPERATIONS = Operations(tag="Transcodes")
ONE = record_of_project(JOB, "uid")


class OlderTranscodeResponse(Resource, kw_only=True):
    """The answer to a started transcode for older clients."""

    message: str
    uid: str
    gid: str
    media_id: int


@OPERATIONS.post(
    "/rest/Transcode/{project}",
    "TranscodeOlder",
    needs=Permission.TRANSFER,
    addresses=WITHIN_PROJECT,
    returns=OlderTranscodeResponse,
    legacy=True,
    summary="Have a video transcoded, as older clients ask for it.",
    details="",
)
@OPERATIONS.post(
    "/rest/Transcodes/{project}",
    "Transcode",
    needs=Permission.TRANSFER,
    addresses=WITHIN_PROJECT,
    spends=("bytes", "transcoded_minutes"),
    returns=CreateResponse,
)
def start_transcode(call: Call[Project, NoQuery, TranscodeSpec]) -> TranscodeCreated:
    """Have a video made into streaming renditions, thumbnails and audio.

    The source is an upload of the project or a URL from an allowed origin. A media is made unless `media_id` names one;
    what that has already is not made again. Ask GetTranscode how it goes.
    """
    writer = Writer.from_call(call)
    job = transcodes_service.start(writer, call.target, call.body)
    return TranscodeCreated(
        message=f"Transcode job {job.uid} started for file {job.spec.name}. Media ID: {job.media}",
        id=job.uid,
        object=transcodes_service.as_response(job),
        uid=job.uid,
        gid=job.gid,
        media_id=job.media,
    )


@OPERATIONS.put(
    "/rest/Transcodes/{project}",
    "GetTranscodeListById",
    needs=Permission.TRANSFER,
    addresses=WITHIN_PROJECT,
    body=MediaIdQuery,
    summary="The transcodes of media chosen by ids or an object search in the body.",
)
@OPERATIONS.get("/rest/Transcodes/{project}", "GetTranscodeList", needs=Permission.VIEW, addresses=WITHIN_PROJECT)
def list_transcodes(call: Call[Project, MediaQuery, Any]) -> list[Transcode]:
    """The transcodes of an upload group, of the media that match, or all of the project."""
    return [
        transcodes_service.as_response(job)
        for job in transcodes_service.list_transcodes(call.project, call.query, call.body, call.scope)
    ]


@OPERATIONS.delete(
    "/rest/Transcodes/{project}", "DeleteTranscodeList", needs=Permission.TRANSFER, addresses=WITHIN_PROJECT
)
def delete_transcodes(call: Call[Project, MediaQuery, MediaIdQuery | None]) -> MessageResponse:
    """Cancel transcodes; their media stay as they are."""
    count = transcodes_service.cancel(
        transcodes_service.list_transcodes(call.project, call.query, call.body, call.scope)
    )
    return MessageResponse(message=f"Cancelled {count} transcodes of project {call.project}!")


@OPERATIONS.get("/rest/Transcode/{uid}", "GetTranscode", needs=Permission.VIEW, addresses=ONE)
def get_transcode(call: Call[StoredJob, NoQuery, None]) -> Transcode:
    """One transcode: what was asked for, and how far it is."""
    return transcodes_service.as_response(call.target)


@OPERATIONS.delete("/rest/Transcode/{uid}", "DeleteTranscode", needs=Permission.TRANSFER, addresses=ONE)
def delete_transcode(call: Call[StoredJob, NoQuery, None]) -> MessageResponse:
    """Cancel one transcode; its media stays as it is."""
    transcodes_service.cancel([call.target])
    return MessageResponse(message=f"Transcode {call.target.uid} cancelled!")
