"""Carrying out a change of many things, to the end even if whoever began it dies.

Others check what is asked for (`annotation_bulk`, `media_changes`, `media_deletion`, `leaves`, `sections`) and say by
`BulkChange`s what it comes to; `run` does it in commits of up to 97 rows, each of them whole. One of more than
`SOON_DONE` rows is kept as an intent first, and its continuation ordered for when the request must be over
(`storage/log/intents.py`):

    1. the continuation            a message, received after a minute
    2. the ids and the change      an object
    3. the intent                  a row: nothing done yet
    4. every part                  rows, a commit and the intent's row in one transaction
    5. with the last part          the intent's row goes
    6. when the message comes      what is left is done, and the object goes

Who dies before 3 has done nothing and acknowledged nothing. From then on the continuation does what is left, and
nothing twice: a part that somebody else did first fails, and the next is looked for. Where one thing takes many commits
(a media with all that lies on it, a leaf with all below), only the last of them moves the intent's row: the others are
such that what is left to do can be seen from what there is.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from chalicelib.access.scope import UNRESTRICTED, Scope
from chalicelib.core.commits import Edit
from chalicelib.core.edits import tombstoned
from chalicelib.core.kinds import Kind
from chalicelib.core.permissions import Level
from chalicelib.errors import Conflict
from chalicelib.queues import SETTLED, send
from chalicelib.resources.annotations import tracks
from chalicelib.resources.annotations.reassign import MOST_COPIED, MOST_MOVED, Moves
from chalicelib.resources.bulk import reach
from chalicelib.resources.bulk.changes import BulkChange, How, archiving, changing, changing_media, transitions
from chalicelib.resources.bulk.messages import FinishBulkChange
from chalicelib.resources.entities.service import Writer, has_earlier, letting_go, type_of
from chalicelib.resources.leaves import trees as leaves_trees
from chalicelib.resources.media import clearing as media_clearing
from chalicelib.resources.sections import changes as sections_changes
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, records, steps
from chalicelib.storage.dynamodb.steps import Step
from chalicelib.storage.dynamodb.transactions import TooLarge, Transaction
from chalicelib.storage.log import intents
from chalicelib.storage.log.intents import Intent, Progress

SOON_DONE = 500
"""Rows of a change that is left to its request: it takes a second, and is repeated as easily as begun."""
_AT_ONCE = {"clear": 1_000} | dict.fromkeys(("hang", "settle", "fell", "dissolve", "repath"), 1)
"""Things of a part, where that is not told by what a transaction holds."""
_encoder = msgspec.json.Encoder()


def run(*changes: BulkChange, scope: Scope, rows: int = 0) -> None:
    """Do all of some changes of a project, one after the other.

    Args:
        changes: what is to be done.
        scope: of the caller, who needs its level on every row that is written (`reach.py`).
        rows: how many rows that comes to, where it is more than the changes name.

    Raises:
        Forbidden: the caller's level on one of the rows is too low; nothing was changed.
        Conflict, Unavailable: it came to a stop; a change of many rows is finished all the same, a while later.
    """
    changes = tuple(change for change in changes if change.numbers)
    if not changes:
        return
    reach.check(scope, changes)
    runners = [_Runner(change) for change in changes]
    for runner in runners:
        runner.order()
    total = sum(len(change.numbers) for change in changes)
    if max(rows, total) <= SOON_DONE:
        _carry_out(runners, Progress(total=total))
        return
    project = changes[0].project
    intent = intents.named(project)
    message = FinishBulkChange(id=uuid.uuid4().hex, project=project, name=intent.name, key=intent.key)
    send(settings().purge_queue_url, message, delay=SETTLED)
    intents.fill(intent, _encoder.encode(changes))
    _carry_out(runners, intents.begin(intent, total))


def finish(message: FinishBulkChange, seconds: float) -> None:
    """Do what is left of a change whose request did not, or as much of it as fits into so many seconds."""
    intent = Intent(name=message.name, key=message.key)
    body = intents.read(intent)
    if body is None:
        return
    changes = msgspec.json.decode(body, type=list[BulkChange])
    progress = intents.resume(intent, sum(len(change.numbers) for change in changes))
    if _carry_out((_Runner(change) for change in changes), progress, time.monotonic() + seconds):
        intents.drop(intent)
    else:
        send(settings().purge_queue_url, msgspec.structs.replace(message, id=uuid.uuid4().hex))


def _carry_out(runners: Iterable[_Runner], progress: Progress, end: float | None = None) -> bool:
    """Do what is left until the end of the time, if it has one; whether all is done. Raises as `_Runner.run`."""
    first = 0
    for runner in runners:
        if not runner.run(progress, first, end):
            return False
        first += runner.size
    progress.close()
    return True


def _changing(change: BulkChange) -> How:
    if change.kind is Kind.MEDIA:
        return changing_media(change, records.definitions(change.project))
    return changing(change, type_of(change.kind, change.project, change.type))


class _Runner:
    """One run of a change."""

    def __init__(self, change: BulkChange) -> None:
        self._change = change
        self._writer = Writer(project=change.project, user=change.user, level=Level.EDIT, scope=UNRESTRICTED)
        self._progress = Progress(total=len(change.numbers))
        self._first = 0
        self._most = _AT_ONCE.get(change.verb, max(MOST_MOVED, MOST_COPIED))
        self._moves: Moves | None = None
        self._part: Callable[[Sequence[int]], tuple[int, bool]] = {
            "edit": self._rewrite,
            "archive": self._rewrite,
            "bury": self._rewrite,
            "move": self._move,
            "copy": self._move,
            "prune": self._prune,
            "delete": self._delete,
            "clear": self._clear,
        }.get(change.verb, self._one)
        self._how: Callable[[Any], Any] = self._buried
        if change.verb == "archive":
            self._how = archiving(change)
        elif change.verb in ("edit", "move", "copy", "hang"):
            self._how = _changing(change)
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

    @property
    def size(self) -> int:
        """How many things it does."""
        return len(self._change.numbers)

    def order(self) -> None:
        """Bring the rows into the order in which they are done; once, for progress is counted along it."""
        if self._moves:
            self._change.numbers = self._moves.order(self._change.numbers)
        elif self._change.verb == "prune":
            self._change.numbers.sort()

    def run(self, progress: Progress, first: int, end: float | None) -> bool:
        """Do what is left until the end of the time, if it has one; whether all is done.

        Args:
            progress: of all changes that are carried out together.
            first: how many things those before this one do.
            end: of the time, as of `time.monotonic`.

        Raises:
            Conflict: somebody was faster with the same rows, every time.
        """
        self._progress, self._first = progress, first
        if progress.done == first and self._change.children:
            self._delete_children()
        lost = 0
        while progress.done < first + self.size:
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
        return True

    def _left(self) -> list[int]:
        return self._change.numbers[self._progress.done - self._first :][: self._most]

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
        if self._change.verb == "archive":
            edits = transitions(done)
        self._apply(done, edits, len(part))
        return len(part), bool(done)

    def _buried(self, row: Any) -> Any:
        return None if row.variant_deleted else msgspec.structs.replace(row, **self._change.fixed)

    def _move(self, part: Sequence[int]) -> tuple[int, bool]:
        """Bring rows, or copies of them, into other elements."""
        if self._moves is None:
            raise AssertionError(self._change.verb)
        if self._moves.looks:
            part = self._change.numbers[self._progress.done - self._first :]
        return self._moves.next(part, self._most)

    def _prune(self, part: Sequence[int]) -> tuple[int, bool]:
        """Let rows go, lower ids first, and make the marks before them visible again that stay."""
        kind = self._change.kind
        rows = list(entities.many(kind, part).values())
        if has_earlier(rows):
            part = part[:MOST_COPIED]
            rows = [row for row in rows if row.entity.id in set(part)]
        done, edits = letting_go(kind, self._change.project, rows)
        self._apply(done, edits, len(part))
        return len(part), bool(done)

    def _delete(self, part: Sequence[int]) -> tuple[int, bool]:
        """Let rows go that nothing else depends on, and before media what lies on them."""
        kind = self._change.kind
        if kind is Kind.MEDIA and not media_clearing.clear(self._change.project, self._change.user, part):
            return 0, False
        done, edits = letting_go(kind, self._change.project, entities.many(kind, part).values())
        self._apply(done, edits, len(part))
        return len(part), bool(done)

    def _clear(self, part: Sequence[int]) -> tuple[int, bool]:
        """Delete what came onto media while they went."""
        everything = media_clearing.clear(self._change.project, self._change.user, part)
        return (len(part) if everything else 0), False

    def _one(self, part: Sequence[int]) -> tuple[int, bool]:
        """Do one leaf or section, or some of what that takes."""
        (number,) = part

        def also(transaction: Transaction) -> None:
            self._note(transaction, 1)

        change = self._change
        match change.verb:
            case "hang":
                return leaves_trees.hang(change, self._how, also)
            case "settle":
                return leaves_trees.settle(change, also)
            case "fell":
                return leaves_trees.fell(change, also)
            case "dissolve":
                return sections_changes.dissolve(change)
            case "repath":
                return sections_changes.repath(change, number, also)
            case _:
                raise AssertionError(change.verb)

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
        states = tracks.parental(self._change.project, self._change.numbers)
        tracks.delete_children(self._writer, states, prune=self._change.children == "prune")
