"""`python -m tests.bench.scale`: where the design bends, by simulation; the tables of docs/scale.md.

Two places wait for one another: writers of one project for the next number of its log, and pieces of video for a
function that is free. Times are inputs, of the order that AWS shows within a region.
"""

from __future__ import annotations

import heapq
import random

READ_MS, WRITE_MS = 4.0, 12.0
"""A consistent query for the last number, and the transaction that takes the next."""
SECONDS = 60.0


def commits(containers: int, *, seed: int = 1) -> tuple[float, float]:
    """Commits a second to one project by so many containers that write without a pause; the share of lost races.

    Writers in one container take turns; those of different containers find out by the condition of their put.
    """
    source = random.Random(seed)
    last, done, lost = 0, 0, 0
    # (when, step, container, the number it saw)
    events = [(source.random() * READ_MS, "read", number, 0) for number in range(containers)]
    heapq.heapify(events)
    while events:
        at, step, container, seen = heapq.heappop(events)
        if at > SECONDS * 1000:
            break
        if step == "read":
            heapq.heappush(events, (at + _about(source, WRITE_MS), "write", container, last))
        elif seen == last:
            last += 1
            done += 1
            # a writer that won knows the number it made
            heapq.heappush(events, (at + _about(source, WRITE_MS), "write", container, last))
        else:
            lost += 1
            pause = _about(source, READ_MS) + source.random() * WRITE_MS
            heapq.heappush(events, (at + pause, "read", container, 0))
    return done / SECONDS, lost / max(1, lost + done)


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


def main() -> None:
    """Print both tables."""
    print("| containers writing into one project | commits a second | lost races |\n|---|---|---|")
    for containers in (1, 2, 5, 10, 50, 200):
        rate, lost = commits(containers)
        print(f"| {containers} | {rate:.0f} | {lost:.0%} |")
    print("\n| hours of video at once | 10 functions | 50 | 200 | 1,000 |\n|---|---|---|---|---|")
    for hours in (1, 10, 100, 1000):
        print(f"| {hours:,} | {' | '.join(f'{minutes(hours, count):,.0f} min' for count in (10, 50, 200, 1000))} |")


if __name__ == "__main__":
    main()
