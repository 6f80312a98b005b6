"""Queries to JSON lines, CSV and Parquet."""

from __future__ import annotations

import csv
import json
import subprocess
import sys

import duckdb
import pytest

from infra.client import failures
from infra.client.cli import queries
from infra.client.client import Client


@pytest.fixture
def boxes(api, signed_in):
    """Seven boxes, of which the odd ones have a depth."""
    media_type = api.made(f"MediaTypes/{signed_in}", {"name": "Picture", "dtype": "image"})
    attributes = [{"name": "Depth", "dtype": "float"}, {"name": "Note", "dtype": "string"}]
    attributes.append({"name": "Empty", "dtype": "int"})
    body = {"name": "Box", "dtype": "box", "media_types": [media_type], "attribute_types": attributes}
    box = api.made(f"LocalizationTypes/{signed_in}", body)
    media = api.made(f"Medias/{signed_in}", [{"type": media_type, "name": "a.png", "md5": ""}])
    specs = [
        {
            "type": box,
            "media_id": media if isinstance(media, int) else media[0],
            "frame": 0,
            **dict.fromkeys(("x", "y", "width", "height"), 0.25),
            "attributes": {"Note": "=1+1", **({"Depth": number} if number % 2 else {})},
        }
        for number in range(7)
    ]
    return api.made(f"Localizations/{signed_in}", specs)


def test_rows_are_those_of_the_service_in_its_order(limn, api, signed_in, boxes):
    ran = limn("query", "localizations")
    assert [json.loads(line) for line in ran.out.splitlines()] == api.get(f"Localizations/{signed_in}").json


def test_filters_search_strings_bodies_and_sorting_pass_through(limn, boxes, tmp_path):
    def ids(*words, stdin=""):
        ran = limn("query", "localizations", "--fields", "attributes.Depth", *words, stdin=stdin)
        assert ran.status == 0, ran.err
        return [json.loads(line)["id"] for line in ran.out.splitlines()]

    assert ids("-f", "attribute_gt=Depth::1") == [boxes[3], boxes[5]]
    assert ids("--search", "_exists_:Depth", "--sort=-Depth", "--limit", 2) == [boxes[5], boxes[3]]
    search = {"attribute": "Depth", "operation": "eq", "value": 3}
    assert ids("--body", "-", stdin=json.dumps(search)) == [boxes[3]]
    assert limn("--json", "query", "localizations", "--count").json == {"count": 7}


@pytest.mark.slow
def test_pages_join_without_gap_or_repetition(service, signed_in, boxes):
    from infra.client import configuration

    client = Client(configuration.current(None))
    for query in ({}, {"sort_by": "-Depth"}):
        for page in (1, 3, 7, 8):
            found = queries.pages(client, "localizations", signed_in, query=query, page=page)
            assert sorted(json.loads(line)["id"] for lines in found for line in lines) == boxes


def test_csv_has_a_column_for_each_attribute_and_no_formulas(limn, boxes, tmp_path):
    place = tmp_path / "out.csv"
    assert limn("--json", "query", "localizations", "-o", place).json == {"rows": 7, "file": str(place)}
    with place.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["attributes.Depth"] for row in rows] == ["", "1.0", "", "3.0", "", "5.0", ""]
    assert {row["attributes.Note"] for row in rows} == {"'=1+1"}


def test_parquet_has_typed_columns(limn, boxes, tmp_path):
    place = tmp_path / "it's.parquet"
    ran = limn("query", "localizations", "-o", place)
    assert ran.status == 0, ran.err
    found = duckdb.sql(
        f"""SELECT id, x, "attributes.Depth", "attributes.Note", typeof(created_datetime), variant_deleted
        FROM read_parquet('{str(place).replace("'", "''")}') ORDER BY id"""
    ).fetchall()
    expected = [1.0 * number if number % 2 else None for number in range(7)]
    assert found == [
        (box, 0.25, depth, "=1+1", "TIMESTAMP WITH TIME ZONE", False)
        for box, depth in zip(boxes, expected, strict=True)
    ]


def test_a_file_appears_whole_or_not_at_all(limn, boxes, tmp_path, monkeypatch):
    place = tmp_path / "out.jsonl"

    def broken(*_, **__):
        yield [b'{"id": 1}']
        raise queries.Failure("broken", failures.NO_CONNECTION)

    monkeypatch.setattr(queries, "pages", broken)
    assert limn("query", "localizations", "-o", place).status == failures.NO_CONNECTION
    assert list(tmp_path.glob("*out*")) == []


def test_an_attribute_without_values_has_its_column(limn, boxes, tmp_path):
    for place in (tmp_path / "a.parquet", tmp_path / "a.csv"):
        assert limn("query", "localizations", "--output", place).status == 0
        read = "read_parquet" if place.suffix == ".parquet" else "read_csv"
        with duckdb.connect() as engine:
            found = engine.execute(f"""SELECT count("attributes.Empty"), count(*) FROM {read}('{place}')""").fetchall()
        assert found == [(0, 7)]


def test_parquet_without_a_file_is_a_usage_error(limn, signed_in):
    assert limn("query", "media", "--format", "parquet").status == failures.USAGE


@pytest.mark.slow
def test_rows_of_several_pages_keep_their_order_and_lists_are_json(tmp_path):
    def pages():
        for first in range(0, 60_000, 5_000):
            values = {"place": [1.5, 2], **({"late": 7 if first < 55_000 else 7.5} if first >= 50_000 else {})}
            yield [json.dumps({"id": number, "attributes": values}).encode() for number in range(first, first + 5_000)]

    for format_ in ("csv", "parquet"):
        place = tmp_path / f"out.{format_}"
        assert queries.write(pages(), place, format_, sys.stdout.buffer) == 60_000
        rows = duckdb.sql(f"SELECT * FROM '{place}'").fetchall()
        assert [row[0] for row in rows] == list(range(60_000))
        assert rows[0][1:] == ("[1.5,2]", None)
        assert (rows[-1][1], float(rows[-1][2])) == ("[1.5,2]", 7.5)


@pytest.mark.slow
def test_memory_for_a_table_does_not_grow_with_its_rows(tmp_path):
    """A child writes 10,000 and then 60,000 rows of 700 bytes; the peak of the second is at most 60 MB more."""
    code = """
import json, resource, sys
from pathlib import Path
from infra.client.cli import queries

def peak(pages):
    line = json.dumps({"id": 1, "attributes": {str(n): "x" * 50 for n in range(12)}}).encode()
    queries.write(([line] * 5_000 for _ in range(pages)), Path(sys.argv[1]), "csv", sys.stdout.buffer)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

print(peak(2), peak(12))
"""
    ran = subprocess.run([sys.executable, "-c", code, tmp_path / "out.csv"], capture_output=True, text=True, check=True)
    few, many = map(int, ran.stdout.split())
    assert many - few < 60
