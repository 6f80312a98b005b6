"""Deletion of a definition from a view: all entities of a type or of a version, and annotations on media of a type.

The commit records only the deletion of the definition. Rows written concurrently by others come in later commits; they
are recognized by their definition and left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from chalicelib.core.kinds import TYPE_OF, DefinitionKind, Kind
from chalicelib.core.models.entities import media_of
from chalicelib.query.compiler import sql

KIND_OF_TYPE = {definition: kind for kind, definition in TYPE_OF.items()}
WITH_ROWS = frozenset({*KIND_OF_TYPE, DefinitionKind.VERSION})
"""Deleted definitions and media."""
Hides = Callable[[Any], bool]


class DeletedDefinitions(msgspec.Struct, kw_only=True):
    """What later commits cannot create again."""

    definitions: dict[DefinitionKind, set[int]] = {}
    """Types and versions that were deleted."""
    media: set[int] = set()
    """Media whose type was deleted."""

    def __bool__(self) -> bool:
        return bool(self.definitions or self.media)

    def copy(self) -> DeletedDefinitions:
        """A copy that may be changed."""
        definitions = {kind: set(numbers) for kind, numbers in self.definitions.items()}
        return DeletedDefinitions(definitions=definitions, media=set(self.media))

    def record(self, kind: DefinitionKind, number: int, *, gone: bool) -> None:
        """Record that a definition was deleted or created."""
        if gone:
            self.definitions.setdefault(kind, set()).add(number)
        else:
            self.definitions.get(kind, set()).discard(number)

    def hides(self, kind: Kind, exists: Callable[[int], bool]) -> Hides | None:
        """The predicate for hidden entities of a kind; None where all are visible.

        Args:
            kind: the kind.
            exists: whether there is a media with an id.
        """
        types = self.definitions.get(TYPE_OF[kind], set())
        versions = self.definitions.get(DefinitionKind.VERSION, set()) if kind.is_annotation else set()
        media = self.media if kind.is_annotation else set()
        if not (types or versions or media):
            return None

        def hidden(thing: Any) -> bool:
            if thing.type in types:
                return True
            if not kind.is_annotation:
                return False
            if thing.version in versions:
                return True
            on = media_of(thing)
            return not media.isdisjoint(on) and not any(map(exists, on))

        return hidden


def id_queries(kind: DefinitionKind, number: int) -> dict[Kind, sql.Statement]:
    """Queries for the ids of a definition's entities, before any of them is deleted."""
    if kind is DefinitionKind.VERSION:
        return {each: _where(each, "version", number) for each in Kind if each.is_annotation}
    own = KIND_OF_TYPE[kind]
    found = {own: _where(own, "type", number)}
    if own is Kind.MEDIA:
        media = sql.table(Kind.MEDIA)
        found[Kind.LOCALIZATION] = sql.Statement(
            f"SELECT id FROM {sql.table(Kind.LOCALIZATION)}"  # noqa: S608 names of our own
            f" WHERE media IN (SELECT id FROM {media} WHERE type = ?)",
            [number],
        )
        found[Kind.STATE] = sql.Statement(
            f"SELECT s.id FROM (SELECT id, unnest(media) AS one FROM {sql.table(Kind.STATE)}) s"  # noqa: S608
            f" JOIN {media} m ON m.id = s.one GROUP BY s.id HAVING bool_and(m.type = ?)",
            [number],
        )
    return found


def _where(kind: Kind, column: str, number: int) -> sql.Statement:
    return sql.Statement(f"SELECT id FROM {sql.table(kind)} WHERE {column} = ?", [number])  # noqa: S608
