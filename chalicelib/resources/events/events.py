"""The events of a commit: what was created, changed or deleted, under the names of CloudEvents 1.0.

A commit makes one event for each type and kind, cut into pieces of at most `IDS_AN_EVENT` ids. The pieces depend on the
commit alone, so an event has the same id for every reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgspec

from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.core.log.commits import Change, Commit, Edit
from chalicelib.core.models.definitions import DEFINITION_STRUCT
from chalicelib.core.models.entities import STRUCT_OF
from chalicelib.core.resource import Timestamp, answer

IDS_AN_EVENT = 100
"""Most ids of one event."""
BYTES_AN_EVENT = 250_000
"""Bytes of changes above which an event takes no further id."""
ACTIONS = ("created", "updated", "deleted", "restored")
NOTES = (
    "media.ready",
    "transcode.failed",
    "job.ended",
    "export.done",
    "dataset.done",
    "import.done",
    "member.added",
    "member.updated",
    "member.removed",
    "comment.created",
    "comment.updated",
    "comment.deleted",
    "task.changed",
)
"""Types of events that change no entity."""
_WORDS = (*Kind, *DefinitionKind)
KINDS = frozenset(
    {*map(str, _WORDS), *(f"{word}.{action}" for word in _WORDS for action in ACTIONS)}
    | {*NOTES, *(name.partition(".")[0] for name in NOTES)}
)
"""What a reader may ask for: a kind, for all its events, or a type without `limn.`."""
_AUTOMATIC = ("modified_by", "modified_datetime")
"""Members that every change sets."""
_OWN = frozenset({"effective_permission"})
"""Members that depend on the reader, so that no event has them."""
_encode = msgspec.json.encode


@dataclass(frozen=True, kw_only=True)
class Event:
    """An event of the feed.

    Attributes:
        project: the project.
        commit: the number of its commit.
        number: its number among the events of the commit, from 1; 0 where it is the only one.
        name: its type without `limn.`, such as `localization.created`.
        kind: the word of what it concerns.
        time: when the commit was made.
        user: the id of the author; None for the service.
        changes: one mapping for each id: `id`; `old` and `new`, the members that changed (null for none: created or
            deleted); for localizations and states `latest`, false once lists leave the row out. None for an event
            without changes.
        ids: what it concerns.
        more: further members of its data.
        media: media that a reader must be able to see.
        reader: the id of the only user who sees it; None for all who see the project.
    """

    project: int
    commit: int
    number: int
    name: str
    kind: str
    time: Timestamp
    user: int | None
    ids: list[Any]
    changes: list[dict[str, Any]] | None = None
    more: dict[str, Any] | None = None
    media: tuple[int, ...] = ()
    reader: int | None = None

    @property
    def id(self) -> str:
        """`7/123`, or `7/123/2` where the commit has several events."""
        return f"{self.project}/{self.position}"

    @property
    def position(self) -> str:
        """Its place in the feed: a reader continues after it."""
        return f"{self.commit}/{self.number}" if self.number else str(self.commit)

    @property
    def type(self) -> str:
        """`limn.localization.created`."""
        return f"limn.{self.name}"

    @property
    def source(self) -> str:
        """The project, as a URI reference."""
        return f"/rest/Project/{self.project}"

    @property
    def subject(self) -> str:
        """What it concerns: `localization/55`, or `localization` for several."""
        return f"{self.kind}/{self.ids[0]}" if len(self.ids) == 1 else self.kind

    @property
    def data(self) -> dict[str, Any]:
        """The ids, and what changed."""
        changes = {} if self.changes is None else {"changes": self.changes}
        return {"ids": self.ids, **changes, **(self.more or {})}

    @cached_property
    def size(self) -> int:
        """About how many bytes it takes."""
        return 300 + len(_encode(self.data))

    def whole(self) -> dict[str, Any]:
        """The event as the feed answers it."""
        return {**self.thin(), "data": self.data}

    def thin(self) -> dict[str, Any]:
        """The event without old and new values."""
        return {
            "specversion": "1.0",
            "id": self.id,
            "source": self.source,
            "type": self.type,
            "time": self.time,
            "subject": self.subject,
            "user": self.user,
            "commit": self.commit,
            "data": {"ids": self.ids, **(self.more or {})},
        }

    def is_of(self, kinds: frozenset[str]) -> bool:
        """Whether it is of one of some kinds or types; an empty set means all."""
        return not kinds or self.name in kinds or self.name.partition(".")[0] in kinds

    def narrow_to(self, seen: Callable[[Any], bool]) -> Event | None:
        """The event with those ids alone that a reader may see; None for none."""
        if all(map(seen, self.ids)):
            return self
        ids = [number for number in self.ids if seen(number)]
        changes = None if self.changes is None else [each for each in self.changes if seen(each["id"])]
        return replace(self, ids=ids, changes=changes) if ids else None


def events_of(commit: Commit) -> list[Event]:
    """All events of a commit, in order."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for kind, action, change in _changes(commit):
        groups.setdefault((kind, action), []).append(change)
    parts = [(kind, action, part) for (kind, action), changes in groups.items() for part in _pieces(changes)]
    common: dict[str, Any] = {"project": commit.project, "commit": commit.seq, "time": commit.at, "user": commit.user}
    several = len(parts) + len(commit.notes) > 1
    events = [
        Event(
            **common,
            number=number if several else 0,
            name=f"{kind}.{action}",
            kind=kind,
            ids=[change["id"] for change in part],
            changes=part,
        )
        for number, (kind, action, part) in enumerate(parts, 1)
    ]
    for number, note in enumerate(commit.notes, len(parts) + 1):
        events.append(
            Event(
                **common,
                number=number if several else 0,
                name=note.type,
                kind=note.kind,
                ids=[note.id],
                more=note.data,
                media=tuple(note.media),
                reader=note.reader,
            )
        )
    return events


def _pieces(changes: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    piece: list[dict[str, Any]] = []
    size = 0
    for change in changes:
        own = len(_encode(change))
        if piece and (len(piece) >= IDS_AN_EVENT or size + own > BYTES_AN_EVENT):
            yield piece
            piece, size = [], 0
        piece.append(change)
        size += own
    if piece:
        yield piece


# --- changes ---------------------------------------------------------------------------------------------------------


def _changes(commit: Commit) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Kind, action and values of every change, in order."""
    past = {(change.kind, change.id): change for change in commit.past}
    told: dict[tuple[str, int], list[tuple[Edit, int]]] = {}
    for edit in commit.edits:
        for place, number in enumerate(edit.ids):
            told.setdefault((edit.kind, number), []).append((edit, place))
    for change in commit.changes:
        key = (change.kind, change.id)
        before = past.get(key)
        found = definition(change, before) if change.is_definition else _entity(change, before, told.get(key, []))
        if found is not None:
            action, old, new, more = found
            yield change.kind, action, {"id": change.id, "old": old, "new": new, **more}


_Values = dict[str, Any] | None
_Found = tuple[str, _Values, _Values, dict[str, Any]]


def definition(change: Change, past: Change | None) -> _Found:
    """The action, and the members of a definition before and after."""
    struct = DEFINITION_STRUCT[DefinitionKind(change.kind)]
    is_back = past is not None and past.is_gone
    before = None if past is None or is_back else public_values(msgspec.json.decode(past.doc, type=struct))
    if change.is_gone:
        return "deleted", before, None, {}
    after = public_values(msgspec.json.decode(change.doc, type=struct))
    if before is None:
        return "restored" if is_back else "created", None, after, {}
    names = [name for name in after if before.get(name) != after[name]]
    return "updated", {name: before.get(name) for name in names}, {name: after[name] for name in names}, {}


def _entity(change: Change, past: Change | None, edits: list[tuple[Edit, int]]) -> _Found | None:
    kind = Kind(change.kind)
    if change.is_gone:
        if edits and not any(edit.new for edit, _ in edits):
            return None  # a tombstone that a restore took away: the event is of the row that it had replaced
        before = None if past is None else public_values(msgspec.json.decode(past.doc, type=STRUCT_OF[kind]))
        return "deleted", before, None, {"latest": False} if kind.is_annotation else {}
    entity: Any = msgspec.json.decode(change.doc, type=STRUCT_OF[kind])
    more = {"latest": entity.latest} if kind.is_annotation else {}
    if not edits:
        return "created", None, public_values(entity), more
    return _edit_event(kind, entity, edits, more)


def _edit_event(kind: Kind, entity: Any, edits: list[tuple[Edit, int]], more: dict[str, Any]) -> _Found | None:
    """A change with entries; None for a tombstone that the commit adds: the event is of the row that it replaces."""
    new = {name: value for edit, _ in edits for name, value in edit.new.items()}
    is_made = any(_is_made(edit, place, entity.id) for edit, place in edits)
    if new.get("_variant_deleted") is True:
        return None if is_made else ("deleted", {"variant_deleted": False}, {"variant_deleted": True}, more)
    if new.get("_deleted") is False or new.get("_variant_deleted") is False:
        return "restored", None, public_values(entity), more
    olds = [old for edit, place in edits if (old := _old(edit, place)) is not None]
    if not new and not any(olds):
        return _unseen(kind, entity, more)
    if is_made:
        return "updated", None, public_values(entity), more
    before = {name: value for each in olds for name, value in each.items()}
    names = before if olds else new
    after = {name: _value(entity, name) for name in names}
    signed = {f"_{name}": getattr(entity, name) for name in _AUTOMATIC}
    return "updated", document_of(entity, before) if olds else None, document_of(entity, after | signed), more


def _unseen(kind: Kind, entity: Any, more: dict[str, Any]) -> _Found:
    """A change without an entry: a clone, or a mark that became its element's latest or ceased to be."""
    if not kind.is_annotation:
        return "created", None, public_values(entity), more
    if entity.latest and not entity.variant_deleted:
        return "restored", None, public_values(entity), more
    return "updated", {}, {}, more


def _is_made(edit: Edit, place: int, number: int) -> bool:
    """Whether an entry says that the commit made a row: as a further mark of its element, or a copy."""
    if edit.olds is not None:
        return edit.olds[place] is None
    return edit.new.get("_id") == number


def _old(edit: Edit, place: int) -> dict[str, Any] | None:
    """The old values of one id; None where they are unknown."""
    if edit.olds is not None:
        return edit.olds[place]
    return edit.old if len(edit.ids) == 1 else None


def _is_member(entity: Any, name: str) -> bool:
    """Whether a name in an entry of the change log is that of a built-in member, `_x`, and not of an attribute."""
    return name.startswith("_") and name[1:] in entity.__struct_fields__


def _value(entity: Any, name: str) -> Any:
    return getattr(entity, name[1:]) if _is_member(entity, name) else entity.attributes.get(name)


def document_of(entity: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Values, named as in entries of the change log, in the shape of the document of an entity or of its Struct."""
    found: dict[str, Any] = {}
    attributes: dict[str, Any] = {}
    for name, value in values.items():
        if not _is_member(entity, name):
            attributes[name] = value
        elif name[1:] not in entity.hidden:
            found[name[1:]] = msgspec.to_builtins(value)
    return found | ({"attributes": attributes} if attributes else {})


def public_values(thing: Any) -> dict[str, Any]:
    """The members of a record or entity as responses show them, apart from those that depend on the reader."""
    values = msgspec.to_builtins({name: value for name, value in answer(thing).items() if name not in _OWN})
    found: dict[str, Any] = values
    return found
