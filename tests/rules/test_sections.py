"""Sections as filters: folders, playlists and saved searches, of media and of their annotations."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.rulebook import RELATED, rule
from tests.rules.worlds import ANNOTATIONS, RELATED_KINDS, World, empty_world, encoded, term, world_of_letters

UNKNOWN_ID = 999_999_999


@pytest.fixture(scope="module")
def world() -> World:
    """With a folder of A and D, a playlist of B and E, and saved searches of one side and the other."""
    made = world_of_letters()
    media = made.ids["media"]
    made.ids["section"] = ids = {"folder": section(made, "folder")}
    said = made.api.patch(made.path("media"), {"ids": [media["A"], media["D"]], "primary_section": ids["folder"]})
    assert said.status == 200, said.body
    ids["playlist"] = section(made, "playlist", dtype="playlist", media=[media["B"], media["E"]])
    ids["search"] = section(made, "search", object_search=term("n", "gt", 1))
    ids["related"] = section(made, "related", related_search=term("s", "isnull", value=False))
    ids["empty"] = section(made, "empty")
    return made


def section(world: World, name: str, **more: Any) -> int:
    return world.api.made(f"Sections/{world.project}", {"name": name, **more})


HELD = {"folder": "AD", "playlist": "BE", "search": "BE", "related": "AB", "empty": ""}


@rule(
    "Sections",
    "`section` is a folder, a playlist, or what a saved search finds.",
    takes="section",
    of=RELATED,
)
@rule("Sections", "Of annotations, those whose media are in the section.")
@pytest.mark.parametrize("kind", RELATED_KINDS)
@pytest.mark.parametrize("name", HELD)
def test_a_section_filters(world: World, kind, name):
    assert world.found(kind, section=world.ids["section"][name]) == HELD[name]
    assert world.found(kind, section=world.ids["section"][name], attribute_gt="n::1") == "".join(
        letter for letter in HELD[name] if letter in "BE"
    )


@rule("Sections", "An unknown section is 404, also in a search.")
@pytest.mark.parametrize("kind", RELATED_KINDS)
def test_an_unknown_section(world: World, kind):
    other = empty_world([])
    strange = section(other, "x")
    for number in (UNKNOWN_ID, strange):
        assert world.ask(kind, section=number).status == 404
        assert world.ask(kind, {"object_search": term("$section", "eq", number)}).status == 404
    assert world.ask(kind, encoded_search=encoded(term("tator_user_sections", "eq", "no such"))).status == 404


@rule("Sections", "`multi_section` is any of several; unknown ones add nothing.", takes="multi_section", of=RELATED)
@pytest.mark.parametrize("kind", RELATED_KINDS)
def test_several_sections(world: World, kind):
    ids = world.ids["section"]
    for names in (("folder", "playlist"), ("folder", "search", "related"), ("empty",), ("related", "empty")):
        wanted = "".join(sorted(set("".join(HELD[name] for name in names))))
        assert world.found(kind, multi_section=[ids[name] for name in names]) == wanted
    assert world.found(kind, multi_section=[UNKNOWN_ID]) == ""
    assert world.found(kind, multi_section=[UNKNOWN_ID, ids["folder"]]) == "AD"
    assert world.found(kind, multi_section=[ids["folder"]], section=ids["related"]) == "A"
    world.refuses(kind, multi_section=[0])


@rule("Sections", "In an object search `$section` is an id and `tator_user_sections` a tag, of any kind of section.")
@pytest.mark.parametrize("kind", RELATED_KINDS)
@pytest.mark.parametrize("name", HELD)
def test_sections_in_searches(world: World, kind, name):
    number = world.ids["section"][name]
    tag = world.api.get(f"Section/{number}").json["tator_user_sections"]
    assert tag
    for search in (term("$section", "eq", number), term("tator_user_sections", "eq", tag)):
        assert world.found(kind, {"object_search": search}) == HELD[name]
        assert world.found(kind, encoded_search=encoded(search)) == HELD[name]
        inverse = "".join(letter for letter in "ABCDE" if letter not in HELD[name])
        assert world.found(kind, {"object_search": search | {"inverse": True}}) == inverse
    both = {"method": "and", "operations": [term("$section", "eq", number), term("n", "eq", 1)]}
    assert world.found(kind, {"object_search": both}) == ("A" if "A" in HELD[name] else "")


@rule("Sections", "Section, search and related search hold together.")
def test_sections_and_related_searches(world: World):
    for name, held in HELD.items():
        asked = {"section": world.ids["section"][name], "encoded_related_search": encoded(term("n", "in", [1, 2]))}
        assert world.found("media", **asked) == "".join(letter for letter in held if letter in "AB")
        assert world.found("media", **asked, attribute="s::Foo") == ("A" if "A" in held else "")


@rule("Sections", "`$section` sorts media by folder, and annotations by their media's; those in none last.")
@pytest.mark.parametrize("kind", RELATED_KINDS)
def test_sorting_by_section(world: World, kind):
    assert world.found(kind, sort_by="$section,$id") == "ADBCE"
    assert world.found(kind, sort_by="-$section,$id") in ("ADBCE", "BCEAD")
    assert world.found(kind, attribute=f"$section::{world.ids['section']['folder']}") == "AD"


@rule("Sections", "A media's folder and its tag follow each other.")
def test_folder_and_tag_follow_each_other(world: World):
    number = world.ids["media"]["C"]
    folder = world.api.get(f"Section/{world.ids['section']['folder']}").json
    assert (
        world.api.patch(
            f"Media/{number}", {"attributes": {"tator_user_sections": folder["tator_user_sections"]}}
        ).status
        == 200
    )
    assert world.one("media", number)["primary_section"] == folder["id"]
    assert world.found("media", section=folder["id"]) == "ACD"
    assert world.found("media", attribute=f"tator_user_sections::{folder['tator_user_sections']}") == "ACD"
    assert world.api.patch(f"Media/{number}", {"primary_section": -1}).status == 200
    assert world.one("media", number)["attributes"]["tator_user_sections"] == ""
    assert world.found("media", section=folder["id"]) == "AD"


@rule("Sections", "A saved search follows what is found and written; it may name sections, but not itself.")
def test_saved_searches_are_alive(world: World):
    nested = section(world, "nested", object_search=term("$section", "eq", world.ids["section"]["folder"]))
    assert world.found("media", section=nested) == "AD"
    said = world.api.patch(f"Section/{nested}", {"object_search": term("$section", "eq", nested)})
    assert said.status == 400 or "itself" in world.refuses("media", section=nested)
    assert world.api.delete(f"Section/{nested}").status == 200
    assert world.ask("media", section=nested).status == 404


@rule("Older clients", "A section with a search string of the older kind holds what that finds.")
def test_older_saved_searches(world: World):
    number = section(world, "older", lucene_search="n:[1 TO 2] AND b:true")
    for kind in RELATED_KINDS:
        assert world.found(kind, section=number) == "A"


@rule("Sections", "Deleting a section leaves the media, in no folder.")
def test_deleting_a_section(world: World):
    number = section(world, "doomed")
    media = world.ids["media"]["E"]
    assert world.api.patch(f"Media/{media}", {"primary_section": number}).status == 200
    assert world.found("media", section=number) == "E"
    assert world.api.delete(f"Section/{number}").status == 200
    assert world.one("media", media)["primary_section"] is None
    for kind in ANNOTATIONS:
        assert world.found(kind) == "ABCDE"


@rule(
    "Sections",
    "A deleted attribute that a saved or object search names matches nothing; a filter that names it is 400.",
)
def test_a_deleted_attribute_matches_nothing():
    made = empty_world([{"name": "n", "dtype": "int"}, {"name": "gone", "dtype": "int"}])
    made.ids["media"] = {"A": made.media("A", attributes={"n": 1, "gone": 1})}
    either = {"method": "or", "operations": [term("gone", "eq", 1), term("n", "eq", 1)]}
    ids = [section(made, "saved", object_search=term("gone", "eq", 1)), section(made, "either", object_search=either)]
    assert [made.found("media", section=each) for each in ids] == ["A", "A"]
    of_type = f"AttributeType/{made.types['media']}"
    said = made.api.delete(of_type, {"entity_type": "MediaType", "name": "gone"})
    assert said.status == 200, said.body
    assert [made.found("media", section=each) for each in ids] == ["", "A"]
    assert made.found("media", multi_section=ids) == "A"
    assert made.found("media", {"object_search": either}) == "A"
    made.refuses("media", attribute="gone::1")


@rule("Sections", "A saved search is checked when it is saved.")
@pytest.mark.parametrize(
    ("member", "search", "message"),
    [
        ("object_search", term("n", "resembles", 1), "resembles"),
        ("object_search", {}, "object_search"),
        ("object_search", term("n", "eq", "x"), "an integer"),
        ("related_search", term("s", "nothing", 1), "related_search"),
        ("lucene_string", "n:(", "lucene_string"),
    ],
)
def test_a_bad_search_is_not_saved(world: World, member, search, message):
    said = world.api.post(f"Sections/{world.project}", {"name": f"bad {message}", member: search})
    assert said.status == 400, said.body
    assert message in said.json["message"]
    said = world.api.patch(f"Section/{world.ids['section']['search']}", {member: search})
    assert said.status == 400, said.body


@rule("Sections", "A saved search that leads to its own section is refused.")
def test_a_section_within_itself(world: World):
    number = section(world, "itself", object_search=term("n", "gt", 1))
    other = section(world, "other", object_search=term("$section", "eq", number))
    for inner in (number, other):
        said = world.api.patch(f"Section/{number}", {"object_search": term("$section", "eq", inner)})
        assert said.status == 400, said.body
        assert "refers to itself" in said.json["message"]
