"""A commit: the changes of one acknowledged write, as after-images, with one number in the project's log."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.core.resource import Timestamp

_DEFINITIONS = frozenset(DefinitionKind)


class Change(Struct, frozen=True, array_like=True):
    """One entity or definition after the commit.

    `doc` is the JSON document of the entity or definition, or JSON null once it is hidden from readers.
    """

    kind: str
    id: int
    doc: msgspec.Raw

    @property
    def is_definition(self) -> bool:
        """Whether a definition changed, rather than an entity."""
        return self.kind in _DEFINITIONS

    @property
    def is_gone(self) -> bool:
        """Whether it is hidden from readers."""
        return bytes(self.doc) == b"null"


GONE = msgspec.Raw(b"null")


class Edit(Struct, frozen=True, array_like=True):
    """One entry of the change log: the old and new values of changed fields of entities.

    `old` and `new` have the same keys; built-in fields carry a `_` before their name. Where an entry has several ids,
    `old` is of the first, and `olds` has the old values of each, in the order of `ids`: None for a row that the commit
    created.
    """

    kind: Kind
    ids: list[int]
    old: dict[str, object]
    new: dict[str, object]
    olds: list[dict[str, object] | None] | None = None


class Note(Struct, frozen=True, kw_only=True):
    """An event that changes no entity or definition, such as the end of a job; views ignore it.

    Attributes:
        type: the type of its event without "limn.": `media.ready`.
        kind: the word of what it concerns, `media`.
        id: the id of what it concerns.
        media: the ids of the media that a reader must be able to see to see the event.
        reader: the id of the only user who sees the event; None for all who see the project.
        data: what else it says.
    """

    type: str
    kind: str
    id: int | str
    media: list[int] = []
    reader: int | None = None
    data: dict[str, Any] = {}


class Operation(Struct, frozen=True, array_like=True):
    """A bulk change of several commits: its name, and the last commit before it began."""

    name: str
    after: int


class Touched(Struct, frozen=True, array_like=True):
    """The members and attributes that a commit may have changed in rows of one kind; all others are as before."""

    members: list[str]
    attributes: list[str]


class Commit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The changes of one write, in order. `seq` is gapless within a project and starts at 1.

    `past` has the documents that definitions had before they changed, and that deleted entities and definitions had.
    `operation` is the bulk change that the commit is a part of. `touched` names the members and
    attributes that changed, where all changes rewrite existing rows of one kind; it is None otherwise.
    """

    project: int
    seq: int
    at: Timestamp
    user: int | None
    changes: list[Change]
    edits: list[Edit] = []
    past: list[Change] = []
    notes: list[Note] = []
    operation: Operation | None = None
    touched: Touched | None = None
