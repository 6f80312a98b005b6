"""Nobody reaches objects of somebody else by any operation: see `sweep.py`."""

from __future__ import annotations

import pytest

from tests.contract.sweep import LEVELLED, MARK, Report, Worlds, in_bodies, in_deep_bodies, in_queries, sweep
from tests.service import Said, join


@pytest.fixture(scope="module")
def worlds() -> Worlds:
    return Worlds()


def test_a_part_of_all_attempts_on_foreign_objects_finds_nothing(worlds):
    report = sweep(worlds, LEVELLED[::12])
    assert report.faults == []
    assert min(report.attempts[place] for place in ("path", "query", "body")) >= 5


def test_no_change_names_a_foreign_object_in_its_body(worlds):
    changes = [operation for operation in LEVELLED if operation.method == "PATCH"]
    report = Report()
    in_bodies(worlds, report, changes)
    assert report.faults == []
    assert report.attempts["body"] >= 50


@pytest.mark.nightly
def test_no_operation_reaches_foreign_objects_by_path_query_or_body(worlds):
    report = sweep(worlds, LEVELLED)
    assert report.faults == []
    assert len(worlds.callers) == 10
    assert report.attempts["path"] >= 10 * len(LEVELLED)  # what has no level is tried by most of the callers


@pytest.mark.nightly
@pytest.mark.parametrize("level", ["View Only", "Full Control"])
def test_a_member_of_both_projects_names_nothing_of_the_one_in_the_other(level):
    """What may be seen is no more of a project than what may not: its things are shown, and not taken."""
    worlds, report = Worlds(), Report()
    join(worlds.here.owner, worlds.there.things["project"], level)
    before = worlds.state()
    for attempt in (in_queries, in_bodies, in_deep_bodies):
        attempt(worlds, report, LEVELLED)
    assert [fault for fault in report.faults if not fault.endswith("shows what is foreign")] == []
    assert worlds.state() == before
    assert report.attempts.total() > 1500


def test_the_sweep_notices_what_is_shown_and_what_is_let_through():
    report = Report()
    report.note("path", Said(200, {}, b"[]"), "a", accepted=(404,))
    report.note("body", Said(400, {}, MARK.encode()), "b")
    report.note("query", Said(503, {}, b""), "c")
    assert [fault[0] for fault in report.faults] == ["a", "b", "c"]
