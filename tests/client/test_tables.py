"""Objects as data frames, and data frames as changes."""

from __future__ import annotations

import pytest

from infra import client as limn_client
from infra.client.configuration import Profile
from infra.client.failures import Failure

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not in the lock")


@pytest.fixture
def there(service, api, project):
    """A project of the client, with a type, a picture and nine boxes."""
    picture = api.made(f"MediaTypes/{project}", {"name": "Picture", "dtype": "image"})
    [media] = api.made(f"Medias/{project}", [{"type": picture, "name": "a.png", "md5": ""}])
    attributes = [{"name": "Depth", "dtype": "float"}, {"name": "Species", "dtype": "string"}]
    body = {"name": "Box", "dtype": "box", "media_types": [picture], "attribute_types": attributes}
    kind = api.made(f"LocalizationTypes/{project}", body)
    with limn_client.Client(Profile(service, api.token, project)) as client:
        found = client.project()
        base = {"type": kind, "media_id": media, "frame": 0, "width": 0.25, "height": 0.25}
        rows = [{**base, "x": n / 16, "y": 0.5, "attributes.Depth": float(n)} for n in range(9)]
        made = found.write(rows)
        assert (len(made.created), made.refused) == (9, [])
        found.base = base
        yield found


def test_a_table_has_all_pages_and_the_same_values_as_the_rows(there, monkeypatch):
    monkeypatch.setattr("infra.client.tables.PAGE", 4)
    found = there.localizations().to_arrow()
    rows = list(there.localizations())
    assert found["id"].to_pylist() == [row["id"] for row in rows]
    assert found["attributes.Depth"].to_pylist() == [row["attributes"]["Depth"] for row in rows]
    assert [batch.num_rows for batch in there.localizations().scan()] == [4, 4, 1]
    assert there.localizations(attribute_gt=["Depth::6"]).to_arrow()["x"].to_pylist() == [7 / 16, 8 / 16]
    assert there.localizations(fields="x").to_arrow().schema.names == ["x", "id"]
    assert there.media().to_arrow()["name"].to_pylist() == ["a.png"]
    assert there.states().to_arrow().num_rows == 0


def test_a_table_that_is_written_back_changes_nothing(there):
    done = there.write(there.localizations().to_arrow())
    assert (done.unchanged, done.updated, done.created, done.deleted, done.refused) == (9, 0, [], 0, [])


def test_rows_create_change_and_delete_and_a_dry_run_does_neither(there):
    before = list(there.localizations())
    rows = [
        {"id": before[0]["id"], "attributes.Species": "Cod", "x": before[0]["x"]},
        {"elemental_id": before[1]["elemental_id"], "x": 0.125},
        {"id": before[2]["id"], "delete": True},
        {"id": 10**9, "x": 0.5},
        {**there.base, "x": 0.75, "y": 0.0},
        {**there.base, "x": 0.5, "y": 0.0, "elemental_id": "6f2b1c9e-2f0e-4c57-9c39-0a4d6f1f8a11"},
    ]
    dry = there.write(rows, dry_run=True)
    assert (len(dry.created), dry.updated, dry.deleted, [number for number, _ in dry.refused]) == (2, 2, 1, [3])
    assert list(there.localizations()) == before
    done = there.write(rows)
    assert (len(done.created), done.updated, done.deleted, [number for number, _ in done.refused]) == (2, 2, 1, [3])
    after = {each["id"]: each for each in there.localizations()}
    assert before[2]["id"] not in after
    assert after[before[0]["id"]]["attributes"] == {"Depth": 0.0, "Species": "Cod"}
    [moved] = [each for each in after.values() if each["elemental_id"] == before[1]["elemental_id"]]
    assert moved["x"] == 0.125
    assert set(done.created) <= after.keys()


def test_a_row_that_the_service_refuses_is_named(there):
    [first, *_] = there.localizations()
    done = there.write([{"id": first["id"], "x": 7.0}])
    assert done.refused[0][0] == 0
    assert "x" in done.refused[0][1]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_come_and_go(there, library):
    pytest.importorskip(library, reason=f"{library} is not in the lock")
    frame = getattr(there.localizations(), f"to_{library}")()
    chosen = frame[["id", "x"]]
    if library == "pandas":
        chosen = chosen.assign(x=0.5)
    else:
        import polars as pl

        chosen = chosen.with_columns(pl.lit(0.5).alias("x"))
    done = there.write(chosen)
    assert (done.updated, done.unchanged, done.refused) == (8, 1, [])
    assert {each["x"] for each in there.localizations()} == {0.5}


def test_a_data_frame_with_new_rows_beside_old_ones_has_ids_as_floats(there):
    """NaN is what a data frame has where a row has no value."""
    pandas = pytest.importorskip("pandas", reason="pandas is not in the lock")
    [first, *_] = there.localizations()
    done = there.write(pandas.DataFrame([{"id": first["id"], "x": 0.5}, {**there.base, "x": 0.25, "y": 0.25}]))
    assert (done.updated, len(done.created), done.refused) == (1, 1, [])
    done = there.write([{"id": first["id"], "x": float("nan"), "attributes.Depth": float("nan")}])
    assert (done.unchanged, done.refused) == (1, [])


def test_a_row_whose_id_cannot_be_one_is_refused_alone(there):
    [first, *_] = there.localizations()
    wrong = [{"id": "a"}, {"elemental_id": 7, **there.base}, {"id": True}, {"id": -1}, {"delete": True}]
    done = there.write([*wrong, {"points": "[["}, {"id": first["id"], "x": 0.5}])
    assert (done.updated, done.created) == (1, [])
    assert [number for number, _ in done.refused] == [0, 1, 2, 3, 4, 5]
    with pytest.raises(Failure, match="kind: 'media' is not one of"):
        there.write([{}], "media")
    with pytest.raises(Failure, match="parallel: 0"):
        there.write([{}], parallel=0)


def test_rows_of_a_table_without_ids_become_copies(there):
    table = there.localizations().to_arrow()
    done = there.write(table.drop_columns(["id", "elemental_id"]))
    assert (len(done.created), done.refused) == (9, [])
    places = [(each["x"], each["attributes"]["Depth"]) for each in there.localizations()]
    assert sorted(places) == sorted(places[:9] * 2)


def test_a_selection_of_nothing_is_an_empty_table(there):
    assert there.localizations(stop=0).to_arrow().schema == there.localizations().to_arrow().schema
    assert there.localizations(stop=0).to_arrow().num_rows == 0
