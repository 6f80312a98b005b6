"""Where a function that takes its turns over many things had got to, when its time was over."""

from __future__ import annotations

from chalicelib.storage.dynamodb.tables import CounterRow


def reached(name: str) -> int:
    """What was done last; 0 at first."""
    try:
        return int(CounterRow.get(f"turn#{name}", "@", consistent_read=True).n or 0)
    except CounterRow.DoesNotExist:
        return 0


def reach(name: str, number: int) -> None:
    """Note what was done."""
    CounterRow(f"turn#{name}", "@", n=number).save()
