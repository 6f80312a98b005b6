"""Background work that shares a process with requests, and makes way for them.

    with giving_way(wait):    the local stack, around a function that a schedule calls
    make_way()                long work, between two pieces of some milliseconds

On AWS the schedules have containers of their own, and `make_way` does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_WAIT: ContextVar[Callable[[], None] | None] = ContextVar("make_way", default=None)


@contextmanager
def giving_way(wait: Callable[[], None]) -> Iterator[None]:
    """Inside, `make_way` of this thread calls `wait`, which returns when requests have gone first, or soon."""
    token = _WAIT.set(wait)
    try:
        yield
    finally:
        _WAIT.reset(token)


def make_way() -> None:
    """Let the requests of this process go first, where there are any. Hold no lock that a request needs."""
    if (wait := _WAIT.get()) is not None:
        wait()
