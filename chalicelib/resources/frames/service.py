"""Frames as pictures: from the streaming file by byte ranges of its segment file, or an image itself (`spec/4` §7.2).

Only the header and the fragments that hold the frames are read, whatever the video's length.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from chalicelib.core import object_keys
from chalicelib.core.entities import ImageDefinition, Media
from chalicelib.errors import BadInput, TooLarge
from chalicelib.resources.media import streams
from chalicelib.storage.objects import objects, owners

if TYPE_CHECKING:
    from PIL.Image import Image

    from chalicelib.video.render import RenderOptions, Roi

MOST_FRAMES = 256
LARGEST_IMAGE = 128 * 1024 * 1024
"""Bytes of an image file that is decoded within a request."""
_AVIF = "image/avif"


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
        BadInput: a frame does not exist, options do not go together, or the media has nothing to show.
    """
    from chalicelib.video import render as rendering  # noqa: PLC0415 kept off the API's cold start

    options = _options(request)
    count = len(request.frames)
    if count > MOST_FRAMES:
        message = f"frames: at most {MOST_FRAMES} may be asked for."
        raise BadInput(message)
    rendering.check_options(count, options)
    image = _image_of(media)
    if image is not None:
        if request.frames != (0,):
            raise BadInput("frames: an image has frame 0 only.")
        return rendering.render_frames([_opened(media, image)], options)
    stream = streams.choose(media, request.quality)
    _check_frames(stream, request.frames)
    _check_size(stream, count, options)
    pictures, left = _pictures(stream, request.frames, options)
    return rendering.render_frames(pictures, left)


def shown(media: Media) -> ImageDefinition | streams.Stream:
    """The file that pictures of a media are made from: its image, or its highest streaming file.

    Raises:
        BadInput: it has nothing to show.
    """
    return _image_of(media) or streams.choose(media, None)


def cut(media: Media, places: Sequence[tuple[int, Roi]], scale: tuple[int, int] | None) -> list[Image]:
    """Parts of frames of a media, in order; of an image, whatever the frame. One whole frame is in memory at a time.

    Args:
        media: what they are cut out of.
        places: the frame and the part of it, for each picture; frames may repeat.
        scale: the size (width, height) that every picture gets; its own where None.

    Raises:
        BadInput: a frame does not exist, or the media has nothing to show.
    """
    from chalicelib.video import render as rendering  # noqa: PLC0415 kept off the API's cold start
    from chalicelib.video.frame import each_frame  # noqa: PLC0415

    def part(whole: Image, roi: Roi) -> Image:
        return rendering.prepare(whole, 0, rendering.RenderOptions(rois=(roi,), force_scale=scale))

    source = shown(media)
    if isinstance(source, ImageDefinition):
        whole = _opened(media, source)
        return [part(whole, roi) for _, roi in places]
    numbers = [frame for frame, _ in places]
    _check_frames(source, numbers)
    wanted: dict[int, list[int]] = {}
    for index, frame in enumerate(numbers):
        wanted.setdefault(frame, []).append(index)

    def parts(frame: int, whole: Image) -> dict[int, Image]:
        return {index: part(whole, places[index][1]) for index in wanted[frame]}

    found = each_frame(streams.RangeSource(source.key), streams.segments(source.segments), list(wanted), parts)
    return [found[frame][index] for index, frame in enumerate(numbers)]


def _options(request: FrameRequest) -> RenderOptions:
    from chalicelib.video import render as rendering  # noqa: PLC0415

    tile = None
    if request.tile is not None:
        if request.animate:
            raise BadInput("animate: it cannot be given together with tile.")
        try:
            tile = rendering.parse_size(request.tile, "tile")
        except BadInput:
            # What cannot be understood of a tile counts as none, as it always did.
            tile = None
    form: Any = request.form
    return rendering.RenderOptions(
        format=form,
        tile=tile,
        rois=rendering.parse_rois(request.roi) if request.roi else (),
        force_scale=rendering.parse_size(request.force_scale, "force_scale") if request.force_scale else None,
        animate=request.animate,
    )


def _pictures(
    stream: streams.Stream, frames: Sequence[int], options: RenderOptions
) -> tuple[list[Image], RenderOptions]:
    """The frames, cut and scaled as they are decoded where all are alike; and what is left to be done to them."""
    from chalicelib.video import render as rendering  # noqa: PLC0415
    from chalicelib.video.frame import decode_frames  # noqa: PLC0415

    source, segments = streams.RangeSource(stream.key), streams.segments(stream.segments)
    if len(options.rois) > 1:
        return decode_frames(source, segments, frames), options
    found = decode_frames(source, segments, frames, lambda image: rendering.prepare(image, 0, options))
    return found, msgspec.structs.replace(options, rois=(), force_scale=None)


def _check_frames(stream: streams.Stream, frames: Sequence[int]) -> None:
    count = streams.frames_of(stream)
    beyond = [frame for frame in frames if frame >= count]
    if beyond:
        message = f"frames: {beyond[0]} does not exist; the video has frames 0 to {count - 1}."
        raise BadInput(message)


def _check_size(stream: streams.Stream, count: int, options: RenderOptions) -> None:
    """Refuse what would not fit into memory before anything is decoded."""
    from chalicelib.video.render import MAX_OUTPUT_PIXELS  # noqa: PLC0415

    height, width = stream.resolution
    area = float(height * width)
    if options.force_scale and len(options.rois) <= 1:
        area = float(options.force_scale[0] * options.force_scale[1])
    elif len(options.rois) == 1:
        area *= options.rois[0].width * options.rois[0].height
    if area * count > MAX_OUTPUT_PIXELS:
        message = f"frames: {count} of this size are too many at once; use force_scale or a lower quality."
        raise BadInput(message)


def _image_of(media: Media) -> ImageDefinition | None:
    """The largest picture of an image; those that many tools cannot read only where there is no other."""
    files = media.media_files
    if files is None or files.streaming or not files.image:
        return None
    readable = [entry for entry in files.image if entry.mime != _AVIF]
    return max(readable or files.image, key=lambda entry: entry.resolution[0])


def _opened(media: Media, entry: ImageDefinition) -> Image:
    from PIL import Image as Images  # noqa: PLC0415

    from chalicelib.resources.uploads.fetching import HttpSource  # noqa: PLC0415
    from chalicelib.video.images import MAX_IMAGE_PIXELS  # noqa: PLC0415

    key = None if object_keys.is_url(entry.path) else owners.authorize(media, [entry.path]).get(entry.path)
    if key is None and not object_keys.is_url(entry.path):
        message = f"Media {media.id} names an image that is not its own: {entry.path!r}."
        raise BadInput(message)
    if key is None:
        source = HttpSource(entry.path)
        size = source.size
    else:
        size = objects.size(key) or 0
    if size > LARGEST_IMAGE:
        message = f"The image has {size} bytes; at most {LARGEST_IMAGE} are decoded here. Download it instead."
        raise TooLarge(message)
    data = source.read(0, size) if key is None else objects.read(key)
    try:
        picture = Images.open(io.BytesIO(data), formats=("PNG", "JPEG", "GIF", "WEBP", "AVIF", "TIFF", "BMP"))
        if picture.width * picture.height > MAX_IMAGE_PIXELS:
            message = f"The image has more than {MAX_IMAGE_PIXELS} pixels."
            raise TooLarge(message)
        return picture.convert("RGBA" if "A" in picture.getbands() else "RGB")
    except (OSError, ValueError, SyntaxError, Images.DecompressionBombError) as failure:
        raise BadInput("The image cannot be read.", str(failure)) from failure
