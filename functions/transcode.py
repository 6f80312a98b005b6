"""The transcode queue's function: plans, encodes and assembles videos, and imports images."""

from __future__ import annotations

from chalicelib.messages import AssembleTranscode, EncodePiece, ImportImage, PlanTranscode
from chalicelib.services import images, transcode_steps
from functions.worker import Delivery, worker


def _plan(message: PlanTranscode, _: Delivery) -> None:
    transcode_steps.plan(message.job)


def _encode(message: EncodePiece, _: Delivery) -> None:
    transcode_steps.encode(message.job, message.index)


def _assemble(message: AssembleTranscode, _: Delivery) -> None:
    transcode_steps.assemble(message.job)


def _import(message: ImportImage, _: Delivery) -> None:
    images.import_image(message)


def _give_up(message: PlanTranscode | EncodePiece | AssembleTranscode | ImportImage, reason: Exception) -> None:
    """A job tells why it failed; a media whose image cannot be had stays without files, and the log says why."""
    if not isinstance(message, ImportImage):
        transcode_steps.fail(message.job, reason)


handler = worker(
    {PlanTranscode: _plan, EncodePiece: _encode, AssembleTranscode: _assemble, ImportImage: _import},
    on_poison=_give_up,
)
