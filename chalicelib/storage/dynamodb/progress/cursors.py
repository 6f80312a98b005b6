"""Cursors of scheduled functions: the last item handled before the invocation's time ended."""

from __future__ import annotations

from chalicelib.storage.dynamodb.tables import CounterRow


def position(name: str) -> int:
    """The last item handled; 0 at first."""
    return CounterRow.value(f"turn#{name}")


def reach(name: str, number: int) -> None:
    """Store the last item handled."""
    CounterRow(f"turn#{name}", "@", n=number).save()
