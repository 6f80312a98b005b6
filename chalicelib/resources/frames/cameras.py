"""Media that show others side by side, by time (decision 211): their parts, and their frames as grids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isqrt
from typing import TYPE_CHECKING, Any

import msgspec

from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Media
from chalicelib.errors import BadInput, NotFound
from chalicelib.resources.frames import service as frames_service
from chalicelib.resources.frames.service import File, FrameRequest
from chalicelib.resources.frames.times import clock_of
from chalicelib.resources.media import streams
from chalicelib.storage.dynamodb import entities
from chalicelib.video.cameras import Timeline

if TYPE_CHECKING:
    from chalicelib.video.files.source import Source
    from chalicelib.video.pictures.drawing import Grid, Part
    from chalicelib.video.side_by_side import Camera

MOST_PARTS = 16


@dataclass(frozen=True)
class Cameras:
    """A multi media, and its parts in order.

    With `meshes`, of `drawing.Mesh`, only those parts are drawn, each warped and as large as the first; one below the
    other if `is_stacked`.
    """

    media: Media
    parts: tuple[Media, ...]
    meshes: Mapping[int, Any] = field(default_factory=dict)
    is_stacked: bool = False

    @cached_property
    def timeline(self) -> Timeline:
        """Which frame of each belongs to a frame of the whole. Raises BadInput where a part has no frames yet."""
        files = self.media.media_files
        offsets = [*((files.frameOffset if files else None) or []), *(0 for _ in self.parts)][: len(self.parts)]
        clocks = (None if frames_service.image_of(part) else clock_of(part) for part in self.parts)
        return Timeline(tuple(clocks), tuple(offsets))

    @property
    def modified(self) -> str:
        """When any of them was changed last."""
        return max(each.modified_datetime for each in (self.media, *self.parts))

    @property
    def layout(self) -> tuple[int, int]:
        """Columns and rows: as stored (rows, then columns) where all parts have room, else about as many of each."""
        if self.meshes:
            return (1, len(self.meshes)) if self.is_stacked else (len(self.meshes), 1)
        files = self.media.media_files
        rows, columns = ((files.layout if files else None) or [0, 0])[:2]
        if min(rows, columns) > 0 and len(self.parts) <= rows * columns <= MOST_PARTS:
            return columns, rows
        columns = isqrt(len(self.parts) - 1) + 1
        return columns, -(-len(self.parts) // columns)

    def check(self, frames: Iterable[int], name: str) -> None:
        """Raise BadInput, naming the parameter, for frames that the whole does not have."""
        if beyond := [frame for frame in frames if not 0 <= frame < self.timeline.frames]:
            last = self.timeline.frames - 1
            raise BadInput(f"{name}: {beyond[0]} does not exist; media {self.media.id} has frames 0 to {last}.")

    def part(self, number: int, frames: Sequence[int], name: str) -> tuple[Media, tuple[int, ...]]:
        """One part, and the frames that it shows at frames of the whole.

        Raises:
            BadInput: there is no such part, or it shows nothing at one of the frames, which `name` gives.
        """
        if number >= len(self.parts):
            raise BadInput(f"part: media {self.media.id} has parts 0 to {len(self.parts) - 1}.")
        self.check(frames, name)
        found: list[int] = []
        for frame in frames:
            shown = self.timeline.shown(number, frame)
            if shown is None:
                raise BadInput(f"{name}: at {frame}, part {number} (media {self.parts[number].id}) shows nothing.")
            found.append(shown)
        return self.parts[number], tuple(found)


def cameras_of(media: Media, scope: Scope | None, part: int | None = None) -> Cameras | None:
    """A media with its parts, if it shows others.

    Args:
        media: the media.
        scope: of the caller, who must see all parts; None for the service's own work.
        part: what the caller asked for as `part`.

    Raises:
        BadInput: a part was asked for, and the media shows no others; or it shows too many.
        NotFound: a part was deleted, or the caller may not see it.
    """
    numbers = (media.media_files.ids if media.media_files else None) or []
    if not numbers:
        if part is not None:
            raise BadInput(f"part: media {media.id} shows no other media; leave it out.")
        return None
    if len(numbers) > MOST_PARTS:
        raise BadInput(f"Media {media.id} shows {len(numbers)} media; at most {MOST_PARTS} are drawn together.")
    rows = entities.many(Kind.MEDIA, numbers)
    found: list[Media] = [rows[number].entity for number in numbers if number in rows]
    present = {row.id for row in (scope.visible(Kind.MEDIA, found) if scope else found)}
    if missing := [number for number in numbers if number not in present]:
        raise NotFound.of("Media", missing[0])
    return Cameras(media, tuple(found))


def render(cameras: Cameras, request: FrameRequest, part: int | None) -> tuple[bytes, str]:
    """Frames of the whole as one file, each a grid of what the parts show, or what one part shows; its media type.

    Raises:
        BadInput: as `frames_service.render`, or the part shows nothing then.
    """
    if part is not None and not cameras.meshes:
        media, frames = cameras.part(part, request.frames, "frames")
        return frames_service.render(media, msgspec.structs.replace(request, frames=frames))
    cameras.check(request.frames, "frames")
    parts, options = frames_service.parts_of(request)
    sources, grid = look_at(cameras, parts, request.quality)
    return frames_service.draw(sources, frames_service.single_drawing(grid, options), "frames")


def look_at(cameras: Cameras, parts: Sequence[Part], quality: int | None = None) -> tuple[list[Source], Grid]:
    """How parts of frames of the whole are drawn; and where the bytes come from.

    Every cell is as large as the picture of the first part; the others are fitted into it.
    """
    from chalicelib.video.pictures.drawing import Cell, Grid, Part  # noqa: PLC0415 kept off the API's cold start

    sources, cells = [], []
    for number, file, box in _cells(cameras, quality):
        shown = ((n, cameras.timeline.shown(number, n)) for n in sorted({part.frame for part in parts}))
        wanted = [Part(frame, own) for frame, own in shown if own is not None]
        if wanted:
            source, view = frames_service.look_at(file, wanted)
            sources.append(source)
            cells.append(Cell(box, view, cameras.meshes.get(number)))
    return sources, Grid(size_of(cameras, quality), tuple(parts), tuple(cells))


def cameras_of_clip(
    cameras: Cameras, frames: Sequence[int], quality: int | None
) -> tuple[list[Source], list[Camera], tuple[int, int]]:
    """What a clip of frames of the whole is made of, for `side_by_side.encode_cameras`: sources, cameras and size."""
    from chalicelib.video.mp4.segments import header_size  # noqa: PLC0415 kept off the API's cold start
    from chalicelib.video.pictures.drawing import Part  # noqa: PLC0415
    from chalicelib.video.side_by_side import Camera  # noqa: PLC0415

    sources: list[Source] = []
    found = []
    for number, file, box in _cells(cameras, quality):
        material: Any = None
        if isinstance(file, streams.OriginalVideo):
            source, material = file.source, file.original
        elif isinstance(file, streams.Stream):
            material = streams.segments(file.segment_info)
            source = streams.StreamSource(file.path, header_size(material))
        else:
            source, _ = frames_service.look_at(file, [Part(0, 0)])
        sources.append(source)
        found.append(Camera(material, box, tuple(cameras.timeline.shown(number, frame) for frame in frames)))
    return sources, found, size_of(cameras, quality)


def size_of(cameras: Cameras, quality: int | None = None) -> tuple[int, int]:
    """Width and height of the combined frames, in pixels."""
    high, wide = _file(cameras.parts[0], quality).resolution
    return cameras.layout[0] * wide, cameras.layout[1] * high


def _file(media: Media, quality: int | None) -> File:
    return frames_service.image_of(media) or streams.choose(media, quality)


def _cells(cameras: Cameras, quality: int | None) -> Iterator[tuple[int, File, tuple[int, int, int, int]]]:
    """The number of each part that is drawn, its file, and its box in the grid."""
    columns, _ = cameras.layout
    high, wide = _file(cameras.parts[0], quality).resolution
    for at, number in enumerate(cameras.meshes or range(len(cameras.parts))):
        file = _file(cameras.parts[number], quality)
        shape = (high, wide) if cameras.meshes else file.resolution
        yield number, file, _fit(shape, (wide, high), (at % columns, at // columns))


def _fit(resolution: Sequence[int], cell: tuple[int, int], place: tuple[int, int]) -> tuple[int, int, int, int]:
    """The box of a picture of a resolution (height, width), as large as its cell allows, in the middle of it."""
    scale = min(cell[0] / resolution[1], cell[1] / resolution[0])
    width, height = max(1, round(resolution[1] * scale)), max(1, round(resolution[0] * scale))
    left, top = place[0] * cell[0] + (cell[0] - width) // 2, place[1] * cell[1] + (cell[1] - height) // 2
    return left, top, width, height
