"""References: the ids of entities and records in a body, each of which the caller must be able to see.

Structs declare such members (`Resource.names`), and the dispatcher checks them before the handler runs, so no handler
can forget to. An id that the caller may not see is refused with the same message as one that does not exist, or left
out where unknown ids are left out (`Resource.drops_unknown`). Where permissions are not fine-grained, a member of the
project sees all of it but hidden versions, and handlers check that the ids exist.

Filters are not references: `view_queries` restricts what they find and read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import OF_LAYERS, Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import SECTION, VERSION
from chalicelib.core.permissions import Level
from chalicelib.core.records import RecordKind, padded
from chalicelib.core.resource import Resource
from chalicelib.errors import BadInput
from chalicelib.query.operators import Op
from chalicelib.query.tree import Query, Test
from chalicelib.storage.dynamodb import entities, records

RECORDS: dict[str, RecordKind[Any]] = {kind.name: kind for kind in (SECTION, VERSION)}
"""Kinds that a body may refer to, beside those of entities."""


@dataclass(frozen=True, kw_only=True)
class Name:
    """One member of a body that refers to entities or records."""

    place: str
    """Its path, as in errors: `[2].media_ids`."""
    kind: str
    holder: Resource
    member: str

    @property
    def ids(self) -> list[int]:
        """The ids in it; numbers below 1 mean none."""
        value = getattr(self.holder, self.member)
        numbers = value if isinstance(value, list) else [value]
        return [int(number) for number in numbers if isinstance(number, int | float) and number >= 1]


def check(scope: Scope, project: int, *parts: Any) -> None:
    """Check all references in the decoded parts of a request: its query parameters, its body.

    Raises:
        BadInput: a member refers to an entity or record that does not exist in the project, or that the caller may not
            see.
    """
    if not scope.is_restricted and not (any(map(_may_name_layers, parts)) and scope.hidden_rows(project)):
        return
    names = [name for part in parts for name in _names(part, "")]
    if not scope.is_restricted:
        names = [name for name in names if name.kind in OF_LAYERS]
    wanted: defaultdict[str, set[int]] = defaultdict(set)
    for name in names:
        wanted[name.kind].update(name.ids)
    reader = scope.for_level(Level.VIEW)
    seen = {kind: visible(reader, project, kind, numbers) for kind, numbers in wanted.items()}
    for name in names:
        unknown = [number for number in name.ids if number not in seen[name.kind]]
        if unknown and name.member in name.holder.drops_unknown:
            left = [number for number in getattr(name.holder, name.member) if number in seen[name.kind]]
            setattr(name.holder, name.member, left)
        elif unknown:
            raise BadInput(f"{name.place}: the project has no {name.kind} {unknown[0]}.")


def _may_name_layers(part: Any) -> bool:
    """Whether a part names versions or annotations; a list may, so that most requests look at none of its items."""
    return bool(part) if isinstance(part, list) else any(name.kind in OF_LAYERS for name in _names(part, ""))


def visible(scope: Scope, project: int, kind: str, numbers: Collection[int]) -> set[int]:
    """The ids that exist in a project and on which the caller has the needed level."""
    if kind in RECORDS:
        found = [record for number in numbers if (record := _record(RECORDS[kind], number, project))]
        return {record.id for record in scope.visible(kind, found)}
    if len(numbers) > entities.ROWS_A_READ and Kind(kind) in scope.terms(project):
        where = Test("id", Op.IN, tuple(numbers))
        query = Query(kind=Kind(kind), where=where, merge=False, show_deleted=True, show_all_marks=True)
        return set(view_queries.ids(view_queries.current(project), query, scope))
    rows = [row.entity for row in entities.many(Kind(kind), numbers).values() if row.entity.project == project]
    return {row.id for row in scope.visible(kind, rows)}


def _record(kind: RecordKind[Any], number: int, project: int) -> Any:
    return records.find(kind, project, padded(number))


def _names(value: Any, place: str) -> Iterator[Name]:
    """All references in a body: in a Struct, in nested Structs, in each item of a list."""
    if isinstance(value, list):
        for index, each in enumerate(value):
            if isinstance(each, Resource):
                yield from _names(each, f"{place}[{index}]")
    elif isinstance(value, Resource):
        start = f"{place}." if place else ""
        for member, kind in value.names.items():
            if getattr(value, member) not in (None, msgspec.UNSET):
                yield Name(place=start + member, kind=kind, holder=value, member=member)
        for member in value.__struct_fields__:
            if member not in value.names and isinstance(inner := getattr(value, member), (list, Resource)):
                yield from _names(inner, start + member)
