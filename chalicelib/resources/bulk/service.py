"""Bulk changes: done in parts, and finished even if the request that began one dies.

A resource checks what a caller wants, describes it by `BulkChange`s and calls `run`. Each verb has a `Handler` in the
`HANDLERS` of the resource that owns it. `run` works in commits of up to 97 rows, each atomic. A change of more than
`SOON_DONE` rows is stored as an intent first, and its continuation is sent with a delay that outlasts the request
(`storage/log/intents.py`):

    1. the continuation            a message, received after a minute
    2. the ids and the change      an object
    3. the intent                  a row: nothing is done yet
    4. every part                  rows, a commit and the intent's row in one transaction
    5. with the last part          the intent's row is deleted
    6. when the message arrives    the rest is done, and the object is deleted

A crash before step 3 has no effect, and nothing was acknowledged. After it the continuation does the rest, and no part
twice: a part that another process did fails on the intent's row. Where one entity takes many commits (a media with its
annotations, a leaf with its subtree), only the last commit advances the intent; the rest of such a unit is found from
the current rows.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.access.view_queries import all_rows
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Edit
from chalicelib.core.time import deadline
from chalicelib.core.time.retry import CONFLICTS
from chalicelib.errors import Conflict, Unavailable
from chalicelib.query.operators import Op
from chalicelib.query.tree import Test
from chalicelib.queues import SETTLED, send
from chalicelib.resources.bulk.changes import BulkChange
from chalicelib.resources.bulk.messages import FinishBulkChange
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import steps
from chalicelib.storage.dynamodb.steps import Guard, RowChange
from chalicelib.storage.dynamodb.transactions import TooLarge, Transaction
from chalicelib.storage.log import growth, intents, log
from chalicelib.storage.log.intents import Intent, Progress

SOON_DONE = 500
"""Rows of a change that needs no intent: it takes a second, and the caller can repeat it."""
A_PART = steps.MOST_STEPS - 1
"""Rows of one commit, beside the row of the intent."""
_encoder = msgspec.json.Encoder()


def run(*changes: BulkChange, handlers: Handlers, scope: Scope, rows: int = 0) -> None:
    """Do all of some changes of a project, one after the other.

    Args:
        changes: what to do, in order.
        handlers: of the verbs of the changes.
        scope: of the caller, who needs the level of the operation on every row that is written.
        rows: how many rows that comes to, where it is more than the changes name.

    Raises:
        Forbidden: the caller's level on one of the rows is too low; nothing was changed.
        Conflict: it came to a stop; a change of many rows is finished all the same, a while later.
        Unavailable: the same, or the time of the request is over.
        TooMany: the project's log has grown too far beyond its snapshot; nothing was changed.
    """
    changes = tuple(change for change in changes if change.numbers)
    if not changes:
        return
    total = sum(len(change.numbers) for change in changes)
    growth.make_room(changes[0].project, max(rows, total))
    operation = log.new_operation(changes[0].project)
    for change in changes:
        change.operation = operation
    runners = [_Runner(change, handlers) for change in changes]
    for runner in runners:
        runner.check(scope)
    for runner in runners:
        runner.order()
    if max(rows, total) <= SOON_DONE:
        _carry_out(runners, Progress(total=total))
        return
    project = changes[0].project
    intent = intents.new_intent(project)
    message = FinishBulkChange(id=uuid.uuid4().hex, project=project, name=intent.name, key=intent.key)
    send(settings().purge_queue_url, message, delay=SETTLED)
    intents.fill(intent, _encoder.encode(changes))
    progress = intents.begin(intent, total)
    try:
        is_done = _carry_out(runners, progress, deadline.end())
    except Unavailable as failure:
        raise _continuation(progress) from failure
    if not is_done:
        raise _continuation(progress)


def _continuation(progress: Progress) -> Unavailable:
    """The error for a change that outlives its request."""
    return Unavailable(
        f"The change is large and goes on by itself: {progress.done} of {progress.total} are done.",
        "It is finished within minutes. Do not repeat it: look at the entities, or at the events of the project.",
    )


def finish(message: FinishBulkChange, seconds: float, handlers: Handlers) -> None:
    """Continue a change that its request did not finish, for so many seconds at most.

    A project whose compaction is behind gets the rest when there is room (decision 144).
    """
    intent = Intent(name=message.name, key=message.key)
    body = intents.read(intent)
    if body is None:
        return
    changes = msgspec.json.decode(body, type=list[BulkChange])
    progress = intents.resume(intent, sum(len(change.numbers) for change in changes))
    if _carry_out((_Runner(change, handlers) for change in changes), progress, time.monotonic() + seconds):
        intents.drop(intent)
    else:
        delay = 0 if growth.has_room(message.project) else growth.RETRY_AFTER
        send(settings().purge_queue_url, msgspec.structs.replace(message, id=uuid.uuid4().hex), delay=delay)


def _carry_out(runners: Iterable[_Runner], progress: Progress, end: float | None = None) -> bool:
    """Do what is left until the end of the time, if it has one; whether all is done. Raises as `_Runner.run`."""
    first = 0
    with growth.recording_together():
        for runner in runners:
            if not runner.run(progress, first, end):
                return False
            first += runner.size
    progress.close()
    return True


Note = Callable[[Transaction, int], None]
"""Adds the progress of a part to its transaction, given the number of ids that the part completes."""


class Handler:
    """How one verb changes entities; a subclass for each verb, made once for each run.

    Attributes:
        size: the most ids of one part; None for as many as one commit holds.
        change: what to do.
        note: adds progress to a transaction.
    """

    size: ClassVar[int | None] = None

    def __init__(self, change: BulkChange, note: Note) -> None:
        self.change = change
        self.note = note

    def order(self) -> None:
        """Sort the ids into the order of the work, before the change is stored."""

    def check(self, scope: Scope) -> None:
        """Check that the caller may write every row that the change writes; only fine-grained permissions refuse any.

        Those are the rows that the change names; a subclass adds the rows that change along with them. The queue
        that finishes a change does not check again.

        Raises:
            Forbidden: the level of the caller is too low on one of the rows.
        """
        within = Test("id", Op.IN, tuple(self.change.numbers))
        view_queries.check_reach(self.change.project, all_rows(self.change.kind, within), scope)

    def prepare(self) -> None:
        """Do what comes before the first part; it may be repeated."""

    def do(self, left: list[int], most: int) -> tuple[int, bool]:
        """Do one part of what is left.

        Args:
            left: the ids that are not done.
            most: how many of them the part may have.

        Returns:
            how many are complete, 0 where one needs further parts; whether a transaction has noted that.

        Raises:
            Conflict: another process changed the same rows; the part will be tried again.
            TooLarge: the part does not fit a transaction; a smaller one will be tried.
        """
        raise NotImplementedError

    def apply(
        self, done: list[RowChange], edits: list[Edit], count: int, guarded: Guard | None = None
    ) -> tuple[int, bool]:
        """Write rows in one transaction with a commit and the progress of `count` ids; the result of `do`."""
        steps.apply(
            self.change.project,
            done,
            user=self.change.user,
            edits=edits,
            guarded=guarded,
            also=lambda transaction: self.note(transaction, count),
        )
        return count, bool(done)


class OneByOne(Handler):
    """A verb whose parts are single entities, each perhaps with many commits."""

    size = 1

    def do(self, left: list[int], most: int) -> tuple[int, bool]:  # noqa: ARG002 a part is one id
        """Do the first id."""
        return self.do_one(left[0])

    def do_one(self, number: int) -> tuple[int, bool]:
        """Do one entity, or a part of it; returns and raises as `do`."""
        raise NotImplementedError


Handlers = Mapping[tuple[str, Kind], type[Handler]]
"""The handler of each verb and kind; a slice's own, or those of all slices."""


class _Runner:
    """One run of a change."""

    def __init__(self, change: BulkChange, handlers: Handlers) -> None:
        self._change = change
        self._progress = Progress(total=len(change.numbers))
        self._handler = handlers[change.verb, change.kind](change, self._note)
        self._most = self._handler.size or A_PART

    @property
    def size(self) -> int:
        """The number of ids."""
        return len(self._change.numbers)

    def check(self, scope: Scope) -> None:
        """Check that the caller may write every row."""
        if scope.is_restricted:
            self._handler.check(scope)

    def order(self) -> None:
        """Sort the ids into the order of the work; once, since progress is counted along it."""
        self._handler.order()

    def run(self, progress: Progress, first: int, end: float | None) -> bool:
        """Do what is left until the time ends, or the compaction is too far behind; whether all is done.

        Args:
            progress: of all changes that are carried out together.
            first: how many ids the changes before this one have.
            end: the time to stop, as of `time.monotonic`; None for no limit.

        Raises:
            Conflict: every attempt at a part met a change by another process.
        """
        self._progress = progress
        if progress.done == first:
            with log.part_of(self._change.operation):
                self._handler.prepare()
        conflicts = 0
        while progress.done < first + self.size:
            if end is not None and (time.monotonic() > end or not growth.has_room(self._change.project)):
                return False
            left = self._change.numbers[progress.done - first :]
            try:
                with log.part_of(self._change.operation):
                    count, committed = self._handler.do(left, self._most)
            except TooLarge:
                self._most = min(self._most, len(left)) // 2
                if not self._most:
                    raise
            except Conflict:
                conflicts += 1
                if conflicts >= CONFLICTS.most:
                    raise
                CONFLICTS.pause(conflicts)
                progress.reload()
            else:
                conflicts = 0
                progress.advance(count, committed=committed)
        return True

    def _note(self, transaction: Transaction, count: int) -> None:
        self._progress.add(transaction, count)
