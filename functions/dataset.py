"""The dataset queue's function: works off exports, versions of datasets and imports, part by part."""

from __future__ import annotations

from chalicelib.queues import Message
from chalicelib.resources.consensus import service as consensus_service
from chalicelib.resources.consensus.messages import MakeConsensus
from chalicelib.resources.exports import joining
from chalicelib.resources.exports import steps as exports_steps
from chalicelib.resources.exports.messages import JoinExport, PlanExport, RemoveExport, WritePart
from chalicelib.resources.honeypots import service as honeypots_service
from chalicelib.resources.imports import service as imports_service
from chalicelib.resources.imports import steps as imports_steps
from chalicelib.resources.imports.messages import CheckImport, RemoveImport, RunImportPart
from chalicelib.resources.inbox import service as inbox_service
from chalicelib.resources.notifications.messages import MailNotifications
from chalicelib.resources.quality import service as quality_service
from chalicelib.resources.quality.messages import MakeQualityReport
from chalicelib.resources.tasks.messages import ScoreTask
from functions.worker import Delivery, worker

_RESERVE = 180
"""Seconds of an invocation in which no further media is compared: to end a report, or to keep what was found."""


def _plan(message: PlanExport, delivery: Delivery) -> None:
    """The message is sent before its record is stored, so that no crash leaves objects without record."""
    if message.project and not exports_steps.exists(message):
        delivery.wait_for(f"there is no {message.kind} {message.uid} yet")
    exports_steps.plan(message)


def _check(message: CheckImport, delivery: Delivery) -> None:
    """The message is sent before its record is stored, so that no crash can lose it."""
    with delivery.waiting():
        imports_steps.check(message.uid)


def _run_part(message: RunImportPart, _: Delivery) -> None:
    imports_steps.run_part(message.uid, message.part)
    imports_service.remove_leftovers(message.project, message.uid)


def _make_report(message: MakeQualityReport, delivery: Delivery) -> None:
    """The first round is sent before its record is stored, so that no crash can lose it."""
    with delivery.waiting():
        quality_service.make(message.uid, message.round, lambda: delivery.seconds_left() > _RESERVE)


def _run_consensus(message: MakeConsensus, delivery: Delivery) -> None:
    """The first round is sent before its record is stored, so that no crash can lose it."""
    with delivery.waiting():
        consensus_service.run_round(message.uid, message.round)


def _give_up(message: Message, reason: Exception) -> None:
    if isinstance(message, CheckImport | RunImportPart):
        imports_steps.fail(message.uid, reason)
        imports_service.remove_leftovers(message.project, message.uid)  # it may have been cancelled meanwhile
    elif isinstance(message, MakeQualityReport):
        quality_service.fail(message.uid, reason)
    elif isinstance(message, MakeConsensus):
        consensus_service.fail(message.uid, reason)
    elif isinstance(message, PlanExport | WritePart | JoinExport):
        exports_steps.fail(message.uid, message.kind, reason)


handler = worker(
    {
        PlanExport: _plan,
        WritePart: lambda message, _: exports_steps.write(message),
        JoinExport: lambda message, delivery: joining.join(message, delivery.seconds_left),
        RemoveExport: lambda message, _: exports_steps.remove_leftovers(message),
        CheckImport: _check,
        RunImportPart: _run_part,
        MakeQualityReport: _make_report,
        MakeConsensus: _run_consensus,
        ScoreTask: lambda message, _: honeypots_service.score(message),
        MailNotifications: lambda message, _: inbox_service.mail(message.user, message.way),
        RemoveImport: lambda message, _: imports_service.remove_leftovers(message.project, message.uid),
    },
    on_poison=_give_up,
)
