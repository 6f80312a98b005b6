"""Read the archive of an import row by row, and prepare the parts that will be created.

    media      rows are matched with the project's media, or become media from the archive
    labels     mapped, and written in parts of `PART` specs as they are read
    states     kept until all labels were read: a track names its labels

Media come before the rows that name them, and tracks before their labels. All is derived from the archive and the
project, so a check that died begins again and writes the same parts.
"""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.access.view_queries import all_rows
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import Definitions
from chalicelib.core.models.entities import StateSpec
from chalicelib.errors import BadInput
from chalicelib.formats import model
from chalicelib.formats.model import Dropped, Label, Media, Refusal, State
from chalicelib.formats.readers.reading import Placed, Rows
from chalicelib.query.operators import Op
from chalicelib.query.tree import Test
from chalicelib.resources.imports.mapping import Mapper, Size, Skipped
from chalicelib.resources.imports.media import Files, MediaIndex, dtype_of, element_of, uuid_of
from chalicelib.resources.imports.parts import (
    BYTES_A_PART,
    LARGEST_PART,
    MEDIA_PART,
    MOST_MEMBERS,
    PART,
    PHASES,
    STATE_PART,
    Held,
    LabelRow,
    MediaRow,
    Phase,
    StateRow,
    Write,
)
from chalicelib.resources.imports.schemas import (
    MOST_ROWS,
    MOST_SHOWN,
    DroppedMember,
    ImportReport,
    ImportSpec,
    MappedClass,
    MappedMedia,
    RefusedRow,
    Tally,
)

MOST_STATES = 200_000
MAX_FILE_BYTES = {"image": 512 * 1024**2, "video": 20 * 1024**3}
"""Bytes of a file of the archive that becomes a media."""
_ELEMENTS_PER_QUERY = 2_000
"""Elements of one question to the view."""


class _MatchedMedia(Struct):
    """A media of the archive: the project's media, or the elemental id of one that will be created."""

    media: int | str
    size: Size


class _PendingState(Struct):
    """A state until its labels are known."""

    media: list[int | str]
    spec: StateSpec
    place: str
    members: bytearray
    is_track: bool


class Check:
    """Reads the rows of one import."""

    def __init__(
        self,
        spec: ImportSpec,
        project: int,
        scope: Scope,
        definitions: Definitions,
        archive: model.Files,
        index: MediaIndex,
        namespace: uuid.UUID,
        default_version: int,
        write: Write,
    ) -> None:
        self._spec, self._project, self._scope = spec, project, scope
        self._files = Files(archive, spec.format)
        self._definitions, self._namespace, self._write = definitions, namespace, write
        self._default_version = default_version
        self._index = index
        self._mapper = Mapper(spec, definitions)
        self.report = ImportReport(media=Tally(), localizations=Tally(), states=Tally())
        self.parts: dict[Phase, list[int]] = {phase: [] for phase in PHASES}
        """The rows of each part."""
        self._media: dict[str, _MatchedMedia | str] = {}
        """By key: what a media stands for, or why its rows are refused."""
        self._states: dict[str, _PendingState] = {}
        self._classes: dict[tuple[str, str], MappedClass] = {}
        self._new_media: list[MediaRow] = []
        self._labels: list[LabelRow] = []
        self._elements: set[bytes] = set()
        """The ids that rows gave."""
        self._number = 0
        self._held = Held()

    def run(self, rows: Rows) -> None:
        """Read all rows, and write the parts."""
        dropped: Counter[str] = Counter()
        for placed in rows:
            row = placed.row
            if isinstance(row, Dropped):
                dropped.update(name for name in row.names if name in dropped or len(dropped) < MOST_SHOWN)
                continue
            self._number += 1
            if self._number > MOST_ROWS:
                raise BadInput(f"The archive has more than {MOST_ROWS} rows. Import it in parts.")
            if isinstance(row, Media):
                self._take_media(placed, row)
            elif isinstance(row, Label):
                self._take_label(placed, row)
            elif isinstance(row, State):
                self._take_state(placed, row)
            else:
                self._take_refusal(placed, row)
        self.report.dropped = [DroppedMember(name=name[:300], rows=count) for name, count in dropped.items()]
        self._flush_labels()
        self._finish()

    # --- media ------------------------------------------------------------------------------------------------------

    def _take_media(self, placed: Placed, row: Media) -> None:
        tally = self.report.media
        tally.read += 1
        try:
            found = self._match(row)
        except ValueError as reason:
            self._media[row.key] = f"its media {row.name!r}: {reason}"
            self._refuse(tally, placed.place, str(reason))
            return
        self._media[row.key] = found
        tally.accepted += 1
        tally.present += isinstance(found.media, int)
        self._show_note(placed)
        if len(self.report.matched) < MOST_SHOWN:
            number = found.media if isinstance(found.media, int) else None
            self.report.matched.append(MappedMedia(key=row.key, media=number))

    def _match(self, row: Media) -> _MatchedMedia:
        element = element_of(row, self._namespace)
        known = self._index.find(msgspec.structs.replace(row, elemental_id=element))
        if known is None:
            return self._create(row, element)
        dtype = getattr(self._definitions.types(Kind.MEDIA).get(known.type), "dtype", "")
        frames = 1 if dtype == "image" else known.num_frames
        width, height = row.width or known.width or 0, row.height or known.height or 0
        return _MatchedMedia(known.id, Size(width, height, frames, row.fps or known.fps))

    def _create(self, row: Media, element: str) -> _MatchedMedia:
        if not self._spec.create_media:
            raise ValueError(f"the project has no media that matches it by {self._spec.match}")
        path = self._files.path_of(row)
        dtype = dtype_of(path)
        if not dtype or (row.is_video and dtype == "image"):
            message = (
                f"the project has no media that matches it by {self._spec.match}, and the archive has no file of it"
            )
            raise ValueError(f"{message}; upload the video first" if row.is_video else message)
        if self._files.size(path) > MAX_FILE_BYTES[dtype]:
            raise ValueError(f"{path} has more than {MAX_FILE_BYTES[dtype]} bytes")
        number = self._mapper.media_type(row.type, dtype)
        attributes = self._mapper.media_attributes(number, row.attributes)
        self._held.count(attributes)
        self._new_media.append(
            MediaRow(
                path=path,
                name=row.name[:256],
                type=number,
                elemental_id=element,
                section=self._spec.section or row.section.rpartition(".")[2],
                md5=row.md5[:32],
                attributes=attributes,
                dtype=dtype,
                fps=row.fps,
            )
        )
        return _MatchedMedia(element, Size(row.width, row.height, self._files.frames(row, path), row.fps))

    def _find(self, key: str) -> _MatchedMedia:
        found = self._media.get(key)
        if found is None:
            raise ValueError(f"its media {key!r} is not in the archive")
        if isinstance(found, str):
            raise ValueError(found)  # noqa: TRY004 the reason why rows of this media are refused
        return found

    # --- labels -----------------------------------------------------------------------------------------------------

    def _take_label(self, placed: Placed, row: Label) -> None:
        tally = self.report.localizations
        tally.read += 1
        if not row.keyed:
            tally.skipped += 1
            return
        try:
            found = self._find(row.media)
            element = self._element(row.elemental_id, "label")
            spec, note = self._mapper.label(row, found.size, element)
            self._held.add_label(spec)
            self._join(row.track, element)
        except Skipped:
            tally.skipped += 1
            self._count_class(row.class_name, row.kind, None, "skipped")
            return
        except ValueError as reason:
            self._refuse(tally, placed.place, str(reason))
            self._count_class(row.class_name, row.kind, None, str(reason))
            return
        tally.accepted += 1
        self._count_class(row.class_name, row.kind, spec.type, None)
        self._show_note(placed, note)
        self._labels.append(LabelRow(media=found.media, spec=spec))
        if len(self._labels) >= PART or self._held.labels > LARGEST_PART:
            self._flush_labels()

    def _flush_labels(self) -> None:
        self.report.localizations.present += self._present(
            Kind.LOCALIZATION, [(row.spec.version, row.spec.elemental_id or "") for row in self._labels]
        )
        self._parts("labels", self._labels, PART)
        self._labels, self._held.labels = [], 0

    def _join(self, track: str | None, element: str) -> None:
        """Note a label as a member of its track, whose row comes before it."""
        state = self._states.get(track) if track is not None else None
        if state is None:
            return
        if len(state.members) >= 16 * MOST_MEMBERS:
            raise ValueError(f"its track {track!r} has more than {MOST_MEMBERS} localizations")
        state.members += uuid.UUID(element).bytes

    # --- states -----------------------------------------------------------------------------------------------------

    def _take_state(self, placed: Placed, row: State) -> None:
        tally = self.report.states
        if (state := self._states.get(row.key)) is not None:
            self._join_media(state, placed, row)
            return
        if len(self._states) >= MOST_STATES:
            raise BadInput(f"The archive has more than {MOST_STATES} tracks and states. Import it in parts.")
        tally.read += 1
        try:
            found = self._find(row.media)
            element = self._element(row.elemental_id, "state")
            spec, note = self._mapper.state(row, found.size, element)
            self._held.count(spec.attributes)
        except Skipped:
            tally.skipped += 1
            return
        except ValueError as reason:
            self._refuse(tally, placed.place, str(reason))
            return
        tally.accepted += 1
        self._show_note(placed, note)
        is_track = row.association == "track"
        self._states[row.key] = _PendingState([found.media], spec, placed.place, bytearray(), is_track)

    def _join_media(self, state: _PendingState, placed: Placed, row: State) -> None:
        """A track on several media has a row for each, of the same key."""
        try:
            found = self._find(row.media)
        except ValueError as reason:
            self._show_note(placed, f"the track is without a media: {reason}")
            return
        if found.media not in state.media:
            state.media.append(found.media)

    # --- parts ------------------------------------------------------------------------------------------------------

    def _finish(self) -> None:
        report = self.report
        for part in self._media_parts():
            self._parts("media", part, MEDIA_PART)
        rows: list[StateRow] = []
        elements: list[tuple[int | None, str]] = []
        members = 0
        for state in self._states.values():
            if state.is_track and not state.members:
                report.states.accepted -= 1
                self._refuse(report.states, state.place, "none of its localizations is imported")
                continue
            rows.append(StateRow(media=state.media, spec=state.spec, members=bytes(state.members)))
            elements.append((state.spec.version, state.spec.elemental_id or ""))
            members += len(state.members) // 16
            if members >= MOST_MEMBERS or len(rows) >= STATE_PART:
                self._parts("states", rows, STATE_PART)
                rows, members = [], 0
        self._parts("states", rows, STATE_PART)
        report.states.present = self._present(Kind.STATE, elements)
        report.classes = list(self._classes.values())[:MOST_SHOWN]

    def _media_parts(self) -> Iterator[list[MediaRow]]:
        part: list[MediaRow] = []
        size = 0
        for row in self._new_media:
            own = self._files.size(row.path)
            if part and (len(part) >= MEDIA_PART or size + own > BYTES_A_PART):
                yield part
                part, size = [], 0
            part.append(row)
            size += own
        yield part

    def _parts(self, phase: Phase, rows: Sequence[Any], size: int) -> None:
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            self._write(phase, len(self.parts[phase]), part)
            self.parts[phase].append(len(part))

    def _present(self, kind: Kind, elements: Sequence[tuple[int | None, str]]) -> int:
        """How many elements their versions show already."""
        view = view_queries.current(self._project)
        by_version: defaultdict[int, list[str]] = defaultdict(list)
        for version, element in elements:
            by_version[version or self._default_version].append(element)
        count = 0
        for version, names in by_version.items():
            for start in range(0, len(names), _ELEMENTS_PER_QUERY):
                some = tuple(names[start : start + _ELEMENTS_PER_QUERY])
                query = all_rows(
                    kind,
                    Test("elemental_id", Op.IN, some),
                    Test("version", Op.EQ, version),
                    Test("latest", Op.EQ, value=True),
                    Test("variant_deleted", Op.EQ, value=False),
                )
                count += view_queries.count(view, query, self._scope)
        return count

    # --- report -----------------------------------------------------------------------------------------------------

    def _element(self, given: str, word: str) -> str:
        """The elemental id of a row: its own, or one that the archive and the number of the row give."""
        if not given:
            return str(uuid.uuid5(self._namespace, f"{word} {self._number}"))
        element = uuid_of(given)
        if (own := uuid.UUID(element).bytes) in self._elements:
            raise ValueError(f"elemental_id {element} is given twice")
        self._elements.add(own)
        return element

    def _take_refusal(self, placed: Placed, row: Refusal) -> None:
        """A row that the reader could not take: of localizations, unless its place says otherwise."""
        tally = self.report.localizations
        for word, other in (("media", self.report.media), ("images", self.report.media), ("videos", self.report.media)):
            if f" {word}[" in placed.place or placed.place.startswith(word):
                tally = other
        if " tracks[" in placed.place or placed.place.startswith("states"):
            tally = self.report.states
        tally.read += 1
        self._refuse(tally, placed.place, row.reason)

    def _refuse(self, tally: Tally, place: str, reason: str) -> None:
        tally.refused += 1
        if len(self.report.refusals) < MOST_SHOWN:
            self.report.refusals.append(RefusedRow(place=place[:300], reason=reason[:300]))

    def _show_note(self, placed: Placed, note: str = "") -> None:
        for text in filter(None, (placed.note, note)):
            self.report.note_count += 1
            if len(self.report.notes) < MOST_SHOWN:
                self.report.notes.append(RefusedRow(place=placed.place[:300], reason=text[:300]))

    def _count_class(self, name: str, kind: str, number: int | None, reason: str | None) -> None:
        """Count a row for its class; a class is mapped if any of its rows was."""
        key = (name, kind)
        if (found := self._classes.get(key)) is None:
            if len(self._classes) >= 10 * MOST_SHOWN:
                return
            found = self._classes[key] = MappedClass(name=name[:256], kind=kind)
        found.rows += 1
        found.type = found.type or number
        found.reason = None if found.type else (reason or "")[:300]
