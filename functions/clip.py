"""The clip queue's function: cuts clips into temporary files."""

from __future__ import annotations

from chalicelib.messages import CutClip
from chalicelib.services import clips
from functions.worker import Delivery, worker


def _cut(message: CutClip, _: Delivery) -> None:
    clips.cut(message.file)


def _give_up(message: CutClip, reason: Exception) -> None:
    clips.fail(message.file, reason)


handler = worker({CutClip: _cut}, on_poison=_give_up)
