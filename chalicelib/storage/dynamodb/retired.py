"""Deleted types and versions whose entities are still being tombstoned.

    records  (project#14, retired)   the deleted definitions; n counts the changes

The row changes in the transaction that deletes a definition. From then on readers hide the entities of the definition
(`storage/dynamodb/entity_rows.py`), until the last one has its tombstone (`resources/types/retirement.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from chalicelib.core.kinds import DefinitionKind
from chalicelib.core.time.retry import CONFLICTS
from chalicelib.errors import Conflict
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction

_SORT_KEY = "retired"
_encode = msgspec.json.Encoder().encode


class Retired(msgspec.Struct, frozen=True, kw_only=True):
    """A deleted type or version."""

    kind: DefinitionKind = msgspec.field(name="what")
    id: int
    name: str
    """The name of the intent that lists its entities."""
    seq: int
    """The commit that the list is as of; later entities are found in the log after it."""
    user: int
    """Id of the user who deleted it."""


_decoder = msgspec.json.Decoder(list[Retired])


@dataclass(frozen=True)
class Standing:
    """The definitions of a project that are being tombstoned, and the number of changes to that list."""

    entries: tuple[Retired, ...] = ()
    n: int = 0

    def find(self, name: str) -> Retired | None:
        """The entry of an intent."""
        return next((entry for entry in self.entries if entry.name == name), None)


def key(project: int) -> tuple[str, str]:
    """The key of the row of a project."""
    return f"project#{project}", _SORT_KEY


def state_of(row: RecordRow | None) -> Standing:
    """The content of the row; where it is missing, nothing was ever deleted."""
    return Standing() if row is None else Standing(tuple(_decoder.decode(row.doc)), int(row.n))


def current(project: int) -> Standing:
    """The definitions of a project that are being tombstoned."""
    return state_of(RecordRow.find(*key(project)))


def add(change: Transaction, project: int, before: Standing, entry: Retired) -> None:
    """Add a deleted definition in a transaction, which fails with Conflict where the row changed since `before`."""
    _put(change, project, before, (*before.entries, entry))


def remove_entry(project: int, name: str) -> None:
    """Remove an entry whose entities all have their tombstones. Idempotent."""
    for _ in CONFLICTS.attempts():
        before = current(project)
        if before.find(name) is None:
            return
        change = Transaction()
        _put(change, project, before, tuple(entry for entry in before.entries if entry.name != name))
        try:
            change.run()
        except Conflict:
            continue
        return
    raise Conflict(f"Too many definitions of project {project} go at once.")


def forget(project: int) -> None:
    """Delete the list of tombstoned definitions, for a purge."""
    RecordRow(*key(project)).delete()


def _put(change: Transaction, project: int, before: Standing, entries: tuple[Retired, ...]) -> None:
    unmoved = RecordRow.n == before.n if before.n else RecordRow.pk.does_not_exist()
    moved = Conflict("Another type or version is being deleted at the same time.")
    change.put(RecordRow(*key(project), doc=_encode(entries), n=before.n + 1), unmoved, moved)
