"""Clips of several sources side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from chalicelib.video.decoding.frame import Original, original_pictures, pictures, to_image
from chalicelib.video.encoding.clip import Clip, write_clip
from chalicelib.video.files.source import Source
from chalicelib.video.mp4.segments import SegmentInfo
from chalicelib.video.pictures.drawing import open_image
from chalicelib.video.pictures.render import prepare

if TYPE_CHECKING:
    from av import VideoFrame
    from PIL.Image import Image


class Camera(Struct, frozen=True):
    """A source of a clip that shows several: what it is, where it is shown, and its frame at each frame of the clip.

    Attributes:
        material: a segment file, an original, or None for an image.
        box: (left, top, width, height) in pixels.
        frames: a frame for each of the clip; None where it shows nothing. Within a range they do not decrease.
    """

    material: SegmentInfo | Original | None
    box: tuple[int, int, int, int]
    frames: tuple[int | None, ...]


def encode_cameras(*sources_and_more: Any) -> Clip:
    """Encode what several sources show side by side: the sources, a `Camera` for each, size, ranges, fps, path."""
    *sources, cameras, size, ranges, fps, path = sources_and_more
    from PIL import Image as Images  # noqa: PLC0415 - kept off the API's cold start

    def grids() -> Iterator[VideoFrame]:
        import av  # noqa: PLC0415 - see video.opening

        start = 0
        for first, last in ranges:
            stop = start + last + 1 - first
            columns = [_shown(source, camera, start, stop) for source, camera in zip(sources, cameras, strict=True)]
            for pictures_shown in zip(*columns, strict=True):
                grid = Images.new("RGB", size)
                for picture, camera in zip(pictures_shown, cameras, strict=True):
                    if picture:
                        grid.paste(picture, camera.box[:2])
                yield av.VideoFrame.from_image(grid)  # type: ignore[no-untyped-call]  # in its stubs
            start = stop

    return write_clip(grids(), ranges, fps, path, size)


def _shown(source: Source, camera: Camera, start: int, stop: int) -> Iterator[Image | None]:
    """What a source shows at the frames `start` … `stop` - 1 of a clip, in the size of its box; each decoded once."""
    frames, size = camera.frames[start:stop], camera.box[2:]
    known = [frame for frame in frames if frame is not None]
    if camera.material is None:
        still = prepare(open_image(source), None, size)
        yield from (still for _ in frames)
        return
    if not known:
        yield from (None for _ in frames)
        return
    if isinstance(camera.material, Original):
        decoded = original_pictures(source, camera.material, known[0], known[-1])
    else:
        decoded = pictures(source, camera.material, known[0], known[-1])
    at, picture = -1, None
    for frame in frames:
        if frame is None:
            yield None
            continue
        while at < frame:
            at, found = next(decoded)
            picture = to_image(found, size) if at == frame else None
        yield picture
