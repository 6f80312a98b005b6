"""What is asked and answered of media beside themselves: neighbours, sums, clones (`spec/4` §§3.7, 3.8)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from chalicelib.core.resource import Id, Resource

MOST_CLONED = 500
"""Media of one request."""


class MediaNext(Struct, kw_only=True):
    """The media behind one; −1 where it is the last."""

    next: int


class MediaPrev(Struct, kw_only=True):
    """The media before one; −1 where it is the first."""

    prev: int


class MediaStats(Struct, kw_only=True):
    """Sums over media."""

    count: int
    duration: float
    """Seconds of video."""
    total_size: int
    """Bytes of all files, sound apart."""
    download_size: int
    """Bytes of one file of each media: the archival one, else a streaming one, else the image."""


class CloneMediaSpec(Resource, kw_only=True):
    """Where clones go."""

    dest_project: Id
    dest_type: Annotated[int, Meta(ge=-1)]
    """A media type of that project; −1 is its first."""
    dest_section: str | None = None
    """The name of a folder, made where there is none."""
    dest_section_id: Id | None = None


class GetClonedMediaResponse(Struct, kw_only=True):
    """The media that share files with one, itself and the original included."""

    message: str
    ids: list[int]
