"""The time limit of a request, and the interrupt of statements that still run when it ends.

    with time_limit(SECONDS):                     the dispatcher, around a request
        with interrupting(cursor.interrupt):      storage, around a statement
            cursor.execute(...)

Work outside of a request, such as a worker's, has no limit.
"""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

from chalicelib.core.context import holding
from chalicelib.errors import Unavailable

log = logging.getLogger("limn.deadline")
REQUEST_SECONDS = 20.0
"""Seconds from its beginning for which a request may query. API Gateway returns 504 after 29 s."""
_LENIENT_SECONDS, _ANSWER_SECONDS = 5.0, 7.0
"""Seconds after the limit until which what a change needs is checked, and until which a large change is carried out."""
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


def time_limit(seconds: float) -> AbstractContextManager[None]:
    """Inside, `remaining` counts down from this many seconds from now."""
    return holding(_END, time.monotonic() + seconds)


def remaining() -> float | None:
    """Seconds until the limit, negative after it; None outside of a request."""
    end = _END.get()
    return None if end is None else end - time.monotonic()


def check_query() -> None:
    """Raise Unavailable where the time for queries is over: for loops over what was read, which nothing interrupts."""
    if (left := remaining()) is not None and left < 0:
        raise time_ended()


def check() -> None:
    """Raise Unavailable where the time for the checks before a change is over."""
    if (left := remaining()) is not None and left < -_LENIENT_SECONDS:
        raise Unavailable(
            f"The request was not checked within {REQUEST_SECONDS + _LENIENT_SECONDS:.0f} s; nothing was changed.",
            "Send it in parts.",
        )


def end() -> float | None:
    """When a request has to answer, as of `time.monotonic`, though its work goes on; None outside of a request."""
    moment = _END.get()
    return None if moment is None else moment + _ANSWER_SECONDS


class _Block:
    """A block of `interrupting`: when its limit is reached, and what to call then."""

    def __init__(self, end: float, interrupt: Callable[[], object]) -> None:
        self.end = end
        self._interrupt = interrupt
        self._lock = threading.Lock()
        self._is_open = True

    def interrupt(self) -> None:
        """Interrupt it, unless it was left: the connection may serve another request then."""
        with self._lock:
            if self._is_open:
                self._interrupt()

    def close(self) -> None:
        """Let no interrupt begin any more; waits for one that began."""
        with self._lock:
            self._is_open = False


class _Watch:
    """The thread of the process that interrupts blocks whose limit is reached. It starts with the first block."""

    def __init__(self) -> None:
        self._blocks: set[_Block] = set()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._wakes = math.inf

    def add(self, block: _Block) -> None:
        """Watch a block."""
        with self._changed:
            self._blocks.add(block)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="deadline", daemon=True)
                self._thread.start()
            elif block.end < self._wakes:
                self._changed.notify()

    def remove(self, block: _Block) -> None:
        """Watch a block no longer. The thread sleeps on: blocks come and go more often than limits are reached."""
        with self._changed:
            self._blocks.discard(block)

    def _run(self) -> None:
        while True:
            self._interrupt_due()
            with self._changed:
                self._wakes = min((block.end for block in self._blocks), default=math.inf)
                if self._wakes > (now := time.monotonic()):
                    self._changed.wait(None if self._wakes == math.inf else self._wakes - now)

    def _interrupt_due(self) -> None:
        """Interrupt each block whose limit is reached, and set when it is interrupted again."""
        now = time.monotonic()
        with self._changed:
            due = [block for block in self._blocks if block.end <= now]
        for block in due:
            block.end = now + _AGAIN_SECONDS
            try:
                block.interrupt()
            except Exception:
                log.exception("a statement was not interrupted")


_watch = _Watch()


def _watch_anew() -> None:
    """After a fork the child has no thread, and maybe the parent's locks in their locked state."""
    global _watch  # noqa: PLW0603
    _watch = _Watch()


os.register_at_fork(after_in_child=_watch_anew)


@contextmanager
def interrupting(interrupt: Callable[[], object]) -> Iterator[None]:
    """Inside, `interrupt` is called from another thread once the limit is reached, until the block is left.

    Raises:
        Unavailable: the limit was reached before the block began.
    """
    end = _END.get()
    if end is None:
        yield
        return
    if end <= time.monotonic():
        raise time_ended()
    block, watch = _Block(end, interrupt), _watch
    watch.add(block)
    try:
        yield
    finally:
        watch.remove(block)
        block.close()
