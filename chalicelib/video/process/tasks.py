"""What only runs in a child process (`video.process.isolation`), beside functions of `video` itself.

The fork server imports this module, so that a child finds FFmpeg and Pillow loaded.
"""

from __future__ import annotations

import io
from functools import lru_cache
from typing import Any

import av
import av.filter
import av.video.reformatter
from PIL import Image

from chalicelib.errors import BadInput, TooLarge
from chalicelib.video import probe, side_by_side  # noqa: F401 children find what they run loaded
from chalicelib.video.encoding import archival, clip, encode  # noqa: F401
from chalicelib.video.files.source import BytesSource, Source
from chalicelib.video.mp4 import boxes
from chalicelib.video.mp4.segments import Selection, Span
from chalicelib.video.pictures import drawing, images, render, thumbnails  # noqa: F401
from chalicelib.video.pictures.images import ImportedImage

_REHEARSED = 1280, 720


def warm_up() -> None:
    """Load the modules that drawing imports on first use, so that children find them loaded."""
    Image.preinit()
    picture = Image.new("RGB", (16, 16))
    for form in ("jpg", "png", "gif"):
        render.render_frames([picture], render.RenderOptions(format=form, force_scale=(8, 8)))
    av.VideoFrame(16, 16, "yuv420p").reformat(format="rgb24")
    for decoder in ("h264", "hevc", "libdav1d"):
        av.CodecContext.create(decoder, "r").open()
    _rehearsal()


def rehearse() -> None:
    """Draw a frame of a video of this module's own, as a task would."""
    data, view = _rehearsal()
    drawing.draw([BytesSource(data)], drawing.Drawing((view,), render.RenderOptions(format="jpg")))


@lru_cache(maxsize=1)
def _rehearsal() -> tuple[bytes, drawing.View]:
    """A fragmented MP4 of one frame of 720p, and how it is drawn. More frames take longer and make no task faster."""
    width, height = _REHEARSED
    out = io.BytesIO()
    with av.open(out, "w", format="mp4", options={"movflags": "empty_moov+default_base_moof+frag_keyframe"}) as file:
        stream = file.add_stream("libx264", rate=25, options={"preset": "ultrafast", "bf": "0"})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        file.mux(stream.encode(av.VideoFrame(width, height, "yuv420p")))
        file.mux(stream.encode(None))
    data = out.getvalue()
    found = {box.name: box for box in boxes.children(data, 0, len(data))}
    span = Span(0, 1, found["moof"].offset, found["mdat"].end)
    selection = Selection(found["moov"].end, ((span, (0,)),))
    return data[: span.stop], drawing.View((width, height), (drawing.Part(0, 0),), selection)


def describe_images(*sources: Source) -> list[ImportedImage | str]:
    """As `images.describe_image` of each source; the message of the error where one is no image."""
    found: list[ImportedImage | str] = []
    for source in sources:
        try:
            found.append(images.describe_image(source.read(0, source.size)))
        except (BadInput, TooLarge) as failure:
            found.append(failure.message)
    return found


def finish_archival(*sources_and_path: Any) -> int:
    """As `archival.finish_archival`: the video, the audio if any, and the path."""
    *sources, path = sources_and_path
    return archival.finish_archival(sources[0], sources[1] if len(sources) > 1 else None, path)


def convert_image(source: Source) -> ImportedImage:
    """As `images.import_image`, of the whole source."""
    return images.import_image(source.read(0, source.size))


def draw(*sources_and_drawing: Any) -> tuple[bytes, str]:
    """As `drawing.draw`: the sources, and the drawing."""
    *sources, wanted = sources_and_drawing
    return drawing.draw(sources, wanted)
