"""Entities: created at once or not at all, never changed twice from one reading, and told of in the log."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Localization
from chalicelib.errors import Conflict, NotFound
from chalicelib.storage.dynamodb import entities, entity_rows, ids, steps, transactions
from chalicelib.storage.dynamodb.steps import RowChange
from chalicelib.storage.dynamodb.tables import CounterRow
from chalicelib.storage.dynamodb.transactions import TooLarge
from chalicelib.storage.log import bodies, log
from chalicelib.storage.objects import view_objects
from infra.emulator.dynamodb.metering import metering

BOX = Kind.LOCALIZATION


@pytest.fixture
def project() -> int:
    return ids.reserve("project")[0]


def boxes(project: int, count: int, **more) -> list[Localization]:
    return [
        Localization(
            id=number,
            project=project,
            type=1,
            media=1,
            frame=0,
            version=1,
            elemental_id="e",
            x=0.5,
            created_by=1,
            created_datetime="2026-01-01T00:00:00.000Z",
            modified_by=1,
            modified_datetime="2026-01-01T00:00:00.000Z",
            **more,
        )
        for number in ids.reserve(BOX, count)
    ]


@pytest.mark.parametrize("count", [1, entities.SMALL, entities.SMALL + 1, 500])
def test_what_was_created_is_there_and_told_of_in_one_commit(project, count):
    made = boxes(project, count)
    entities.create(BOX, made, user=7)
    assert entities.get(BOX, made[-1].id) == made[-1]
    (commit,) = log.read_after(project, 0)
    assert [change.id for change in commit.changes] == [box.id for box in made]


def test_a_creation_whose_commit_failed_shows_nothing(project, monkeypatch):
    made = boxes(project, 50)

    def die(*_):
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(entities.Transaction, "run", die)
        with pytest.raises(RuntimeError):
            entities.create(BOX, made, user=7)
    assert entities.many(BOX, [box.id for box in made]) == {}
    with pytest.raises(NotFound):
        entities.get(BOX, made[0].id)
    assert list(log.read_after(project, 0)) == []


def test_a_creation_that_a_sweeper_gave_up_on_never_becomes_visible(project, monkeypatch):
    made = boxes(project, 50)
    write = entity_rows.write

    def sweep_meanwhile(rows):
        write(rows)
        CounterRow("pending", f"{BOX}#{made[0].id}").delete()

    monkeypatch.setattr(entity_rows, "write", sweep_meanwhile)
    with pytest.raises(Conflict, match="nothing was created"):
        entities.create(BOX, made, user=7)
    assert entities.many(BOX, [box.id for box in made]) == {}


def test_zero_is_a_value_not_an_absence(project):
    (box,) = boxes(project, 1)
    entities.create(BOX, [box], user=7)
    entities.edit(BOX, box.id, lambda found: msgspec.structs.replace(found, x=0.0), user=7)
    assert entities.get(BOX, box.id).x == 0.0


def test_eight_who_edit_one_entity_lose_no_edit(project):
    (box,) = boxes(project, 1)
    entities.create(BOX, [box], user=7)

    def add(name):
        def how(found):
            return msgspec.structs.replace(found, attributes={**found.attributes, name: 1})

        entities.edit(BOX, box.id, how, user=7)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, "abcdefgh"))
    assert set(entities.get(BOX, box.id).attributes) == set("abcdefgh")
    commits = list(log.read_after(project, 0))
    assert [commit.seq for commit in commits] == list(range(1, len(commits) + 1))
    assert sum(bool(commit.changes) for commit in commits) == 9  # those that lost against another left an empty one


def test_many_are_deleted_in_parts_and_those_that_are_gone_are_no_error(project):
    made = boxes(project, 250)
    entities.create(BOX, made, user=7)
    numbers = [box.id for box in made]

    def delete(part):
        done = [RowChange(BOX, row, None) for row in entities.many(BOX, part).values()]
        steps.apply(project, done, user=7, edits=[])

    steps.in_parts([*numbers[:120], 10**11], delete)
    assert sorted(entities.many(BOX, numbers)) == numbers[120:]
    commits = list(log.read_after(project, 0))
    assert [len(commit.changes) for commit in commits] == [250, steps.MOST_STEPS, 120 - steps.MOST_STEPS]
    assert sum(change.is_gone for commit in commits for change in commit.changes) == 120


def test_parts_are_halved_until_they_fit_and_one_that_never_does_is_refused(project):
    sizes = []

    def do(part):
        sizes.append(len(part))
        if len(part) > 30 or 199 in part:
            raise TooLarge("too large")

    with pytest.raises(TooLarge):
        steps.in_parts(list(range(200)), do)
    assert sizes[:3] == [98, 49, 24]
    assert sizes[-1] == 1


def test_turning_0_into_false_is_a_change(project):
    (box,) = boxes(project, 1, attributes={"flag": 0})
    assert entities.differs(box, msgspec.structs.replace(box, attributes={"flag": False}))
    assert not entities.differs(box, msgspec.structs.replace(box, attributes={"flag": 0}))


def test_eight_writers_leave_a_log_without_gaps(project):
    def create(_):
        entities.create(BOX, boxes(project, 3), user=7)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(create, range(40)))
    assert [commit.seq for commit in log.read_after(project, 0)] == list(range(1, 41))


def test_a_commit_too_large_for_a_row_is_read_back_from_s3(project, monkeypatch):
    monkeypatch.setattr(bodies, "LARGEST_IN_ROW", 10)
    made = boxes(project, 1)
    entities.create(BOX, made, user=7)
    (commit,) = log.read_after(project, 0)
    assert commit.changes[0].id == made[0].id


@pytest.mark.slow
def test_bodies_in_s3_and_in_rows_come_back_in_the_order_of_their_commits(project, monkeypatch):
    made = []
    for n in range(40):
        monkeypatch.setattr(bodies, "LARGEST_IN_ROW", 10 if n % 3 else 16_000)
        made += boxes(project, 1)
        entities.create(BOX, made[-1:], user=7)
    told = [(commit.seq, commit.changes[0].id) for commit in log.read_after(project, 0)]
    assert told == [(n, box.id) for n, box in enumerate(made, 1)]


def test_a_large_creation_costs_hardly_more_than_a_write_unit_for_each(project):
    chance = random.Random(1)
    made = [
        msgspec.structs.replace(box, attributes={letter: chance.random() for letter in "abcdefgh"})
        for box in boxes(project, 500)
    ]
    with metering() as meter:
        entities.create(BOX, made, user=7)
    assert meter.total.write / len(made) <= 1.1


def test_a_large_commit_that_keeps_losing_the_race_goes_into_the_row(project, monkeypatch):
    monkeypatch.setattr(bodies, "LARGEST_BODY", 10)
    monkeypatch.setattr(bodies, "MANY", 1)
    stored = []
    put = view_objects.try_put

    def overtaken(number: int, folder: str, body: bytes) -> str:
        stored.append(folder)
        with monkeypatch.context() as small:
            small.setattr(bodies, "LARGEST_BODY", 16_000)
            commit = log.commit_of(project, int(folder.partition("/")[2]), 8, [], [])
            bodies.row_of(commit).save()
        return put(number, folder, body)

    monkeypatch.setattr(view_objects, "try_put", overtaken)
    (box,) = boxes(project, 1)
    entities.create(BOX, [box], user=7)
    assert len(stored) == transactions.INLINE_FROM_ATTEMPT
    assert [len(commit.changes) for commit in log.read_after(project, 0)] == [0, 0, 1]
