"""Segment files: which bytes of a fragmented MP4 hold which frames (docs/guides/uploads.md).

A segment file lists every top-level box in file order; a `moof` also says which frame it starts with and how many it
holds. With it a reader fetches a frame by byte range: the header (the first two boxes) and one `moof` + `mdat`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, convert, to_builtins
from msgspec import ValidationError as Mismatch

from chalicelib.errors import BadInput
from chalicelib.video.stretch import is_constant
from chalicelib.video.timing import FrameTable

_VERSION = 2
_HEADER_BOXES = 2
_MAX_WHOLE = 2**53
LARGEST_HEADER, LARGEST_FRAGMENT = 16 * 1024 * 1024, 256 * 1024 * 1024
"""Maximum bytes of the header boxes and of one fragment, which are read into memory."""
Whole = Annotated[int, Meta(ge=0, le=_MAX_WHOLE)]
Number = Annotated[int, Meta(ge=-_MAX_WHOLE, le=_MAX_WHOLE)]


class Fragment(Struct, frozen=True, array_like=True):
    """Bytes of a fragment's header and payload, and the number of frames in it."""

    moof: int
    mdat: int
    samples: int


class Segment(Struct, frozen=True):
    """One top-level box."""

    name: str
    offset: Whole
    size: Whole
    frame_start: Number | UnsetType = UNSET
    frame_samples: Whole | UnsetType = UNSET


class FileInfo(Struct, frozen=True):
    """`start` is the presentation time of the first frame in seconds.

    Files of our own also say `rate`, frames per second as numerator and denominator, and where the source's rate varies
    `times`, its timestamps packed as in a frame table (`timing`), in units of `base` seconds.
    """

    start: float = 0.0
    version: int = _VERSION
    rate: tuple[Whole, Whole] | None = None
    base: tuple[Whole, Whole] | None = None
    times: str | None = None


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


class SegmentInfo(Struct, frozen=True, dict=True):
    """A segment file's content."""

    file: FileInfo
    segments: tuple[Segment, ...]

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """The fragments in file order.

        Where the first `moof` does not start with frame 0 (a bias in files of other tools), it and the second one form
        one span from frame 0.
        """
        found: list[Span] = []
        for moof, mdat in pairwise(self.segments):
            if isinstance(moof.frame_start, int) and isinstance(moof.frame_samples, int):
                found.append(Span(moof.frame_start, moof.frame_samples, moof.offset, mdat.offset + mdat.size))
        if found[0].first_frame > 0:
            both = found[:2]
            count = both[-1].first_frame + both[-1].frame_count
            found[:2] = [Span(0, count, both[0].start, both[-1].stop)]
        return tuple(found)

    @property
    def frames(self) -> int:
        """The number of frames of the video."""
        return self.spans[-1].last_frame + 1


def segment_info(init_boxes: Sequence[int], fragments: Iterable[Fragment]) -> dict[str, Any]:
    """The segment file of a video from the sizes of its `ftyp` and `moov` boxes and its fragments in order."""
    segments = [Segment("ftyp", 0, init_boxes[0]), Segment("moov", init_boxes[0], init_boxes[1])]
    offset, frame = sum(init_boxes), 0
    for fragment in fragments:
        segments.append(Segment("moof", offset, fragment.moof, frame, fragment.samples))
        segments.append(Segment("mdat", offset + fragment.moof, fragment.mdat))
        offset += fragment.moof + fragment.mdat
        frame += fragment.samples
    document: dict[str, Any] = to_builtins(SegmentInfo(FileInfo(0.0), tuple(segments)))
    document["file"] = {"start": 0.0, "version": _VERSION}
    return document


def clock_of(table: FrameTable) -> dict[str, Any]:
    """The members of a segment file that say when the source shows its frames; see `FileInfo`."""
    clock: dict[str, Any] = {"rate": list(table.rate)}
    if not is_constant(table):
        clock |= {"base": list(table.base), "times": table.stamps}
    return clock


def parse_segment_info(document: Any) -> SegmentInfo:
    """An uploaded segment file, checked: header boxes first, every `moof` followed by its `mdat`, frames in order."""
    if isinstance(document, SegmentInfo):
        return document
    try:
        info = convert(document, SegmentInfo, strict=False)
    except Mismatch as error:
        raise BadInput(f"The segment file is damaged: {error}.") from error
    names = [segment.name for segment in info.segments]
    for segment, following in zip(info.segments, (*names[1:], ""), strict=False):
        counted = segment.frame_start is not UNSET and segment.frame_samples is not UNSET
        if segment.name == "moof" and (following != "mdat" or not counted):
            raise BadInput("The segment file is damaged: a moof without frames or without an mdat behind it.")
    if "moof" not in names[_HEADER_BOXES:] or "moof" in names[:_HEADER_BOXES]:
        raise BadInput("The segment file lists no fragment behind two header boxes.")
    if header_size(info) > LARGEST_HEADER:
        raise BadInput(f"The segment file is damaged: the header boxes have more than {LARGEST_HEADER} bytes.")
    _check_spans(info.spans)
    return info


def _check_spans(spans: Sequence[Span]) -> None:
    """Raise BadInput unless each fragment has a plausible size and begins behind the frames of the one before."""
    for span in spans:
        if not 0 < span.stop - span.start <= LARGEST_FRAGMENT:
            message = (
                f"The segment file is damaged: the fragment of frame {span.first_frame} has {span.stop - span.start} "
                f"bytes; allowed are 1 to {LARGEST_FRAGMENT}."
            )
            raise BadInput(message)
    for span, following in pairwise(spans):
        if following.first_frame <= span.last_frame:
            message = (
                f"The segment file is damaged: the fragment of frames {span.first_frame} to {span.last_frame} is "
                f"followed by one that starts with frame {following.first_frame}."
            )
            raise BadInput(message)
    if spans[-1].last_frame < 0:
        raise BadInput("The segment file is damaged: it lists no frames.")


def header_size(info: SegmentInfo) -> int:
    """Bytes of the file's header: its first two boxes."""
    return sum(segment.size for segment in info.segments[:_HEADER_BOXES])


def spans_of(info: SegmentInfo, first_frame: int, last_frame: int) -> list[Span]:
    """The fragments that hold any of the frames `first_frame` … `last_frame`; BadInput if there is no such frame."""
    every = info.spans
    end = every[-1].last_frame
    if not 0 <= first_frame <= last_frame <= end:
        raise BadInput(f"Frames {first_frame} to {last_frame} are not all in the video, which has frames 0 to {end}.")
    return [span for span in every if span.last_frame >= first_frame and span.first_frame <= last_frame]


LARGEST_READ = 8 * 1024 * 1024
"""Maximum bytes of neighbouring fragments that are read together; a larger fragment is read alone."""


class Selection(Struct, frozen=True):
    """The reads for some frames: the header's size, and the spans that hold the frames, in file order."""

    header: int
    wanted: tuple[tuple[Span, tuple[int, ...]], ...]

    def reads(self) -> list[tuple[tuple[Span, tuple[int, ...]], ...]]:
        """The spans in groups that are adjacent in the file; each group is one read."""
        groups: list[list[tuple[Span, tuple[int, ...]]]] = []
        for each in self.wanted:
            span = each[0]
            last = groups[-1] if groups else None
            if last and last[-1][0].stop == span.start and span.stop - last[0][0].start <= LARGEST_READ:
                last.append(each)
            else:
                groups.append([each])
        return [tuple(group) for group in groups]

    @property
    def decoded(self) -> int:
        """The number of frames to decode: in each span those up to the last requested one."""
        return sum(max(frames) - span.first_frame + 1 for span, frames in self.wanted)


def select(info: SegmentInfo, frames: Iterable[int]) -> Selection:
    """The reads for frames in any order, repeats allowed; BadInput if a frame does not exist."""
    every = info.spans
    end = every[-1].last_frame
    found: dict[int, set[int]] = {}
    for frame in frames:
        at = bisect_right(every, frame, key=lambda span: span.first_frame) - 1
        if at < 0 or frame > every[at].last_frame:
            raise BadInput(f"Frame {frame} is not in the video, which has frames 0 to {end}.")
        found.setdefault(at, set()).add(frame)
    return Selection(header_size(info), tuple((every[at], tuple(sorted(found[at]))) for at in sorted(found)))
