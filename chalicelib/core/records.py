"""How each kind of record is stored: its parent, its order, and its unique values.

A record kind is data; `storage/dynamodb/records.py` reads it. The Structs are those of the other modules of this
package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from chalicelib.core.kinds import DefinitionKind
from chalicelib.core.record_limits import Most, limits_of

R = TypeVar("R")


def padded(number: int) -> str:
    """An id, padded so that it sorts in a key."""
    return f"{number:012d}"


@dataclass(frozen=True, kw_only=True)
class RecordKind(Generic[R]):
    """One kind of record.

    Attributes:
        name: its word in keys.
        struct: its Struct.
        title: its word in messages and paths; by default the name of the Struct.
        parent: the member that holds the parent's id, and the parent's word; None for a record without parent.
        key: the sort key within its parent, unique there; the padded id unless said otherwise.
        links: further members under whose values the record is listed: member → word of what the value identifies.
        claims: unique values, as words; the record holds them until it is deleted.
        definition: set where a change of the record is also committed to its project's log.
    """

    name: str
    struct: type[R]
    title: str = ""
    parent: tuple[str, str] | None = None
    key: Callable[[R], str] | None = None
    links: Mapping[str, str] = field(default_factory=dict)
    claims: Callable[[R], Mapping[str, str]] = lambda _: {}
    definition: DefinitionKind | None = None
    identity: str = "id"

    def __post_init__(self) -> None:
        """Raise AssertionError for a kind that says nothing of its number."""
        object.__setattr__(self, "title", self.title or self.struct.__name__)
        limits_of(self.name)
        KINDS[self.name] = self

    @property
    def limits(self) -> tuple[Most, ...]:
        """How many there may be."""
        return limits_of(self.name)

    @property
    def plural(self) -> str:
        """Its word for several, in sentences: `row protections`."""
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self.title).lower()
        return f"{words[:-2]}es" if words.endswith("is") else f"{words}s"

    def id_of(self, record: Any) -> Any:
        """The record's id: an integer, or the uid of a job."""
        return getattr(record, self.identity)

    def sort_key(self, record: Any) -> str:
        """The record's sort key under its parent."""
        if self.key:
            return self.key(record)
        number = self.id_of(record)
        return padded(number) if isinstance(number, int) else str(number)


KINDS: dict[str, RecordKind[Any]] = {}
"""All kinds that were declared, by name."""
