"""Decode by frame number: the only place where a frame of a source gets its number.

A frame is recognised by its presentation timestamp in the frame table, whatever the position of a seek, leading
pictures of an open group that were dropped, or frames that a decoder skipped. Sources without usable timestamps (for
example AVI with B-frames) are counted from a keyframe instead. A frame that cannot be decoded is replaced by its
neighbour, as in a player: the number of frames always equals the table's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from chalicelib.errors import BadInput
from chalicelib.video.files.opening import DECODING, opened, video_stream
from chalicelib.video.files.source import Source, SourceFile
from chalicelib.video.timing import FrameTable, Keyframe

if TYPE_CHECKING:
    from av import Packet, VideoFrame, VideoStream
    from av.container import InputContainer

START = Keyframe(0)
# Formats without an index are searched by guessing, which may land behind the keyframe: seconds to try before it.
EARLIER = (0, 2, 15)
# A function has two virtual processors.
THREADS = 2
# H.264 with intra refresh marks recovery points as keyframes. Decoders leave out the pictures before the recovery is
# complete, and some encoders do not refresh all of a picture by then: only a real start is certain, if it is not too
# far, and many recovery points behind each other are next best.
_FRAMES_BACK = 3000
_KEYFRAMES_BACK = 8
_JPEG_START = b"\xff\xd8\xff"

T = TypeVar("T")


class KeyframeMissedError(Exception):
    """Seeking did not lead to the frames wanted; start decoding earlier instead."""


class IncompleteStartError(Exception):
    """Decoding from this keyframe does not give its frame; start at an earlier one."""


class DamagedPacketError(Exception):
    """A packet cannot be decoded, and good frames before it may be lost in another thread."""


def frames_of(
    source: Source | SourceFile, table: FrameTable, first: int, count: int, key: Keyframe | None = None
) -> Iterator[tuple[VideoFrame, bool]]:
    """Decode frames `first` … `first + count - 1` in order, each exactly once: the picture, and whether it is damaged.

    `key` is where to start decoding, by default the nearest keyframe. A start is checked: where decoding from it does
    not give the first frame, decoding begins at an earlier keyframe. The pictures are as stored: neither turned nor
    deinterlaced. A frame that cannot be decoded is damaged: it is the picture before it, the same object, or at the
    start of the video the one after it; so is one that is incomplete or predicted from a damaged one. Raises BadInput
    when none of them can be decoded.
    """
    key = key or table.keyframe_for(first)
    file = source if isinstance(source, SourceFile) else SourceFile(source)
    if _is_inside(key):
        for start, needed in ((key, key.frame), (_earlier_start(table, key), first)):
            try:
                yield from _searched(file, table, first, count, start, needed)
            except IncompleteStartError:
                continue
            return
    yield from _searched(file, table, first, count, key, None)


def _earlier_start(table: FrameTable, key: Keyframe) -> Keyframe:
    """An earlier place to start, if decoding from a keyframe does not give its frame."""
    if key.frame <= _FRAMES_BACK:
        return START
    keys = table.keyframes()
    at = bisect_left(keys, key.frame, key=lambda each: each.frame)
    return keys[max(0, at - _KEYFRAMES_BACK)]


def _is_inside(key: Keyframe) -> bool:
    """Whether a keyframe requires a seek, unlike the start of the file."""
    return key.stamp is not None or key.position is not None


def _searched(
    file: SourceFile, table: FrameTable, first: int, count: int, key: Keyframe, needed: int | None
) -> Iterator[tuple[VideoFrame, bool]]:
    """`frames_of` from one keyframe, which may take several seeks to find.

    Raises IncompleteStartError, before yielding anything, if decoding from it does not give frame `needed` or an
    earlier one.
    """
    for seconds in EARLIER:
        try:
            yield from _decoded(file, table, first, count, key, seconds, needed)
        except KeyframeMissedError:
            continue
        return
    try:
        yield from _decoded(file, table, first, count, START, 0, None)
    except KeyframeMissedError as error:
        raise BadInput(f"None of the frames {first} to {first + count - 1} can be decoded.") from error


def _decoded(
    file: SourceFile, table: FrameTable, first: int, count: int, key: Keyframe, earlier: int, needed: int | None
) -> Iterator[tuple[VideoFrame, bool]]:
    """`_searched` with one seek; raises KeyframeMissedError, before yielding anything, if that finds no frame."""

    def attempt(threads: int) -> Iterator[tuple[VideoFrame, bool]]:
        with opened(file) as (container, _):
            stream = video_stream(container)
            pictures = decode(packets_from(container, stream, table, key, earlier), stream, threads)
            numbered = _counted(pictures, key, table) if table.counted else _looked_up(pictures, table)
            yield from _without_gaps(_checked(numbered, needed), first, count)

    yield from without_losses(attempt)


def without_losses(attempt: Callable[[int], Iterator[T]]) -> Iterator[T]:
    """The output of `attempt` with several threads; from the first damaged packet on, its output with one thread.

    With threads, the decoder drops the good frames before a damaged packet that it still holds.
    """
    done = 0
    try:
        for each in attempt(THREADS):
            yield each
            done += 1
    except DamagedPacketError:
        yield from islice(attempt(1), done, None)


def packets_from(
    container: InputContainer, stream: VideoStream, table: FrameTable | None, key: Keyframe, earlier: int = 0
) -> Iterator[Packet[VideoStream]]:
    """The packets from a keyframe on, the flushing empty one at the end included.

    Seeks `earlier` seconds before it and reads on to it. Raises KeyframeMissedError if it does not come by.
    """
    if table is None or not _is_inside(key):
        yield from container.demux(stream)
        return
    by_position = table.by_position and key.position is not None
    target = key.position if by_position else key.stamp
    sooner = 0 if by_position else int(earlier / Fraction(*table.base))
    container.seek((target or 0) - sooner, stream=stream, unsupported_byte_offset=by_position)
    # The index of MP4 lists keyframes that the parser of a new decoder does not recognise.
    indexed = container.format.name.startswith("mov")
    found = False
    for packet in container.demux(stream):
        if not found:
            places = (packet.pos,) if by_position else (packet.pts, packet.dts)
            found = target in places and (indexed or packet.is_keyframe)
            at, limit = (packet.pos, key.position) if by_position else (packet.dts, key.stamp)
            late = at is not None and limit is not None and at > limit
            if not found and (late or not packet.size):
                raise KeyframeMissedError
            if found:
                _forget_height(stream, packet)
        if found:
            yield packet


def _forget_height(stream: VideoStream, packet: Packet[VideoStream]) -> None:
    """Decode a JPEG that is lower than the file says as a picture, not as the first of two fields.

    Pictures of MJPEG may change their size. The decoder takes a first one of less than three quarters of the file's
    height for a field, and would lose every other picture. Fields that belong together are in one packet; where they
    are not, decoding begins at the start of the file, as packets and pictures differ in number.
    """
    if stream.codec_context.codec.canonical_name == "mjpeg" and bytes(packet).count(_JPEG_START) == 1:
        stream.codec_context.width = stream.codec_context.height = 0


def decode(packets: Iterator[Packet[VideoStream]], stream: VideoStream, threads: int = THREADS) -> Iterator[VideoFrame]:
    """The pictures of packets in presentation order; a missing end is passed over, as are damaged packets.

    Raises DamagedPacketError at the first damaged packet where there is more than one thread; see `without_losses`.
    """
    import av  # noqa: PLC0415 - see video.opening

    stream.codec_context.options = dict(DECODING)
    stream.codec_context.thread_type = "AUTO"
    stream.codec_context.thread_count = threads
    while True:
        try:
            packet = next(packets, None)
        except av.FFmpegError:
            packet = None
        try:
            pictures = stream.codec_context.decode(packet if packet is not None and packet.size else None)
        except av.FFmpegError as error:
            if threads > 1:
                raise DamagedPacketError from error
            pictures = []
        yield from pictures
        if packet is None or not packet.size:
            return


def _looked_up(pictures: Iterator[VideoFrame], table: FrameTable) -> Iterator[tuple[int, VideoFrame]]:
    """Number pictures by timestamp; those the table does not present (before an edit list's start) are left out."""
    times = table.times()
    for picture in pictures:
        if picture.pts is None:
            continue
        number = bisect_left(times, picture.pts)
        if number < table.count and times[number] == picture.pts:
            yield number, picture


def _counted(pictures: Iterator[VideoFrame], key: Keyframe, table: FrameTable) -> Iterator[tuple[int, VideoFrame]]:
    """Number pictures from a keyframe's on; what comes before it in presentation belongs to the piece before."""
    lost = table.lost_frames()
    number = key.frame
    begun = not _is_inside(key)
    for picture in pictures:
        begun = begun or picture.key_frame
        if begun:
            while number in lost:
                number += 1
            yield number, picture
            number += 1


def _checked(numbered: Iterator[tuple[int, VideoFrame]], needed: int | None) -> Iterator[tuple[int, VideoFrame]]:
    """The same pictures; raises IncompleteStartError where the first is behind frame `needed`."""
    for number, picture in numbered:
        if needed is not None and number > needed:
            raise IncompleteStartError
        needed = None
        yield number, picture


def _without_gaps(
    numbered: Iterator[tuple[int, VideoFrame]], first: int, count: int
) -> Iterator[tuple[VideoFrame, bool]]:
    """Exactly the requested frames, a missing one replaced by the previous one (or, at the start, by the next).

    The previous one may be before the requested ones, so that a frame is the same wherever decoding begins. From a
    missing or incomplete frame on, all are damaged up to the next keyframe, as they are predicted from it.

    Raises KeyframeMissedError if there are no frames.
    """
    expected, end = first, first + count
    shown: VideoFrame | None = None
    is_damaged = False
    for number, picture in numbered:
        if number < first:
            shown = picture
        if number < expected:
            continue
        is_damaged = (is_damaged or number > expected) and not picture.key_frame
        while expected < min(number, end):
            yield shown or picture, True
            expected += 1
        is_damaged = is_damaged or picture.is_corrupt
        if number == expected < end:
            yield picture, is_damaged
            expected += 1
        shown = picture
        if expected >= end:
            return
    if shown is None:
        raise KeyframeMissedError
    for _ in range(expected, end):
        yield shown, True
