"""Media lists at work: bulk changes, neighbours, sums and clones; which operation takes which query set."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from chalicelib.api.catalogue import OPERATIONS
from tests.rules.rulebook import MEDIA, rule
from tests.rules.worlds import World, empty_world, encoded, term, world_of_letters
from tests.service import new_user

UNKNOWN_ID = 999_999_999


@pytest.fixture(scope="module")
def world() -> World:
    return world_of_letters()


def change(world: World, letters: str, status: int = 200, **body: Any) -> Any:
    ids = [world.ids["media"][letter] for letter in letters]
    said = world.api.patch(world.path("media"), {"ids": ids, **body})
    assert said.status == status, said.body
    return said


@rule("Bulk", "A change of media gives something to change, and is of one type; where none match, none are changed.")
def test_what_a_bulk_change_needs(world: World):
    change(world, "AB", 400)
    change(world, "AE", 400, attributes={"n": 1})
    assert "0" in world.api.patch(world.path("media"), {"ids": [UNKNOWN_ID], "attributes": {"n": 1}}).message


@rule(
    "Bulk",
    "`primary_section` moves media to a folder, −1 out of any; the tag follows; what is no folder is 400.",
    takes="primary_section",
    of=[MEDIA],
)
def test_moving_to_a_folder(world: World):
    folder = world.api.made(f"Sections/{world.project}", {"name": "folder"})
    playlist = world.api.made(f"Sections/{world.project}", {"name": "list", "dtype": "playlist"})
    tag = world.api.get(f"Section/{folder}").json["tator_user_sections"]
    assert "2" in change(world, "AB", primary_section=folder).message
    for letter in "AB":
        one = world.one("media", world.ids["media"][letter])
        assert (one["primary_section"], one["attributes"]["tator_user_sections"]) == (folder, tag)
    change(world, "A", primary_section=-1)
    one = world.one("media", world.ids["media"]["A"])
    assert (one["primary_section"], one["attributes"]["tator_user_sections"]) == (None, "")
    for wrong in (UNKNOWN_ID, playlist, -2, "x"):
        change(world, "AB", 400, primary_section=wrong)
    assert world.found("media", section=folder) == "B"
    change(world, "B", attributes={"tator_user_sections": ""})
    assert world.found("media", section=folder) == ""


@rule(
    "Bulk",
    "`archive_state` is `to_archive` or `to_live`, and leads from each state only where it can.",
    takes="archive_state",
    of=[MEDIA],
)
def test_archiving(world: World):
    def states() -> list[str]:
        return [world.one("media", world.ids["media"][letter])["archive_state"] for letter in "ABC"]

    change(world, "AB", archive_state="to_archive")
    assert states() == ["to_archive", "to_archive", "live"]
    change(world, "ABC", archive_state="to_live")
    assert states() == ["live", "live", "live"]
    for wrong in ("live", "archived", "x"):
        change(world, "AB", 400, archive_state=wrong)


@rule("Bulk", "`user_elemental_id` names another author; an unknown one is 404.", takes="user_elemental_id", of=[MEDIA])
def test_authors(world: World):
    author = new_user().user
    change(world, "D", user_elemental_id=author.elemental_id)
    assert world.one("media", world.ids["media"]["D"])["created_by"] == author.id
    change(world, "D", 404, user_elemental_id="00000000-0000-4000-8000-000000000000")


@rule("Media", "The next and previous media are those of the list that matches, −1 at its ends.")
def test_neighbours(world: World):
    ids = world.ids["media"]
    for asked, letters in (
        ({}, "ABCDE"),
        ({"attribute_gt": "n::0"}, "ABE"),
        ({"sort_by": "-$name"}, "EDCBA"),
        ({"type": world.types["media"]}, "ABCD"),
    ):
        for place, letter in enumerate(letters):
            nexts = world.api.get(f"MediaNext/{ids[letter]}", **asked).json["next"]
            before = world.api.get(f"MediaPrev/{ids[letter]}", **asked).json["prev"]
            assert nexts == (ids[letters[place + 1]] if place + 1 < len(letters) else -1)
            assert before == (ids[letters[place - 1]] if place else -1)


@rule("Media", "The sums are of the media that match, whatever they are chosen by.")
def test_sums(world: World):
    for asked, count in (
        ({}, 5),
        ({"attribute_gt": "n::0"}, 3),
        ({"related_attribute": "s::Foo"}, 1),
        ({"encoded_search": encoded(term("n", "isnull", value=True))}, 2),
        ({"type": UNKNOWN_ID}, 0),
    ):
        said = world.api.get(f"MediaStats/{world.project}", **asked)
        assert said.status == 200, said.body
        assert said.json == {"count": count, "duration": 0, "total_size": 0, "download_size": 0}


@rule("Media", "Clones are of what matches, in that order; where none match, none are made.")
def test_clones(world: World):
    there = empty_world([])
    member = new_user()
    assert world.api.post(f"CloneMedia/{world.project}", {"dest_project": UNKNOWN_ID, "dest_type": -1}).status == 404
    said = member.post(f"CloneMedia/{world.project}", {"dest_project": there.project, "dest_type": -1})
    assert said.status in (403, 404)
    here = {"dest_project": world.project, "dest_type": world.types["media"], "dest_section": "Copies"}
    said = world.api.post(
        f"CloneMedia/{world.project}", here, attribute_gt="n::0", sort_by="-$name", type=world.types["media"]
    )
    assert said.status == 201, said.body
    made = said.json["id"]
    assert [world.one("media", number)["name"] for number in made] == ["B", "A"]
    copies = world.one("media", made[0])["primary_section"]
    assert world.numbers("media", section=copies) == sorted(made, key=lambda number: -number)
    assert world.api.post(f"CloneMedia/{world.project}", here, type=UNKNOWN_ID).json["id"] == []
    assert world.api.post(f"CloneMedia/{world.project}", here | {"dest_type": there.types["media"]}).status == 400
    assert world.api.delete(world.path("media"), {"ids": made}, count=2).status == 200


@rule("Media", "A media is gone from lists with its annotations; states stay that have other media.")
def test_deletion():
    world = world_of_letters()
    ids = world.ids["media"]
    both = world.state([ids["A"], ids["B"]])
    assert world.api.delete(world.path("media"), {"ids": [ids["A"]]}, count=1).status == 200
    assert world.found("media", media_id=list(ids.values())) == "BCDE"
    assert world.found("localization") == "BCDE"
    assert both in world.numbers("state")
    assert world.ids["state"]["A"] not in world.numbers("state")
    assert world.api.get(f"Media/{ids['A']}").status == 404
    assert world.api.delete(f"Media/{ids['A']}").status == 404


QF = (
    "attribute attribute_lt attribute_lte attribute_gt attribute_gte attribute_contains attribute_distance "
    "attribute_null"
)
QR = " ".join(f"related_{name}" for name in QF.split()) + " encoded_related_search"
QP = "start stop encoded_search sort_by force_es search"
QM = (
    "media_id type name section multi_section dtype md5 gid uid after after_name archive_lifecycle elemental_id "
    "annotation_search"
)
QA = (
    "media_id related_id section multi_section type version after elemental_id merge show_deleted show_all_marks "
    "media_search"
)
QL = "type name depth leaf_id"
FOUR = ("GET", "PUT", "PATCH", "DELETE")
SETS: dict[str, tuple[tuple[str, ...], str]] = {
    "/rest/Medias/{project}": (FOUR, f"{QM} {QF} {QR} {QP}"),
    "/rest/MediaCount/{project}": (("GET", "PUT"), f"{QM} {QF} {QR} {QP}"),
    "/rest/MediaStats/{project}": (("GET",), f"{QM} {QF} {QR} {QP}"),
    "/rest/MediaNext/{id}": (("GET",), f"{QM} {QF} {QP}"),
    "/rest/MediaPrev/{id}": (("GET",), f"{QM} {QF} {QP}"),
    "/rest/CloneMedia/{project}": (("POST",), f"{QM} {QF} {QP}"),
    "/rest/Transcodes/{project}": (("GET", "PUT", "DELETE"), f"{QM} {QF} {QR} {QP}"),
    "/rest/Localizations/{project}": (FOUR, f"{QA} frame {QF} {QR} {QP}"),
    "/rest/LocalizationCount/{project}": (("GET", "PUT"), f"{QA} frame {QF} {QR} {QP}"),
    "/rest/States/{project}": (FOUR, f"{QA} {QF} {QR} {QP}"),
    "/rest/StateCount/{project}": (("GET", "PUT"), f"{QA} {QF} {QR} {QP}"),
    "/rest/Leaves/{project}": (FOUR, f"{QL} {QF} {QP}"),
    "/rest/LeafCount/{project}": (("GET", "PUT"), f"{QL} {QF} {QP}"),
    "/rest/Files/{project}": (("GET",), f"type name after elemental_id {QF} {QP}"),
}


@rule("Clients", "Each operation declares the query sets it takes, as the newest client passes nothing else on.")
@rule("Clients", "Bulk changes declare `count`, lists of media and annotations `fields`.")
@pytest.mark.parametrize("path", SETS)
def test_declared_query_sets(path):
    methods, wanted = SETS[path]
    for method in methods:
        [operation] = [each for each in OPERATIONS if (each.path, each.method) == (path, method)]
        names = {field.name for field in msgspec.structs.fields(operation.query)}
        aliases = set(getattr(operation.query, "accepts", {}))
        assert set(wanted.split()) <= names, set(wanted.split()) - names
        assert ("count" in names) is (method in ("PATCH", "DELETE") and "Transcodes" not in path)
        if path.split("/")[2] in ("Medias", "Localizations", "States") and method in ("GET", "PUT"):
            assert "fields" in names
            assert ({"presigned", "no_cache", "presign_only"} <= names) is ("Medias" in path)
        if "Media" in path:
            assert "after_id" in aliases
