"""What a transcode says of the frames of a damaged file."""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.core.models.entities import DamagedFrames
from chalicelib.video.encoding.encode import PieceResult
from chalicelib.video.timing import FrameTable, joined

_MOST_SPANS, _NAMED_SPANS = 1000, 5


def damaged_frames(results: Iterable[PieceResult], table: FrameTable) -> DamagedFrames | None:
    """The damaged frames of all pieces and the missing frames at the ends of the source; None if there are none."""
    spans = joined(span for result in results for span in result.damaged)
    count = sum(last + 1 - first for first, last in spans)
    if not count and not table.missing_ends:
        return None
    shown = [list(span) for span in spans[:_MOST_SPANS]]
    return DamagedFrames(count=count, spans=shown, missing_ends=list(table.missing_ends))


def describe(damaged: DamagedFrames | None, frames: int) -> str | None:
    """The job's message about damaged frames."""
    if damaged is None:
        return None
    ends = " and at ".join(f"its {end}" for end in damaged.missing_ends)
    lost = f" Frames without a time, whose number is not known, are missing at {ends}." if ends else ""
    if not damaged.count:
        return f"The file is damaged.{lost}"
    named = [str(first) if first == last else f"{first} to {last}" for first, last in damaged.spans]
    shown = ", ".join(named[:_NAMED_SPANS]) + (" and others" if len(named) > _NAMED_SPANS else "")
    return (
        f"The file is damaged: {damaged.count} of {frames} frames could not be decoded whole, and repeat "
        f"the frame before where they have no picture: {shown}. Each frame has its number and its time.{lost}"
    )
