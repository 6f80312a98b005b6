"""What a bulk change is, and what it makes of each row: the part of it that needs no storage.

Whoever is asked for one says by `BulkChange`s what it comes to; `resources/bulk/service.py` carries them out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec

from chalicelib.core.attribute_values import converter
from chalicelib.core.commits import Edit
from chalicelib.core.definitions import Definitions
from chalicelib.core.entities import Media
from chalicelib.core.kinds import Kind
from chalicelib.core.revisions import up_to_date
from chalicelib.resources.media import service as media_service
from chalicelib.resources.media.schemas import TAG_ATTRIBUTE, next_state
from chalicelib.storage.dynamodb import entities
from chalicelib.storage.dynamodb.steps import Step

How = Callable[[Any], Any]
"""From a row to what becomes of it, a copy; None to leave it."""
SIGNED = ("modified_by", "modified_datetime")
"""Members of `fixed` that alone are no change of a media."""
Verb = Literal[
    "edit",
    "move",
    "copy",
    "bury",
    "prune",
    "delete",
    "clear",
    "archive",
    "hang",
    "settle",
    "fell",
    "dissolve",
    "repath",
]


class BulkChange(msgspec.Struct, kw_only=True):
    """What is to become of many things of one kind.

    Attributes:
        kind, project: what and where.
        user: who does it.
        verb: change the rows themselves (`edit`).
            Annotations: `move` them to other elements; `copy` them; `bury`, make tombstones of them; `prune`, let them
            go and make earlier marks count. Anything else goes by `delete`, media with what lies on them; `clear`
            deletes what lies on media that are gone. Media: `archive`, or have them back. Leaves: `hang` one
            elsewhere or under another name; `settle` the paths of all below; `fell` one with all below. Sections:
            `dissolve` one, so that its media are in none; `repath`, give them other paths.
        numbers: their ids, in the order they are done in; of sections for `dissolve` and `repath`.
        type: whose attributes change.
        attributes, reset, nulls: how.
        fixed: members with their new values.
        section: the folder that media go to.
        wish: what `archive` wants.
        paths: of the sections of `repath`, the path that was seen and the one that it becomes, by id.
        told: what the change log says: fields before and after, of the first of them.
        children: whether what only these states contain goes first, and how.
    """

    kind: Kind
    project: int
    user: int
    verb: Verb
    numbers: list[int]
    type: int = 0
    attributes: dict[str, Any] | None = None
    reset: list[str] | None = None
    nulls: list[str] | None = None
    fixed: dict[str, Any] = {}
    section: int | None = None
    wish: str = ""
    paths: dict[int, tuple[str, str]] = {}
    told: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    children: Literal["bury", "prune"] | None = None


def changing(change: BulkChange, of: Any) -> How:
    """What an `edit`, a `move` or a `copy` makes of each localization, state or leaf, given their type."""
    merge = converter(of.attribute_types).merge
    attributes, reset, nulls = change.attributes, change.reset, change.nulls

    def changed(row: Any) -> Any:
        if not (attributes or reset or nulls):
            return msgspec.structs.replace(row, **change.fixed)
        row = up_to_date(row, of.revisions)
        return msgspec.structs.replace(row, attributes=merge(row.attributes, attributes, reset, nulls), **change.fixed)

    return changed


def changing_media(change: BulkChange, definitions: Definitions) -> How:
    """What an `edit` makes of each media, given what the project defines; who did it is noted where it is anything."""
    signed = {name: change.fixed[name] for name in SIGNED}
    plain = {name: value for name, value in change.fixed.items() if name not in SIGNED}
    asked = (change.attributes, change.reset, change.nulls)

    def changed(row: Media) -> Media | None:
        values = media_service.values_after(definitions, row, *asked, change.section)
        after = msgspec.structs.replace(row, **plain, **values)
        return msgspec.structs.replace(after, **signed) if entities.differs(row, after) else None

    return changed


def archiving(change: BulkChange) -> How:
    """What `archive` makes of each media: its next state, where the wish leads to any (`spec/4` §3.4)."""

    def changed(row: Media) -> Media | None:
        state = next_state(row.archive_state, change.wish) if row.project == change.project else None
        if state is None:
            return None
        return msgspec.structs.replace(row, archive_state=state, **change.fixed)

    return changed


def leaving(change: BulkChange) -> How:
    """What `dissolve` makes of each media of a section."""
    (section,) = change.numbers

    def changed(row: Media) -> Media | None:
        if row.primary_section != section:
            return None
        return msgspec.structs.replace(row, primary_section=None, attributes={**row.attributes, TAG_ATTRIBUTE: ""})

    return changed


def transitions(done: Sequence[Step]) -> list[Edit]:
    """The entries of media whose archive state changed, one for each way it did."""
    ways: dict[tuple[str, str], list[int]] = {}
    for step in done:
        before: Any = step.before.entity if step.before else None
        ways.setdefault((before.archive_state, step.after.archive_state), []).append(step.after.id)
    return [
        Edit(Kind.MEDIA, numbers, {"_archive_state": was}, {"_archive_state": now})
        for (was, now), numbers in ways.items()
    ]
