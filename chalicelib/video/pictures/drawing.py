"""One picture file from parts of frames and images of one or more sources; drawn in a child process.

A `Drawing` is checked before any work: `cost` estimates the processor time from what must be decoded and encoded.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from chalicelib.errors import BadInput, TooLarge
from chalicelib.video.decoding.frame import Frames, images
from chalicelib.video.files.source import Source
from chalicelib.video.mp4.segments import Selection
from chalicelib.video.pictures.render import RenderOptions, Roi, encode_still, prepare, render_frames

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_SECONDS = 15.0
"""Maximum estimated processor time of one request, in seconds."""
MOST_PIXELS = 100_000_000
"""Most pixels of several pictures together: they, their grid and its file take some 18 bytes for each, of 2 GB."""
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "AVIF", "TIFF", "BMP")
# Nanoseconds a pixel on a processor of AWS Lambda, rounded up.
_DECODING, _CONVERTING, _WARPING = 4, 5, 60
_ENCODING = {"png": 20, "jpg": 10, "gif": 120, "mp4": 30}


class Part(Struct, frozen=True):
    """One picture: its position in the output, the frame, and the part of the frame; None for the whole frame."""

    index: int
    frame: int
    roi: Roi | None = None


class View(Struct, frozen=True):
    """The pictures of one source of `size` (width, height): for a video what is read of it, None for an image."""

    size: tuple[int, int]
    parts: tuple[Part, ...]
    selection: Selection | Frames | None = None


class Mesh(Struct, frozen=True):
    """How a picture is warped: for each corner of `columns` x `rows` equal cells, row by row, what is shown there.

    Places are fractions of the picture, and may lie outside of it; None where nothing is shown.
    """

    columns: int
    rows: int
    places: tuple[tuple[float, float] | None, ...]

    def warp(self, picture: Image) -> Image:
        """The picture warped, in the size that it has; black where nothing is shown."""
        from PIL.Image import Resampling, Transform  # noqa: PLC0415 - see `render.prepare`

        wide, high = picture.size
        cells = []
        for row in range(self.rows):
            for column in range(self.columns):
                at = row * (self.columns + 1) + column
                corners = [self.places[each] for each in (at, at + 1, at + self.columns + 1, at + self.columns + 2)]
                left, right = (wide * each // self.columns for each in (column, column + 1))
                top, bottom = (high * each // self.rows for each in (row, row + 1))
                if None in corners or left == right or top == bottom:
                    continue
                # the cells of the picture end at whole pixels, those of the mesh do not
                across, down = self.columns / wide, self.rows / high
                pixels = ((left, top), (left, bottom), (right, bottom), (right, top))
                places = [_between(corners, x * across - column, y * down - row) for x, y in pixels]
                cells.append(((left, top, right, bottom), [side for x, y in places for side in (x * wide, y * high)]))
        return picture.transform(picture.size, Transform.MESH, cells, Resampling.BILINEAR)


def _between(corners: Sequence[Any], x: float, y: float) -> tuple[float, float]:
    """What is between the corners of a cell, row by row, so far across and down it, each 0 to 1; bilinear."""
    shares = ((1 - x) * (1 - y), x * (1 - y), (1 - x) * y, x * y)
    across, down = (sum(part * each[axis] for part, each in zip(shares, corners, strict=True)) for axis in (0, 1))
    return across, down


class Cell(Struct, frozen=True):
    """A source shown in a grid at `box`, (left, top, width, height) in pixels, warped by `mesh` if it has one.

    The `index` of a part of its view is the frame of the grid on which that frame of the source is shown.
    """

    box: tuple[int, int, int, int]
    view: View
    mesh: Mesh | None = None


class Grid(Struct, frozen=True):
    """The pictures of several sources side by side, one for each cell, as if they were frames of one of this `size`."""

    size: tuple[int, int]
    parts: tuple[Part, ...]
    cells: tuple[Cell, ...]

    @property
    def pixels(self) -> int:
        """Pixels of all its frames together."""
        return self.size[0] * self.size[1] * len({part.frame for part in self.parts})


class Drawing(Struct, frozen=True):
    """The views, one for each source or for those of a grid, and how their pictures become one file; no `options.rois`.

    `max_height` scales pictures that are higher down to it.
    """

    views: tuple[View | Grid, ...]
    options: RenderOptions
    max_height: int | None = None


def cost(drawing: Drawing) -> float:
    """The estimated processor seconds of a drawing."""
    decoded = shown = 0.0
    for view in (each for one in drawing.views for each in _views(one)):
        area = float(view.size[0] * view.size[1])
        decoded += area * (view.selection.decoded if view.selection else 1)
        shown += area * len({part.frame for part in view.parts})
    warped = sum(
        cell.box[2] * cell.box[3] * len(cell.view.parts)
        for view in drawing.views
        if isinstance(view, Grid)
        for cell in view.cells
        if cell.mesh
    )
    kind = drawing.options.format
    if drawing.options.animate and kind != "mp4":
        kind = "gif"
    spent = decoded * _DECODING + shown * _CONVERTING + warped * _WARPING
    return (spent + pixels_of(drawing) * _ENCODING[kind]) / 1e9


def _views(view: View | Grid) -> list[View]:
    """What is decoded for a view: itself, or the cells of a grid."""
    return [cell.view for cell in view.cells] if isinstance(view, Grid) else [view]


def pixels_of(drawing: Drawing) -> float:
    """The pixels of all drawn pictures together."""
    pixels = 0.0
    for view in drawing.views:
        for part in view.parts:
            shares = (part.roi.width, part.roi.height) if part.roi else (1.0, 1.0)
            width, height = drawing.options.force_scale or (view.size[0] * shares[0], view.size[1] * shares[1])
            shrunk = min(1.0, drawing.max_height / height) if drawing.max_height and height else 1.0
            pixels += width * height * shrunk**2
    return pixels


def check_cost(drawing: Drawing, subject: str) -> None:
    """Raise BadInput, beginning with `subject`, if a drawing takes too long, or several pictures too much memory."""
    pixels = max(pixels_of(drawing), sum(view.pixels for view in drawing.views if isinstance(view, Grid)))
    if pixels > MOST_PIXELS and sum(len(view.parts) for view in drawing.views) > 1:
        message = (
            f"{subject}: the pictures have {pixels / 1e6:.0f} million pixels together; at most "
            f"{MOST_PIXELS // 10**6} million are allowed. Ask for fewer frames, a lower quality or a smaller "
            "force_scale."
        )
        raise BadInput(message)
    seconds = cost(drawing)
    if seconds > MOST_SECONDS:
        message = (
            f"{subject}: drawing this takes about {seconds:.0f} s of processor time; at most {MOST_SECONDS:.0f} are "
            "allowed. Ask for fewer frames, a lower quality or a smaller force_scale."
        )
        raise BadInput(message)


def draw(sources: Sequence[Source], drawing: Drawing) -> tuple[bytes, str]:
    """The file and its media type. One whole frame is in memory at a time, and the parts that were cut."""
    done: dict[int, Image] = {}
    rest = iter(sources)
    for view in drawing.views:
        own = list(islice(rest, len(_views(view))))
        if isinstance(view, Grid):
            frames = _compose(own, view)
            done.update((part.index, _cut(frames[part.frame], part, drawing)) for part in view.parts)
            continue
        wanted = _by_frame(view.parts)
        if view.selection is None:
            whole = open_image(own[0])
            done.update((part.index, _cut(whole, part, drawing)) for part in view.parts)
        else:
            for number, image in images(own[0], view.selection, _size_of(view, drawing)):
                done.update((part.index, _cut(image, part, drawing)) for part in wanted[number])
    return render_frames([done[index] for index in sorted(done)], drawing.options)


def _by_frame(parts: Sequence[Part]) -> dict[int, list[Part]]:
    wanted: dict[int, list[Part]] = {}
    for part in parts:
        wanted.setdefault(part.frame, []).append(part)
    return wanted


def _compose(sources: Sequence[Source], grid: Grid) -> dict[int, Image]:
    """The frames of a grid by number; black where no source shows anything."""
    from PIL import Image as Images  # noqa: PLC0415 - see `render.prepare`

    frames = {part.frame: Images.new("RGB", grid.size) for part in grid.parts}
    for source, cell in zip(sources, grid.cells, strict=True):
        left, top, width, height = cell.box
        wanted = _by_frame(cell.view.parts)
        if cell.view.selection is None:
            shown: Iterator[tuple[int, Image]] = iter([(0, prepare(open_image(source), None, (width, height)))])
        else:
            shown = images(source, cell.view.selection, (width, height))
        for number, image in shown:
            picture = cell.mesh.warp(image) if cell.mesh else image
            for part in wanted[number]:
                frames[part.index].paste(picture, (left, top))
    return frames


def _size_of(view: View, drawing: Drawing) -> tuple[int, int] | None:
    """The size that all pictures of a view are scaled down to as a whole, which decoding does; None to keep theirs."""
    width, height = view.size
    size = drawing.options.force_scale
    if size is None and drawing.max_height is not None and height > drawing.max_height:
        size = max(1, round(width * drawing.max_height / height)), drawing.max_height
    is_smaller = size is not None and size[0] <= width and size[1] <= height
    return size if is_smaller and not any(part.roi for part in view.parts) else None


def draw_each(source: Source, view: View, form: Literal["png", "jpg"], scale: tuple[int, int] | None) -> list[bytes]:
    """Each picture of a view as a file of its own, in the order of their positions.

    Args:
        source: the media.
        view: the pictures.
        form: of the files.
        scale: the width and height of each file in pixels; None to keep those of the part.
    """
    wanted = _by_frame(view.parts)
    done: dict[int, bytes] = {}

    def take(image: Image, parts: Sequence[Part]) -> None:
        for part in parts:
            fits = part.roi is None and image.size == scale
            done[part.index] = encode_still(prepare(image, part.roi, None if fits else scale), form)

    if view.selection is None:
        take(open_image(source), view.parts)
    else:
        for number, image in images(source, view.selection):
            take(image, wanted[number])
    return [done[index] for index in sorted(done)]


def _cut(whole: Image, part: Part, drawing: Drawing) -> Image:
    image = prepare(whole, part.roi, drawing.options.force_scale)
    if drawing.max_height is not None and image.height > drawing.max_height:
        size = max(1, round(image.width * drawing.max_height / image.height)), drawing.max_height
        image = prepare(image, None, size)
    return image


def open_image(source: Source) -> Image:
    """The picture of an image file; raises TooLarge or BadInput."""
    from PIL import Image as Images  # noqa: PLC0415 - see `render.prepare`

    from chalicelib.video.pictures.images import DAMAGE, MAX_IMAGE_PIXELS, to_rgb, turned  # noqa: PLC0415

    try:
        picture = Images.open(io.BytesIO(source.read(0, source.size)), formats=_FORMATS)
        if picture.width * picture.height > MAX_IMAGE_PIXELS:
            raise TooLarge(f"The image has more than {MAX_IMAGE_PIXELS} pixels.")
        return to_rgb(turned(picture))
    except (*DAMAGE, Images.DecompressionBombError) as failure:
        raise BadInput("The image cannot be read.", str(failure)) from failure
