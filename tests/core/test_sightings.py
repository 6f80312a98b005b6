"""Counts of sightings against what can be counted by hand, and by drawing samples."""

import itertools
import random

import pytest

from chalicelib.core.values.sightings import accumulation, chao2, sighting_of, time_in_bins


def test_a_label_of_a_media_by_hand():
    found = sighting_of([10, 10, 30, 30, 30, 45], 100, 10)
    assert (found.count, found.frames, found.maxn, found.maxn_frame) == (6, 3, 3, 30)
    assert (found.first, found.last) == (10, 45)
    # frames 0, 10, …, 90 have 0, 2, 0, 3, 0 and so on
    assert found.mean_count == pytest.approx(5 / 10)
    assert sighting_of([7], 0, 1).mean_count == pytest.approx(1 / 8)


def test_accumulation_is_the_mean_over_all_ways_to_draw():
    rng = random.Random(4)
    samples = [{label for label in "abcdefgh" if rng.random() < 0.4} for _ in range(7)]
    found = list(accumulation(samples))
    for drawn in range(1, 8):
        ways = [len(set().union(*chosen)) for chosen in itertools.combinations(samples, drawn)]
        assert found[drawn - 1] == pytest.approx(sum(ways) / len(ways))


def test_many_samples_do_not_overflow():
    samples = [{"common"} | ({"rare"} if number == 0 else set()) for number in range(5000)]
    found = list(accumulation(samples))
    assert (found[0], found[-1]) == (pytest.approx(1 + 1 / 5000), pytest.approx(2))
    assert all(one <= two + 1e-9 for one, two in itertools.pairwise(found))


def test_chao2_adds_what_was_seen_once():
    # m = 4, S = 4, Q1 = 3 (b, c, d), Q2 = 0: 4 + 3/4 · 3 · 2 / 2
    assert chao2([{"a", "b"}, {"a", "c"}, {"a"}, {"a", "d"}]) == pytest.approx(6.25)
    assert chao2([]) == 0
    assert list(accumulation([])) == []


def test_time_counts_for_the_row_before_and_gaps_do_not():
    times, depths = [0.0, 5.0, 12.0, 112.0, 113.0], [1.0, 12.0, 19.0, -3.0, 4.0]
    assert time_in_bins(times, depths, 10, 60) == {-10.0: 1.0, 0.0: 5.0, 10.0: 7.0}
