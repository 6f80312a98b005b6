"""The dataset queue's function: works off exports, versions of datasets and imports, part by part."""

from __future__ import annotations

from chalicelib.errors import NotFound
from chalicelib.resources.exports import joining
from chalicelib.resources.exports import steps as exports_steps
from chalicelib.resources.exports.messages import JoinExport, PlanExport, WritePart
from chalicelib.resources.imports import steps as imports_steps
from chalicelib.resources.imports.messages import CheckImport, RunImportPart
from functions.worker import Delivery, Retry, worker

PAUSES = (1.0, 3.0, 8.0, 28.0)
"""Seconds to wait for an import whose message was sent before its record was stored."""


def _plan(message: PlanExport, _: Delivery) -> None:
    exports_steps.plan(message)


def _write(message: WritePart, _: Delivery) -> None:
    exports_steps.write(message)


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


def _give_up(message: PlanExport | WritePart | JoinExport | CheckImport | RunImportPart, reason: Exception) -> None:
    if isinstance(message, CheckImport | RunImportPart):
        imports_steps.fail(message.uid, reason)
    else:
        exports_steps.fail(message.uid, message.what, reason)


handler = worker(
    {PlanExport: _plan, WritePart: _write, JoinExport: _join, CheckImport: _check, RunImportPart: _run_part},
    on_poison=_give_up,
)
