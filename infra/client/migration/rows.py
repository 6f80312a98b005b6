"""Leaves, localizations and states: many rows, each page in batches that several threads send."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from . import source
from .move import ROWS_PER_CREATION, Move, given
from .source import Row

_SHAPE = ("x", "y", "width", "height", "u", "v", "points", "mask", "angle", "form", "closed", "holes", "visible")
LOCALIZATION = (*_SHAPE, "frame", "elemental_id")
STATE = ("frame", "elemental_id")
MEMBERS = "state members"
Bodies = Callable[[Move, list[Row]], list[tuple[Row, Row]]]


def move_leaves(move: Move) -> None:
    """Leaves, those without a parent first, then their children."""
    types, _ = _types(move, "leaf")
    size = move.options.page
    rows = [row for page in source.pages(move.source, "leaf", move.source_project, 0, size) for row in page]
    there = {}
    if rows and not move.is_trial:
        pages = source.pages(move.target, "leaf", move.target_project, 0, size)
        there = {_place(each, each["type"]): each["id"] for page in pages for each in page}
    waiting = [row for row in rows if move.ledger.target("leaf", row["id"]) is None]
    move.ledger.forgive("leaf", [row["id"] for row in waiting])
    while waiting:
        parents = move.targets("leaf", (row["parent"] for row in waiting))
        level = [row for row in waiting if row["parent"] is None or row["parent"] in parents]
        if not level:
            break
        batch = []
        for row in level:
            if (target := _type(move, "leaf", types, row)) is None:
                continue
            if (same := there.get(_place(row, target))) is not None:
                move.ledger.record("leaf", {row["id"]: same})
                continue
            body = {"name": row["name"], "type": target, "parent": parents.get(row["parent"])}
            batch.append((row, {**body, "attributes": _attributes(row)}))
        _send(move, "leaf", batch)
        taken = {row["id"] for row in level}
        waiting = [row for row in waiting if row["id"] not in taken]
    for row in waiting:
        move.ledger.refuse("leaf", row["id"], f"Its parent {row['parent']} was not copied.")


def _place(leaf: Row, type_: int) -> tuple[int, str]:
    """The type and path of a leaf, without the label of its project."""
    return type_, leaf["path"].partition(".")[2]


def move_localizations(move: Move) -> None:
    """Localizations of all versions, with those that hide what lies in a base."""
    _move_annotations(move, "localization", _localizations)


def move_states(move: Move) -> None:
    """States, after the localizations that tracks are made of."""
    _move_annotations(move, "state", _states)
    if not move.is_trial:
        _complete_states(move)


def _complete_states(move: Move) -> None:
    """Give states the localizations and media that were refused when the states came, and have come since."""
    waiting = move.ledger.refused(MEMBERS)
    for start in range(0, len(waiting), ROWS_PER_CREATION):
        for row in source.by_id(move.source, "state", move.source_project, waiting[start : start + ROWS_PER_CREATION]):
            if (target := move.ledger.target("state", row["id"])) is None:
                continue
            shown, held, lost = _members(move, [row])(row)
            move.target.update_state(target, {"media_ids": shown, "localization_ids_add": held, "in_place": 1})
            move.ledger.forgive(MEMBERS, [row["id"]])
            if lost:
                move.ledger.refuse(MEMBERS, row["id"], lost)


def _move_annotations(move: Move, kind: str, bodies: Bodies) -> None:
    """First what was refused before, then the pages after the last one that was done."""
    refused = move.ledger.refused(kind)
    for start in range(0, len(refused), ROWS_PER_CREATION):
        some = source.by_id(move.source, kind, move.source_project, refused[start : start + ROWS_PER_CREATION])
        move.ledger.forgive(kind, refused[start : start + ROWS_PER_CREATION])
        _move_page(move, kind, some, bodies)
    name = f"{kind} after"
    after = int(move.ledger.fact(name) or 0)
    is_first = True
    based = {each["id"] for each in move.source.get_version_list(move.source_project) if each.get("bases")}
    for page in source.pages(move.source, kind, move.source_project, after, move.options.page, show_deleted=1):
        # What is deleted in a version without bases hides nothing.
        rows = [row for row in page if not row.get("variant_deleted") or row["version"] in based]
        _move_page(move, kind, rows, bodies, may_be_there=is_first)
        if move.is_trial:
            return
        is_first = False
        after = max(after, *(row["id"] for row in page))
        move.ledger.store_fact(name, after)


def _move_page(move: Move, kind: str, page: list[Row], bodies: Bodies, *, may_be_there: bool = False) -> None:
    """Copy rows, each after the one it was derived from."""
    known = move.ledger.targets(kind, (row["id"] for row in page))
    waiting = [row for row in page if row["id"] not in known]
    if may_be_there and not move.is_trial:
        waiting = _find_copies(move, kind, waiting)
    while waiting:
        here = {row["id"] for row in waiting}
        ready = [row for row in waiting if _parent(row) not in here] or waiting
        _send(move, kind, bodies(move, ready))
        taken = {row["id"] for row in ready}
        waiting = [row for row in waiting if row["id"] not in taken]
    if not move.is_trial:
        _finish(move, kind, page)


def _finish(move: Move, kind: str, page: list[Row]) -> None:
    """Clear what a default filled in, and delete what is deleted: creations can do neither."""
    _, defaults = _types(move, kind)
    lacking: dict[tuple[str, ...], list[int]] = {}
    for row in page:
        held = row.get("attributes") or {}
        if names := tuple(name for name in defaults.get(row["type"], ()) if held.get(name) is None):
            lacking.setdefault((str(row["type"]), *names), []).append(row["id"])
    hidden = [row["id"] for row in page if row.get("variant_deleted")]
    done = move.ledger.targets(f"finished {kind}", [*hidden, *(each for some in lacking.values() for each in some)])
    update = getattr(move.target, f"update_{kind}_list")
    for (_, *cleared), numbers in lacking.items():
        copies = move.ledger.targets(kind, [each for each in numbers if each not in done])
        for start in range(0, len(copies), ROWS_PER_CREATION):
            some = list(copies.values())[start : start + ROWS_PER_CREATION]
            update(move.target_project, {"ids": some, "null_attributes": cleared, "in_place": 1})
        move.ledger.record(f"finished {kind}", copies)
    delete = getattr(move.target, f"delete_{kind}")
    copies = move.ledger.targets(kind, [each for each in hidden if move.ledger.target(f"hidden {kind}", each) is None])
    move.parallel(lambda number: delete(number, {"prune": 0}), list(copies.values()))
    move.ledger.record(f"hidden {kind}", copies)


def _find_copies(move: Move, kind: str, rows: list[Row]) -> list[Row]:
    """Rows without those that an interrupted run created and could not note: they are found by their elemental ids."""
    versions = move.ledger.targets("version", (row["version"] for row in rows))
    named = {row["elemental_id"]: row for row in rows if row.get("elemental_id")}
    found: dict[tuple[str, Any], int] = {}
    listed = getattr(move.target, f"get_{kind}_list_by_id")
    names = list(named)
    for start in range(0, len(names), ROWS_PER_CREATION):
        for each in listed(move.target_project, {"elemental_ids": names[start : start + ROWS_PER_CREATION]}):
            found[each["elemental_id"], each["version"]] = each["id"]
    copies = {
        row["id"]: found[key]
        for row in rows
        if (key := (row.get("elemental_id"), versions.get(row["version"]))) in found
    }  # fmt: skip
    if copies:
        move.ledger.record(kind, copies)
    return [row for row in rows if row["id"] not in copies]


def _send(move: Move, kind: str, batch: Sequence[tuple[Row, Row]]) -> None:
    if move.is_trial:
        move.advance(kind, len(batch))
        return
    parts = [batch[start : start + ROWS_PER_CREATION] for start in range(0, len(batch), ROWS_PER_CREATION)]
    move.parallel(lambda part: move.create(kind, part), parts)


# --- bodies ----------------------------------------------------------------------------------------------------------


def _localizations(move: Move, rows: list[Row]) -> list[tuple[Row, Row]]:
    media = move.targets("media", (row["media"] for row in rows))
    made = []
    for row, common in _commons(move, "localization", rows):
        if row["media"] not in media:
            move.ledger.refuse("localization", row["id"], f"Its media {row['media']} was not copied.")
            continue
        made.append((row, {**given(row, LOCALIZATION), **common, "media_id": media[row["media"]]}))
    return made


def _states(move: Move, rows: list[Row]) -> list[tuple[Row, Row]]:
    members = _members(move, rows)
    made = []
    for row, common in _commons(move, "state", rows):
        shown, held, lost = members(row)
        if not shown:
            move.ledger.refuse("state", row["id"], "None of its media was copied.")
            continue
        if lost:
            move.ledger.refuse(MEMBERS, row["id"], lost)
        body = {**given(row, STATE), **common, "media_ids": shown}
        made.append((row, {**body, "localization_ids": held} if held else body))
    return made


def _members(move: Move, rows: list[Row]) -> Callable[[Row], tuple[list[int], list[int], str]]:
    """A function of a row: its media and localizations at the target, and how many were not copied, as a sentence."""
    media = move.targets("media", (each for row in rows for each in row["media"]))
    members = move.targets("localization", (each for row in rows for each in row.get("localizations") or ()))

    def find(row: Row) -> tuple[list[int], list[int], str]:
        held = row.get("localizations") or ()
        shown, here = (
            [media[each] for each in row["media"] if each in media],
            [members[n] for n in held if n in members],
        )
        lost = len(row["media"]) - len(shown) + len(held) - len(here)
        return shown, here, f"{lost} of its media and localizations were not copied." if lost else ""

    return find


def _commons(move: Move, kind: str, rows: list[Row]) -> Iterable[tuple[Row, Row]]:
    """What bodies of localizations and states have alike, of the rows whose type and version came."""
    types, _ = _types(move, kind)
    versions = move.ledger.targets("version", (row["version"] for row in rows))
    parents = move.targets(kind, (_parent(row) for row in rows))
    for row in rows:
        if (target := _type(move, kind, types, row)) is None:
            continue
        if row["version"] not in versions:
            move.ledger.refuse(kind, row["id"], f"Its version {row['version']} was not copied.")
            continue
        body = {"type": target, "version": versions[row["version"]], **move.author(row)}
        if (parent := _parent(row)) is not None:
            if parent in parents:
                body["parent"] = parents[parent]
            else:
                move.ledger.remark(kind, row["id"], f"It was derived from {parent}, which no list shows.")
        yield row, {**body, "attributes": _attributes(row)}


def _parent(row: Row) -> int | None:
    return None if row.get("parent") is None else int(row["parent"])


def _type(move: Move, kind: str, types: dict[int, int], row: Row) -> int | None:
    found = types.get(row["type"])
    if found is None:
        move.ledger.refuse(kind, row["id"], f"Its type {row['type']} was not copied.")
    return found


def _types(move: Move, kind: str) -> tuple[dict[int, int], dict[int, tuple[str, ...]]]:
    """Copies of the types of a kind, and of each type the attributes that would get a default."""
    rows: list[Row] = getattr(move.source, f"get_{kind}_type_list")(move.source_project)
    defaults = {
        row["id"]: tuple(
            each["name"]
            for each in row.get("attribute_types") or ()
            if each.get("default") is not None or each.get("use_current")
        )
        for row in rows
    }
    return move.ledger.targets(f"{kind}_type", defaults), defaults


def _attributes(row: Row) -> Row:
    """The attributes of a row that have a value."""
    return {name: value for name, value in (row.get("attributes") or {}).items() if value is not None}
