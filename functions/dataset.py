"""The dataset queue's function: works off exports and versions of datasets, part by part."""

from __future__ import annotations

from chalicelib.resources.exports import joining
from chalicelib.resources.exports import steps as exports_steps
from chalicelib.resources.exports.messages import JoinExport, PlanExport, WritePart
from functions.worker import Delivery, worker


def _plan(message: PlanExport, _: Delivery) -> None:
    exports_steps.plan(message)


def _write(message: WritePart, _: Delivery) -> None:
    exports_steps.write(message)


def _join(message: JoinExport, delivery: Delivery) -> None:
    joining.join(message, delivery.seconds_left)


def _give_up(message: PlanExport | WritePart | JoinExport, reason: Exception) -> None:
    exports_steps.fail(message.uid, message.what, reason)


handler = worker({PlanExport: _plan, WritePart: _write, JoinExport: _join}, on_poison=_give_up)
