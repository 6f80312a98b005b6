"""Opening callers' files with FFmpeg's demuxers, which were not written for hostile input.

Only real media containers are tried, never playlists that name other files or addresses; nothing beside the given
source is ever opened; pictures beyond the pixel limit are refused by the decoders themselves; and no FFmpeg error
leaves this package: the caller sees BadInput with a sentence, or the source's own error when that was the cause.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn

from chalicelib.errors import BadInput
from chalicelib.video.files import naming, quirks
from chalicelib.video.files.source import Source, SourceFile
from chalicelib.video.plan import MAX_PIXELS

if TYPE_CHECKING:
    from av import VideoStream
    from av.container import InputContainer

# Formats by FFmpeg's names. Playlists (hls, dash, concat), images, text and devices are left out on purpose.
CONTAINERS = (
    "mov",
    "mp4",
    "m4a",
    "3gp",
    "3g2",
    "mj2",
    "matroska",
    "webm",
    "avi",
    "mpegts",
    "mpeg",
    "mpegvideo",
    "h264",
    "hevc",
    "m4v",
    "ivf",
    "obu",
    "flv",
    "asf",
    "ogg",
    "mxf",
    "dv",
    "gif",
    "apng",
)
_ACCEPTED_FILES = "Accepted are MP4, MOV, MKV, WebM, AVI, MPEG-TS, MXF, FLV, WMV and Ogg files"
ACCEPTED = f"{_ACCEPTED_FILES} with H.264, HEVC, AV1, VP9, MPEG-2, ProRes, MJPEG or another codec that FFmpeg decodes."
DECODING = {"max_pixels": str(MAX_PIXELS)}
# Decoding options reach the decoders that FFmpeg itself tries while it looks for the streams.
OPTIONS = DECODING | {"format_whitelist": ",".join(CONTAINERS), "protocol_whitelist": "none", "max_streams": "100"}


@contextlib.contextmanager
def refusing(subject: str, file: SourceFile | None = None) -> Iterator[None]:
    """Turn FFmpeg's errors into BadInput starting with `subject`; errors of the source itself pass through."""
    import av  # noqa: PLC0415 - 60 ms that a cold start need not spend

    try:
        yield
    except (av.FFmpegError, ArithmeticError, UnicodeError) as error:
        if file and file.error:
            raise file.error from error
        raise BadInput(f"{subject}: {getattr(error, 'strerror', None) or error}.", type(error).__name__) from error
    if file and file.error:
        raise file.error


def _open_nothing(url: str, _flags: int, _options: dict[str, str]) -> NoReturn:
    """Refuse every other file that a container refers to."""
    raise BadInput(f"The file refers to another one ({url[:80]}), which is not followed.")


@contextlib.contextmanager
def opened(source: Source | SourceFile) -> Iterator[tuple[InputContainer, SourceFile]]:
    """The demuxer of a source and its file. BadInput if it is damaged, or not a video or audio file.

    Pass a `SourceFile` again to keep its cache.
    """
    import av  # noqa: PLC0415 - 60 ms that a cold start need not spend

    file = source if isinstance(source, SourceFile) else SourceFile(source)
    if not file.size:
        raise BadInput("The file is empty.")
    if not file.is_checked:
        file.is_checked = True
        quirks.hide_layouts(file)
    try:
        try:
            container = _demuxer(file)
        except av.EOFError:
            if not quirks.hide_partial_fragment(file):
                raise
            container = _demuxer(file)
    except (av.FFmpegError, ArithmeticError, UnicodeError) as error:
        if file.error:
            raise file.error from error
        named = naming.format_of(file)
        said = f"The file is not a video that can be read{f': it is {named}' if named else ''}."
        message = f"{said} {_remedy(named)}"
        raise BadInput(message, type(error).__name__) from error
    if file.error:
        container.close()
        raise file.error
    try:
        with refusing("The file cannot be read", file):
            yield container, file
    finally:
        container.close()


def _remedy(named: str) -> str:
    """What is accepted in place of a format or codec, and how it is converted where that is known."""
    way = naming.way_round(named)
    return f"{way} {_ACCEPTED_FILES}." if way else ACCEPTED


def _demuxer(file: SourceFile) -> InputContainer:
    """FFmpeg's demuxer at the start of a file."""
    import av  # noqa: PLC0415 - see `opened`

    file.seek(0)
    return av.open(
        file,
        "r",
        format="mpegts" if naming.is_transport_stream(file) else None,
        options=OPTIONS,
        metadata_errors="replace",
        io_open=_open_nothing,
    )


def video_stream(container: InputContainer, file: SourceFile | None = None) -> VideoStream:
    """The video stream marked as default, else the first, without cover pictures; other streams are not read.

    Raises BadInput if there is no video stream, or no decoder for it; its codec is named where `file` is given.
    """
    from av.stream import Discard, Disposition  # noqa: PLC0415 - see `opened`

    streams = [stream for stream in container.streams.video if not stream.disposition & Disposition.attached_pic]
    if container.format.name.startswith("mov"):
        # An animated AVIF has its first picture as a stream of its own, without a duration.
        streams = [stream for stream in streams if stream.duration] or streams
    if not streams:
        held = ", ".join(sorted({stream.type for stream in container.streams if stream.type})) or "nothing"
        raise BadInput(f"The file has no video stream: it is {container.format.long_name} with {held} only.")
    chosen = next((stream for stream in streams if stream.disposition & Disposition.default), streams[0])
    # PyAV leaves it out, against its own type stubs, when FFmpeg has no decoder for the stream.
    if getattr(chosen, "codec_context", None) is None:
        named = naming.codec_of(file) if file else ""
        raise BadInput(f"The video's codec{f' {named}' if named else ''} is not supported. {_remedy(named)}")
    for stream in container.streams:
        if stream.index != chosen.index:
            stream.discard = Discard.all
    return chosen
