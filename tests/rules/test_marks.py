"""Marks and tombstones of localizations and states, versions as layers, and their merging."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.rules.rulebook import ANNOTATIONS, LOCALIZATIONS, STATES, rule
from tests.rules.worlds import ANNOTATIONS as KINDS
from tests.rules.worlds import ONE, World, empty_world

EVERYTHING = {"show_all_marks": 1, "show_deleted": 1, "merge": 0}


class Layers:
    """A world with one media for each test, and what a test of one kind of annotation says often."""

    def __init__(self, world: World, kind: str) -> None:
        self.world, self.kind, self.api = world, kind, world.api
        self.media = world.media("m")

    def make(self, **more: Any) -> int:
        where = {"media_id": self.media, "frame": 0} if self.kind == "localization" else {"media_ids": [self.media]}
        return self.world.made(self.kind, {"type": self.world.types[self.kind], **where, **more})[0]

    def one(self, number: int) -> Any:
        return self.world.one(self.kind, number)

    def path(self, number: int) -> str:
        one = self.one(number)
        return f"{ONE[self.kind]}/{one['version']}/{one['elemental_id']}"

    def patch(self, path: Any, **body: Any) -> Any:
        said = self.api.patch(path if isinstance(path, str) else f"{ONE[self.kind]}/{path}", body)
        assert said.status == 200, said.body
        return said.json["object"]

    def delete(self, path: Any, **body: Any) -> int:
        said = self.api.delete(path if isinstance(path, str) else f"{ONE[self.kind]}/{path}", body or None)
        assert said.status == 200, said.body
        return said.json["id"]

    def numbers(self, **query: Any) -> list[int]:
        return self.world.numbers(self.kind, media_id=self.media, **query)

    def marks(self) -> list[tuple[int, bool]]:
        rows = self.world.listed(self.kind, media_id=self.media, **EVERYTHING)
        return [(row["mark"], row["variant_deleted"]) for row in rows]

    def many(self, method: str, body: dict[str, Any], **query: Any) -> Any:
        said = self.api.ask(method, self.world.path(self.kind), body, media_id=self.media, **query)
        assert said.status == 200, said.body
        return said


@pytest.fixture(scope="module")
def world() -> World:
    return empty_world()


@pytest.fixture(params=KINDS)
def here(request, world) -> Layers:
    return Layers(world, request.param)


@rule(
    "Marks",
    "An element is its version and elemental id; made again there it is the next mark.",
    takes="elemental_id",
    of=ANNOTATIONS,
)
@rule("Marks", "Lists show the latest mark; `show_all_marks` all of them.", takes="show_all_marks", of=ANNOTATIONS)
def test_marks_of_an_element(here: Layers):
    element = str(uuid.uuid4())
    first, second = here.make(elemental_id=element), here.make(elemental_id=element.upper())
    assert [here.one(number)["mark"] for number in (first, second)] == [0, 1]
    assert here.one(second)["elemental_id"] == element
    assert here.numbers() == [second]
    assert here.numbers(show_all_marks=1) == [first, second]
    layer = here.world.new_version()
    third = here.make(elemental_id=element, version=layer)
    assert here.one(third)["mark"] == 0
    assert here.numbers(version=layer) == [third]


@rule("Marks", "Marks made in one request count on in the order given.")
def test_marks_made_together(here: Layers):
    element = str(uuid.uuid4())
    where = {"media_id": here.media, "frame": 0} if here.kind == "localization" else {"media_ids": [here.media]}
    spec = {"type": here.world.types[here.kind], **where, "elemental_id": element}
    numbers = here.world.made(here.kind, [spec, spec, spec])
    assert [here.one(number)["mark"] for number in numbers] == [0, 1, 2]
    assert here.numbers() == numbers[2:]


@rule(
    "Marks",
    "A PATCH by id changes the row in place, unless `in_place` is 0: then it is a new mark.",
    takes="in_place",
    of=ANNOTATIONS,
)
@rule("Marks", "A PATCH by elemental id makes a new mark, unless `in_place` is 1.")
@rule("Marks", "A new mark has an id of its own and keeps the time of creation; the old row keeps its content.")
def test_changes_and_marks(here: Layers):
    number = here.make(attributes={"n": 1})
    assert here.patch(number, attributes={"n": 2})["id"] == number
    assert here.one(number)["attributes"]["n"] == 2
    path = here.path(number)
    made = here.patch(number, attributes={"n": 3}, in_place=0)
    assert (made["id"] > number, made["mark"], made["attributes"]["n"]) == (True, 1, 3)
    assert made["created_datetime"] == here.one(number)["created_datetime"]
    assert here.one(number)["attributes"]["n"] == 2
    assert here.numbers() == [made["id"]]
    third = here.patch(path, attributes={"n": 4})
    assert (third["mark"], third["id"] > made["id"]) == (2, True)
    fourth = here.patch(path, attributes={"n": 5}, in_place=1)
    assert (fourth["id"], fourth["mark"], fourth["attributes"]["n"]) == (third["id"], 2, 5)
    assert here.marks() == [(0, False), (1, False), (2, False)]


@rule(
    "Marks",
    "An element is read by its latest mark, tombstones too, or by the `mark` asked for; else 404.",
    takes="mark",
    of=ANNOTATIONS,
)
def test_reading_by_element(here: Layers):
    number = here.make(attributes={"n": 1})
    path = here.path(number)
    here.patch(path, attributes={"n": 2})
    assert here.api.get(path).json["attributes"]["n"] == 2
    assert here.api.get(path, mark=0).json["attributes"]["n"] == 1
    assert here.api.get(path, mark=1).json["mark"] == 1
    assert here.api.get(path, mark=2).status == 404
    assert here.api.get(path, mark=-1).status == 400
    here.delete(path)
    assert here.api.get(path).json["variant_deleted"] is True
    version = here.world.version
    assert here.api.get(f"{ONE[here.kind]}/{version}/{uuid.uuid4()}").status == 404
    assert here.api.get(f"{ONE[here.kind]}/999999999/{here.one(number)['elemental_id']}").status == 404


@rule(
    "Marks",
    "`pedantic` refuses an earlier mark by 400; without it the latest one is meant.",
    takes="pedantic",
    of=ANNOTATIONS,
)
def test_pedantry(here: Layers):
    number = here.make(attributes={"n": 1})
    latest = here.patch(number, attributes={"n": 2}, in_place=0)["id"]
    for said in (
        here.api.patch(f"{ONE[here.kind]}/{number}", {"attributes": {"n": 9}, "pedantic": 1}),
        here.api.delete(f"{ONE[here.kind]}/{number}", {"pedantic": 1}),
    ):
        assert said.status == 400, said.body
    assert here.patch(number, attributes={"n": 3})["id"] == latest
    assert here.one(number)["attributes"]["n"] == 1
    assert here.patch(latest, attributes={"n": 4}, pedantic=1)["id"] == latest
    here.delete(latest, pedantic=1)
    assert here.numbers() == []


@rule(
    "Marks",
    "A deletion leaves a tombstone as the latest mark, which `show_deleted` shows.",
    takes="show_deleted",
    of=ANNOTATIONS,
)
def test_tombstones(here: Layers):
    number = here.make(attributes={"n": 1})
    tomb = here.delete(number)
    assert here.numbers() == []
    assert here.numbers(show_all_marks=1) in ([], [number])
    assert here.numbers(show_deleted=1) == [tomb]
    assert here.one(tomb)["variant_deleted"] is True
    assert here.one(tomb)["attributes"]["n"] == 1
    assert tomb in here.numbers(show_deleted=1, show_all_marks=1)


@rule("Marks", "A change of what was deleted is 404, by the id of each mark and by the elemental id.")
def test_what_was_deleted_is_not_changed(here: Layers):
    number = here.make(attributes={"n": 1})
    second = here.patch(here.path(number), attributes={"n": 2})["id"]
    element, tomb = here.one(second)["elemental_id"], here.delete(second)
    for path in (number, second, tomb, f"{here.one(tomb)['version']}/{element}"):
        for body in (
            {"attributes": {"n": 3}},
            {"attributes": {"n": 3}, "in_place": 0},
            {"project": here.world.project},
        ):
            assert here.api.patch(f"{ONE[here.kind]}/{path}", body).status == 404, (path, body)
    assert here.one(tomb)["attributes"]["n"] == 2


@rule("Marks", "`prune` lets the row go, and the mark before it is visible again.", takes="prune", of=ANNOTATIONS)
def test_pruning(here: Layers):
    number = here.make(attributes={"n": 1})
    path = here.path(number)
    second = here.patch(path, attributes={"n": 2})["id"]
    assert here.delete(second, prune=1) == second
    assert here.numbers() == [number]
    assert here.api.get(f"{ONE[here.kind]}/{second}").status == 404
    third = here.patch(path, attributes={"n": 3})
    assert third["mark"] == 1
    tomb = here.delete(path)
    assert here.numbers() == []
    here.delete(tomb, prune=1)
    assert here.numbers() == [third["id"]]
    here.delete(path, prune=1)
    here.delete(path, prune=1)
    assert here.numbers(**EVERYTHING) == []
    assert here.api.delete(path, {"prune": 1}).status == 404


@rule("Marks", "A bulk deletion leaves tombstones; pruned over all marks and deleted ones, nothing is left.")
def test_bulk_deletion(here: Layers):
    numbers = [here.make() for _ in range(3)]
    here.patch(numbers[0], in_place=0, attributes={"n": 1})
    assert "3" in here.many("DELETE", {}, count=3).message
    assert here.numbers() == []
    assert len(here.numbers(show_deleted=1)) == 3
    here.many("DELETE", {"prune": 1}, **EVERYTHING)
    assert here.numbers(**EVERYTHING) == []


@rule("Marks", "A bulk PATCH changes in place unless `in_place` is 0.")
def test_bulk_changes_in_place(here: Layers):
    numbers = [here.make(attributes={"n": 1}) for _ in range(2)]
    here.many("PATCH", {"attributes": {"n": 2}}, count=2)
    assert here.numbers() == numbers
    assert [here.one(number)["attributes"]["n"] for number in numbers] == [2, 2]
    created = here.one(numbers[0])["created_datetime"]
    here.many("PATCH", {"attributes": {"n": 3}, "in_place": 0})
    made = here.numbers()
    assert not set(made) & set(numbers)
    assert [here.one(number)["attributes"]["n"] for number in (*numbers, *made)] == [2, 2, 3, 3]
    assert here.one(made[0])["created_datetime"] == created


@rule("Versions", "`new_version` moves localizations, in place.", takes="new_version", of=[LOCALIZATIONS])
@rule(
    "Versions",
    "`new_version` copies states, which keep their elemental ids; with `in_place` it moves them.",
    takes="new_version",
    of=[STATES],
)
def test_moving_to_another_version(here: Layers):
    layer = here.world.new_version()
    numbers = [here.make(attributes={"n": n}) for n in range(3)]
    elements = [here.one(number)["elemental_id"] for number in numbers]
    here.many("PATCH", {"ids": numbers, "new_version": layer, "attributes": {}})
    moved = here.world.listed(here.kind, media_id=here.media, version=layer)
    assert [each["elemental_id"] for each in moved] == elements
    if here.kind == "localization":
        assert [each["id"] for each in moved] == numbers
        assert here.numbers(version=here.world.version) == []
    else:
        assert not {each["id"] for each in moved} & set(numbers)
        assert here.numbers(version=here.world.version) == numbers
        copies = [each["id"] for each in moved]
        here.many("DELETE", {"ids": numbers + copies, "prune": 1}, count=2 * len(numbers))
        return
    here.many("PATCH", {"ids": numbers, "new_version": here.world.version, "in_place": 1})
    assert here.numbers(version=here.world.version) == numbers


@rule("Versions", "A version that is not of the project is 400 in a bulk change.")
def test_moving_to_a_version_that_is_not_there(here: Layers):
    number = here.make()
    other = empty_world([])
    for wrong in (999_999_999, other.version):
        said = here.api.patch(here.world.path(here.kind), {"ids": [number], "new_version": wrong})
        assert said.status == 400, said.body
    assert here.one(number)["version"] == here.world.version


@rule("Versions", "`new_elemental_id` renames the element.", takes="new_elemental_id", of=ANNOTATIONS)
def test_renaming_elements(here: Layers):
    number, element = here.make(), str(uuid.uuid4())
    here.many("PATCH", {"ids": [number], "new_elemental_id": element})
    assert here.world.listed(here.kind, elemental_id=element)[0]["id"] == number
    other = str(uuid.uuid4())
    assert here.patch(number, elemental_id=other)["elemental_id"] == other
    assert here.api.patch(f"{ONE[here.kind]}/{number}", {"elemental_id": "none"}).status == 400
    assert here.api.patch(here.world.path(here.kind), {"ids": [number], "new_elemental_id": "x"}).status == 400


@rule(
    "Merge",
    "Of several versions, an element of a derived one stands for its base's; a tombstone there for none.",
    takes="merge",
    of=ANNOTATIONS,
)
@rule("Merge", "`merge=0` shows all; one version is never merged; what fails the filters hides nothing.")
def test_merging(here: Layers):
    base = here.world.version
    derived = here.world.new_version(bases=[base])
    both = {"version": [base, derived]}
    element, doomed = str(uuid.uuid4()), str(uuid.uuid4())
    first = here.make(elemental_id=element, attributes={"n": 1})
    second = here.make(elemental_id=element, version=derived, attributes={"n": 2})
    parent = here.make(attributes={"n": 3})
    child = here.make(parent=parent, version=derived, attributes={"n": 4})
    gone = here.make(elemental_id=doomed, attributes={"n": 5})
    tomb = here.delete(here.make(elemental_id=doomed, version=derived))
    alone = here.make(attributes={"n": 6})
    assert here.numbers(**both) == [second, child, alone]
    assert here.numbers(**both, merge=1) == [second, child, alone]
    assert here.numbers(**both, merge=0) == [first, second, parent, child, gone, alone]
    assert here.numbers(**both, show_deleted=1) == [second, child, tomb, alone]
    assert here.numbers(version=base) == [first, parent, gone, alone]
    assert here.numbers() == [first, second, parent, child, gone, alone]
    assert here.numbers(**both, attribute="n::1") == [first]
    assert here.world.numbers(here.kind, {"ids": [first, second]}, **both) == [second]
    for name in ("merge", "show_deleted", "show_all_marks"):
        here.world.refuses(here.kind, **{name: 2})


@rule("Versions", "A version is listed by number, has what was given, and changes only in that.")
@rule("Versions", "Deleting a version deletes its localizations and states.")
def test_versions(here: Layers):
    api, project = here.api, here.world.project
    base = here.world.new_version("base", description="d", show_empty=False)
    derived = here.world.new_version("derived", bases=[base])
    shown = {each["id"]: each for each in api.get(f"Versions/{project}").json}
    assert [each["number"] for each in shown.values()] == sorted(each["number"] for each in shown.values())
    wanted = {"name": "base", "description": "d", "show_empty": False, "bases": [], "project": project}
    assert {name: shown[base][name] for name in wanted} == wanted
    assert (shown[derived]["bases"], shown[derived]["show_empty"], shown[derived]["description"]) == ([base], True, "")
    assert shown[derived]["number"] == shown[base]["number"] + 1
    assert api.patch(f"Version/{base}", {"name": "renamed"}).status == 200
    one = api.get(f"Version/{base}").json
    assert (one["name"], one["description"], one["show_empty"]) == ("renamed", "d", False)
    said = api.post(f"Versions/{project}", {"name": "x", "bases": [999_999_999]})
    assert said.status == 404, said.body
    assert api.patch(f"Version/{derived}", {"bases": [999_999_999]}).status == 404
    number = here.make(version=derived)
    before = here.numbers()
    assert api.delete(f"Version/{derived}").status == 200
    api.drain()
    assert here.numbers() == [each for each in before if each != number]
    assert api.get(f"{ONE[here.kind]}/{number}").status == 404
    assert api.get(f"Version/{derived}").status == 404
