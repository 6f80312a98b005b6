"""Which frames a media has."""

from __future__ import annotations

from collections.abc import Collection

from chalicelib.errors import BadInput


def is_beyond(frame: int, counts: Collection[int | None]) -> bool:
    """Whether a frame, counted from 0, is beyond the end of all of some media.

    A media whose number of frames is None or 0, such as a video that is not transcoded yet, has any.
    """
    return all(counts) and frame >= max((count or 0 for count in counts), default=frame + 1)


def refuse_beyond(frame: int, counts: Collection[int | None]) -> None:
    """Raises BadInput: `is_beyond`."""
    if is_beyond(frame, counts):
        last = max(count or 0 for count in counts) - 1
        has = f"frames 0 to {last}" if last else "frame 0 alone"
        raise BadInput(f"frame: {frame} does not exist; the media has {has}.")
