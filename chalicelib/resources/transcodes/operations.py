"""Transcodes: convert uploaded videos for streaming in browsers."""

from __future__ import annotations

from typing import Any

from chalicelib.core.models.accounts import Project
from chalicelib.core.models.jobs import JOB, StoredJob, Transcode, TranscodeCreated, TranscodeSpec
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.core.responses import CreateResponse, MessageResponse
from chalicelib.http.addresses import WITHIN_PROJECT, record_of_project
from chalicelib.http.operation import Call, NoQuery, Operation
from chalicelib.query.parsers.bodies import MediaIdQuery
from chalicelib.query.parsers.parameters import MediaQuery
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.transcodes import service as transcodes_service

TAG = "Transcodes"
ONE = record_of_project(JOB, "uid")


class OlderTranscodeResponse(Resource, kw_only=True):
    """The answer to a started transcode for older clients."""

    message: str
    uid: str
    gid: str
    media_id: int


def start_transcode(call: Call[Project, NoQuery, TranscodeSpec]) -> TranscodeCreated:
    """Start a transcode."""
    writer = Writer.of(call)
    job = transcodes_service.start(writer, call.target, call.body)
    return TranscodeCreated(
        message=f"Transcode job {job.uid} started for file {job.spec.name}. Media ID: {job.media}",
        id=job.uid,
        object=transcodes_service.as_response(job),
        uid=job.uid,
        gid=job.gid,
        media_id=job.media,
    )


def list_transcodes(call: Call[Project, MediaQuery, Any]) -> list[Transcode]:
    """The transcodes that match."""
    return [
        transcodes_service.as_response(job)
        for job in transcodes_service.list_transcodes(call.project, call.query, call.body, call.scope)
    ]


def delete_transcodes(call: Call[Project, MediaQuery, Any]) -> MessageResponse:
    """Cancel the transcodes that match."""
    count = transcodes_service.cancel(
        transcodes_service.list_transcodes(call.project, call.query, call.body, call.scope)
    )
    return MessageResponse(message=f"Cancelled {count} transcodes of project {call.project}!")


def get_transcode(call: Call[StoredJob, NoQuery, None]) -> Transcode:
    """One transcode."""
    return transcodes_service.as_response(call.target)


def delete_transcode(call: Call[StoredJob, NoQuery, None]) -> MessageResponse:
    """Cancel one transcode."""
    transcodes_service.cancel([call.target])
    return MessageResponse(message=f"Transcode {call.target.uid} cancelled!")


OPERATIONS = (
    Operation(
        id="Transcode",
        method="POST",
        path="/rest/Transcodes/{project}",
        summary="Have a video made into streaming renditions, thumbnails and audio.",
        details="The source is an upload of the project or a URL from an allowed origin. A media is made unless "
        "`media_id` names one; what that has already is not made again. Ask GetTranscode how it goes.",
        needs=Permission.TRANSFER,
        addresses=WITHIN_PROJECT,
        body=TranscodeSpec,
        returns=CreateResponse,
        handler=start_transcode,
        tag=TAG,
    ),
    Operation(
        id="TranscodeOlder",
        method="POST",
        path="/rest/Transcode/{project}",
        summary="Have a video transcoded, as older clients ask for it.",
        needs=Permission.TRANSFER,
        addresses=WITHIN_PROJECT,
        body=TranscodeSpec,
        returns=OlderTranscodeResponse,
        handler=start_transcode,
        tag=TAG,
        legacy=True,
    ),
    Operation(
        id="GetTranscodeList",
        method="GET",
        path="/rest/Transcodes/{project}",
        summary="The transcodes of an upload group, of the media that match, or all of the project.",
        needs=Permission.VIEW,
        addresses=WITHIN_PROJECT,
        query=MediaQuery,
        returns=list[Transcode],
        handler=list_transcodes,
        tag=TAG,
    ),
    Operation(
        id="GetTranscodeListById",
        method="PUT",
        path="/rest/Transcodes/{project}",
        summary="The transcodes of media chosen by ids or an object search in the body.",
        needs=Permission.TRANSFER,
        addresses=WITHIN_PROJECT,
        query=MediaQuery,
        body=MediaIdQuery,
        returns=list[Transcode],
        handler=list_transcodes,
        tag=TAG,
    ),
    Operation(
        id="DeleteTranscodeList",
        method="DELETE",
        path="/rest/Transcodes/{project}",
        summary="Cancel transcodes; their media stay as they are.",
        needs=Permission.TRANSFER,
        addresses=WITHIN_PROJECT,
        query=MediaQuery,
        body=MediaIdQuery,
        body_required=False,
        returns=MessageResponse,
        handler=delete_transcodes,
        tag=TAG,
    ),
    Operation(
        id="GetTranscode",
        method="GET",
        path="/rest/Transcode/{uid}",
        summary="One transcode: what was asked for, and how far it is.",
        needs=Permission.VIEW,
        addresses=ONE,
        returns=Transcode,
        handler=get_transcode,
        tag=TAG,
    ),
    Operation(
        id="DeleteTranscode",
        method="DELETE",
        path="/rest/Transcode/{uid}",
        summary="Cancel one transcode; its media stays as it is.",
        needs=Permission.TRANSFER,
        addresses=ONE,
        returns=MessageResponse,
        handler=delete_transcode,
        tag=TAG,
    ),
)
