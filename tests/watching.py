"""Whether readers see what writers were told is written: all of it, at once, in one order.

Every writer goes the same way, round after round: it makes box `n`, sets its marker to `n`, removes box `n - 10`. So a
picture of its things says how many steps it has done, and is wrong if no number of steps looks like that. A reader's
picture must lie between what was acknowledged before it asked and what was begun before it was answered; and since
there is one order of all writes, of any two pictures one must be behind the other in every writer's steps or in none.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import count

WINDOW = 10
Picture = Mapping[str, tuple[int, set[int]]]
"""By writer: its marker, and the boxes there are of it."""


class Watch:
    """Writers and readers, until the writers are done."""

    def __init__(self, writers: Iterable[str]) -> None:
        self.begun = dict.fromkeys(writers, 0)
        self.done = dict.fromkeys(self.begun, 0)
        self.pictures: list[dict[str, int]] = []
        self.failures: list[BaseException] = []
        self._writing = len(self.begun)

    def run(
        self,
        write: Callable[[str, str, int], None],
        readers: Iterable[Callable[[], Picture]],
        *,
        rounds: int = 0,
        seconds: float = 0.0,
        beside: Iterable[Callable[[], object]] = (),
    ) -> None:
        """Run them all and raise what any of them met.

        Args:
            write: does a step (writer, "make" | "mark" | "remove", number) and returns when it was acknowledged.
            readers: take pictures.
            rounds: how many rounds every writer goes,
            seconds: or for how long.
            beside: what else is done again and again meanwhile.
        """
        readers = list(readers)
        for take in readers:
            take()
        end = time.monotonic() + seconds
        threads = [
            *(threading.Thread(target=self._guard, args=(self._write, who, write, rounds, end)) for who in self.begun),
            *(threading.Thread(target=self._guard, args=(self._read, each)) for each in readers),
            *(threading.Thread(target=self._guard, args=(self._repeat, each)) for each in beside),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.failures:
            raise self.failures[0]
        self.pictures.sort(key=lambda steps: sum(steps.values()))
        for earlier, later in zip(self.pictures, self.pictures[1:], strict=False):
            assert all(earlier[who] <= later[who] for who in earlier), (earlier, later)

    def _guard(self, work: Callable[..., None], *given: object) -> None:
        try:
            work(*given)
        except BaseException as failure:  # noqa: BLE001 the test raises it
            self.failures.append(failure)

    def _write(self, who: str, write: Callable[[str, str, int], None], rounds: int, end: float) -> None:
        try:
            for number in count(1):
                if self.failures or (number > rounds if rounds else time.monotonic() > end):
                    break
                for place, verb in enumerate(("make", "mark", "remove")):
                    self.begun[who] = number * 3 - 2 + place
                    if verb != "remove":
                        write(who, verb, number)
                    elif number > WINDOW:
                        write(who, verb, number - WINDOW)
                    self.done[who] = number * 3 - 2 + place
        finally:
            self._writing -= 1

    def _read(self, take: Callable[[], Picture]) -> None:
        last = dict.fromkeys(self.begun, 0)
        while self._writing > 0 and not self.failures:
            least = dict(self.done)
            picture = take()
            most = dict(self.begun)
            steps = {who: steps_of(*picture[who]) for who in self.begun}
            for who, seen in steps.items():
                assert max(least[who], last[who]) <= seen <= most[who] + 1, (
                    who,
                    least[who],
                    last[who],
                    seen,
                    most[who],
                )
            last = steps
            self.pictures.append(steps)

    def _repeat(self, work: Callable[[], object]) -> None:
        while self._writing > 0 and not self.failures:
            work()


def steps_of(marker: int, boxes: set[int]) -> int:
    """How many steps a writer has done whose things look so; none look otherwise."""
    newest = max(boxes, default=0)
    assert boxes == set(range(min(boxes, default=1), newest + 1)), boxes
    assert marker in (newest, newest - 1), (marker, boxes)
    oldest = min(boxes, default=1)
    settled = max(1, newest - WINDOW + 1)
    if marker < newest:
        assert oldest == max(1, newest - WINDOW), boxes
        return newest * 3 - 2
    assert oldest in (settled, max(1, settled - 1)), boxes
    # Where there is nothing to remove yet, that step shows no difference and counts as done.
    return newest * 3 if oldest == settled else newest * 3 - 1
