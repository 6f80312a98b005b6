"""docs/analytics.md: other engines answer its question from the files of a snapshot as the view does."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import pytest
from msgspec.structs import replace

from chalicelib.core.keys.object_keys import view_prefix
from chalicelib.core.kinds import Kind
from chalicelib.maintenance import compaction
from chalicelib.query import tree
from chalicelib.query.columns import COLUMNS
from chalicelib.query.cost import BUDGET_SECONDS, estimate
from chalicelib.query.layout import SQL_TYPE
from chalicelib.query.operators import Op
from chalicelib.query.tree import Everything, Nearest, Query, SortKey
from chalicelib.storage.dynamodb import ids
from chalicelib.storage.objects import objects
from chalicelib.storage.view.snapshot import snapshots
from chalicelib.storage.view.snapshot.snapshot_records import current
from infra.templates import ANALYTICS, load, of_type
from tests.storage.commits import boxed, put, typed

PAGE = Path("docs/analytics.md").read_text()
LABELS = ["car", "dog", "ship"]


def block(language: str, heading: str) -> str:
    """The code under a heading of the page."""
    found = re.search(rf"## {heading}\n.*?```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found[1]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, list[tuple[str, int, float]]]:
    """The folder of a type as a snapshot has it, and the answer to the question, from the view."""
    project = ids.reserve("project")[0]
    put(project, typed(7, label="string", n="int"))
    made = [{"label": LABELS[number % 3], "n": number} for number in range(600)]
    put(project, *(boxed(n, made[n], type=7, media=n % 150, width=0.25, height=n / 1000) for n in range(1, 600)))
    compaction.compact(project, force=True)
    for part in current(project).parts:
        path = tmp_path / part.key
        path.parent.mkdir(parents=True, exist_ok=True)
        objects.download(view_prefix(project) + part.key, path)
    view = snapshots.begin(project)
    column = view.state.layout.slots[Kind.LOCALIZATION][7]["label"].column
    expected = view.store.run(
        f"SELECT {column}, count(*), avg(width * height) FROM localization"
        f" WHERE media BETWEEN 1 AND 100 GROUP BY {column} ORDER BY {column}"
    )
    assert [label for label, *_ in expected] == LABELS
    view.close()
    return path.parent, expected


def same(found: list[Any], expected: list[tuple[str, int, float]]) -> bool:
    return [tuple(row[:2]) for row in found] == [row[:2] for row in expected] and [row[2] for row in found] == (
        pytest.approx([row[2] for row in expected])
    )


def test_duckdb_answers_as_the_view_does(files: tuple[Path, list[Any]]):
    place, expected = files
    statement = block("sql", "DuckDB").split(";", 1)[1]  # without the secret
    statement = re.sub(r"'s3://[^']*/localization/type=7/", f"'{place}/", statement)
    assert same(duckdb.connect().execute(statement).fetchall(), expected)


def test_the_table_of_athena_names_columns_of_the_files_by_their_types(files: tuple[Path, list[Any]]):
    place, _ = files
    declared = re.search(r"CREATE EXTERNAL TABLE boxes \((.*?)\)", PAGE)
    assert declared
    there = {name: kind.lower() for name, kind, *_ in duckdb.sql(f"DESCRIBE FROM '{place}/*.parquet'").fetchall()}
    names = {"varchar": "string"}
    for name, kind in (each.split() for each in declared[1].split(", ")):
        assert names.get(there[name], there[name]) == kind


def test_an_engine_finds_the_types_of_a_kind_by_their_folders(files: tuple[Path, list[Any]]):
    place, expected = files
    found = duckdb.sql(
        f"SELECT label, count(*) FROM read_parquet('{place.parent}/*/*.parquet', hive_partitioning=true)"
        " WHERE type = 7 AND media BETWEEN 1 AND 100 GROUP BY label ORDER BY label"
    )
    assert found.fetchall() == [row[:2] for row in expected]


def test_the_rows_of_a_media_are_neighbours(files: tuple[Path, list[Any]]):
    media = [row[0] for row in duckdb.sql(f"SELECT media FROM '{files[0]}/*.parquet'").fetchall()]
    assert media == sorted(media)


class TestGlue:
    """infra/analytics.yaml: its tables are those of the files, and its query that of the page."""

    def tables(self) -> dict[str, Any]:
        found = of_type(load(ANALYTICS), "AWS::Glue::Table").values()
        return {table["TableInput"]["Name"]: table["TableInput"] for table in found}

    def test_a_table_has_the_columns_of_the_files_and_their_place(self):
        sql_types = {"bigint": "BIGINT", "double": "DOUBLE", "string": "VARCHAR", "boolean": "BOOLEAN"}
        sql_types |= {"timestamp": "TIMESTAMP", "array<bigint>": "BIGINT[]"}
        tables = self.tables()
        assert tables.keys() == {kind.value for kind in Kind}
        for kind in Kind:
            declared = [
                (each["Name"], sql_types[each["Type"]]) for each in tables[kind]["StorageDescriptor"]["Columns"]
            ]
            columns = [(each.name, SQL_TYPE[each.dtype]) for each in COLUMNS[kind] if each.name != "type"]
            assert declared == [*columns, ("document", "VARCHAR")]
            assert [each["Name"] for each in tables[kind]["PartitionKeys"]] == ["project", "snapshot", "type"]
            template, _ = tables[kind]["Parameters"]["storage.location.template"]["Fn::Sub"]
            assert (
                template == f"s3://${{Bucket}}/projects/${{!project}}/snapshots/${{!snapshot}}/{kind}/type=${{!type}}/"
            )

    def test_files_lie_where_the_tables_look(self, files: tuple[Path, list[Any]]):
        assert re.search(r"/snapshots/[^/]+/localization/type=7$", str(files[0]))

    def test_the_query_of_the_page_answers_as_the_view_does(self, files: tuple[Path, list[Any]]):
        place, expected = files
        database = duckdb.connect()
        snapshot = place.parts[-3]
        database.execute("CREATE SCHEMA limn_prod; CREATE MACRO json_extract_scalar(j, p) AS json_extract_string(j, p)")
        database.execute(
            "CREATE VIEW limn_prod.localization AS"
            f" SELECT * REPLACE ('7' AS type), '14' AS project, '{snapshot}' AS snapshot FROM '{place}/*.parquet'"
        )
        statement = block("sql", "Athena").replace("FOLDER", snapshot)
        assert same(database.execute(statement).fetchall(), expected)


def test_the_sizes_from_which_the_api_refuses_are_those_of_the_estimate():
    sizes = {
        row[0]: float(row[1].replace(",", "")) * 1e6
        for row in re.findall(r"^\| (.*?) \| ([\d,]+) million(?: rows)? \|$", PAGE, re.MULTILINE)
    }
    everything = Query(kind=Kind.LOCALIZATION, where=Everything(), merge=False)
    equal = replace(everything, where=tree.Test("frame", Op.EQ, 7))
    questions = {
        "count or list by an equality": (equal, None),
        "a wildcard of 10 characters": (
            replace(everything, where=tree.Test("elemental_id", Op.MATCHES, "x" * 10)),
            None,
        ),
        "sorted by one key": (replace(everything, keys=(SortKey(False, "frame"),)), None),
        "nearest neighbours, vectors of 512": (replace(everything, nearest=(Nearest("v", (0.5,) * 512),)), None),
    }
    assert set(questions) < set(sizes)
    for name, (query, aggregate) in questions.items():
        for factor, is_refused in ((0.9, False), (1.1, True)):
            seconds = sum(estimate(query, lambda _, n=name, f=factor: int(sizes[n] * f), aggregate).values())
            assert (seconds > BUDGET_SECONDS) == is_refused, (name, seconds)


@pytest.mark.nightly
def test_spark_answers_as_the_view_does(files: tuple[Path, list[Any]]):
    python = Path(os.environ.get("SPARK_PYTHON", "build/spark/bin/python"))
    if not python.exists():
        pytest.skip(f"no {python}: make spark; it needs Java")
    place, expected = files
    read, asked = block("python", "Spark").split("boxes.createOrReplaceTempView", 1)
    folder = re.sub(r'.*"s3a://[^"]*/localization/type=7/".*', str(place), read).strip()
    assert folder == str(place)
    command = [python, Path(__file__).with_name("ask_spark.py"), folder, asked.split('"""')[1]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    assert same(json.loads(done.stdout), expected)
