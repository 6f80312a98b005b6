"""Prepare stored pictures for display: deinterlace, map HDR to BT.709, mirror and turn.

Square pixels are made later, by the scaling of each rendition.
"""

from __future__ import annotations

import contextlib
from fractions import Fraction
from typing import TYPE_CHECKING

from chalicelib.video.decoding import colour
from chalicelib.video.plan import VideoInfo

if TYPE_CHECKING:
    from av import VideoFrame
    from av.filter import Graph

_Step = tuple[str, str | None]
_TURNS: dict[float, tuple[_Step, ...]] = {
    0: (),
    90: (("transpose", "clock"),),
    180: (("hflip", None), ("vflip", None)),
    270: (("transpose", "cclock"),),
}


def _slanted(video: VideoInfo) -> tuple[_Step, ...]:
    """The filters that turn a picture by no whole quarter: with square pixels, and all of it in the picture."""
    width = max(1, round(video.stored_width * Fraction(*video.sar)))
    size = f"ow={video.width}:oh={video.height}:fillcolor=black"
    return ("scale", f"w={width}:h={video.stored_height}"), ("rotate", f"angle={video.rotation}*PI/180:{size}")


class Upright:
    """A filter that gives exactly one picture for each one fed, in order; deinterlacing holds one back."""

    def __init__(self, video: VideoInfo, largest: tuple[int, int] | None = None) -> None:
        """For pictures of `video`, of which none larger than `largest` (width, height, as shown) is needed."""
        self._video = video
        self._is_mapped = colour.needs_mapping(video.color)
        self._steps: list[_Step] = []
        if video.interlaced:
            # One picture per picture (not per field), and only those that are marked as interlaced are touched.
            self._steps.append(("bwdif", "mode=send_frame:deint=interlaced"))
        if self._is_mapped:
            turned = video.rotation in (90, 270)
            needed = largest if video.rotation in _TURNS else None
            self._steps += colour.mapping_steps(video, needed[::-1] if needed and turned else needed)
        if video.mirrored:
            self._steps.append(("hflip", None))
        self._steps += _TURNS[video.rotation] if video.rotation in _TURNS else _slanted(video)
        self._graph: Graph | None = None
        self._shape: tuple[int, int, str] | None = None
        self._fed = 0

    def feed(self, picture: VideoFrame) -> list[VideoFrame]:
        """The pictures that are ready once `picture`, the next one, is known."""
        colour.tag(picture, self._video.stored_height)
        if not self._steps:
            return [picture]
        shape = (picture.width, picture.height, picture.format.name)
        ready: list[VideoFrame] = []
        if shape != self._shape:
            ready = self.flush()
            self._graph, self._shape = self._built(picture), shape
        picture.pts, picture.time_base = self._fed, Fraction(1, 25)
        self._fed += 1
        assert self._graph is not None  # noqa: S101 - built above
        self._graph.vpush(picture)
        return ready + self._pulled(picture)

    def flush(self) -> list[VideoFrame]:
        """The pictures held back; the next picture starts a new sequence."""
        if self._graph is None:
            return []
        self._graph.vpush(None)
        ready = self._pulled(None)
        self._graph = self._shape = None
        return ready

    def _built(self, picture: VideoFrame) -> Graph:
        """The chain of filters for pictures of this size and format."""
        from av.filter import Graph  # noqa: PLC0415 - see video.opening

        graph = Graph()
        chain = [
            graph.add_buffer(
                width=picture.width, height=picture.height, format=picture.format, time_base=Fraction(1, 25)
            )
        ]
        with colour.table_file(self._video) if self._is_mapped else contextlib.nullcontext("") as table:
            for name, arguments in self._steps:
                chain.append(graph.add(name, arguments and arguments.replace("{table}", table)))
        chain.append(graph.add("buffersink"))
        graph.link_nodes(*chain).configure()
        return graph

    def _pulled(self, like: VideoFrame | None) -> list[VideoFrame]:
        """The pictures that the chain has ready, with the colour tags of the input."""
        import av  # noqa: PLC0415 - see video.opening

        assert self._graph is not None  # noqa: S101 - only called while there is one
        ready: list[VideoFrame] = []
        while True:
            try:
                picture = self._graph.vpull()
            except (av.BlockingIOError, av.EOFError):
                return ready
            if self._is_mapped:
                picture.colorspace, picture.color_range = colour.BT709[2], colour.LIMITED_RANGE
            elif like is not None:
                picture.colorspace, picture.color_range = like.colorspace, like.color_range
            ready.append(picture)
