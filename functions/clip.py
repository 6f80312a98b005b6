"""The clip queue's function: cuts clips into temporary files."""

from __future__ import annotations

from chalicelib.resources.clips import service as clips_service
from chalicelib.resources.clips.messages import CutClip
from functions.worker import worker

handler = worker(
    {CutClip: lambda message, _: clips_service.cut(message.file)},
    on_poison=lambda message, reason: clips_service.fail(message.file, reason),
)
