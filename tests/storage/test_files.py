"""Parquet files hold each row with its own document, in the order that a page of docs promises."""

from __future__ import annotations

import json
import random

import duckdb
import pytest

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Change, Commit
from chalicelib.storage.view.database.documents import PACK
from chalicelib.storage.view.snapshot import files
from chalicelib.storage.view.view import View
from tests.query.query_rig import state
from tests.query.query_worlds import change_of
from tests.storage.commits import boxed, typed

ROWS = 7 * PACK


def made(*changes: Change, view: View | None = None) -> View:
    """A view after one more commit."""
    view = view or View(1)
    view.apply([Commit(project=1, seq=view.seq + 1, at="", user=None, changes=list(changes))])
    return view


def track(number: int, *media: int) -> Change:
    """A track over media."""
    return change_of("state", state(number, media=list(media)))


def rows_of(view: View, folder, kind: Kind) -> list[list[tuple]]:
    """Of each file of a kind: id, media and document of its rows, in order."""
    found = []
    for part, _, path in files.write(view, folder):
        if part.kind is kind:
            found.append(duckdb.read_parquet(str(path)).project("id, media, document").fetchall())
    return found


@pytest.mark.parametrize("media", ["as ids", "at random"])
def test_each_row_has_its_document_and_a_file_the_order_of_media(tmp_path, monkeypatch, media):
    monkeypatch.setattr(files, "PAGE", PACK - 5)
    monkeypatch.setattr(files, "ROWS_A_PART", 3 * PACK)
    numbers = list(range(1, ROWS + 1))
    of = numbers if media == "as ids" else random.Random(1).choices(range(1, 9), k=ROWS)
    view = made(typed(label="string"))
    for number, each in zip(numbers, of, strict=True):
        made(boxed(number, {"label": f"ä{number}"}, media=each), view=view)
    made(boxed(3, {"label": "moved"}, media=99), view=view)

    parts = rows_of(view, tmp_path, Kind.LOCALIZATION)

    assert len(parts) > 1
    assert sorted(number for part in parts for number, *_ in part) == numbers
    for part in parts:
        assert part == sorted(part, key=lambda row: (row[1], row[0]))
        documents = [json.loads(document) for *_, document in part]
        assert [(each["id"], each["media"]) for each in documents] == [(number, of) for number, of, _ in part]


def test_states_without_media_come_last(tmp_path):
    view = made(track(1, 5, 1), track(2), track(3, 2), track(4, 5))

    [part] = rows_of(view, tmp_path, Kind.STATE)

    assert [(number, json.loads(document)["id"]) for number, _, document in part] == [(3, 3), (1, 1), (4, 4), (2, 2)]


def test_reading_all_documents_keeps_none_in_memory():
    view = made(typed(label="string"))
    made(*(boxed(number, {"label": "x" * 3000}) for number in range(1, ROWS)), view=view)
    view.store.documents.seal()
    view.store.engine.packs.shrink()
    rows = view.store.run("SELECT id, doc FROM localization ORDER BY id")
    random.Random(1).shuffle(rows)

    bodies = view.store.scan([place for _, place in rows])

    assert [json.loads(body)["id"] for body in bodies] == [number for number, _ in rows]
    assert view.store.engine.packs.memory == 0


def test_documents_take_memory_when_they_are_read():
    view = made(*(boxed(number) for number in range(1, ROWS + 1)))
    engine = view.store.engine
    before = engine.packs.memory
    view = made(*(boxed(number) for number in range(ROWS + 1, 2 * ROWS + 1)), view=view)
    assert engine.packs.memory == before
    view.store.documents.get([place for (place,) in view.store.run("SELECT doc FROM localization")])
    assert engine.packs.memory > before
