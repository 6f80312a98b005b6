"""Agreement of states in time: which frames two layers give the same class. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from chalicelib.resources.quality.metrics import Confusion

Period = tuple[int, int, str]
"""First frame, last frame, class."""


def periods_of(starts: Iterable[tuple[int, str]], frames: int, *, holds: bool) -> list[Period]:
    """The periods of the states of one type, layer and media.

    Args:
        starts: frame and class of each state; of two on one frame the last counts.
        frames: the number of frames of the media.
        holds: whether a state holds until the next one (`interpolation` is `latest`), or on its frame only.
    """
    order = sorted(dict(starts).items())
    if not holds:
        return [(frame, frame, label) for frame, label in order]
    ends = [frame - 1 for frame, _ in order[1:]] + [max(frames - 1, order[-1][0])] if order else []
    return [(frame, end, label) for (frame, label), end in zip(order, ends, strict=True)]


def compare_periods(confusion: Confusion, ours: Sequence[Period], theirs: Sequence[Period]) -> None:
    """Count the frames of each pair of classes; None stands for no state. Periods of one side do not overlap."""
    bounds = sorted({bound for first, last, _ in (*ours, *theirs) for bound in (first, last + 1)})
    for first, end in pairwise(bounds):
        pair = (_label_at(ours, first), _label_at(theirs, first))
        if pair != (None, None):
            confusion.counts[pair] += end - first


def _label_at(periods: Sequence[Period], frame: int) -> str | None:
    return next((label for first, last, label in periods if first <= frame <= last), None)


def result_of(confusion: Confusion) -> dict[str, Any] | None:
    """The members of a report: frames by class; None where neither layer has states."""
    counts = confusion.counts
    if not counts:
        return None
    classes = []
    for label in confusion.labels():
        both = counts[label, label]
        ours = sum(count for (one, _), count in counts.items() if one == label)
        theirs = sum(count for (_, two), count in counts.items() if two == label)
        classes.append(
            {
                "class": label,
                "frames": both,
                "precision": both / theirs if theirs else None,
                "recall": both / ours if ours else None,
                "f1": 2 * both / (ours + theirs),
                "iou": both / (ours + theirs - both),
            }
        )
    same = sum(count for (one, two), count in counts.items() if one == two)
    return {
        "agreement": same / sum(counts.values()),
        "kappa": confusion.kappa(),
        "classes": classes,
        "confusion": {"labels": confusion.labels(), "matrix": confusion.matrix()},
    }
