"""Ids: integers from one counter row per kind, reserved in blocks, so that 500 items cost one call."""

from __future__ import annotations

from chalicelib.storage.dynamodb.tables import CounterRow


def reserve(kind: str, count: int = 1) -> range:
    """Reserve the next `count` ids of a kind. They are never reserved again, used or not."""
    row = CounterRow(f"ids|{kind}", "@")
    row.update(actions=[CounterRow.n.add(count)])
    last = int(row.n)
    return range(last - count + 1, last + 1)


def last(kind: str) -> int:
    """The highest id reserved; 0 before the first."""
    try:
        return int(CounterRow.get(f"ids|{kind}", "@", consistent_read=True).n)
    except CounterRow.DoesNotExist:
        return 0
