"""`format=arrow`: the rows of a list as columns, read by pyarrow, are the rows of its JSON."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from chalicelib.storage.view.database import arrow_stream
from tests.contract.world import build

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow, which reads the streams, is not in the lock")


def read(stream):
    import pyarrow.ipc

    table = pyarrow.ipc.open_stream(stream).read_all()
    table.validate(full=True)
    return table


def equal(value, said, type_):
    """Whether a value of a column is that of the JSON."""
    if pyarrow.types.is_timestamp(type_):
        return (said is None and value is None) or abs((value - datetime.fromisoformat(said)).total_seconds()) < 1e-6
    if isinstance(said, dict) or (isinstance(said, list) and isinstance(value, str)):
        return json.loads(value) == said
    return value == said


@pytest.fixture(scope="module")
def here():
    return build()


@pytest.mark.parametrize("path", ["Localizations", "States", "Medias", "Leaves"])
def test_columns_have_the_values_of_the_rows(here, path):
    project = here.things["project"]
    rows = here.owner.get(f"{path}/{project}").json
    said = here.owner.get(f"{path}/{project}", format="arrow")
    assert (said.status, said.headers["Content-Type"]) == (200, "application/vnd.apache.arrow.stream")
    table = read(said.body)
    assert len(rows) == table.num_rows > 0
    assert table.schema.field("id").type == pyarrow.int64()
    for found, row in zip(table.to_pylist(), rows, strict=True):
        flat = {**row, **{f"attributes.{name}": value for name, value in row["attributes"].items()}}
        differ = {
            name: (value, flat.get(name))
            for name, value in found.items()
            if not equal(value, flat.get(name), table.schema.field(name).type)
        }
        assert differ == {}


def test_a_list_without_rows_has_the_same_columns(here):
    project = here.things["project"]
    some = read(here.owner.get(f"Localizations/{project}", format="arrow").body)
    none = read(here.owner.get(f"Localizations/{project}", format="arrow", after=10**12).body)
    assert none.num_rows == 0
    assert none.schema == some.schema


def test_fields_choose_columns(here):
    said = here.owner.get(f"Localizations/{here.things['project']}", format="arrow", fields="id,x")
    assert read(said.body).schema.names == ["x", "id"]


def test_a_count_has_no_columns(here):
    said = here.owner.get(f"Localizations/{here.things['project']}", format="arrow", operation="count")
    assert (said.status, "format=arrow" in json.loads(said.body)["details"]) == (400, True)


def test_every_dtype_has_its_type_and_keeps_nulls():
    values = {
        "bool": [True, None, False],
        "int": [1, None, -(2**53)],
        "float": [0.5, None, 3],
        "string": ["ä", None, ""],
        "enum": ["a", None, "b"],
        "datetime": ["2026-01-02T03:04:05.678Z", None, "1969-12-31T23:59:59.5+00:00"],
        "geopos": [[1.5, 2.0], None, [0, 0]],
        "float_array": [[1.0, 2.0, 3.0], None, []],
        arrow_stream.SEVERAL_DTYPES: [1, None, {"a": [1]}],
    }
    documents = [
        json.dumps({"id": n, "attributes": {name: held[n] for name, held in values.items()}}).encode() for n in range(3)
    ]
    made = arrow_stream.stream([*documents, b'{"id": 3}'], {"id": int}, {name: name for name in values})
    table = read(b"".join(made))
    assert [str(field.type) for field in table.schema] == [
        *("int64", "bool", "int64", "double", "large_string", "large_string", "timestamp[us, tz=UTC]"),
        *("large_list<item: double>", "large_list<item: double>", "large_string"),
    ]
    for name, held in values.items():
        found = table[f"attributes.{name}"]
        said = [*held, None]
        if name == arrow_stream.SEVERAL_DTYPES:
            assert [each and json.loads(each) for each in found.to_pylist()[:3]] == held
        else:
            assert all(equal(value, each, found.type) for value, each in zip(found.to_pylist()[:3], held, strict=True))
        assert found.null_count == 2
        assert found[3].as_py() is said[3]


@pytest.mark.parametrize("rows", [1, 7, 8, 9, arrow_stream.ROWS + 1])
def test_rows_beyond_a_batch_are_in_the_next_one(rows):
    made = arrow_stream.stream(
        (b'{"id": %d, "on": %s}' % (n, b"true" if n % 3 else b"null") for n in range(rows)),
        {"id": int, "on": bool | None},
        {},
    )
    table = read(b"".join(made))
    assert table["id"].to_pylist() == list(range(rows))
    assert table["on"].to_pylist() == [True if n % 3 else None for n in range(rows)]
