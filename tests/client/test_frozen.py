"""Frozen versions as Parquet: only what is asked for is fetched, and the rows are those of REST."""

from __future__ import annotations

import io
import random
import zipfile

import duckdb
import pytest

from infra import client as limn_client
from infra.client.configuration import Profile
from infra.client.failures import Failure
from infra.client.frozen import Frozen, Ranges


@pytest.fixture
def frozen(service, api, project):
    """A version of 300 random boxes: the client, its rows as REST shows them, and the archive by range."""
    picture = api.made(f"MediaTypes/{project}", {"name": "Picture", "dtype": "image"})
    media = api.made(f"Medias/{project}", [{"type": picture, "name": f"{n}.png", "md5": ""} for n in range(3)])
    attributes = [{"name": "Depth", "dtype": "float"}, {"name": "Species", "dtype": "string"}]
    body = {"name": "Box", "dtype": "box", "media_types": [picture], "attribute_types": attributes}
    kind = api.made(f"LocalizationTypes/{project}", body)
    dice = random.Random(3)
    boxes = [
        {
            "type": kind,
            "media_id": dice.choice(media),
            "frame": 0,
            **{name: dice.random() / 2 for name in ("x", "y", "width", "height")},
            "attributes": {"Depth": dice.random()} if dice.random() < 0.5 else {"Species": dice.choice(["Cod", "Ä"])},
        }
        for _ in range(300)
    ]
    api.made(f"Localizations/{project}", boxes)
    with limn_client.Client(Profile(service, api.token, project)) as client:
        uid = client.create_dataset(project, {"name": "v1"})["uid"]
        api.drain()
        rows = list(client.project().localizations())
        made = client.create_export

        def create(*given):
            answer = made(*given)
            api.drain()
            return answer

        client.create_export = create
        yield client, rows, Frozen.of(client, project, uid)
        client.create_export = None
        assert Frozen.of(client, project, uid)._export  # the archive is made once


def test_a_part_of_a_file_is_a_file():
    data = bytes(range(200))
    asked = []

    def read(start, end):
        asked.append((start, end))
        return data[start:end]

    part = Ranges(read, len(data)).part(50, 100)
    assert (part.seek(-10, io.SEEK_END), part.read(20), part.read(1)) == (90, data[140:150], b"")
    assert (part.seek(0), part.read(3), part.seek(2, io.SEEK_CUR), part.read(1)) == (0, data[50:53], 5, data[55:56])
    assert asked == [(140, 150), (50, 53), (55, 56)]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a", b"x" * 300)
    with zipfile.ZipFile(Ranges(lambda start, end: out.getvalue()[start:end], len(out.getvalue()))) as archive:
        assert archive.read("a") == b"x" * 300


@pytest.mark.slow
def test_the_rows_of_a_version_are_those_of_rest(frozen, tmp_path):
    _, rows, version = frozen
    found = []
    for number, part in enumerate(version.parts("localizations")):
        place = tmp_path / f"{number}.parquet"
        place.write_bytes(part.read())
        names = ("id", "frame", "x", "y", "width", "height", "elemental_id")
        found += duckdb.execute(f"SELECT {', '.join(names)} FROM '{place}'").fetchall()
    assert sorted(found) == sorted(tuple(row[name] for name in names) for row in rows)


@pytest.mark.slow
def test_only_the_columns_that_are_asked_for_are_read(frozen):
    pytest.importorskip("pyarrow", reason="pyarrow is not in the lock")
    _, rows, version = frozen
    table = version.to_arrow("localizations", columns=["id", "x"])
    assert table.schema.names == ["id", "x"]
    assert dict(zip(table["id"].to_pylist(), table["x"].to_pylist(), strict=True)) == {
        row["id"]: row["x"] for row in rows
    }
    assert [batch.num_rows for batch in version.scan("localizations", rows=100)] == [100, 100, 100]
    assert version.to_arrow("media", columns=["name"]).num_rows == 3
    with pytest.raises(Failure, match="columns: 'nope' is not one of"):
        version.to_arrow("localizations", columns=["nope"])
    with pytest.raises(Failure, match="kind: 'nope' is not one of media, localizations, states"):
        version.to_arrow("nope")
    assert version.to_arrow("states").num_rows == 0
