"""Probe a file: its streams, and the presentation time of each frame.

The packets' timestamps make the frame table without decoding; for MP4 and MOV not even the payload is fetched, as the
demuxer needs only its index. The decoder's output is then compared at both ends, where packets and pictures differ:
leading pictures that cannot be decoded, a truncated tail. Sources whose packets have no usable timestamps are decoded
once to be counted.
"""

from __future__ import annotations

import contextlib
import struct
import time
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice, pairwise
from math import atan2, pi
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from chalicelib.errors import BadInput
from chalicelib.video.decoding.decode import START, KeyframeMissedError, decode, packets_from, without_losses
from chalicelib.video.files import quirks
from chalicelib.video.files.opening import opened, refusing, video_stream
from chalicelib.video.files.source import Source, SourceFile
from chalicelib.video.mp4 import boxes
from chalicelib.video.plan import GOP, AudioInfo, Probe, VideoInfo, check_size
from chalicelib.video.timing import MAX_FRAMES, FrameTable, Keyframe, build_table

if TYPE_CHECKING:
    from av import Packet, VideoFrame, VideoStream
    from av.buffer import Buffer
    from av.container import InputContainer

MAX_SECONDS = 600.0
_HEAD_FRAMES = 32
# Decoding this many frames at the end takes a few seconds; a longer last group of pictures is not checked.
_LONGEST_TAIL = 3000
_MOST_BOXES = 64
# Maximum pictures lost to damaged packets at the start.
_MOST_DAMAGED = 8
_STREAMED = frozenset({"mpegts", "mpeg"})
_BY_DECODING_TIME = frozenset({"mov", "avi", "mpeg"})
_WIDEST_PIXEL = 16


class _Packets(Struct):
    """The result of demuxing: presentation times of frames, and keyframes as (time, stamp, position)."""

    times: array[int]
    keys: list[tuple[int, int, int | None]]
    usable: bool
    shift: int = 0


def probe(source: Source, *, max_seconds: float = MAX_SECONDS) -> tuple[Probe, FrameTable]:
    """What a video is and its frame table.

    Raises BadInput with a readable reason for anything that is not a video with at least one frame, is larger than
    allowed, or takes longer than `max_seconds` to look through.
    """
    deadline = time.monotonic() + max_seconds
    file = SourceFile(source)
    with opened(file) as (container, _):
        stream = video_stream(container, file)
        check_size(stream.codec_context.width, stream.codec_context.height)
        name = container.format.name.split(",")[0]
        audio = tuple(_audio(container))
        base = stream.time_base or Fraction(1, 1000)
        nominal = stream.average_rate or stream.guessed_rate
        packets = _demuxed(container, stream, file, name, deadline)
    head, is_damaged = _head(file)
    missing = _MOST_DAMAGED if is_damaged else 0
    table = _table(file, packets, head, base, nominal, missing, by_position=name in _STREAMED)
    if table is None:
        table = _decoded_table(file, base, nominal, name, deadline)
    with opened(file) as (container, _):
        video = _video(video_stream(container), head)
    check_size(video.width, video.height)
    return Probe(name, source.size, video, table.rate, table.count, audio), table


def _demuxed(container: InputContainer, stream: VideoStream, file: SourceFile, name: str, deadline: float) -> _Packets:
    """The timestamps and keyframes of all packets."""
    if name == "mov":
        quirks.check_edits(file, stream.id)
        _without_payload(container, stream, file)
    times = array("q")
    keys: list[tuple[int, int, int | None]] = []
    usable = True
    before: int | None = None
    position = delay = 0
    try:
        for number, packet in enumerate(_patiently(container.demux(stream), deadline)):
            if not packet.size:
                continue
            if not number and packet.pts is not None and packet.dts is not None:
                position, delay = packet.pos or 0, packet.pts - packet.dts
            # Recordings joined end to end start their clock again, and sorting by it would mix them.
            if packet.pts is None or (before is not None and packet.dts is not None and packet.dts < before):
                usable = False
                continue
            before = packet.dts
            if packet.is_keyframe:
                stamp = packet.dts if name in _BY_DECODING_TIME and packet.dts is not None else packet.pts
                keys.append((packet.pts, stamp, packet.pos))
            if not packet.is_discard:
                times.append(packet.pts)
    finally:
        file.hollow = []
    if file.error:
        raise file.error
    times = array("q", sorted(times))
    usable = usable and all(a < b for a, b in pairwise(times))
    shift = quirks.shift_of(file, stream.id, position, delay) if name == "mov" else 0
    return _Packets(times, keys, usable, shift)


def _without_payload(container: InputContainer, stream: VideoStream, file: SourceFile) -> None:
    """Give the demuxer of an MP4 zeros instead of the payload, which it does not read."""
    import av  # noqa: PLC0415 - see video.opening
    from av.container.core import Flags  # noqa: PLC0415

    payload = _payload(file)
    if not payload:
        return
    # Parsers would look for keyframes in the payload; the index lists them. Seeking resets the parsers that
    # opening the file has started.
    no_parse = cast("int", Flags.no_parse.value)
    container.flags |= no_parse
    try:
        container.seek(stream.start_time or 0, stream=stream)
    except av.FFmpegError:
        container.flags &= ~no_parse
    else:
        file.hollow = payload


def _patiently(packets: Iterator[Packet[VideoStream]], deadline: float) -> Iterator[Packet[VideoStream]]:
    """Packets until the first unreadable one. Raises BadInput if they are too many or take too long."""
    import av  # noqa: PLC0415 - see video.opening

    try:
        for number, packet in enumerate(packets):
            if number > MAX_FRAMES:
                raise BadInput(f"The video has more than {MAX_FRAMES} frames.")
            if number % 256 == 0 and time.monotonic() > deadline:
                raise BadInput("Looking through the video takes longer than allowed.")
            yield packet
    except av.FFmpegError:
        # A truncated file still has the frames before that.
        return


def _payload(file: SourceFile) -> list[tuple[int, int]]:
    """Byte ranges of an MP4's payload; none for fragmented files, whose indexes are between payloads."""
    ranges: list[tuple[int, int]] = []

    def read(offset: int, length: int) -> bytes:
        file.seek(offset)
        return file.read(length)

    position = file.tell()
    try:
        for number, box in enumerate(boxes.top_level(read, file.size)):
            if box.name == "moof" or number > _MOST_BOXES:
                return []
            if box.name == "mdat":
                ranges.append((box.body, min(box.end, file.size)))
    except BadInput:
        return []
    finally:
        file.seek(position)
    return ranges


def _head(file: SourceFile) -> tuple[list[VideoFrame], bool]:
    """The first pictures that the decoder makes of the file, and whether packets among them are damaged.

    Raises BadInput when there is no picture.
    """
    tried: list[int] = []

    def attempt(threads: int) -> Iterator[VideoFrame]:
        tried.append(threads)
        with opened(file) as (container, _):
            stream = video_stream(container)
            yield from decode(packets_from(container, stream, None, START), stream, threads)

    with refusing("The video cannot be decoded", file):
        pictures = list(islice(without_losses(attempt), _HEAD_FRAMES))
    if not pictures:
        raise BadInput("The file holds no video frame that can be decoded.")
    return pictures, len(tried) > 1


def _table(
    file: SourceFile,
    packets: _Packets,
    head: Sequence[VideoFrame],
    base: Fraction,
    nominal: Fraction | None,
    missing: int,
    *,
    by_position: bool,
) -> FrameTable | None:
    """The frame table from timestamps, corrected at both ends by decoding; None if they do not agree.

    Up to `missing` pictures of `head` may be missing between others.
    """
    shown = [picture.pts for picture in head if picture.pts is not None]
    times = packets.times
    if not packets.usable or len(shown) < len(head) or not times or shown[0] not in times:
        return None
    start = bisect_left(times, shown[0])
    stop = bisect_left(times, shown[-1], start) + 1
    if stop - start - len(shown) > missing or not set(shown).issubset(times[start:stop]) or shown != sorted(shown):
        return None
    del times[:start]
    keys = list(_keyframes(packets.keys, times))
    draft = build_table(times, keys, base, nominal, by_position=by_position, shift=packets.shift)
    last = _last_shown(file, draft, shown)
    if last is not None and last < times[-1]:
        del times[bisect_left(times, last) + 1 :]
        draft = build_table(times, keys, base, nominal, by_position=by_position, shift=packets.shift)
    return draft


def _keyframes(keys: Iterable[tuple[int, int, int | None]], times: Sequence[int]) -> Iterator[Keyframe]:
    """Keyframes in frame order, no closer than half an output group of pictures: intra-only sources have only such."""
    last = 0
    for pts, stamp, position in sorted(keys, key=lambda key: key[0]):
        frame = bisect_left(times, pts)
        if frame < len(times) and times[frame] == pts and frame >= last + GOP // 2:
            yield Keyframe(frame, stamp, position)
            last = frame


def _last_shown(file: SourceFile, table: FrameTable, head: Sequence[int]) -> int | None:
    """The timestamp of the last picture that can be decoded; None if finding it would take too long."""
    if table.count <= len(head):
        return head[-1]
    times = table.times()
    for key in list(table.keyframes())[:-3:-1]:
        if table.count - key.frame > _LONGEST_TAIL:
            return None

        def attempt(threads: int, key: Keyframe = key) -> Iterator[VideoFrame]:
            with opened(file) as (container, _):
                stream = video_stream(container)
                yield from decode(packets_from(container, stream, table, key), stream, threads)

        last: int | None = None
        with contextlib.suppress(KeyframeMissedError):
            for picture in without_losses(attempt):
                if picture.pts is not None and picture.pts >= times[key.frame]:
                    last = picture.pts
        if file.error:
            raise file.error
        if last is not None:
            return last
    return None


def _decoded_table(
    file: SourceFile, base: Fraction, nominal: Fraction | None, name: str, deadline: float
) -> FrameTable:
    """The frame table of a source whose frames can be counted only by decoding."""
    keys: list[tuple[int | None, int | None]] = []
    clock: list[int] = []

    def attempt(threads: int) -> Iterator[VideoFrame]:
        keys.clear()
        clock.clear()
        with opened(file) as (container, _):
            stream = video_stream(container)
            yield from decode(noting_keys(container.demux(stream)), stream, threads)

    def noting_keys(packets: Iterator[Packet[VideoStream]]) -> Iterator[Packet[VideoStream]]:
        for packet in _patiently(packets, deadline):
            if packet.dts is not None:
                clock.append(packet.dts)
            if packet.size and packet.is_keyframe and not packet.is_discard:
                keys.append((packet.dts if packet.dts is not None else packet.pts, packet.pos))
            yield packet

    times = array("q")
    shown_keys: list[int] = []
    timed = True
    with refusing("The video cannot be decoded", file):
        for number, picture in enumerate(without_losses(attempt)):
            if picture.key_frame:
                shown_keys.append(number)
            timed = timed and picture.pts is not None and (not times or picture.pts > times[-1])
            times.append(picture.pts if timed and picture.pts is not None else number)
    if not timed:
        base, times = _regular(len(times), base, nominal, times[0] * base if times else Fraction(0))
    # Where the clock begins anew or stands still, a time is there twice, and a seek may find the other packet.
    is_steady = all(before < after for before, after in pairwise(clock))
    keyframes = []
    # Only where every keyframe packet gave one keyframe picture is it sure which belongs to which.
    if len(keys) == len(shown_keys) and name in _BY_DECODING_TIME | _STREAMED:
        keyframes = [
            Keyframe(frame, stamp, position)
            for frame, (stamp, position) in zip(shown_keys, keys, strict=True)
            if stamp is not None and (is_steady or (position is not None and name in _STREAMED))
        ]
    return build_table(times, keyframes, base, nominal, counted=True, by_position=name in _STREAMED)


def _regular(count: int, base: Fraction, nominal: Fraction | None, begun: Fraction) -> tuple[Fraction, array[int]]:
    """The times of frames that have none: at the nominal rate, from `begun` seconds on, and their unit.

    The unit is that of the file, or a part of it where a frame is shorter.
    """
    rate = nominal if nominal and nominal > 0 else Fraction(25)
    base /= max(1, -(-rate * base // 1))
    first = round(begun / base)
    return base, array("q", (first + round(number / rate / base) for number in range(count)))


def _video(stream: VideoStream, head: Sequence[VideoFrame]) -> VideoInfo:
    """The picture as stored and as shown, from the stream and its first decoded pictures."""
    first = head[0]
    sar = stream.sample_aspect_ratio or Fraction(1)
    if not Fraction(1, _WIDEST_PIXEL) <= sar <= _WIDEST_PIXEL:
        sar = Fraction(1)
    rotation, mirrored = _orientation(first)
    width, height = max(1, round(first.width * sar)), first.height
    if rotation in (90, 270):
        width, height = height, width
    return VideoInfo(
        codec=stream.codec_context.codec.canonical_name,
        pix_fmt=first.format.name,
        stored_width=first.width,
        stored_height=first.height,
        width=width,
        height=height,
        sar=sar.as_integer_ratio(),
        rotation=rotation,
        mirrored=mirrored,
        interlaced=any(picture.interlaced_frame for picture in head),
        color=(int(first.color_primaries), int(first.color_trc), int(first.colorspace)),
    )


def _orientation(picture: VideoFrame) -> tuple[int, bool]:
    """Clockwise quarter turns in degrees, and whether to mirror left-right before, from a picture's display matrix."""
    # PyAV's stubs know of motion vectors only; at run time it is a mapping from every kind's name to a buffer.
    side_data = cast("Mapping[str, Buffer]", picture.side_data)
    matrix = side_data.get("DISPLAYMATRIX")
    if matrix is None:
        return 0, False
    a, b, _, c, d, *_ = struct.unpack("=9i", bytes(matrix))
    mirrored = a * d - b * c < 0
    if mirrored:
        a, b = -a, -b
    return round(atan2(b, a) / (pi / 2)) % 4 * 90, mirrored


def _audio(container: InputContainer) -> Iterator[AudioInfo]:
    """The sound tracks that can be decoded."""
    from av.stream import Disposition  # noqa: PLC0415 - see video.opening

    for stream in container.streams.audio:
        context = getattr(stream, "codec_context", None)
        if context is not None and context.sample_rate:
            default = bool(stream.disposition & Disposition.default)
            yield AudioInfo(stream.index, context.name, context.sample_rate, context.channels, default)
