"""Views of snapshots of another shape: opened as they are where they can be, else made anew, each row once."""

from __future__ import annotations

import pytest

from chalicelib.core.kinds import Kind
from chalicelib.core.time.deadline import time_limit
from chalicelib.errors import Unavailable
from chalicelib.maintenance import compaction
from chalicelib.query.layout import SQL_TYPE, VECTOR, codes, stored_columns
from chalicelib.storage.dynamodb import ids
from chalicelib.storage.log import growth, log
from chalicelib.storage.view.cache import Views
from chalicelib.storage.view.snapshot import files, renewal, renewals, shapes, snapshots
from chalicelib.storage.view.snapshot.renewals import Renewals
from chalicelib.storage.view.snapshot.snapshot_records import current
from tests.storage.commits import boxed, contents, grow, put, replayed, typed

_LOCALIZATION = Kind.LOCALIZATION


@pytest.fixture
def project() -> int:
    return ids.reserve("project")[0]


@pytest.fixture
def rows(monkeypatch) -> list[int]:
    """The ids of the entities that are made anew, in pages of two."""
    found: list[int] = []
    entities = files.entities

    def note(*given):
        for last, changes in entities(*given):
            found.extend(change.id for change in changes)
            yield last, changes

    monkeypatch.setattr(files, "entities", note)
    monkeypatch.setattr(renewal, "ROWS_PER_STEP", 2)
    monkeypatch.setattr(compaction, "_renewals", Renewals(notes_growth=False))
    return found


def save_as_earlier(project: int, monkeypatch) -> None:
    """The snapshot that the release before codes of vectors stored of a project."""
    compaction.compact(project, force=True)
    view = snapshots.begin(project)
    for column, sql_type in view.state.layout.sql_types[_LOCALIZATION].items():
        if sql_type == VECTOR:
            view.store.writer.execute(f"ALTER TABLE {_LOCALIZATION} DROP COLUMN {codes(column)}")
    with monkeypatch.context() as earlier:
        shape = shapes._fingerprint(sorted(SQL_TYPE.items()))
        earlier.setattr(shapes, "shape_of", lambda _: shape)
        snapshots.save(view, current(project).archive, replace=True)
    view.close()
    assert current(project).shape == shape


def new_container() -> Views:
    """The views of a container that has none."""
    return Views(log.read_after, begin=Renewals().begin)


def all_commits(project: int) -> list:
    return list(log.read_after(project, 0))


class TestRequests:
    @pytest.mark.slow
    def test_the_next_request_goes_on_where_the_last_one_was_stopped(self, project, rows, monkeypatch):
        grow(project, 7)
        save_as_earlier(project, monkeypatch)
        put(project, boxed(50, {"vector": [3.0, 4.0]}))
        container, seen = new_container(), []
        for _ in range(3):
            with time_limit(-1), pytest.raises(Unavailable, match="being made anew"):
                container.current(project)
            assert not container.is_loaded(project)
            seen.append(list(rows))
        assert seen == [[1, 2], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6]]
        view = container.current(project)
        assert rows == [1, 2, 3, 4, 5, 6, 7]
        assert contents(view) == contents(replayed(project, all_commits(project)))
        assert container.current(project) is view

    @pytest.mark.slow
    def test_a_page_that_fails_is_made_by_the_next_request(self, project, rows, monkeypatch):
        grow(project, 5)
        save_as_earlier(project, monkeypatch)
        container, note = new_container(), files.entities

        def fail_at_second(*given):
            for page in note(*given):
                yield page
                raise Unavailable("S3 does not answer")

        with monkeypatch.context() as broken:
            broken.setattr(files, "entities", fail_at_second)
            with pytest.raises(Unavailable, match="S3"):
                container.current(project)
        assert contents(container.current(project)) == contents(replayed(project, all_commits(project)))
        assert rows == [1, 2, 3, 4, 5]

    @pytest.mark.slow
    def test_a_newer_snapshot_of_this_shape_is_opened_instead(self, project, rows, monkeypatch):
        grow(project, 7)
        save_as_earlier(project, monkeypatch)
        container = new_container()
        with time_limit(-1), pytest.raises(Unavailable):
            container.current(project)
        changes = growth.by_project()[project]  # noted by the request, though nothing was written
        assert compaction.compact(project, changes)
        assert project not in growth.by_project()
        rows.clear()
        assert contents(container.current(project)) == contents(replayed(project, all_commits(project)))
        assert rows == []

    @pytest.mark.slow
    def test_a_container_bounds_the_views_under_way(self, rows, monkeypatch):
        monkeypatch.setattr(renewals, "MAX_RENEWALS", 1)
        first, second = ids.reserve("project", 2)
        container = new_container()
        for project in (first, second):
            grow(project, 3)
            save_as_earlier(project, monkeypatch)
            with time_limit(-1), pytest.raises(Unavailable):
                container.current(project)
        rows.clear()
        container.current(first)
        assert rows == [1, 2, 3]


class TestCompaction:
    @pytest.mark.slow
    def test_it_makes_a_view_anew_in_rounds_and_each_row_once(self, project, rows, monkeypatch):
        grow(project, 7)
        save_as_earlier(project, monkeypatch)
        growth.record(project, 0, 0)
        changes, rounds = growth.by_project()[project], 0
        while snapshots.is_other(current(project)):
            assert growth.by_project()[project] == changes
            is_done = compaction.compact(project, changes, end=0)
            assert is_done is (not snapshots.is_other(current(project)))
            rounds += 1
        assert rounds == 5  # the last has no rows left
        assert rows == [1, 2, 3, 4, 5, 6, 7]
        assert project not in growth.by_project()
        assert not compaction.compact(project, force=True)
        assert contents(snapshots.begin(project)) == contents(replayed(project, all_commits(project)))


class TestShapes:
    @pytest.mark.slow
    def test_a_project_without_vectors_is_opened_as_the_release_before_their_codes_left_it(
        self, project, rows, monkeypatch
    ):
        put(project, typed(n="int", g="geopos"))
        put(project, *(boxed(number, {"n": number, "g": [8.0, number]}) for number in range(1, 8)))
        save_as_earlier(project, monkeypatch)
        put(project, typed(n="int", g="geopos", vector="float_array"))
        put(project, boxed(3, {"n": 9, "vector": [1.0, 2.0]}))
        container = new_container()
        with time_limit(20):
            view = container.current(project)
        assert contents(view) == contents(replayed(project, all_commits(project)))
        assert not snapshots.is_other(current(project))
        compaction.compact(project, force=True)
        assert contents(snapshots.begin(project)) == contents(view)
        assert rows == []

    def test_only_the_columns_of_a_project_count(self, project, monkeypatch):
        put(project, typed(n="int"))
        without = replayed(project, all_commits(project)).state.layout
        put(project, typed(2, v="float_array"))
        with_vectors = replayed(project, all_commits(project)).state.layout
        before = shapes.shape_of(with_vectors), shapes.shape_of(without)

        def store_more(column: str, sql_type: str):
            return *stored_columns(column, sql_type), *([(f"{column}r", "BLOB")] if sql_type == VECTOR else [])

        with monkeypatch.context() as later:
            later.setattr(shapes, "stored_columns", store_more)
            assert not shapes.is_usable(before[0], with_vectors)
            assert shapes.is_usable(before[1], without)
        monkeypatch.setattr(shapes, "FORMAT", shapes.FORMAT + 1)
        assert not shapes.is_usable(before[1], without)

    def test_the_last_release_stored_the_same(self, project):
        grow(project, 1)
        layout = replayed(project, all_commits(project)).state.layout
        stored = [stored_columns("column", each) for each in sorted(set(SQL_TYPE.values()))]
        assert shapes.is_usable(shapes._fingerprint(sorted(SQL_TYPE.items()), stored), layout)
        assert not shapes.is_usable(shapes._fingerprint(sorted(SQL_TYPE.items())), layout)
        assert not shapes.is_usable("other", layout)
