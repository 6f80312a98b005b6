"""Lists of taxa become leaves, and synonyms their accepted names."""

from __future__ import annotations

import contextlib
import io
import json
import time
import zipfile
from types import SimpleNamespace

import pytest

from infra.client import taxa
from infra.client.cli import sessions
from infra.client.failures import Failure
from tests.resources.imports.conftest import make_types

URN = "urn:lsid:marinespecies.org:taxname:"
WORMS = "\n".join(
    "\t".join(line)
    for line in (
        (
            "taxonID",
            "acceptedNameUsageID",
            "parentNameUsageID",
            "scientificName",
            "scientificNameAuthorship",
            "taxonRank",
        ),
        (f"{URN}125469", "", f"{URN}10194", "Gadidae", "Rafinesque, 1810", "Family"),
        (f"{URN}125732", f"{URN}125732", f"{URN}125469", "Gadus", "Linnaeus, 1758", "Genus"),
        (f"{URN}126436", "", f"{URN}125732", "Gadus morhua", "Linnaeus, 1758", "Species"),
        (f"{URN}126437", "", f"{URN}125469", "Melanogrammus aeglefinus", "(Linnaeus, 1758)", "Species"),
        (f"{URN}254538", f"{URN}126436", f"{URN}125732", "Gadus callarias", "Linnaeus, 1758", "Species"),
        (f"{URN}1", f"{URN}126437", "", "Gadus aeglefinus", "Linnaeus, 1758", "Species"),
        (f"{URN}2", "", "", "", "", ""),
    )
)
GBIF = """taxonID\tparentNameUsageID\tacceptedNameUsageID\tscientificName\tscientificNameAuthorship\t\
canonicalName\ttaxonRank
1\t\t\tAnimalia\t\tAnimalia\tkingdom
8\t1\t\tGadus morhua "x" Linnaeus, 1758\tLinnaeus, 1758\tGadus morhua\tspecies
9\t1\t8\tGadus callarias Linnaeus, 1758\tLinnaeus, 1758\tGadus callarias\tspecies
"""


def archive(tmp_path, text, name="taxon.txt"):
    place = tmp_path / "taxa.zip"
    with zipfile.ZipFile(place, "w") as out:
        out.writestr(name, text)
        out.writestr("meta.xml", "<archive/>")
    return place


def test_a_list_of_worms_has_numbers_ranks_authorities_and_synonyms(tmp_path):
    found = taxa.read(archive(tmp_path, WORMS))
    cod = found.accepted[f"{URN}126436"]
    assert (cod.name, cod.rank, cod.authority, cod.aphia) == ("Gadus morhua", "species", "Linnaeus, 1758", 126436)
    assert found.accepted_names() == {
        "Gadus callarias": "Gadus morhua", "Gadus aeglefinus": "Melanogrammus aeglefinus",
    }  # fmt: skip
    assert [[taxon.name for taxon, _ in level] for level in found.levels()] == [
        ["Gadidae"], ["Gadus", "Melanogrammus aeglefinus"], ["Gadus morhua"],
    ]  # fmt: skip
    assert [[taxon.name for taxon, _ in level] for level in found.levels(["Gadus"])] == [["Gadus"], ["Gadus morhua"]]
    assert found.skipped == 1
    with pytest.raises(Failure, match="no accepted taxon 'Gadus callarias'"):
        list(found.levels(["Gadus callarias"]))


def test_a_table_of_gbif_is_read_without_authorities_in_names(tmp_path):
    place = tmp_path / "Taxon.tsv"
    place.write_text(GBIF)
    found = taxa.read(place)
    assert [(each.name, each.aphia) for each in found.accepted.values()] == [("Animalia", None), ("Gadus morhua", None)]
    assert found.accepted_names() == {"Gadus callarias": "Gadus morhua"}


def test_a_list_of_matches_in_csv_is_read(tmp_path):
    place = tmp_path / "list.csv"
    head = '"AphiaID","ScientificName","Authority","taxonRank"'
    place.write_text(f'{head}\n126436,"Gadus morhua","Linnaeus, 1758",Species\n')
    [cod] = taxa.read(place).accepted.values()
    assert (cod.id, cod.name, cod.authority) == (f"{URN}126436", "Gadus morhua", "Linnaeus, 1758")
    assert cod.aphia == 126436


def test_parents_in_a_circle_end(tmp_path):
    place = tmp_path / "taxon.txt"
    place.write_text("taxonID\tscientificName\tparentNameUsageID\nr\tRoot\tr\na\tA\tb\nb\tB\ta\nc\tC\tr\n")
    assert [[taxon.name for taxon, _ in level] for level in taxa.read(place).levels()] == [["Root"], ["C"]]
    assert [[taxon.name for taxon, _ in level] for level in taxa.read(place).levels(["A"])] == [["A"], ["B"]]


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        ("a.txt", b"name\nx\n", "its first line has no taxonID"),
        ("a.txt", b"taxonID\tscientificName\n", "no accepted taxon"),
        ("a.txt", b"taxonID\tscientificName\n\xff\xfe\t\n", "utf-8"),
    ],
)
def test_another_file_is_refused_with_a_reason(tmp_path, name, body, reason):
    (tmp_path / name).write_bytes(body)
    with pytest.raises(Failure, match=reason):
        taxa.read(tmp_path / name)
    with pytest.raises(Failure, match="has 0 files taxon"):
        taxa.read(archive(tmp_path, "", "other.txt"))


def test_a_list_becomes_a_tree_of_leaves_once(limn, signed_in, api, tmp_path):
    place = archive(tmp_path, WORMS)
    tried = limn("--json", "taxa", place, "--dry-run").json
    assert (tried["taxa"], tried["created"], api.get(f"Leaves/{signed_in}").json) == (4, 4, [])
    assert "2 taxa: 2 created, 0 present" in limn("taxa", place, "--within", "Gadus").out
    leaves = {leaf["name"]: leaf for leaf in api.get(f"Leaves/{signed_in}").json}
    cod = leaves["Gadus morhua"]
    assert (cod["parent"], leaves["Gadus"]["parent"]) == (leaves["Gadus"]["id"], None)
    assert cod["attributes"] == {
        "taxonID": f"{URN}126436", "AphiaID": 126436, "rank": "species", "authority": "Linnaeus, 1758",
        "synonyms": "Gadus callarias",
    }  # fmt: skip
    again = limn("--json", "taxa", place, "--within", "Gadus").json
    assert (again["created"], again["present"]) == (0, 2)
    assert len(api.get(f"Leaves/{signed_in}").json) == 2


@pytest.mark.slow
def test_an_import_takes_the_accepted_names_of_synonyms(limn, signed_in, api, tmp_path, monkeypatch):
    types = make_types(api, signed_in)
    body = {"type": types["image"], "name": "reef.png", "md5": "", "width": 640, "height": 480}
    api.made(f"Medias/{signed_in}", body)

    def work(_):
        with contextlib.redirect_stdout(io.StringIO()):  # the functions log there
            api.drain()

    monkeypatch.setattr(sessions, "time", SimpleNamespace(sleep=work, monotonic=time.monotonic))
    box = {"media": "reef.png", "kind": "box", "x": 0.1, "y": 0.1, "width": 0.1, "height": 0.1}
    place = tmp_path / "a.jsonl"
    names = ("Gadus callarias", "Gadus morhua", "Unknown")
    place.write_text("\n".join(json.dumps({**box, "class_name": name}) for name in names))
    refused = limn("import", place, "--taxa", archive(tmp_path, WORMS))
    assert "--taxa needs --class-attribute" in refused.err
    ran = limn("import", place, "--taxa", archive(tmp_path, WORMS), "--class-attribute", "Species")
    assert "1 of 3 classes are synonyms" in ran.err, ran
    found = sorted(each["attributes"]["Species"] for each in api.get(f"Localizations/{signed_in}").json)
    assert found == ["Gadus morhua", "Gadus morhua", "Unknown"]
