"""Intents: what a change of many things is to come to, kept until all of it is done, whoever does it.

    intent#<name>   in the counters: how many of the things are done; moved on in the transaction of each part, and
                    removed in that of the last, so that no part is ever done twice
    intents/…       an object of the project: what is to be done, and to which things

Whoever begins one orders its continuation first (`resources/bulk/service.py`). Without a row there is nothing to go on
with: all was done, or nothing was begun.
"""

from __future__ import annotations

import uuid
import zlib
from dataclasses import dataclass

from chalicelib.core import object_keys
from chalicelib.core.object_keys import ObjectKey
from chalicelib.errors import Conflict, NotFound
from chalicelib.settings import settings
from chalicelib.storage.dynamodb.tables import CounterRow
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.objects import objects

FOLDER = "intents"


@dataclass
class Progress:
    """How far a change of many things is.

    Attributes:
        total: how many things there are.
        done: how many of them are done.
        name: of the intent; None for a change that ends with its request.
    """

    total: int
    done: int = 0
    name: str | None = None
    _stored: int = 0

    def add(self, change: Transaction, count: int) -> None:
        """Let a transaction that does the next things move the row on; Conflict where somebody else did them."""
        if self.name is None:
            return
        moved = Conflict("Somebody else goes on with this change.")
        row = CounterRow(f"intent#{self.name}", n=self.done + count)
        unmoved = CounterRow.n == self._stored
        if self.done + count < self.total:
            change.put(row, unmoved, moved)
        else:
            change.delete(row, unmoved, moved)

    def advance(self, count: int, *, committed: bool) -> None:
        """Note what was done, and whether a transaction told the row of it."""
        self.done += count
        if committed:
            self._stored = self.done

    def reload(self) -> None:
        """See what is done by now, by whoever it was."""
        if self.name is None:
            return
        try:
            self._stored = int(CounterRow.get(f"intent#{self.name}", "@", consistent_read=True).n)
        except CounterRow.DoesNotExist:
            self._stored = self.total
        self.done = max(self.done, self._stored)

    def close(self) -> None:
        """Remove the row where the last things needed no transaction; again is no error."""
        if self.name is not None and self._stored < self.total:
            CounterRow(f"intent#{self.name}", "@").delete()


@dataclass(frozen=True)
class Intent:
    """A change that outlives its request: its name, and the key of the object that says what it is."""

    name: str
    key: str


def named(project: int) -> Intent:
    """A new one, of which nothing is kept yet: its continuation is ordered first, so that no object is left alone."""
    name = uuid.uuid4().hex
    return Intent(name, str(_key(project, name)))


def fill(intent: Intent, body: bytes) -> None:
    """Keep what is to be done; nothing goes on with it before `begin`."""
    objects.write(_object(intent), zlib.compress(body, 1), bucket=settings().views_bucket)


def begin(intent: Intent, total: int) -> Progress:
    """From now on it is done to the end."""
    CounterRow(f"intent#{intent.name}", "@", n=0).save()
    return Progress(total=total, name=intent.name)


def read(intent: Intent) -> bytes | None:
    """What is to be done, None where it is gone."""
    try:
        return zlib.decompress(objects.read(_object(intent), bucket=settings().views_bucket))
    except NotFound:
        return None


def resume(intent: Intent, total: int) -> Progress:
    """How far it is; all of it where there is nothing to go on with."""
    progress = Progress(total=total, name=intent.name)
    progress.reload()
    return progress


def drop(intent: Intent) -> None:
    """Forget what was done to the end, or never begun; again is no error."""
    objects.remove([_object(intent)], bucket=settings().views_bucket)


def _key(project: int, name: str) -> ObjectKey:
    return object_keys.view_prefix(project) + f"{FOLDER}/{name}"


def _object(intent: Intent) -> ObjectKey:
    """The key of an intent as a message names it. Raises ValueError where it is not that of its name."""
    key = _key(int(intent.key.split("/")[1]), intent.name)
    if key.path != intent.key:
        message = f"{intent.key!r} is not the object of the intent {intent.name}"
        raise ValueError(message)
    return key
