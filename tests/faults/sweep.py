"""One request, killed at one of its AWS calls, sent again, and judged by what is visible.

There are three right states: as before the request (0), as after it was done once (1), and as after it was done twice
(2), for a client that was not answered asks again. After the crash the state is 0 or 1; after the request was answered
with success it is 1 or 2, and what it answers is what it would have answered from there without any crash.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tests.faults import picture
from tests.faults.crashes import MODES, Killed
from tests.faults.rewind import restart
from tests.faults.workflows import ANSWERED, IN_PARTS, LEAVES, LEFT_TO_A_QUEUE, NOTICED


@dataclass
class Run:
    """What a request came to without a crash."""

    status: int
    counters: dict[str, int]
    picture: picture.Picture
    messages: Counter
    calls: list[str]


@dataclass
class Report:
    """What a sweep has found."""

    points: int = 0
    """Crashes that were tried."""
    calls: int = 0
    wrong: list[str] = field(default_factory=list)
    orphans: Counter = field(default_factory=Counter)
    """Objects that no sweep removes → at how many points."""


class Sweeper:
    """Tries the crash points of requests in a world that is put back after each."""

    def __init__(self, world, undo, crasher):
        self.world, self.undo, self.crasher = world, undo, crasher
        self._known = {}

    def sweep(self, workflow, chosen=lambda number, mode: True):
        """Every crash point of a workflow that is chosen."""
        report = Report()
        self._known = {}
        first = self._run(workflow, {}, 1)
        if first.status >= 300:
            report.wrong.append(f"{workflow.name}: answers {first.status}")
            return report
        report.calls = len(first.calls)
        for mode in MODES:
            for number in range(1, len(first.calls) + 1):
                if chosen(number, mode):
                    place = f"{workflow.name}: {mode} call {number}, {first.calls[number - 1]}"
                    report.wrong += [f"{place}: {wrong}" for wrong in self._point(workflow, number, mode, report)]
        self.undo.back()
        return report

    # ---------------------------------------------------------------------------------------------- one crash point

    def _point(self, workflow, number, mode, report):
        self.undo.back()
        base = self.undo.counters()
        said = self._ask(workflow, number, mode)
        if not self.crasher.fired:
            return  # another way through than before
        report.points += 1
        if mode in ("before", "after") and said is not None:
            yield f"outlived its death and answered {said.status}"
            return
        if mode == "lost":
            once = self._expected(workflow, base, 1)
            if said.status != once.status:
                yield f"answered {said.status} {said.body[:200]!r} instead of {once.status}"
                return
        if said is not None and said.status >= 500 and said.status != 503:
            yield f"answered {said.status} {said.body[:200]!r}"
        yield from picture.problems(self.undo)
        times = 1
        if said is None or said.status >= 300:
            restart()
            times = yield from self._again(workflow, base)
            if times is None:
                return
        expected = self._expected(workflow, base, times)
        yield from self._differs(expected, workflow, times)
        projects = {project for table, project, _ in self.undo.changed() if isinstance(project, int)}
        left = [key for key in picture.orphans(self.undo, projects) if not key.startswith(LEAVES)]
        if workflow.name not in ANSWERED:
            report.orphans.update({f"{workflow.name}: {key}" for key in left})

    def _again(self, workflow, base):
        """Ask again after a crash; how often the request took effect, None where that cannot be said."""
        seen = picture.take(self.undo)
        done = 0
        if seen:
            once = self._expected(workflow, base, 1)
            done = 1 if seen == once.picture else None
        if done is None and workflow.name not in IN_PARTS:
            yield f"half of it is visible: {_difference(seen, once.picture)}"
            return None
        if done is None and workflow.name in LEFT_TO_A_QUEUE:
            if set(once.messages) - set(picture.messages(self.undo)):
                yield "the message that would have finished it was not sent"
            return None
        said = self._ask(workflow)
        if said is None or said.status >= 500:
            yield f"asked again it answered {said and said.status}"
            return None
        yield from picture.problems(self.undo)
        if done is None:
            return 1
        expected = self._expected(workflow, base, done + 1)
        if said.status != expected.status:
            yield f"asked again it answered {said.status} {said.body[:200]!r} instead of {expected.status}"
        return done + 1

    def _differs(self, expected, workflow, times):
        seen = picture.take(self.undo)
        if workflow.name in IN_PARTS:
            seen.commits = expected.picture.commits
        if seen != expected.picture:
            yield f"not as after {times}: {_difference(seen, expected.picture)}"
        missing = set(expected.messages) - set(picture.messages(self.undo))
        if missing and workflow.name not in NOTICED:
            yield f"messages were lost: {missing}"

    def _ask(self, workflow, number=0, mode=""):
        self.crasher.arm(number, mode)
        try:
            said = workflow.ask(self.world.owner)
        except Killed:
            return None
        else:
            return None if self.crasher.dead else said
        finally:
            self.crasher.revive()

    # -------------------------------------------------------------------------------------------------- what is right

    def _expected(self, workflow, base, times):
        """What the request comes to `times` times, its ids as they were taken here."""
        now = self.undo.counters()
        plain = self._run_kept(workflow, {}, times)
        burnt = {kind: now.get(kind, 0) - plain.counters.get(kind, 0) for kind in now}
        shift = {kind: base.get(kind, 0) + count for kind, count in burnt.items() if count > 0}
        return self._run_kept(workflow, shift, times) if shift else plain

    def _run_kept(self, workflow, shift, times):
        key = (workflow.name, times, tuple(sorted(shift.items())))
        if key not in self._known:
            with self.undo.aside():
                self._known[key] = self._run(workflow, shift, times)
        return self._known[key]

    def _run(self, workflow, shift, times):
        self.undo.back()
        self.undo.set_counters(shift)
        for _ in range(times):
            restart()
            self.crasher.arm()
            said = workflow.ask(self.world.owner)
        calls = self.crasher.calls
        return Run(said.status, self.undo.counters(), picture.take(self.undo), picture.messages(self.undo), calls)


def _difference(one, other):
    """Where two pictures differ, in a line or two."""
    told = []
    for name in ("records", "things"):
        left, right = getattr(one, name), getattr(other, name)
        for key in sorted({*left, *right}, key=str):
            if (key in left) != (key in right):
                told.append(f"{key} only in {'the first' if key in left else 'the second'}")
            elif left[key] != right[key]:
                told.append(f"{key}: {left[key]} ≠ {right[key]}")
    if one.commits != other.commits:
        told.append(f"{len(one.commits)} commits ≠ {len(other.commits)}: {one.commits} {other.commits}")
    return "; ".join(told)[:1500]
