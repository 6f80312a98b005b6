"""The commit that a response shows: a list's reader continues with the events after it.

with commits_read() as read:      the dispatcher, around a request
    note_commit(seq)              the view, within a query
read.least                        for the header Limn-Commit
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from chalicelib.core.time.background import holding


@dataclass
class Read:
    """The queries of one request.

    Attributes:
        least: the number of the oldest commit that one of them was answered as of; None before any.
    """

    least: int | None = None


_READ: ContextVar[Read | None] = ContextVar("read", default=None)


@contextmanager
def commits_read() -> Iterator[Read]:
    """Inside, commits are noted."""
    read = Read()
    with holding(_READ, read):
        yield read


def note_commit(seq: int) -> None:
    """Note that a query was answered as of a commit. Does nothing outside of a request."""
    if (read := _READ.get()) is not None:
        read.least = seq if read.least is None else min(seq, read.least)
