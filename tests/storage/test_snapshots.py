"""Snapshots and compaction: whatever was folded, dropped or interrupted, a view is what a replay of all commits is."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from random import Random

import duckdb
import msgspec
import pytest

from chalicelib.core.keys.object_keys import view_prefix
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Change, Commit, Edit
from chalicelib.core.models.definitions import LocalizationType, MediaType
from chalicelib.core.models.entities import STRUCT_OF
from chalicelib.errors import NotFound
from chalicelib.maintenance import compaction
from chalicelib.query import check, parse
from chalicelib.query.columns import BY_NAME
from chalicelib.query.parsers.parameters import LocalizationQuery
from chalicelib.storage.dynamodb import ids
from chalicelib.storage.dynamodb.tables import CounterRow, LogRow
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import archive, bodies, growth, log
from chalicelib.storage.objects import objects as service_objects
from chalicelib.storage.view.cache import Views
from chalicelib.storage.view.snapshot import files as view_files
from chalicelib.storage.view.snapshot import shapes, snapshot_records, snapshots
from chalicelib.storage.view.snapshot.renewal import renew
from chalicelib.storage.view.snapshot.snapshot_records import current, pointer
from chalicelib.storage.view.view import Gap
from tests import objects
from tests.query.query_rig import media, type_of, types
from tests.query.query_worlds import PROJECT, change_of, world
from tests.storage.commits import boxed, contents, grow, lose, put, reopened, replayed, typed, written_and_replayed


@pytest.fixture
def project() -> int:
    return ids.reserve("project")[0]


class TestFiles:
    @pytest.mark.slow
    @pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 40), marks=pytest.mark.nightly)], ids=len)
    @pytest.mark.parametrize("make", [reopened, written_and_replayed, lambda view, _: renew(reopened(view))])
    def test_a_view_comes_back_as_it_was(self, make, seeds, tmp_path, monkeypatch):
        monkeypatch.setattr(view_files, "ROWS_A_PART", 4)
        monkeypatch.setattr(view_files, "BYTES_A_PART", 1500)
        for seed in seeds:
            before = replayed(PROJECT, world(Random(seed)).commits())
            after = make(before, tmp_path)
            assert contents(after) == contents(before)
            assert after.rows == before.rows
            after.close()
            before.close()

    @pytest.mark.slow
    def test_they_are_written_without_numpy_which_functions_lack(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "numpy", None)
        view = replayed(PROJECT, world(Random(1)).commits())
        assert sum(part.rows for part, *_ in view_files.write(view, tmp_path)) == view.rows > 0
        assert contents(view_files.copy(view)) == contents(view)

    def test_members_that_answers_leave_out_are_columns(self):
        for kind, struct in STRUCT_OF.items():
            assert struct.hidden - {"revision"} <= set(BY_NAME[kind]), (
                kind
            )  # documents in files have seen all revisions

    def test_hidden_members_survive_a_change_of_the_code(self, tmp_path):
        things = [change_of("media", media(1, source_url="http://x", deleted=True)), boxed(2, latest=False)]
        defined = [change_of("media_type", type_of(MediaType, 1, [], dtype="video")), typed()]
        before = replayed(PROJECT, [Commit(project=PROJECT, seq=1, at="", user=1, changes=[*defined, *things])])
        parts = [(part, path) for part, _, path in view_files.write(before, tmp_path)]
        after = view_files.replay(before.definitions, 1, parts)
        assert contents(after) == contents(before)

    def test_no_attribute_takes_the_column_of_another(self):
        awkward = ["id", "ID", "n", "N", "document", 'a"b', "tab\t", "n_2"]
        definition = type_of(LocalizationType, 1, types(**dict.fromkeys(awkward, "int")), dtype="box")
        found = view_files.names(Kind.LOCALIZATION, definition)
        columns = [*(name.casefold() for name in found.values()), *BY_NAME[Kind.LOCALIZATION], "document"]
        assert len(set(columns)) == len(columns)
        assert found["n"] == "n"
        assert found["N"] == "N_2"
        assert found["id"] == "id_2"
        attributes = {each.name: place for place, each in enumerate(definition.attribute_types)}
        commit = Commit(project=PROJECT, seq=1, at="", user=1, changes=[
            change_of("localization_type", definition), boxed(1, attributes)])  # fmt: skip
        before = replayed(PROJECT, [commit])
        with tempfile.TemporaryDirectory() as place:
            after = written_and_replayed(before, Path(place))
        assert contents(after) == contents(before)

    def test_the_documented_words_read_them(self, project, tmp_path):
        grow(project)
        compaction.compact(project, force=True)
        manifest = json.loads(objects.read(f"{view_prefix(project)}snapshots/current.json"))
        (part,) = manifest["parts"]
        path = tmp_path / "boxes.parquet"
        objects.download(view_prefix(project) + part["key"], path)
        rows = duckdb.sql(f"SELECT id, n, g, vector, document->>'elemental_id' FROM '{path}' WHERE n > 3").fetchall()
        vectors = [(*row[:3], list(memoryview(row[3]).cast("f")), *row[4:]) for row in rows]
        assert vectors == [(4, 4, [8.0, 4.0], [1.0, 4.0], f"{4:032x}"), (5, 5, [8.0, 5.0], [1.0, 5.0], f"{5:032x}")]
        lists = duckdb.sql(f"SELECT (document->'$.attributes.vector')::FLOAT[] FROM '{path}' WHERE n > 3").fetchall()
        assert lists == [([1.0, 4.0],), ([1.0, 5.0],)]


class TestCompaction:
    @pytest.mark.slow
    def test_a_view_from_the_snapshot_and_the_log_is_that_of_a_replay(self, project):
        grow(project)
        commits = list(log.read_after(project, 0))
        assert compaction.compact(project, force=True)
        lose(project, 6)
        put(project, boxed(2, {"n": 9}), boxed(8), Change("localization", 1, msgspec.Raw(b"null")))
        put(project, typed(n="string", late="int"))
        commits += log.read_after(project, 6)
        view = Views(log.read_after, begin=snapshots.begin).current(project)
        assert contents(view) == contents(replayed(project, commits))
        assert not compaction.compact(project)
        assert compaction.compact(project, force=True)
        lose(project, 8)
        again = snapshots.begin(project)
        assert contents(again) == contents(view)

    @pytest.mark.slow
    def test_a_snapshot_by_other_code_is_read_all_the_same(self, project, monkeypatch):
        grow(project)
        with monkeypatch.context() as other:
            other.setattr(shapes, "shape_of", lambda _: "older")
            compaction.compact(project, force=True)
        assert current(project).shape == "older"
        assert contents(snapshots.begin(project)) == contents(replayed(project, list(log.read_after(project, 0))))

    @pytest.mark.slow
    def test_a_view_that_slept_through_a_compaction_catches_up(self, project):
        grow(project, 3)
        views = Views(log.read_after, begin=snapshots.begin)
        old = views.current(project)
        grow(project, 6)
        compaction.compact(project, force=True)
        lose(project, pointer(project).seq)
        put(project, boxed(9))
        new = views.current(project)
        assert new is not old
        query = check(parse(Kind.LOCALIZATION, LocalizationQuery()), new.definitions)
        assert new.ids(query) == [1, 2, 3, 4, 5, 6, 9]
        with pytest.raises(Gap):
            old.apply(log.read_after(project, old.seq))

    @pytest.mark.slow
    @pytest.mark.parametrize("expired_first", [0, 1])
    def test_commits_may_expire_in_any_order(self, project, expired_first):
        grow(project, 3)
        views = Views(log.read_after, begin=snapshots.begin)
        views.current(project)
        grow(project, 6)
        compaction.compact(project, force=True)
        log.forget(project, range(1 + expired_first, pointer(project).seq, 2))
        put(project, boxed(9))
        query = check(parse(Kind.LOCALIZATION, LocalizationQuery()), views.current(project).definitions)
        for container in (views, Views(log.read_after, begin=snapshots.begin)):
            assert container.current(project).ids(query) == [1, 2, 3, 4, 5, 6, 9]

    @pytest.mark.slow
    def test_the_last_commit_never_expires(self, project):
        grow(project)
        compaction.compact(project, force=True)
        kept = {int(row.seq): row.expires for row in LogRow.query(project)}
        assert kept.pop(6) is None
        assert len(kept) == 5
        assert all(kept.values())
        put(project, boxed(9))
        compaction.compact(project, force=True)
        kept = {int(row.seq): row.expires for row in LogRow.query(project)}
        assert [seq for seq, expires in kept.items() if not expires] == [7]

    def test_only_what_has_grown_is_looked_at_and_only_enough_is_done(self, project, monkeypatch):
        grow(project, 1)
        assert project not in growth.by_project()
        put(project, *(boxed(number) for number in range(2, 100)))
        assert growth.by_project()[project] == 98
        monkeypatch.setattr(growth, "by_project", lambda: {project: 98})
        assert compaction.run(60) == []
        monkeypatch.setattr(compaction, "ENOUGH_CHANGES", 50)
        assert compaction.run(60) == [project]
        monkeypatch.undo()
        assert project not in growth.by_project()
        assert pointer(project).seq == 3

    def test_less_is_enough_where_nobody_writes(self, project, monkeypatch):
        put(project, *(boxed(number) for number in range(1, 100)))
        monkeypatch.setattr(growth, "by_project", lambda: {project: 99})
        monkeypatch.setattr(compaction, "ENOUGH_AT_REST", 99)
        monkeypatch.setattr(compaction, "REST_SECONDS", 3600.0)
        assert compaction.run(60) == []
        monkeypatch.setattr(compaction, "REST_SECONDS", -1.0)
        assert compaction.run(60) == [project]
        assert compaction.run(60) == []
        monkeypatch.setattr(compaction, "ENOUGH_AT_REST", 100)
        put(project, *(boxed(number) for number in range(100, 150)))
        assert compaction.run(60) == []

    def test_growth_while_it_compacts_is_not_forgotten(self, project):
        growth.record(project, 1, 80)
        growth.record(project, 2, 70)
        change = Transaction()
        growth.subtract_snapshot(project, 80, change)
        change.run()
        assert growth.by_project()[project] == 70

    def test_one_that_fails_does_not_stop_the_others(self, project, monkeypatch):
        grow(project)
        broken = ids.reserve("project")[0]
        monkeypatch.setattr(growth, "by_project", lambda: {broken: 1, project: 10**6})
        step = compaction.step

        def fails(number, changes, **how):
            if number == broken:
                raise NotFound("a file")
            return step(number, changes, **how)

        monkeypatch.setattr(compaction, "step", fails)
        with pytest.raises(NotFound):
            compaction.run(60)
        assert pointer(project).seq == 6

    @pytest.mark.slow
    def test_two_at_once_leave_one_snapshot(self, project):
        grow(project)
        view = snapshots.begin(project)
        commits = list(snapshots.follow(view, 6))
        assert compaction.compact(project, force=True)
        won = pointer(project)
        assert snapshots.save(view, archive.write(project, [], commits)) is None
        assert pointer(project) == won

    @pytest.mark.slow
    def test_what_nobody_refers_to_is_swept_after_a_day(self, project, monkeypatch, move_clock):
        monkeypatch.setattr(bodies, "LARGEST_IN_ROW", 10)
        grow(project)
        compaction.compact(project, force=True)
        first = current(project)
        put(project, boxed(9))
        compaction.compact(project, force=True)
        kept = pointer(project).folder

        def keys() -> set[str]:
            found = objects.under(view_prefix(project))
            return {key.removeprefix(view_prefix(project).path) for key in found}

        snapshots.sweep(project)
        assert {part.key for part in first.parts} <= keys()
        move_clock(snapshots.KEPT_SECONDS + 60)
        lose(project, 7)
        snapshots.sweep(project)
        left = keys()
        assert {key.rpartition("/")[0] for key in left if key.startswith("snapshots/0")} == {
            kept,
            f"{kept}/localization/type=1",
        }
        assert len([key for key in left if key.startswith("archive/")]) == 1
        assert [int(key.split("/")[1]) for key in sorted(left) if key.startswith("commits/")] == [7]
        assert contents(snapshots.begin(project))[0] == 7

    @pytest.mark.slow
    def test_a_lost_file_is_an_error_unless_the_log_is_whole(self, project):
        grow(project)
        for file in ("file", "documents"):
            compaction.compact(project, force=True)
            key = view_prefix(project) + getattr(current(project).database, file).objects[0]
            objects.remove([key])
            assert snapshots.begin(project).seq == 0
            put(project, boxed(9))
        assert compaction.compact(project, force=True)
        key = view_prefix(project) + current(project).database.file.objects[0]
        objects.remove([key])
        lose(project, 8)
        with pytest.raises(NotFound):
            snapshots.begin(project)

    def test_a_project_without_a_log_is_no_project(self, project):
        CounterRow(growth.GROWN, f"{project:012d}", n=60).save()
        assert not compaction.compact(project, 60)
        assert project not in growth.by_project()


class Killed(BaseException):
    """The container is gone."""


STEPS = [
    (service_objects, "write"),
    (snapshot_records, "_swap"),
    (log, "expire"),
    (compaction, "mark"),
    (growth, "subtract_snapshot"),
    (archive, "write"),
]


@pytest.mark.slow
@pytest.mark.parametrize("when", [pytest.param("before", marks=pytest.mark.nightly), "after"])
@pytest.mark.parametrize(("where", "what"), STEPS, ids=lambda step: getattr(step, "__name__", step))
def test_a_death_at_any_step_harms_nothing(project, monkeypatch, where, what, when):
    grow(project)
    compaction.compact(project, force=True)
    put(project, boxed(2), boxed(7))
    put(project, boxed(8), edits=[Edit(Kind.LOCALIZATION, [8], {"n": 1}, {"n": 2})])
    commits = list(log.read_after(project, 0))
    history = list(archive.history(project))
    whole = contents(replayed(project, commits))
    step, calls = getattr(where, what), [0]
    for deadly in range(1, 20):
        calls[0] = 0

        def dies(*given, deadly=deadly, **more):
            calls[0] += 1
            if calls[0] == deadly and when == "before":
                raise Killed
            done = step(*given, **more)
            if calls[0] == deadly:
                raise Killed
            return done

        with monkeypatch.context() as patch:
            patch.setattr(where, what, dies)
            try:
                compaction.compact(project, 60, force=True)
            except Killed:
                pass
            else:
                break
        view = Views(log.read_after, begin=snapshots.begin).current(project)
        assert contents(view) == whole
        assert list(archive.history(project)) == history
    else:
        raise AssertionError("it never ended")
    compaction.compact(project, force=True)
    assert [int(row.seq) for row in LogRow.query(project) if not row.expires] == [8]
    assert pointer(project).marked == 8
    lose(project, 8)
    assert contents(snapshots.begin(project)) == whole
    assert list(archive.history(project)) == history


class TestHistory:
    @pytest.mark.slow
    def test_it_is_the_same_before_and_after(self, project, monkeypatch):
        monkeypatch.setattr(archive, "LARGEST_SEGMENT", 4)
        grow(project, 3)
        put(project, boxed(2, {"n": 5}), boxed(4), edits=[Edit(Kind.LOCALIZATION, [2], {"n": 2}, {"n": 5})])
        put(project, Change("file", 77, msgspec.Raw(b"null")))
        before = list(archive.history(project))
        assert [commit.seq for commit in before] == [1, 2, 3, 4, 5, 6]
        assert [change.id for change in before[4].changes] == [4]
        for more in range(3):
            compaction.compact(project, force=True)
            lose(project, 6 + more)
            assert list(archive.history(project))[:6] == before
            put(project, boxed(100 + more))
        spans = [(segment.first, segment.last) for segment in current(project).archive]
        assert spans[0][0] == 1
        assert [last + 1 for _, last in spans[:-1]] == [first for first, _ in spans[1:]]
        assert len(spans) > 1
        assert archive.find(project) != []

    def test_about_leaves_out_what_tells_of_others(self, project):
        grow(project, 3)
        put(project, boxed(1, {"n": 5}), edits=[Edit(Kind.LOCALIZATION, [1], {"n": 2}, {"n": 5})])
        for _ in range(2):
            assert [commit.seq for commit in archive.history(project, about={1})] == [1, 2, 5]
            compaction.compact(project, force=True)
