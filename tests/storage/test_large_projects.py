"""Large projects: work that a function cannot finish goes on in the next one, and nothing is read twice."""

from __future__ import annotations

from pathlib import Path
from random import Random

import duckdb
import pytest

from chalicelib.core.keys.object_keys import view_prefix
from chalicelib.core.kinds import Kind
from chalicelib.errors import Unavailable
from chalicelib.maintenance import compaction
from chalicelib.query import check, parse
from chalicelib.query.parsers.parameters import LocalizationQuery
from chalicelib.storage.dynamodb import ids
from chalicelib.storage.log import growth, log
from chalicelib.storage.objects import objects
from chalicelib.storage.view.database import store as stores
from chalicelib.storage.view.database.devices import Cache, Device
from chalicelib.storage.view.database.documents import Documents, PackCache
from chalicelib.storage.view.snapshot import files, parquet_steps, snapshots
from chalicelib.storage.view.snapshot.snapshot_records import current, pointer
from tests.storage.commits import boxed, contents, grow, put


@pytest.fixture
def project() -> int:
    return ids.reserve("project")[0]


@pytest.fixture
def large(monkeypatch):
    """Every project is large, and a file of it small."""
    monkeypatch.setattr(snapshots, "ROWS_EXPORTED", 0)
    monkeypatch.setattr(files, "ROWS_A_PART", 2)


def exported(project: int, folder_: Path) -> list[int]:
    """The ids in the Parquet files of localizations."""
    found = []
    for part in current(project).parts:
        if part.kind is Kind.LOCALIZATION:
            path = folder_ / "part.parquet"
            objects.download(view_prefix(project) + part.key, path)
            found += [row[0] for row in duckdb.read_parquet(str(path)).project("id").fetchall()]
    return found


class TestParquetInSteps:
    @pytest.mark.slow
    def test_each_step_goes_on_where_the_last_one_ended(self, project, large, tmp_path):
        grow(project, 7)
        compaction.compact(project, force=True, end=0)
        first = pointer(project).seq
        assert current(project).parts == []
        put(project, boxed(50))
        compaction.compact(project, force=True, end=0)  # a newer snapshot changes nothing of what is under way
        steps = 0
        while parquet_steps.write_step(project, 0) is False:
            steps += 1
        assert steps >= 2
        manifest = current(project)
        assert (manifest.parts_seq, manifest.seq) == (first, first + 1)
        assert exported(project, tmp_path) == [1, 2, 3, 4, 5, 6, 7]
        assert sum(part.rows for part in manifest.parts) == manifest.rows - 1
        assert manifest.unexported > 0
        assert contents(snapshots.begin(project))

    @pytest.mark.slow
    def test_a_step_that_is_cut_off_loses_one_file(self, project, large, monkeypatch, tmp_path):
        grow(project, 7)
        compaction.compact(project, force=True, end=0)
        written = []
        store_part = snapshots.store_part

        def fail_at_third(project, part, path, where):
            if len(written) == 2:
                raise Unavailable("cut off")
            written.append(part.key)
            return store_part(project, part, path, where)

        monkeypatch.setattr(snapshots, "store_part", fail_at_third)
        with pytest.raises(Unavailable):
            parquet_steps.write_step(project, float("inf"))
        monkeypatch.setattr(snapshots, "store_part", store_part)
        assert parquet_steps.write_step(project, float("inf"))
        assert exported(project, tmp_path) == [1, 2, 3, 4, 5, 6, 7]
        assert parquet_steps.write_step(project, float("inf")) is None

    @pytest.mark.slow
    def test_growth_is_settled_when_all_is_written(self, project, large, monkeypatch, tmp_path):
        grow(project, 7)
        put(project, *(boxed(number) for number in range(8, 100)))
        changes = growth.by_project()[project]
        monkeypatch.setattr(compaction, "ENOUGH_CHANGES", 50)
        assert compaction.compact(project, changes, end=0)
        assert growth.by_project()[project] == 0  # writers wait for what is folded, not for Parquet
        assert not compaction.compact(project, 0)
        assert project not in growth.by_project()
        assert exported(project, tmp_path) == list(range(1, 100))


class TestFoldsInRounds:
    @pytest.mark.slow
    def test_a_fold_whose_time_ends_keeps_what_it_applied(self, project, monkeypatch):
        grow(project, 9)
        last = log.last(project, fresh=True)
        monkeypatch.setattr(snapshots, "COMMITS_PER_TRANSACTION", 2)
        monkeypatch.setattr(compaction, "FOLLOW_SECONDS", -1.0)
        monkeypatch.setattr(compaction, "ENOUGH_CHANGES", 1)
        seen = []
        while not seen or seen[-1] < last:
            assert compaction.compact(project, 10_000)
            seen.append(pointer(project).seq)
        assert seen == sorted(set(seen))
        assert len(seen) > 2
        view = snapshots.begin(project)
        query = check(parse(Kind.LOCALIZATION, LocalizationQuery()), view.definitions)
        assert view.ids(query) == list(range(1, 10))
        assert [segment.last for segment in current(project).archive][-1] == last


class TestWindows:
    @pytest.mark.slow
    def test_windows_read_every_row_once_in_the_order_of_ids(self, project, monkeypatch):
        rng = Random(1)
        numbers = sorted({*range(1, 40), *(rng.randrange(1, 10**9) for _ in range(200))})
        grow(project, 1)
        put(project, *(boxed(number) for number in numbers))
        compaction.compact(project, force=True)
        view = snapshots.begin(project)
        for window in (1, 7, 50, 1000):
            monkeypatch.setattr(files, "WINDOW", window)
            pages = list(files._pages(view, Kind.LOCALIZATION, ["id"], 20))
            assert [number for page in pages for (number,) in page] == numbers
            after = numbers[100]
            pages = list(files._pages(view, Kind.LOCALIZATION, ["id"], 20, after=after))
            assert [number for page in pages for (number,) in page] == numbers[101:]


class TestBlockMap:
    @pytest.mark.slow
    def test_it_is_stored_and_a_wrong_one_changes_no_answer(self, project, monkeypatch):
        monkeypatch.setattr(stores, "SMALL", 0)
        grow(project, 9)
        compaction.compact(project, force=True)
        blocks = current(project).database.blocks
        assert blocks["localization"]["id"]
        query = LocalizationQuery()
        monkeypatch.setattr(stores, "_blocks_of", None)  # would fail where it was called
        for map_ in (blocks, {table: {"id": [10**6]} for table in blocks}):
            manifest = current(project)
            manifest.database.blocks.clear()
            manifest.database.blocks.update(map_)
            view = snapshots.read(project, manifest)
            assert view.ids(check(parse(Kind.LOCALIZATION, query), view.definitions)) == list(range(1, 10))


class TestDocuments:
    def test_documents_added_together_lie_as_those_added_one_by_one(self):
        rng = Random(2)
        bodies = [bytes([number % 256]) * rng.choice([1, 10, 30_000]) for number in range(300)]
        one, all_ = (Documents(Device(Cache(1 << 30)), PackCache(1 << 20)) for _ in range(2))
        expected = [one.add(body, 7, 3) for body in bodies]
        places = []
        for start in range(0, 300, 50):
            places += all_.add_all(bodies[start : start + 50], 7, 3)
        assert places == expected
        assert [(found.body, found.type, found.seen) for found in all_.get(places)] == [(b, 7, 3) for b in bodies]
        assert all_.added == 300
