"""Parts of a video as one playable MP4, for several ranges of frames (behaviour specification, section 7.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct

from chalicelib.errors import BadInput
from chalicelib.video import boxes, segments
from chalicelib.video.decode import THREADS
from chalicelib.video.frame import pictures
from chalicelib.video.opening import refusing
from chalicelib.video.plan import even
from chalicelib.video.segments import SegmentInfo, Span
from chalicelib.video.source import Source

Range = tuple[int, int]


class Clip(Struct, frozen=True):
    """What a clip holds: for every continuous part its first and last frame of the video; and its size in bytes."""

    segment_start_frames: tuple[int, ...]
    segment_end_frames: tuple[int, ...]
    size: int


def parse_ranges(texts: Sequence[str], num_frames: int) -> tuple[Range, ...]:
    """`start:end` texts as inclusive frame ranges; BadInput when malformed or outside 0 … `num_frames` - 1."""
    ranges = []
    for text in texts:
        first, _, last = text.partition(":")
        if not (first.isdecimal() and last.isdecimal()):
            message = f"frame_ranges must be start:end in frames, not {text!r}."
            raise BadInput(message)
        if not int(first) <= int(last) < num_frames:
            message = f"frame_ranges: {text!r} is not within the video's frames 0 to {num_frames - 1}."
            raise BadInput(message)
        ranges.append((int(first), int(last)))
    if not ranges:
        raise BadInput("frame_ranges must name at least one range.")
    return tuple(ranges)


def copy_clip(source: Source, segment_info: Any, ranges: Sequence[Range], out: BinaryIO) -> Clip:
    """Write the whole fragments that contain the ranges (inclusive, in the order given) as one video.

    The pictures are copied as they are; only the fragments' numbers and times are rewritten to follow each other. A
    fragment that two neighbouring ranges share is written once. Start and end frames are those of each fragment. One
    fragment is in memory at a time.
    """
    info = segments.parse_segment_info(segment_info)
    chosen = list(_spans(info, ranges))
    header = source.read(0, segments.header_size(info))
    if len(header) < segments.header_size(info):
        raise BadInput("The video ends inside its header.")
    default = boxes.default_duration(header)
    plans = [(span, list(_durations(source, span, default))) for span in chosen]
    header = boxes.with_duration(header, sum(sum(durations) for _, durations in plans))
    size = out.write(header)
    time, sequence = 0, 1
    for span, durations in plans:
        data = source.read(span.start, span.stop - span.start)
        upcoming = iter(durations)
        for box in boxes.children(data, 0, len(data)):
            content = data[box.offset : box.end]
            if box.name == "moof":
                content = boxes.renumber(content, sequence, time)
                sequence, time = sequence + 1, time + next(upcoming)
            size += out.write(content)
    return Clip(tuple(span.first_frame for span in chosen), tuple(span.last_frame for span in chosen), size)


def encode_clip(source: Source, segment_info: Any, ranges: Sequence[Range], fps: Fraction, path: Path) -> Clip:
    """Encode exactly the frames of the ranges (inclusive, in the order given) as H.264 into the file at `path`."""
    import av  # noqa: PLC0415 - see video.opening

    info = segments.parse_segment_info(segment_info)
    options = {"preset": "veryfast", "crf": "23", "bf": "0", "threads": str(THREADS)}
    with (
        refusing("The clip cannot be encoded"),
        av.open(str(path), "w", format="mp4", options={"movflags": "faststart"}) as container,
    ):
        stream = container.add_stream("libx264", rate=fps, options=options)
        stream.codec_context.time_base = 1 / fps
        started = False
        number = 0
        for first, last in ranges:
            for _, picture in pictures(source, info, first, last):
                if not started:
                    stream.width, stream.height = even(Fraction(picture.width)), even(Fraction(picture.height))
                    stream.pix_fmt = "yuv420p"
                    started = True
                scaled = picture.reformat(stream.width, stream.height, "yuv420p", dst_color_range=1)
                scaled.pts, scaled.time_base, scaled.pict_type = number, 1 / fps, 0
                container.mux(stream.encode(scaled))
                number += 1
        container.mux(stream.encode(None))
    return Clip(tuple(first for first, _ in ranges), tuple(last for _, last in ranges), path.stat().st_size)


def _spans(info: SegmentInfo, ranges: Sequence[Range]) -> Iterator[Span]:
    """The fragments of all ranges in order, one that follows itself only once."""
    before: Span | None = None
    for first, last in ranges:
        for span in segments.spans_of(info, first, last):
            if span != before:
                yield span
            before = span


def _durations(source: Source, span: Span, default: int) -> Iterator[int]:
    """How long each movie fragment of a span lasts, in units of the track's timescale, reading headers only."""
    for box in boxes.top_level(lambda offset, length: source.read(span.start + offset, length), span.stop - span.start):
        if box.name == "moof":
            yield sum(boxes.sample_durations(source.read(span.start + box.offset, box.size), default))
