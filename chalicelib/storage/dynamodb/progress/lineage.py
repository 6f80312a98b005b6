"""How many launches by trigger rules, one after another, led to a media: a chain that never ends is found by it.

    counters  (launched#7, @)   n: launches; media that no such launch led to have no row

A row is written before its media: a crash in between leaves a row of a media that never was, which expires.
"""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.core.time import clock
from chalicelib.storage.dynamodb.tables import CounterRow
from chalicelib.storage.dynamodb.transactions import Transaction

LIFETIME = 90 * 24 * 3600
"""Seconds; as long as the longest job has a token."""
_ROWS_PER_READ = 50


def record_launches(media: Iterable[int], launches: int) -> None:
    """Store for new media how many launches led to them; nothing for 0."""
    numbers, expires = list(media) if launches else [], int(clock.seconds()) + LIFETIME
    for start in range(0, len(numbers), _ROWS_PER_READ):
        change = Transaction()
        for number in numbers[start : start + _ROWS_PER_READ]:
            change.put(CounterRow(f"launched#{number}", "@", n=launches, expires=expires))
        change.run()


def launches_of(media: int) -> int:
    """How many launches led to a media."""
    return CounterRow.value(f"launched#{media}")
