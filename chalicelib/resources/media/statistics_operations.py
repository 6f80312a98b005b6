"""Neighbours of a media, sums over media, and clones."""

from __future__ import annotations

from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.entities import Media
from chalicelib.core.permissions import Permission
from chalicelib.core.responses import CreateListResponse
from chalicelib.http.addresses import PROJECT, entity
from chalicelib.http.operation import Call, NoQuery, Operations
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

OPERATIONS = Operations(tag="Media")
ONE = entity(Kind.MEDIA)


@OPERATIONS.get("/rest/MediaNext/{id}", "GetMediaNext", needs=Permission.VIEW, addresses=ONE)
def next_media(call: Call[Media, MediaQuery, None]) -> MediaNext:
    """The media behind this one in the list of those that match; -1 where it is the last."""
    return MediaNext(next=media_statistics.neighbours(call.target, call.query, call.scope)[1])


@OPERATIONS.get("/rest/MediaPrev/{id}", "GetMediaPrev", needs=Permission.VIEW, addresses=ONE)
def previous_media(call: Call[Media, MediaQuery, None]) -> MediaPrev:
    """The media before this one in the list of those that match; -1 where it is the first."""
    return MediaPrev(prev=media_statistics.neighbours(call.target, call.query, call.scope)[0])


@OPERATIONS.get("/rest/MediaStats/{project}", "GetMediaStats", needs=Permission.VIEW, addresses=PROJECT)
def media_stats(call: Call[Project, MediaQuery, None]) -> MediaStats:
    """How many media match, how long they play, how many bytes their files have."""
    return media_statistics.stats(call.project, call.query, call.scope)


@OPERATIONS.post("/rest/CloneMedia/{project}", "CloneMediaList", needs=Permission.TRANSFER, addresses=PROJECT)
def clone_media(call: Call[Project, MediaQuery, CloneMediaSpec]) -> CreateListResponse:
    """Clone up to 500 media that match into the same or another project, over the same files.

    The caller must be able to transfer media in both. The answer's ids are in the order of the list. Annotations are
    not cloned. A file goes with the last media that has it.
    """
    made = clones.clone(call.scope, call.target, call.query, call.body)
    return CreateListResponse(message=f"Successfully cloned {len(made)} medias!", id=list(made))


@OPERATIONS.get("/rest/GetClonedMedia/{id}", "GetClonedMedia", needs=Permission.VIEW, addresses=ONE)
def cloned_media(call: Call[Media, NoQuery, None]) -> GetClonedMediaResponse:
    """The media that share files with this one, itself and the original included."""
    found = clones.of(call.scope, call.target)
    return GetClonedMediaResponse(message=f"Found {len(found)} medias with the files of {call.target.id}.", ids=found)
