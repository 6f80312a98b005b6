"""The queries of a selection, and the view of a project at one commit."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import replace

from chalicelib.access import background, view_queries
from chalicelib.access.scope import Scope
from chalicelib.access.view_queries import all_rows
from chalicelib.core.kinds import Kind
from chalicelib.core.models.datasets import ExportWork
from chalicelib.errors import BadInput, NotFound
from chalicelib.formats.model import Group, Label, Media, State
from chalicelib.query.operators import Op
from chalicelib.query.parsers import filters
from chalicelib.query.tree import InSections, Query, Test, Tree, both
from chalicelib.resources.exports.schemas import (
    REFUSED,
    LocalizationSelection,
    MediaSelection,
    Selection,
    StateSelection,
)
from chalicelib.storage.log import log
from chalicelib.storage.view.snapshot import snapshot_records, snapshots
from chalicelib.storage.view.view import View


@dataclass(frozen=True)
class Queries:
    """The queries of a selection, each of all matches."""

    media: Query
    localizations: Query
    states: Query

    def on(self, kind: Kind, media: Sequence[int], *more: Tree) -> Query:
        """The query of localizations or states, of some media only."""
        query = self.localizations if kind is Kind.LOCALIZATION else self.states
        own = Test("media", Op.OVERLAPS if kind is Kind.STATE else Op.IN, tuple(media))
        return replace(query, where=both(query.where, own, *more))


def queries(selection: Selection) -> Queries:
    """The queries of a selection.

    Raises:
        BadInput: a parameter breaks a rule of its language, or is one that exports do not have.
    """
    given: dict[Kind, Any] = {
        Kind.MEDIA: selection.media or MediaSelection(archive_lifecycle="all"),
        Kind.LOCALIZATION: selection.localizations or LocalizationSelection(),
        Kind.STATE: selection.states or StateSelection(),
    }
    found = {kind: _query(kind, each) for kind, each in given.items()}
    if selection.sections is not None:
        where = both(found[Kind.MEDIA].where, InSections(tuple(selection.sections)))
        found[Kind.MEDIA] = replace(found[Kind.MEDIA], where=where)
    if selection.versions is not None:
        versions = Test("version", Op.IN, tuple(dict.fromkeys(selection.versions)))
        for kind in (Kind.LOCALIZATION, Kind.STATE):
            own = len(given[kind].version or ()) or len(set(selection.versions))
            found[kind] = replace(found[kind], where=both(found[kind].where, versions), versions=own)
    return Queries(found[Kind.MEDIA], found[Kind.LOCALIZATION], found[Kind.STATE])


def _query(kind: Kind, given: MediaSelection | LocalizationSelection | StateSelection) -> Query:
    for field in msgspec.structs.fields(given):
        if field.name in REFUSED and getattr(given, field.name) != field.default:
            word = "media" if kind is Kind.MEDIA else f"{kind}s"
            message = f"{word}.{field.name}: an export has no {field.name}: it holds the latest mark of all matches."
            raise BadInput(message)
    query: Query = filters.parse(kind, given, given)  # type: ignore[arg-type]  # one object with the members of both
    return query


def is_by_annotations(selection: Selection) -> bool:
    """Whether the matches among localizations decide which media are selected."""
    return selection.localizations is not None and selection.media is None and selection.sections is None


_SINGULAR = {"media": Kind.MEDIA, "localizations": Kind.LOCALIZATION, "states": Kind.STATE}
_RELATED = {Kind.LOCALIZATION: Kind.STATE, Kind.STATE: Kind.LOCALIZATION}
_ENTITIES = {
    "media_id": Kind.MEDIA,
    "media_ids": Kind.MEDIA,
    "localization_ids": Kind.LOCALIZATION,
    "state_ids": Kind.STATE,
    "frame_state_ids": Kind.STATE,
}
"""Members with ids of entities, beside `ids` and `related_id`, and the kind that they name."""
_DEFINITIONS = {"section": "section", "multi_section": "section", "version": "version"}
"""Members with ids of definitions, beside `type`, and what they name."""


def check_names(given: Selection, view: View, scope: Scope) -> None:
    """Raise BadInput for a name that the project does not have, or that the caller may not see.

    A selection is kept and read later, so what it names is there, as what other bodies name. Ids of entities are not
    looked up with `seq`: what they name may have been deleted since that commit.
    """
    definitions = view_queries.definitions_for(view.definitions, scope)
    known: dict[str, Collection[int]] = {"section": definitions.sections, "version": definitions.versions}
    _demand("sections", "section", given.sections, known["section"])
    _demand("versions", "version", given.versions, known["version"])
    for word, kind in _SINGULAR.items():
        chosen = getattr(given, word)
        if chosen is None:
            continue
        _demand(f"{word}.type", f"{kind} type", chosen.type, definitions.types(kind))
        for member, name in _DEFINITIONS.items():
            _demand(f"{word}.{member}", name, getattr(chosen, member, None), known[name])
        own = {"ids": kind, "related_id": _RELATED.get(kind, kind), **_ENTITIES}
        for member, named in own.items() if given.seq is None else ():
            if numbers := _numbers(getattr(chosen, member, None)):
                found = view_queries.ids(view, all_rows(named, Test("id", Op.IN, tuple(numbers))), scope)
                _demand(f"{word}.{member}", str(named), numbers, set(found))


def _demand(place: str, name: str, given: int | Sequence[int] | None, known: Collection[int]) -> None:
    if missing := [number for number in _numbers(given) if number not in known]:
        raise BadInput(f"{place}: the project has no {name} {missing[0]}.")


def _numbers(given: int | Sequence[int] | None) -> list[int]:
    return [] if given is None else [given] if isinstance(given, int) else list(given)


def check(view: View, found: Queries, scope: Scope) -> None:
    """Check the names and the cost of all queries.

    Raises:
        BadInput: an unknown name, or a query that is too expensive.
        NotFound: an unknown section.
    """
    for query in (found.media, found.localizations, found.states):
        view_queries.ids(view, replace(query, stop=1), scope)


def pin(project: int, seq: int | None) -> tuple[int, str | None]:
    """The commit to work on, and the folder of the snapshot that it is read from; None without a snapshot.

    Raises:
        BadInput: there is no such commit, or it is older than the last snapshot.
    """
    pointer, last = snapshot_records.pointer(project), log.last(project, fresh=True)
    oldest = pointer.seq if pointer else 0
    if seq is not None and not oldest <= seq <= last:
        raise BadInput(f"seq: commit {seq} cannot be read; commits {oldest} to {last} can.")
    return last if seq is None else seq, pointer.folder if pointer else None


class _LastView:
    """The view that was used last: parts of one export follow each other in a container."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: tuple[int, int, str | None] | None = None
        self._view: View | None = None

    def get(self, project: int, seq: int, folder: str | None) -> View:
        with self._lock:
            if self._view is None or self._key != (project, seq, folder) or self._view.is_broken:
                if self._view is not None:
                    self._view.close()
                    self._view = None
                self._view = _open_view(project, seq, folder)
                self._key = project, seq, folder
            return self._view


def _open_view(project: int, seq: int, folder: str | None) -> View:
    view = View(project)
    if folder is not None:
        pointer = snapshot_records.Pointer(seq=0, folder=folder)
        view = snapshots.read(project, snapshot_records.manifest_of(project, pointer))
    for _ in snapshots.follow(view, seq):
        pass
    if view.seq != seq:
        raise NotFound(f"Commit {seq} of project {project} is no longer kept.")
    return view


_pinned = _LastView()


def view_of(work: ExportWork) -> View:
    """The project at the commit of an export or version, whatever was written since.

    Raises:
        NotFound: the snapshot and the commits since it, which are kept for a day and longer, are gone.
    """
    return _pinned.get(work.project, work.seq, work.snapshot)


def scope_of(work: ExportWork) -> Scope:
    """What the user of an export or version may see now.

    Raises:
        Forbidden: the user left the project, or was deactivated.
    """
    return background.scope_of(work.user, work.project, "export")


def seen_now(group: Group, project: int, scope: Scope) -> Group | None:
    """What a reader may see now of rows that were read at an earlier commit; None where the media is closed by now.

    Rows that were purged since are left out where permissions are fine-grained: nothing tells whose they were.
    """
    if not scope.terms(project):
        return group

    def seen(kind: Kind, rows: Iterable[Media | Label | State]) -> set[int | None]:
        return {*scope.visible_ids(project, kind, {row.id for row in rows if row.id is not None})}

    if group.media.id not in seen(Kind.MEDIA, [group.media]):
        return None
    of_states, of_labels = seen(Kind.STATE, group.states), seen(Kind.LOCALIZATION, group.labels)
    states = [state for state in group.states if state.id in of_states]
    tracks = {state.key for state in states}
    # what was interpolated next to a label that is closed by now would tell where that is
    torn = {label.track for label in group.labels if label.keyed and label.id not in of_labels}
    labels = [
        msgspec.structs.replace(label, track=label.track if label.track in tracks else None)
        for label in group.labels
        if (label.id in of_labels if label.keyed else label.track in tracks - torn)
    ]
    return msgspec.structs.replace(group, states=states, labels=labels)
