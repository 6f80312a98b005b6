"""The rows of one Parquet file on their way from a view: ids and documents, sorted as the file is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, starmap
from operator import le
from typing import Any

from chalicelib.storage.view.database import arrow


class RowsOfFile:
    """The rows of a file, collected in the order of their ids."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        """Their ids."""
        self.bytes = 0
        """Of their documents."""
        self._keys: list[int | None] = []
        self._documents: list[bytes] = []

    def add(self, numbers: Sequence[int], keys: Sequence[int | None], documents: Sequence[bytes]) -> None:
        """Add rows of later ids: ids, what they are sorted by before their ids, None last, and documents."""
        self.numbers += numbers
        self._keys += keys
        self._documents += documents
        self.bytes += sum(map(len, documents))

    def sorted_columns(self) -> dict[str, arrow.Column]:
        """The ids and documents in the order of the file."""
        keys: list[Any] = self._keys if None not in self._keys else [(each is None, each or 0) for each in self._keys]
        numbers, documents = self.numbers, self._documents
        if not all(starmap(le, pairwise(keys))):
            order = sorted(range(len(keys)), key=keys.__getitem__)
            numbers, documents = [numbers[place] for place in order], [documents[place] for place in order]
        return {"id": arrow.integers(numbers), "document": arrow.blobs(documents)}
