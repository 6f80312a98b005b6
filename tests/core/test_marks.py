"""Marks: of an element's rows exactly the one with the highest mark is the latest."""

from __future__ import annotations

import uuid

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from chalicelib.core.models.entities import Localization
from chalicelib.core.models.marks import identity, next_mark, settled
from chalicelib.core.resource import random_uuids

BOX = Localization(
    id=1, project=1, type=1, media=1, frame=0, version=2, elemental_id="e", created_by=1, modified_by=1,
    created_datetime="2026-01-01T00:00:00.000Z", modified_datetime="2026-01-01T00:00:00.000Z",
)  # fmt: skip


def row(number, mark, *, latest):
    return msgspec.structs.replace(BOX, id=number, mark=mark, latest=latest)


def test_an_element_is_named_by_version_and_elemental_id():
    assert identity(BOX) == (2, "e")


def test_marks_count_from_zero_and_leave_out_none_but_the_deleted():
    assert next_mark([]) == 0
    assert next_mark([row(1, 0, latest=False), row(2, 4, latest=True)]) == 5


@pytest.mark.slow
@given(some.dictionaries(some.integers(0, 9), some.booleans()))
def test_after_settling_exactly_the_highest_mark_is_the_latest(flags):
    rows = {mark: row(mark + 100, mark, latest=latest) for mark, latest in flags.items()}
    changed = settled(rows.values())
    after = {**rows, **{each.mark: each for each in changed}}
    assert [mark for mark in sorted(after) if after[mark].latest] == sorted(after)[-1:]
    assert all(rows[each.mark].latest != each.latest for each in changed)


def test_names_of_elements_are_random_uuids_of_version_4():
    names = random_uuids(500)
    assert len(set(names)) == len(names)
    assert {(str(found), found.version, found.variant) for found in map(uuid.UUID, names)} == {
        (name, 4, uuid.RFC_4122) for name in names
    }
    assert not random_uuids(0)
