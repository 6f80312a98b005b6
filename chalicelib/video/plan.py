"""From a source to its outputs: probe → renditions → pieces.

Everything here is pure arithmetic on Structs that travel as JSON in queue messages and objects.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from math import ceil, cos, radians, sin
from typing import Any, Literal

import msgspec
from msgspec import Struct

from chalicelib.core.text.numbers import natural
from chalicelib.errors import BadInput
from chalicelib.video.timing import FrameTable, Keyframe

MAX_SIDE = 16_384
# 8192 x 8192; a decoder holds up to 17 such pictures.
MAX_PIXELS = 67_108_864
# Players seek to keyframes: one every 25 frames, each starting a fragment.
GOP = 25
DEFAULT_HEIGHTS = (144, 360, 480, 720, 1080)
# Maximum cost of one piece: 30 s of 4K at 30 frames a second.
MAX_PIECE_PIXELS = 30 * 30 * 3840 * 2160
MOST_WORK = 400.0
"""Seconds of one processor for a piece, as estimated: half of what the transcode function has in 14 minutes."""
_DECODED = 60_000_000
_ENCODED = {"h264": 25_000_000, "hevc": 5_000_000, "av1": 5_000_000}
"""Pixels that one processor decodes in a second, and encodes by the default presets; slow processors, not the best."""
LONG_WORK = 300_000_000
"""Pixels of the other renditions, some seconds of encoding, from which the smallest is made first."""
# Bump when the same plan would give different bytes, so that finished pieces of an older release are not reused.
ENCODER_VERSION = 8

Codec = Literal["h264", "hevc", "av1"]

_PART = 0.01
"""The part of a pixel that rounding may add."""
_SMALLEST_SIDE = {"h264": 2, "hevc": 32, "av1": 64}
_DEFAULT_PRESETS = {"h264": "faster", "hevc": "fast", "av1": "5"}
_ARCHIVAL_PRESETS = _DEFAULT_PRESETS | {"h264": "fast"}
_SMALL_HEIGHT = 240
_SMALL_PRESET = "superfast"
"""Default of H.264 up to that height. There it makes no larger files than `fast`, in a quarter of the time.

Above, `faster` has the SSIM and the size of `fast` in 0.6 of its processor time (decision 176).
"""
_WORD_PRESETS = ("ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow")
_LARGEST_AV1_PRESET = 13
_LARGEST_CRF = {"h264": 51, "hevc": 51, "av1": 63}
_TUNES = ("film", "animation", "grain", "stillimage", "fastdecode", "zerolatency", "psnr", "ssim")
# x265 supports only some of x264's tunes.
_HEVC_TUNES = ("animation", "grain", "fastdecode", "zerolatency", "psnr", "ssim")
PIXEL_FORMATS = (
    "yuv420p",
    "yuvj420p",
    "yuv422p",
    "yuvj422p",
    "yuv444p",
    "yuvj444p",
    "yuv420p10le",
    "yuv422p10le",
    "yuv444p10le",
)
# SVT-AV1 encodes nothing else.
_AV1_PIXEL_FORMATS = ("yuv420p", "yuv420p10le")


class VideoInfo(Struct, frozen=True):
    """The picture as stored and as shown.

    `width` and `height` are what the user sees: square pixels (`sar` is stored pixels' width : height), then mirrored
    left-right if `mirrored`, then turned clockwise by `rotation` degrees; by another angle than a quarter, the picture
    is enlarged so that its corners are seen, on black. `color` is (primaries,
    transfer, matrix) in H.273 numbers, 2 where the source does not say.
    """

    codec: str
    pix_fmt: str
    stored_width: int
    stored_height: int
    width: int
    height: int
    sar: tuple[int, int] = (1, 1)
    rotation: float = 0
    mirrored: bool = False
    interlaced: bool = False
    color: tuple[int, int, int] = (2, 2, 2)


class AudioInfo(Struct, frozen=True):
    """One sound track: its stream index in the file, samples per second and channels."""

    index: int
    codec: str
    sample_rate: int
    channels: int
    default: bool = False


class Probe(Struct, frozen=True):
    """What a source is: container by FFmpeg's name, bytes, picture, rate, number of frames presented and sound."""

    container: str
    size: int
    video: VideoInfo
    rate: tuple[int, int]
    frames: int
    audio: tuple[AudioInfo, ...] = ()

    @property
    def fps(self) -> Fraction:
        """Frames per second, exactly; the average where it varies."""
        return Fraction(*self.rate)


class Rendition(Struct, frozen=True):
    """One output picture size and how it is encoded; `name` is unique within a plan and fit for object keys."""

    name: str
    width: int
    height: int
    vcodec: Codec = "h264"
    crf: int = 23
    preset: str = "fast"
    pixel_format: str = "yuv420p"
    tune: str = ""


class Archival(Struct, frozen=True):
    """Entry number `entry` of archive_config: the original as it is, or the rendition of that name."""

    entry: int
    rendition: str | None = None


class Piece(Struct, frozen=True):
    """Frames `first_frame` … `first_frame + frame_count - 1`, encoded by one queue message.

    `key` is where decoding starts; `first_fragment` the number of fragments in the pieces before it.
    """

    index: int
    first_frame: int
    frame_count: int
    first_fragment: int
    key: Keyframe


class TranscodePlan(Struct, frozen=True):
    """The plan of a transcode; `digest` is equal for equal plans, so that a redelivery finds the same output keys.

    `sound` is the audio track to encode, None if there is none or it is not wanted. `groups` names the renditions that
    are made and published together, the first one with the audio; without it there is one group.
    """

    probe: Probe
    renditions: tuple[Rendition, ...]
    archival: tuple[Archival, ...]
    pieces: tuple[Piece, ...]
    digest: str
    sound: AudioInfo | None = None
    groups: tuple[tuple[str, ...], ...] = ()

    def of_group(self, group: int) -> TranscodePlan:
        """The part of the plan for one group."""
        if not self.groups:
            return self
        renditions = tuple(rendition for rendition in self.renditions if rendition.name in self.groups[group])
        return msgspec.structs.replace(self, renditions=renditions, sound=None if group else self.sound, groups=())

    @property
    def largest(self) -> Rendition | None:
        """The highest rendition for browsers."""
        archived = {archival.rendition for archival in self.archival}
        streaming = [rendition for rendition in self.renditions if rendition.name not in archived]
        return max(streaming, key=lambda rendition: rendition.height, default=None)

    @property
    def group_count(self) -> int:
        """How many groups there are."""
        return len(self.groups) or 1

    @property
    def frames(self) -> int:
        """Number of frames in every rendition."""
        return self.probe.frames


def turned_size(width: int, height: int, angle: float) -> tuple[int, int]:
    """Width and height of what holds a picture that is turned by an angle in degrees."""
    if angle % 90 == 0:
        return (height, width) if angle % 180 else (width, height)
    along, across = abs(cos(radians(angle))), abs(sin(radians(angle)))
    return ceil(width * along + height * across - _PART), ceil(width * across + height * along - _PART)


def check_size(width: int, height: int) -> None:
    """Raise BadInput for a picture of implausible size, or one that does not fit a function's memory."""
    if width < 1 or height < 1:
        raise BadInput(f"The picture is {width} x {height} pixels, which cannot be shown.")
    if max(width, height) > MAX_SIDE or width * height > MAX_PIXELS:
        message = f"The picture is {width} x {height} pixels; allowed are {MAX_SIDE} on a side and {MAX_PIXELS} in all."
        raise BadInput(message)


def plan(
    probe: Probe,
    frame_table: FrameTable,
    streaming_config: Sequence[Mapping[str, Any]] | None,
    archive_config: Sequence[Mapping[str, Any]] | None,
    piece_seconds: float,
    *,
    present: Collection[tuple[int, str]] = (),
    archival_present: bool = False,
    audio_present: bool = False,
) -> TranscodePlan:
    """Decide the renditions and pieces of one source.

    `streaming_config` and `archive_config` are the media type's, None for the defaults; `present` holds the
    (height, codec) of streaming files that exist and are not made again. Encoded archival copies have the sound too,
    present or not. Without any rendition or sound to make there are no pieces. Raises BadInput for an impossible
    picture or a configuration that no encoder accepts.
    """
    check_size(probe.video.width, probe.video.height)
    renditions = list(streaming_renditions(probe.video, streaming_config, present))
    archival = []
    for entry, config in enumerate(() if archival_present else archive_config or ()):
        rendition = _archival_rendition(probe.video, entry, config.get("encode") or {})
        archival.append(Archival(entry, rendition.name if rendition else None))
        if rendition:
            renditions.append(rendition)
    is_heard = not audio_present or any(copy.rendition for copy in archival)
    sound = chosen_track(probe) if is_heard else None
    pieces = cut(frame_table, _longest_piece(probe, renditions, piece_seconds)) if renditions or sound else ()
    signature = msgspec.json.encode((ENCODER_VERSION, probe, renditions, archival, sound, pieces, frame_table))
    return TranscodePlan(
        probe=probe,
        renditions=tuple(renditions),
        archival=tuple(archival),
        pieces=pieces,
        digest=hashlib.sha256(signature).hexdigest()[:20],
        sound=sound,
        groups=_groups(renditions, probe.frames),
    )


def _groups(renditions: Sequence[Rendition], frames: int) -> tuple[tuple[str, ...], ...]:
    """The smallest rendition first where the others take long, so that a video can soon be watched."""
    if len(renditions) < 2:  # noqa: PLR2004 - nothing to wait for
        return ()
    first, *others = sorted(renditions, key=lambda rendition: rendition.width * rendition.height)
    if frames * sum(rendition.width * rendition.height for rendition in others) < LONG_WORK:
        return ()
    return (first.name,), tuple(rendition.name for rendition in others)


def chosen_track(probe: Probe) -> AudioInfo | None:
    """The audio track marked as default, else the first one that can be decoded, else None."""
    return next((track for track in probe.audio if track.default), probe.audio[0] if probe.audio else None)


def streaming_renditions(
    video: VideoInfo, streaming_config: Sequence[Mapping[str, Any]] | None, present: Collection[tuple[int, str]] = ()
) -> tuple[Rendition, ...]:
    """The renditions for browsers, smallest first.

    Every configured height up to the source's; where the source is lower than the highest configured one and not
    itself configured, its own height with the settings of the next higher one. Heights are evened, as 4:2:0 needs.
    """
    configs: Sequence[Mapping[str, Any]] = streaming_config or [{"resolution": height} for height in DEFAULT_HEIGHTS]
    wanted = [(_asked_height(config) or video.height, config) for config in configs]
    wanted.sort(key=lambda pair: pair[0])
    chosen = [(height, config) for height, config in wanted if height <= video.height]
    larger = [config for height, config in wanted if height > video.height]
    if larger and video.height not in {height for height, _ in wanted}:
        chosen.append((video.height, larger[0]))
    made: dict[tuple[int, str], Rendition] = {}
    for height, config in chosen:
        vcodec = config.get("vcodec") or "h264"
        rendition = _rendition("", video, height, vcodec, config)
        key = (rendition.height, vcodec)
        if key not in made and key not in set(present):
            name = str(rendition.height) if vcodec == "h264" else f"{rendition.height}_{vcodec}"
            made[key] = msgspec.structs.replace(rendition, name=name)
    return tuple(made.values())


def cut(frame_table: FrameTable, longest: int) -> tuple[Piece, ...]:
    """Pieces of at most `longest` frames (≥ 1) that start at source keyframes; the last one may be a tenth longer.

    A group of pictures longer than that is cut inside, at multiples of 25 frames; its pieces decode from the keyframe
    and drop what they do not encode, which costs a few percent of encoding it.
    """
    pieces: list[Piece] = []
    starts = [key.frame for key in frame_table.keyframes()]
    first = fragments = next_key = 0
    while first < frame_table.count:
        limit = first + longest
        while next_key < len(starts) and starts[next_key] <= limit:
            next_key += 1
        stop = starts[next_key - 1]
        if limit + longest // 10 >= frame_table.count:
            stop = frame_table.count
        elif stop <= first:
            stop = limit if longest < GOP else first + longest // GOP * GOP
        pieces.append(Piece(len(pieces), first, stop - first, fragments, frame_table.keyframe_for(first)))
        fragments += -(-(stop - first) // GOP)
        first = stop
    return tuple(pieces)


def _longest_piece(probe: Probe, renditions: Sequence[Rendition], piece_seconds: float) -> int:
    """Frames in the longest allowed piece: by time, by pixels, and by the work of its codecs.

    High rates and sizes stay bounded, and so does an archival copy of 4K in HEVC, which takes seconds for each frame.
    """
    pixels = probe.video.width * probe.video.height
    by_time = int(probe.fps * Fraction(piece_seconds))
    work = pixels / _DECODED + sum(each.width * each.height / _ENCODED[each.vcodec] for each in renditions)
    return max(GOP, min(by_time, MAX_PIECE_PIXELS // pixels, int(MOST_WORK / work)))


def _asked_height(config: Mapping[str, Any]) -> int:
    """A streaming_config entry's height; 0 stands for the source's own."""
    height = config.get("resolution", 0)
    if not isinstance(height, int) or height < 0:
        raise BadInput(f"streaming_config: resolution must be a height in pixels, not {height!r}.")
    return height


def _archival_rendition(video: VideoInfo, entry: int, encode: Mapping[str, Any]) -> Rendition | None:
    """The rendition for one archive_config entry; None for the original as it is."""
    vcodec = encode.get("vcodec") or "hevc"
    if vcodec == "copy":
        return None
    preset = encode.get("preset") or _ARCHIVAL_PRESETS.get(vcodec)
    rendition = _rendition(f"archival_{entry}", video, video.height, vcodec, {**encode, "preset": preset})
    tune = encode.get("tune") or "fastdecode"
    if tune not in _TUNES:
        raise BadInput(f"archive_config: tune must be one of {', '.join(_TUNES)}, not {tune!r}.")
    usable = tune if vcodec == "h264" or tune in _HEVC_TUNES else ""
    return msgspec.structs.replace(rendition, tune=usable)


def _rendition(name: str, video: VideoInfo, height: int, vcodec: Any, config: Mapping[str, Any]) -> Rendition:
    """One rendition of a height, with the picture's aspect ratio. Raises BadInput if no encoder supports it."""
    if vcodec not in _SMALLEST_SIDE:
        raise BadInput(f"vcodec must be one of {', '.join(_SMALLEST_SIDE)}, not {vcodec!r}.")
    crf = config.get("crf")
    crf = 23 if crf is None else crf
    if not isinstance(crf, int) or not 0 <= crf <= _LARGEST_CRF[vcodec]:
        raise BadInput(f"crf must be 0 to {_LARGEST_CRF[vcodec]} for {vcodec}, not {crf!r}.")
    smallest = _SMALLEST_SIDE[vcodec]
    even_height = even(Fraction(height), smallest)
    is_small = vcodec == "h264" and even_height <= _SMALL_HEIGHT
    preset = str(config.get("preset") or (_SMALL_PRESET if is_small else _DEFAULT_PRESETS[vcodec]))
    if not (preset in _WORD_PRESETS if vcodec != "av1" else natural(preset) in range(_LARGEST_AV1_PRESET + 1)):
        raise BadInput(f"preset {preset!r} is not one that {vcodec} knows.")
    pixel_format = config.get("pixel_format") or "yuv420p"
    allowed = _AV1_PIXEL_FORMATS if vcodec == "av1" else PIXEL_FORMATS
    if pixel_format not in allowed:
        raise BadInput(f"pixel_format must be one of {', '.join(allowed)} for {vcodec}, not {pixel_format!r}.")
    width = even(Fraction(video.width * height, video.height), smallest)
    return Rendition(name, width, even_height, vcodec, crf, preset, pixel_format)


def even(length: Fraction, smallest: int = 2) -> int:
    """The nearest even number of pixels to a length, not below `smallest`; halves go down, so 145 gives 144."""
    return max(smallest, -(-(length - 1) // 2) * 2)
