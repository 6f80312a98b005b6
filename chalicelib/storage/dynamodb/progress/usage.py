"""What projects used, by calendar month, in rows of the table of counters.

    usage|{project}    2026-11|requests   n      and so on; bytes are those at the last look

Requests and mails are counted in memory and added together, so that no request costs a call for it. A container that
ends takes what it has not added yet along: at most what it served since the last flush.
"""

from __future__ import annotations

import threading
import time
from collections import Counter

from chalicelib.core.usage_limits import present_month
from chalicelib.errors import Unavailable
from chalicelib.storage.dynamodb.tables import CounterRow
from chalicelib.storage.dynamodb.transactions import Transaction

FLUSH_SECONDS = 60.0
"""How long a count waits in memory."""
_lock = threading.Lock()
_waiting: Counter[tuple[int, str, str]] = Counter()
_flushed = time.monotonic()


def count(project: int, measure: str, amount: int = 1) -> None:
    """Count something of a project in memory."""
    if project:
        with _lock:
            _waiting[project, present_month(), measure] += amount


def is_due() -> bool:
    """Whether counts have waited long enough."""
    return bool(_waiting) and time.monotonic() - _flushed > FLUSH_SECONDS


def flush() -> set[int]:
    """Add the waiting counts to the rows. Returns the projects. Counts that cannot be added keep waiting."""
    global _flushed
    with _lock:
        taken, _flushed = dict(_waiting), time.monotonic()
        _waiting.clear()
    done = set()
    for (project, month, measure), amount in taken.items():
        try:
            CounterRow.add(_key(project), f"{month}|{measure}", amount)
            done.add(project)
        except Unavailable:
            with _lock:
                _waiting[project, month, measure] += amount
    return done


def count_in(change: Transaction, project: int, measure: str, amount: int) -> None:
    """Count something in the transaction that does it: exactly once."""
    change.update(CounterRow(_key(project), f"{present_month()}|{measure}"), [CounterRow.n.add(amount)])


def store(project: int, measure: str, amount: int) -> None:
    """Store how much there is of something in this month."""
    CounterRow(_key(project), f"{present_month()}|{measure}", n=amount).save()


def by_month(project: int) -> dict[str, dict[str, int]]:
    """The usage of a project by month, oldest first, and by kind."""
    found: dict[str, dict[str, int]] = {}
    for row in CounterRow.query(_key(project), consistent_read=True):
        month, _, measure = row.sk.partition("|")
        found.setdefault(month, {})[measure] = int(row.n or 0)
    return dict(sorted(found.items()))


def _key(project: int) -> str:
    return f"usage|{project}"
