"""Bulk changes of sections, one after the other. Each step can be repeated."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED, Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Edit
from chalicelib.core.models.definitions import SECTION, Section
from chalicelib.core.models.entities import Media
from chalicelib.core.models.media_files import TAG_ATTRIBUTE
from chalicelib.errors import BadInput, NotFound, Taken
from chalicelib.query.operators import Op
from chalicelib.query.tree import Query, Test
from chalicelib.resources.bulk.service import Handlers, OneByOne
from chalicelib.storage.dynamodb import entities, records, steps
from chalicelib.storage.dynamodb.steps import RowChange
from chalicelib.storage.dynamodb.transactions import Transaction

A_ROUND = 10 * steps.MOST_STEPS
"""Media that one step unlinks from a section."""


def inside(section: int) -> Query:
    """A query for the media of a folder."""
    return Query(kind=Kind.MEDIA, where=Test("section", Op.EQ, section))


def path_taken() -> BadInput:
    """The error for a section whose path another section has."""
    return Taken("path: Section with this path already exists!")


class UnlinkSection(OneByOne):
    """Deletes a section; its media are kept without a section.

    The media change first, so that none names a deleted section; then media added meanwhile.
    """

    def check(self, scope: Scope) -> None:
        """Check the media of the sections."""
        for number in self.change.numbers:
            view_queries.check_reach(self.change.project, inside(number), scope)

    def do_one(self, number: int) -> tuple[int, bool]:
        """Unlink up to `A_ROUND` media, or delete the section."""
        if not self._empty(number):
            return 0, False
        self._free_sections(number)
        records.discard(SECTION, number, user=self.change.user)
        return int(self._empty(number)), False

    def _free_sections(self, master: int) -> None:
        """Clear the master section of the sections that name this one."""

        def free(current: Section) -> Section | None:
            return msgspec.structs.replace(current, master_section=None) if current.master_section == master else None

        for section in records.definitions(self.change.project).sections.values():
            if section.master_section == master:
                with suppress(NotFound):
                    records.edit(SECTION, section.id, free, user=self.change.user)

    def _empty(self, section: int) -> bool:
        """Unlink up to `A_ROUND` media of a folder. Returns whether those were all."""
        change = self.change

        def unlink(part: Sequence[int]) -> None:
            rows = [row for row in entities.many(Kind.MEDIA, part).values() if row.entity.primary_section == section]
            done = [RowChange(Kind.MEDIA, row, _unlink(row.entity)) for row in rows]
            edits = [Edit(Kind.MEDIA, [step.after.id for step in done], *change.logged)]
            steps.apply(change.project, done, user=change.user, edits=edits)

        view = view_queries.current(change.project)
        numbers = view_queries.ids(view, replace(inside(section), stop=A_ROUND), UNRESTRICTED)
        steps.in_parts(numbers, unlink)
        return len(numbers) < A_ROUND


def _unlink(row: Media) -> Media:
    attributes = {**row.attributes, TAG_ATTRIBUTE: ""}
    return msgspec.structs.replace(row, primary_section=None, master_section=None, attributes=attributes)


class RenamePaths(OneByOne):
    """Renames paths of sections that still have the path that was read."""

    def check(self, scope: Scope) -> None:
        """Does nothing: no entity is written."""

    def do_one(self, number: int) -> tuple[int, bool]:
        """Rename the path of one section. Raises BadInput if another section has the new path."""
        seen, wanted = self.change.paths[number]
        noted = False

        def rename(current: Section) -> Section | None:
            nonlocal noted
            noted = False
            return msgspec.structs.replace(current, path=wanted) if current.path == seen else None

        def note(transaction: Transaction, _before: Section, _after: Section) -> None:
            nonlocal noted
            noted = True
            self.note(transaction, 1)

        with suppress(NotFound):
            records.edit(SECTION, number, rename, user=self.change.user, taken=path_taken(), also=note)
        return 1, noted


HANDLERS: Handlers = {("rename_paths", Kind.MEDIA): RenamePaths, ("unlink_section", Kind.MEDIA): UnlinkSection}
"""The verbs of this slice."""
