"""The clip queue's function: cuts clips into temporary files."""

from __future__ import annotations

from chalicelib.resources.clips import service as clips_service
from chalicelib.resources.clips.messages import CutClip
from functions.worker import Delivery, worker


def _cut(message: CutClip, _: Delivery) -> None:
    clips_service.cut(message.file)


def _give_up(message: CutClip, reason: Exception) -> None:
    clips_service.fail(message.file, reason)


handler = worker({CutClip: _cut}, on_poison=_give_up)
