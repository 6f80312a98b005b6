"""The description of a bulk change: what it does to which entities. Intents store it, so it must stay readable."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Operation

_OLD_VERBS = {
    "bury": "tombstone",
    "hang": "reparent",
    "settle": "rebuild_paths",
    "fell": "delete_subtree",
    "dissolve": "unlink_section",
    "repath": "rename_paths",
}
"""Names in intents that release 1.0.0 stored; read until no such intent can be left (30 days)."""


class BulkChange(msgspec.Struct, kw_only=True):
    """A change of many entities of one kind.

    Attributes:
        kind: their kind.
        project: their project's id.
        user: the id of the user who asked for the change.
        verb: what to do, a key of the registry in `resources/bulk/service.py`.
        numbers: the ids, in the order of the work; ids of sections for `unlink_section` and `rename_paths`.
        type: the id of the type whose attributes change.
        attributes: values to set, by name.
        reset: attributes to set to their default.
        nulls: attributes to clear.
        fixed: built-in members with their new values.
        section: the folder that media go to.
        wish: the archive state that `archive` leads to.
        paths: for `rename_paths`, by section: the path that was read, and the new one.
        logged: for the change log: members before and after, of the first entity.
        shift, frames: for `reframe`: the offset; or by frame, its new number.
        values: for `assign`, by id: values of attributes by name.
        prefixes: for `replace_urls`: the beginning of URLs, and what replaces it.
        children: whether to delete localizations that only these states contain, and how.
        operation: what its commits are parts of; None for a change that an older release stored.
    """

    kind: Kind
    project: int
    user: int
    verb: str
    numbers: list[int]
    type: int = 0
    attributes: dict[str, Any] | None = None
    reset: list[str] | None = None
    nulls: list[str] | None = None
    fixed: dict[str, Any] = {}
    section: int | None = None
    wish: str = ""
    paths: dict[int, tuple[str, str]] = {}
    logged: tuple[dict[str, Any], dict[str, Any]] = msgspec.field(default=({}, {}), name="told")
    shift: int = 0
    frames: dict[int, int] = {}
    values: dict[int, dict[str, Any]] = {}
    prefixes: tuple[str, str] = ("", "")
    children: Literal["tombstone", "prune", "bury"] | None = None
    operation: Operation | None = None

    def __post_init__(self) -> None:
        """Rename what an older release stored."""
        self.verb = _OLD_VERBS.get(self.verb, self.verb)
        if self.children == "bury":
            self.children = "tombstone"
