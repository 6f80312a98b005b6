"""Atomic writes of several rows, with the commit that records them.

change = Transaction()
change.put(row, RecordRow.pk.does_not_exist(), otherwise=BadInput("The name is taken."))
change.log(project, caller.id, [Change(...)])
change.run()
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec
from botocore.exceptions import ClientError
from pynamodb.exceptions import DeleteError, PutError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib import errors
from chalicelib.core.log.commits import Change, Edit, Note, Touched
from chalicelib.core.time.retry import LOG
from chalicelib.errors import BadInput, Conflict, LimnError, Unavailable
from chalicelib.storage.audit import chain
from chalicelib.storage.audit.rows import AuditRow
from chalicelib.storage.dynamodb import ahead
from chalicelib.storage.dynamodb.conditions import Absent
from chalicelib.storage.dynamodb.progress import idempotency
from chalicelib.storage.dynamodb.tables import LogRow, Row, connection
from chalicelib.storage.log import bodies, log, tickets, wakeups
from chalicelib.storage.log.tickets import Ticket

MOST_ITEMS = 100
"""Items that DynamoDB takes in one transaction."""
LARGEST_BYTES = 3_500_000
"""Most bytes of documents in one transaction: DynamoDB takes 4 MB, which includes keys and a commit body of 350 KB."""
LARGEST_ROW = 390_000
"""Bytes of one document: an item of DynamoDB has at most 400 KB, with its keys and other values."""
INLINE_FROM_ATTEMPT = 2
"""After losing this many numbers to others, write the commit's body into the row instead of S3."""
_NOT_MET = "ConditionalCheckFailed"
_ORDER = {"check": 0, "delete": 1, "put": 2, "update": 3}
"""The order of the items of a transaction; a commit is the last of the puts."""
_ACTION = {"check": "ConditionCheck", "delete": "Delete", "put": "Put", "update": "Update"}
_FREE = Absent("seq")
"""The condition that the number of a commit is not taken."""


class TooLarge(BadInput):
    """The change is larger than one DynamoDB transaction; nothing was changed."""


def check_row(doc: bytes | None) -> None:
    """Raise errors.TooLarge for a document that does not fit into one row."""
    if doc is not None and len(doc) > LARGEST_ROW:
        raise errors.TooLarge(
            f"One object would have {len(doc):,} bytes; at most {LARGEST_ROW:,} are stored for one. "
            "Give fewer points, members or shorter attributes. Nothing was changed."
        )


Otherwise = LimnError | Callable[[], LimnError] | None
"""The error where a condition does not hold, or what makes it; None for a Conflict."""


class _Step(msgspec.Struct, frozen=True):
    verb: Literal["put", "update", "delete", "check"]
    row: Row
    condition: Condition | None
    otherwise: Otherwise
    actions: tuple[Action, ...] = ()

    def failure(self) -> LimnError:
        """The error where the condition does not hold."""
        otherwise = self.otherwise
        if otherwise is None:
            return Conflict("Another request changed this first.")
        return otherwise if isinstance(otherwise, LimnError) else otherwise()


class Transaction:
    """At most 100 conditional writes, one of which may be a commit to the log of one project."""

    def __init__(self) -> None:
        self._steps: list[_Step] = []
        self._project = 0
        self._user: int | None = None
        self._changes: list[Change] = []
        self._edits: list[Edit] = []
        self._past: list[Change] = []
        self._touched: Touched | None = None
        self._notes: list[Note] = []
        self._bytes = 0
        self.rooms: dict[tuple[str, str], int] = {}
        """How many more records fit, by counted kind, as `limits.enforce` found."""

    def put(self, row: Row, condition: Condition | None = None, otherwise: Otherwise = None) -> None:
        """Put a whole row. `run` raises `otherwise` (or Conflict) where the condition does not hold.

        Raises:
            errors.TooLarge: the row's document does not fit.
        """
        doc = row.attribute_values.get("doc")
        if doc is not None:
            check_row(doc)
            self._bytes += len(doc)
        self._steps.append(_Step("put", row, condition, otherwise))

    def update(
        self, row: Row, actions: list[Action], condition: Condition | None = None, otherwise: Otherwise = None
    ) -> None:
        """Update attributes of a row."""
        self._steps.append(_Step("update", row, condition, otherwise, tuple(actions)))

    def delete(self, row: Row, condition: Condition | None = None, otherwise: Otherwise = None) -> None:
        """Delete a row."""
        self._steps.append(_Step("delete", row, condition, otherwise))

    def check(self, row: Row, condition: Condition, otherwise: Otherwise = None) -> None:
        """Add a condition on a row that is not written."""
        self._steps.append(_Step("check", row, condition, otherwise))

    def log(
        self,
        project: int,
        user: int | None,
        changes: list[Change],
        edits: list[Edit] | None = None,
        past: Iterable[Change] = (),
        touched: Touched | None = None,
    ) -> None:
        """Add a commit with these changes to the project's log; `past` and `touched` as in `Commit`."""
        if self._project not in (0, project):
            raise AssertionError("A transaction commits to one project's log.")
        if changes:
            self._touched = None if self._changes else touched
        self._project, self._user = project, user
        self._changes += changes
        self._edits += edits or []
        self._past += past

    def add_note(self, project: int, user: int | None, note: Note) -> None:
        """Add an event that changes no entity to the commit."""
        self.log(project, user, [])
        self._notes.append(note)

    @property
    def _is_logged(self) -> bool:
        return bool(self._changes or self._notes)

    @property
    def size(self) -> int:
        """The number of items so far, including the commit."""
        return len(self._steps) + self._is_logged

    def run(self) -> int:
        """Write everything.

        Returns:
            the number of the commit, 0 where nothing was logged.

        Raises:
            LimnError: the `otherwise` of the first condition that did not hold, Conflict where it has none.
            TooLarge: the documents are more than `LARGEST_BYTES`.
            Unavailable: DynamoDB failed every attempt; nothing was written.
        """
        ahead.forget()
        if self._bytes > LARGEST_BYTES:
            raise TooLarge("These are too large to be changed together; change fewer at once.")
        hold = idempotency.key_of_request()
        if hold is not None and self.size < MOST_ITEMS:
            self.put(*hold.mark())
        seq = self._run()
        if hold is not None:
            hold.has_changed = True
        return seq

    def run_unless(self, refusal: Conflict | None) -> bool:
        """Write everything, as `run` does; False where a condition whose `otherwise` is `refusal` did not hold."""
        try:
            self.run()
        except Conflict as conflict:
            if conflict is not refusal:
                raise
            return False
        return True

    def _run(self) -> int:
        self._steps.sort(key=lambda step: _ORDER[step.verb])
        if not self._is_logged:
            if len(self._steps) == 1 and self._steps[0].verb in ("put", "delete") and not chain.find_waiting():
                self._single(self._steps[0])
            elif self._steps:
                self._together(None)
            return 0
        with log.lock(self._project):
            for attempt in range(LOG.most):
                ticket = log.take_ticket(self._project)
                if self._commit(ticket, attempt):
                    log.note_commit(self._project, ticket, len(self._changes))
                    wakeups.wake(self._project, ticket.seq)
                    return ticket.seq
                if attempt:  # not a reader that filled it, but a log that reaches further than its counter
                    tickets.raise_to(self._project, tickets.last_number(self._project))
        raise Unavailable("Too many writers on this project; nothing was changed. Try again.")

    def _commit(self, ticket: Ticket, attempt: int) -> bool:
        """Try once under a number. Returns False where it was taken."""
        commit = log.commit_of(
            self._project, ticket.seq, self._user, self._changes, self._edits, self._past, self._notes, self._touched
        )
        try:
            return self._together(bodies.row_of(commit, hurried=attempt >= INLINE_FROM_ATTEMPT))
        except LimnError as error:
            if not isinstance(error, Unavailable):
                log.give_up(self._project, ticket)
            raise

    def _single(self, step: _Step) -> None:
        try:
            if step.verb == "put":
                step.row.save(condition=step.condition)
            else:
                step.row.delete(condition=step.condition)
        except (PutError, DeleteError) as failure:
            if failure.cause_response_code == "ConditionalCheckFailedException":
                if step.verb == "put" and _is_stored(step.row):
                    return  # written by us: the response was lost, and botocore retried
                raise step.failure() from failure
            raise Unavailable("The database refused the write; nothing was changed.", str(failure)) from failure

    def _together(self, commit: LogRow | None) -> bool:
        """Try once (and again on transient conflicts). Returns False where only the commit's number was taken.

        The entry of an audited request is written along, the first time.
        """
        draft = chain.find_waiting()
        if draft is None or self.size + len(draft.organizations) > MOST_ITEMS:
            return self._attempt(commit, None)
        with chain.lock:
            return self._attempt(commit, draft)

    def _attempt(self, commit: LogRow | None, draft: chain.Draft | None) -> bool:
        for again in range(LOG.most):
            entries = chain.next_rows(draft) if draft else []
            try:
                self._write(commit, entries)
            except ClientError as failure:
                reasons = [reason and reason.code for reason in getattr(failure, "cancellation_reasons", ())]
                if not reasons:
                    raise Unavailable("The database refused the write; nothing was changed.", str(failure)) from failure
                own = len(reasons) - len(entries)
                if _NOT_MET in reasons[own:]:
                    chain.forget(entries)
                del reasons[own:]
                taken = commit is not None and reasons.pop(self._place_of_commit()) == _NOT_MET
                for step, reason in zip(self._steps, reasons, strict=True):
                    if reason == _NOT_MET:
                        raise step.failure() from failure
                if taken:
                    return False
                LOG.pause(again + 1)
            else:
                if draft:
                    chain.remember_heads(draft, entries)
                return True
        raise Unavailable("The database is too busy; nothing was changed. Try again.")

    def _place_of_commit(self) -> int:
        return sum(_ORDER[step.verb] <= _ORDER["put"] for step in self._steps)

    def _write(self, commit: LogRow | None, entries: list[AuditRow]) -> None:
        # pynamodb's own transaction takes a fifth of the time of a change of 100 rows
        actions = [{_ACTION[step.verb]: _request(step)} for step in self._steps]
        if commit is not None:
            put = commit.get_save_kwargs_from_instance(_FREE)
            actions.insert(self._place_of_commit(), {"Put": put})
        connection().call("TransactWriteItems", TransactItems=[*actions, *chain.puts(entries)])


def _request(step: _Step) -> dict[str, Any]:
    """The botocore parameters of one item of a transaction."""
    if step.verb == "put":
        return step.row.get_save_kwargs_from_instance(step.condition)
    if step.verb == "update":
        return step.row.get_update_kwargs_from_instance(list(step.actions), step.condition)
    return step.row.get_delete_kwargs_from_instance(step.condition)


def _is_stored(row: Row) -> bool:
    try:
        return type(row).get(*row.key(), consistent_read=True).serialize() == row.serialize()
    except type(row).DoesNotExist:
        return False
