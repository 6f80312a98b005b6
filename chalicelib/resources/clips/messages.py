"""Messages of clips. Queue: clip."""

from __future__ import annotations

from chalicelib.queues.base import Message


class CutClip(Message, frozen=True, kw_only=True, tag="clip.1"):
    """Cut the clip that a File record describes. Queue: clip."""

    file: int
