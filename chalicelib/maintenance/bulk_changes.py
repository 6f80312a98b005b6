"""Continuation of bulk changes of all slices."""

from __future__ import annotations

from chalicelib.resources.annotations import bulk as annotations_bulk
from chalicelib.resources.bulk import service as bulk_service
from chalicelib.resources.bulk.messages import FinishBulkChange
from chalicelib.resources.bulk.service import Handlers
from chalicelib.resources.leaves import bulk as leaves_bulk
from chalicelib.resources.media import bulk as media_bulk
from chalicelib.resources.restores import bulk as restores_bulk
from chalicelib.resources.rewrites import bulk as rewrites_bulk
from chalicelib.resources.sections import bulk as sections_bulk

HANDLERS: Handlers = {
    **annotations_bulk.HANDLERS,
    **leaves_bulk.HANDLERS,
    **media_bulk.HANDLERS,
    **restores_bulk.HANDLERS,
    **rewrites_bulk.HANDLERS,
    **sections_bulk.HANDLERS,
}
"""The verbs of all slices: an intent may have any."""


def finish(message: FinishBulkChange, seconds: float) -> None:
    """Continue a bulk change to its end, or for at most this many seconds."""
    bulk_service.finish(message, seconds, HANDLERS)
