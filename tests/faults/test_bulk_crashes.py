"""A bulk change killed after each of its AWS calls in turn: the queue finishes it, once, or nothing had begun."""

from __future__ import annotations

import json

import pytest

from chalicelib.storage.log import intents, log
from tests.faults.kills import Killer, make_bulk_changes_small
from tests.faults.picture import commits_after
from tests.resources.annotations.boxes import EVERYTHING, settle
from tests.service import join, new_user

ROWS = 10
A_COMMIT = 4
PARTS = 3
MOST_CALLS = 80


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch, no_delays):
    make_bulk_changes_small(monkeypatch, A_COMMIT)


@pytest.fixture
def here(api, project):
    return settle(api, project)


def edit(here, numbers):
    return here.api.patch(here.many, {"ids": numbers, "attributes": {"count": 7}})


def bury(here, numbers):
    return here.api.delete(here.many, {"ids": numbers})


def prune(here, numbers):
    return here.api.delete(here.many, {"ids": numbers, "prune": 1})


def move(here, numbers):
    return here.api.patch(here.many, {"ids": numbers, "new_version": here.layer})


def copy(here, numbers):
    return here.api.patch(here.many, {"ids": numbers, "attributes": {"count": 7}, "in_place": 0})


SIGHT = ("mark", "variant_deleted", "frame", "version", "attributes")


def outcome(here, numbers):
    """What became of the rows, their copies and their change logs, whatever their ids."""
    rows = here.listed(**EVERYTHING, after=min(numbers) - 1)
    shown = sorted(json.dumps([row[name] for name in SIGHT]) for row in rows)
    logs = [
        len(here.api.get(f"ChangeLog/{here.project}", entity_id=number, entity_type="localization").json)
        for number in numbers
    ]
    return shown, logs


def fresh(here):
    numbers = here.api.made(here.many, [here.spec(frame=frame) for frame in range(ROWS)])
    return numbers, outcome(here, numbers), log.last(here.project, fresh=True)


@pytest.mark.slow
@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.nightly), 7])
@pytest.mark.parametrize("change", [edit, bury, prune, move, copy], ids=lambda change: change.__name__)
def test_it_is_finished_once_wherever_it_is_killed(here, change, every, monkeypatch):
    here.layer = here.version()
    numbers, before, commits = fresh(here)
    assert change(here, numbers).status == 200
    wanted = outcome(here, numbers)
    assert wanted != before
    parts = commits_after(here.project, commits)
    assert parts >= PARTS
    here.api.drain()
    assert outcome(here, numbers) == wanted
    killer = Killer(monkeypatch)
    unfinished = 0
    for call in range(every, MOST_CALLS, every):
        numbers, before, commits = fresh(here)
        killer.left = call
        said = change(here, numbers)
        if killer.left is not None:
            killer.left = None
            break
        assert said.status == 500
        unfinished += outcome(here, numbers) not in (before, wanted)
        here.api.drain()
        found = outcome(here, numbers)
        assert found in (before, wanted), call
        assert commits_after(here.project, commits) == (parts if found == wanted else 0), call
    else:
        raise AssertionError("it never got through")
    assert unfinished >= (PARTS - 1 if every == 1 else 1)


@pytest.mark.slow
def test_what_others_do_to_finished_rows_meanwhile_stays(here, monkeypatch):
    killer = Killer(monkeypatch)
    for call in range(1, MOST_CALLS):
        numbers, _, _ = fresh(here)
        here.api.drain()
        before = here.count(attribute="count::7")
        killer.left = call
        edit(here, numbers)
        killer.left = None
        if before < here.count(attribute="count::7") < before + ROWS:
            break
    else:
        raise AssertionError("it was never half done")
    here.api.patch(f"Localization/{numbers[0]}", {"attributes": {"count": 5}})
    here.api.drain()
    assert here.one(numbers[0])["attributes"]["count"] == 5
    assert here.count(attribute="count::7") == before + ROWS - 1


@pytest.mark.slow
@pytest.mark.parametrize("change", [edit, prune, copy], ids=lambda change: change.__name__)
def test_a_request_and_its_continuation_at_once_do_everything_once(here, change, monkeypatch):
    numbers, _, _ = fresh(here)
    assert change(here, numbers).status == 200
    wanted = outcome(here, numbers)
    here.api.drain()
    numbers, _, commits = fresh(here)
    real, turns = intents.Progress.add, []

    def add(progress, transaction, count):
        turns.append(count)
        if len(turns) == 2:
            here.api.drain()
        real(progress, transaction, count)

    monkeypatch.setattr(intents.Progress, "add", add)
    assert change(here, numbers).status == 200
    monkeypatch.undo()
    assert outcome(here, numbers) == wanted
    assert commits_after(here.project, commits) == PARTS


def test_readers_see_no_row_half_changed(here, monkeypatch):
    numbers, _, _ = fresh(here)
    reader = new_user()
    join(reader, here.project, "View Only")
    real, seen = intents.Progress.advance, []

    def advance(progress, count, *, committed):
        real(progress, count, committed=committed)
        rows = reader.get(here.many).json
        assert {(row["attributes"].get("count"), row["attributes"].get("text")) for row in rows} <= {
            (None, None),
            (7, "7"),
        }
        seen.append(sum("count" in row["attributes"] for row in rows))

    monkeypatch.setattr(intents.Progress, "advance", advance)
    body = {"ids": numbers, "attributes": {"count": 7, "text": "7"}}
    assert here.api.patch(here.many, body).status == 200
    assert seen == [4, 8, 10]
