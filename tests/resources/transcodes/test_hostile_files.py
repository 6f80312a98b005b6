"""Files nobody would want to be sent, all the way: a job that says in a sentence why it failed, soon and in little
memory, the upload kept; and what is only odd is a video like any other."""

import io
import os
import random
import re
import struct
import threading
import time
import uuid
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Self

import av
import pytest
from PIL import Image

from chalicelib.core.models.definitions import ArchiveConfig, EncodeConfig, ResolutionConfig
from chalicelib.errors import BadInput
from chalicelib.resources.media.messages import ImportImage
from chalicelib.resources.transcodes import images
from tests import objects
from tests.resources.media.samples import BUNNY, media_type, picture, transcode, uploaded, video
from tests.resources.transcodes.test_transcodes import key_of, leftovers

SECONDS = 30.0
"""A hostile file takes a fraction of a second; machines that test are busy."""
MEMORY = 400 * 1024 * 1024
PLAYLIST = b"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n"
DASH = b'<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period/></MPD>'
HTML = b"<!DOCTYPE html><html><body>404 not found</body></html>" * 10


@dataclass(frozen=True)
class Odd:
    """A file, and what becomes of it."""

    make: Callable[[], bytes]
    status: str = "failed"
    says: str = ""
    name: str = "clip.mp4"


def bunny() -> bytes:
    return BUNNY.read_bytes()


def patched(name: bytes, at: int, value: bytes) -> bytes:
    data = bytearray(bunny())
    place = data.index(name) + 4 + at
    data[place : place + len(value)] = value
    return bytes(data)


def fuzzed(seed: int) -> bytes:
    """A clip whose index has 200 random bytes."""
    chance, data = random.Random(seed), bytearray(video(10))
    low, high = data.index(b"moov"), len(data)
    for _ in range(200):
        data[chance.randrange(low, high)] = chance.randrange(256)
    return bytes(data)


def written(
    form: str, codec: str, size: tuple[int, int], times: list[int], pixels: str = "bgr0", rate: int = 25
) -> bytes:
    """A video with frames at the given times, in units of a frame."""
    out = io.BytesIO()
    with av.open(out, "w", format=form) as container:
        stream = container.add_stream(codec, rate=rate)
        stream.width, stream.height, stream.pix_fmt = *size, pixels
        stream.time_base = stream.codec_context.time_base = Fraction(1, rate)
        for number, moment in enumerate(times):
            frame = av.VideoFrame.from_image(Image.new("RGB", size, (number, 0, 0))).reformat(format=pixels)
            frame.pts, frame.time_base = moment, Fraction(1, rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return out.getvalue()


def without_frames() -> bytes:
    out = io.BytesIO()
    with av.open(out, "w", format="matroska") as container:
        stream = container.add_stream("ffv1", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "bgr0"
        stream.codec_context.open()
        container.start_encoding()
    return out.getvalue()


def of_sound() -> bytes:
    out = io.BytesIO()
    with av.open(out, "w", format="mp4") as container:
        stream = container.add_stream("aac", rate=44_100)
        frame = av.AudioFrame(format="fltp", layout="mono", samples=1024)
        frame.rate = 44_100
        frame.planes[0].update(bytes(4096))
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return out.getvalue()


def zipped() -> bytes:
    """100 MB of zeros in 100 KB."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("clip.mp4", bytes(100_000_000))
    return out.getvalue()


def png_bomb() -> bytes:
    """A picture of 60,000 × 60,000 pixels in a few KB."""
    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    pixels = zlib.compress(bytes(10_000_000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def gif(width: int, height: int) -> bytes:
    size = struct.pack("<HH", width, height)
    return b"GIF89a" + size + b"\0\0\0\x2c\0\0\0\0" + size + b"\0\x02\x02\x4c\x01\0\x3b"


def many_boxes(count: int) -> bytes:
    return b"".join(struct.pack(">I4s", 8 * (count - n), b"moov") for n in range(count))


FILES = {
    "nothing": Odd(lambda: b"", says="empty"),
    "one byte": Odd(lambda: b"\0"),
    "text": Odd(lambda: b"hello, I am not a video\n" * 100),
    "html named mp4": Odd(lambda: HTML),
    "zeros": Odd(lambda: bytes(3_000_000)),
    "noise": Odd(lambda: random.Random(1).randbytes(3_000_000)),
    "a playlist of local files": Odd(lambda: PLAYLIST, name="clip.m3u8"),
    "a concat script": Odd(lambda: b"ffconcat version 1.0\nfile /etc/passwd\n"),
    "a manifest": Odd(lambda: DASH, name="clip.mpd"),
    "a session description": Odd(lambda: b"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nm=video 5004 RTP/AVP 96\n"),
    "a zip bomb": Odd(zipped),
    "a pixel bomb in a png": Odd(png_bomb),
    "a pixel bomb in a gif": Odd(lambda: gif(65_535, 65_535), name="clip.gif"),
    "a sample description that lies of the size": Odd(lambda: patched(b"avc1", 24, b"\xff" * 4), status="succeeded"),
    "a pixel bomb in matroska": Odd(
        lambda: written("matroska", "ffv1", (16_000, 2_000), [0]).replace(b"\xb0\x82\x3e\x80", b"\xb0\x82\xff\xff"),
        says="pixels",
    ),
    "a document": Odd(lambda: b"%PDF-1.7\n" + bytes(500)),
    "only a head": Odd(lambda: bunny()[:32]),
    "a head cut short": Odd(lambda: bunny()[:700]),
    "no payload": Odd(lambda: bunny()[: bunny().index(b"mdat") + 4]),
    "an index at the end, cut off": Odd(lambda: (data := video(30))[: data.index(b"moov") + 100]),
    "a box larger than the file": Odd(lambda: struct.pack(">I4s", 0xFFFFFFFF, b"moov") + bytes(100)),
    "endless boxes": Odd(lambda: struct.pack(">I4s", 8, b"free") * 200_000),
    "boxes within boxes": Odd(lambda: many_boxes(3000)),
    "a table of four thousand million samples": Odd(lambda: patched(b"stsz", 8, b"\xff\xff\xff\xff")),
    "four thousand million times one sample": Odd(lambda: patched(b"stts", 4, b"\xff\xff\xff\xff")),
    "zeros for pictures": Odd(lambda: bunny()[:1015] + bytes(len(bunny()) - 1015)),
    "riff without video": Odd(lambda: b"RIFF" + struct.pack("<I", 1000) + b"AVI LIST" + bytes(1000), name="a.avi"),
    "only the head of matroska": Odd(lambda: bytes.fromhex("1a45dfa3") + bytes(1000), name="a.mkv"),
    "a transport stream of nulls": Odd(lambda: (b"\x47\x1f\xff\x10" + b"\xff" * 184) * 10_000, name="a.ts"),
    "zero frames": Odd(without_frames, name="a.mkv"),
    "sound alone": Odd(of_sound, says="no video"),
    "a codec that is none": Odd(lambda: patched(b"stsd", 12, b"zzzz")),
    "16,400 pixels wide": Odd(lambda: written("matroska", "ffv1", (16_400, 16), [0, 1]), says="16400 x 16"),
    "16,000 pixels wide": Odd(lambda: written("matroska", "ffv1", (16_000, 16), [0, 1]), status="succeeded"),
    "one pixel": Odd(lambda: written("matroska", "ffv1", (1, 1), [0, 1, 2]), status="succeeded"),
    "one frame": Odd(lambda: video(1), status="succeeded"),
    "matroska named mp4": Odd(lambda: written("matroska", "ffv1", (64, 48), [0, 1, 2]), status="succeeded"),
    "no extension": Odd(lambda: video(3), status="succeeded", name="clip"),
    "a year between two frames": Odd(
        lambda: written("matroska", "ffv1", (64, 48), [0, 1, 365 * 86_400 * 25]), status="either"
    ),
    "7.1 PCM with a layout that the decoder writes beyond its memory for": Odd(
        (BUNNY.parent / "pcm_7_1.mov").read_bytes, status="succeeded", name="x.mov"
    ),
    "a tail that is missing": Odd(lambda: bunny()[: len(bunny()) * 2 // 3], status="either"),
    **{f"fuzzed index {seed}": Odd(lambda seed=seed: fuzzed(seed), status="either") for seed in range(8)},
}


class Peak:
    """By how much this process grew meanwhile, at its largest, in bytes."""

    def __enter__(self) -> Self:
        self._before = self.grown = 0
        self._before = self._size()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.01):
            self.grown = max(self.grown, self._size() - self._before)

    @staticmethod
    def _size() -> int:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
@pytest.mark.parametrize("odd", FILES.values(), ids=FILES)
def test_every_file_ends_soon_with_a_reason_or_a_video(api, project, odd):
    configs = [ArchiveConfig(encode=EncodeConfig(vcodec="copy"))]
    type_ = media_type(project, streaming_config=[ResolutionConfig(resolution=64)], archive_config=configs)
    data = odd.make()
    said = transcode(api, project, type_, data, name=odd.name)
    assert said.status == 201, said.body
    began = time.monotonic()
    with Peak() as peak:
        api.drain()
    assert time.monotonic() - began < SECONDS
    assert peak.grown < MEMORY
    job = api.get(f"Transcode/{said.json['id']}").json["job"]
    assert job["status"] in (("failed", "succeeded") if odd.status == "either" else (odd.status,)), job["message"]
    assert objects.read(key_of(said.json["object"]["spec"]["url"])) == data
    assert leftovers(project, said.json["id"]) == []
    if job["status"] == "failed":
        assert re.fullmatch(r"[A-Z].{10,300}\.", job["message"])
        assert odd.says in job["message"]
        assert "wrong on our side" not in job["message"]
        assert api.get(f"Media/{said.json['media_id']}").json["media_files"] is None
    else:
        assert api.get(f"Media/{said.json['media_id']}").json["num_frames"] >= 1


IMAGES = {
    "nothing": lambda: b"",
    "html named png": lambda: HTML,
    "a pixel bomb": png_bomb,
    "a gif of 65,535 by 65,535": lambda: gif(65_535, 65_535),
    "half a jpeg": lambda: (data := picture(2000, 1500))[: len(data) // 2],
    "only a head": lambda: picture(form="PNG")[:33],
    "a zip bomb": zipped,
    "a video": lambda: video(3),
    "an icon of a program": lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 100 100\n",
    "too wide": lambda: picture(65_501, 1, "PNG"),
}


@pytest.mark.slow
@pytest.mark.parametrize("make", IMAGES.values(), ids=IMAGES)
def test_images_that_are_none_leave_a_failed_job_that_says_why(api, project, make):
    url = uploaded(api, project, make(), "a.png")
    gid = str(uuid.uuid4())
    spec = {"type": media_type(project, "image"), "name": "a.png", "md5": "", "url": url, "gid": gid}
    number = api.made(f"Medias/{project}", spec)
    began = time.monotonic()
    with Peak() as peak:
        api.drain()
    assert time.monotonic() - began < SECONDS
    assert peak.grown < MEMORY
    media = api.get(f"Media/{number}").json
    assert media["media_files"] == {}
    assert objects.size(key_of(url)) is not None
    (uid,) = media["attributes"]["_tator_import_workflow"]
    (found,) = api.get(f"Transcodes/{project}", gid=gid).json
    assert (found["job"]["uid"], found["spec"]["media_id"]) == (uid, number)
    job = api.get(f"Job/{uid}").json
    assert (job["status"].lower(), job["media_ids"]) == ("failed", [number])
    assert re.fullmatch(r"[A-Z].{10,300}\.", job["message"])
    assert "wrong on our side" not in job["message"]
    images.fail(ImportImage(media=number, url=url), BadInput("Another reason."))
    assert api.get(f"Job/{uid}").json == job
    # it goes as others do
    assert api.delete(f"Transcode/{uid}").status == 200
    assert api.get(f"Media/{number}").status == 200
