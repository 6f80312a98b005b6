"""Work that was given up, open again: its record, and the first message of its next generation."""

from __future__ import annotations

import msgspec

from chalicelib.queues import Message, Unreadable, decode, encode
from chalicelib.resources.clips import service as clips_service
from chalicelib.resources.clips.messages import CutClip
from chalicelib.resources.consensus import service as consensus_service
from chalicelib.resources.consensus.messages import MakeConsensus
from chalicelib.resources.exports import steps as exports_steps
from chalicelib.resources.exports.messages import DrawPictures, JoinExport, PlanExport, WorkKind, WritePart
from chalicelib.resources.imports import steps as imports_steps
from chalicelib.resources.imports.messages import CheckImport, RunImportPart
from chalicelib.resources.media.messages import ImportImage
from chalicelib.resources.quality import service as quality_service
from chalicelib.resources.quality.messages import MakeQualityReport
from chalicelib.resources.transcodes import service as transcodes_service
from chalicelib.resources.transcodes.messages import AssembleTranscode, EncodePiece, PlanTranscode

_KINDS: tuple[type[Message], ...] = (
    PlanTranscode, EncodePiece, AssembleTranscode, ImportImage, DrawPictures, PlanExport, WritePart, JoinExport,
    CheckImport, RunImportPart, MakeQualityReport, MakeConsensus, CutClip,
)  # fmt: skip
"""Messages of work that has a record, or can be repeated."""


def anew(name: str, body: str, letter: str) -> tuple[str, str]:
    """The queue and the body with which the work of a dead letter begins anew; of other messages their own."""
    try:
        message = decode(body, _KINDS)
    except Unreadable:
        return name, body
    queue, first = _reopened(message)
    return queue, encode(msgspec.structs.replace(first, generation=letter))


def _reopened(message: Message) -> tuple[str, Message]:  # one case for each kind of work
    """The first message of the work that a message is of, once its record is open again, and its queue."""
    match message:
        case PlanTranscode() | EncodePiece() | AssembleTranscode():
            transcodes_service.reopen(message.job)
            return "transcode", PlanTranscode(job=message.job)
        case PlanExport() | WritePart() | JoinExport() | DrawPictures():
            kind: WorkKind = "export" if isinstance(message, DrawPictures) else message.kind
            exports_steps.reopen(message.uid, kind)
            project = 0 if isinstance(message, JoinExport) else message.project
            return "dataset", PlanExport(uid=message.uid, kind=kind, project=project)
        case CheckImport() | RunImportPart():
            imports_steps.reopen(message.uid)
            return "dataset", CheckImport(uid=message.uid, project=message.project)
        case MakeQualityReport() | MakeConsensus():
            service = quality_service if isinstance(message, MakeQualityReport) else consensus_service
            service.reopen(message.uid)
            return "dataset", message
        case CutClip():
            clips_service.reopen(message.file)
            return "clip", message
        case _:
            return "transcode", message
