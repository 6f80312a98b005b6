"""Values that a thread's work has while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def holding(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Inside, a context variable has a value."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
