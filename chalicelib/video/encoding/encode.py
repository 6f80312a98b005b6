"""Encode one piece: decode once, encode every rendition.

Each rendition's piece is a run of MP4 fragments (`video.mp4.fragments`), one per keyframe, so that the whole is the
plain concatenation of the pieces. That requires the same header in every piece, which fixed encoder settings give.

Renditions have no B-frames. Decoding and presentation times of their packets are therefore equal, and frame n is at
n / fps for every player, demuxer and byte-range reader, without edit lists or negative offsets that some ignore.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from chalicelib.errors import BadInput
from chalicelib.video.decoding import colour
from chalicelib.video.decoding.decode import THREADS, frames_of
from chalicelib.video.decoding.upright import Upright
from chalicelib.video.files.opening import refusing
from chalicelib.video.files.source import Source, SourceFile
from chalicelib.video.mp4.fragments import FragmentFile, Output, RunPosition
from chalicelib.video.plan import GOP, Piece, Rendition, TranscodePlan
from chalicelib.video.sound.audio import Sound, encode_sound
from chalicelib.video.timing import FrameTable, Span, joined

if TYPE_CHECKING:
    from av import VideoFrame, VideoStream

_ENCODERS = {"h264": "libx264", "hevc": "libx265", "av1": "libsvtav1"}
_TAGS = {"hevc": "hvc1"}
_THREADED_HEIGHT = 480
_FRAMES_WAITING = 2
# Presets of x264 that look ahead less than a group of pictures.
_SHORT_SIGHTED = frozenset({"ultrafast", "superfast", "veryfast", "faster"})
_FINEST_CLOCK = 10_000
_MANY_TIMES = 3
"""From this reduction on, the mean of an area is as good as bicubic interpolation, and costs half."""
# FFmpeg's numbers.
_BICUBIC = 4
_AREA = 32
_FULL_RANGE = 2


class PieceResult(Struct, frozen=True):
    """The result of encoding a piece; small enough for a queue message or an item.

    `damaged` are the first and the last frame of each run that could not be decoded, or only in part.
    """

    index: int
    frame_count: int
    outputs: tuple[Output, ...]
    sound: Sound | None = None
    damaged: tuple[Span, ...] = ()


def encode_piece(source: Source, plan: TranscodePlan, piece: Piece, table: FrameTable, folder: Path) -> PieceResult:
    """Encode the piece's frames for every rendition of the plan, and its sound, into files in `folder`.

    Exactly `piece.frame_count` frames per rendition. Raises BadInput when nothing of the piece can be decoded or an
    encoder refuses its settings.
    """
    file = SourceFile(source)
    damaged: list[int] = []
    outputs = _encode_pictures(file, plan, piece, table, folder, damaged) if plan.renditions else ()
    sound = encode_sound(file, plan.sound, piece, table, folder) if plan.sound else None
    return PieceResult(piece.index, piece.frame_count, outputs, sound, joined((number, number) for number in damaged))


def _encode_pictures(
    file: SourceFile, plan: TranscodePlan, piece: Piece, table: FrameTable, folder: Path, damaged: list[int]
) -> tuple[Output, ...]:
    """The piece's frames for every rendition; the numbers of damaged ones are added to `damaged`."""
    largest = max(((each.width, each.height) for each in plan.renditions), default=None)
    upright = Upright(plan.probe.video, largest)
    with refusing("The video cannot be transcoded", file):
        encoders = [_Encoder(rendition, plan, piece, folder) for rendition in plan.renditions]
        number = piece.first_frame
        try:
            before: VideoFrame | None = None
            pictures = frames_of(file, table, piece.first_frame, piece.frame_count, piece.key)
            for decoded, (picture, is_damaged) in enumerate(pictures, piece.first_frame):
                if is_damaged:
                    damaged.append(decoded)
                if picture is before:
                    # A frame shown again is the same object: its time must not change while encoders wait for it.
                    for encoder in encoders:
                        encoder.wait()
                before = picture
                for shown in upright.feed(picture):
                    for encoder in encoders:
                        encoder.encode(number, shown)
                    number += 1
            for shown in upright.flush():
                for encoder in encoders:
                    encoder.encode(number, shown)
                number += 1
            return tuple(encoder.finish() for encoder in encoders)
        finally:
            for encoder in encoders:
                encoder.close()


def clock(fps: Fraction) -> tuple[int, int]:
    """Units per second of a rendition's clock and units per frame, both whole."""
    finer = -(-_FINEST_CLOCK // fps.numerator)
    return fps.numerator * finer, fps.denominator * finer


class _Encoder:
    """One rendition being made."""

    def __init__(self, rendition: Rendition, plan: TranscodePlan, piece: Piece, folder: Path) -> None:
        import av  # noqa: PLC0415 - see video.opening
        from av.video.reformatter import VideoReformatter  # noqa: PLC0415

        # SVT-AV1 prints its settings on every start otherwise.
        os.environ.setdefault("SVT_LOG", "1")
        self._rendition = rendition
        self._piece = piece
        fps = plan.probe.fps
        self._time_base = 1 / fps
        scale, ticks = clock(fps)
        place = RunPosition(not piece.index, piece.first_fragment + 1, piece.first_frame, ticks, plan.frames * ticks)
        self._out = FragmentFile(folder / f"{rendition.name}_{piece.index:05d}.mp4", rendition.name, place)
        self._container = av.open(
            self._out,
            "w",
            format="mp4",
            options={
                "movflags": "frag_keyframe+empty_moov+default_base_moof",
                "video_track_timescale": str(scale),
                "fflags": "+bitexact",
            },
        )
        added = self._container.add_stream(_ENCODERS[rendition.vcodec], rate=fps, options=encoder_options(rendition))
        stream = cast("VideoStream", added)
        self._stream = stream
        stream.width, stream.height, stream.pix_fmt = rendition.width, rendition.height, rendition.pixel_format
        context = stream.codec_context
        context.time_base = self._time_base
        context.sample_aspect_ratio = Fraction(1)
        if rendition.vcodec in _TAGS:
            context.codec_tag = _TAGS[rendition.vcodec]
        self._range = _FULL_RANGE if rendition.pixel_format.startswith("yuvj") else colour.LIMITED_RANGE
        context.color_range = self._range
        context.color_primaries, context.color_trc, context.colorspace = colour.output_tags(plan.probe.video)
        self._matrix = context.colorspace if colour.is_rgb(plan.probe.video) else None
        # One scaler for all frames: a frame's own would be set up anew for each.
        self._scaler = VideoReformatter()
        # Encoding goes on in a thread of its own while the next frames are decoded and scaled; FFmpeg frees the GIL.
        self._lane = ThreadPoolExecutor(max_workers=1)
        self._waiting: deque[Future[None]] = deque()
        self._encoded = 0

    def encode(self, number: int, picture: VideoFrame) -> None:
        """Scale and encode the frame of that number."""
        scaled = self._scaler.reformat(
            picture,
            width=self._rendition.width,
            height=self._rendition.height,
            format=self._rendition.pixel_format,
            interpolation=_AREA if picture.height >= _MANY_TIMES * self._rendition.height else _BICUBIC,
            dst_colorspace=self._matrix,
            dst_color_range=self._range,
            threads=1,
        )
        scaled.pts, scaled.time_base = number - self._piece.first_frame, self._time_base
        # The encoder alone decides where keyframes are, or groups of pictures would follow the source's.
        scaled.pict_type = 0
        self._encoded += 1
        self.wait(_FRAMES_WAITING)
        self._waiting.append(self._lane.submit(self._mux, scaled))

    def finish(self) -> Output:
        """Flush the encoder and return its output."""
        self.wait(0)
        self._mux(None)
        self._container.close()
        output = self._out.output()
        if not output.samples == self._encoded == self._piece.frame_count:
            message = (
                f"The encoder made {output.samples} of {self._piece.frame_count} frames of {self._rendition.name}."
            )
            raise BadInput(message)
        return output

    def close(self) -> None:
        """Close the files, also after errors."""
        self._lane.shutdown(cancel_futures=True)
        self._out.close()

    def _mux(self, picture: VideoFrame | None) -> None:
        """Encode a picture, None to flush, and write what comes out."""
        is_first = not self._stream.codec_context.is_open
        self._container.mux(self._stream.encode(picture))
        if is_first and self._rendition.vcodec == "av1":
            end_real_time_priority()

    def wait(self, most: int = 0) -> None:
        """Wait until at most `most` pictures are queued for the encoder; raises what the encoder raised."""
        while len(self._waiting) > most:
            self._waiting.popleft().result()


def end_real_time_priority() -> None:
    """Return the real-time threads of this process to normal scheduling, at the nice value that they have.

    SVT-AV1 runs its threads, and the thread that opens it, at real-time priority (SCHED_FIFO, 99) where the process
    runs as root. They would starve requests and all other programs. Threads of other policies are left as they are,
    such as those of a service that was started with `chrt --idle`. Does nothing on a system without /proc.
    """
    with contextlib.suppress(FileNotFoundError):
        for thread in Path("/proc/self/task").iterdir():
            # A thread may end meanwhile.
            with contextlib.suppress(ProcessLookupError):
                if os.sched_getscheduler(int(thread.name)) == os.SCHED_FIFO:
                    os.sched_setscheduler(int(thread.name), os.SCHED_OTHER, os.sched_param(0))


def encoder_options(rendition: Rendition) -> dict[str, str]:
    """FFmpeg's options for the rendition's encoder: closed groups of exactly 25 pictures and a fixed thread count.

    Threads are fixed because their number may change the bytes, and redelivered pieces must come out the same.
    """
    threads = THREADS if rendition.height >= _THREADED_HEIGHT else 1
    options = {"preset": rendition.preset, "crf": str(rendition.crf), "g": str(GOP)}
    tune = {"tune": rendition.tune} if rendition.tune else {}
    if rendition.vcodec == "h264":
        fixed = {"keyint_min": str(GOP), "sc_threshold": "0", "bf": "0", "threads": str(threads)}
        if rendition.preset not in _SHORT_SIGHTED:
            # Looking beyond the next keyframe gains nothing and keeps more pictures in memory.
            fixed["rc-lookahead"] = str(GOP)
        return options | fixed | tune
    if rendition.vcodec == "hevc":
        settings = f"keyint={GOP}:min-keyint={GOP}:scenecut=0:open-gop=0:bframes=0:pools={threads}:frame-threads=1"
        return options | {"x265-params": f"{settings}:info=0:log-level=none"} | tune
    return options | {"svtav1-params": f"keyint={GOP}:irefresh-type=2:scd=0:lp={threads}"}
