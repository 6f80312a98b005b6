"""A commit: what one acknowledged write changed in a project, as after-images, in one place of the project's log."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.core.resource import Timestamp

_DEFINITIONS = frozenset(DefinitionKind)


class Change(Struct, frozen=True, array_like=True):
    """One thing as it is after the commit.

    `doc` is the JSON document of the entity or definition, or JSON null once it is gone for readers.
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
        """Whether readers no longer see the thing."""
        return bytes(self.doc) == b"null"


GONE = msgspec.Raw(b"null")


class Edit(Struct, frozen=True, array_like=True):
    """One entry of the change log: what fields of which entities went from what to what.

    `old` and `new` have the same keys; built-in fields carry a `_` before their name (`spec/3` §11.4).
    """

    kind: Kind
    ids: list[int]
    old: dict[str, object]
    new: dict[str, object]


class Commit(Struct, frozen=True, kw_only=True):
    """The changes of one write, in order. `seq` is gapless within a project and starts at 1."""

    project: int
    seq: int
    at: Timestamp
    user: int | None
    changes: list[Change]
    edits: list[Edit] = []
