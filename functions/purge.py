"""The purge queue's function: removes the remains of deleted entities, and continues unfinished bulk changes."""

from __future__ import annotations

from chalicelib.maintenance import bulk_changes
from chalicelib.resources.bulk.messages import FinishBulkChange
from chalicelib.resources.projects import purging
from chalicelib.resources.projects.messages import PurgeProject
from chalicelib.resources.types import retirement
from chalicelib.resources.types.messages import BuryRetired
from functions.worker import Delivery, worker

SPARE = 60.0
"""Seconds kept for the last step and for sending the continuation."""


def _purge(message: PurgeProject, delivery: Delivery) -> None:
    purging.purge(message, delivery.seconds_left() - SPARE)


def _finish(message: FinishBulkChange, delivery: Delivery) -> None:
    bulk_changes.finish(message, delivery.seconds_left() - SPARE)


def _bury(message: BuryRetired, delivery: Delivery) -> None:
    retirement.bury(message, delivery.seconds_left() - SPARE)


handler = worker({PurgeProject: _purge, FinishBulkChange: _finish, BuryRetired: _bury})
