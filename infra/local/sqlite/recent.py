"""The rows and pages that were read lately, in memory: a read from SQLite gives up Python's lock several times.

With requests in several threads, each time another thread goes on, and the first one waits. The caller holds the lock
of the database. A row that a transaction has changed is forgotten with all pages of its partition, and not kept before
the end of the transaction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

BYTES = 16 * 1024 * 1024
"""Bytes of rows and pages that are kept; with more, all are forgotten. What was forgotten before counts on."""
LARGEST = 64 * 1024
"""Larger rows and pages are not kept."""
_ENTRY = 300
"""About how many bytes an entry takes beside its row."""
Key = tuple[int, bytes, bytes]
Partition = tuple[int, bytes]
Page = tuple[list[tuple[bytes, bytes, bytes]], bool]
"""The first rows that a query found, each with its keys as they are stored, and whether there may be more."""


class Recent:
    """Rows by the number of their table and their key, None where there is no row; pages by partition and query."""

    def __init__(self, is_changing: Callable[[], bool], has_waiting: Callable[[], bool] = lambda: False) -> None:
        """Begin empty.

        Args:
            is_changing: whether a transaction is open.
            has_waiting: whether there are rows that a query does not see, since they could not be committed.
        """
        self._is_changing = is_changing
        self._has_waiting = has_waiting
        self._rows: dict[Key, bytes | None] = {}
        self._pages: dict[Partition, dict[Any, Page]] = {}
        self._size = 0

    def get(self, key: Key) -> tuple[bool, bytes | None]:
        """Whether a row is known, and the row."""
        row = self._rows.get(key, b"")
        return (True, row) if row != b"" else (False, None)

    def keep(self, key: Key, row: bytes | None) -> None:
        """Keep a row that was read."""
        size = 0 if row is None else len(row)
        if self._is_changing() or size > LARGEST:
            return
        self._add(size + _ENTRY)
        self._rows[key] = row

    def page(self, partition: Partition, query: Any) -> Page | None:
        """What a query of a partition found, if that is known."""
        pages = self._pages.get(partition)
        return None if pages is None else pages.get(query)

    def keep_page(self, partition: Partition, query: Any, page: Page) -> None:
        """Keep what a query of a partition found: it stays true until a row of the partition changes."""
        size = sum(len(row) + _ENTRY for _, _, row in page[0])
        if self._is_changing() or self._has_waiting() or size > LARGEST:
            return
        self._add(size + _ENTRY)
        self._pages.setdefault(partition, {})[query] = page

    def replace(self, key: Key, row: bytes) -> None:
        """Keep a new row in the place of one that was read, such as a counter's; a row that is new is not kept."""
        old = self._rows.pop(key, None)
        self._pages.pop(key[:2], None)
        if old is not None:
            self._size -= len(old) + _ENTRY
            self.keep(key, row)

    def forget(self, key: Key) -> None:
        """Forget a row that is changed, and the pages that it may be on."""
        self._rows.pop(key, None)
        self._pages.pop(key[:2], None)

    def clear(self) -> None:
        """Forget all rows and pages."""
        self._rows.clear()
        self._pages.clear()
        self._size = 0

    def _add(self, size: int) -> None:
        self._size += size
        if self._size > BYTES:
            self.clear()
            self._size = size
