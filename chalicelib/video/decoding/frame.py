"""Single frames as pictures: from a rendition by byte range, or from an original by its frame table."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from chalicelib.errors import BadInput
from chalicelib.video.decoding import colour, samples
from chalicelib.video.decoding.decode import START, THREADS, DamagedPacketError, decode, frames_of, packets_from
from chalicelib.video.decoding.upright import Upright
from chalicelib.video.files.opening import opened, refusing, video_stream
from chalicelib.video.files.source import BytesSource, Source, SourceFile
from chalicelib.video.mp4 import segments
from chalicelib.video.mp4.segments import SegmentInfo, Selection, Span
from chalicelib.video.plan import VideoInfo
from chalicelib.video.timing import FrameTable

if TYPE_CHECKING:
    from av import VideoFrame
    from PIL.Image import Image

_FULL_RANGE = 2
_MAX_LINES_IN_PARALLEL = 2304
"""Height of videos of which fragments are decoded side by side: each decoder holds up to 17 pictures."""
_FEW = 4
"""Pictures of each of them: those of two fragments are in memory before the first is used."""


class Original(Struct, frozen=True):
    """What is needed to find frames in a video as it was recorded: its picture and its frame table."""

    video: VideoInfo
    table: FrameTable


class Frames(Struct, frozen=True):
    """Frames of an original that are shown, in order and each once."""

    original: Original
    numbers: tuple[int, ...]

    @property
    def decoded(self) -> int:
        """The number of frames to decode: those from a keyframe to the last requested one that is decoded from it."""
        table = self.original.table
        return sum(last + 1 - table.keyframe_for(first).frame for first, last in _runs(table, self.numbers))


def decode_frames(
    rendition_source: Source,
    segment_info: Any,
    frames: Sequence[int],
    each: Callable[[Image], Image] | None = None,
) -> list[Image]:
    """The pictures of `frames` (any order, repeats allowed), fetching only the header and the fragments that hold them.

    `each` is applied to every picture as soon as it is decoded, so that only its results stay in memory. Raises
    BadInput for frames that do not exist and for files that do not match their segment file.
    """
    selection = segments.select(segments.parse_segment_info(segment_info), frames)
    found = {number: each(image) if each else image for number, image in images(rendition_source, selection)}
    return [found[frame] for frame in frames]


def images(
    source: Source, selection: Selection | Frames, size: tuple[int, int] | None = None
) -> Iterator[tuple[int, Image]]:
    """Pairs of number and picture of the selected frames, in no order; adjacent fragments are read together.

    `size` is the width and height of the pictures, by default those of the video: one conversion makes both.
    """
    if isinstance(selection, Frames):
        yield from original_images(source, selection, size)
        return
    header = source.read(0, selection.header)
    fragments = _fragments(source, selection)
    track = samples.track_of(header)
    is_sparse = len(selection.wanted) > 1 and all(len(numbers) <= _FEW for _, numbers in selection.wanted)
    if is_sparse and track and track.height <= _MAX_LINES_IN_PARALLEL:
        if sum(span.stop - span.start for span, _ in selection.wanted) <= segments.LARGEST_READ:
            # The longest first: both threads end at about the same time then.
            fragments = iter(sorted(fragments, key=lambda each: each[1].first_frame - each[2][-1]))
        yield from _side_by_side(header, fragments, size)
        return
    for fragment, span, numbers in fragments:
        yield from _shown(header, fragment, span, numbers, samples.THREADS, size)


def _fragments(source: Source, selection: Selection) -> Iterator[tuple[bytes, Span, tuple[int, ...]]]:
    """Each fragment of a selection, its span and the frames wanted of it."""
    for group in selection.reads():
        start = group[0][0].start
        data = source.read(start, group[-1][0].stop - start)
        for span, numbers in group:
            yield data[span.start - start : span.stop - start], span, numbers


def _side_by_side(
    header: bytes, fragments: Iterable[tuple[bytes, Span, tuple[int, ...]]], size: tuple[int, int] | None
) -> Iterator[tuple[int, Image]]:
    """The pictures of fragments of which few are wanted: a thread for each fragment, and two fragments at a time.

    Two decoders of one thread each never wait for each other, as two threads of one decoder do.
    """
    running: deque[Future[list[tuple[int, Image]]]] = deque()
    with ThreadPoolExecutor(THREADS) as threads:
        for fragment, span, numbers in fragments:
            running.append(
                threads.submit(lambda *given: list(_shown(*given)), header, fragment, span, numbers, 1, size)
            )
            if len(running) > THREADS:
                yield from running.popleft().result()
        while running:
            yield from running.popleft().result()


def _shown(
    header: bytes,
    fragment: bytes,
    span: Span,
    numbers: tuple[int, ...],
    threads: int,
    size: tuple[int, int] | None,
) -> Iterator[tuple[int, Image]]:
    """The pictures of one fragment that are wanted."""
    for number, picture in _pictures(header, fragment, span, numbers[-1], threads):
        if number in numbers:
            yield number, to_image(picture, size)


def pictures(
    rendition_source: Source, info: SegmentInfo, first_frame: int, last_frame: int
) -> Iterator[tuple[int, VideoFrame]]:
    """The frames `first_frame` … `last_frame` of a rendition in order, one fragment in memory at a time."""
    header = rendition_source.read(0, segments.header_size(info))
    for span in segments.spans_of(info, first_frame, last_frame):
        data = rendition_source.read(span.start, span.stop - span.start)
        for number, picture in _pictures(header, data, span, last_frame, samples.THREADS):
            if number >= first_frame:
                yield number, picture


def _pictures(
    header: bytes, data: bytes, span: Span, last_frame: int, threads: int
) -> Iterator[tuple[int, VideoFrame]]:
    """The pictures of one fragment up to `last_frame`; a fragment decodes without its neighbours."""
    last = min(last_frame, span.last_frame)
    number = span.first_frame - 1
    decoded = _decoded(header, data, last + 1 - span.first_frame, threads)
    for number, picture in enumerate(decoded, span.first_frame):
        yield number, picture
    if number < last:
        message = f"Frame {last} is missing from the rendition."
        raise BadInput(message)


def _decoded(header: bytes, data: bytes, count: int, threads: int) -> Iterator[VideoFrame]:
    """The first pictures of a fragment: without a demuxer if it is plain, else with FFmpeg's."""
    track = samples.track_of(header)
    found = samples.packets(track, data) if track else None
    done = 0
    if track and found:
        try:
            for picture in islice(samples.pictures(track, found[:count], threads), count):
                yield picture
                done += 1
        except DamagedPacketError:
            pass
        if done == count:
            return
    with opened(BytesSource(header + data)) as (container, file), refusing("The rendition cannot be decoded", file):
        stream = video_stream(container)
        yield from islice(decode(packets_from(container, stream, None, START), stream, 1), done, count)


def decode_original(
    source: Source | SourceFile, table: FrameTable, video: VideoInfo, frames: Sequence[int]
) -> list[Image]:
    """The pictures of `frames` of an original, upright and with square pixels, decoding from the nearest keyframes."""
    wanted = Frames(Original(video, table), tuple(sorted(set(frames))))
    found = dict(original_images(source, wanted))
    return [found[frame] for frame in frames]


def original_images(
    source: Source | SourceFile, wanted: Frames, size: tuple[int, int] | None = None
) -> Iterator[tuple[int, Image]]:
    """The number and the picture of frames of an original, upright and with square pixels, in order; see `images`."""
    video, numbers = wanted.original.video, set(wanted.numbers)
    file = source if isinstance(source, SourceFile) else SourceFile(source)
    for first, last in _runs(wanted.original.table, wanted.numbers):
        for number, picture in original_pictures(file, wanted.original, first, last):
            if number in numbers:
                yield number, to_image(picture, size or (video.width, video.height))


def original_pictures(
    source: Source | SourceFile, original: Original, first: int, last: int
) -> Iterator[tuple[int, VideoFrame]]:
    """The frames `first` … `last` of an original, upright, in order; its pixels are as stored."""
    file = source if isinstance(source, SourceFile) else SourceFile(source)
    upright = Upright(original.video)
    with refusing("The video cannot be decoded", file):
        number = first
        for picture, _ in frames_of(file, original.table, first, last + 1 - first):
            for shown in upright.feed(picture):
                yield number, shown
                number += 1
        for shown in upright.flush():
            yield number, shown
            number += 1


def _runs(table: FrameTable, frames: Sequence[int]) -> list[tuple[int, int]]:
    """Group sorted frames that are decoded from the same keyframe, as (first, last)."""
    runs: list[tuple[int, int]] = []
    for frame in frames:
        table.time_of(frame)
        if runs and table.keyframe_for(runs[-1][0]) == table.keyframe_for(frame):
            runs[-1] = (runs[-1][0], frame)
        else:
            runs.append((frame, frame))
    return runs


def to_image(picture: VideoFrame, size: tuple[int, int] | None = None) -> Image:
    """A decoded picture as an RGB image, of another size (width, height) if given: one conversion."""
    from PIL import Image as Images  # noqa: PLC0415 - kept off the API's cold start

    width, height = size or (picture.width, picture.height)
    colour.tag(picture)
    shown = picture.reformat(width, height, "rgb24", interpolation="BICUBIC", dst_color_range=_FULL_RANGE)
    plane = shown.planes[0]
    return Images.frombytes("RGB", (width, height), memoryview(plane), "raw", "RGB", plane.line_size, 1)
