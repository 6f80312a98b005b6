"""Rows that were read lately are those of the database, whatever happened to it since."""

from __future__ import annotations

import itertools
from contextlib import suppress

import pytest

from infra.local.dynamodb import reads
from infra.local.dynamodb.rows import Rows, transaction
from infra.local.sqlite import database, recent
from infra.local.sqlite.database import pack, unpack

_names = itertools.count(1)


@pytest.fixture
def rows() -> Rows:
    return Rows(f"recent {next(_names)}", "pk", "S", None, "")


def row(value: str) -> bytes:
    return pack({"pk": {"S": "a"}, "v": {"S": value}})


def statements(rows: Rows, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    read = rows._database.read_committed

    def note(sql: str, values: object) -> list[tuple[object, ...]]:
        found.append(sql)
        return read(sql, values)

    monkeypatch.setattr(rows._database, "read_committed", note)
    return found


def test_a_row_is_read_once_until_it_changes(rows, monkeypatch):
    asked = statements(rows, monkeypatch)
    assert rows.get("a", None) is rows.get("a", None) is None
    assert len(asked) == 1
    for value in ("1", "2"):
        rows.put("a", None, row(value))
        assert rows.get("a", None) == rows.get("a", None) == row(value)
    rows.put("a", None, None)
    assert rows.get("a", None) is None
    assert len(asked) == 4


def test_a_reader_gets_a_copy(rows):
    rows.put("a", None, row("1"))
    unpack(rows.get("a", None))["v"]["S"] = "changed"
    assert unpack(rows.get("a", None))["v"] == {"S": "1"}


def roll_back(rows: Rows, changed: bytes | None) -> None:
    with suppress(ZeroDivisionError), transaction():
        rows.put("a", None, changed)
        assert rows.get("a", None) == changed
        raise ZeroDivisionError


def test_what_was_rolled_back_was_never_there(rows):
    rows.put("a", None, row("1"))
    assert rows.get("a", None) == row("1")
    roll_back(rows, row("2"))
    assert rows.get("a", None) == row("1")
    with transaction():
        roll_back(rows, None)
        assert rows.get("a", None) == row("1")
    assert rows.get("a", None) == row("1")


def test_a_cleared_table_is_empty(rows):
    rows.put("a", None, row("1"))
    assert rows.get("a", None) == row("1")
    rows.clear()
    assert rows.get("a", None) is None


def test_they_are_bounded(monkeypatch):
    monkeypatch.setattr(recent, "BYTES", 5_000)
    kept = recent.Recent(lambda: False)
    for number in range(100):
        kept.keep((1, b"%d" % number, b""), b"x" * 100)
        assert kept._size <= 5_000
        assert len(kept._rows) <= 13
    assert kept.get((1, b"99", b"")) == (True, b"x" * 100)
    kept.keep((1, b"large", b""), b"x" * (recent.LARGEST + 1))
    assert kept.get((1, b"large", b"")) == (False, None)


def test_a_database_forgets_with_its_data():
    kept = database.Database()
    kept.recent.keep((1, b"a", b""), b"x")
    kept.clear()
    assert kept.recent.get((1, b"a", b"")) == (False, None)
    kept.close()


def test_a_page_is_read_once_until_its_partition_changes(monkeypatch):
    rows = Rows(f"recent {next(_names)}", "pk", "S", "sk", "S")
    walks: list[str] = []
    walk = rows._database.walk
    monkeypatch.setattr(rows._database, "walk", lambda sql, *values: walks.append(sql) or walk(sql, *values))

    def page(partition: str = "a", limit: int | None = None) -> list[bytes]:
        found, _ = reads.select(rows, partition, "BEGINS_WITH", ["x"], limit, None, forward=True)
        return [doc for _, _, doc in found]

    assert page() == page() == []
    rows.put("a", "x2", row("2"))
    assert page() == page() == [row("2")]
    rows.put("b", "x1", row("other"))
    assert len(walks) == 2
    with suppress(ZeroDivisionError), transaction():
        rows.put("a", "x1", row("1"))
        assert page() == [row("1"), row("2")]
        raise ZeroDivisionError
    assert page() == [row("2")]
    rows.put("a", "x2", None)
    assert page() == []
    assert page("b", 1) == page("b", 1) == [row("other")]
    rows.clear()
    assert page("b", 1) == []


def test_a_page_without_rows_that_could_not_be_committed_is_not_kept():
    waiting = [True]
    kept = recent.Recent(lambda: False, lambda: waiting[0])
    kept.keep_page((1, b"a"), "all", ([], False))
    assert kept.page((1, b"a"), "all") is None
    waiting[0] = False
    kept.keep_page((1, b"a"), "all", ([], False))
    assert kept.page((1, b"a"), "all") == ([], False)
    kept.keep_page((1, b"a"), "large", ([(b"a", b"b", b"x" * recent.LARGEST)], False))
    assert kept.page((1, b"a"), "large") is None
