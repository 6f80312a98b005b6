"""Create localizations and states: up to 500 at once, all or none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from chalicelib.access import authentication
from chalicelib.core.kinds import Kind
from chalicelib.core.log.edits import unseen
from chalicelib.core.models.definitions import TYPE_RECORD, VERSION, Version
from chalicelib.core.models.entities import Geometry, Localization, LocalizationSpec, Media, State, StateSpec
from chalicelib.core.models.marks import Identity, identity, next_mark
from chalicelib.core.records import padded
from chalicelib.core.resource import now, random_uuids, shown_members
from chalicelib.core.values import refinements
from chalicelib.core.values.attribute_values import converter
from chalicelib.core.values.frames import refuse_beyond
from chalicelib.core.values.shapes import refinements_of
from chalicelib.errors import BadInput, Conflict, NotFound
from chalicelib.resources.annotations.segments import segments
from chalicelib.resources.annotations.tracks import FramePosition, places
from chalicelib.resources.entities.service import (
    Writer,
    author,
    find_existing,
    frame_counts,
    plan_latest_flags,
    rows_of,
    types_of,
    unknown_type,
    uuid_text,
)
from chalicelib.resources.versions import service as versions_service
from chalicelib.storage.dynamodb import entities, ids, record_rows, records, steps
from chalicelib.storage.dynamodb.steps import RowChange
from chalicelib.storage.log import growth

Spec = LocalizationSpec | StateSpec


def create(kind: Kind, writer: Writer, specs: Sequence[Spec], *, listed: bool) -> list[int]:
    """Create annotations of one kind.

    Args:
        kind: localizations or states.
        writer: the author and the project.
        specs: one spec for each annotation.
        listed: whether messages name the position of the bad spec in the list.

    Returns:
        their ids, in the order of the specs.

    Raises:
        BadInput: a spec breaks a rule; nothing was created.
        NotFound: a parent or an author does not exist.
        TooMany: there are many, and the project's log has grown too far beyond its snapshot.
    """
    growth.make_room(writer.project, len(specs))
    return steps.retry_on_conflict(lambda: _Creation(kind, writer, specs, listed=listed).run())


def create_missing(kind: Kind, writer: Writer, specs: Sequence[Spec]) -> list[int]:
    """Create annotations whose elements their version does not show yet; all specs have an `elemental_id`.

    An element that was deleted is created as its next mark. A repeated call changes nothing, so it may run again after
    a crash.

    Returns:
        the ids of the latest rows of the elements, created or found, in the order of the specs.

    Raises:
        BadInput, NotFound, TooMany: as `create`; nothing was created.
    """
    growth.make_room(writer.project, len(specs))
    return steps.retry_on_conflict(lambda: _Missing(kind, writer, specs).run())


def default_version(writer: Writer, versions: Mapping[int, Version]) -> int:
    """The version of annotations without one: the member's default, the project's first, or a new one."""
    own = _own_version(writer)
    if own is not None and own in versions:
        return own
    numbered = [version for version in versions.values() if version.number >= 0]
    if numbered:
        return min(numbered, key=lambda version: (version.number, version.id)).id
    version = versions_service.baseline(writer.project)
    records.create(VERSION, version, user=writer.user)
    return version.id


def _own_version(writer: Writer) -> int | None:
    """The default version of the writer's membership."""
    is_caller = writer.scope.caller.id == writer.user
    found = writer.scope.membership(writer.project) if is_caller else None
    found = found or authentication.membership(writer.user, writer.project)
    return found.default_version if found else None


_FIRSTS = 10_000
_firsts: dict[int, int] = {}
"""By project, the version that had the number 0. No other has it, so it is the first where its row is still there."""


class _Creation:
    """One attempt at a creation."""

    _is_asked = True
    """Whether a caller waits for it, who is told what is wrong; else it was judged before it began."""

    def __init__(self, kind: Kind, writer: Writer, specs: Sequence[Spec], *, listed: bool) -> None:
        self._kind = kind
        self._writer = writer
        self._specs = specs
        self._listed = listed
        self._now = now()
        self._named = any(spec.elemental_id for spec in specs)
        # Taken before any lookup, so that no other request creates the same elements in between.
        self._guard = steps.guard(writer.project) if self._named else None
        types, versions = {spec.type for spec in specs}, self._named_versions()
        self._read_ahead(types, versions)
        self._types = types_of(kind, writer.project, types)
        self._fillers = {number: converter(each.attribute_types).fill for number, each in self._types.items()}
        self._versions = records.find_many(VERSION, writer.project, map(padded, versions))
        self._places: dict[int, FramePosition] = {}
        self._default = 0
        self._sizes: dict[int, tuple[float, float] | None] = {}
        """The sizes of media by id; read where a shape depends on them."""

    def _named_versions(self) -> set[int]:
        """The versions that the specs name, and the writer's own where one names none, or what was the first one."""
        versions = {spec.version for spec in self._specs}
        if None in versions:
            own = _own_version(self._writer)
            versions.add(_firsts.get(self._writer.project) if own is None else own)
        return {number for number in versions if number is not None}

    def _read_ahead(self, types: Collection[int], versions: Collection[int]) -> None:
        """Read the definitions and the media in one call."""
        project = self._writer.project
        keys = [record_rows.home(TYPE_RECORD[self._kind], project, padded(number)) for number in types]
        keys += [record_rows.home(VERSION, project, padded(number)) for number in versions]
        media = dict.fromkeys(number for spec in self._specs for number in _media_of(spec))
        entities.read_ahead(project, keys, Kind.MEDIA, list(media))

    def run(self) -> list[int]:
        """Check, build and store the rows."""
        self._check()
        attributes = [self._fill(index, spec) for index, spec in enumerate(self._specs)]
        numbers = ids.reserve(self._kind, len(self._specs))
        names = random_uuids(len(self._specs))
        made = [self._make(*each) for each in zip(self._specs, numbers, attributes, names, strict=True)]
        self._writer.scope.check(self._kind, made)
        if not self._named:
            entities.create(self._kind, made, user=self._writer.user)
            return list(numbers)
        made, retiring, guarded = self._plan_marks(made)
        self._writer.check(retiring)
        told = [unseen(self._kind, [step.after.id for step in retiring])] if retiring else []
        steps.create(
            self._kind,
            made,
            user=self._writer.user,
            rewritten=retiring,
            edits=told,
            guarded=self._guard if guarded else None,
        )
        return list(numbers)

    def _refusal(self, index: int, rule: str) -> BadInput:
        return BadInput(f"[{index}].{rule}" if self._listed else rule)

    # --- checks ----------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        # The permission to name another author is checked before the content of the specs.
        self._authors = {name: author(self._writer, name) for name in {spec.user_elemental_id for spec in self._specs}}
        for index, spec in enumerate(self._specs):
            if spec.type not in self._types:
                raise self._refusal(index, unknown_type(self._kind, self._writer.project, spec.type))
            if spec.version is not None and spec.version not in self._versions:
                raise self._refusal(index, f"version: the project has no version {spec.version}.")
            if isinstance(spec, StateSpec) and spec.frame is None and self._types[spec.type].association == "Frame":
                raise self._refusal(index, f"frame: the state type {spec.type} describes frames, so it needs one.")
        self._check_media()
        self._check_members()
        self._check_parents()
        self._check_sources()
        self._check_shapes()
        if any(spec.version is None for spec in self._specs):
            self._default = self._find_default()

    def _find_default(self) -> int:
        """The version of the specs that name none; all versions are read only where neither known one is there."""
        project, own = self._writer.project, _own_version(self._writer)
        if own is not None and own in self._versions:
            return own
        first: Version | None = self._versions.get(_firsts.get(project))
        if first is not None and first.number == 0:
            return first.id
        found = {version.id: version for version in records.list_children(VERSION, project)}
        number = default_version(self._writer, found)
        if number in found and found[number].number == 0:
            if len(_firsts) >= _FIRSTS:
                _firsts.clear()
            _firsts[project] = number
        return number

    def _check_media(self) -> None:
        wanted = {number for spec in self._specs for number in _media_of(spec)}
        known = frame_counts(self._writer.project, wanted)
        for index, spec in enumerate(self._specs):
            member = "media_id" if isinstance(spec, LocalizationSpec) else "media_ids"
            for number in _media_of(spec):
                if number not in known:
                    raise self._refusal(index, f"{member}: the project has no media {number}.")
            if spec.frame is not None and self._is_asked:
                try:
                    refuse_beyond(spec.frame, [known[number] for number in _media_of(spec)])
                except BadInput as refusal:
                    raise self._refusal(index, refusal.message) from None

    def _check_members(self) -> None:
        wanted = dict.fromkeys(
            number for spec in self._specs if isinstance(spec, StateSpec) for number in spec.localization_ids or ()
        )
        if not wanted:
            return
        self._places = places(self._writer.project, list(wanted))
        for index, spec in enumerate(self._specs):
            for number in spec.localization_ids or () if isinstance(spec, StateSpec) else ():
                if number not in self._places:
                    raise self._refusal(index, f"localization_ids: the project has no localization {number}.")

    def _check_sources(self) -> None:
        made_of = [spec.made_of or () if isinstance(spec, LocalizationSpec) else () for spec in self._specs]
        if not any(made_of) or not self._is_asked:
            return
        known = find_existing(Kind.LOCALIZATION, self._writer.project, set().union(*made_of))
        for index, numbers in enumerate(made_of):
            if unknown := [number for number in numbers if number not in known]:
                raise self._refusal(index, f"made_of: the project has no localization {unknown[0]}.")

    def _check_shapes(self) -> None:
        for index, spec in enumerate(self._specs):
            if isinstance(spec, LocalizationSpec):
                of = self._types[spec.type]
                if (found := refinements_of(spec)) or of.skeleton:
                    size = self._size_of(spec.media_id) if "mask" in found else None
                    try:
                        refinements.check(spec, of, size)
                    except BadInput as refusal:
                        raise self._refusal(index, refusal.message) from None

    def _size_of(self, media: int) -> tuple[float, float] | None:
        if not self._sizes:
            wanted = {each.media_id for each in self._specs if isinstance(each, LocalizationSpec)}
            self._sizes = {number: size_of(row.entity) for number, row in entities.many(Kind.MEDIA, wanted).items()}
        return self._sizes.get(media)

    def _check_parents(self) -> None:
        given = {}
        for index, spec in enumerate(self._specs):
            if spec.parent is not None:
                if spec.parent != int(spec.parent):
                    raise self._refusal(index, f"parent: {spec.parent} is not an id.")
                given[int(spec.parent)] = index
        if given:
            known = find_existing(self._kind, self._writer.project, given)
            for number in given:
                if number not in known:
                    raise NotFound.of(self._kind.capitalize(), number)

    # --- rows ------------------------------------------------------------------------------------------------------

    def _fill(self, index: int, spec: Spec) -> dict[str, Any]:
        try:
            return self._fillers[spec.type](
                spec.attributes or {},
                self._now,
                members=spec.__struct_fields__,
                set_by_service=shown_members(Localization if self._kind is Kind.LOCALIZATION else State),
            )
        except BadInput as refusal:
            raise self._refusal(index, f"attributes: {refusal.message}") from None

    def _make(self, spec: Spec, number: int, attributes: dict[str, Any], name: str) -> Localization | State:
        creator = self._authors[spec.user_elemental_id] or self._writer.user
        common: dict[str, Any] = {
            "id": number,
            "project": self._writer.project,
            "type": spec.type,
            "version": spec.version or self._default,
            "parent": None if spec.parent is None else int(spec.parent),
            "attributes": attributes,
            "revision": len(self._types[spec.type].revisions),
            "elemental_id": uuid_text(spec.elemental_id) if spec.elemental_id else name,
            "created_by": creator,
            "created_datetime": self._now,
            "modified_by": creator,
            "modified_datetime": self._now,
        }
        if isinstance(spec, LocalizationSpec):
            shape = {name: getattr(spec, name) for name in Geometry.__struct_fields__}
            made = Localization(media=spec.media_id, frame=spec.frame, made_of=spec.made_of, **shape, **common)
            if spec.angle:
                made.bounds = refinements.bounds(made, self._size_of(spec.media_id))
            return made
        members = list(dict.fromkeys(spec.localization_ids or ()))
        return State(
            media=list(dict.fromkeys([*spec.media_ids, *(self._places[each].media for each in members)])),
            localizations=members,
            segments=segments(self._places[each].frame for each in members) if members else None,
            frame=spec.frame,
            **common,
        )

    def _plan_marks(self, made: list[Any]) -> tuple[list[Any], list[RowChange], bool]:
        """The new rows with their marks, the old rows that are no longer the latest, and whether a guard is needed."""
        named: defaultdict[Identity, list[int]] = defaultdict(list)
        for place, spec in enumerate(self._specs):
            if spec.elemental_id:
                named[identity(made[place])].append(place)
        retiring: list[RowChange] = []
        guarded = False
        for element, rows in rows_of(self._kind, self._writer.project, named).items():
            guarded = guarded or not rows
            first = next_mark(row.entity for row in rows)
            for mark, place in enumerate(named[element], first):
                made[place] = msgspec.structs.replace(made[place], mark=mark)
            flips, rewritten = plan_latest_flags(self._kind, rows, [made[place] for place in named[element]])
            retiring += flips
            for place in named[element]:
                made[place] = rewritten.get(made[place].id, made[place])
        if len(retiring) > steps.MOST_REWRITTEN:
            raise BadInput(
                f"elemental_id: at most {steps.MOST_REWRITTEN} of one request may become the next mark of an element "
                f"that exists already; here {len(retiring)} would. Send fewer at once."
            )
        return made, retiring, guarded


class _Missing(_Creation):
    """One attempt at a creation of what is missing."""

    # A count of frames that became known since an import began, or a deletion, does not stop it half way.
    _is_asked = False

    def __init__(self, kind: Kind, writer: Writer, specs: Sequence[Spec]) -> None:
        super().__init__(kind, writer, specs, listed=True)

    def run(self) -> list[int]:
        """Leave out the specs whose elements are there, then create the others."""
        if any(spec.version is None for spec in self._specs):
            self._default = self._find_default()
        names = [(spec.version or self._default, uuid_text(spec.elemental_id or "")) for spec in self._specs]
        found: dict[Identity, int] = {}
        restored = 0
        for element, rows in rows_of(self._kind, self._writer.project, names).items():
            latest = max(rows, key=lambda row: (row.entity.mark, row.entity.id), default=None)
            if latest is None or latest.entity.variant_deleted:
                restored += latest is not None
            else:
                found[element] = latest.entity.id
        wanted = {name: spec for name, spec in zip(names, self._specs, strict=True) if name not in found}
        if restored > steps.MOST_REWRITTEN:  # the rest is for the next attempts, which find these
            wanted = dict(list(wanted.items())[: steps.MOST_REWRITTEN])
        if wanted:
            self._specs = list(wanted.values())
            found |= zip(wanted, super().run(), strict=True)
        if any(name not in found for name in names):
            raise Conflict("Some of these were deleted before and are created again, a part at a time.")
        return [found[name] for name in names]


def size_of(media: Media) -> tuple[float, float] | None:
    """Width and height of a media in pixels; None where they are not known."""
    return (media.width, media.height) if media.width and media.height else None


def _media_of(spec: Spec) -> Sequence[int]:
    return (spec.media_id,) if isinstance(spec, LocalizationSpec) else spec.media_ids
