"""Which rows of the table of entities are visible, and their documents.

Rows are read with their attributes as the type defines them now (`core/values/revisions.py`). A row is hidden where one
of its definitions was deleted (`storage/dynamodb/retired.py`): its type, its version or, for annotations, the type of
its media. Rows are read first, then, in one call, their types and the deleted definitions: so a row is never newer than
either.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

import msgspec

from chalicelib.core.kinds import TYPE_OF, DefinitionKind, Kind
from chalicelib.core.models.definitions import TYPE_RECORD
from chalicelib.core.models.entities import STRUCT_OF, Entity, media_of
from chalicelib.core.records import padded
from chalicelib.core.time.retry import BUSY
from chalicelib.core.values.revisions import up_to_date
from chalicelib.errors import Unavailable
from chalicelib.storage.dynamodb import ahead, record_rows, retired
from chalicelib.storage.dynamodb.retired import Retired
from chalicelib.storage.dynamodb.tables import EntityRow, write_batch

E = TypeVar("E", bound=Entity)

ROWS_A_READ = 100
ROWS_A_WRITE = 25
_pool = ThreadPoolExecutor(max_workers=8, thread_name_prefix="entities")


class Stored(msgspec.Struct, Generic[E], frozen=True):
    """A current entity with its optimistic lock, and its type as it was read after it (None where it was not)."""

    entity: E
    n: int
    type: Any = None


class _Typed(msgspec.Struct):
    type: int


_typed = msgspec.json.Decoder(_Typed)
_decoders = {kind: msgspec.json.Decoder(struct) for kind, struct in STRUCT_OF.items()}


def key(kind: Kind, number: int) -> str:
    """The key of an entity's row."""
    return f"{kind}#{number}"


def number_of(row: EntityRow) -> int:
    """The id of an entity's row."""
    return int(row.pk.partition("#")[2])


def read(kind: Kind, numbers: Iterable[int]) -> list[EntityRow]:
    """The existing rows, in no order."""
    found, left = ahead.pop_all(EntityRow, [(key(kind, number),) for number in dict.fromkeys(numbers)])
    keys = [each[0] for each in left]
    parts = [keys[start : start + ROWS_A_READ] for start in range(0, len(keys), ROWS_A_READ)]
    return [*found, *(row for part in _in_parallel(_read_part, parts) for row in part)]


def _in_parallel(do: Callable[[Any], Any], parts: Sequence[Any]) -> list[Any]:
    """Run a function on each part, in parallel where there are several: each takes 5 ms."""
    if len(parts) <= 1:
        return [do(part) for part in parts]
    return list(_pool.map(do, parts))


class Reading:
    """Rows of one kind, read by one call."""

    def __init__(self, kind: Kind, rows: Sequence[EntityRow], *, revised: bool = True) -> None:
        """Read what decides whether the rows are seen.

        Args:
            kind: their kind.
            rows: the rows.
            revised: whether `seen` has the attributes as the types define them now, which takes the types.
        """
        self._kind = kind
        self._rows = rows
        decode = _decoders[kind].decode
        self._things: list[Any] = [decode(row.doc) for row in rows]
        self._types: dict[tuple[int, int], Any] = {}
        self._retired: dict[int, tuple[Retired, ...]] = {}
        self._look_up({(thing.project, thing.type) for thing in self._things}, revised=revised)
        self._hidden = self._find_hidden()

    def seen(self) -> dict[int, Stored[Any]]:
        """The visible entities, by id."""
        return self._load(hidden=False)

    def hidden(self) -> dict[int, Stored[Any]]:
        """The rows hidden because a definition was deleted."""
        return self._load(hidden=True)

    def _load(self, *, hidden: bool) -> dict[int, Stored[Any]]:
        return {
            thing.id: self._load_one(row, thing)
            for row, thing in zip(self._rows, self._things, strict=True)
            if (thing.id in self._hidden) is hidden
        }

    def _load_one(self, row: EntityRow, thing: Any) -> Stored[Any]:
        # Attributes of a deleted type are never read again.
        of = self._types.get((thing.project, thing.type))
        return Stored(up_to_date(thing, of.revisions) if of and of.revisions else thing, int(row.n), of)

    def _look_up(self, places: set[tuple[int, int]], *, revised: bool) -> None:
        record = TYPE_RECORD[self._kind]
        homes = {record_rows.home(record, project, padded(number)): (project, number) for project, number in places}
        if not revised:
            homes = {}
        standing = {retired.key(project): project for project, _ in places}
        beside = [key for project, _ in places for key in ahead.keys_beside(project)] if len(places) == 1 else []
        found = {(row.pk, row.sk): row for row in record_rows.rows([*homes, *standing, *beside])}
        ahead.remember(beside, found)
        for key, row in found.items():
            if place := homes.get(key):
                self._types[place] = record_rows.decode(record, row)
            elif key in standing:
                self._retired[standing[key]] = retired.state_of(row).entries

    def _find_hidden(self) -> set[int]:
        if not any(self._retired.values()):
            return set()
        gone: defaultdict[DefinitionKind, set[int]] = defaultdict(set)
        for entries in self._retired.values():  # ids are unique among all projects
            for entry in entries:
                gone[entry.kind].add(entry.id)
        own = gone[TYPE_OF[self._kind]]
        hidden = {thing.id for thing in self._things if thing.type in own}
        if self._kind.is_annotation:
            hidden |= {thing.id for thing in self._things if thing.version in gone[DefinitionKind.VERSION]}
            if types := gone[DefinitionKind.MEDIA_TYPE]:
                hidden |= self._without_media(types)
        return hidden

    def _without_media(self, types: set[int]) -> set[int]:
        """Localizations whose media has a deleted type, and states none of whose media is left."""
        media = {number for thing in self._things for number in media_of(thing)}
        rows = {number_of(row): row for row in read(Kind.MEDIA, media)}
        lost = {number for number, row in rows.items() if _typed.decode(row.doc).type in types}
        left = {number for number, row in rows.items() if row.deleted is None} - lost
        return {
            thing.id
            for thing in self._things
            if not lost.isdisjoint(media_of(thing)) and left.isdisjoint(media_of(thing))
        }


def _read_part(keys: list[str]) -> list[EntityRow]:
    return list(EntityRow.many([(key,) for key in keys]))


def write(rows: Sequence[EntityRow]) -> None:
    """Write new rows, without a transaction. Raises Unavailable where some may be missing."""
    parts = [rows[start : start + ROWS_A_WRITE] for start in range(0, len(rows), ROWS_A_WRITE)]
    _in_parallel(_write_part, parts)


def _write_part(rows: Sequence[EntityRow]) -> None:
    table = EntityRow.Meta.table_name
    wanted: dict[str, Any] = {table: [{"PutRequest": {"Item": row.serialize()}} for row in rows]}
    for _ in BUSY.attempts():
        wanted = write_batch(wanted)
        if not wanted:
            return
    raise Unavailable("The database is too busy; nothing was created. Try again.")
