"""The clock of the service: that of the machine, which tests move.

Periods are measured by `time.monotonic`, which does not move.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

_ahead = 0.0
"""Offset of the clock from that of the machine, in seconds; 0 but in tests."""


def seconds() -> float:
    """Seconds since 1970."""
    return time.time() + _ahead


def utc_now() -> datetime:
    """The same as an instant in UTC."""
    return datetime.fromtimestamp(seconds(), UTC)


@contextmanager
def ahead_by(more: float) -> Iterator[None]:
    """Inside, the clock of this process is ahead by more seconds; for tests."""
    global _ahead  # noqa: PLW0603 one of the process, as the machine's is
    _ahead += more
    try:
        yield
    finally:
        _ahead -= more
