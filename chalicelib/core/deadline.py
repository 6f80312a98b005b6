"""The time limit of a request, and the interrupt of statements that still run when it ends.

    with time_limit(SECONDS):                     the dispatcher, around a request
        with interrupting(cursor.interrupt):      storage, around a statement
            cursor.execute(...)

Work outside of a request, such as a worker's, has no limit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from chalicelib.errors import Unavailable

REQUEST_SECONDS = 20.0
"""Seconds from its beginning for which a request may query. API Gateway returns 504 after 29 s."""
_AGAIN_SECONDS = 0.25
"""An interrupt between two steps of a statement has no effect, so it is repeated."""
_END: ContextVar[float | None] = ContextVar("end", default=None)


def time_ended() -> Unavailable:
    """The error for a query that was interrupted."""
    return Unavailable(
        f"The query did not finish within {REQUEST_SECONDS:.0f} s and was stopped. Make it smaller: ask for fewer "
        "terms, shorter lists or simpler patterns, narrow it by `type`, `section` or `media_id`, or take pages "
        "by `start` and `stop`."
    )


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Inside, `remaining` counts down from this many seconds."""
    token = _END.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _END.reset(token)


def remaining() -> float | None:
    """Seconds until the limit, negative after it; None outside of a request."""
    end = _END.get()
    return None if end is None else end - time.monotonic()


@contextmanager
def interrupting(interrupt: Callable[[], object]) -> Iterator[None]:
    """Inside, `interrupt` is called from another thread once the limit is reached, until the block is left.

    Raises:
        Unavailable: the limit was reached before the block began.
    """
    seconds = remaining()
    if seconds is None:
        yield
        return
    if seconds <= 0:
        raise time_ended()
    finished, lock = threading.Event(), threading.Lock()

    def watch() -> None:
        wait = seconds
        while not finished.wait(wait):
            with lock:  # never after the block: the connection may serve another request then
                if not finished.is_set():
                    interrupt()
            wait = _AGAIN_SECONDS

    threading.Thread(target=watch, name="deadline", daemon=True).start()
    try:
        yield
    finally:
        with lock:
            finished.set()
