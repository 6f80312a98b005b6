"""Numbers of commits as tickets: random histories of containers that are slow or die, and what readers see of them."""

from __future__ import annotations

import random
import threading
from contextlib import nullcontext
from unittest import mock

import msgspec
import pytest

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Note
from chalicelib.core.models.entities import Localization
from chalicelib.core.resource import now
from chalicelib.core.time import retry
from chalicelib.errors import Conflict
from chalicelib.storage.dynamodb import entities, ids
from chalicelib.storage.dynamodb.tables import CounterRow, LogRow
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import bodies, log, tickets
from chalicelib.storage.view.cache import Views
from chalicelib.storage.view.snapshot import snapshots
from infra.emulator.dynamodb.metering import metering

BOX = Kind.LOCALIZATION
WRITERS, READERS, ROWS = 5, 2, 2


class Died(BaseException):
    """The end of a container."""


class Turns:
    """Containers, of which one works at a time: each stops at `pause` until chance chooses it."""

    def __init__(self, source):
        self.source = source
        self._go = {}
        self._idle = threading.Event()
        self._mine = threading.local()
        self.failures = []

    def pause(self, *, can_die=True):
        if (go := getattr(self._mine, "go", None)) is None:
            return
        if can_die and self.source.random() < 0.06:
            raise Died
        self._idle.set()
        go.wait()
        go.clear()

    def run(self, *workers):
        threads = {}
        for number, worker in enumerate(workers):
            self._go[number] = threading.Event()
            threads[number] = threading.Thread(target=self._work, args=(number, worker), daemon=True)
        left = sorted(threads)
        while left:
            number = self.source.choice(left)
            self._idle.clear()
            if threads[number].ident is None:
                threads[number].start()
            else:
                self._go[number].set()
            assert self._idle.wait(20)
            if number not in self._go:
                left.remove(number)
                threads[number].join()
        if self.failures:
            raise self.failures[0]

    def _work(self, number, worker):
        self._mine.go = self._go[number]
        try:
            worker()
        except Died:
            pass
        except BaseException as failure:  # noqa: BLE001 the test raises it
            self.failures.append(failure)
        finally:
            del self._go[number]
            self._idle.set()


@pytest.fixture
def no_patience(monkeypatch):
    """Readers fill holes at once."""
    monkeypatch.setattr(log, "HOLE_SECONDS", 0)


@pytest.fixture
def hurried(monkeypatch, no_patience):
    """Containers that do not share a lock, and neither wait for holes nor between attempts."""
    monkeypatch.setattr(log, "lock", lambda _project: nullcontext())
    monkeypatch.setattr(retry.time, "sleep", lambda _seconds: None)


def box(project, number, value=0):
    stamp = {"created_by": 7, "created_datetime": now(), "modified_by": 7, "modified_datetime": now()}
    return Localization(
        id=number,
        project=project,
        type=1,
        media=1,
        frame=value,
        version=1,
        elemental_id=str(number),
        attributes={},
        **stamp,
    )


class History:
    """One history; with `early`, of writers that take the ticket before they read the row."""

    def __init__(self, seed, *, early=False):
        self.project = ids.reserve("project")[0]
        self.told = []
        self._early = early
        self._turns = Turns(random.Random(seed))
        self._source = self._turns.source
        self._mine = threading.local()
        self._seen, self._made = {}, []
        self._rows = [make(self.project) for _ in range(ROWS)]
        self._write, self._read, self._take = Transaction._write, entities.get_stored, log.take_ticket

    def run(self):
        """What is wrong with it."""
        with (
            mock.patch.object(Transaction, "_write", lambda change, *rows: self._stop_and_write(change, *rows)),  # noqa: PLW0108 a bound method would not get the change
            mock.patch.object(entities, "get_stored", self._read_row),
            mock.patch.object(log, "take_ticket", self._take_ticket),
        ):
            self._turns.run(*[self._writer] * WRITERS, *[self._reader] * READERS)
        whole = list(log.read_after(self.project, 0))
        self.told += [f"{commit.seq} changed" for commit in whole if self._seen.get(commit.seq, commit) != commit]
        for number in self._rows:
            self._check_row(number, whole)
        return self.told

    def _check_row(self, number, whole):
        docs = [msgspec.json.decode(each.doc) for commit in whole for each in commit.changes if each.id == number]
        frames = [doc["frame"] for doc in docs]
        if frames != list(range(len(frames))):
            self.told.append(f"the versions of a row came as {frames}")
        if entities.get(BOX, number).frame != frames[-1]:
            self.told.append(f"a row is not as the log says: {frames}")

    def _writer(self):
        for _ in range(3):
            if self._source.random() < 0.3:
                change, number = Transaction(), ids.reserve(BOX)[0]
                entities.insert(change, BOX, box(self.project, number))
                change.add_note(self.project, 7, note(number))
                self._made.append(change.run())
            else:
                number = self._source.choice(self._rows)
                entities.edit(BOX, number, lambda row: msgspec.structs.replace(row, frame=row.frame + 1), user=7)
            self._turns.pause()

    def _reader(self):
        position = 0
        for _ in range(8):
            self._turns.pause(can_die=False)
            acknowledged = max(self._made, default=0)
            for commit in log.read_after(self.project, position):
                if commit.seq != position + 1:
                    self.told.append(f"{commit.seq} after {position}")
                position = commit.seq
                if self._seen.setdefault(commit.seq, commit) != commit:
                    self.told.append(f"{commit.seq} is two commits")
            if position < acknowledged:
                self.told.append(f"{acknowledged} was acknowledged, and {position} was the last that was read")

    def _stop_and_write(self, change, row, entries):
        self._turns.pause()
        self._write(change, row, entries)

    def _read_row(self, *given):
        if self._early:
            self._mine.ticket = self._take(self.project)
        self._turns.pause(can_die=False)
        found = self._read(*given)
        self._turns.pause(can_die=False)
        return found

    def _take_ticket(self, project):
        ticket, self._mine.ticket = getattr(self._mine, "ticket", None), None
        return ticket or self._take(project)


def note(number):
    return Note(type="box.made", kind="localization", id=number)


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(n, marks=pytest.mark.nightly) for n in range(12, 412))])
def test_a_history_of_slow_and_dying_writers_keeps_its_order(seed, hurried):
    assert History(seed).run() == []


@pytest.mark.slow
def test_the_histories_notice_a_ticket_that_is_taken_before_the_rows_are_read(hurried):
    found = [each for seed in range(8) for each in History(seed, early=True).run()]
    assert any("the versions of a row came as" in each for each in found)


@pytest.fixture
def project():
    return ids.reserve("project")[0]


def make(project):
    number = ids.reserve(BOX)[0]
    entities.create(BOX, [box(project, number)], user=7)
    return number


def test_a_hole_of_a_writer_that_died_is_filled_by_the_next_reader(project, no_patience):
    first = make(project)
    tickets.take_ticket(project)
    second = make(project)
    assert [each["id"] for each in _documents(project)] == [first, second]
    assert [len(commit.changes) for commit in log.read_after(project, 0)] == [1, 0, 1]


def _documents(project):
    commits = Views(log.read_after, begin=snapshots.begin).current(project)
    assert commits.seq == 3
    return [msgspec.json.decode(commits.document(BOX, number)) for number in sorted(_made(project))]


def _made(project):
    return [change.id for commit in log.read_after(project, 0) for change in commit.changes]


def test_a_reader_waits_for_a_writer_that_is_slow(project):
    make(project)
    ticket = tickets.take_ticket(project)
    make(project)
    waiting = threading.Timer(0.05, lambda: bodies.row_of(log.commit_of(project, ticket.seq, 9, [], [])).save())
    waiting.start()
    assert [commit.user for commit in log.read_after(project, 0)] == [7, 9, 7]
    waiting.join()


def test_a_writer_whose_number_was_filled_takes_another(project, monkeypatch):
    make(project)
    take = log.take_ticket

    def slow(number):
        monkeypatch.setattr(log, "take_ticket", take)
        ticket = take(number)
        log.fill(number, ticket.seq)
        return ticket

    monkeypatch.setattr(log, "take_ticket", slow)
    make(project)
    assert [len(commit.changes) for commit in log.read_after(project, 0)] == [1, 0, 1]


def test_a_change_that_is_refused_leaves_no_hole(project):
    number = make(project)
    change = Transaction()
    entities.insert(change, BOX, box(project, number))
    change.add_note(project, 7, note(number))
    with pytest.raises(Conflict, match="changed this first"):
        change.run()
    assert [int(row.seq) for row in LogRow.query(project, consistent_read=True)] == [1, 2]


def test_a_position_has_no_hole_below_it(project, no_patience):
    make(project)
    tickets.take_ticket(project)
    make(project)
    assert log.last(project, fresh=True) == 3
    assert [int(row.seq) for row in LogRow.query(project, consistent_read=True)] == [1, 2, 3]


def test_a_log_without_a_counter_goes_on_after_its_last_commit(project):
    make(project)
    make(project)
    CounterRow(f"log#{project}", "@").delete()
    make(project)
    assert [commit.seq for commit in log.read_after(project, 0)] == [1, 2, 3]


def test_a_log_that_reaches_further_than_its_counter_goes_on_after_its_last_commit(project):
    for _ in range(8):
        make(project)
    CounterRow(f"log#{project}", "@", n=2, settled=0).save()
    make(project)
    assert [len(commit.changes) for commit in log.read_after(project, 0)] == [1] * 9


@pytest.mark.emulated
def test_every_64th_commit_notes_that_there_are_no_holes_before_it(project, monkeypatch):
    monkeypatch.setattr(log, "SETTLED_EVERY", 4)
    for _ in range(9):
        make(project)
    assert tickets.state(project) == tickets.Ticket(9, 8, is_watched=False)
    with metering() as meter:
        assert log.last(project, fresh=True) == 9
    assert meter.total.calls == 2


@pytest.mark.emulated
def test_a_commit_takes_two_calls_and_three_units_beside_those_of_its_rows(project):
    make(project)
    number = ids.reserve(BOX)[0]
    with metering() as meter:
        entities.create(BOX, [box(project, number)], user=7)
    assert {name: usage.calls for name, usage in meter.operations.items()} == {"UpdateItem": 1, "TransactWriteItems": 1}
    assert meter.total.write == 5


def test_commits_that_have_expired_are_no_holes(project):
    for _ in range(4):
        make(project)
    log.expire(project, range(1, 4), 1)
    log.forget(project, [1, 2])
    assert [commit.seq for commit in log.read_after(project, 0)] == [3, 4]


def test_commits_that_come_while_a_reader_looks_have_not_expired(project, monkeypatch):
    make(project)
    slow = tickets.take_ticket(project)
    make(project)
    look = tickets.state

    def later(number):
        bodies.row_of(log.commit_of(number, slow.seq, 9, [], [])).save()
        tickets.mark_complete(number, 3)
        monkeypatch.setattr(tickets, "state", look)
        return look(number)

    monkeypatch.setattr(tickets, "state", later)
    assert [commit.user for commit in log.read_after(project, 0)] == [7, 9, 7]


def test_a_hole_that_follows_expired_commits_is_filled(project, no_patience):
    make(project)
    make(project)
    log.expire(project, range(1, 3), 1)
    log.forget(project, [1, 2])
    tickets.take_ticket(project)
    make(project)
    assert [commit.seq for commit in log.read_after(project, 0)] == [3, 4]


@pytest.mark.parametrize("is_written", [False, True])
def test_holes_of_a_restored_log_are_filled_and_its_expired_commits_are_not(project, no_patience, is_written):
    for _ in range(4):
        make(project)
    log.expire(project, range(1, 4), 1)
    log.forget(project, [1, 2])
    tickets.take_ticket(project)
    make(project)
    tickets.forget(project)  # as `infra/operating/restoring.py` does
    if is_written:
        make(project)
    assert [commit.seq for commit in log.read_after(project, 0)] == [3, 4, 5, 6, *[7] * is_written]


def test_a_reader_does_not_fill_what_a_purge_has_removed(project, no_patience):
    for _ in range(3):
        make(project)
    log.forget(project, [1, 2])
    assert [commit.seq for commit in log.read_after(project, 0)] == [3]
