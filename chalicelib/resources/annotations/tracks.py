"""The members of states: add and remove them, merge and trim tracks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED
from chalicelib.access.view_queries import all_rows
from chalicelib.core.kinds import Kind
from chalicelib.core.log.edits import changed, deleted, tombstoned
from chalicelib.core.models.entities import State, StateUpdate
from chalicelib.core.models.marks import identity
from chalicelib.errors import BadInput, NotFound
from chalicelib.query.operators import Op
from chalicelib.query.tree import Query, Test
from chalicelib.resources.annotations.segments import members, segments
from chalicelib.resources.entities.service import Writer, find_existing, live_mark, rows_of
from chalicelib.storage.dynamodb import entities, steps
from chalicelib.storage.dynamodb.entities import Stored
from chalicelib.storage.dynamodb.steps import RowChange


class FramePosition(msgspec.Struct, frozen=True):
    """The media and frame of a localization."""

    id: int
    frame: int
    media: int


_decode = msgspec.json.Decoder(FramePosition).decode


def with_members(state: State, project: int, update: StateUpdate) -> dict[str, Any]:
    """The members of a state after a change of its localizations and media.

    Ids that do not exist are left out when added to or removed from a track.

    Raises:
        BadInput: a media or localization belongs to another project, or a replacing list has an id that does not exist.
    """
    change: dict[str, Any] = {}
    media = list(state.media)
    if update.media_ids is not None:
        media = list(dict.fromkeys(update.media_ids))
        check_media(project, media, "media_ids")
    if update.localization_ids is not None or update.localization_ids_add or update.localization_ids_remove:
        current = state.localizations if update.localization_ids is None else update.localization_ids
        numbers = members(current, update.localization_ids_add or (), update.localization_ids_remove or ())
        found = places(project, numbers)
        if update.localization_ids is not None:
            _refuse_unknown(set(update.localization_ids) & set(numbers) - found.keys(), "localization_ids")
        kept = [number for number in numbers if number in found]
        new = set(kept) - set(state.localizations)
        media = list(dict.fromkeys([*media, *(found[number].media for number in kept if number in new)]))
        change |= follow(kept, found)
    if media != state.media:
        change["media"] = media
    return change


def follow(numbers: Sequence[int], found: dict[int, FramePosition]) -> dict[str, Any]:
    """The members of a state that derive from its localizations."""
    return {"localizations": list(numbers), "segments": segments(found[number].frame for number in numbers)}


def check_media(project: int, numbers: Collection[int], member: str) -> None:
    """Raise BadInput unless at least one media is given and all belong to the project."""
    if not numbers:
        raise BadInput(f"{member}: at least one media is needed.")
    if missing := set(numbers) - find_existing(Kind.MEDIA, project, numbers):
        raise BadInput(f"{member}: the project has no media {min(missing)}.")


def merge(writer: Writer, into: int, other: int) -> None:
    """Give a state the localizations and media of another, which is deleted with all its marks.

    Raises:
        NotFound: the project has no such state, or one of them was deleted.
        BadInput: both are the same state, or of different types.
    """

    def attempt() -> None:
        kept = live_mark(Kind.STATE, entities.get_stored(Kind.STATE, into))
        lost = entities.get_stored(Kind.STATE, other)
        if lost.entity.project != writer.project:
            raise NotFound.of("State", other)
        writer.scope.check(Kind.STATE, [lost.entity])
        live_mark(Kind.STATE, lost)
        if identity(lost.entity) == identity(kept.entity):
            raise BadInput("merge_state_id: a state cannot be merged into itself.")
        state = kept.entity
        if lost.entity.type != state.type:
            raise BadInput(
                f"merge_state_id: state {other} is of type {lost.entity.type}, state {into} of type {state.type}. "
                "Give a state of the same type."
            )
        numbers = members(state.localizations, lost.entity.localizations)
        found = places(writer.project, numbers)
        there = [number for number in numbers if number in found]
        media = dict.fromkeys([*state.media, *lost.entity.media, *(found[number].media for number in there)])
        merged = msgspec.structs.replace(state, **follow(there, found), media=list(media), **writer.authorship())
        gone = _whole(Kind.STATE, writer.project, [lost])
        writer.apply(
            [RowChange(Kind.STATE, kept, merged), *(RowChange(Kind.STATE, row, None) for row in gone)],
            [changed(Kind.STATE, state, merged), deleted(Kind.STATE, [row.entity.id for row in gone])],
        )

    steps.retry_on_conflict(attempt)


def trim(writer: Writer, number: int, frame: int, endpoint: str) -> int:
    """Cut off a track's localizations before (`start`) or after (`end`) a frame; those in no other state are deleted.

    Every commit leaves the track consistent, so an interrupted trim can be repeated.

    Returns:
        how many localizations were deleted.
    """
    if writer.scope.is_restricted:
        row = live_mark(Kind.STATE, entities.get_stored(Kind.STATE, number))
        out = _behind(row.entity, places(writer.project, row.entity.localizations), frame, endpoint)
        shared = in_other_states(writer.project, out, [row.entity])
        _check_localizations(writer, [each for each in out if each not in shared])
    count = 0
    while (done := steps.retry_on_conflict(lambda: _trim_some(writer, number, frame, endpoint))) is not None:
        count += done
    return count


def _trim_some(writer: Writer, number: int, frame: int, endpoint: str) -> int | None:
    """Cut off as many as fit in one commit; None if nothing is left to cut."""
    row = live_mark(Kind.STATE, entities.get_stored(Kind.STATE, number))
    state = row.entity
    found = places(writer.project, state.localizations)
    out = _behind(state, found, frame, endpoint)
    if not out:
        return None
    shared = in_other_states(writer.project, out, [state])
    going = [each for each in out if each not in shared][: steps.MOST_STEPS - 1]
    doomed = _whole(Kind.LOCALIZATION, writer.project, entities.many(Kind.LOCALIZATION, going).values())
    while len(doomed) >= steps.MOST_STEPS and len(going) > 1:
        going = going[: len(going) // 2]
        doomed = _whole(Kind.LOCALIZATION, writer.project, entities.many(Kind.LOCALIZATION, going).values())
    doomed = doomed[: steps.MOST_STEPS - 1]
    dropped = shared.union(going)
    left = [each for each in state.localizations if each in found and each not in dropped]
    trimmed = msgspec.structs.replace(state, **follow(left, found), **writer.authorship())
    edits = [changed(Kind.STATE, state, trimmed)]
    if doomed:
        edits.append(deleted(Kind.LOCALIZATION, [each.entity.id for each in doomed]))
    removals = [RowChange(Kind.LOCALIZATION, each, None) for each in doomed]
    writer.apply([RowChange(Kind.STATE, row, trimmed), *removals], edits)
    return len(going)


def _behind(state: State, found: Mapping[int, FramePosition], frame: int, endpoint: str) -> list[int]:
    """The localizations of a state before its new start, or after its new end."""
    there = (found[number] for number in state.localizations if number in found)
    return [each.id for each in there if (each.frame < frame if endpoint == "start" else each.frame > frame)]


def _check_localizations(writer: Writer, numbers: Sequence[int]) -> None:
    """Raise Forbidden if the caller may not delete each localization that is deleted with its state."""
    if writer.scope.is_restricted:
        rows = [row.entity for row in entities.many(Kind.LOCALIZATION, numbers).values()]
        writer.scope.check(Kind.LOCALIZATION, [row for row in rows if row.project == writer.project])


def in_other_states(project: int, numbers: Sequence[int], states: Iterable[State]) -> set[int]:
    """Those of the given localizations that the latest marks of other states contain."""
    own = {identity(state) for state in states}
    query = Query(kind=Kind.STATE, where=Test("localizations", Op.OVERLAPS, tuple(numbers)))
    others = entities.many(Kind.STATE, view_queries.ids(view_queries.current(project), query, UNRESTRICTED)).values()
    held = {number for row in others if identity(row.entity) not in own for number in row.entity.localizations}
    return held.intersection(numbers)


def parental(project: int, numbers: Collection[int]) -> list[State]:
    """The given states whose type deletes their localizations with them."""
    view = view_queries.current(project)
    types = view.definitions.types(Kind.STATE).items()
    asking = tuple(number for number, of in types if getattr(of, "delete_child_localizations", False))
    if not asking:
        return []
    query = all_rows(Kind.STATE, Test("id", Op.IN, tuple(numbers)), Test("type", Op.IN, asking))
    return [row.entity for row in entities.many(Kind.STATE, view_queries.ids(view, query, UNRESTRICTED)).values()]


def children(project: int, states: Sequence[State]) -> list[int]:
    """The localizations that only these states contain."""
    numbers = list(dict.fromkeys(number for state in states for number in state.localizations))
    shared = in_other_states(project, numbers, states) if numbers else ()
    return [number for number in numbers if number not in shared]


def delete_children(writer: Writer, states: Sequence[State], *, prune: bool) -> None:
    """Delete the localizations that only these states contain. Idempotent.

    With `prune`, all their marks are removed; otherwise they become tombstones in place.
    """
    own = children(writer.project, states)
    _check_localizations(writer, own)
    for start in range(0, len(own), steps.MOST_STEPS):
        part = own[start : start + steps.MOST_STEPS]
        steps.retry_on_conflict(lambda part=part: _delete_some(writer, part, prune=prune))  # type: ignore[misc]


def _delete_some(writer: Writer, numbers: Sequence[int], *, prune: bool) -> None:
    rows = [row for row in entities.many(Kind.LOCALIZATION, numbers).values() if row.entity.project == writer.project]
    if prune:
        doomed = _whole(Kind.LOCALIZATION, writer.project, rows)
        for start in range(0, len(doomed), steps.MOST_STEPS):
            part = doomed[start : start + steps.MOST_STEPS]
            removals = [RowChange(Kind.LOCALIZATION, row, None) for row in part]
            told = [deleted(Kind.LOCALIZATION, [row.entity.id for row in part])]
            writer.apply(removals, told)
        return
    change = {"variant_deleted": True, **writer.authorship()}
    flips = [
        RowChange(Kind.LOCALIZATION, row, msgspec.structs.replace(row.entity, **change))
        for row in rows
        if row.entity.latest and not row.entity.variant_deleted
    ]
    told = [tombstoned(Kind.LOCALIZATION, [step.after.id for step in flips])]
    writer.apply(flips, told)


def _whole(kind: Kind, project: int, rows: Iterable[Stored[Any]]) -> list[Stored[Any]]:
    """The rows with all other marks of their elements."""
    found = {row.entity.id: row for row in rows}
    marked = {identity(row.entity) for row in found.values() if row.entity.mark or not row.entity.latest}
    for others in rows_of(kind, project, marked).values():
        found |= {row.entity.id: row for row in others}
    return list(found.values())


def places(project: int, numbers: Sequence[int]) -> dict[int, FramePosition]:
    """The places of the localizations that exist; from the view if it is loaded or they are many.

    Raises:
        BadInput: one belongs to another project.
    """
    found: dict[int, FramePosition] = {}
    if numbers and (view_queries.loaded(project) or len(numbers) > entities.ROWS_A_READ):
        query = all_rows(Kind.LOCALIZATION, Test("id", Op.IN, tuple(numbers)))
        for document in view_queries.documents(view_queries.current(project), query, UNRESTRICTED):
            place = _decode(document)
            found[place.id] = place
    for number, row in entities.many(Kind.LOCALIZATION, [each for each in numbers if each not in found]).items():
        if row.entity.project != project:
            raise BadInput(f"localization_ids: localization {number} belongs to another project.")
        found[number] = FramePosition(id=number, frame=row.entity.frame, media=row.entity.media)
    return found


def _refuse_unknown(numbers: set[int], member: str) -> None:
    if numbers:
        raise BadInput(f"{member}: there is no localization {min(numbers)}.")
