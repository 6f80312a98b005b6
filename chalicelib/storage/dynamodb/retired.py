"""Definitions that are gone with everything of them, while the rows of that are still being buried.

    records  (project#14, retired)   which they are; n counts how often that changed

The row changes in the transaction that removes a definition. From then on readers of rows ask it whether a row went
with one (`storage/dynamodb/entity_rows.py`), until the last row is buried (`resources/types/retirement.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from chalicelib.core.kinds import DefinitionKind
from chalicelib.core.retry import CONFLICTS
from chalicelib.errors import Conflict
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction

_SORT_KEY = "retired"
_encode = msgspec.json.Encoder().encode


class Retired(msgspec.Struct, frozen=True, kw_only=True):
    """A type or a version that is gone."""

    what: DefinitionKind
    id: int
    name: str
    """Of the intent that lists what is of it."""
    seq: int
    """As of which commit it lists that; what came later is in the log behind it."""
    user: int
    """Who deleted it."""


_decoder = msgspec.json.Decoder(list[Retired])


@dataclass(frozen=True)
class Standing:
    """What of a project is being buried, and how often that changed."""

    entries: tuple[Retired, ...] = ()
    n: int = 0

    def named(self, name: str) -> Retired | None:
        """The entry of an intent."""
        return next((entry for entry in self.entries if entry.name == name), None)


def key(project: int) -> tuple[str, str]:
    """Where the row of a project is."""
    return f"project#{project}", _SORT_KEY


def standing(row: RecordRow | None) -> Standing:
    """What the row says; where there is none, nothing was ever retired."""
    return Standing() if row is None else Standing(tuple(_decoder.decode(row.doc)), int(row.n))


def of(project: int) -> Standing:
    """What of a project is being buried."""
    try:
        return standing(RecordRow.get(*key(project), consistent_read=True))
    except RecordRow.DoesNotExist:
        return Standing()


def add(change: Transaction, project: int, before: Standing, entry: Retired) -> None:
    """Let a definition be retired in a transaction, which fails with Conflict where another was since `before`."""
    _put(change, project, before, (*before.entries, entry))


def settle(project: int, name: str) -> None:
    """Forget an entry whose rows are all buried; again is no error."""
    for _ in CONFLICTS.attempts():
        before = of(project)
        if before.named(name) is None:
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
    """Remove the row, for a purge."""
    RecordRow(*key(project)).delete()


def _put(change: Transaction, project: int, before: Standing, entries: tuple[Retired, ...]) -> None:
    unmoved = RecordRow.n == before.n if before.n else RecordRow.pk.does_not_exist()
    moved = Conflict("Another type or version is being deleted at the same time.")
    change.put(RecordRow(*key(project), doc=_encode(entries), n=before.n + 1), unmoved, moved)
