"""The dataset queue's function: works off exports, versions of datasets and imports, part by part."""

from __future__ import annotations

from chalicelib.errors import NotFound
from chalicelib.resources.exports import joining
from chalicelib.resources.exports import steps as exports_steps
from chalicelib.resources.exports.messages import JoinExport, PlanExport, RemoveExport, WritePart
from chalicelib.resources.imports import service as imports_service
from chalicelib.resources.imports import steps as imports_steps
from chalicelib.resources.imports.messages import CheckImport, RemoveImport, RunImportPart
from functions.worker import Delivery, Retry, worker

PAUSES = (1.0, 3.0, 8.0, 28.0)
"""Seconds to wait for a record whose message was sent before: longer than a request."""


def _plan(message: PlanExport, delivery: Delivery) -> None:
    """The message is sent before its record is stored, so that no crash leaves objects without record."""
    if message.project and not exports_steps.exists(message) and delivery.count <= len(PAUSES):
        raise Retry(f"there is no {message.what} {message.uid} yet", after=PAUSES[delivery.count - 1])
    exports_steps.plan(message)


def _write(message: WritePart, _: Delivery) -> None:
    exports_steps.write(message)


def _remove(message: RemoveExport, _: Delivery) -> None:
    exports_steps.remove_leftovers(message)


def _join(message: JoinExport, delivery: Delivery) -> None:
    joining.join(message, delivery.seconds_left)


def _check(message: CheckImport, delivery: Delivery) -> None:
    """The message is sent before its record is stored, so that no crash can lose it."""
    try:
        imports_steps.check(message.uid)
    except NotFound as missing:
        if delivery.count > len(PAUSES):
            raise
        raise Retry(str(missing), after=PAUSES[delivery.count - 1]) from missing


def _run_part(message: RunImportPart, _: Delivery) -> None:
    imports_steps.run_part(message.uid, message.part)
    imports_service.remove_leftovers(message.project, message.uid)


def _remove_import(message: RemoveImport, _: Delivery) -> None:
    imports_service.remove_leftovers(message.project, message.uid)


def _give_up(
    message: PlanExport | WritePart | JoinExport | RemoveExport | CheckImport | RunImportPart | RemoveImport,
    reason: Exception,
) -> None:
    if isinstance(message, CheckImport | RunImportPart):
        imports_steps.fail(message.uid, reason)
        imports_service.remove_leftovers(message.project, message.uid)  # it may have been cancelled meanwhile
    elif not isinstance(message, RemoveExport | RemoveImport):
        exports_steps.fail(message.uid, message.what, reason)


handler = worker(
    {
        PlanExport: _plan,
        WritePart: _write,
        JoinExport: _join,
        RemoveExport: _remove,
        CheckImport: _check,
        RunImportPart: _run_part,
        RemoveImport: _remove_import,
    },
    on_poison=_give_up,
)
