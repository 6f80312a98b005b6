"""Segment files: which bytes of a fragmented MP4 hold which frames (behaviour specification, section 5).

A segment file lists every top-level box in file order; a `moof` also says which frame it starts with and how many it
holds. With it a reader fetches a frame by byte range: the header (the first two boxes) and one `moof` + `mdat`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType, convert, to_builtins
from msgspec import ValidationError as Mismatch

from chalicelib.errors import BadInput

_VERSION = 2
_HEADER_BOXES = 2


class Fragment(Struct, frozen=True, array_like=True):
    """Bytes of a fragment's header and payload, and the number of frames in it."""

    moof: int
    mdat: int
    samples: int


class Segment(Struct, frozen=True):
    """One top-level box."""

    name: str
    offset: int
    size: int
    frame_start: int | UnsetType = UNSET
    frame_samples: int | UnsetType = UNSET


class FileInfo(Struct, frozen=True):
    """`start` is the presentation time of the first frame in seconds."""

    start: float = 0.0
    version: int = _VERSION


class SegmentInfo(Struct, frozen=True):
    """A segment file's content."""

    file: FileInfo
    segments: tuple[Segment, ...]


class Span(Struct, frozen=True):
    """Frames `first_frame` … `first_frame + frame_count - 1` in the bytes from `start` up to `stop`."""

    first_frame: int
    frame_count: int
    start: int
    stop: int

    @property
    def last_frame(self) -> int:
        """The last frame of the span."""
        return self.first_frame + self.frame_count - 1


def segment_info(init_boxes: Sequence[int], fragments: Iterable[Fragment], *, start: float = 0.0) -> dict[str, Any]:
    """The segment file of a video from the sizes of its `ftyp` and `moov` boxes and its fragments in order."""
    segments = [Segment("ftyp", 0, init_boxes[0]), Segment("moov", init_boxes[0], init_boxes[1])]
    offset, frame = sum(init_boxes), 0
    for fragment in fragments:
        segments.append(Segment("moof", offset, fragment.moof, frame, fragment.samples))
        segments.append(Segment("mdat", offset + fragment.moof, fragment.mdat))
        offset += fragment.moof + fragment.mdat
        frame += fragment.samples
    document: dict[str, Any] = to_builtins(SegmentInfo(FileInfo(start), tuple(segments)))
    return document


def parse_segment_info(document: Any) -> SegmentInfo:
    """A segment file that somebody uploaded, checked: header boxes first, every `moof` followed by its `mdat`."""
    try:
        info = document if isinstance(document, SegmentInfo) else convert(document, SegmentInfo, strict=False)
    except Mismatch as error:
        message = f"The segment file is damaged: {error}."
        raise BadInput(message) from error
    names = [segment.name for segment in info.segments]
    for segment, following in zip(info.segments, (*names[1:], ""), strict=False):
        counted = segment.frame_start is not UNSET and segment.frame_samples is not UNSET
        if segment.name == "moof" and (following != "mdat" or not counted):
            raise BadInput("The segment file is damaged: a moof without frames or without an mdat behind it.")
    if "moof" not in names[_HEADER_BOXES:] or "moof" in names[:_HEADER_BOXES]:
        raise BadInput("The segment file lists no fragment behind two header boxes.")
    return info


def header_size(info: SegmentInfo) -> int:
    """Bytes of the file's header: its first two boxes."""
    return sum(segment.size for segment in info.segments[:_HEADER_BOXES])


def spans(info: SegmentInfo) -> list[Span]:
    """The fragments in file order.

    Where the first `moof` does not start with frame 0 (a bias in files of other tools), it and the second one form
    one span from frame 0.
    """
    found: list[Span] = []
    for moof, mdat in zip(info.segments, info.segments[1:], strict=False):
        if isinstance(moof.frame_start, int) and isinstance(moof.frame_samples, int):
            found.append(Span(moof.frame_start, moof.frame_samples, moof.offset, mdat.offset + mdat.size))
    if found[0].first_frame > 0:
        both = found[:2]
        count = both[-1].first_frame + both[-1].frame_count
        found[:2] = [Span(0, count, both[0].start, both[-1].stop)]
    return found


def spans_of(info: SegmentInfo, first_frame: int, last_frame: int) -> list[Span]:
    """The fragments that hold any of the frames `first_frame` … `last_frame`; BadInput if there is no such frame."""
    every = spans(info)
    end = every[-1].last_frame
    if not 0 <= first_frame <= last_frame <= end:
        message = f"Frames {first_frame} to {last_frame} are not all in the video, which has frames 0 to {end}."
        raise BadInput(message)
    return [span for span in every if span.last_frame >= first_frame and span.first_frame <= last_frame]
