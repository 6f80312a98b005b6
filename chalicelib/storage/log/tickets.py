"""The numbers of a project's commits. Each writer takes the next one as a ticket, so writers do not compete for one.

    counters  (log#14, @)   n: the last ticket; settled: there are no holes up to here; detail: WATCHED or nothing

A writer reads the rows that it changes, takes a ticket, and commits under that number on the condition that the number
is free and that the rows did not change since. So the commits of a row have the order of its versions.

A writer that dies or gives up leaves a hole: a number without a commit below one that has a commit. Readers wait for
a hole, then fill it with an empty commit (`log.rows_after`). The slow writer's own commit then fails, and it takes
another ticket. So no clock has to be right: time only decides who has to try again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from botocore.exceptions import ClientError
from pynamodb.exceptions import UpdateError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.errors import Unavailable
from chalicelib.storage.dynamodb import ahead
from chalicelib.storage.dynamodb.tables import CounterRow, LogRow, connection

WATCHED = "watched"
_BARE = ["project", "seq", "expires"]
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


def take_ticket(project: int) -> Ticket:
    """Take the next number of a project's log. Raises Unavailable where DynamoDB does not answer."""
    return _increment(project)


def take_marked(project: int, *, watched: bool) -> Ticket:
    """Take the next number, and set or remove the mark that all later tickets carry."""
    if watched:
        return _increment(project, "SET detail = :mark", {":mark": {"S": WATCHED}})
    return _increment(project, "REMOVE detail")


def _increment(project: int, more: str = "", values: dict[str, Any] | None = None) -> Ticket:
    asked = {
        "TableName": CounterRow.Meta.table_name,
        "Key": CounterRow.item_of(_row(project).key()),
        "UpdateExpression": f"ADD n :one {more}",
        "ConditionExpression": "attribute_exists(pk)",
        "ExpressionAttributeValues": {":one": {"N": "1"}, **(values or {})},
        "ReturnValues": "ALL_NEW",
    }
    for _ in range(3):
        try:
            answer = connection().call("UpdateItem", **asked)
        except ClientError as failure:
            if failure.response["Error"]["Code"] != _CONDITION:
                raise Unavailable("The database refused the write; nothing was changed.", str(failure)) from failure
            _begin(project)
        else:
            return _ticket(CounterRow.from_raw_data(answer["Attributes"]))
    raise Unavailable("The database is too busy; nothing was changed. Try again.")


def state(project: int) -> Ticket | None:
    """The last number taken; None before the first."""
    row = CounterRow.find(*_row(project).key())
    return _ticket(row) if row else None


def last_taken(projects: Iterable[int]) -> dict[int, int]:
    """The last ticket of each of some projects, without projects that have none. One call reads a hundred."""
    keys = {_row(project).key(): project for project in projects}
    found, left = ahead.pop_all(CounterRow, [*keys])
    return {keys[row.key()]: int(row.n) for row in (*found, *CounterRow.many(left))}


def key(project: int) -> ahead.RowKey:
    """The row that `last_taken` reads, for requests that read it ahead."""
    return ahead.RowKey(CounterRow, _row(project).key())


def raise_to(project: int, seq: int) -> None:
    """Take no number up to `seq` any more: a restored log reaches further than its counter."""
    if not _update(_row(project), [CounterRow.n.set(seq)], CounterRow.n < seq):
        _begin(project)


def mark_complete(project: int, seq: int) -> None:
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


def last_expired(project: int) -> int:
    """The number up to which commits may have expired, by the rows that are left: for a log without a counter.

    Such a log was written by an earlier release, or restored, and then it may have holes after this number.
    """
    before = 0
    for found in LogRow.query(project, scan_index_forward=False, consistent_read=True, attributes_to_get=_BARE):
        if "expires" in found.attribute_values:
            return int(found.seq)
        before = int(found.seq) - 1
    return before


def _begin(project: int) -> None:
    """Make the counter of a log, where it has none, from its last commit."""
    newest, settled = last_written(project), last_expired(project)
    last = int(newest.seq) if newest else 0
    actions: list[Action] = [
        CounterRow.n.set(CounterRow.n | last),
        CounterRow.settled.set(CounterRow.settled | settled),
    ]
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
