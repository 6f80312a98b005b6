"""Clips with the frame number drawn in the pixels, and how to read it back.

Each frame is four by four blocks, black or white. The corners are fixed (only the top left one is white), so that a
turned or mirrored picture is noticed; the twelve between them are the number's bits. Blocks survive scaling to 144
lines and any codec.
"""

import contextlib
import dataclasses
from fractions import Fraction

import av
from PIL import Image

from chalicelib.video.encoding.encode import end_real_time_priority

CORNERS = {0: True, 3: False, 12: False, 15: False}
BITS = [cell for cell in range(16) if cell not in CORNERS]
COUNT = 60
SIZE = (320, 240)


def draw(number, size=SIZE, *, noise=False):
    """The picture of a number; `noise` makes it hard to compress, for clips that need some bytes."""
    cells = Image.new("L", (4, 4))
    for cell in range(16):
        white = CORNERS[cell] if cell in CORNERS else bool(number >> BITS.index(cell) & 1)
        cells.putpixel((cell % 4, cell // 4), 255 if white else 0)
    image = cells.resize(size, Image.Resampling.NEAREST)
    return (Image.blend(image, Image.effect_noise(size, 200), 0.2) if noise else image).convert("RGB")


def read(image):
    """The number drawn in a picture, None if it shows none (or shows it turned)."""
    gray = image.convert("L")
    width, height = gray.width / 4, gray.height / 4
    number = 0
    for cell in range(16):
        left, top = (cell % 4 + 0.3) * width, (cell // 4 + 0.3) * height
        level = gray.resize((1, 1), Image.Resampling.BOX, (left, top, left + 0.4 * width, top + 0.4 * height)).getpixel(
            (0, 0)
        )
        if 90 < level < 165:
            return None
        if cell in CORNERS:
            if (level > 128) != CORNERS[cell]:
                return None
        elif level > 128:
            number |= 1 << BITS.index(cell)
    return number


def read_all(path_or_file):
    with av.open(path_or_file) as container:
        return [read(picture.to_image()) for picture in container.decode(video=0)]


CUT = "The file is damaged. Frames without a time, whose number is not known, are missing at its end."


@dataclasses.dataclass(frozen=True)
class Kind:
    """How to make a clip, and which numbers a viewer sees in it: `first`, `first + 1`, … `shown` of them."""

    name: str
    suffix: str = "mp4"
    codec: str = "libx264"
    options: dict = dataclasses.field(default_factory=dict)
    container: dict = dataclasses.field(default_factory=dict)
    fps: Fraction = Fraction(25)
    size: tuple = SIZE
    pix_fmt: str = "yuv420p"
    times: tuple = ()
    time_base: Fraction | None = None
    start: int = 0
    rotation: int = 0
    hflip: bool = False
    audio: int = 0
    keep: tuple = (0.0, 1.0)
    trim: int = 0
    sar: Fraction | None = None
    count: int = COUNT
    noise: bool = False
    damage: str | None = None
    """What a transcode says of its damage."""

    @property
    def whole(self):
        return self.keep == (0.0, 1.0) and not self.trim


X264 = {"preset": "veryfast", "crf": "20", "g": "12", "bf": "3", "x264-params": "scenecut=0"}
OPEN = X264 | {"x264-params": "scenecut=0:open-gop=1"}
REFRESH = X264 | {"bf": "0", "x264-params": "intra-refresh=1:keyint=12:scenecut=0"}
X265 = {
    "preset": "ultrafast",
    "crf": "20",
    "x265-params": "keyint=12:min-keyint=12:scenecut=0:bframes=3:log-level=none:info=0",
}
# packets of 192 bytes, as camcorders write
M2TS = {"mpegts_m2ts_mode": "1"}
JITTER = tuple(n * 40 + (n * 7919 % 23) + (400 if n > 30 else 0) for n in range(COUNT))

KINDS = (
    Kind("plain", options=X264),
    Kind("one keyframe", options=X264 | {"g": "600"}),
    Kind("open groups mp4", options=OPEN),
    Kind("open groups ts", suffix="ts", options=OPEN),
    Kind("mts", suffix="mts", options=X264, container=M2TS, audio=1),
    Kind("open groups mts", suffix="mts", options=OPEN, container=M2TS),
    Kind("open groups hevc", codec="libx265", options=X265 | {"x265-params": X265["x265-params"] + ":open-gop=1"}),
    Kind("late start mp4", options=X264, start=70),
    Kind("late start mkv", suffix="mkv", options=X264, start=130),
    Kind("variable rate mp4", options=X264, times=JITTER, time_base=Fraction(1, 1000)),
    Kind("variable rate mkv", suffix="mkv", options=X264, times=JITTER, time_base=Fraction(1, 1000)),
    Kind("odd size", suffix="mkv", options=X264, pix_fmt="yuv444p", size=(321, 241)),
    Kind("wide pixels", options=X264, sar=Fraction(4, 3)),
    Kind("turned right", options=X264, rotation=-90),
    Kind("turned left", options=X264, rotation=90),
    Kind("upside down", options=X264, rotation=180),
    Kind("mirrored", options=X264, hflip=True),
    Kind("ten bits", options=X264, pix_fmt="yuv420p10le"),
    Kind("4:4:4", options=X264, pix_fmt="yuv444p"),
    Kind("full range rgb", suffix="mkv", codec="ffv1", pix_fmt="bgr0"),
    Kind("with sound", options=X264, audio=1),
    Kind("two sound tracks", suffix="mkv", options=X264, audio=2),
    Kind("ntsc mkv", suffix="mkv", options=X264, fps=Fraction(30000, 1001), audio=1),
    Kind("ntsc ts", suffix="ts", options=X264, fps=Fraction(30000, 1001), audio=1),
    Kind("fragmented", options=X264, container={"movflags": "frag_keyframe+empty_moov+default_base_moof"}),
    Kind("interlaced", suffix="ts", options=X264 | {"x264-params": "scenecut=0:tff=1", "flags": "+ilme+ildct"}),
    Kind("vp9 webm", suffix="webm", codec="libvpx-vp9", options={"deadline": "realtime", "cpu-used": "8", "g": "12"}),
    Kind(
        "vp8 alt-ref",
        suffix="webm",
        codec="libvpx",
        options={"auto-alt-ref": "1", "lag-in-frames": "8", "g": "20", "cpu-used": "8", "b:v": "2M"},
    ),
    Kind("av1 mp4", codec="libsvtav1", options={"preset": "8", "g": "12", "svtav1-params": "lp=1"}),
    Kind("mpeg4 avi", suffix="avi", codec="mpeg4", options={"g": "12", "bf": "2", "q": "4", "b": "2M"}),
    Kind("h264 avi", suffix="avi", options=X264),
    Kind("mjpeg mov", suffix="mov", codec="mjpeg", pix_fmt="yuvj420p"),
    Kind("mpeg2 mpg", suffix="mpg", codec="mpeg2video", options={"g": "12", "bf": "2", "b": "3M"}),
    Kind("mpeg2 ts", suffix="ts", codec="mpeg2video", options={"g": "12", "bf": "2", "b": "3M"}),
    Kind("edit list", options=X264, trim=5),
    Kind("intra refresh", options=REFRESH),
    Kind("intra refresh ts", suffix="ts", options=REFRESH),
    Kind("truncated mp4", options=X264, container={"movflags": "faststart"}, keep=(0.0, 0.7)),
    Kind("truncated ts", suffix="ts", options=X264, keep=(0.0, 0.7), damage=CUT),
    Kind("truncated mkv", suffix="mkv", options=X264, keep=(0.0, 0.7)),
    Kind("headless ts", suffix="ts", options=X264, keep=(0.3, 1.0)),
    Kind("headless open ts", suffix="ts", options=OPEN, keep=(0.3, 1.0)),
)


def make(kind, folder):
    """Write the clip and return its path."""
    path = folder / f"{kind.name.replace(' ', '_').replace(':', '')}.{kind.suffix}"
    with av.open(str(path), "w", options=dict(kind.container)) as out:
        video = out.add_stream(kind.codec, rate=kind.fps, options=dict(kind.options))
        width, height = kind.size
        video.width, video.height, video.pix_fmt = width, height, kind.pix_fmt
        base = kind.time_base or 1 / kind.fps
        video.codec_context.time_base = base
        video.codec_context.thread_count = 1
        if kind.sar:
            video.codec_context.sample_aspect_ratio = kind.sar
        if kind.rotation or kind.hflip:
            video.set_display_rotation(kind.rotation, hflip=kind.hflip)
        tracks = [out.add_stream("aac", rate=48000, layout="stereo") for _ in range(kind.audio)]
        with contextlib.suppress(AttributeError):
            out.start_encoding()
        for number in range(kind.count):
            picture = av.VideoFrame.from_image(stored(kind, number)).reformat(format=kind.pix_fmt)
            picture.pts = kind.times[number] if kind.times else kind.start + number
            picture.time_base = base
            if "ildct" in kind.options.get("flags", ""):
                picture.pict_type = 0
            out.mux(video.encode(picture))
        out.mux(video.encode(None))
        for track in tracks:
            sound(out, track, Fraction(kind.count) / kind.fps)
    end_real_time_priority()
    if kind.trim:
        trim_start(path, kind.trim)
    data = path.read_bytes()
    low, high = (int(share * len(data)) for share in kind.keep)
    path.write_bytes(data[low:high])
    return path


def stored(kind, number):
    """The picture as it must be stored so that a player shows it upright."""
    turned = kind.rotation in (90, -90)
    image = draw(number, kind.size[::-1] if turned else kind.size, noise=kind.noise)
    # The display matrix turns counterclockwise by its angle; the stored picture is the inverse.
    if kind.rotation:
        image = image.rotate(-kind.rotation, expand=True)
    return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if kind.hflip else image


def sound(out, track, seconds):
    for number in range(int(seconds * 48000) // 1024):
        frame = av.AudioFrame("fltp", "stereo", 1024)
        for plane in frame.planes:
            plane.update(bytes(plane.buffer_size))
        frame.sample_rate, frame.pts, frame.time_base = 48000, number * 1024, Fraction(1, 48000)
        out.mux(track.encode(frame))
    out.mux(track.encode(None))


def trim_start(path, frames):
    """Make the edit list of an MP4 start `frames` later."""
    data = bytearray(path.read_bytes())
    place = data.index(b"elst") + 4
    version = data[place]
    at, size = (place + 8 + 8, 8) if version else (place + 8 + 4, 4)
    scale_at = data.index(b"mdhd") + 4
    scale = int.from_bytes(data[scale_at + 12 : scale_at + 16], "big")
    start = int.from_bytes(data[at : at + size], "big") + frames * scale // 25
    data[at : at + size] = start.to_bytes(size, "big")
    path.write_bytes(data)
