"""Tracks: states over localizations, and the values derived from their members."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def segments(frames: Iterable[int]) -> list[list[int]]:
    """The maximal runs of consecutive frames, each `[first, last]`; a repeated frame begins a new run.

    Args:
        frames: the frame of every member, in any order.
    """
    runs: list[list[int]] = []
    for frame in sorted(frames):
        if runs and frame == runs[-1][1] + 1:
            runs[-1][1] = frame
        else:
            runs.append([frame, frame])
    return runs


def members(current: Sequence[int], add: Iterable[int] = (), remove: Iterable[int] = ()) -> list[int]:
    """The remaining ids after adding and removing some, each once, in their original order."""
    gone = frozenset(remove)
    return [number for number in dict.fromkeys([*current, *add]) if number not in gone]
