"""Frames as pictures: from the streaming file by byte ranges of its segment file, or an image itself.

Only the header and the fragments that hold the frames are read, whatever the video's length, and a header once. What
decodes and encodes runs in a child process (`video.process.isolation`), after its cost was checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.models.entities import Media
from chalicelib.core.models.media_files import BucketObject, ImageDefinition
from chalicelib.core.values.recent import Recent
from chalicelib.errors import BadInput, TooLarge
from chalicelib.resources.media import streams
from chalicelib.resources.uploads.fetching import HttpSource, ObjectSource

if TYPE_CHECKING:
    from chalicelib.video.files.source import Source
    from chalicelib.video.pictures.drawing import Drawing, Grid, Part, View
    from chalicelib.video.pictures.render import RenderOptions

MOST_FRAMES = 256
_NARROWEST = 1e-6
LARGEST_IMAGE = 128 * 1024 * 1024
"""Bytes of an image file that is decoded within a request."""
_AVIF = "image/avif"
MOST_BYTES = 32 * 1024 * 1024
MAX_CACHED_BYTES = 4 * 1024 * 1024
"""Bytes of the pictures that are kept in all, and of one of them."""
_recent: Recent[tuple[bytes, str]] = Recent(MOST_BYTES, MAX_CACHED_BYTES, lambda picture: len(picture[0]))


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture that can be read: its record, where it is, and what the object was when a media refers to it."""

    entry: ImageDefinition
    path: streams.Place
    found: BucketObject | None = None

    @property
    def resolution(self) -> list[int]:
        """Height and width in pixels."""
        return self.entry.resolution


File = Picture | streams.Stream | streams.OriginalVideo


class FrameRequest(Struct, frozen=True, kw_only=True):
    """Which frames, and how they are to look; see `operations.frames`."""

    frames: tuple[int, ...]
    form: str
    tile: str | None = None
    roi: str | None = None
    force_scale: str | None = None
    animate: int = 0
    quality: int | None = None


def render(media: Media, request: FrameRequest) -> tuple[bytes, str]:
    """The frames as one file, and its media type.

    Raises:
        BadInput: a frame does not exist, options do not go together, the cost is too high, or the media has nothing to
            show.
    """
    parts, options = parts_of(request)
    file: File | None = image_of(media)
    if file is not None and request.frames != (0,):
        raise BadInput("frames: an image has frame 0 only.")
    chosen: File = file or streams.choose(media, request.quality, _enough(options))
    if not isinstance(chosen, Picture):
        _check_size(chosen, len(parts), options)

    def make() -> tuple[bytes, str]:
        source, view = look_at(chosen, parts)
        return draw([source], single_drawing(view, options), "frames")

    # The content of an object's key never changes; that of an address may.
    place = chosen.path if isinstance(chosen, streams.Stream) else None
    return _recent.get((place, request), make) if isinstance(place, ObjectKey) else make()


def parts_of(request: FrameRequest) -> tuple[list[Part], RenderOptions]:
    """The pictures that a request asks for, and how they become one file.

    Raises:
        BadInput: there are too many, or options do not go together.
    """
    from chalicelib.video.pictures import render as rendering  # noqa: PLC0415 kept off the API's cold start
    from chalicelib.video.pictures.drawing import Part  # noqa: PLC0415

    options = _options(request)
    count = len(request.frames)
    if count > MOST_FRAMES:
        raise BadInput(f"frames: at most {MOST_FRAMES} may be asked for.")
    rendering.check_options(count, options)
    rois = options.rois if len(options.rois) > 1 else (options.rois or (None,)) * count
    return [Part(index, *each) for index, each in enumerate(zip(request.frames, rois, strict=True))], options


def single_drawing(view: View | Grid, options: RenderOptions) -> Drawing:
    """The drawing of one view, whose parts have the regions that the options name."""
    from chalicelib.video.pictures.drawing import Drawing  # noqa: PLC0415 kept off the API's cold start

    return Drawing((view,), msgspec.structs.replace(options, rois=()))


def picture_source(media: Media) -> File:
    """The file that pictures of a media are made from: its image, its highest streaming file, or the original.

    Raises:
        BadInput: it has nothing to show.
    """
    return image_of(media) or streams.choose(media, None)


def look_at(file: File, parts: Sequence[Part]) -> tuple[Source, View]:
    """How parts of frames of a file are drawn, of an image whatever the frame; and where its bytes come from.

    Raises:
        BadInput: a frame does not exist.
    """
    from chalicelib.video.mp4 import segments  # noqa: PLC0415 kept off the API's cold start
    from chalicelib.video.pictures.drawing import View  # noqa: PLC0415

    size = file.resolution[1], file.resolution[0]
    if isinstance(file, Picture):
        return _image_source(file), View(size, tuple(parts))
    _check_frames(file, [part.frame for part in parts])
    if isinstance(file, streams.OriginalVideo):
        from chalicelib.video.decoding.frame import Frames  # noqa: PLC0415

        return file.source, View(
            size, tuple(parts), Frames(file.original, tuple(sorted({part.frame for part in parts})))
        )
    selection = segments.select(streams.segments(file.segment_info), {part.frame for part in parts})
    ranges = [(group[0][0].start, group[-1][0].stop - group[0][0].start) for group in selection.reads()]
    return streams.StreamSource(file.path, selection.header, ranges), View(size, tuple(parts), selection)


def draw(sources: Sequence[Source], drawing: Drawing, subject: str) -> tuple[bytes, str]:
    """The file of a drawing and its media type, drawn in a child process.

    Raises:
        BadInput: it costs too much (the message begins with `subject`), or a source cannot be decoded.
    """
    from chalicelib.video.pictures import drawing as drawings  # noqa: PLC0415 kept off the API's cold start
    from chalicelib.video.process import isolation, tasks  # noqa: PLC0415

    drawings.check_cost(drawing, subject)
    return isolation.run_all(tasks.draw, sources, drawing, limits=isolation.ANSWERING)


def _options(request: FrameRequest) -> RenderOptions:
    from chalicelib.video.pictures import render as rendering  # noqa: PLC0415

    tile = None
    if request.tile is not None:
        if request.animate:
            raise BadInput("animate: it cannot be given together with tile.")
        try:
            tile = rendering.parse_size(request.tile, "tile")
        except BadInput:
            # An invalid tile is ignored, for compatibility.
            tile = None
    form: Any = request.form
    return rendering.RenderOptions(
        format=form,
        tile=tile,
        rois=rendering.parse_rois(request.roi) if request.roi else (),
        force_scale=rendering.parse_size(request.force_scale, "force_scale") if request.force_scale else None,
        animate=request.animate,
    )


def _enough(options: RenderOptions) -> tuple[float, float] | None:
    """The width and height of a picture that has all pixels that are shown; None where it is not scaled."""
    if options.force_scale is None:
        return None
    width, height = options.force_scale
    return (
        width / min((max(roi.width, _NARROWEST) for roi in options.rois), default=1.0),
        height / min((max(roi.height, _NARROWEST) for roi in options.rois), default=1.0),
    )


def _check_frames(stream: streams.Stream | streams.OriginalVideo, frames: Sequence[int]) -> None:
    count = streams.frames_of(stream)
    beyond = [frame for frame in frames if frame >= count]
    if beyond:
        raise BadInput(f"frames: {beyond[0]} does not exist; the video has frames 0 to {count - 1}.")


def _check_size(stream: streams.Stream | streams.OriginalVideo, count: int, options: RenderOptions) -> None:
    """Refuse what would not fit into memory before anything is decoded."""
    from chalicelib.video.pictures.render import MAX_OUTPUT_PIXELS  # noqa: PLC0415

    height, width = stream.resolution
    area = float(height * width)
    if options.force_scale and len(options.rois) <= 1:
        area = float(options.force_scale[0] * options.force_scale[1])
    elif len(options.rois) == 1:
        area *= options.rois[0].width * options.rois[0].height
    if area * count > MAX_OUTPUT_PIXELS:
        raise BadInput(f"frames: {count} of this size are too many at once; use force_scale or a lower quality.")


def image_of(media: Media) -> Picture | None:
    """The largest file of an image, in a widely supported format if possible; None without files.

    Raises:
        BadInput: its files are not its own.
    """
    files = media.media_files
    if files is None or files.streaming or not files.image:
        return None
    found = files.bucket_object
    places = streams.locate(media.project, media.id, (entry.path for entry in files.image))
    usable = [entry for entry in files.image if entry.path in places]
    if not usable:
        raise BadInput(f"Media {media.id} names an image that is not its own: {files.image[0].path[:200]!r}.")
    readable = [entry for entry in usable if entry.mime != _AVIF]
    largest = max(readable or usable, key=lambda entry: entry.resolution[0])
    if found and found.path == largest.path:
        streams.check_present(found)
        return Picture(entry=largest, path=places[largest.path], found=found)
    return Picture(entry=largest, path=places[largest.path])


def _image_source(picture: Picture) -> Source:
    path = picture.path
    source: Source
    if picture.found and isinstance(path, ObjectKey):
        source = streams.ReferenceSource(path, picture.found)
    else:
        source = ObjectSource(path) if isinstance(path, ObjectKey) else HttpSource(path.url, path.organization)
    if source.size > LARGEST_IMAGE:
        message = f"The image has {source.size} bytes; at most {LARGEST_IMAGE} are decoded here. Download it instead."
        raise TooLarge(message)
    return source
