"""The rows that were read lately, by table and key: a read from SQLite gives up Python's lock several times.

With requests in several threads, each time another thread goes on, and the first one waits. The caller holds the lock
of the database. A row that a transaction has changed is forgotten, and not kept before the end of the transaction.
"""

from __future__ import annotations

from collections.abc import Callable

BYTES = 16 * 1024 * 1024
"""Bytes of rows that are kept; with more, all are forgotten."""
LARGEST = 64 * 1024
"""Larger rows are not kept."""
_ENTRY = 300
"""About how many bytes an entry takes beside its row."""
Key = tuple[int, bytes, bytes]


class Recent:
    """Rows by the number of their table and their key; None where there is no row."""

    def __init__(self, is_changing: Callable[[], bool]) -> None:
        """Begin empty.

        Args:
            is_changing: whether a transaction is open.
        """
        self._is_changing = is_changing
        self._rows: dict[Key, bytes | None] = {}
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
        self._size += size + _ENTRY
        if self._size > BYTES:
            self.clear()
            self._size = size + _ENTRY
        self._rows[key] = row

    def replace(self, key: Key, row: bytes) -> None:
        """Keep a new row in the place of one that was read, such as a counter's; a row that is new is not kept."""
        old = self._rows.pop(key, None)
        if old is not None:
            self._size -= len(old) + _ENTRY
            self.keep(key, row)

    def forget(self, key: Key) -> None:
        """Forget a row that is changed."""
        self._rows.pop(key, None)

    def clear(self) -> None:
        """Forget all rows."""
        self._rows.clear()
        self._size = 0
