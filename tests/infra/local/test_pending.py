"""Rows that wait for the commit of several calls: readers see them, and a process that dies leaves the first calls."""

import contextlib
import random
import shutil
import sqlite3
import threading

import pytest

from infra.local.dynamodb import rows as dynamodb_rows
from infra.local.dynamodb.rows import Rows, put_all, transaction
from infra.local.sqlite import database, pending, sqlite_file
from infra.local.sqlite.database import NAME, Database, pack, unpack
from infra.local.sqlite.integrity import CannotStore, checksum


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_file, "CHECKPOINT_SECONDS", 600)  # that thread commits what waits, too
    made = Database(tmp_path / "live")
    monkeypatch.setattr(database, "_current", [made])
    monkeypatch.setattr(dynamodb_rows, "listeners", [])  # tests that follow what is written leave theirs
    yield made
    made.close()


@pytest.fixture
def rows(store):
    return Rows("table", "pk", "S", None, "")


def row(key, value):
    return (1, key, b"", b"%d" % value, checksum(1, key, b"", b"%d" % value))


def put(store, key, value):
    store.change_rows([], [row(key, value)])


def left(store, place, table=1):
    """The rows of a table that a process that is killed now would leave."""
    shutil.copytree(store.directory, place, ignore=shutil.ignore_patterns("*-shm"))
    with_them = Database(place)
    found = dict(with_them.read("SELECT pk, doc FROM rows WHERE tab = ?", table))
    with_them.close()
    return found


def statements(store):
    found = []
    store._connection.set_trace_callback(lambda sql: found.append(sql.split()[0]))
    return found


def test_several_calls_are_one_commit_with_what_is_noted_of_the_answer(store):
    asked = statements(store)
    with store.lock, store.committing_later():
        for number in range(3):
            put(store, b"a", number)
            put(store, b"b%d" % number, number)
        assert asked == []
        store.sync()
    assert asked.count("COMMIT") == asked.count("BEGIN") == 1
    assert len(asked) == 4  # four rows in one statement, and the number of the answer


def test_what_was_answered_is_there_after_a_kill_and_the_rest_is_not_half_there(store, tmp_path):
    with store.committing_later():
        store.change_rows([], [row(b"a", 1), row(b"b", 1)])
        store.sync()
        store.change_rows([], [row(b"a", 2), row(b"b", 2)])
        store.change_rows([(1, b"a", b"")], [row(b"c", 3)])
    assert left(store, tmp_path / "before") == {b"a": b"1", b"b": b"1"}
    store.sync()
    assert left(store, tmp_path / "behind") == {b"b": b"2", b"c": b"3"}


@pytest.mark.parametrize("write", [
    lambda store: store.documents("things").put("x", 1),
    lambda store: store.write("DELETE FROM messages"),
    lambda store: put(store, b"late", 9),
])  # fmt: skip
def test_calls_are_committed_in_their_order(store, tmp_path, write):
    with store.committing_later():
        put(store, b"early", 1)
    write(store)
    assert left(store, tmp_path / "copy")[b"early"] == b"1"


def test_a_transaction_that_fails_takes_no_earlier_call_along(store, tmp_path):
    with store.committing_later():
        put(store, b"early", 1)
        with contextlib.suppress(LookupError), store.transaction():
            put(store, b"early", 2)
            raise LookupError
    assert left(store, tmp_path / "copy") == {b"early": b"1"}


def test_the_thread_sees_its_rows_by_key_without_a_commit_and_others_after_one(store, rows):
    with store.committing_later():
        with store.lock:  # threads of other tests may still read, which commits
            rows.put("a", None, b"1")
            asked = statements(store)
            assert rows.get("a", None) == b"1"
            assert asked == []
        seen = []
        other = threading.Thread(target=lambda: seen.append(rows.get("a", None)))
        other.start()
        other.join(60)
        assert seen == [b"1"]
        assert "COMMIT" in asked


def test_many_rows_do_not_wait(store, monkeypatch):
    monkeypatch.setattr(pending, "MOST", 10)
    asked = statements(store)
    with store.lock, store.committing_later():
        for number in range(11):
            put(store, b"%d" % number, number)
    assert asked.count("COMMIT") == 1


def test_rows_wait_while_the_disk_is_full_and_nothing_more_is_taken(store, tmp_path, monkeypatch):
    def full(*_):
        raise sqlite3.OperationalError("database or disk is full")

    with store.committing_later():
        put(store, b"a", 1)
        with monkeypatch.context() as patch:
            patch.setattr(pending, "write", full)
            with pytest.raises(CannotStore):
                store.sync()
            with pytest.raises(CannotStore):
                put(store, b"b", 2)
            assert store.read("SELECT pk FROM rows WHERE tab = 1") == []
            assert store.problem()
            with store.committing_later():
                assert store.read("SELECT pk FROM rows WHERE tab = 1") == []
                store.sync()  # who only read is not refused
        assert not store.problem()
    assert left(store, tmp_path / "copy") == {b"a": b"1"}


def test_what_was_read_while_the_disk_was_full_is_not_kept(store, rows, monkeypatch):
    def full(*_):
        raise sqlite3.OperationalError("database or disk is full")

    rows.put("kept", None, b"old")
    with store.committing_later():
        put_all([(rows, "kept", None, b"new"), (rows, "made", None, b"new")])
        with monkeypatch.context() as patch:
            patch.setattr(pending, "write", full)
            with pytest.raises(CannotStore):
                store.sync()
            store._thread.commits_later = False  # as a queue function, which sees what is committed
            assert (rows.get("kept", None), rows.get("made", None)) == (b"old", None)
            store._thread.commits_later = True
        store.sync()
        assert (rows.get("kept", None), rows.get("made", None)) == (b"new", b"new")


@pytest.mark.parametrize("many", [pending.MANY, 2])
def test_tables_are_the_same_with_calls_that_wait(store, rows, tmp_path, monkeypatch, many):
    monkeypatch.setattr(pending, "MANY", many)
    monkeypatch.setattr(pending, "A_PART", 2)
    dice, model = random.Random(1), {}
    for step in range(600):
        is_late = dice.random() < 0.8
        store._thread.commits_later = is_late
        several = {f"k{dice.randrange(12)}": dice.choice([None, b"%d" % step]) for _ in range(dice.choice([1, 1, 3]))}
        if dice.random() < 0.1:
            with transaction():
                put_all([(rows, key, None, value) for key, value in several.items()])
        else:
            put_all([(rows, key, None, value) for key, value in several.items()])
        model |= several
        key = f"k{dice.randrange(12)}"
        assert rows.get(key, None) == model.get(key)
        if dice.random() < 0.1:
            found = sorted(value for _, _, value in rows.walk()) if dice.random() < 0.5 else None
            assert found in (None, sorted(value for value in model.values() if value is not None))
        if dice.random() < 0.1:
            store.sync()
            if step % 5 == 0:
                there = {key.encode(): value for key, value in model.items() if value is not None}
                assert left(store, tmp_path / str(step), rows.number) == there
        if dice.random() < 0.2:
            store.write_journal()
    store._thread.commits_later = False
    assert sorted(value for _, _, value in rows.walk()) == sorted(filter(None, model.values()))


def test_many_rows_are_on_the_disk_before_they_are_in_their_table(store, tmp_path):
    many = pending.MANY + 50
    with store.committing_later():
        store.change_rows([], [row(b"%d" % number, number) for number in range(many)])
        store.change_rows([], [(2, b"a", b"sorted", b"x", checksum(2, b"a", b"sorted", b"x"))])
        store.sync()
        put(store, b"0", 7)
        store.sync()
    tables = "SELECT tab, count(*) FROM rows GROUP BY tab"
    assert store.read(tables) == [(2, 1)]
    assert store.find_waiting([(1, b"0", b""), (1, b"1", b""), (2, b"a", b"sorted")]) == {
        (1, b"0", b""): b"7", (1, b"1", b""): b"1",
    }  # fmt: skip
    assert len(store.documents("journal")) == 2
    written = {b"%d" % number: b"%d" % number for number in range(many)} | {b"0": b"7"}
    assert left(store, tmp_path / "before") == written
    assert store.write_journal()
    assert store.read(tables) == [(1, pending.A_PART), (2, 1)]
    assert left(store, tmp_path / "between") == written
    assert not store.write_journal()
    assert store.read(tables) == [(1, many), (2, 1)]
    assert len(store.documents("journal")) == 0
    assert left(store, tmp_path / "behind") == written


def test_background_work_sees_the_journal_and_no_rows_that_could_not_be_committed(store, monkeypatch):
    def full(*_):
        raise sqlite3.OperationalError("database or disk is full")

    with store.committing_later():
        store.change_rows([], [row(b"%d" % number, 1) for number in range(pending.MANY)])
        store.sync()
        put(store, b"1", 2)
    with monkeypatch.context() as patch:
        patch.setattr(pending.Pending, "write_fresh", full)
        assert store.find_waiting([(1, b"1", b"")]) == {(1, b"1", b""): b"1"}
    assert store.find_waiting([(1, b"1", b"")]) == {(1, b"1", b""): b"2"}


def test_runs_of_rows_are_stored_each_once(store, rows):
    put_all([(rows, f"{number:04}", None, pack({"n": number})) for number in range(213)])
    assert [unpack(value)["n"] for _, _, value in rows.walk()] == list(range(213))


def test_a_long_log_begins_at_its_front_again(store, monkeypatch):
    monkeypatch.setattr(sqlite_file, "LONG_LOG", 1)
    log, lock, connection = store.directory / f"{NAME}-wal", store.lock, sqlite_file.connect(store.path)
    for number in range(50):
        put(store, b"%d" % number, number)
    size = log.stat().st_size
    for _ in range(3):
        sqlite_file.transfer(connection, lock)
        for number in range(40):
            put(store, b"%d" % number, -number)
    connection.close()
    assert log.stat().st_size == size


def test_the_thread_of_the_log_ends_though_it_is_stopped_while_it_wakes_up(tmp_path, monkeypatch):
    class Stopped(threading.Event):
        def clear(self):
            checkpoints._closing.set()
            super().clear()

    monkeypatch.setattr(sqlite_file, "CHECKPOINT_SECONDS", 0.01)
    written = Stopped()
    checkpoints = sqlite_file.Checkpoints(tmp_path / NAME, written, threading.Lock(), lambda: None)
    written.set()
    checkpoints._thread.join(5)
    assert not checkpoints._thread.is_alive()
