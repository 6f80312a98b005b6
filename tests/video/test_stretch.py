"""Where the sound of a frame is heard, for clocks of all kinds: at most an average frame or a quarter second off."""

import random
from fractions import Fraction

import pytest

from chalicelib.video.stretch import Stretch, knots_of
from chalicelib.video.timing import build_table

RATE = 48_000


def steps(*parts):
    """Times in milliseconds of runs of (frames, milliseconds between them)."""
    at, times = 0, [0]
    for count, step in parts:
        for _ in range(count):
            at += step
            times.append(at)
    return times


def jittered(seed):
    noise = random.Random(seed)
    return steps(*((noise.randint(1, 60), noise.choice([17, 33, 40, 100, 2_000, 21_000])) for _ in range(12)))


CLOCKS = {
    "pauses of 20 and 60 s": steps((50, 40), (1, 20_000), (50, 40), (1, 60_000), (50, 40)),
    "one long pause": steps((100, 40), (1, 3_600_000), (100, 40)),
    "two rates": steps((105, 33), (35, 100)),
    "dropped frames": steps(*((20, 33), (1, 132)) * 8),
    "by motion": steps(*((12, 66), (1, 9_000)) * 20),
    **{f"of chance {seed}": jittered(seed) for seed in range(20)},
}


@pytest.mark.parametrize("name", CLOCKS)
def test_the_sound_of_each_frame_is_heard_with_it(name):
    table = build_table(CLOCKS[name], [], Fraction(1, 1000), None)
    knots = knots_of(table)
    median = sorted(after - before for before, after in zip(CLOCKS[name], CLOCKS[name][1:], strict=False))
    if median[len(median) // 2] > 500:
        assert not knots.source
        return
    stretch = Stretch(knots, RATE)
    frame = 1 / float(table.fps)
    for number in range(table.count):
        # A jump is where the frame begins.
        heard = stretch.source_of((number + 0.001) * frame)
        assert abs(heard - float(table.time_of(number))) <= 1.01 * max(frame, 0.25), number


def test_a_timelapse_keeps_its_sound_as_it_is():
    table = build_table(steps((40, 1_000), (1, 30), (40, 1_000)), [], Fraction(1, 1000), None)
    assert not knots_of(table).source
