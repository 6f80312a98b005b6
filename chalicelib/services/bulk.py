"""Carrying out a change of many localizations or states, to the end even if whoever began it dies.

`services/annotation_bulk.py` checks what is asked for and says by a `BulkChange` what it comes to; `run` does it in
commits of up to 97 rows, each of them whole. One of more than `SOON_DONE` rows is kept as an intent first, and its
continuation ordered for when the request must be over (`storage/intents.py`):

    1. the ids and the change      an object
    2. the continuation            a message, received after a minute
    3. the intent                  a row: nothing done yet
    4. every part                  rows, a commit and the intent's row in one transaction
    5. with the last part          the intent's row goes
    6. when the message comes      what is left is done, and the object goes

Who dies before 3 has done nothing and acknowledged nothing. From then on the continuation does what is left, and
nothing twice: a part that somebody else did first fails, and the next is looked for.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec

from chalicelib.domain.attribute_values import converter
from chalicelib.domain.changes import deleted, tombstoned, unseen
from chalicelib.domain.commits import Edit
from chalicelib.domain.kinds import Kind
from chalicelib.domain.marks import identity
from chalicelib.domain.permissions import Level
from chalicelib.domain.revisions import up_to_date
from chalicelib.errors import Conflict
from chalicelib.messages import FinishBulkChange, send
from chalicelib.query.operators import Op
from chalicelib.query.tree import Test
from chalicelib.services import asking, tracks
from chalicelib.services.annotation_moves import MOST_COPIED, MOST_MOVED, Moves
from chalicelib.services.annotations import Writer, all_rows, rows_of, settling, type_of
from chalicelib.settings import settings
from chalicelib.storage import entities, intents, steps
from chalicelib.storage.intents import Intent, Progress
from chalicelib.storage.steps import Step
from chalicelib.storage.transactions import TooLarge, Transaction

SOON_DONE = 500
"""Rows of a change that is left to its request: it takes a second, and is repeated as easily as begun."""
SETTLED = 60
"""Seconds after which a request is over; API Gateway gives it 29."""
_encoder = msgspec.json.Encoder()


class BulkChange(msgspec.Struct, kw_only=True):
    """What is to become of many annotations of one kind.

    Attributes:
        kind, project: what and where.
        user: who does it.
        verb: change the rows themselves; move them to other elements; copy them; make tombstones of them; let them go.
        numbers: their ids, in the order they are done in.
        type: whose attributes change.
        attributes, reset, nulls: how.
        fixed: members with their new values.
        told: what the change log says: fields before and after, of the first of them.
        children: whether what only these states contain goes first, and how.
    """

    kind: Kind
    project: int
    user: int
    verb: Literal["edit", "move", "copy", "bury", "prune"]
    numbers: list[int]
    type: int = 0
    attributes: dict[str, Any] | None = None
    reset: list[str] | None = None
    nulls: list[str] | None = None
    fixed: dict[str, Any] = {}
    told: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    children: Literal["bury", "prune"] | None = None


def changing(change: BulkChange, of: Any) -> Callable[[Any], Any]:
    """What becomes of each row, given its type."""
    merge = converter(of.attribute_types).merge
    attributes, reset, nulls = change.attributes, change.reset, change.nulls

    def changed(row: Any) -> Any:
        if not (attributes or reset or nulls):
            return msgspec.structs.replace(row, **change.fixed)
        row = up_to_date(row, of.revisions)
        return msgspec.structs.replace(row, attributes=merge(row.attributes, attributes, reset, nulls), **change.fixed)

    return changed


def run(change: BulkChange) -> None:
    """Do it all.

    Raises:
        Conflict, Unavailable: it came to a stop; a change of many rows is finished all the same, a while later.
    """
    if not change.numbers:
        return
    runner = _Runner(change)
    runner.order()
    total = len(change.numbers)
    if total <= SOON_DONE:
        runner.run(Progress(total=total))
        return
    intent = intents.put(change.project, _encoder.encode(change))
    message = FinishBulkChange(id=uuid.uuid4().hex, project=change.project, name=intent.name, key=intent.key)
    send(settings().purge_queue_url, message, delay=SETTLED)
    runner.run(intents.begin(intent, total))


def finish(message: FinishBulkChange, seconds: float) -> None:
    """Do what is left of a change whose request did not, or as much of it as fits into so many seconds."""
    intent = Intent(name=message.name, key=message.key)
    body = intents.read(intent)
    if body is None:
        return
    change = msgspec.json.decode(body, type=BulkChange)
    progress = intents.resume(intent, len(change.numbers))
    if _Runner(change).run(progress, time.monotonic() + seconds):
        intents.drop(intent)
    else:
        send(settings().purge_queue_url, msgspec.structs.replace(message, id=uuid.uuid4().hex))


class _Runner:
    """One run of a change."""

    def __init__(self, change: BulkChange) -> None:
        self._change = change
        self._writer = Writer(project=change.project, user=change.user, level=Level.EDIT)
        self._progress = Progress(total=len(change.numbers))
        self._most = max(MOST_MOVED, MOST_COPIED)
        self._moves: Moves | None = None
        self._part: Callable[[Sequence[int]], tuple[int, bool]] = {
            "edit": self._rewrite,
            "bury": self._rewrite,
            "move": self._move,
            "copy": self._move,
            "prune": self._prune,
        }[change.verb]
        self._how: Callable[[Any], Any] = self._buried
        if change.verb in ("edit", "move", "copy"):
            self._how = changing(change, type_of(change.kind, change.project, change.type))
        if change.verb in ("move", "copy"):
            self._moves = Moves(
                kind=change.kind,
                writer=self._writer,
                change=self._how,
                told=change.told,
                version=change.fixed.get("version"),
                renamed="elemental_id" in change.fixed,
                staying=change.verb == "move",
                also=self._note,
            )

    def order(self) -> None:
        """Bring the rows into the order in which they are done; once, for progress is counted along it."""
        if self._moves:
            self._change.numbers = self._moves.order(self._change.numbers)
        elif self._change.verb == "prune":
            self._change.numbers.sort()

    def run(self, progress: Progress, end: float | None = None) -> bool:
        """Do what is left until the end of the time, if it has one; whether all is done.

        Raises:
            Conflict: somebody was faster with the same rows, every time.
        """
        self._progress = progress
        if not progress.done and self._change.children:
            self._delete_children()
        lost = 0
        while progress.done < progress.total:
            if end is not None and time.monotonic() > end:
                return False
            try:
                part = self._left()
                count, committed = self._part(part)
            except TooLarge:
                if len(part) == 1:
                    raise
                self._most = len(part) // 2
            except Conflict:
                lost += 1
                if lost >= steps.ATTEMPTS:
                    raise
                time.sleep(min(0.1, 0.002 * 2**lost) * random.random())  # noqa: S311
                progress.reload()
            else:
                lost = 0
                progress.advance(count, committed=committed)
        progress.close()
        return True

    def _left(self) -> list[int]:
        return self._change.numbers[self._progress.done :][: self._most]

    def _note(self, transaction: Transaction, count: int) -> None:
        self._progress.add(transaction, count)

    # --- parts -----------------------------------------------------------------------------------------------------

    def _rewrite(self, part: Sequence[int]) -> tuple[int, bool]:
        """Change rows themselves."""
        kind = self._change.kind
        done = []
        for row in entities.many(kind, part).values():
            after = self._how(row.entity)
            if after is not None and entities.differs(row.entity, after):
                done.append(Step(kind, row, after))
        numbers = [step.after.id for step in done]
        bury = self._change.verb == "bury"
        edits = [tombstoned(kind, numbers) if bury else Edit(kind, numbers, *self._change.told)]
        self._apply(done, edits, len(part))
        return len(part), bool(done)

    def _buried(self, row: Any) -> Any:
        return None if row.variant_deleted else msgspec.structs.replace(row, **self._change.fixed)

    def _move(self, part: Sequence[int]) -> tuple[int, bool]:
        """Bring rows, or copies of them, into other elements."""
        if self._moves is None:
            raise AssertionError(self._change.verb)
        if self._moves.looks:
            part = self._change.numbers[self._progress.done :]
        return self._moves.next(part)

    def _prune(self, part: Sequence[int]) -> tuple[int, bool]:
        """Let rows go, lower ids first, and make the marks before them visible again that stay."""
        kind = self._change.kind
        rows = list(entities.many(kind, part).values())
        if any(row.entity.latest and row.entity.mark for row in rows):
            part = part[:MOST_COPIED]
            rows = [row for row in rows if row.entity.id in set(part)]
        going = {row.entity.id for row in rows}
        above = [identity(row.entity) for row in rows if row.entity.latest and row.entity.mark]
        flips: list[Step] = []
        for others in rows_of(kind, self._change.project, above).values():
            flips += settling(kind, [row for row in others if row.entity.id not in going])[0]
        edits = [deleted(kind, [row.entity.id for row in rows])]
        if flips:
            edits.append(unseen(kind, [step.after.id for step in flips]))
        done = [*(Step(kind, row, None) for row in rows), *flips]
        self._apply(done, edits, len(part))
        return len(part), bool(done)

    def _apply(self, done: list[Step], edits: list[Edit], count: int) -> None:
        steps.apply(
            self._change.project,
            done,
            user=self._change.user,
            edits=edits,
            also=lambda transaction: self._note(transaction, count),
        )

    def _delete_children(self) -> None:
        """Delete what only these states contain, of those whose type asks for it."""
        view = asking.current(self._change.project)
        parental = [
            number
            for number, of in view.definitions.types(Kind.STATE).items()
            if of.delete_child_localizations  # type: ignore[union-attr]
        ]
        if not parental:
            return
        within = Test("id", Op.IN, tuple(self._change.numbers))
        query = all_rows(Kind.STATE, within, Test("type", Op.IN, tuple(parental)))
        states = [row.entity for row in entities.many(Kind.STATE, asking.ids(view, query)).values()]
        tracks.delete_children(self._writer, states, prune=self._change.children == "prune")
