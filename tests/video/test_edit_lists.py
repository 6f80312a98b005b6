"""Edit lists of several segments: their frames in the order of the list, or a refusal that says why."""

from __future__ import annotations

import struct

import pytest

from chalicelib.errors import BadInput
from chalicelib.video.decoding.frame import decode_original
from chalicelib.video.files.source import BytesSource
from chalicelib.video.probe import probe
from tests.video.clips import X264, Kind, make, read


def edited(path, edits):
    """A file with another edit list; an edit is its length in seconds, its first frame (None for a pause), its rate."""
    data = path.read_bytes()
    at = data.index(b"mvhd")
    (scale,) = struct.unpack_from(">I", data, at + 16)
    (media,) = struct.unpack_from(">I", data, data.index(b"mdhd") + 16)
    entries = b"".join(
        struct.pack(">Iii", round(length * scale), -1 if first is None else first * media // 25, round(rate * 65536))
        for length, first, rate in edits
    )
    table = struct.pack(">4sII", b"elst", 0, len(edits)) + entries
    table = struct.pack(">I", len(table) + 4) + table
    box = struct.pack(">I4s", len(table) + 8, b"edts") + table
    if b"edts" in data:
        data = data.replace(b"edts", b"free")
    end = data.index(b"tkhd") - 4
    end += int.from_bytes(data[end : end + 4], "big")
    assert data.index(b"mdat") < at
    data = bytearray(data[:end] + box + data[end:])
    for name in (b"moov", b"trak"):
        place = data.index(name) - 4
        size = int.from_bytes(data[place : place + 4], "big") + len(box)
        data[place : place + 4] = size.to_bytes(4, "big")
    return BytesSource(bytes(data))


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    return make(Kind("edits", "mp4", "libx264", X264 | {"bf": "0"}), tmp_path_factory.mktemp("edits"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edits", "frames"),
    [
        ([(2.4, 0, 1)], [*range(60)]),
        ([(1.2, 30, 1), (1.2, 0, 1)], [*range(30, 60), *range(30)]),
        ([(0.8, 0, 1), (0.8, 33, 1)], [*range(20), *range(33, 53)]),
        ([(0.4, 10, 1), (0.4, 10, 1)], [*range(10, 20)] * 2),
        ([(0.4, None, 1), (0.8, 7, 1)], [*range(7, 27)]),
    ],
)
def test_frames_are_those_of_the_edits_in_their_order(film, edits, frames):
    source = edited(film, edits)
    found, table = probe(source)
    assert [read(image) for image in decode_original(source, table, found.video, range(table.count))] == frames


@pytest.mark.parametrize("edits", [[(0.8, 0, 1), (0.4, None, 1), (0.8, 20, 1)], [(0.8, 0, 1), (0.8, 20, 0)]])
def test_pauses_and_other_speeds_are_refused(film, edits):
    with pytest.raises(BadInput, match="edit list"):
        probe(edited(film, edits))
