"""Probe a file: its streams, and the presentation time of each frame.

The packets' timestamps make the frame table without decoding; for MP4 and MOV not even the payload is fetched, as the
demuxer needs only its index (`packets`). The decoder's output is then compared at both ends, where packets and pictures
differ: leading pictures that cannot be decoded, a truncated tail. Between them each packet is a frame, whether it can
be decoded or not. Sources whose packets have no usable timestamps are decoded once to be counted.
"""

from __future__ import annotations

import contextlib
import struct
import time
from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice, pairwise
from math import atan2, degrees
from typing import TYPE_CHECKING, cast

from chalicelib.errors import BadInput
from chalicelib.video.decoding.decode import START, KeyframeMissedError, decode, packets_from, without_losses
from chalicelib.video.files.opening import opened, refusing, video_stream
from chalicelib.video.files.source import Source, SourceFile
from chalicelib.video.packets import BY_DECODING_TIME, STREAMED, Packets, demuxed, patiently
from chalicelib.video.plan import GOP, AudioInfo, Probe, VideoInfo, check_size, turned_size
from chalicelib.video.timing import FrameTable, Keyframe, build_table

if TYPE_CHECKING:
    from av import Packet, VideoFrame, VideoStream
    from av.buffer import Buffer
    from av.container import InputContainer

MAX_SECONDS = 600.0
_HEAD_FRAMES = 32
# Decoding this many frames at the end takes a few seconds; a longer last group of pictures is not checked.
_LONGEST_TAIL = 3000
_ONE_FRAME_EACH = frozenset(
    {"hevc", "av1", "vp9", "vp8", "h264", "mpeg2video", "prores", "dnxhd", "ffv1", "mjpeg"} | {"jpeg2000", "png"}
)
_WIDEST_PIXEL = 16
_SMALLEST_FRAME = 8
"""Bytes of a packet that is no frame but stands for one that is in the packet before it, as in packed AVI."""


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
        packets = demuxed(container, stream, file, name, deadline)
    head, is_damaged = _head(file)
    is_kept = is_damaged or _shows_each(stream, name, head)
    packets.is_damaged = packets.is_damaged or (is_damaged and name not in STREAMED)
    table = _table(file, packets, head, base, nominal, is_kept=is_kept, by_position=name in STREAMED)
    if table is None:
        table = _decoded_table(file, base, nominal, name, deadline)
    with opened(file) as (container, _):
        video = _video(video_stream(container), head)
    check_size(video.width, video.height)
    return Probe(name, source.size, video, table.rate, table.count, audio), table


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


def _shows_each(stream: VideoStream, container: str, head: Sequence[VideoFrame]) -> bool:
    """Whether every packet of a stream is one frame, so that a picture that is missing is damaged.

    AVI files of MPEG-4, and streams that were moved from one into Matroska with their FourCC, have packets of two
    frames, and empty ones. The two fields of an interlaced frame may be in packets of their own.
    """
    context = stream.codec_context
    codec = context.codec.canonical_name
    is_plain = container == "mov" or (container == "matroska" and not context.codec_tag.strip("\0"))
    is_each = codec in _ONE_FRAME_EACH or (codec == "mpeg4" and is_plain)
    return is_each and not any(picture.interlaced_frame for picture in head)


def _table(
    file: SourceFile,
    packets: Packets,
    head: Sequence[VideoFrame],
    base: Fraction,
    nominal: Fraction | None,
    *,
    is_kept: bool,
    by_position: bool,
) -> FrameTable | None:
    """The frame table from timestamps, corrected at both ends by decoding; None if they do not agree.

    `is_kept` is true where a packet without a picture is a damaged frame, which stays in the table.
    """
    shown = [picture.pts for picture in head if picture.pts is not None]
    times = packets.times
    if is_kept and packets.ordered:
        # After damage, pictures may come out of order, and one may have a time that was damaged.
        present = set(times)
        shown = sorted(stamp for stamp in shown if stamp in present)
    if not packets.usable or not times or not shown or len(shown) < (len(head) / 2 if is_kept else len(head)):
        return None
    start = bisect_left(times, shown[0])
    stop = bisect_left(times, shown[-1], start) + 1
    if not set(shown).issubset(times[start:stop]) or shown != sorted(shown):
        return None
    missing = stop - start - len(shown)
    if missing and (not is_kept or (missing * 3 > stop - start and any(picture.interlaced_frame for picture in head))):
        return None
    if is_kept and packets.is_damaged:
        start = 0
    elif is_kept and packets.begins is not None:
        start = min(start, bisect_left(times, packets.begins))
    del times[:start]

    def made() -> FrameTable:
        keys = list(_keyframes(packets.keys, times))
        ends = packets.missing_ends
        return build_table(times, keys, base, nominal, by_position=by_position, shift=packets.shift, missing_ends=ends)

    draft = made()
    last, is_damaged = _last_shown(file, draft, shown)
    end = len(times) if last is None else bisect_left(times, last) + 1
    if is_kept or is_damaged or end == len(times):
        end = len(times) - (end < len(times) and times[-1] == packets.broken)
    if end == len(times):
        return draft
    del times[end:]
    return made()


def _keyframes(keys: Iterable[tuple[int, int, int | None]], times: Sequence[int]) -> Iterator[Keyframe]:
    """Keyframes in frame order, no closer than half an output group of pictures: intra-only sources have only such."""
    last = 0
    for pts, stamp, position in sorted(keys, key=lambda key: key[0]):
        frame = bisect_left(times, pts)
        if frame < len(times) and times[frame] == pts and frame >= last + GOP // 2:
            yield Keyframe(frame, stamp, position)
            last = frame


def _last_shown(file: SourceFile, table: FrameTable, head: Sequence[int]) -> tuple[int | None, bool]:
    """The timestamp of the last picture that can be decoded, and whether packets near it are damaged.

    None if finding it would take too long.
    """
    if table.count <= len(head):
        return head[-1], False
    times = table.times()
    tried: list[int] = []
    for key in list(table.keyframes())[:-3:-1]:
        if table.count - key.frame > _LONGEST_TAIL:
            return None, False

        def attempt(threads: int, key: Keyframe = key) -> Iterator[VideoFrame]:
            tried.append(threads)
            with opened(file) as (container, _):
                stream = video_stream(container)
                yield from decode(packets_from(container, stream, table, key), stream, threads)

        last: int | None = None
        with contextlib.suppress(KeyframeMissedError):
            for picture in without_losses(attempt):
                if picture.pts is not None and picture.pts >= times[key.frame]:
                    last = max(picture.pts, last or picture.pts)
        if file.error:
            raise file.error
        if last is not None:
            return last, 1 in tried
    return None, 1 in tried


def _decoded_table(
    file: SourceFile, base: Fraction, nominal: Fraction | None, name: str, deadline: float
) -> FrameTable:
    """The frame table of a source whose frames can be counted only by decoding."""
    keys: list[tuple[int | None, int | None]] = []
    clock: list[int] = []
    tried: list[int] = []

    def attempt(threads: int) -> Iterator[VideoFrame]:
        keys.clear()
        clock.clear()
        tried.append(threads)
        with opened(file) as (container, _):
            stream = video_stream(container)
            yield from decode(noting_keys(container.demux(stream)), stream, threads)

    def noting_keys(packets: Iterator[Packet[VideoStream]]) -> Iterator[Packet[VideoStream]]:
        for packet in patiently(packets, deadline):
            if packet.dts is not None and packet.size > _SMALLEST_FRAME:
                clock.append(packet.dts)
            if packet.size and packet.is_keyframe and not packet.is_discard:
                keys.append((packet.dts if packet.dts is not None else packet.pts, packet.pos))
            yield packet

    shown: list[int | None] = []
    shown_keys: list[int] = []
    with refusing("The video cannot be decoded", file):
        for number, picture in enumerate(without_losses(attempt)):
            if picture.key_frame:
                shown_keys.append(number)
            shown.append(picture.pts)
    # Where the clock begins anew or stands still, a time is there twice, and a seek may find the other packet.
    is_steady = all(before < after for before, after in pairwise(clock))
    lost = _lost(shown, clock) if is_steady and len(tried) > 1 else []
    count = len(shown) + len(lost)
    if lost or None in shown or not all(before < after for before, after in pairwise(shown)):  # type: ignore[operator]
        first = shown[0] if shown else None
        base, times = _regular(count, base, nominal, (first or 0) * base)
    else:
        times = array("q", cast("list[int]", shown))
    keyframes = []
    # Only where every keyframe packet gave one keyframe picture is it sure which belongs to which.
    if len(keys) == len(shown_keys) and name in BY_DECODING_TIME | STREAMED:
        present = sorted({*range(count)}.difference(lost)) if lost else range(count)
        keyframes = [
            Keyframe(present[frame], stamp, position)
            for frame, (stamp, position) in zip(shown_keys, keys, strict=True)
            if stamp is not None and (is_steady or (position is not None and name in STREAMED))
        ]
    return build_table(times, keyframes, base, nominal, counted=True, by_position=name in STREAMED, lost=lost)


def _lost(shown: Sequence[int | None], clock: Sequence[int]) -> list[int]:
    """The numbers of frames without a picture, in presentation order, where each packet is one frame.

    `clock` has the decoding time of each packet, `shown` that of the packet of each picture, in presentation order. A
    frame is taken to be presented before the first one that is decoded after it. None are lost where times are unknown.
    """
    if not shown or None in shown:
        return []
    stamps = cast("list[int]", shown)
    # FFmpeg counts the pictures of some codecs from one, and their packets from zero.
    present = {stamp + min(stamps) - clock[0] for stamp in clock}
    if len(set(stamps)) < len(stamps) or not present.issuperset(stamps):
        return []
    missing = deque(sorted(present.difference(stamps)))
    lost: list[int] = []
    for number, stamp in enumerate(stamps):
        while missing and missing[0] < stamp:
            missing.popleft()
            lost.append(number + len(lost))
    return lost + [len(shown) + len(lost) + number for number in range(len(missing))]


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
    width, height = turned_size(width, height, rotation)
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


def _orientation(picture: VideoFrame) -> tuple[float, bool]:
    """The clockwise turn in degrees, and whether to mirror left-right before, from a picture's display matrix.

    A turn of less than a degree from a quarter is taken for the quarter.
    """
    # PyAV's stubs know of motion vectors only; at run time it is a mapping from every kind's name to a buffer.
    side_data = cast("Mapping[str, Buffer]", picture.side_data)
    matrix = side_data.get("DISPLAYMATRIX")
    if matrix is None:
        return 0, False
    a, b, _, c, d, *_ = struct.unpack("=9i", bytes(matrix))
    mirrored = a * d - b * c < 0
    if mirrored:
        a, b = -a, -b
    angle = degrees(atan2(b, a)) % 360
    quarter = round(angle / 90) * 90
    return (quarter % 360 if abs(angle - quarter) < 1 else round(angle, 2)), mirrored


def _audio(container: InputContainer) -> Iterator[AudioInfo]:
    """The sound tracks that can be decoded."""
    from av.stream import Disposition  # noqa: PLC0415 - see video.opening

    for stream in container.streams.audio:
        context = getattr(stream, "codec_context", None)
        if context is not None and context.sample_rate:
            default = bool(stream.disposition & Disposition.default)
            yield AudioInfo(stream.index, context.name, context.sample_rate, context.channels, default)
