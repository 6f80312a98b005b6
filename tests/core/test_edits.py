"""Entries of the change log: what differs, under which names."""

from __future__ import annotations

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.log.edits import changed, deleted, differences
from chalicelib.core.models.entities import Leaf

LEAF = Leaf(
    id=1, project=1, type=1, name="a", path="p.a", attributes={"n": 1, "gone": "x"}, created_by=1, modified_by=1,
    created_datetime="2026-01-01T00:00:00.000Z", modified_datetime="2026-01-01T00:00:00.000Z",
)  # fmt: skip


def test_only_what_differs_is_told_and_built_in_members_have_an_underscore():
    after = msgspec.structs.replace(
        LEAF, name="b", attributes={"n": 0, "new": ""}, modified_by=2, modified_datetime="2026-01-02T00:00:00.000Z"
    )
    assert differences(LEAF, after) == (
        {"_name": "a", "_modified_by": 1, "n": 1, "gone": "x", "new": None},
        {"_name": "b", "_modified_by": 2, "n": 0, "gone": None, "new": ""},
    )
    assert differences(LEAF, LEAF) == ({}, {})


def test_an_entry_names_all_it_tells_of_once():
    assert changed(Kind.LEAF, LEAF, LEAF).ids == [1]
    assert changed(Kind.LEAF, LEAF, LEAF, [1, 2, 1]).ids == [1, 2]
    assert deleted(Kind.LEAF, [1]).new == {"_deleted": True}
