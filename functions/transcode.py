"""The transcode queue's function: plans, encodes and assembles videos, and imports images."""

from __future__ import annotations

from chalicelib.errors import NotFound
from chalicelib.resources.media.messages import ImportImage
from chalicelib.resources.transcodes import images
from chalicelib.resources.transcodes import steps as transcodes_steps
from chalicelib.resources.transcodes.messages import AssembleTranscode, EncodePiece, PlanTranscode
from functions.worker import Delivery, Retry, worker

PAUSES = (1.0, 3.0, 8.0, 28.0)
"""Seconds to wait for a media whose message was sent before it was stored.

The sum is longer than API Gateway gives a request: after that the media is stored or never will be.
"""


def _plan(message: PlanTranscode, _: Delivery) -> None:
    transcodes_steps.plan(message.job)


def _encode(message: EncodePiece, _: Delivery) -> None:
    transcodes_steps.encode(message.job, message.index)


def _assemble(message: AssembleTranscode, _: Delivery) -> None:
    transcodes_steps.assemble(message.job, message.group)


def _import(message: ImportImage, delivery: Delivery) -> None:
    """The message is sent before its media is stored, so that no crash can lose it."""
    try:
        images.import_image(message)
    except NotFound as missing:
        if delivery.count > len(PAUSES):
            raise
        raise Retry(str(missing), after=PAUSES[delivery.count - 1]) from missing


def _give_up(message: PlanTranscode | EncodePiece | AssembleTranscode | ImportImage, reason: Exception) -> None:
    """A job records why it failed; a media whose image cannot be fetched records it too."""
    if isinstance(message, ImportImage):
        images.fail(message, reason)
    else:
        transcodes_steps.fail(message.job, reason)


handler = worker(
    {PlanTranscode: _plan, EncodePiece: _encode, AssembleTranscode: _assemble, ImportImage: _import},
    on_poison=_give_up,
)
