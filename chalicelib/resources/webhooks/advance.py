"""Advance a stream: give the events after its position to a receiver, in order, and move the position behind them.

The position is saved after every few events, so that after a crash some are given again and none is left out. One
process at a time holds the lease of a stream. A failure ends the run and sets the time of the next attempt.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import msgspec

from chalicelib.access.scope import Scope
from chalicelib.core.resource import now
from chalicelib.core.time import clock
from chalicelib.errors import Gone
from chalicelib.resources.events import service as events_service
from chalicelib.resources.events.events import Event
from chalicelib.resources.webhooks.schemas import Rule, Webhook
from chalicelib.storage.dynamodb.progress import streams
from chalicelib.storage.dynamodb.progress.streams import LeaseLost, Stream

Listener = TypeVar("Listener", Webhook, Rule)
LEASE_SECONDS = 60.0
RUN_SECONDS = 45.0
"""How long one message advances a stream; then the next message goes on, so that no stream holds up the others."""
MARGIN = 25.0
"""Seconds of lease that must be left when an attempt begins: more than the longest attempt takes."""
PAGE = 100
SAVE_EVERY = 20
SAVE_SECONDS = 2.0
"""The position is saved after so many events, or after so many seconds."""
DELAYS = (5, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
"""Seconds before the second and each further attempt; together they are more than `PATIENCE`."""
JITTER = 0.2
"""The part by which a delay may be longer."""
PATIENCE = 3 * 24 * 3600
"""Seconds of failures after which a receiver is disabled."""
MAX_RETRY_SECONDS = 86_400.0


@dataclass(frozen=True, kw_only=True)
class NotAccepted:
    """An event was not accepted. `wait` is the least number of seconds that the receiver wants."""

    wait: float = 0.0
    error: str = ""
    """Why, for receivers that show it."""


@dataclass(frozen=True, kw_only=True)
class Disable:
    """The receiver must get no more events; why."""

    reason: str
    details: str = ""
    """What the reason does not say, such as the rule that a query breaks."""

    def apply(self, record: Listener) -> Listener | None:
        """A webhook or rule, disabled for this reason; None if it is not active."""
        if not record.active:
            return None
        why: Any = {"disabled_reason": self.reason, "disabled_details": self.details or None}
        return msgspec.structs.replace(record, active=False, disabled_at=now(), **why)


Result = NotAccepted | Disable | None


class Receiver(Protocol):
    """The receiver of events."""

    scope: Scope
    kinds: frozenset[str]
    """The kinds and types of events that it may take (`events.KINDS`); empty for all."""
    at_once: int
    """The most events of one call."""

    def deliver(self, given: Sequence[Event], stream: Stream) -> Result:
        """Give some events; None where all were accepted."""

    def skip(self, expired: Gone, stream: Stream) -> Result:
        """Report that events after the position have expired."""

    def note_failure(self, failed: NotAccepted, stream: Stream) -> None:
        """Note a failure, and the time of the next attempt, which the stream has."""

    def flush(self) -> None:
        """Store what `note_failure` noted."""

    def disable(self, ended: Disable, stream: Stream) -> None:
        """Disable the receiver, and notify its owner."""


Open = Callable[[Stream], Receiver | None]


def delay(attempts: int) -> float:
    """Seconds until the next attempt after so many failed ones, with jitter."""
    return DELAYS[min(attempts, len(DELAYS)) - 1] * (1 + JITTER * random.random())  # noqa: S311 no secret


def advance(word: str, project: int, reader: int, open_receiver: Open, seconds: float) -> float | None:
    """Advance a stream for some seconds.

    Returns:
        None where nothing is left to do for now, else the seconds after which to go on.
    """
    stream = streams.lease(word, project, reader, LEASE_SECONDS)
    if stream is None:
        return None
    try:
        receiver = open_receiver(stream)
        if receiver is None:
            streams.release(stream)
            return None
        return _Run(stream, receiver, time.monotonic() + min(seconds, RUN_SECONDS)).run()
    except LeaseLost:
        return None
    except Exception:
        with contextlib.suppress(Exception):
            streams.release(stream)
        raise


@dataclass(frozen=True)
class _End:
    """The end of a run; `after` as `advance` returns it."""

    after: float | None


class _Run:
    def __init__(self, stream: Stream, receiver: Receiver, end: float) -> None:
        self._stream, self._receiver, self._end = stream, receiver, end
        self._unsaved, self._saved_at = 0, time.monotonic()
        self._is_done = False

    def run(self) -> float | None:
        """Give pages until nothing is left, the time is over or an event is refused; as `advance` returns."""
        while True:
            try:
                page = self._read()
            except Gone as expired:
                result = self._receiver.skip(expired, self._stream)
                if result is not None:
                    return self._end_with(result).after
                self._move(events_service.last(self._stream.project), 1)
                continue
            ended = self._deliver(page)
            if ended is not None:
                return ended.after
            if self._is_done and self._finish():
                return None

    def _read(self) -> events_service.Page:
        receiver = self._receiver
        return events_service.read(
            self._stream.project, after=self._stream.position, limit=PAGE, kinds=receiver.kinds, scope=receiver.scope
        )

    def _deliver(self, page: events_service.Page) -> _End | None:
        """Give the events of a page; None where the run goes on after it, or from a position that others changed."""
        self._is_done = False
        for start in range(0, len(page.events), self._receiver.at_once):
            given = page.events[start : start + self._receiver.at_once]
            if self._stream.lease_until - clock.seconds() < MARGIN and self._save():
                break
            result = self._receiver.deliver(given, self._stream)
            if result is not None:
                return self._end_with(result)
            is_last = start + self._receiver.at_once >= len(page.events)
            self._move(page.next if is_last else given[-1].position, len(given))
            if self._is_due() and self._save():
                break
            if time.monotonic() > self._end:
                return self._end_with(None)
        else:
            self._stream.position = page.next
            self._is_done = not page.behind
            is_late = page.behind > 0 and time.monotonic() > self._end
            return self._end_with(None) if is_late else None
        return self._end_with(None, wake=False) if self._stream.is_off else None

    def _move(self, position: str, count: int) -> None:
        stream = self._stream
        stream.position = position
        stream.attempts, stream.failing_since, stream.next_at = 0, None, 0.0
        self._unsaved += count

    def _is_due(self) -> bool:
        return self._unsaved >= SAVE_EVERY or time.monotonic() - self._saved_at > SAVE_SECONDS

    def _save(self) -> bool:
        """Save, and hold the lease for longer; returns whether the position may have been changed by others."""
        self._receiver.flush()
        disturbed = streams.extend_lease(self._stream, LEASE_SECONDS)
        self._unsaved, self._saved_at = 0, time.monotonic()
        return disturbed

    def _finish(self) -> bool:
        self._receiver.flush()
        return streams.release(self._stream) or self._stream.is_off

    def _end_with(self, result: Result, *, wake: bool = True) -> _End:
        """Store how the run ended, and give the stream back."""
        stream, receiver = self._stream, self._receiver
        if isinstance(result, NotAccepted):
            moment = clock.seconds()
            stream.attempts += 1
            stream.failing_since = stream.failing_since or moment
            if moment - stream.failing_since >= PATIENCE:
                result = Disable(reason="failing")
            else:
                wait = max(delay(stream.attempts), min(result.wait, MAX_RETRY_SECONDS))
                stream.next_at = moment + wait
        if isinstance(result, Disable):
            receiver.disable(result, stream)
            stream.is_off = True
            wake = False
        if isinstance(result, NotAccepted):
            receiver.note_failure(result, stream)
        receiver.flush()
        woken = not streams.release(stream)
        if woken:
            stream.is_off = stream.is_off or isinstance(result, Disable)
            streams.release(stream)
        return _End(max(0.0, stream.next_at - clock.seconds()) if wake else None)
