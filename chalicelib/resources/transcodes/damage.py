"""What a transcode says of the frames of a damaged file."""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.core.models.entities import DamagedFrames
from chalicelib.video.encoding.encode import PieceResult
from chalicelib.video.timing import joined

_MOST_SPANS, _NAMED_SPANS = 1000, 5


def damaged_frames(results: Iterable[PieceResult]) -> DamagedFrames | None:
    """The damaged frames of all pieces; None if there are none."""
    spans = joined(span for result in results for span in result.damaged)
    count = sum(last + 1 - first for first, last in spans)
    return DamagedFrames(count=count, spans=[list(span) for span in spans[:_MOST_SPANS]]) if count else None


def describe(damaged: DamagedFrames | None, frames: int) -> str | None:
    """What the job says of damaged frames."""
    if damaged is None:
        return None
    named = [str(first) if first == last else f"{first} to {last}" for first, last in damaged.spans]
    shown = ", ".join(named[:_NAMED_SPANS]) + (" and others" if len(named) > _NAMED_SPANS else "")
    return (
        f"The file is damaged: {damaged.count} of {frames} frames could not be decoded whole, and repeat "
        f"the frame before where they have no picture: {shown}. Each frame has its number and its time."
    )
