"""The assignment of attributes to columns of the view.

Each kind has one table: its built-in columns and numbered ones, `a0`, `a1` …, each of one SQL type. An attribute of a
type gets a column of its dtype's SQL type; types share columns among each other, an attribute that other types have
under the same name first of all, so that a filter over all types is usually one comparison. User-given names are
never part of a statement, a rename moves no data, and a list over all types is a scan of one table.

A place is five columns of the table: its longitude under the name, its latitude beside it (`latitude`), for comparing
plain numbers takes a quarter of the time of taking them out of arrays; and the same place as a unit vector (`vector`),
so that most distances are decided without an angle. A vector of any dimension is two columns: 32 bit floats,
little-endian, and its code (`codes`, `query/vector_codes.py`); `storage/view/vector_search/vectors.py` compares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import AnyType
from chalicelib.core.values.revisions import Added, Recast, Removed, Renamed, Revision

PLACE = "DOUBLE[2]"
VECTOR = "BLOB"
SQL_TYPE = {
    "bool": "BOOLEAN",
    "int": "BIGINT",
    "float": "DOUBLE",
    "string": "VARCHAR",
    "enum": "VARCHAR",
    "blob": "VARCHAR",
    "datetime": "TIMESTAMP",
    "geopos": PLACE,
    "float_array": VECTOR,
    "ints": "BIGINT[]",
}


def latitude(column: str) -> str:
    """The column of the latitudes of a column of places."""
    return f"{column}b"


def vector(column: str) -> tuple[str, str, str]:
    """The columns of the unit vectors of a column of places, as `geodesy.unit` makes them."""
    return f"{column}x", f"{column}y", f"{column}z"


def place_columns(column: str) -> tuple[str, ...]:
    """All the columns that store one column of places, in order."""
    return column, latitude(column), *vector(column)


def codes(column: str) -> str:
    """The column of the codes of a column of vectors."""
    return f"{column}q"


def stored_columns(column: str, sql_type: str) -> tuple[tuple[str, str], ...]:
    """The names and declarations of the table columns for one column of a SQL type."""
    if sql_type == PLACE:
        return (column, "DOUBLE"), (latitude(column), "DOUBLE"), *((each, "FLOAT") for each in vector(column))
    if sql_type == VECTOR:
        declared = f"{sql_type} USING COMPRESSION uncompressed"  # measurements hardly compress
        return (column, declared), (codes(column), declared)
    return ((column, sql_type),)


@dataclass(frozen=True)
class Slot:
    """The column of an attribute of a type, and the dtype its values are converted to."""

    column: str
    dtype: str


@dataclass
class Layout:
    """The columns of one project's view. Columns are only added; an unused column is reused."""

    sql_types: dict[Kind, dict[str, str]] = field(default_factory=lambda: {kind: {} for kind in Kind})
    """By kind: numbered column → its SQL type, in the order of the table."""
    slots: dict[Kind, dict[int, dict[str, Slot]]] = field(default_factory=lambda: {kind: {} for kind in Kind})
    """By kind and type: attribute → its slot."""
    users: dict[Kind, dict[str, set[int]]] = field(default_factory=lambda: {kind: {} for kind in Kind})
    """By kind: numbered column → the types that use it."""

    def copy(self) -> Layout:
        """An independent copy."""
        return Layout(
            {kind: dict(columns) for kind, columns in self.sql_types.items()},
            {kind: {number: dict(slots) for number, slots in types.items()} for kind, types in self.slots.items()},
            {kind: {column: set(types) for column, types in users.items()} for kind, users in self.users.items()},
        )

    def slot(self, kind: Kind, number: int, name: str) -> Slot | None:
        """The slot of an attribute of a type; None if the type lacks the attribute."""
        return self.slots[kind].get(number, {}).get(name)

    def fit(self, kind: Kind, number: int, definition: AnyType | None, revisions: Sequence[Revision] = ()) -> Fitted:
        """Fit the columns to a changed type (None: deleted) and return the changes to make in the table.

        Args:
            kind: the kind of the type's entities.
            number: the id of the type.
            definition: the type.
            revisions: its revisions since it was last fitted.
        """
        attributes = {each.name: each.dtype for each in definition.attribute_types} if definition else {}
        before, values, removed, numbers = _followed(self.slots[kind].get(number, {}), revisions)
        kept = {
            name: Slot(slot.column, attributes[name])
            for name, slot in before.items()
            if name in attributes and SQL_TYPE[attributes[name]] == SQL_TYPE[slot.dtype]
        }
        recast = {name: slot for name, slot in before.items() if name in numbers & attributes.keys() - kept.keys()}
        freed = [*removed, *(slot.column for name, slot in before.items() if name not in kept)]
        for column in freed:
            self.users[kind][column].discard(number)
        added: list[str] = []
        filled: dict[str, Slot] = {}
        for name, dtype in attributes.items():
            if name not in kept:
                # The target of a move must not be the source of another.
                taken = {slot.column for slot in (*kept.values(), *filled.values(), *recast.values())}
                column = self._free(kind, name, SQL_TYPE[dtype], taken)
                if column not in self.sql_types[kind]:
                    self.sql_types[kind][column] = SQL_TYPE[dtype]
                    added.append(column)
                self.users[kind].setdefault(column, set()).add(number)
                filled[name] = Slot(column, dtype)
        if definition is None:
            self.slots[kind].pop(number, None)
        else:
            self.slots[kind][number] = kept | filled
        return Fitted(added, freed, filled, recast, values)

    def _free(self, kind: Kind, name: str, sql_type: str, taken: set[str]) -> str:
        """A free column of a SQL type: one with this name in other types, else an unused one, else any."""
        free = [each for each, its in self.sql_types[kind].items() if its == sql_type and each not in taken]
        namesakes = {
            slots[name].column for slots in self.slots[kind].values() if name in slots and slots[name].column in free
        }
        if namesakes:
            return min(namesakes)
        unused = [column for column in free if not self.users[kind].get(column)]
        if unused or free:
            return (unused or free)[0]
        return f"a{len(self.sql_types[kind])}"


@dataclass(frozen=True)
class Fitted:
    """The changes that a changed type makes to the table."""

    added: list[str]
    """Columns to add to the table."""
    emptied: list[str]
    """Columns to empty for entities of the type, after recast values were read from them."""
    filled: dict[str, Slot]
    """Attributes whose column is new or changed."""
    recast: dict[str, Slot]
    """The moved attributes whose values are copied from their previous column."""
    values: dict[str, Any]
    """The new attributes with an initial value, possibly None, for all existing entities."""


def _followed(
    slots: dict[str, Slot], revisions: Sequence[Revision]
) -> tuple[dict[str, Slot], dict[str, Any], list[str], set[str]]:
    """The slots by current name, the values of added attributes, the columns of removed ones, and recast ones."""
    slots, freed = dict(slots), []
    values: dict[str, Any] = {}
    numbers: set[str] = set()
    for revision in revisions:
        match revision:
            case Renamed(name, to):
                if name in slots:
                    slots[to] = slots.pop(name)
                if name in values:
                    values[to] = values.pop(name)
                if name in numbers:
                    numbers = numbers - {name} | {to}
            case Added(name) | Removed(name):
                values.pop(name, None)
                if name in slots:
                    freed.append(slots.pop(name).column)
                if isinstance(revision, Added):
                    values[name] = revision.value
            case Recast(name):
                numbers.add(name)
    return slots, values, freed, numbers
