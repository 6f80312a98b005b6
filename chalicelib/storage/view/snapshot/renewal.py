"""A view rebuilt from the documents of one of another shape, page after page.

    renewal = Renewal(old)
    renewal.go_on(end)      the new view, or None where the time ended first

The next call goes on after the last row that was made.
"""

from __future__ import annotations

import math
import time

from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import STRUCT_OF
from chalicelib.storage.view.snapshot import files
from chalicelib.storage.view.view import View

ROWS_PER_STEP = 2_000
"""Rows between two checks of the time; a fifth of a second of processor time."""


class Renewal:
    """Rebuilds a view. Used by one thread at a time."""

    def __init__(self, old: View) -> None:
        """Begin.

        Args:
            old: the view of another shape, which is closed when the new one is complete.
        """
        self.old = old
        self.rows = 0
        """The number of rows made."""
        self._view: View | None = None
        self._kinds: list[Kind] = list(STRUCT_OF)
        """The kinds that are left; of the first, the rows up to `_last` are made."""
        self._last = 0

    @property
    def is_broken(self) -> bool:
        """Whether it has to begin again."""
        return self.old.is_broken or (self._view is not None and self._view.is_broken)

    def go_on(self, end: float = math.inf) -> View | None:
        """Copy at least one page of rows, until all are copied or the deadline `end` (`time.monotonic()`).

        Returns:
            The view of the same commit, None where rows are left.

        Raises:
            Unavailable: a part of the snapshot cannot be read now; the next call goes on.
        """
        if self._view is None:
            self._view = files.view_of_definitions(self.old.definitions)
        while self._kinds:
            if not self._make_rows(self._view, self._kinds[0], end):
                return None
            self._kinds.pop(0)
            self._last = 0
        self._view.lost = self.old.lost
        self._view.set_seq(self.old.seq)
        self.old.close()
        return self._view

    def _make_rows(self, view: View, kind: Kind, end: float) -> bool:
        """Make the rows of a kind; returns whether all are made."""
        with self.old.store.translate_errors():
            for number, changes in files.entities(self.old, kind, self._last, ROWS_PER_STEP):
                view.apply_entities(changes)
                self._last = number
                self.rows += len(changes)
                if time.monotonic() > end:
                    return False
        return True


def renew(old: View) -> View:
    """A view rebuilt from one of another shape, which is closed."""
    view = Renewal(old).go_on()
    assert view is not None  # noqa: S101 without an end, it is complete
    return view
