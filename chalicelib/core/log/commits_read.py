"""The commit that a response shows or made: a reader continues with the events after it, and can restore it.

with commits_read() as read:      the dispatcher, around a request
    note_commit(seq)              the view, within a query
    note_written(seq)             a transaction that was committed
read.shown                        for the header Limn-Commit
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from chalicelib.core.context import holding


@dataclass
class Read:
    """The queries of one request.

    Attributes:
        least: the number of the oldest commit that one of them was answered as of; None before any.
        written: the number of the last commit that the request made; None before any.
    """

    least: int | None = None
    written: int | None = None

    @property
    def shown(self) -> int | None:
        """The last commit that the request made, else the one that it read."""
        return self.least if self.written is None else self.written


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


def note_written(seq: int) -> None:
    """Note that the request made a commit. Does nothing outside of a request."""
    if (read := _READ.get()) is not None:
        read.written = max(seq, read.written or 0)
