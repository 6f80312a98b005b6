"""Waiting for what the service does behind a request."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

SECONDS = 180
"""How long a loaded machine may take for a transcode or a listing."""


def until(read: Callable[[], Found], what: str) -> Found:
    """What `read` returns, once it is true. Raises AssertionError where it stays false."""
    end = time.monotonic() + SECONDS
    while not (found := read()):
        assert time.monotonic() < end, f"{what} within {SECONDS} s"
        time.sleep(0.1)
    return found
