"""Tracks: the segments of their members' frames, and members that are there once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from chalicelib.resources.annotations.segments import members, segments


@pytest.mark.parametrize(
    ("frames", "runs"),
    [
        ([], []),
        ([0], [[0, 0]]),
        ([3, 1, 2], [[1, 3]]),
        ([1, 2, 4, 5, 9], [[1, 2], [4, 5], [9, 9]]),
        ([1, 2, 2, 3], [[1, 2], [2, 3]]),
    ],
)
def test_segments_are_the_runs_of_consecutive_frames(frames, runs):
    assert segments(frames) == runs


@given(some.lists(some.integers(0, 50)))
def test_segments_hold_every_frame_and_no_other(frames):
    held = [frame for first, last in segments(frames) for frame in range(first, last + 1)]
    assert sorted(held) == sorted(frames)


def test_members_are_there_once_in_the_order_they_came():
    assert members([3, 1], add=[2, 1, 2], remove=[3, 9]) == [1, 2]
    assert members([3, 1]) == [3, 1]
