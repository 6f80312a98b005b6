"""Accept and reject drafts: one bulk change of the localizations and states of an annotator's layer.

A track is one draft: its localizations are decided on with it, and not singly.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from chalicelib.access import view_queries
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import STATE_TYPE, TYPE_RECORD, VERSION
from chalicelib.core.records import padded
from chalicelib.errors import BadInput
from chalicelib.query.operators import Op
from chalicelib.query.tree import Compare, Query, Test, Tree, both, either
from chalicelib.resources.annotations import bulk as annotations_bulk
from chalicelib.resources.annotators import service
from chalicelib.resources.annotators.schemas import Annotator, DraftsReviewed, DraftsSpec
from chalicelib.resources.bulk import service as bulk_service
from chalicelib.resources.bulk.changes import BulkChange
from chalicelib.resources.entities.service import Writer
from chalicelib.storage.dynamodb import entities, records

_SELECTING = ("ids", "state_ids", "media_ids", "frames", "labels", "least", "most")


class _TrackRow(Struct, frozen=True):
    id: int
    localizations: list[int] = []
    segments: list[list[int]] | None = None


_decode = msgspec.json.Decoder(_TrackRow).decode


def review(writer: Writer, annotator: Annotator, spec: DraftsSpec) -> DraftsReviewed:
    """Accept or reject drafts: they move to another layer, or are deleted.

    Args:
        writer: who decides.
        annotator: whose drafts.
        spec: the decision and the selection.

    Raises:
        BadInput: nothing is selected or nothing to accept into, the annotator has no layer, or a localization that is
            selected by its id belongs to a track.
        Forbidden: the writer may not write one of them, or in the layer.
    """
    layer = service.layer_of(annotator)
    if layer is None:
        raise BadInput(f"The annotator {annotator.name!r} has no layer of drafts.")
    _check(writer.project, spec, layer)
    found = _SelectedDrafts(writer, annotator, spec, layer)
    fixed = writer.authorship()
    if spec.decision == "accept":
        fixed["version"] = spec.version
    changes = [
        change
        for kind, by_type in ((Kind.LOCALIZATION, found.localizations), (Kind.STATE, found.states))
        for type_, numbers in by_type.items()
        if (change := _change(writer, kind, type_, numbers, fixed, layer)) is not None
    ]
    if spec.decision == "accept" and writer.scope.is_restricted:
        for change in changes:
            rows = [row.entity for row in entities.many(change.kind, change.numbers).values()]
            writer.scope.check(change.kind, [msgspec.structs.replace(row, version=spec.version) for row in rows])
    bulk_service.run(*changes, handlers=annotations_bulk.HANDLERS, scope=writer.scope)
    counts = {
        kind: sum(len(change.numbers) for change in changes if change.kind is kind)
        for kind in (Kind.LOCALIZATION, Kind.STATE)
    }
    done = "Accepted" if spec.decision == "accept" else "Rejected"
    return DraftsReviewed(
        message=f"{done} {counts[Kind.LOCALIZATION]} localizations and {counts[Kind.STATE]} states.",
        localizations=counts[Kind.LOCALIZATION],
        states=counts[Kind.STATE],
    )


def _check(project: int, spec: DraftsSpec, layer: int) -> None:
    given = [name for name in _SELECTING if getattr(spec, name) is not None]
    if bool(given) == spec.is_all:
        raise BadInput(f"Give one of {', '.join(_SELECTING)}, or is_all: true for all drafts, not both.")
    if (spec.decision == "accept") != (spec.version is not None):
        raise BadInput("version: the layer that accepted drafts move to is needed to accept, and only then.")
    if spec.version == layer:
        raise BadInput("version: it is the layer of the drafts themselves; give another one.")
    if spec.version is not None and records.find(VERSION, project, padded(spec.version)) is None:
        raise BadInput(f"version: the project has no version {spec.version}.")
    if spec.frames is not None and spec.frames[0] > spec.frames[1]:
        raise BadInput("frames: the first and the last frame, in this order.")


def _change(
    writer: Writer, kind: Kind, type_: int, numbers: list[int], fixed: dict[str, Any], layer: int
) -> BulkChange | None:
    if not numbers:
        return None
    if "version" not in fixed:
        return writer.bulk_change(kind, "prune", numbers, type=type_, fixed={"variant_deleted": True, **fixed})
    logged = {"_version": layer}, {"_version": fixed["version"]}
    return writer.bulk_change(kind, "move", numbers, type=type_, fixed=fixed, logged=logged)


class _SelectedDrafts:
    """The drafts that a request selects, by type."""

    def __init__(self, writer: Writer, annotator: Annotator, spec: DraftsSpec, layer: int) -> None:
        self._writer, self._annotator, self._spec, self._layer = writer, annotator, spec, layer
        self._view = view_queries.current(writer.project)
        self.states: dict[int, list[int]] = {}
        self.localizations: dict[int, list[int]] = {}
        held: set[int] = set()
        going: set[int] = set()
        for type_ in filter(None, (annotator.track_type, annotator.type)):
            of = records.find(STATE_TYPE, annotator.project, padded(type_))
            if of is not None:
                chosen = self._states(of)
                self.states[type_] = [state.id for state in chosen]
                if of.association == "Localization":
                    held |= {number for state in self._all(Kind.STATE, type_) for number in state.localizations}
                    going |= {number for state in chosen for number in state.localizations}
        self._add_localizations(held, going)

    def _add_localizations(self, held: set[int], going: set[int]) -> None:
        """Those of the selected tracks, and those that are selected and belong to none."""
        kind, type_ = Kind.LOCALIZATION, self._annotator.type
        of = records.find(TYPE_RECORD[kind], self._annotator.project, padded(type_))
        if of is None:
            return
        single = self._ids(kind, of, self._spec.ids) if self._is_chosen("state_ids") else []
        if self._spec.ids is not None and (inner := held & set(single)):
            raise BadInput(f"ids: localization {min(inner)} belongs to a track; give the track in state_ids.")
        drafts = {each.id for each in self._all(kind, type_, tuple(going))} if going else set()
        self.localizations[type_] = sorted(drafts | (set(single) - held))

    def _states(self, of: Any) -> list[_TrackRow]:
        if not self._is_chosen("ids"):
            return []
        numbers = set(self._ids(Kind.STATE, of, self._spec.state_ids))
        found = [state for state in self._all(Kind.STATE, of.id) if state.id in numbers]
        frames = self._spec.frames
        if frames is None or of.association != "Localization":
            return found
        return [
            state
            for state in found
            if any(first <= frames[1] and last >= frames[0] for first, last in state.segments or ())
        ]

    def _is_chosen(self, other: str) -> bool:
        """Whether a kind is selected at all: not where the ids of the other kind alone are given."""
        own = "state_ids" if other == "ids" else "ids"
        return getattr(self._spec, other) is None or getattr(self._spec, own) is not None

    def _ids(self, kind: Kind, of: Any, numbers: Iterable[int] | None) -> list[int]:
        """The ids of the drafts of a type that the selection finds, as far as the caller may see them."""
        spec, annotator = self._spec, self._annotator
        terms = self._in_layer(of.id)
        if numbers is not None:
            terms.append(Test("id", Op.IN, tuple(numbers)))
        if spec.media_ids is not None:
            media = tuple(spec.media_ids)
            terms.append(Test("media", Op.OVERLAPS if kind is Kind.STATE else Op.IN, media))
        if spec.frames is not None and getattr(of, "association", "Frame") == "Frame":
            terms.append(Test("frame", Op.BETWEEN, (spec.frames[0], spec.frames[1])))
        for member, word, value in (
            ("label_attribute", "eq", spec.labels),
            ("confidence_attribute", "gte", spec.least),
            ("confidence_attribute", "lte", spec.most),
        ):
            if value is None:
                continue
            name = getattr(annotator, member)
            if name is None:
                raise BadInput(f"The annotator {annotator.name!r} has no {member}, by which drafts could be selected.")
            if of.attribute(name) is None:
                return []
            values = value if isinstance(value, list) else [value]
            terms.append(either(*(Compare(name, word, each) for each in values)))
        return view_queries.ids(self._view, Query(kind=kind, where=both(*terms)), self._writer.scope)

    def _all(self, kind: Kind, type_: int, numbers: tuple[int, ...] | None = None) -> list[_TrackRow]:
        """The drafts of a type, as far as the caller may see them."""
        within = [] if numbers is None else [Test("id", Op.IN, numbers)]
        query = Query(kind=kind, where=both(*self._in_layer(type_), *within))
        return [_decode(each) for each in view_queries.documents(self._view, query, self._writer.scope)]

    def _in_layer(self, type_: int) -> list[Tree]:
        return [Test("version", Op.EQ, self._layer), Test("type", Op.EQ, type_)]
