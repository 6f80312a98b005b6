"""Recorded histories of many threads, and what must be true of them whatever the threads' luck.

atomic creates       of the things of one creation a reader sees all or none
read your writes     what was acknowledged before a read began is in it
no lost updates      each writer changes a member of its own of one thing: none undoes another's change
monotonic reads      what one reader has seen, it sees ever after
nothing invented     no read shows a value that nobody had begun to write
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Event:
    """A request: who, what, with which value, and when it began and ended."""

    who: str
    verb: str
    """`create` (value: the batch's name), `set` (value: its number) or `read` (value: what was seen)."""
    value: object
    began: float
    ended: float


@dataclass
class History:
    """What happened, appended by all threads."""

    events: list[Event] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)

    def record(self, who, verb, do, value=None):
        """Do a request and note it; what it gives is the value of a read."""
        began = time.monotonic()
        given = do()
        self.events.append(Event(who, verb, given if verb == "read" else value, began, time.monotonic()))
        return given

    def run(self, workers, seconds):
        """Each worker again and again, in a thread of its own."""
        end = time.monotonic() + seconds
        threads = [threading.Thread(target=self._loop, args=(worker, end)) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.failures:
            raise self.failures[0]

    def _loop(self, worker, end):
        try:
            while time.monotonic() < end and not self.failures:
                worker()
        except BaseException as failure:  # noqa: BLE001 the test raises it
            self.failures.append(failure)


def check(events, size):
    """What is wrong with a history; creations are of `size` things each.

    A read's value is (batch → how many of its things were seen, writer → the number of its member).
    """
    told = []
    creates = {event.value: event for event in events if event.verb == "create"}
    sets = {}
    for event in events:
        if event.verb == "set":
            sets.setdefault(event.who, []).append(event)
    reads = sorted((event for event in events if event.verb == "read"), key=lambda event: event.began)
    before = {}
    for read in reads:
        batches, numbers = read.value
        told += [f"{count} of {size} of {name}" for name, count in batches.items() if count != size]
        told += [f"{name} was seen before it was begun" for name in batches if _begun_late(creates.get(name), read)]
        told += [
            f"{name} was acknowledged and not seen by {read.who}"
            for name, made in creates.items()
            if made.ended < read.began and name not in batches
        ]
        for writer, made in sets.items():
            least = max((event.value for event in made if event.ended < read.began), default=0)
            most = max((event.value for event in made if event.began < read.ended), default=0) + 1
            if not least <= numbers.get(writer, 0) <= most:
                told.append(f"{writer}: {numbers.get(writer, 0)} is not in {least}…{most}")
        last = before.get(read.who)
        if last and last.ended < read.began:
            seen, shown = last.value
            told += [f"{name} vanished for {read.who}" for name in seen if name not in batches]
            told += [f"{writer} went back for {read.who}" for writer in shown if numbers.get(writer, 0) < shown[writer]]
        before[read.who] = read
    return told


def _begun_late(made, read):
    return made is not None and made.began > read.ended
