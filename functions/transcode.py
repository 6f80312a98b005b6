"""The transcode queue's function: plans, encodes and assembles videos, imports images, draws pictures of exports."""

from __future__ import annotations

from chalicelib.resources.exports import steps as exports_steps
from chalicelib.resources.exports.messages import DrawPictures
from chalicelib.resources.media.messages import ImportImage
from chalicelib.resources.transcodes import images
from chalicelib.resources.transcodes import steps as transcodes_steps
from chalicelib.resources.transcodes.messages import AssembleTranscode, EncodePiece, PlanTranscode
from functions.worker import Delivery, worker


def _import(message: ImportImage, delivery: Delivery) -> None:
    """The message is sent before its media is stored, so that no crash can lose it."""
    with delivery.waiting():
        images.import_image(message)


def _give_up(
    message: PlanTranscode | EncodePiece | AssembleTranscode | ImportImage | DrawPictures, reason: Exception
) -> None:
    """A job or an export records why it failed; a media whose image cannot be fetched records it too."""
    if isinstance(message, ImportImage):
        images.fail(message, reason)
    elif isinstance(message, DrawPictures):
        exports_steps.fail(message.uid, "export", reason)
    else:
        transcodes_steps.fail(message.job, reason)


handler = worker(
    {
        PlanTranscode: lambda message, _: transcodes_steps.plan(message.job),
        EncodePiece: lambda message, _: transcodes_steps.encode(message.job, message.index),
        AssembleTranscode: lambda message, _: transcodes_steps.assemble(message.job, message.group),
        ImportImage: _import,
        DrawPictures: lambda message, _: exports_steps.draw(message),
    },
    on_poison=_give_up,
)
