"""Decode a fragment from its bytes: no demuxer is opened, and the header is read once for all fragments.

FFmpeg's demuxer decodes pictures of its own while it opens a file, which takes longer than decoding a fragment. This
module supports only plain fragmented MP4, the format of our renditions; for anything else `packets` returns None.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from chalicelib.errors import BadInput
from chalicelib.video.decoding.decode import DamagedPacketError
from chalicelib.video.files.opening import DECODING
from chalicelib.video.mp4 import boxes

if TYPE_CHECKING:
    from av import VideoCodecContext, VideoFrame

_SAMPLE_ENTRY = 78
"""Bytes of a visual sample entry before the boxes in it."""
_HEIGHT = 26
"""Offset of the picture's height in the sample entry."""
_THREADED_HEIGHT = 480
THREADS = 3
"""Threads of one decoder: they wait for each other's pictures, so that two do not keep two processors at work."""
_CODECS = {
    "avc1": ("h264", "avcC"),
    "avc3": ("h264", "avcC"),
    "hvc1": ("hevc", "hvcC"),
    "hev1": ("hevc", "hvcC"),
    "av01": ("libdav1d", "av1C"),
}
"""By the name of the sample entry: FFmpeg's decoder, and the box that holds its settings."""


class Track(Struct, frozen=True):
    """A decoder by FFmpeg's name, its settings, the size of samples without one of their own, and the height."""

    decoder: str
    settings: bytes
    sample_size: int
    height: int


@lru_cache(maxsize=32)
def track_of(header: bytes) -> Track | None:
    """The only track of a file, from its `ftyp` and `moov` boxes; None if there are several or it is unsupported."""
    try:
        moov = boxes.need(header, "moov")
        if sum(box.name == "trak" for box in boxes.children(header, moov.body, moov.end)) != 1:
            return None
        table = boxes.need(header, "moov", "trak", "mdia", "minf", "stbl", "stsd")
        entry = next(boxes.children(header, table.body + 8, table.end))
        decoder, wanted = _CODECS[entry.name]
        inside = boxes.children(header, entry.body + _SAMPLE_ENTRY, entry.end)
        found = next(box for box in inside if box.name == wanted)
    except (BadInput, KeyError, StopIteration):
        return None
    height = int.from_bytes(header[entry.body + _HEIGHT : entry.body + _HEIGHT + 2], "big")
    return Track(decoder, header[found.body : found.end], boxes.default_size(header), height)


def packets(track: Track, data: bytes) -> list[bytes] | None:
    """The samples of one or more movie fragments, in order; None if the fragments are not plain.

    Plain fragments hold one track whose presentation order is its decoding order.
    """
    found: list[bytes] = []
    try:
        for box in boxes.children(data, 0, len(data)):
            if box.name == "moof":
                sizes = boxes.sample_sizes(data[box.offset : box.end], track.sample_size)
                if sizes is None:
                    return None
                at, lengths = sizes
                at += box.offset
                for length in lengths:
                    found.append(data[at : at + length])
                    at += length
                if at > len(data):
                    return None
    except BadInput:
        return None
    return found


def pictures(track: Track, samples: Sequence[bytes], threads: int = THREADS) -> Iterator[VideoFrame]:
    """The pictures of samples that begin with a keyframe, in order, decoded by up to `threads` threads.

    Raises:
        DamagedPacketError: a sample cannot be decoded.
    """
    import av  # noqa: PLC0415 - see video.opening

    context = cast("VideoCodecContext", av.CodecContext.create(track.decoder, "r"))
    context.extradata = track.settings
    context.options = dict(DECODING)
    context.thread_type = "AUTO"
    # Threads take longer to start than a small picture takes to decode.
    context.thread_count = min(threads, len(samples)) if track.height >= _THREADED_HEIGHT else 1
    try:
        for sample in samples:
            yield from context.decode(av.Packet(sample))
        yield from context.decode(None)
    except av.FFmpegError as error:
        raise DamagedPacketError from error
