"""docs/analytics.md: other engines answer its question from the files of a snapshot as the view does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from chalicelib.core.kinds import Kind
from chalicelib.maintenance import compaction
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import ids
from chalicelib.storage.objects import objects
from chalicelib.storage.view import snapshots
from chalicelib.storage.view.snapshot_records import current, folder
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
        objects.download(folder(project) + part.key, path, bucket=settings().views_bucket)
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
    statement = re.sub(r"'s3://[^']*/localization/7/", f"'{place}/", statement)
    assert same(duckdb.connect().execute(statement).fetchall(), expected)


def test_the_table_of_athena_names_columns_of_the_files_by_their_types(files: tuple[Path, list[Any]]):
    place, _ = files
    declared = re.search(r"CREATE EXTERNAL TABLE boxes \((.*?)\)", block("sql", "Athena"))
    assert declared
    there = {name: kind.lower() for name, kind, *_ in duckdb.sql(f"DESCRIBE FROM '{place}/*.parquet'").fetchall()}
    names = {"varchar": "string"}
    for name, kind in (each.split() for each in declared[1].split(", ")):
        assert names.get(there[name], there[name]) == kind


@pytest.mark.nightly
def test_spark_answers_as_the_view_does(files: tuple[Path, list[Any]]):
    pyspark = pytest.importorskip("pyspark.sql", reason="pip install pyspark; it needs Java")
    place, expected = files
    spark = pyspark.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        read, asked = block("python", "Spark").split("boxes.createOrReplaceTempView", 1)
        table = spark.read.parquet(re.sub(r".*s3a://.*/localization/7/.*", str(place), read).strip())
        table.createOrReplaceTempView("boxes")
        statement = asked.split('"""')[1]
        assert same([tuple(row) for row in spark.sql(statement).collect()], expected)
    finally:
        spark.stop()
