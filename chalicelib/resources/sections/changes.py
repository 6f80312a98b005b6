"""What bulk changes do to sections, one after the other (`resources/bulk/service.py`); any of it may be done again.

Each returns how many sections it did, 0 where the rest of one is to come, and whether a transaction told of it: `also`
adds to one what is to go with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED
from chalicelib.core.commits import Edit
from chalicelib.core.definitions import SECTION, Section
from chalicelib.core.kinds import Kind
from chalicelib.errors import BadInput, NotFound
from chalicelib.query.operators import Op
from chalicelib.query.tree import Query, Test
from chalicelib.resources.bulk.changes import BulkChange, leaving
from chalicelib.storage.dynamodb import entities, records, steps
from chalicelib.storage.dynamodb.steps import Step
from chalicelib.storage.dynamodb.transactions import Transaction

A_ROUND = 10 * steps.LARGEST
"""Media that one call takes out of a section."""


def inside(section: int) -> Query:
    """A query for the media of a folder."""
    return Query(kind=Kind.MEDIA, where=Test("section", Op.EQ, section))


def path_taken() -> BadInput:
    """What a second section of a path meets."""
    return BadInput("path: Section with this path already exists!")


def dissolve(change: BulkChange) -> tuple[int, bool]:
    """Remove a section; its media stay, and belong to none.

    Media first, so that nothing names a section that is gone; then those that came meanwhile.
    """
    (section,) = change.numbers
    if not _empty(change):
        return 0, False
    with suppress(NotFound):
        records.remove(SECTION, section, user=change.user)
    return int(_empty(change)), False


def _empty(change: BulkChange) -> bool:
    """Let the media of a folder belong to none, up to `A_ROUND` of them; whether that was all."""
    (section,) = change.numbers
    how = leaving(change)

    def leave(part: Sequence[int]) -> None:
        rows = entities.many(Kind.MEDIA, part).values()
        done = [Step(Kind.MEDIA, row, after) for row in rows if (after := how(row.entity)) is not None]
        edits = [Edit(Kind.MEDIA, [step.after.id for step in done], *change.told)]
        steps.apply(change.project, done, user=change.user, edits=edits)

    numbers = view_queries.ids(
        view_queries.current(change.project), replace(inside(section), stop=A_ROUND), UNRESTRICTED
    )
    steps.in_parts(numbers, leave)
    return len(numbers) < A_ROUND


def repath(change: BulkChange, section: int, also: Callable[[Transaction], None]) -> tuple[int, bool]:
    """Give a section another path, if it still has the one that was seen.

    Raises:
        BadInput: another section has that path.
    """
    seen, wanted = change.paths[section]
    told = False

    def how(current: Section) -> Section | None:
        nonlocal told
        told = False
        return msgspec.structs.replace(current, path=wanted) if current.path == seen else None

    def tell(transaction: Transaction, _before: Section, _after: Section) -> None:
        nonlocal told
        told = True
        also(transaction)

    with suppress(NotFound):
        records.edit(SECTION, section, how, user=change.user, taken=path_taken(), also=tell)
    return 1, told
