"""From documents of the view to the neutral rows of formats (`formats/model.py`)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import SECTION, Definitions
from chalicelib.core.models.entities import Media as MediaEntity
from chalicelib.core.models.media_files import TAG_ATTRIBUTE
from chalicelib.formats.interpolation import interpolate
from chalicelib.formats.manifest import as_text
from chalicelib.formats.model import Attributes, Group, Label, Media, Split, State, shape_of
from chalicelib.formats.refined import ShapeDocument, refined_of
from chalicelib.query.operators import Op
from chalicelib.query.tree import Everything, Query, Related, Test, both
from chalicelib.resources.exports.schemas import Classes
from chalicelib.resources.exports.selection import Queries
from chalicelib.storage.view.view import View

_UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")
_LONGEST_STEM = 60
_CLASSES_PER_QUERY = 500
"""Classes of one query for leaves."""
_MIN_FPS, _MAX_FPS = 1e-6, 1e6
"""Frames a second of videos: by other numbers, which a caller may write, frames have no times."""
TAXON = ("taxonID", "AphiaID", "rank", "authority")
"""The attributes of leaves that say what a taxon is, as `limn taxa` makes them."""
_ASSOCIATIONS = {"Media": "media", "Frame": "frame", "Localization": "track"}


class _Localization(ShapeDocument, kw_only=True):
    """The members of a localization's document that an export needs."""

    elemental_id: str
    attributes: Attributes


class _StateRow(Struct):
    """The same of a state."""

    id: int
    type: int
    media: list[int]
    version: int
    elemental_id: str
    attributes: Attributes
    localizations: list[int] = []
    frame: int | None = None


class _Leaf(Struct):
    name: str
    attributes: Attributes


_leaf = msgspec.json.Decoder(_Leaf).decode
_localization = msgspec.json.Decoder(_Localization).decode
_state = msgspec.json.Decoder(_StateRow).decode
_media = msgspec.json.Decoder(MediaEntity).decode


class PartPlan(Struct, frozen=True, kw_only=True):
    """One part: the media, and for a part of one media's frames the first and the one after the last."""

    media: list[int]
    splits: list[Split] | None = None
    """The split of each."""
    start: int = 0
    stop: int | None = None
    frozen: int | None = None
    """The part of a version of a dataset that has the rows; `start` and `stop` count its samples then."""
    joined: int = 1
    """How many parts of the version are read as one: more where a format takes whole a media that is cut there."""


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Reads the rows of parts.

    Attributes:
        view: the project at a commit.
        found: the queries.
        scope: the user's.
        classes: the mapping of classes.
        interpolates: whether tracks are interpolated.
    """

    view: View
    found: Queries
    scope: Scope
    classes: Classes
    interpolates: bool

    def groups(self, part: PartPlan) -> Iterator[tuple[Group, int]]:
        """The media of a part with their rows, in order; and how many labels of each have no place or class."""
        query = Query(kind=Kind.MEDIA, where=Test("id", Op.IN, tuple(part.media)))
        documents = {(each := _media(body)).id: each for body in self._documents(query)}
        definitions = view_queries.definitions_for(self.view.definitions, self.scope)
        media = {number: self._media_row(documents[number]) for number in part.media if number in documents}
        splits = dict(zip(part.media, part.splits or (), strict=False))
        states = self._states(part)
        tracks = {number: str(state.id) for state in reversed(states) for number in state.localizations}
        kinds = {number: each.dtype for number, each in definitions.types(Kind.LOCALIZATION).items()}  # type: ignore[union-attr]
        skeletons = {number: each.skeleton for number, each in definitions.types(Kind.LOCALIZATION).items()}  # type: ignore[union-attr]
        of_track = {str(state.id): self._class(Kind.STATE, state) for state in states if state.localizations}
        track_types = definitions.types(Kind.STATE)
        still = {str(state.id) for state in states if not getattr(track_types.get(state.type), "is_interpolated", True)}
        labels: defaultdict[int, list[Label]] = defaultdict(list)
        lost: defaultdict[int, int] = defaultdict(int)
        for row in self._localizations(part, states):
            shape = shape_of(kinds.get(row.type, ""), partial(getattr, row))
            track = tracks.get(row.id)
            class_name = self._label_class(row, of_track.get(track) if track else None)
            if row.media in media and shape is None and track is not None:
                shape = ()  # the beginning of a gap of its track
            if shape is None or class_name is None or row.media not in media:
                lost[row.media] += 1
                continue
            labels[row.media].append(
                Label(
                    media=media[row.media].key,
                    kind=kinds[row.type],  # type: ignore[arg-type]
                    shape=shape,
                    refined=refined_of(partial(getattr, row), skeletons.get(row.type)) if shape else None,
                    frame=row.frame,
                    class_name=class_name,
                    track=track,
                    type=_name(definitions.types(Kind.LOCALIZATION), row.type),
                    attributes=_present(row.attributes),
                    version=_name(definitions.versions, row.version),
                    id=row.id,
                    elemental_id=row.elemental_id,
                )
            )
        of_media: defaultdict[int, list[State]] = defaultdict(list)
        for state in states:
            for number in state.media:
                if number in media:
                    of_media[number].append(self._state_row(state, media[number].key, definitions))
        for number, own_row in media.items():
            own = sorted(labels.pop(number, []), key=lambda label: (label.frame, label.id or 0))
            own = interpolate(own, still) if self.interpolates else [label for label in own if label.shape]
            if part.start or part.stop is not None:
                own = [
                    each for each in own if part.start <= each.frame and (part.stop is None or each.frame < part.stop)
                ]
            split = splits.get(number)
            placed = msgspec.structs.replace(own_row, split=split) if split else own_row
            yield Group(media=placed, labels=own, states=of_media[number], is_first=not part.start), lost[number]

    def class_names(self) -> set[str]:
        """The classes of all labels that are selected, before their order."""
        names: set[str] = set()
        for kind, query in ((Kind.LOCALIZATION, self.found.localizations), (Kind.STATE, self.found.states)):
            types = self.view.definitions.types(kind)
            for number, count in view_queries.tally(self.view, query, self.scope, "type"):
                if count and number in types:
                    names |= self._names_of(kind, query, number)
        return {mapped for name in names if (mapped := self._rename(name)) is not None}

    def taxa(self, classes: Sequence[str]) -> dict[str, Attributes]:
        """What leaves with the name of a class say of its taxon; of several leaves, the first one."""
        if not classes or not self.view.definitions.types(Kind.LEAF):
            return {}
        found: dict[str, Attributes] = {}
        for start in range(0, len(classes), _CLASSES_PER_QUERY):
            names = tuple(classes[start : start + _CLASSES_PER_QUERY])
            query = Query(kind=Kind.LEAF, where=Test("name", Op.IN, names))
            for leaf in map(_leaf, self._documents(query)):
                taxon = {name: leaf.attributes[name] for name in TAXON if leaf.attributes.get(name) not in (None, "")}
                if taxon:
                    found.setdefault(leaf.name, taxon)
        return found

    def _names_of(self, kind: Kind, query: Query, number: int) -> set[str]:
        definition = self.view.definitions.types(kind)[number]
        of_states = kind is Kind.STATE
        if of_states and getattr(definition, "association", "") != "Localization":
            return set()
        name = self.classes.attribute
        slot = self.view.state.layout.slot(kind, number, name) if name else None
        if slot is None:
            return set() if of_states else {definition.name}
        of_type = replace(query, where=both(query.where, Test("type", Op.EQ, number)))
        found = view_queries.tally(self.view, of_type, self.scope, slot.column)
        names = {as_text(value) for value, _ in found if value is not None}
        if not of_states and any(value is None for value, _ in found):
            names.add(definition.name)
        return names

    # --- rows -------------------------------------------------------------------------------------------------------

    def _documents(self, query: Query) -> Iterable[bytes]:
        return view_queries.documents(self.view, query, self.scope)

    def _states(self, part: PartPlan) -> list[_StateRow]:
        return [_state(body) for body in self._documents(self.found.on(Kind.STATE, part.media))]

    def _localizations(self, part: PartPlan, states: Sequence[_StateRow]) -> Iterator[_Localization]:
        """The localizations of a part; of a part of a media's frames also the neighbours of its tracks' gaps."""
        if not part.start and part.stop is None:
            yield from map(_localization, self._documents(self.found.on(Kind.LOCALIZATION, part.media)))
            return
        within = [Test("frame", Op.GTE, part.start)]
        if part.stop is not None:
            within.append(Test("frame", Op.LT, part.stop))
        yield from map(_localization, self._documents(self.found.on(Kind.LOCALIZATION, part.media, *within)))
        if self.interpolates and (numbers := self._neighbours(part, states)):
            among = Test("id", Op.IN, tuple(sorted(numbers)))
            yield from map(_localization, self._documents(self.found.on(Kind.LOCALIZATION, part.media, among)))

    def _neighbours(self, part: PartPlan, states: Sequence[_StateRow]) -> set[int]:
        """The last member of each track before the part, and the first after it."""
        tracks = [state.localizations for state in states if len(state.localizations) > 1]
        if not tracks:
            return set()
        query = self.found.on(Kind.LOCALIZATION, part.media, Related(Kind.STATE, Everything()))
        frames = dict(view_queries.pairs(self.view, query, self.scope, "frame"))
        found: set[int] = set()
        for members in tracks:
            known = sorted((frames[number], number) for number in members if number in frames)
            before = [each for each in known if each[0] < part.start]
            after = [each for each in known if part.stop is not None and each[0] >= part.stop]
            # All on one frame: with two of them the track is not interpolated there.
            found |= {number for frame, number in before if frame == before[-1][0]}
            found |= {number for frame, number in after if frame == after[0][0]}
        return found

    def _media_row(self, media: MediaEntity) -> Media:
        definitions = self.view.definitions
        dtype = getattr(definitions.types(Kind.MEDIA).get(media.type), "dtype", "video")
        is_video = dtype != "image"
        attributes = _present(media.attributes)
        for tag in (TAG_ATTRIBUTE, *MediaEntity.also_attributes):
            attributes.pop(tag, None)
        return Media(
            key=key_of(media.id, media.name),
            name=media.name,
            is_video=is_video,
            width=media.width or 0,
            height=media.height or 0,
            frames=(media.num_frames or 0) if is_video else 1,
            fps=media.fps if is_video and _MIN_FPS <= (media.fps or 0.0) <= _MAX_FPS else None,
            md5=media.md5,
            section=self._section(definitions, media.primary_section),
            type=_name(definitions.types(Kind.MEDIA), media.type),
            attributes=attributes,
            id=media.id,
            elemental_id=media.elemental_id,
        )

    def _section(self, definitions: Definitions, number: int | None) -> str:
        section = definitions.sections.get(number) if number else None
        return section.path if section and self.scope.visible(SECTION.name, [section]) else ""

    def _state_row(self, state: _StateRow, media: str, definitions: Definitions) -> State:
        definition = definitions.types(Kind.STATE).get(state.type)
        return State(
            media=media,
            key=str(state.id),
            association=_ASSOCIATIONS[getattr(definition, "association", "Media")],  # type: ignore[arg-type]
            frame=state.frame,
            class_name=self._rename(self._class(Kind.STATE, state) or (definition.name if definition else "")) or "",
            type=definition.name if definition else "",
            attributes=_present(state.attributes),
            version=_name(definitions.versions, state.version),
            id=state.id,
            elemental_id=state.elemental_id,
        )

    # --- classes ----------------------------------------------------------------------------------------------------

    def _class(self, kind: Kind, row: _Localization | _StateRow) -> str | None:
        """The class that the attribute of a row gives, as it is."""
        name = self.classes.attribute
        if name is None:
            return None
        definition = self.view.definitions.types(kind).get(row.type)
        if definition is None or definition.attribute(name) is None:
            return None
        value = row.attributes.get(name)
        return None if value is None else as_text(value)

    def _label_class(self, row: _Localization, of_track: str | None) -> str | None:
        own = self._class(Kind.LOCALIZATION, row) or of_track
        return self._rename(own or _name(self.view.definitions.types(Kind.LOCALIZATION), row.type))

    def _rename(self, name: str) -> str | None:
        return (self.classes.rename or {}).get(name, name)


def order_classes(names: Iterable[str], first: Sequence[str]) -> tuple[str, ...]:
    """The classes in the order of their numbers."""
    return tuple(dict.fromkeys([*first, *sorted(names)]))


def key_of(number: int, name: str) -> str:
    """The key of a media: the safe part of its name without extension, and its id."""
    stem = _UNSAFE.sub("-", name.rpartition(".")[0] or name).strip("-.")[:_LONGEST_STEM]
    return f"{stem or 'media'}_{number}"


def _present(attributes: Attributes) -> Attributes:
    return {name: value for name, value in attributes.items() if value is not None}


def _name(definitions: Mapping[int, Any], number: int) -> str:
    found = definitions.get(number)
    return found.name if found else ""
