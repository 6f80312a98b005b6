"""What media, annotations, leaves and files have of their own to be filtered by."""

from __future__ import annotations

import uuid

import pytest

from tests.rules.rulebook import ANNOTATIONS, EVERY, FILES, LEAVES, LOCALIZATIONS, MEDIA, RELATED, STATES, rule
from tests.rules.worlds import ANNOTATIONS as ANNOTATION_KINDS
from tests.rules.worlds import KINDS, RELATED_KINDS, World

UNKNOWN_ID = 999_999_999


@rule(
    "QM, QA, QL, QFile",
    "`type` chooses a type; one that there is not has nothing; of files it is 400.",
    takes="type",
    of=EVERY,
)
@pytest.mark.parametrize("kind", KINDS)
def test_type(world: World, kind):
    assert world.found(kind, type=world.types[kind]) == "ABCD"
    assert world.found(kind, type=world.others[kind]) == "E"
    if kind == "file":
        assert "type" in world.refuses(kind, type=UNKNOWN_ID)
    else:
        assert world.found(kind, type=UNKNOWN_ID) == ""
        assert world.found(kind, type=UNKNOWN_ID, attribute="n::1") == ""
    world.refuses(kind, type="x")


@rule("QM", "`media_id` chooses media by id, repeated or comma-separated.", takes="media_id", of=[MEDIA])
@rule("QA", "`media_id` chooses annotations on any of these media.", takes="media_id", of=ANNOTATIONS)
@pytest.mark.parametrize("kind", RELATED_KINDS)
def test_media_id(world: World, kind):
    media = world.ids["media"]
    assert world.found(kind, media_id=media["B"]) == "B"
    assert world.found(kind, media_id=[media["B"], media["D"], media["D"], UNKNOWN_ID]) == "BD"
    assert world.found(kind, media_id=UNKNOWN_ID) == ""
    said = world.api.get(f"{world.path(kind)}?media_id={media['A']}&media_id={media['C']},{media['E']}")
    assert [each["id"] for each in said.json] == [world.ids[kind][letter] for letter in "ACE"]
    for wrong in ("0", "-1", "x", "1.5", ""):
        world.refuses(kind, media_id=wrong)


@rule("QA", "A state of several media is found by each of them, and once.")
def test_a_state_of_several_media_is_listed_once(world: World):
    media = world.ids["media"]
    number = world.state([media["A"], media["B"]])
    assert number in world.numbers("state", media_id=[media["B"]])
    assert world.numbers("state", media_id=[media["A"], media["B"]]).count(number) == 1
    assert world.api.delete(f"State/{number}", {"prune": 1}).status == 200


@rule("QM", "`name` is the whole name, whatever the case.", takes="name", of=[MEDIA])
@rule("QL, QFile", "`name` is the whole name, exactly.", takes="name", of=(LEAVES, FILES))
@pytest.mark.parametrize("kind", ["media", "leaf", "file"])
def test_name(world: World, kind):
    assert world.found(kind, name="A") == "A"
    assert world.found(kind, name="a") == ("A" if kind == "media" else "")
    assert world.found(kind, name="AB") == ""


@rule("QM", "`dtype` is image, video or multi, and nothing else.", takes="dtype", of=[MEDIA])
def test_dtype(world: World):
    assert world.found("media", dtype="video") == "ABCDE"
    assert world.found("media", dtype="image") == ""
    assert world.found("media", dtype="multi") == ""
    world.refuses("media", dtype="live")
    world.refuses("media", dtype="foo")


@rule("QM", "`md5`, `gid` and `uid` are compared exactly.", takes="md5 gid uid", of=[MEDIA])
def test_upload_marks(world: World):
    group = str(uuid.uuid4())
    made = world.media("uploaded", gid=group, uid="One")
    assert world.found("media", md5="md5B") == "B"
    assert world.found("media", md5="MD5B") == ""
    assert world.numbers("media", gid=group) == [made]
    assert world.numbers("media", uid="One") == [made]
    assert world.numbers("media", uid="one") == []
    assert world.numbers("media", gid=group, uid="Two") == []
    assert world.api.delete(f"Media/{made}").status == 200


@rule(
    "QM, QA, QFile",
    "`elemental_id` is a UUID in any spelling; another value is 400.",
    takes="elemental_id",
    of=(*RELATED, FILES),
)
@pytest.mark.parametrize("kind", [*RELATED_KINDS, "file"])
def test_elemental_id(world: World, kind):
    element = world.one(kind, world.ids[kind]["B"])["elemental_id"]
    assert element == str(uuid.UUID(element))
    assert world.found(kind, elemental_id=element) == "B"
    assert world.found(kind, elemental_id=element.upper()) == "B"
    assert world.found(kind, elemental_id=element.replace("-", "")) == "B"
    assert world.found(kind, elemental_id=str(uuid.uuid4())) == ""
    world.refuses(kind, elemental_id="none")


@rule(
    "QM",
    "`archive_lifecycle` is live unless media are named by id: archived is every other state, all is all.",
    takes="archive_lifecycle",
    of=[MEDIA],
)
def test_archive_lifecycle(world: World):
    number = world.ids["media"]["D"]
    assert world.api.patch(f"Media/{number}", {"archive_state": "to_archive"}).status == 200
    try:
        assert world.found("media") == world.found("media", archive_lifecycle="live") == "ABCE"
        assert world.found("media", archive_lifecycle="archived") == "D"
        assert world.found("media", archive_lifecycle="all") == "ABCDE"
        assert world.found("media", media_id=[number]) == "D"
        assert world.found("media", {"ids": [number]}) == "D"
        assert world.found("media", media_id=[number], archive_lifecycle="live") == ""
        world.refuses("media", archive_lifecycle="dead")
    finally:
        assert world.api.patch(f"Media/{number}", {"archive_state": "to_live"}).status == 200
    assert world.one("media", number)["archive_state"] in ("live", "to_live")


@rule("QA", "`frame` chooses localizations of that frame.", takes="frame", of=[LOCALIZATIONS])
def test_frame(world: World):
    assert world.found("localization", frame=0) == "A"
    assert world.found("localization", frame=3) == "D"
    assert world.found("localization", frame=77) == ""
    world.refuses("localization", frame=-1)
    world.refuses("localization", frame="x")
    assert "frame" in world.refuses("state", frame=3)  # states are not filtered by frame


@rule("QA", "`related_id` finds states that contain any of these localizations.", takes="related_id", of=[STATES])
@rule("QA", "`related_id` finds localizations in any of these states.", takes="related_id", of=[LOCALIZATIONS])
def test_related_id(world: World):
    boxes, states = world.ids["localization"], world.ids["state"]
    assert world.found("state", related_id=[boxes["A"], boxes["C"]]) == "AC"
    assert world.found("localization", related_id=[states["B"], states["D"]]) == "BD"
    assert world.found("localization", related_id=UNKNOWN_ID) == ""
    assert world.found("state", related_id=UNKNOWN_ID) == ""


@rule("QA", "`version` chooses versions, one or several.", takes="version", of=ANNOTATIONS)
@pytest.mark.parametrize("kind", ANNOTATION_KINDS)
def test_version(world: World, kind):
    other = world.new_version(f"for {kind}")
    assert world.found(kind, version=world.version) == "ABCDE"
    assert world.found(kind, version=other) == ""
    assert world.found(kind, version=[world.version, other]) == "ABCDE"
    assert world.found(kind, version=UNKNOWN_ID) == ""
    world.refuses(kind, version="x")


@rule("QL", "`depth` is 0 for a root, 1 for its children.", takes="depth", of=[LEAVES])
@rule("QL", "`leaf_id` chooses leaves by id, repeated or comma-separated.", takes="leaf_id", of=[LEAVES])
@rule("QL", "`ancestor` is a path: the leaf there and all below it.", takes="ancestor", of=[LEAVES])
def test_leaves(world: World):
    root = world.ids["leaf"]["A"]
    child = world.made("leaf", {"name": "child", "type": world.types["leaf"], "parent": root})[0]
    try:
        assert world.numbers("leaf", depth=1) == [child]
        assert world.found("leaf", depth=0) == "ABCDE"
        assert world.found("leaf", leaf_id=[world.ids["leaf"][letter] for letter in "EB"]) == "BE"
        said = world.api.get(f"{world.path('leaf')}?leaf_id={root}&leaf_id={child}")
        assert [each["id"] for each in said.json] == [root, child]
        path = world.one("leaf", root)["path"]
        assert world.numbers("leaf", ancestor=path) == [root, child]
        assert world.numbers("leaf", ancestor=f"{path}.child") == [child]
        assert world.numbers("leaf", ancestor="Nowhere") == []
    finally:
        assert world.api.delete(f"Leaf/{child}").status == 200


@rule("QFile", "`meta` is an older name of `type`.")
def test_the_older_name_of_a_files_type(world: World):
    assert world.found("file", meta=world.others["file"]) == "E"


@rule("QP", "What is not declared is refused by name; what is declared may not be empty.")
@pytest.mark.parametrize("kind", KINDS)
def test_unknown_and_empty_parameters_are_refused(world: World, kind):
    assert "nowhere" in world.refuses(kind, nowhere="x")
    for name in ("type", "attribute", "sort_by", "start"):
        assert name in world.refuses(kind, **{name: ""})


@rule("QP", "All filters hold together.")
@pytest.mark.parametrize("kind", RELATED_KINDS)
def test_filters_of_all_kinds_hold_together(world: World, kind):
    media = world.ids["media"]
    asked = {"media_id": [media["A"], media["B"], media["C"]], "type": world.types[kind], "attribute_null": "n::false"}
    assert world.found(kind, **asked) == "AB"
    assert world.found(kind, **asked, search="Foo") == "A"
    assert world.found(kind, **asked, search="Foo", related_attribute="n::2") == ""


@rule("QP", "Ids of another project match nothing.")
@pytest.mark.parametrize("kind", RELATED_KINDS)
def test_ids_of_another_project_match_nothing(world: World, kind):
    from tests.rules.worlds import empty_world

    other = empty_world([])
    strange = world.ids["media"]["A"]
    assert other.numbers(kind, media_id=[strange]) == []
    assert other.numbers(kind, {"ids": [world.ids[kind]["A"]]}) == []
    assert other.numbers(kind, type=world.types[kind]) == []


@rule("QP", "`force_es` changes nothing, and is 0 or 1.", takes="force_es", of=EVERY)
@rule("Older clients", "`operation=count` answers a list's number.", takes="operation", of=EVERY)
@pytest.mark.parametrize("kind", KINDS)
def test_older_parameters(world: World, kind):
    assert world.found(kind, force_es=1) == world.found(kind, force_es=0) == "ABCDE"
    world.refuses(kind, force_es=2)
    said = world.api.get(world.path(kind), operation="count", attribute_gt="n::1")
    assert (said.status, said.json) == (200, 2)


@rule(
    "Older clients",
    "`media_query` is a media list's parameters as one text, in a parameter or a body.",
    takes="media_query",
    of=ANNOTATIONS,
)
@pytest.mark.parametrize("kind", ANNOTATION_KINDS)
def test_media_query(world: World, kind):
    main = world.types["media"]
    for text, letters in (
        (f"?type={main}&attribute=n::1", "A"),
        (f"type={main}&attribute_gt=n::0", "AB"),
        ("name=c", "C"),
        (f"media_id={world.ids['media']['B']},{world.ids['media']['E']}", "BE"),
        ("search=Foo", "A"),
        ("attribute=s%3A%3AFoo", "A"),
    ):
        assert world.found(kind, media_query=text) == letters, text
        assert world.found(kind, {"media_query": text}) == letters, text
    world.refuses(kind, media_query="type=x")
    for text, named in (
        ("attribute=nowhere::1", "nowhere"),
        ("?nmae=c", "Did you mean 'name'?"),
        ("name=a&name=c", "name"),
        ("type=", "type"),
        ("stop=1", "stop"),
        ("name", "name"),
    ):
        assert named in world.refuses(kind, {"media_query": text}), text
        assert named in world.refuses(kind, media_query=text), text


@rule(
    "Older clients",
    "`exclude_parents` (`excludeParents`) leaves out what is the parent of something listed.",
    takes="exclude_parents",
    of=ANNOTATIONS,
)
@pytest.mark.parametrize("kind", ANNOTATION_KINDS)
def test_exclude_parents(world: World, kind):
    parent, media = world.ids[kind]["A"], world.ids["media"]["A"]
    child = world.box(media, parent=parent) if kind == "localization" else world.state([media], parent=parent)
    for name in ("exclude_parents", "excludeParents"):
        found = world.numbers(kind, **{name: 1})
        assert parent not in found
        assert child in found
    assert parent in world.numbers(kind, exclude_parents=0)
    assert parent in world.numbers(kind, exclude_parents=1, attribute="n::1")  # the child is not listed there
    assert world.api.delete(f"{kind.capitalize()}/{child}", {"prune": 1}).status == 200
