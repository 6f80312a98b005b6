"""Reads from the entries of a commit which entities it deleted."""

from __future__ import annotations

from collections import defaultdict

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Commit


def deleted_ids(commit: Commit) -> dict[Kind, set[int]]:
    """The entities that a commit deleted, or made tombstones, and the tombstones that it added."""
    found: defaultdict[Kind, set[int]] = defaultdict(set)
    for edit in commit.edits:
        if edit.new.get("_deleted") is True:
            found[edit.kind].update(edit.ids)
        elif edit.new.get("_variant_deleted") is True:
            olds = edit.olds or [edit.old] * len(edit.ids)
            # the entry of a single deletion also names the marks before the tombstone
            found[edit.kind].update(
                number for number, old in zip(edit.ids, olds, strict=True) if old is None or "_variant_deleted" in old
            )
    return dict(found)


def tombstones_added(commit: Commit) -> dict[Kind, set[int]]:
    """The tombstones that a commit added as new rows; not the rows that it turned into tombstones."""
    found: defaultdict[Kind, set[int]] = defaultdict(set)
    for edit in commit.edits:
        if edit.new.get("_variant_deleted") is True and edit.olds is not None:
            found[edit.kind].update(number for number, old in zip(edit.ids, edit.olds, strict=True) if old is None)
    return dict(found)
