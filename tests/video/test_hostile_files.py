"""Files that are not what they say: a readable refusal, quickly, and never an error of FFmpeg's or Python's."""

import random
import struct
import time

import pytest

from chalicelib.errors import BadInput, Unavailable
from chalicelib.video.decoding.frame import decode_original
from chalicelib.video.encoding.encode import encode_piece
from chalicelib.video.files import opening
from chalicelib.video.files.source import BytesSource
from chalicelib.video.plan import plan
from chalicelib.video.probe import probe
from tests.video.clips import OPEN, X264, Kind, make, read
from tests.video.made import DATA, FileSource

BUNNY = (DATA / "bigbuckbunny.mp4").read_bytes()
PLAYLIST = b"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n"


def patched(name, at, value):
    data = bytearray(BUNNY)
    place = data.index(name) + 4 + at
    data[place : place + len(value)] = value
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (PLAYLIST, "an HLS playlist"),
        (b"<!DOCTYPE html><html><body>404 not found</body></html>" * 10, "an HTML page"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a PNG image"),
        (b".RMF" + bytes(100), "a RealMedia file"),
        (BUNNY[:700], "a damaged or incomplete MP4"),
        (BUNNY.replace(b"avc1", b"zzzz"), "codec zzzz is not supported"),
    ],
)
def test_a_refusal_names_the_format_or_codec_and_what_is_accepted(data, words):
    with pytest.raises(BadInput) as refused:
        probe(BytesSource(data))
    assert words in refused.value.message
    assert "Accepted are MP4" in refused.value.message
    assert "Invalid" not in refused.value.message


HOSTILE = {
    "nothing": b"",
    "one byte": b"\0",
    "text": b"hello, I am not a video\n" * 100,
    "html named mp4": b"<!DOCTYPE html><html><body>404 not found</body></html>" * 10,
    "zeros": bytes(3_000_000),
    "noise": random.Random(1).randbytes(3_000_000),
    "playlist": PLAYLIST,
    "concat script": b"ffconcat version 1.0\nfile /etc/passwd\n",
    "dash manifest": b'<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period/></MPD>',
    "sdp": b"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nm=video 5004 RTP/AVP 96\n",
    "png": b"\x89PNG\r\n\x1a\n" + bytes(200),
    "zip": b"PK\x03\x04" + bytes(500),
    "pdf": b"%PDF-1.7\n" + bytes(500),
    "only ftyp": BUNNY[:32],
    "header cut": BUNNY[:700],
    "no payload": BUNNY[: BUNNY.index(b"mdat") + 4],
    "huge box": struct.pack(">I4s", 0xFFFFFFFF, b"moov") + bytes(100),
    "endless boxes": struct.pack(">I4s", 8, b"free") * 200_000,
    "nested boxes": b"".join(struct.pack(">I4s", 8 * (3000 - n), b"moov") for n in range(3000)),
    "huge table": patched(b"stsz", 8, b"\xff\xff\xff\xff"),
    "huge times": patched(b"stts", 4, b"\xff\xff\xff\xff"),
    "payload zeroed": BUNNY[:1015] + bytes(len(BUNNY) - 1015),
    "riff without video": b"RIFF" + struct.pack("<I", 1000) + b"AVI LIST" + bytes(1000),
    "matroska head only": bytes.fromhex("1a45dfa3") + bytes(1000),
    "transport stream of nulls": (b"\x47\x1f\xff\x10" + b"\xff" * 184) * 10_000,
    "gif bomb": b"GIF89a\xff\xff\xff\xff\x00\x00\x00\x2c\x00\x00\x00\x00\xff\xff\xff\xff\x00\x02\x02\x4c\x01\x00\x3b",
    "ogg head": b"OggS" + bytes(300),
    "flv head": b"FLV\x01\x05\0\0\0\x09" + bytes(300),
    "wav": b"RIFF" + struct.pack("<I", 36) + b"WAVEfmt " + bytes(40),
}


@pytest.mark.slow
@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_video_is_refused_with_a_sentence(data):
    before = time.monotonic()
    with pytest.raises(BadInput) as refusal:
        probe(BytesSource(data))
    assert refusal.value.message.endswith(".")
    assert time.monotonic() - before < 5


@pytest.mark.slow
def test_damaged_bytes_anywhere_give_a_refusal_or_a_consistent_transcode(tmp_path):
    clip = make(Kind("plain", options=X264, count=30), tmp_path).read_bytes()
    chance = random.Random(7)
    for attempt in range(60):
        data = bytearray(clip)
        low = 0 if attempt % 2 else data.index(b"moov")
        for _ in range(chance.choice((1, 5, 50))):
            data[chance.randrange(low, len(data))] = chance.randrange(256)
        source = BytesSource(bytes(data))
        try:
            found, table = probe(source)
            planned = plan(found, table, [{"resolution": 32, "preset": "ultrafast"}], None, 60)
            result = [encode_piece(source, planned, piece, table, tmp_path) for piece in planned.pieces[:2]]
        except BadInput:
            continue
        assert sum(f.samples for r in result for f in r.outputs[0].fragments) == sum(
            piece.frame_count for piece in planned.pieces[:2]
        )


@pytest.mark.slow
def test_decoders_refuse_pictures_above_the_limit_themselves(monkeypatch):
    # Whatever the container says, a stream may grow in the middle.
    found, table = probe(BytesSource(BUNNY))
    monkeypatch.setitem(opening.DECODING, "max_pixels", "10000")
    with pytest.raises(BadInput, match="can be decoded"):
        decode_original(BytesSource(BUNNY), table, found.video, [3])


def test_a_video_wider_than_allowed_is_refused(tmp_path):
    path = make(Kind("wide", suffix="mkv", codec="ffv1", size=(16_400, 16), count=2, pix_fmt="yuv420p"), tmp_path)
    with pytest.raises(BadInput, match="16400 x 16 pixels"):
        probe(FileSource(path))


def test_the_sources_own_failure_is_not_blamed_on_the_file():
    class Broken(BytesSource):
        def read(self, offset, length):
            raise Unavailable("the storage is away")

    with pytest.raises(Unavailable):
        probe(Broken(BUNNY))


def test_looking_through_a_file_ends_at_its_deadline():
    with pytest.raises(BadInput, match="longer than allowed"):
        probe(BytesSource(BUNNY), max_seconds=-1)


@pytest.mark.slow
def test_recordings_joined_end_to_end_keep_their_order(tmp_path):
    data = make(Kind("joined", suffix="ts", options=OPEN, count=30), tmp_path).read_bytes()
    source = BytesSource(data + data)
    found, table = probe(source)
    images = decode_original(source, table, found.video, range(60))
    assert [read(image) for image in images] == [*range(30), *range(30)]
