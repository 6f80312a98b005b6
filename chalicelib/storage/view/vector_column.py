"""A column of vectors of a view, as `vectors.py` reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from chalicelib.core.kinds import Kind
from chalicelib.query.compiler import sql
from chalicelib.query.layout import codes
from chalicelib.query.values import packed_array
from chalicelib.storage.view.rows import attribute_of

if TYPE_CHECKING:
    from chalicelib.storage.view.view import View

_ROWS = 122_880
"""Rows that DuckDB stores together: its codes are read at once."""


class VectorColumn:
    """The column of some attributes of a view. For readers of the view."""

    def __init__(self, view: View, kind: Kind, column: str) -> None:
        self._view = view
        self._kind = kind
        self._column = column

    @property
    def rows(self) -> int:
        """The number of vectors, at most."""
        return int(self._view.store.run(f"SELECT count(*) FROM {sql.table(self._kind)}")[0][0])  # noqa: S608

    def all(self) -> list[tuple[int, bytes]]:
        """All vectors, by id."""
        statement = sql.values(self._kind, self._column)
        return self._view.store.run(statement.text, statement.parameters)

    def some(self, numbers: Sequence[int]) -> list[tuple[int, bytes]]:
        """The vectors of the given ids that have one, by id, from the documents.

        From the column DuckDB would read those of all neighbours.
        """
        if not numbers:
            return []
        names = {
            number: name
            for number, slots in self._view.state.layout.slots[self._kind].items()
            for name, slot in slots.items()
            if slot.column == self._column
        }
        found = []
        for number, type_, body in self._view.documents_of(self._kind, numbers):
            packed = packed_array(attribute_of(body, names[type_])) if type_ in names else None
            if packed is not None:
                found.append((number, packed))
        return found

    def codes(self, start: int) -> Iterator[tuple[list[tuple[int, bytes]], int]]:
        """The codes of all vectors from a place on, by id, in parts, each with the place after it.

        Before each part DuckDB's memory is reduced by what is held of those before.
        """
        ((last,),) = self._view.store.run(f"SELECT max(rowid) FROM {sql.table(self._kind)}")  # noqa: S608
        column = codes(self._column)
        while last is not None and start <= last:
            statement = sql.values_between(self._kind, column, start, start + _ROWS)
            start += _ROWS
            self._view.hold_vectors()
            yield self._view.store.run(statement.text, statement.parameters, prefetches=False), start
