"""Which layers count on which frames of a consensus, and how much."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from chalicelib.resources.tasks.schemas import HANDED_IN, Task

Span = tuple[int | None, int | None]
"""The first and the last frame of a unit of work; None for a whole media."""


LEAST_WEIGHT = 0.01
"""A copy that agrees with nothing weighs so much, that copies of one frame have a weight together."""


@dataclass(frozen=True)
class Everywhere:
    """All layers count on all frames."""

    weights: Mapping[int, float]

    def weights_at(self, _media: int, _frame: int) -> Mapping[int, float]:
        """The weights of the layers that count on a frame."""
        return self.weights

    def span_at(self, _media: int, _frame: int) -> Span:
        """The span of a review task of a frame."""
        return None, None


class Copies:
    """A layer counts where the copy of a task that is drawn in it was handed in.

    Args:
        tasks: the copies.
        weights: of the layers.
        people: of who did the copies, instead; the mean of them for others.
    """

    def __init__(
        self, tasks: Iterable[Task], weights: Mapping[int, float], people: Mapping[int, float] | None = None
    ) -> None:
        self._spans: defaultdict[int, defaultdict[Span, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
        mean = sum(people.values()) / len(people) if people else 0.0
        for task in tasks:
            if task.stage in HANDED_IN and task.version is not None and task.version in weights:
                weight = people.get(task.assignee or 0, mean) if people else weights[task.version]
                span = task.start_frame, task.end_frame
                self._spans[task.media_id][span][task.version] = max(weight, LEAST_WEIGHT)

    def weights_at(self, media: int, frame: int) -> Mapping[int, float]:
        """The weights of the layers that count on a frame; none where there is one copy only."""
        there: dict[int, float] = {}
        for span, some in self._spans[media].items():
            if is_within(frame, span):
                there |= some
        return there if len(there) > 1 else {}

    def span_at(self, media: int, frame: int) -> Span:
        """The span of the first task of a frame."""
        return next((span for span in self._spans[media] if is_within(frame, span)), (None, None))


def is_within(frame: int, span: Span) -> bool:
    """Whether a frame is in a span."""
    first, last = span
    return (first is None or first <= frame) and (last is None or frame <= last)
