"""How much of a source is read, and that what is not read changes nothing."""

import io
import random

import pytest

from chalicelib.video import packets as demuxing
from chalicelib.video.decoding import decode
from chalicelib.video.decoding.frame import decode_original
from chalicelib.video.encoding.encode import encode_piece
from chalicelib.video.files import source
from chalicelib.video.files.source import BLOCK, BytesSource, SourceFile
from chalicelib.video.plan import plan
from chalicelib.video.probe import probe
from tests.video.clips import OPEN, X265, Kind, make, read

HEAVY = OPEN | {"crf": "1", "preset": "ultrafast"}


OTHERS = ("open groups", "hevc", "variable rate")
"""Kinds whose frames `test_frames_are_exact.py` reads with each commit."""

# What FFmpeg reads at most to find out about the streams whenever a file is opened.
PROBED = 5_000_000 / 2


class Counting(BytesSource):
    fetched = 0

    def read(self, offset, length):
        self.fetched += length
        return super().read(offset, length)


@pytest.fixture(
    scope="module", params=["edit list", *(pytest.param(kind, marks=pytest.mark.nightly) for kind in OTHERS)]
)
def heavy(request, tmp_path_factory):
    kinds = {
        "open groups": Kind("heavy", options=HEAVY, noise=True, count=150),
        "edit list": Kind("heavy", options=HEAVY, noise=True, count=150, trim=17),
        "hevc": Kind("heavy", codec="libx265", options=X265 | {"crf": "1"}, noise=True, count=150),
        "variable rate": Kind(
            "heavy", options=HEAVY, noise=True, count=150, times=tuple(n * 5 + n % 3 for n in range(150))
        ),
    }
    return make(kinds[request.param], tmp_path_factory.mktemp("heavy")).read_bytes()


@pytest.fixture
def no_reading_ahead(monkeypatch):
    """A source is read block by block."""
    monkeypatch.setattr(source, "LARGEST_FETCH", 1)


@pytest.mark.slow
def test_the_payload_is_not_fetched_to_make_the_table(heavy, no_reading_ahead, monkeypatch):
    assert len(heavy) > 2_000_000
    light = Counting(heavy)
    found = probe(light)
    assert light.fetched < len(heavy) * 0.7
    monkeypatch.setattr(demuxing, "_payload", lambda _: [])
    whole = Counting(heavy)
    assert probe(whole) == found
    assert whole.fetched > light.fetched


@pytest.mark.slow
def test_a_seek_lands_on_its_keyframe(heavy, monkeypatch):
    monkeypatch.setattr(decode, "EARLIER", (0,))
    monkeypatch.setattr(decode, "START", None)
    found, table = probe(BytesSource(heavy))
    chance = random.Random(1)
    for frame in chance.sample(range(table.count), 5):
        counting = Counting(heavy)
        image = decode_original(counting, table, found.video, [frame])[0]
        assert read(image) == read(decode_original(counting, table, found.video, [0])[0]) + frame


@pytest.mark.slow
def test_a_piece_reads_its_part_of_the_source(tmp_path, no_reading_ahead):
    data = make(Kind("parts", options=HEAVY, noise=True, count=200), tmp_path).read_bytes()
    found, table = probe(BytesSource(data))
    planned = plan(found, table, [{"resolution": 32, "preset": "ultrafast"}], None, 1)
    for piece in planned.pieces[2:-1:4]:
        counting = Counting(data)
        encode_piece(counting, planned, piece, table, tmp_path)
        share = piece.frame_count / table.count
        assert counting.fetched < len(data) * share + PROBED + 3 * BLOCK


def test_a_source_file_reads_like_a_file(monkeypatch):
    monkeypatch.setattr(source, "BLOCK", 100)
    monkeypatch.setattr(source, "CACHED_BLOCKS", 5)
    data = random.Random(3).randbytes(5_017)
    file, plain = SourceFile(BytesSource(data)), io.BytesIO(data)
    chance = random.Random(4)
    for _ in range(500):
        if chance.random() < 0.3:
            place = chance.randrange(0, 5_200)
            assert file.seek(place) == plain.seek(place)
        elif chance.random() < 0.1:
            assert file.seek(-10, io.SEEK_END) == plain.seek(-10, io.SEEK_END)
        length = chance.randrange(0, 400)
        assert file.read(length) == plain.read(length)
        assert file.tell() == plain.tell()


def test_sequential_reading_takes_few_requests_and_jumping_little_data():
    data = bytes(40 * BLOCK)
    file = SourceFile(BytesSource(data))
    while file.read(50_000):
        pass
    assert (file.bytes_read, file.requests) == (len(data), 6)
    file = SourceFile(BytesSource(data))
    for block in range(0, 40, 8):
        file.seek(block * BLOCK)
        file.read(1000)
    assert file.bytes_read == 5 * BLOCK
