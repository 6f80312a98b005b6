"""The purge queue's function: removes remains of deleted entities and erased persons, continues bulk changes."""

from __future__ import annotations

from chalicelib.maintenance import bulk_changes
from chalicelib.resources.bulk.messages import FinishBulkChange
from chalicelib.resources.erasures import work as erasures_work
from chalicelib.resources.erasures.messages import ErasePerson
from chalicelib.resources.projects import purging
from chalicelib.resources.projects.messages import PurgeProject
from chalicelib.resources.types import retirement
from chalicelib.resources.types.messages import DeleteRetired
from functions.worker import worker

SPARE = 60.0
"""Seconds kept for the last step and for sending the continuation."""

handler = worker(
    {
        PurgeProject: lambda message, delivery: purging.purge(message, delivery.seconds_left() - SPARE),
        FinishBulkChange: lambda message, delivery: bulk_changes.finish(message, delivery.seconds_left() - SPARE),
        ErasePerson: lambda message, delivery: erasures_work.erase(message, delivery.seconds_left() - SPARE),
        DeleteRetired: lambda message, delivery: retirement.delete_entities(message, delivery.seconds_left() - SPARE),
    }
)
