"""Counts of sightings as surveys report them. docs/guides/statistics.md has the formulas and their sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import exp, lgamma

from msgspec import Struct


class Sighting(Struct, frozen=True):
    """The counts of one label on one media.

    Attributes:
        count: annotations.
        frames: frames that have one.
        maxn, maxn_frame: the most on one frame, and the first such frame.
        mean_count: the mean over frames 0, every, 2 every, … of the media.
        sampled: the number of these frames.
        first, last: the first and last frame that has one.
    """

    count: int
    frames: int
    maxn: int
    maxn_frame: int
    mean_count: float
    sampled: int
    first: int
    last: int


def sighting_of(frames: Iterable[int], length: int, every: int) -> Sighting:
    """The counts of one label on one media.

    Args:
        frames: the frame of each annotation, at least one.
        length: the number of frames of the media.
        every: the distance of the frames over which the mean is taken.
    """
    on = Counter(frames)
    most = max(on.values())
    sampled = sampled_frames(max(length, max(on) + 1), every)
    return Sighting(
        count=on.total(),
        frames=len(on),
        maxn=most,
        maxn_frame=min(frame for frame, count in on.items() if count == most),
        mean_count=sum(count for frame, count in on.items() if frame % every == 0) / sampled,
        sampled=sampled,
        first=min(on),
        last=max(on),
    )


def sampled_frames(length: int, every: int) -> int:
    """The number of the frames 0, every, 2 every, … of a media."""
    return len(range(0, length, every))


def accumulation(samples: Sequence[Iterable[str]]) -> Iterator[float]:
    """The expected number of labels in 1, 2, … of the samples, drawn without order (Mao Tau, exact)."""
    total = len(samples)
    incidence = Counter(label for sample in samples for label in set(sample))
    by_incidence = Counter(incidence.values())
    for drawn in range(1, total + 1):
        yield sum(number * (1 - _missed(total, count, drawn)) for count, number in by_incidence.items())


def chao2(samples: Sequence[Iterable[str]]) -> float:
    """The estimated number of labels with those that no sample has: Chao's estimator of incidence, bias-corrected."""
    incidence = Counter(label for sample in samples for label in set(sample))
    once, twice = (sum(count == times for count in incidence.values()) for times in (1, 2))
    share = (len(samples) - 1) / len(samples) if samples else 0.0
    return len(incidence) + share * once * (once - 1) / (2 * (twice + 1))


def _missed(total: int, count: int, drawn: int) -> float:
    """The probability that none of `drawn` samples of `total` is among the `count` that have a label."""
    if drawn > total - count:
        return 0.0
    rest = lgamma(total - count + 1) - lgamma(total - count - drawn + 1)
    return exp(rest - lgamma(total + 1) + lgamma(total - drawn + 1))


def time_in_bins(
    times: Sequence[float], values: Sequence[float], width: float, longest: float
) -> Mapping[float, float]:
    """Seconds at values in bins, by the start of the bin.

    The time from one row to the next counts for the value of the first. Gaps above `longest` seconds do not.
    """
    found: dict[float, float] = {}
    for at, (begin, end) in enumerate(pairwise(times)):
        if end - begin <= longest:
            start = values[at] // width * width
            found[start] = found.get(start, 0.0) + end - begin
    return dict(sorted(found.items()))
