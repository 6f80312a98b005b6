"""`python -m tests.bench.scale`: where the design bends, by simulation; the tables of docs/scale.md.

Two places wait for one another: writers of one project for the numbers of its log, and pieces of video for a function
that is free. Times are inputs, of the order that AWS shows within a region.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

import tests.bench.offline  # noqa: F401 before anything reads the settings
from chalicelib.core.time.retry import LOG, Retry
from chalicelib.storage.log.log import HOLE_SECONDS, HOLES

READ_MS, UPDATE_MS, WRITE_MS = 4.0, 5.0, 12.0
"""A consistent read, an update of one row, and a transaction."""
SECONDS = 60.0
EVERY = 3.0
"""Seconds between two clicks of one person."""
PARTITION = 1000.0
"""Write units that a partition takes in a second; it saves up to as many, and refuses what exceeds them."""
COMMIT_UNITS, TICKET_UNITS = 2.0, 1.0
"""Of the commit of a box of 8 attributes (under 1 KB) in a transaction, done or not; of an update of the counter."""
DYING = 0.001
"""The share of writers that die after they took their ticket."""
SDK_PAUSES = (50, 100, 200, 400, 800)
"""Milliseconds of botocore's pauses after a throttled call, each by a random factor."""
REQUEST_MS = 29_000
"""After which API Gateway gives up."""

Steps = Generator[float, None, bool]


class Partition:
    """The write capacity of one partition: a bucket of units."""

    def __init__(self) -> None:
        self._units, self._at = PARTITION, 0.0

    def take(self, at: float, units: float) -> bool:
        """Whether the partition takes a write at an instant, in ms."""
        self._units = min(PARTITION, self._units + (at - self._at) * PARTITION / 1000)
        self._at = at
        if self._units < units:
            return False
        self._units -= units
        return True


@dataclass
class Log:
    """One project's log in DynamoDB, with what its writers went through."""

    source: random.Random
    now: float = 0.0
    last: int = 0
    tickets: int = 0
    committing: dict[int, int] = field(default_factory=dict)
    """By number: how many transactions with it are under way."""
    holes: set[int] = field(default_factory=set)
    """Tickets that have no commit yet."""
    rows: Partition = field(default_factory=Partition)
    counter: Partition = field(default_factory=Partition)
    attempts: int = 0
    done: int = 0
    refused: int = 0
    took: list[float] = field(default_factory=list)
    read: list[float] = field(default_factory=list)

    def about(self, middle: float) -> float:
        """A latency: mostly near the middle, now and then three times that."""
        return _about(self.source, middle)

    def throttled(self, partition: Partition, units: float) -> Generator[float, None, bool]:
        """Wait until the partition takes a write, as botocore does. Ends with False where it never did."""
        for pause in (*SDK_PAUSES, None):
            if partition.take(self.now, units):
                return True
            if pause is not None:
                yield self.source.random() * pause
        return False


def races(log: Log, hints: dict[int, int], container: int) -> Steps:
    """A write that takes the number after the last one that its container knows of, until it wins."""
    for attempt in range(LOG.most):
        if attempt or container not in hints:
            yield log.about(READ_MS)
            hints[container] = log.last
        number = hints[container] + 1
        log.attempts += 1
        if not (yield from log.throttled(log.rows, COMMIT_UNITS)):
            return False
        is_free = log.last < number and not log.committing.get(number)
        log.committing[number] = log.committing.get(number, 0) + 1
        yield log.about(WRITE_MS)
        log.committing[number] -= 1
        if is_free and log.last < number:
            log.last = hints[container] = number
            return True
        yield _pause(log.source, attempt + 1)
    return False


def tickets(log: Log, _hints: dict[int, int], _container: int) -> Steps:
    """A write that takes a ticket and then commits under it; where a reader has filled the number, once more."""
    for _ in range(LOG.most):
        if not (yield from log.throttled(log.counter, TICKET_UNITS)):
            return False
        yield log.about(UPDATE_MS)
        log.tickets += 1
        number = log.tickets
        log.holes.add(number)
        if log.source.random() < DYING:
            return False
        log.attempts += 1
        if not (yield from log.throttled(log.rows, COMMIT_UNITS)):
            return False
        yield log.about(WRITE_MS)
        if number in log.holes:
            log.holes.remove(number)
            log.last = max(log.last, number)
            return True
    return False


def look(log: Log) -> Steps:
    """A list after a write: it reads the log, waits for the holes below the last commit, and fills them at last."""
    began = log.now
    yield log.about(READ_MS)
    last, attempt, end = log.last, 0, log.now + HOLE_SECONDS * 1000
    while holes := {number for number in log.holes if number < last}:
        if log.now >= end:
            log.holes -= holes
        attempt += 1
        yield _pause(log.source, attempt, HOLES) + log.about(READ_MS)
    log.read.append(log.now - began)
    return True


def people(count: int, write: Callable[[Log, dict[int, int], int], Steps], *, seed: int = 1) -> Log:
    """A minute of so many people, each of whom clicks every `EVERY` seconds and waits for the answer.

    A request runs in the container that was used last, as on Lambda; a new one starts where all are busy.
    """
    source = random.Random(seed)
    log, hints, free, started = Log(source), {}, [], 0
    events: list[tuple[float, int, int, int, float, Steps | None]] = []
    order = iter(range(1 << 60))
    for person in range(count):
        heapq.heappush(events, (source.random() * EVERY * 1000, next(order), person, 0, 0.0, None))
    while events and events[0][0] <= SECONDS * 1000:
        log.now, _, person, container, began, steps = heapq.heappop(events)
        if steps is None:
            container = free.pop() if free else (started := started + 1)
            began, steps = log.now, write(log, hints, container)
        try:
            wait = next(steps)
        except StopIteration as end:
            if container == 0:
                continue  # of a list
            log.took.append(log.now - began)
            is_done = end.value and log.now - began < REQUEST_MS
            log.done, log.refused = log.done + bool(is_done), log.refused + (not is_done)
            free.append(container)
            heapq.heappush(events, (log.now, next(order), person, 0, log.now, look(log)))
            heapq.heappush(
                events, (log.now + source.uniform(0.5, 1.5) * EVERY * 1000, next(order), person, 0, 0.0, None)
            )
        else:
            heapq.heappush(events, (log.now + wait, next(order), person, container, began, steps))
    return log


def figures(log: Log) -> dict[str, float]:
    """Commits a second, attempts for each, the share of refusals, and the median and 99th percentile in ms."""
    took, read = sorted(log.took), sorted(log.read)
    return {
        "commits/s": log.done / SECONDS,
        "attempts": log.attempts / max(1, log.done),
        "refused": log.refused / max(1, log.refused + log.done),
        "p50": took[len(took) // 2],
        "p99": took[len(took) * 99 // 100],
        "list": read[len(read) * 99 // 100],
    }


def minutes(hours: float, at_once: int, *, encode: float = 60.0, seed: int = 1) -> float:
    """Minutes until so many hours of video, all there at once, are transcoded by so many functions."""
    source = random.Random(seed)
    free = [0.0] * at_once
    heapq.heapify(free)
    end = 0.0
    for _ in range(round(hours * 60)):
        begin = heapq.heappop(free)
        done = begin + encode * source.uniform(0.7, 1.5) + 2.0
        heapq.heappush(free, done)
        end = max(end, done)
    return end / 60


def _about(source: random.Random, middle: float) -> float:
    """A latency: mostly near the middle, now and then three times that."""
    return middle * source.choice((0.7, 0.9, 1.0, 1.1, 1.3, 3.0))


def _pause(source: random.Random, attempt: int, policy: Retry = LOG) -> float:
    """As `Retry.pause`, in ms."""
    return min(policy.longest, policy.first * 2 ** min(attempt - 1, 20)) * source.random() * 1000


def main() -> None:
    """Print both tables."""
    print("| people in one project | protocol | commits/s | attempts each | refused | p50 | p99 | p99 of a list |")
    print("|---|---|---|---|---|---|---|---|")
    for count in (10, 100, 300, 1000, 1500):
        for write in (races, tickets):
            found = figures(people(count, write))
            print(
                f"| {count:,} | {write.__name__} | {found['commits/s']:.0f} | {found['attempts']:.1f} "
                f"| {found['refused']:.1%} | {found['p50']:.0f} ms | {found['p99']:,.0f} ms | {found['list']:,.0f} ms |"
            )
    print("\n| hours of video at once | 10 functions | 50 | 200 | 1,000 |\n|---|---|---|---|---|")
    for hours in (1, 10, 100, 1000):
        print(f"| {hours:,} | {' | '.join(f'{minutes(hours, count):,.0f} min' for count in (10, 50, 200, 1000))} |")


if __name__ == "__main__":
    main()
