"""The numbers of a project's commits. Each writer takes the next one as a ticket, so writers do not compete for one.

    counters  (log#14, @)   n: the last ticket; settled: there are no holes up to here; detail: WATCHED or nothing

A writer reads the rows that it changes, takes a ticket, and commits under that number on the condition that the number
is free and that the rows did not change since. So the commits of a row have the order of its versions.

A writer that dies or gives up leaves a hole: a number without a commit below one that has a commit. Readers wait for
a hole, then fill it with an empty commit (`log.rows_after`). The slow writer's own commit then fails, and it takes
another ticket. So no clock has to be right: time only decides who has to try again.
"""

from __future__ import annotations

from typing import NamedTuple

from pynamodb.exceptions import UpdateError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.errors import Unavailable
from chalicelib.storage.dynamodb.tables import CounterRow, LogRow

WATCHED = "watched"
_CONDITION = "ConditionalCheckFailedException"


class Ticket(NamedTuple):
    """The number of a commit to be, and what its project's counter said with it.

    Attributes:
        seq: the number; in `state`, the last one that was taken.
        settled: there are no holes up to this number.
        is_watched: whether a webhook is notified of the project's commits.
    """

    seq: int
    settled: int
    is_watched: bool


def take(project: int) -> Ticket:
    """Take the next number of a project's log. Raises Unavailable where DynamoDB does not answer."""
    return _take(project, [])


def take_marked(project: int, *, watched: bool) -> Ticket:
    """Take the next number, and set or remove the mark that all later tickets carry."""
    return _take(project, [CounterRow.detail.set(WATCHED) if watched else CounterRow.detail.remove()])


def _take(project: int, more: list[Action]) -> Ticket:
    for _ in range(3):
        row = _row(project)
        if _update(row, [CounterRow.n.add(1), *more], CounterRow.pk.exists()):
            return _ticket(row)
        _begin(project)
    raise Unavailable("The database is too busy; nothing was changed. Try again.")


def state(project: int) -> Ticket | None:
    """The last number taken; None before the first."""
    try:
        return _ticket(CounterRow.get(*_row(project).key(), consistent_read=True))
    except CounterRow.DoesNotExist:
        return None


def raise_to(project: int, seq: int) -> None:
    """Take no number up to `seq` any more: a restored log reaches further than its counter."""
    if not _update(_row(project), [CounterRow.n.set(seq)], CounterRow.n < seq):
        _begin(project)


def settle(project: int, seq: int) -> None:
    """Note that there are no holes up to `seq`, or that what is missing there has expired."""
    _update(_row(project), [CounterRow.settled.set(seq)], CounterRow.n.exists() & (CounterRow.settled < seq))


def forget(project: int) -> None:
    """Delete the counter, for a purge."""
    _row(project).delete()


def last_written(project: int) -> LogRow | None:
    """The row of the highest number that has one; below it there may be holes."""
    return next(iter(LogRow.query(project, scan_index_forward=False, limit=1, consistent_read=True)), None)


def last_number(project: int) -> int:
    """The highest number that has a commit, 0 for an empty log."""
    newest = last_written(project)
    return int(newest.seq) if newest else 0


def _begin(project: int) -> None:
    """Make the counter of a log, where it has none, from its last commit: earlier releases left no holes."""
    newest = last_written(project)
    last = int(newest.seq) if newest else 0
    actions: list[Action] = [CounterRow.n.set(CounterRow.n | last), CounterRow.settled.set(CounterRow.settled | last)]
    if newest is not None and newest.watched:
        actions.append(CounterRow.detail.set(WATCHED))
    _update(_row(project), actions, None)


def _row(project: int) -> CounterRow:
    return CounterRow(f"log#{project}", "@")


def _ticket(row: CounterRow) -> Ticket:
    return Ticket(int(row.n), int(row.settled or 0), row.detail == WATCHED)


def _update(row: CounterRow, actions: list[Action], condition: Condition | None) -> bool:
    try:
        row.update(actions=actions, condition=condition)
    except UpdateError as failure:
        if failure.cause_response_code == _CONDITION:
            return False
        raise Unavailable("The database refused the write; nothing was changed.", str(failure)) from failure
    return True
