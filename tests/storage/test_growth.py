"""Bulk writes do not outrun the compaction: what a cold container has to apply has a bound."""

from __future__ import annotations

import uuid

import pytest

from chalicelib.core.kinds import Kind
from chalicelib.core.time.deadline import time_limit
from chalicelib.errors import TooMany
from chalicelib.maintenance import compaction
from chalicelib.storage.dynamodb import ids, steps
from chalicelib.storage.log import growth, log
from chalicelib.storage.view.cache import Views
from chalicelib.storage.view.snapshot import snapshot_records, snapshots
from chalicelib.storage.view.snapshot.snapshot_records import pointer
from tests.contract.world import build
from tests.storage.commits import all_of, boxed, grow, put

SIZE = 50
"""Changes of a commit of these tests, each of which is counted exactly."""


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Bounds of a few commits, and no container that knows of a project."""
    monkeypatch.setattr(growth, "SLOW_FROM", 2 * SIZE)
    monkeypatch.setattr(growth, "MOST", 4 * SIZE)
    monkeypatch.setattr(compaction, "PRESSING", SIZE)
    monkeypatch.setattr(compaction, "ENOUGH_CHANGES", SIZE)
    monkeypatch.setattr(growth, "_behind", set())


@pytest.fixture
def pauses(monkeypatch) -> list[float]:
    """The pauses that writers made; none takes time."""
    made: list[float] = []
    monkeypatch.setattr(growth, "_sleep", made.append)
    return made


@pytest.fixture
def project() -> int:
    found = ids.reserve("project")[0]
    grow(found, 1)
    return found


def write(project: int, number: int) -> None:
    """A bulk write as a request makes it."""
    growth.make_room(project)
    put(project, *(boxed(each) for each in range(number * SIZE + 2, (number + 1) * SIZE + 2)))


def tail(project: int) -> int:
    """How many changes a container without the view applies."""
    found = pointer(project)
    return sum(len(commit.changes) for commit in log.read_after(project, found.seq if found else 0))


def test_writes_pause_the_longer_the_further_the_compaction_is_behind(project, pauses):
    for number in range(5):
        write(project, number)
    assert pauses == [pytest.approx(growth.LONGEST_PAUSE / 2), pytest.approx(growth.LONGEST_PAUSE)]


@pytest.mark.slow
def test_a_write_beyond_the_bound_waits_for_the_compaction(project, pauses, monkeypatch):
    for number in range(5):
        write(project, number)

    def sleep(seconds):
        pauses.append(seconds)
        if len(pauses) == 3:
            compaction.run(60)

    pauses.clear()
    monkeypatch.setattr(growth, "_sleep", sleep)
    write(project, 5)
    assert pauses == [growth.LOOK_EVERY] * 3
    assert tail(project) == SIZE


def test_a_request_that_waited_long_enough_is_refused_until_later(project, pauses):
    for number in range(5):
        write(project, number)
    last = log.last(project, fresh=True)
    with time_limit(0), pytest.raises(TooMany, match="faster than its snapshots") as refusal:
        write(project, 5)
    assert refusal.value.retry_after == growth.RETRY_AFTER
    assert log.last(project, fresh=True) == last


def test_another_container_learns_of_it_with_its_own_commit(project, pauses):
    for number in range(5):
        write(project, number)
    growth._behind.clear()
    write(project, 5)
    with time_limit(0), pytest.raises(TooMany):
        write(project, 6)


@pytest.mark.slow
def test_an_import_of_any_size_leaves_a_bounded_tail_and_the_first_query_applies_only_that(project, monkeypatch):
    def sleep(_):
        compaction.run(60)  # the schedule calls it meanwhile

    monkeypatch.setattr(growth, "_sleep", sleep)
    tails = []
    for number in range(9):
        write(project, number)
        tails.append(tail(project))
    assert max(tails) <= growth.MOST + SIZE
    applied = []
    container = Views(
        lambda *where: [applied.append(each) or each for each in log.read_after(*where)], begin=snapshots.begin
    )
    assert len(container.current(project).ids(all_of(Kind.LOCALIZATION))) == 9 * SIZE + 1
    assert sum(len(commit.changes) for commit in applied) == tails[-1]


class TestRuns:
    @pytest.mark.slow
    def test_a_run_goes_on_while_a_project_grows(self, project, pauses, monkeypatch):
        write(project, 0)
        save, more = snapshots.save, iter(range(1, 4))

        def saves(*given, **named):
            for number in more:
                put(project, *(boxed(each) for each in range(number * SIZE + 2, (number + 1) * SIZE + 2)))
                break
            return save(*given, **named)

        monkeypatch.setattr(snapshots, "save", saves)
        assert project in compaction.run(60)
        assert pointer(project).seq == log.last(project, fresh=True)
        assert project not in growth.by_project()

    def test_a_fold_that_is_cut_off_lets_writers_in_by_what_it_folded(self, project, pauses, monkeypatch):
        for number in range(4):
            write(project, number)
        monkeypatch.setattr(snapshots, "COMMITS_PER_TRANSACTION", 3)
        monkeypatch.setattr(compaction, "FOLLOW_SECONDS", -1.0)
        outcome = compaction.step(project, growth.by_project()[project])
        assert outcome.is_unfinished
        assert tail(project) == 3 * SIZE
        assert growth.by_project()[project] == 3 * SIZE

    @pytest.mark.slow
    def test_growth_is_settled_with_the_snapshot_once_wherever_a_run_dies(self, project, pauses, monkeypatch):
        class Died(BaseException):
            pass

        def die(*_, **__):
            raise Died

        for number in range(3):
            write(project, number)
        with monkeypatch.context() as dead:
            dead.setattr(snapshot_records, "_swap", die)
            with pytest.raises(Died):
                compaction.compact(project, force=True)
        assert growth.by_project()[project] == 3 * SIZE
        write(project, 3)
        with monkeypatch.context() as dead:
            dead.setattr(compaction.parquet_steps, "write_step", die)
            with pytest.raises(Died):
                compaction.compact(project, force=True)
        assert growth.by_project()[project] == 0
        write(project, 4)
        compaction.compact(project, force=True)
        assert growth.by_project().get(project, 0) == 0

    def test_a_project_without_recorded_growth_gets_its_snapshot(self, project):
        write(project, 0)
        growth.forget(project, growth.by_project()[project])
        assert compaction.compact(project, force=True)
        assert project not in growth.by_project()

    @pytest.mark.slow
    def test_two_runs_at_once_settle_a_commit_once(self, project):
        write(project, 0)
        changes = growth.by_project()[project]
        write(project, 1)
        for _ in range(2):  # the second one looked before the first one was done
            compaction.step(project, changes)
            write(project, 2)
        assert growth.by_project()[project] == SIZE


@pytest.mark.slow
def test_a_refusal_says_when_to_try_again_and_changes_nothing(pauses, monkeypatch):
    world = build()
    api, project, media = world.owner, world.things["project"], world.things["media"]
    boxes, count = f"Localizations/{project}", f"LocalizationCount/{project}"
    body = [{"type": world.things["localization_type"], "media_id": media, "frame": 0}] * SIZE
    while growth.by_project().get(project, 0) <= growth.MOST:
        assert api.post(boxes, body).status == 201
    monkeypatch.setattr(growth, "PATIENCE", 0.0)
    before = api.get(count).json
    many = {"media_id": media}
    for refused in (api.post(boxes, body), api.patch(boxes, {"attributes": {}}, **many), api.delete(boxes, {}, **many)):
        assert refused.status == 429
        assert refused.headers["Retry-After"] == str(growth.RETRY_AFTER)
    assert api.post(boxes, body[:5]).status == 201  # people go on
    assert api.get(count).json == before + 5
    compaction.compact(project, growth.by_project()[project])
    assert api.post(boxes, body).status == 201


@pytest.fixture
def recorded(monkeypatch) -> list[int]:
    """The growth of each record that was made."""
    made: list[int] = []
    real = growth._record

    def record(project: int, number: int) -> None:
        made.append(number)
        real(project, number)

    monkeypatch.setattr(growth, "_record", record)
    return made


def test_a_bulk_change_records_the_growth_by_its_commits_together(project, recorded, monkeypatch):
    monkeypatch.setattr(growth, "RECORDED_EARLY_FROM", 3 * SIZE)
    before = growth.by_project().get(project, 0)
    with growth.recording_together():
        for seq in range(5):
            growth.record(project, seq, SIZE)
    assert recorded == [3 * SIZE, 2 * SIZE]
    assert growth.by_project()[project] == before + 5 * SIZE


def test_a_bulk_change_that_fails_records_what_it_did(project, recorded):
    def fail() -> None:
        with growth.recording_together():
            growth.record(project, 1, SIZE)
            raise ValueError("halfway")

    with pytest.raises(ValueError, match="halfway"):
        fail()
    assert recorded == [SIZE]
    growth.record(project, 2, SIZE)  # after it, each commit is recorded again
    assert recorded == [SIZE, SIZE]


@pytest.mark.slow
def test_a_write_waits_before_it_takes_a_guard_and_for_all_its_rows(monkeypatch):
    world = build()
    api, project, media = world.owner, world.things["project"], world.things["media"]
    order: list[object] = []
    guard = steps.guard
    monkeypatch.setattr(growth, "make_room", lambda _, rows=SIZE: order.append(rows))
    monkeypatch.setattr(steps, "guard", lambda number: order.append("guard") or guard(number))
    box = {"type": world.things["localization_type"], "media_id": media, "frame": 0}
    named = [{**box, "elemental_id": str(uuid.uuid4())} for _ in range(SIZE)]
    leaves = [{"name": f"n{number}", "type": world.things["leaf_type"]} for number in range(SIZE)]
    for path, body in ((f"Localizations/{project}", named), (f"Leaves/{project}", leaves)):
        order.clear()
        assert api.post(path, body).status == 201
        assert order == [SIZE, "guard"], path
    order.clear()
    assert api.delete(f"Medias/{project}", {}, media_id=media).status == 200
    assert order[0] > SIZE, "the annotations go with their media"
