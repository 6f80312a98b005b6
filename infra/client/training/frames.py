"""Frames of videos by number, decoded on this machine from the bytes that hold them: the same pixels as `GetFrame`.

A streaming file is cut into fragments that decode by themselves. Its segment file says which bytes hold which frames,
so a frame costs the header and one fragment, read by range. Fragments are kept in a folder, if one is given, and the
last few in memory.
"""

from __future__ import annotations

import hashlib
import io
import os
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..failures import Failure

if TYPE_CHECKING:
    from ..client import Client
    from ..configuration import Profile

KEPT = 4
"""Decoded fragments in memory, about a second of video each."""
URL_SECONDS = 86_400
_UNSPECIFIED, _LIMITED, _FULL, _BT709, _BT601, _HD = 2, 1, 2, 1, 6, 720
"""Numbers of H.273, and the lines from which videos without tags are BT.709."""


@dataclass(frozen=True)
class Span:
    """Frames `first` … `first + count - 1`, in the bytes from `start` up to before `stop`."""

    first: int
    count: int
    start: int
    stop: int


@dataclass(frozen=True)
class Stream:
    """A streaming file: where it is, the size of its header, and its fragments."""

    url: str
    header: int
    spans: tuple[Span, ...]

    def span_of(self, frame: int) -> Span:
        """The fragment that holds a frame. Raises Failure where there is no such frame."""
        at = bisect_right([span.first for span in self.spans], frame) - 1
        if at < 0 or frame >= self.spans[at].first + self.spans[at].count:
            raise Failure(f"There is no frame {frame}.")
        return self.spans[at]


class Frames:
    """The frames of a project's media, as arrays of height × width × 3 bytes: red, green, blue.

    Threads and processes have one each; they may share the folder.
    """

    def __init__(self, client: Client, folder: Path | None = None) -> None:
        self._client, self._folder = client, folder
        self._streams: dict[int, Stream | None] = {}
        self._decoded: OrderedDict[tuple[int, int], list[Any]] = OrderedDict()
        self.fetched = 0
        """Bytes that were fetched, and not found in the folder."""

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it has connections of its own."""
        return _frames, (self._client.profile, self._folder)

    def read(self, media: int, frame: int) -> Any:
        """A frame. Raises Failure where there is no such frame."""
        if media not in self._streams:
            self._streams[media] = self._stream(media)
        stream = self._streams[media]
        if stream is None:  # an image, or a video without streaming files
            return _picture(self._client.get_frame(media, frames=[frame], **_PNG))
        span = stream.span_of(frame)
        key = (media, span.first)
        if key not in self._decoded:
            data = self._bytes(media, stream, 0, stream.header) + self._bytes(media, stream, span.start, span.stop)
            self._decoded[key] = list(_decode(data))
            while len(self._decoded) > KEPT:
                self._decoded.popitem(last=False)
        self._decoded.move_to_end(key)
        found = self._decoded[key]
        if frame - span.first >= len(found):
            raise Failure(f"Frame {frame} of media {media} cannot be decoded.")
        return _array(found[frame - span.first])

    def _stream(self, media: int) -> Stream | None:
        files: Any = self._client.get_media(media, presigned=URL_SECONDS).get("media_files") or {}
        some = [each for each in files.get("streaming") or () if each.get("segment_info") and not each.get("host")]
        if not some:
            return None
        best = max(some, key=lambda each: each["resolution"][0])
        return stream_of(best["path"], msgspec.json.decode(self._client.read_bytes(best["segment_info"])))

    def _bytes(self, media: int, stream: Stream, start: int, stop: int) -> bytes:
        place = None
        if self._folder is not None:
            name = hashlib.sha256(f"{stream.url.partition('?')[0]}|{start}|{stop}".encode()).hexdigest()
            place = self._folder / str(media) / name
            if place.exists():
                return place.read_bytes()
        data = self._client.read_bytes(stream.url, start, stop)
        if len(data) != stop - start:
            raise Failure(f"Media {media}: {len(data)} bytes came instead of {stop - start}.")
        self.fetched += len(data)
        if place is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            temporary = place.with_name(f".{name}.{os.getpid()}")
            temporary.write_bytes(data)
            temporary.replace(place)
        return data


def _frames(profile: Profile, folder: Path | None) -> Frames:
    from ..client import Client

    return Frames(Client(profile), folder)


def stream_of(url: str, document: Any) -> Stream:
    """A streaming file, by its segment file."""
    boxes = document["segments"]
    spans = [
        Span(moof["frame_start"], moof["frame_samples"], moof["offset"], mdat["offset"] + mdat["size"])
        for moof, mdat in pairwise(boxes)
        if moof["name"] == "moof"
    ]
    if spans[0].first > 0:  # of other tools, which begin to count behind the first fragment
        first, second = spans[:2]
        spans[:2] = [Span(0, second.first + second.count, first.start, second.stop)]
    return Stream(url, sum(box["size"] for box in boxes[:2]), tuple(spans))


def _decode(data: bytes) -> Iterator[Any]:
    """The pictures of a header and a fragment, in the order in which they are shown."""
    import av

    with av.open(io.BytesIO(data), "r") as container:
        container.streams.video[0].thread_type = "AUTO"
        yield from container.decode(video=0)


def _array(picture: Any) -> Any:
    """A decoded picture as red, green and blue, as the service converts it."""
    if picture.color_range not in (_LIMITED, _FULL) and picture.format.name.startswith("yuv4"):
        picture.color_range = _LIMITED
    if picture.colorspace == _UNSPECIFIED and not picture.format.is_rgb:
        picture.colorspace = _BT709 if picture.height >= _HD else _BT601
    size = picture.width, picture.height
    return picture.reformat(*size, "rgb24", interpolation="BICUBIC", dst_color_range=_FULL).to_ndarray()


def _picture(data: bytes) -> Any:
    import av

    with av.open(io.BytesIO(data), "r") as container:
        return next(container.decode(video=0)).to_ndarray(format="rgb24")


_PNG: Any = {"format": "png"}
