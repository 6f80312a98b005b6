"""Intents: stored bulk changes, kept until all their items are done by any container.

    intent#<name>   in the counters: the number of finished items; advanced in the transaction of each part, and
                    deleted in that of the last, so that no part is done twice
    intents/…       an object of the project: the change and its items

The message that continues the intent is sent first (`resources/bulk/service.py`). Without a row there is nothing to
continue: all is done, or nothing was begun.
"""

from __future__ import annotations

import uuid
import zlib
from dataclasses import dataclass

from chalicelib.core.keys import object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.errors import Conflict, NotFound
from chalicelib.storage.dynamodb.tables import CounterRow
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.objects import objects

FOLDER = "intents"


@dataclass
class Progress:
    """The progress of a bulk change.

    Attributes:
        total: the number of items.
        done: the number of finished items.
        name: the name of the intent; None for a change that ends with its request.
    """

    total: int
    done: int = 0
    name: str | None = None
    _stored: int = 0

    def add(self, change: Transaction, count: int) -> None:
        """Advance the row in the transaction of the next items. Raises Conflict where another container did them."""
        if self.name is None:
            return
        moved = Conflict("Another process continues this change.")
        row = CounterRow(f"intent#{self.name}", n=self.done + count)
        unmoved = CounterRow.n == self._stored
        if self.done + count < self.total:
            change.put(row, unmoved, moved)
        else:
            change.delete(row, unmoved, moved)

    def advance(self, count: int, *, committed: bool) -> None:
        """Note the finished items, and whether a transaction advanced the row."""
        self.done += count
        if committed:
            self._stored = self.done

    def reload(self) -> None:
        """Read the progress from the row, which another container may have advanced."""
        if self.name is None:
            return
        row = CounterRow.find(f"intent#{self.name}", "@")
        self._stored = int(row.n) if row else self.total
        self.done = max(self.done, self._stored)

    def close(self) -> None:
        """Delete the row where the last items needed no transaction. Idempotent."""
        if self.name is not None and self._stored < self.total:
            CounterRow(f"intent#{self.name}", "@").delete()


@dataclass(frozen=True)
class Intent:
    """A bulk change that outlives its request: its name, and the key of the object that describes it."""

    name: str
    key: str


def new_intent(project: int) -> Intent:
    """A new intent, nothing of which is stored yet: its message is sent first, so that no object is orphaned."""
    return intent_of(project, uuid.uuid4().hex)


def intent_of(project: int, name: str) -> Intent:
    """The intent of a project with a name."""
    return Intent(name, str(_key(project, name)))


def fill(intent: Intent, body: bytes) -> None:
    """Store the change; nothing continues it before `begin`."""
    objects.write(_object(intent), zlib.compress(body, 1))


def begin(intent: Intent, total: int) -> Progress:
    """Begin: from now on the change is carried out to its end."""
    CounterRow(f"intent#{intent.name}", "@", n=0).save()
    return Progress(total=total, name=intent.name)


def read(intent: Intent) -> bytes | None:
    """The stored change, None where it is gone."""
    try:
        return zlib.decompress(objects.read(_object(intent)))
    except NotFound:
        return None


def resume(intent: Intent, total: int) -> Progress:
    """The progress; finished where there is nothing to continue."""
    progress = Progress(total=total, name=intent.name)
    progress.reload()
    return progress


def drop(intent: Intent) -> None:
    """Delete an intent that is finished or was never begun. Idempotent."""
    objects.remove([_object(intent)])


def _key(project: int, name: str) -> ObjectKey:
    return object_keys.view_prefix(project) + f"{FOLDER}/{name}"


def _object(intent: Intent) -> ObjectKey:
    """The key of an intent that a message names. Raises ValueError where it does not match its name."""
    key = _key(int(intent.key.split("/")[1]), intent.name)
    if key.path != intent.key:
        raise ValueError(f"{intent.key!r} is not the object of the intent {intent.name}")
    return key
