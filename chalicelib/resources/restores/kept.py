"""Deleted rows that can still come back."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from chalicelib.core.kinds import Kind
from chalicelib.core.resource import timestamp
from chalicelib.core.time import clock
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities
from chalicelib.storage.dynamodb.entities import Deleted, Stored

MARGIN = timedelta(minutes=1)
"""A row is not restored in its last minute: the upkeep purges it as soon as its time is over."""


def is_kept(row: Deleted) -> bool:
    """Whether a deleted row is within its retention."""
    oldest = clock.utc_now() + MARGIN - timedelta(seconds=settings().deleted_retention)
    return row.deleted > timestamp(oldest)


def restorable(kind: Kind, numbers: Iterable[int]) -> list[Stored[Any]]:
    """The deleted entities among some that are within their retention and whose definitions are there."""
    rows = entities.get_deleted(kind, numbers).values()
    return [row.stored for row in rows if is_kept(row) and not row.is_hidden]
