"""Entries of the change log, computed from an entity before and after.

A commit's entries name the entities they concern. A changed entity without an entry was created by the commit: its
first values are in the commit itself, so a creation of 500 need not repeat them. Changes that readers never see, such
as an older mark that ceases to be the latest, have an entry without members.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import compress
from operator import is_not
from typing import Any

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Edit, Touched

UNTOLD = frozenset(
    {
        "attributes",
        "created_datetime",
        "effective_permission",
        "latest",
        "modified_datetime",
        "revision",
        "thumbnail_image",
    }
)
"""Members that entries leave out: attributes are recorded by name, the others change automatically."""


def differences(before: Any, after: Any) -> tuple[dict[str, object], dict[str, object]]:
    """The members that differ, before and after: built-in ones under `_name`, attributes under their own."""
    old: dict[str, object] = {}
    new: dict[str, object] = {}
    members = zip(
        before.__struct_fields__, msgspec.structs.astuple(before), msgspec.structs.astuple(after), strict=True
    )
    for name, was, now in members:
        if was is not now and was != now and name not in UNTOLD:
            old[f"_{name}"], new[f"_{name}"] = _plain(was), _plain(now)
    if before.attributes is after.attributes:
        return old, new
    for name in {**before.attributes, **after.attributes}:
        if _differ(was := before.attributes.get(name), now := after.attributes.get(name)):
            old[name], new[name] = was, now
    return old, new


def _differ(one: Any, other: Any) -> bool:
    """Whether two JSON values differ: Python's == takes 0 for false and 5 for 5.0."""
    return one is not other and (one != other or msgspec.json.encode(one) != msgspec.json.encode(other))


def touched(pairs: Iterable[tuple[Any, Any]]) -> Touched:
    """What differs between entities of one kind and their changed copies; it may name what is equal after all."""
    members: set[str] = set()
    attributes: set[str] = set()
    for before, after in pairs:
        values = map(is_not, msgspec.structs.astuple(before), msgspec.structs.astuple(after))
        members.update(compress(before.__struct_fields__, values))
        was, now = before.attributes, after.attributes
        if was is not now:
            attributes.update([name for name in {**was, **now} if was.get(name) is not now.get(name)])
    return Touched(sorted(members - {"attributes"}), sorted(attributes))


def first_values(made: Any) -> dict[str, object]:
    """The values of a creation: every shown member with a value, including the id, and the attributes."""
    new: dict[str, object] = {}
    for name in made.__struct_fields__:
        if name not in UNTOLD and name not in made.hidden and (value := getattr(made, name)) is not None:
            new[f"_{name}"] = _plain(value)
    return new | {name: value for name, value in made.attributes.items() if value is not None}


def of_one(edit: Edit, number: int) -> Edit:
    """The entry of one of several ids with its old values, where they are known; else the entry of all.

    An entry with an `_id` is that of a new mark, whose old values are those of the mark before.
    """
    own = edit.olds[edit.ids.index(number)] if edit.olds and "_id" not in edit.new else None
    if own is None:
        return edit
    return Edit(edit.kind, [number], {name: own.get(name, value) for name, value in edit.new.items()}, edit.new)


def changed(kind: Kind, before: Any, after: Any, numbers: Iterable[int] = ()) -> Edit:
    """The entry of a change of one entity, or of the same change of many.

    Args:
        kind: the kind of entity.
        before: the entity, or the first of them, as it was.
        after: the same entity after the change.
        numbers: the ids of all of them, if more than one.
    """
    old, new = differences(before, after)
    return Edit(kind, list(dict.fromkeys(numbers)) or [before.id], old, new)


def deleted(kind: Kind, numbers: Iterable[int]) -> Edit:
    """The entry of a deletion."""
    return Edit(kind, list(numbers), {"_deleted": False}, {"_deleted": True})


def restored(kind: Kind, numbers: Iterable[int]) -> Edit:
    """The entry of an undone deletion."""
    return Edit(kind, list(numbers), {"_deleted": True}, {"_deleted": False})


def tombstoned(kind: Kind, numbers: Iterable[int]) -> Edit:
    """The entry of a deletion that leaves a tombstone."""
    return Edit(kind, list(numbers), {"_variant_deleted": False}, {"_variant_deleted": True})


def revived(kind: Kind, numbers: Iterable[int]) -> Edit:
    """The entry of an undone deletion that had left a tombstone."""
    return Edit(kind, list(numbers), {"_variant_deleted": True}, {"_variant_deleted": False})


def unseen(kind: Kind, numbers: Iterable[int]) -> Edit:
    """The entry of changes that readers never see."""
    return Edit(kind, list(numbers), {}, {})


def unlogged(kind: Kind, before: Any, after: Any) -> Edit:
    """The entry of a change by the service that the change log leaves out, and the feed of events shows."""
    return Edit(kind, [after.id], {}, {}, [differences(before, after)[0]])


def with_olds(edit: Edit, rows: Mapping[int, tuple[Any, Any]]) -> Edit:
    """An entry of several ids with the old values of each; others are unchanged.

    Args:
        edit: the entry.
        rows: by id, the entity before and after the commit; None before for a row that the commit creates.
    """
    if edit.olds is not None or len(edit.ids) < 2 or not edit.new or "_deleted" in edit.new:  # noqa: PLR2004
        return edit
    olds: list[dict[str, object] | None] = []
    for number in edit.ids:
        before, after = rows.get(number, (None, None))
        olds.append(None if before is None else {} if after is None else differences(before, after)[0])
    return msgspec.structs.replace(edit, olds=olds)


def _plain(value: Any) -> object:
    return msgspec.to_builtins(value) if isinstance(value, msgspec.Struct) else value
