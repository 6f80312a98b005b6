"""From a probe to renditions and pieces, and pieces to parts: arithmetic only."""

import random
from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.errors import BadInput
from chalicelib.video.encoding.assemble import SMALLEST_PART, parts_of
from chalicelib.video.encoding.encode import clock
from chalicelib.video.plan import GOP, Probe, TranscodePlan, VideoInfo, check_size, cut, plan
from chalicelib.video.timing import Keyframe, average_rate, build_table


def probed(width, height, count=100, fps=Fraction(25)):
    video = VideoInfo("h264", "yuv420p", width, height, width, height)
    return Probe("mov", 1000, video, fps.as_integer_ratio(), count)


def table_of(count, keys, fps=Fraction(25)):
    return build_table(range(count), [Keyframe(key, key) for key in keys], 1 / fps, fps)


def heights(width, height, config=None, present=()):
    made = plan(probed(width, height), table_of(100, []), config, None, 60, present=present)
    return [(rendition.height, rendition.vcodec) for rendition in made.renditions]


@pytest.mark.parametrize(
    ("height", "expected"),
    [
        (100, [100]),
        (144, [144]),
        (241, [144, 240]),
        (480, [144, 360, 480]),
        (720, [144, 360, 480, 720]),
        (900, [144, 360, 480, 720, 900]),
        (1080, [144, 360, 480, 720, 1080]),
        (2160, [144, 360, 480, 720, 1080]),
    ],
)
def test_the_default_ladder(height, expected):
    assert [made for made, _ in heights(height * 2, height)] == expected


def test_the_sources_own_height_takes_the_next_larger_settings():
    config = [{"resolution": 144, "crf": 40}, {"resolution": 720, "crf": 30, "preset": "slow"}, {"resolution": 1080}]
    made = plan(probed(1000, 500), table_of(100, []), config, None, 60).renditions
    assert [(r.height, r.crf, r.preset) for r in made] == [(144, 40, "superfast"), (500, 30, "slow")]


def test_what_exists_is_not_made_again():
    assert heights(1280, 720, present=[(144, "h264"), (720, "h264")]) == [(360, "h264"), (480, "h264")]
    every = [(height, "h264") for height in (144, 360, 480, 720)]
    again = plan(probed(1280, 720), table_of(100, []), None, None, 60, present=every)
    assert (again.renditions, again.pieces) == ((), ())


def test_two_codecs_of_one_height_have_two_names():
    config = [{"resolution": 144}, {"resolution": 144, "vcodec": "av1"}]
    made = plan(probed(300, 144), table_of(10, []), config, None, 60).renditions
    assert [(r.name, r.preset) for r in made] == [("144", "superfast"), ("144_av1", "5")]


def test_zero_is_the_sources_own_height():
    assert heights(640, 480, [{"resolution": 0, "crf": 0}]) == [(480, "h264")]
    assert plan(probed(640, 480), table_of(9, []), [{"resolution": 0, "crf": 0}], None, 9).renditions[0].crf == 0


@pytest.mark.parametrize(("width", "height"), [(1, 1), (3, 3), (101, 57), (16000, 2), (1080, 1920), (641, 481)])
def test_sides_are_even_and_never_zero(width, height):
    for rendition in plan(probed(width, height), table_of(100, []), None, None, 60).renditions:
        assert rendition.width >= 2
        assert rendition.height >= 2
        assert rendition.width % 2 == rendition.height % 2 == 0
        assert rendition.height <= max(2, height)


@pytest.mark.parametrize(
    "config",
    [
        {"vcodec": "vp9"},
        {"crf": 64},
        {"crf": "23"},
        {"preset": "warp"},
        {"vcodec": "av1", "preset": "14"},
        {"pixel_format": "rgb24"},
        {"vcodec": "av1", "pixel_format": "yuv444p"},
        {"resolution": -1},
        {"resolution": "720"},
    ],
)
def test_settings_that_no_encoder_takes_are_refused(config):
    with pytest.raises(BadInput):
        plan(probed(640, 480), table_of(10, []), [{"resolution": 144} | config], None, 60)


def test_archive_entries_become_copies_or_renditions():
    config = [{"encode": {"vcodec": "copy"}}, {"encode": {}}, {"encode": {"vcodec": "h264", "crf": 0, "tune": "film"}}]
    made = plan(probed(641, 480), table_of(10, []), None, config, 60)
    assert [archival.rendition for archival in made.archival] == [None, "archival_1", "archival_2"]
    hevc, h264 = made.renditions[-2:]
    assert (hevc.vcodec, hevc.crf, hevc.preset, hevc.tune, hevc.width) == ("hevc", 23, "fast", "fastdecode", 640)
    assert (h264.vcodec, h264.crf, h264.tune) == ("h264", 0, "film")
    assert plan(probed(640, 480), table_of(10, []), None, config, 60, archival_present=True).archival == ()


@pytest.mark.parametrize("size", [(0, 5), (16_385, 1), (16_000, 16_000), (10**9, 10**9)])
def test_absurd_pictures_are_refused(size):
    with pytest.raises(BadInput, match="pixels"):
        check_size(*size)


def test_a_plan_survives_a_message_and_has_a_stable_digest():
    first = plan(probed(640, 480), table_of(3000, range(0, 3000, 50)), None, None, 30)
    again = plan(probed(640, 480), table_of(3000, range(0, 3000, 50)), None, None, 30)
    other = plan(probed(640, 480), table_of(3000, range(0, 3000, 50)), [{"resolution": 144}], None, 30)
    assert msgspec.json.decode(msgspec.json.encode(first), type=TranscodePlan) == first
    assert first.digest == again.digest != other.digest


@given(st.integers(1, 2000), st.lists(st.integers(1, 1999), unique=True, max_size=60), st.integers(25, 500))
def test_pieces_cover_every_frame_once_and_are_bounded(count, keys, longest):
    table = table_of(count, sorted(keys))
    pieces = cut(table, longest)
    assert [piece.index for piece in pieces] == list(range(len(pieces)))
    expected = fragments = 0
    for piece in pieces:
        assert (piece.first_frame, piece.first_fragment) == (expected, fragments)
        assert 0 < piece.frame_count <= longest + (piece is pieces[-1]) * (longest // 10)
        assert piece.key.frame <= piece.first_frame
        expected += piece.frame_count
        fragments += -(-piece.frame_count // GOP)
    assert expected == count


def test_pieces_start_at_keyframes_where_there_are_any():
    assert [piece.first_frame for piece in cut(table_of(1000, range(0, 1000, 30)), 100)] == list(range(0, 990, 90))
    assert [piece.first_frame for piece in cut(table_of(1000, []), 260)] == [0, 250, 500, 750]


def test_a_short_rest_is_no_piece_of_its_own():
    """Workers would wait for it: three minutes at 30 frames a second with a keyframe every 250."""
    lengths = [piece.frame_count for piece in cut(table_of(5400, range(0, 5400, 250)), 1800)]
    assert lengths == [1750, 1750, 1900]


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, unique=True), st.integers(1, 90_000))
def test_a_table_gives_back_its_times(times, base):
    times.sort()
    table = build_table(times, [], Fraction(1, base), None)
    assert list(table.times()) == times
    decoded = msgspec.json.decode(msgspec.json.encode(table), type=type(table))
    assert list(decoded.times()) == times
    for frame in {0, len(times) // 2, len(times) - 1}:
        assert table.time_of(frame) == Fraction(times[frame] - times[0], base)


def test_regular_tables_are_tiny_and_jittery_ones_small():
    hour = 30 * 3600
    assert len(table_of(hour, []).stamps) < 500
    milliseconds = build_table([n * 1001 // 30 for n in range(hour)], [], Fraction(1, 1000), None)
    assert len(milliseconds.stamps) < 2000
    chance = random.Random(1)
    jitter = build_table([n * 3000 + chance.randrange(200) for n in range(hour)], [], Fraction(1, 90_000), None)
    assert len(jitter.stamps) < 2 * hour + hour


@pytest.mark.parametrize(
    "rate", [Fraction(25), Fraction(30000, 1001), Fraction(24000, 1001), Fraction(60), Fraction(7)]
)
@pytest.mark.parametrize("ticks", [1000, 90_000])
def test_rates_are_recognised_behind_rounded_timestamps(rate, ticks):
    times = [round(n * ticks / rate) for n in range(3000)]
    assert average_rate(times, Fraction(1, ticks), None) == rate
    assert average_rate(times[:20], Fraction(1, ticks), rate) == rate


def test_a_false_claim_of_the_container_is_not_believed():
    assert average_rate(range(0, 4000, 40), Fraction(1, 1000), Fraction(90_000)) == 25
    assert average_rate([5], Fraction(1, 1000), Fraction(30)) == 30
    assert average_rate([5], Fraction(1, 1000), None) == 25
    assert average_rate([0, 3_600_000, 7_200_000], Fraction(1, 1000), None) == Fraction(1, 3600)


@given(st.fractions(min_value=Fraction(1, 5000), max_value=1000, max_denominator=5000))
def test_the_clock_counts_frames_in_whole_units(fps):
    scale, ticks = clock(fps)
    assert Fraction(scale, ticks) == fps
    assert scale < 2**31
    assert ticks < 2**31


@given(st.lists(st.integers(1, 4 * SMALLEST_PART), min_size=1, max_size=80))
def test_parts_hold_every_piece_in_order_and_only_the_last_is_small(sizes):
    files = [(str(number), size) for number, size in enumerate(sizes)]
    parts = parts_of(files)
    assert [name for part in parts for name in part.files] == [name for name, _ in files]
    assert sum(part.size for part in parts) == sum(sizes)
    assert all(part.size >= SMALLEST_PART for part in parts[:-1])
    assert all(part.copied == (len(part.files) == 1 and part.size >= SMALLEST_PART) for part in parts)
