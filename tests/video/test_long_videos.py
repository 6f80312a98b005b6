"""A video cut into many pieces is the video made in one, and no piece grows with the video's length."""

import io
from fractions import Fraction

import pytest

from chalicelib.video.plan import MAX_PIECE_PIXELS, Probe, VideoInfo, plan
from chalicelib.video.timing import Keyframe, build_table
from tests.video.clips import BITS, X264, Kind, make, read_all
from tests.video.made import source_of, transcode

FPS = 10
LADDER = [{"resolution": 48, "preset": "ultrafast"}]
NUMBERS = 1 << len(BITS)
"""After as many frames the numbers drawn begin again."""


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "pieces"), [(24, 8), pytest.param(600, 200, marks=pytest.mark.nightly)])
def test_many_pieces_equal_the_transcode_in_one(seconds, pieces, tmp_path):
    kind = Kind("long", options=X264 | {"g": "30"}, fps=Fraction(FPS), size=(64, 48), count=seconds * FPS)
    source = source_of(make(kind, tmp_path))
    (tmp_path / "whole").mkdir()
    (tmp_path / "split").mkdir()
    whole = transcode(source, tmp_path / "whole", seconds, LADDER)
    split = transcode(source, tmp_path / "split", 3, LADDER)
    (name,) = whole.files
    assert (len(whole.plan.pieces), len(split.plan.pieces)) == (1, pieces)
    expected = [number % NUMBERS for number in range(kind.count)]
    assert read_all(io.BytesIO(whole.files[name])) == expected
    assert read_all(io.BytesIO(split.files[name])) == expected


@pytest.mark.slow
@pytest.mark.parametrize("size", [(640, 480), (1920, 1080), (7680, 4320)])
@pytest.mark.parametrize("keyframes_every", [1, 250, 10**9])
@pytest.mark.parametrize("lengths", [(10, 50), pytest.param((10, 100, 400), marks=pytest.mark.nightly)])
def test_the_longest_piece_is_bounded_whatever_the_length(size, keyframes_every, lengths):
    longest = set()
    for minutes in lengths:
        count = minutes * 60 * 30
        keys = [Keyframe(key, key) for key in range(0, count, keyframes_every)]
        table = build_table(range(count), keys, Fraction(1, 30), Fraction(30))
        probe = Probe("mov", 1000, VideoInfo("h264", "yuv420p", *size, *size), (30, 1), count)
        pieces = plan(probe, table, None, None, 60).pieces
        assert sum(piece.frame_count for piece in pieces) == count
        longest.add(max(piece.frame_count for piece in pieces))
    assert max(longest) <= 60 * 30
    assert max(longest) * size[0] * size[1] <= MAX_PIECE_PIXELS
    assert len(longest) == 1


def test_a_piece_of_4k_in_hevc_is_shorter_than_one_of_hd():
    """Its archival copy takes seconds for each frame: a minute of it would not end in the time of a function."""

    def longest(size, archive):
        count = 10 * 60 * 30
        table = build_table(
            range(count), [Keyframe(key, key) for key in range(0, count, 25)], Fraction(1, 30), Fraction(30)
        )
        probe = Probe("mov", 1000, VideoInfo("hevc", "yuv420p", *size, *size), (30, 1), count)
        return max(piece.frame_count for piece in plan(probe, table, None, archive, 60).pieces)

    hevc = [{"encode": {"vcodec": "hevc"}}]
    assert longest((1920, 1080), None) == 1800
    assert longest((3840, 2160), None) > 4 * longest((3840, 2160), hevc)
    assert longest((3840, 2160), hevc) * 3840 * 2160 / 5_000_000 < 420
