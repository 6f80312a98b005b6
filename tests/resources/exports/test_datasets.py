"""Versions of datasets, through HTTP."""

from itertools import product

import pytest

from chalicelib.core.models.datasets import DATASET
from chalicelib.resources.exports import planning
from chalicelib.storage.dynamodb import records
from tests import objects
from tests.resources.exports.samples import Dataset, document
from tests.service import join, new_user


@pytest.fixture
def dataset(api, project):
    return Dataset(api, project, pictures=False)


def freeze(dataset, name, **selection):
    uid = dataset.api.made(f"Datasets/{dataset.project}", {"name": name, **selection})
    dataset.api.drain()
    version = dataset.api.get(f"Dataset/{uid}").json
    assert version["status"] == "succeeded", version
    return version


def test_a_second_version_of_a_name_is_refused_before_a_message_is_sent(dataset):
    freeze(dataset, "v1")
    assert "already" in dataset.api.post(f"Datasets/{dataset.project}", {"name": "v1"}).message
    assert dataset.api.drain() == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "labels"),
    [("csv", 3), *(pytest.param(*case, marks=pytest.mark.slow) for case in product(("mot", "yolo"), (20_000, 3)))],
)
def test_an_export_of_a_version_is_that_of_its_commit_though_all_was_deleted(
    api, project, dataset, monkeypatch, form, labels
):
    dataset.annotate()
    spec = {"format": form, "classes": {"attribute": "Species"}, "split": {"train": 0.5, "val": 0.5}}
    before, export = dataset.export(**spec)
    monkeypatch.setattr(planning, "LABELS_A_PART", labels)
    version = freeze(dataset, "v1")
    assert (version["media"], version["labels"]) == (3, 15)
    assert api.delete(f"Localizations/{project}").status == 200
    assert api.delete(f"LocalizationType/{dataset.box_type}").status == 200
    api.drain()
    archive, again = dataset.export(dataset="v1", **spec)
    assert (again["labels"], again["left_out"]) == (export["labels"], export["left_out"])
    assert again["seq"] == version["seq"] == export["seq"] + 1  # the event that the first export is done
    assert sorted(archive.namelist()) == sorted(before.namelist())
    for name in before.namelist():
        assert archive.read(name) == before.read(name), name
    keyed, _ = dataset.export(dataset=version["uid"], format="csv", interpolate=False)
    assert b",false," not in keyed.read("localizations.csv")


@pytest.mark.slow
def test_two_versions_are_compared(api, project, dataset):
    _, members = dataset.annotate()
    freeze(dataset, "v1")
    added = dataset.box(dataset.video, 20, (0, 0, 1, 1))
    api.patch(f"Localization/{members[1]}", {"x": 0.5})
    api.delete(f"Localization/{members[0]}")
    other = freeze(dataset, "v2")
    found = api.get(f"DatasetComparison/{other['uid']}", base="v1").json
    assert found["localizations"] == {
        "added": 1,
        "changed": 1,
        "removed": 1,
        "added_ids": [added],
        "changed_ids": [members[1]],
        "removed_ids": [members[0]],
    }
    assert (found["media"]["changed"], found["states"]["removed"]) == (0, 0)
    same = api.get(f"DatasetComparison/{other['uid']}", base=other["uid"], most_ids=0).json
    assert [sum(same[name][what] for what in ("added", "changed", "removed")) for name in ("media", "states")] == [0, 0]


@pytest.mark.slow
def test_a_version_is_listed_described_and_deleted_with_its_rows(api, project, dataset):
    version = freeze(dataset, "v1", media={"dtype": "image"}, description="d")
    assert version["selection"]["media"] == {"dtype": "image"}
    assert [each["name"] for each in api.get(f"Datasets/{project}").json] == ["v1"]
    assert api.post(f"Datasets/{project}", {"name": "v1"}).status == 400
    assert api.delete(f"Dataset/{version['uid']}").status == 200
    assert list(objects.under(f"_datasets/{project}/")) == []
    assert api.post(f"Exports/{project}", {"format": "csv", "dataset": "v1"}).status == 404
    freeze(dataset, "v1")


def test_a_version_is_seen_by_members_only(api, project, dataset):
    version = freeze(dataset, "v1")
    member, stranger = new_user(), new_user()
    join(member, project, "View Only")
    assert member.get(f"Dataset/{version['uid']}").status == 200
    assert member.delete(f"Dataset/{version['uid']}").status == 403
    assert member.post(f"Datasets/{project}", {"name": "x"}).status == 403
    assert stranger.get(f"Dataset/{version['uid']}").status == 404
    assert records.get(DATASET, version["uid"]).name == "v1"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["dive", "dwca"])
def test_a_media_that_a_version_holds_in_parts_is_whole_where_a_format_has_one_file_or_row_for_it(
    dataset, monkeypatch, form
):
    dataset.annotate()
    spec = {"format": form, "classes": {"attribute": "Species"}}
    whole, _ = dataset.export(**spec)
    monkeypatch.setattr(planning, "LABELS_A_PART", 2)
    freeze(dataset, "v1")
    archive, _ = dataset.export(dataset="v1", **spec)
    assert len(archive.namelist()) == len(set(archive.namelist()))
    for name in {*whole.namelist()} - {"eml.xml"}:
        assert archive.read(name) == whole.read(name), name


@pytest.mark.slow
def test_leaves_with_the_name_of_a_class_say_which_taxon_it_is(api, project, dataset):
    dataset.annotate()
    attributes = [{"name": name, "dtype": "string"} for name in ("taxonID", "rank", "authority")]
    attributes.append({"name": "AphiaID", "dtype": "int"})
    of = api.made(f"LeafTypes/{project}", {"name": "Taxa", "attribute_types": attributes})
    values = {"taxonID": "t1", "rank": "species", "authority": "Linnaeus, 1758", "AphiaID": 126436}
    api.made(f"Leaves/{project}", [{"name": "cod", "type": of, "attributes": values}, {"name": "eel", "type": of}])
    spec = {"classes": {"attribute": "Species"}}
    archive, _ = dataset.export(format="dwca", **spec)
    head, *lines = (line.split("\t") for line in archive.read("occurrence.txt").decode().splitlines())
    rows = {row["scientificName"]: row for row in (dict(zip(head, line, strict=True)) for line in lines)}
    names = ("scientificNameID", "scientificNameAuthorship", "taxonID", "taxonRank")
    urn = "urn:lsid:marinespecies.org:taxname:126436"
    assert [rows["cod"][name] for name in names] == [urn, "Linnaeus, 1758", "t1", "species"]
    assert [rows["eel"][name] for name in names] == ["", "", "", ""]
    again, _ = dataset.export(format="camtrapdp", **spec)
    taxa = document(again, "datapackage.json")["taxonomic"]
    cod = {"scientificName": "cod", "taxonID": "t1", "taxonRank": "species"}
    assert [each for each in taxa if each["scientificName"] in ("cod", "eel")] == [cod, {"scientificName": "eel"}]
