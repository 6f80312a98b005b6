"""Neighbours of a media, sums over media, and clones."""

from __future__ import annotations

from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.entities import Media
from chalicelib.core.permissions import Permission
from chalicelib.core.responses import CreateListResponse
from chalicelib.http.addresses import PROJECT, entity
from chalicelib.http.operation import Call, NoQuery, Operation
from chalicelib.query.parsers.parameters import MediaQuery
from chalicelib.resources.media import clones
from chalicelib.resources.media import statistics as media_statistics
from chalicelib.resources.media.statistics_schemas import (
    CloneMediaSpec,
    GetClonedMediaResponse,
    MediaNext,
    MediaPrev,
    MediaStats,
)

TAG = "Media"
ONE = entity(Kind.MEDIA)


def next_media(call: Call[Media, MediaQuery, None]) -> MediaNext:
    """The next media."""
    return MediaNext(next=media_statistics.neighbours(call.target, call.query, call.scope)[1])


def previous_media(call: Call[Media, MediaQuery, None]) -> MediaPrev:
    """The previous media."""
    return MediaPrev(prev=media_statistics.neighbours(call.target, call.query, call.scope)[0])


def media_stats(call: Call[Project, MediaQuery, None]) -> MediaStats:
    """Sums over all media that match."""
    return media_statistics.stats(call.project, call.query, call.scope)


def clone_media(call: Call[Project, MediaQuery, CloneMediaSpec]) -> CreateListResponse:
    """Clone all media that match."""
    made = clones.clone(call.scope, call.target, call.query, call.body)
    return CreateListResponse(message=f"Successfully cloned {len(made)} medias!", id=list(made))


def cloned_media(call: Call[Media, NoQuery, None]) -> GetClonedMediaResponse:
    """The media that share files with one."""
    found = clones.of(call.scope, call.target)
    return GetClonedMediaResponse(message=f"Found {len(found)} medias with the files of {call.target.id}.", ids=found)


OPERATIONS = (
    Operation(
        id="GetMediaNext",
        method="GET",
        path="/rest/MediaNext/{id}",
        summary="The media behind this one in the list of those that match; -1 where it is the last.",
        needs=Permission.VIEW,
        addresses=ONE,
        query=MediaQuery,
        returns=MediaNext,
        handler=next_media,
        tag=TAG,
    ),
    Operation(
        id="GetMediaPrev",
        method="GET",
        path="/rest/MediaPrev/{id}",
        summary="The media before this one in the list of those that match; -1 where it is the first.",
        needs=Permission.VIEW,
        addresses=ONE,
        query=MediaQuery,
        returns=MediaPrev,
        handler=previous_media,
        tag=TAG,
    ),
    Operation(
        id="GetMediaStats",
        method="GET",
        path="/rest/MediaStats/{project}",
        summary="How many media match, how long they play, how many bytes their files have.",
        needs=Permission.VIEW,
        addresses=PROJECT,
        query=MediaQuery,
        returns=MediaStats,
        handler=media_stats,
        tag=TAG,
    ),
    Operation(
        id="CloneMediaList",
        method="POST",
        path="/rest/CloneMedia/{project}",
        summary="Clone up to 500 media that match into the same or another project, over the same files.",
        details="The caller must be able to transfer media in both. The answer's ids are in the order of the list. "
        "Annotations are not cloned. A file goes with the last media that has it.",
        needs=Permission.TRANSFER,
        addresses=PROJECT,
        query=MediaQuery,
        body=CloneMediaSpec,
        returns=CreateListResponse,
        handler=clone_media,
        tag=TAG,
    ),
    Operation(
        id="GetClonedMedia",
        method="GET",
        path="/rest/GetClonedMedia/{id}",
        summary="The media that share files with this one, itself and the original included.",
        needs=Permission.VIEW,
        addresses=ONE,
        returns=GetClonedMediaResponse,
        handler=cloned_media,
        tag=TAG,
    ),
)
