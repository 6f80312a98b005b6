"""The purge queue's function: removes what is left of deleted projects, and finishes bulk changes that were left."""

from __future__ import annotations

from chalicelib.messages import FinishBulkChange, PurgeProject
from chalicelib.services import bulk, purging
from functions.worker import Delivery, worker

SPARE = 60.0
"""Seconds kept for the last step and for ordering the continuation."""


def _purge(message: PurgeProject, delivery: Delivery) -> None:
    purging.purge(message, delivery.seconds_left() - SPARE)


def _finish(message: FinishBulkChange, delivery: Delivery) -> None:
    bulk.finish(message, delivery.seconds_left() - SPARE)


handler = worker({PurgeProject: _purge, FinishBulkChange: _finish})
