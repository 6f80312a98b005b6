"""Long work that shares a process with requests, and makes way for them.

    with giving_way(wait):    the local stack, around a function that a schedule calls
    make_way()                long work, between two pieces of some milliseconds

    with taking_turns(wait):  the local stack, around a request that writes
    end_turn()                before each of its transactions: a bulk write has many, and lets short requests go first

On AWS the schedules and each request have containers of their own, and both functions do nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

_WAIT: ContextVar[Callable[[], None] | None] = ContextVar("make_way", default=None)
_TURN: ContextVar[Callable[[], None] | None] = ContextVar("end_turn", default=None)


@contextmanager
def holding(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Inside, a context variable has a value."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def giving_way(wait: Callable[[], None]) -> AbstractContextManager[None]:
    """Inside, `make_way` of this thread calls `wait`, which returns when requests have gone first, or soon."""
    return holding(_WAIT, wait)


def make_way() -> None:
    """Let the requests of this process go first, where there are any. Hold no lock that a request needs."""
    if (wait := _WAIT.get()) is not None:
        wait()


def taking_turns(wait: Callable[[], None]) -> AbstractContextManager[None]:
    """Inside, `end_turn` of this thread calls `wait`, which returns soon."""
    return holding(_TURN, wait)


def end_turn() -> None:
    """Let short requests of this process go first, if this one has worked for long. Hold no lock that they need."""
    if (wait := _TURN.get()) is not None:
        wait()
