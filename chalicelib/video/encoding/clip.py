"""Cut several ranges of frames out of a video into one playable MP4."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from msgspec import Struct

from chalicelib.core.text.numbers import natural
from chalicelib.errors import BadInput
from chalicelib.video.decoding.decode import THREADS
from chalicelib.video.decoding.frame import Original, original_pictures, pictures
from chalicelib.video.files.opening import refusing
from chalicelib.video.files.source import Source
from chalicelib.video.mp4 import boxes, segments
from chalicelib.video.mp4.segments import SegmentInfo, Span
from chalicelib.video.plan import even

if TYPE_CHECKING:
    from av import VideoFrame

Range = tuple[int, int]
LARGEST_READ = 16 * 1024 * 1024
"""Bytes of neighbouring fragments that are read at once; a larger fragment is read alone."""


class Clip(Struct, frozen=True):
    """The content of a clip: the first and last frame of every continuous part, and its size in bytes."""

    segment_start_frames: tuple[int, ...]
    segment_end_frames: tuple[int, ...]
    size: int


def parse_ranges(texts: Sequence[str], num_frames: int) -> tuple[Range, ...]:
    """`start:end` texts as inclusive frame ranges; BadInput when malformed or outside 0 … `num_frames` - 1."""
    ranges = []
    for text in texts:
        first, last = (natural(part) for part in (text.partition(":")[0], text.partition(":")[2]))
        if first is None or last is None:
            raise BadInput(f"frame_ranges must be start:end in frames, not {text!r}.")
        if not first <= last < num_frames:
            raise BadInput(f"frame_ranges: {text!r} is not within the video's frames 0 to {num_frames - 1}.")
        ranges.append((first, last))
    if not ranges:
        raise BadInput("frame_ranges must name at least one range.")
    return tuple(ranges)


def copied_size(segment_info: Any, ranges: Sequence[Range]) -> int:
    """The approximate number of bytes that `copy_clip` reads and writes."""
    info = segments.parse_segment_info(segment_info)
    return segments.header_size(info) + sum(span.stop - span.start for span in _spans(info, ranges))


def copied_ranges(segment_info: Any, ranges: Sequence[Range]) -> list[tuple[int, int]]:
    """The byte ranges (offset, length) that `copy_clip` reads after the header, in that order."""
    info = segments.parse_segment_info(segment_info)
    return [(group[0].start, group[-1].stop - group[0].start) for group in _groups(_spans(info, ranges))]


def copy_clip(source: Source, segment_info: Any, ranges: Sequence[Range], out: BinaryIO) -> Clip:
    """Write the whole fragments that contain the ranges (inclusive, in this order) as one video to a seekable file.

    The pictures are copied as they are; only the fragments' numbers and times are rewritten to follow each other. A
    fragment that two neighbouring ranges share is written once. Start and end frames are those of each fragment.
    Neighbouring fragments are read together, up to `LARGEST_READ` bytes, which are in memory at a time.
    """
    info = segments.parse_segment_info(segment_info)
    chosen = list(_spans(info, ranges))
    header = source.read(0, segments.header_size(info))
    if len(header) < segments.header_size(info):
        raise BadInput("The video ends inside its header.")
    default = boxes.default_duration(header)
    # Its length does not depend on the duration, which is known only at the end.
    size = out.write(boxes.with_duration(header, 0))
    time, sequence = 0, 1
    for group in _groups(chosen):
        length = group[-1].stop - group[0].start
        data = memoryview(source.read(group[0].start, length))
        if len(data) < length:
            raise BadInput("The video ends before its segment file says.")
        for box in boxes.top_level(partial(_part, data), length):
            content: bytes | memoryview = data[box.offset : box.end]
            if box.name == "moof":
                moof = bytes(content)
                content = boxes.renumber(moof, sequence, time)
                sequence, time = sequence + 1, time + sum(boxes.sample_durations(moof, default))
            size += out.write(content)
    out.seek(0)
    out.write(boxes.with_duration(header, time))
    return Clip(tuple(span.first_frame for span in chosen), tuple(span.last_frame for span in chosen), size)


def encode_clip(source: Source, segment_info: Any, ranges: Sequence[Range], fps: Fraction, path: Path) -> Clip:
    """Encode exactly the frames of the ranges (inclusive, in the order given) as H.264 into the file at `path`."""
    info = segments.parse_segment_info(segment_info)
    return _encode(partial(pictures, source, info), ranges, fps, path, None)


def encode_original_clip(
    source: Source, original: Original, ranges: Sequence[Range], fps: Fraction, path: Path
) -> Clip:
    """The same of a video as it was recorded, upright and with square pixels."""
    size = original.video.width, original.video.height
    return _encode(partial(original_pictures, source, original), ranges, fps, path, size)


def _encode(
    frames: Callable[[int, int], Iterator[tuple[int, VideoFrame]]],
    ranges: Sequence[Range],
    fps: Fraction,
    path: Path,
    size: tuple[int, int] | None,
) -> Clip:
    """Encode the frames of ranges; `size` is the width and height in square pixels, None for those of the frames."""
    return write_clip(
        (picture for first, last in ranges for _, picture in frames(first, last)), ranges, fps, path, size
    )


def write_clip(
    shown: Iterable[VideoFrame], ranges: Sequence[Range], fps: Fraction, path: Path, size: tuple[int, int] | None
) -> Clip:
    """Encode pictures as H.264 into the file at `path`; `size` as for `_encode`, and `ranges` are those they show."""
    import av  # noqa: PLC0415 - see video.opening

    options = {"preset": "veryfast", "crf": "23", "bf": "0", "threads": str(THREADS)}
    with (
        refusing("The clip cannot be encoded"),
        av.open(str(path), "w", format="mp4", options={"movflags": "faststart"}) as container,
    ):
        stream = container.add_stream("libx264", rate=fps, options=options)
        stream.codec_context.time_base = 1 / fps
        for number, picture in enumerate(shown):
            if not number:
                width, height = size or (picture.width, picture.height)
                stream.width, stream.height = even(Fraction(width)), even(Fraction(height))
                stream.pix_fmt = "yuv420p"
            scaled = picture.reformat(stream.width, stream.height, "yuv420p", dst_color_range=1)
            scaled.pts, scaled.time_base, scaled.pict_type = number, 1 / fps, 0
            container.mux(stream.encode(scaled))
        container.mux(stream.encode(None))
    return Clip(tuple(first for first, _ in ranges), tuple(last for _, last in ranges), path.stat().st_size)


def _spans(info: SegmentInfo, ranges: Sequence[Range]) -> Iterator[Span]:
    """The fragments of all ranges in order, without consecutive repetitions."""
    before: Span | None = None
    for first, last in ranges:
        for span in segments.spans_of(info, first, last):
            if span != before:
                yield span
            before = span


def _part(data: memoryview, offset: int, count: int) -> bytes:
    return bytes(data[offset : offset + count])


def _groups(spans: Iterable[Span]) -> list[list[Span]]:
    """Groups of spans that are adjacent in the file, of at most `LARGEST_READ` bytes."""
    groups: list[list[Span]] = []
    for span in spans:
        last = groups[-1] if groups else None
        if last and last[-1].stop == span.start and span.stop - last[0].start <= LARGEST_READ:
            last.append(span)
        else:
            groups.append([span])
    return groups
