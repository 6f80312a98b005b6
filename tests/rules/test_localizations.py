"""Localizations: what creates, changes and deletes them, one by one and in bulk."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.rules.rulebook import ANNOTATIONS, LOCALIZATIONS, rule
from tests.rules.worlds import World, empty_world
from tests.service import join, new_user

UNKNOWN_ID = 999_999_999
GEOMETRY = ("x", "y", "width", "height", "u", "v", "points")
BOUNDS = {
    **dict.fromkeys(("x", "y", "width", "height"), ([0, 0.0, 1, 0.5], [-0.01, 1.01, "0.5", True])),
    **dict.fromkeys(("u", "v"), ([-1, 0, 1, -0.5], [-1.01, 1.01, "0", []])),
    "points": ([[], [[0, 0]], [[0.5, 1], [1, 0.25]]], [[[0, 1.1]], [[-0.1, 0]], [[0]], [[0, 0, 0]], "x", [0, 1]]),
}
OF_DTYPE = {
    "box": {"x": 0.5, "y": 0.25, "width": 0, "height": 0.125},
    "line": {"x": 0, "y": 0.25, "u": -0.5, "v": 0},
    "dot": {"x": 0, "y": 1},
    "poly": {"points": [[0, 0], [1, 0], [1, 1]]},
}


@pytest.fixture(scope="module")
def world() -> World:
    made = empty_world()
    made.ids["media"] = {"A": made.media("A")}
    for dtype in ("line", "dot", "poly"):
        spec = {"name": dtype, "dtype": dtype, "media_types": [made.types["media"]]}
        made.types[dtype] = made.api.made(f"LocalizationTypes/{made.project}", spec)
    made.types["box"] = made.types["localization"]
    return made


def spec(world: World, **more: Any) -> dict[str, Any]:
    return {"media_id": world.ids["media"]["A"], "type": world.types["localization"], "frame": 0, **more}


def create(world: World, **more: Any) -> int:
    return world.made("localization", spec(world, **more))[0]


def patch(world: World, number: int, **body: Any) -> Any:
    said = world.api.patch(f"Localization/{number}", body)
    assert said.status == 200, said.body
    return said.json["object"]


@rule("Localizations", "One made is shown with all its members; the type also as `meta`, the maker also as `user`.")
def test_what_is_shown(world: World):
    number = create(world, x=0.1, y=0, width=0.2, height=0.3, frame=12)
    one = world.one("localization", number)
    assert one["id"] == number
    wanted = {
        "project": world.project,
        "type": world.types["box"],
        "meta": world.types["box"],
        "media": world.ids["media"]["A"],
        "frame": 12,
        "version": world.version,
        "user": world.api.user.id,
        "created_by": world.api.user.id,
        "modified_by": world.api.user.id,
        "x": 0.1,
        "y": 0,
        "width": 0.2,
        "height": 0.3,
        "u": None,
        "v": None,
        "points": None,
        "parent": None,
        "attributes": {},
        "mark": 0,
        "variant_deleted": False,
        "effective_permission": 0,
    }
    assert {name: one[name] for name in wanted} == wanted
    assert one["created_datetime"].endswith("Z")
    assert len(one["created_datetime"]) == len("2025-06-06T12:34:56.789Z")
    assert str(uuid.UUID(one["elemental_id"])) == one["elemental_id"]
    assert world.listed("localization", {"ids": [number]})[0] == one


@rule("Localizations", "`id` of the answer is a list in the order given, even for one alone.")
@rule("Localizations", "At most 500 at once, at least one: all or none.")
def test_lists_of_specs(world: World):
    assert isinstance(world.made("localization", spec(world)), list)
    numbers = world.made("localization", [spec(world, frame=frame) for frame in (7, 3, 5)])
    assert [world.one("localization", number)["frame"] for number in numbers] == [7, 3, 5]
    before = world.numbers("localization")
    for wrong in (
        [],
        [spec(world)] * 501,
        [spec(world), spec(world, frame=-1)],
        [spec(world), spec(world, type=77777)],
    ):
        assert world.api.post(world.path("localization"), wrong).status == 400
    assert world.numbers("localization") == before
    assert len(world.made("localization", [spec(world)] * 500)) == 500


@rule(
    "Localizations",
    "`media_id`, `type` and `frame` are needed, whole numbers, and of this project.",
    takes="media_id type frame",
    of=[LOCALIZATIONS],
)
@pytest.mark.parametrize(
    "wrong",
    [
        *({name: None} for name in ("media_id", "type", "frame")),
        *({"frame": value} for value in (-1, 1.0, 1.5, "3", [1])),
        *({"type": value} for value in (UNKNOWN_ID, 0, "x", 1.0)),
        *({"media_id": value} for value in (UNKNOWN_ID, 0, "x")),
        {"version": UNKNOWN_ID},
        {"elemental_id": "none"},
        {"elemental_id": 5},
    ],
    ids=str,
)
def test_wrong_specs_are_refused(world: World, wrong):
    given = spec(world, **wrong)
    said = world.api.post(world.path("localization"), given)
    assert said.status == 400, said.body
    missing = {name: value for name, value in given.items() if value is not None}
    assert world.api.post(world.path("localization"), missing).status == 400


@rule(
    "Localizations",
    "A `frame` at or beyond the media's `num_frames` is 400 once that is above 0, also of a state and in a change; "
    "an image that has its file has frame 0 alone; x + width and y + height may be above 1.",
    takes="frame x y width height",
    of=[LOCALIZATIONS],
)
def test_what_is_beyond_the_media(world: World):
    media = world.media("short.mp4")
    early = world.made("localization", spec(world, media_id=media, frame=9999))[0]
    assert world.api.patch(f"Media/{media}", {"num_frames": 250, "fps": 25.0}).status == 200
    number = world.made("localization", spec(world, media_id=media, frame=249, x=0.5, width=0.59))[0]
    state = {"type": world.types["state"], "media_ids": [media]}
    described = world.made("state", {**state, "frame": 249})[0]
    for said in (
        world.api.post(world.path("localization"), [spec(world), spec(world, media_id=media, frame=250)]),
        world.api.post(world.path("state"), {**state, "frame": 9999}),
        world.api.patch(f"Localization/{number}", {"frame": 250}),
        world.api.patch(f"State/{described}", {"frame": 250}),
    ):
        assert said.status == 400, said.body
        assert "the media has frames 0 to 249" in said.message
    image = world.media("still.png")
    world.made("localization", spec(world, media_id=image, frame=7))
    file = {"path": "https://media.example.org/i.png", "resolution": [30, 40], "reference_only": 1}
    assert world.api.post(f"ImageFiles/{image}", file, role="image").status == 201
    world.made("localization", spec(world, media_id=image, frame=0))
    refused = world.api.post(world.path("localization"), spec(world, media_id=image, frame=1))
    assert refused.status == 400
    assert "frame 0 alone" in refused.message
    longer = world.media("long.mp4", num_frames=300, fps=25.0)
    world.made("state", {**state, "media_ids": [media, longer], "frame": 299})
    assert patch(world, early, frame=9999, x=0.25)["frame"] == 9999, "what is stored may be sent back"


@rule("Localizations", "Media, types and versions of another project are 400.")
def test_things_of_another_project_are_refused(world: World):
    other = empty_world([])
    strange = other.media("x")
    assert (
        f"it has {world.types['box']} "
        in world.api.post(world.path("localization"), spec(world, type=UNKNOWN_ID)).message
    )
    for wrong in (
        {"media_id": strange},
        {"type": other.types["localization"]},
        {"version": other.version},
        {"type": world.types["state"] + 5000},
    ):
        assert world.api.post(world.path("localization"), spec(world, **wrong)).status == 400, wrong
    said = world.api.post(world.path("localization"), spec(world, parent=UNKNOWN_ID))
    assert said.status == 404, said.body


@rule(
    "Localizations",
    "Geometry is relative: from 0 to 1, vectors from −1 to 1; null is not drawn yet.",
    takes=" ".join(GEOMETRY),
    of=[LOCALIZATIONS],
)
@pytest.mark.parametrize("name", BOUNDS)
def test_geometry_is_bounded(world: World, name):
    good, wrong = BOUNDS[name]
    dtype = {"u": "line", "v": "line", "points": "poly"}.get(name, "box")
    for value in good:
        number = create(world, type=world.types[dtype], **{name: value})
        assert world.one("localization", number)[name] == value
        number = create(world, type=world.types[dtype])
        assert patch(world, number, **{name: value})[name] == value
    assert world.one("localization", create(world, **{name: None}))[name] is None
    for value in wrong:
        assert world.api.post(world.path("localization"), spec(world, **{name: value})).status == 400, value
        assert world.api.patch(f"Localization/{number}", {name: value}).status == 400, value


@rule("Localizations", "Creation keeps any geometry whatever the shape; a change of what the shape lacks is refused.")
@rule("Localizations", "0 and [] are values of geometry like any other.")
@pytest.mark.parametrize("dtype", OF_DTYPE)
def test_geometry_by_shape(world: World, dtype):
    whole = {"x": 0.5, "y": 0.5, "width": 0.5, "height": 0.5, "u": 0.5, "v": 0.5, "points": [[0.5, 0.5]]}
    number = create(world, type=world.types[dtype], **whole)
    assert {name: world.one("localization", number)[name] for name in whole} == whole
    zero = {"x": 0, "y": 0, "width": 0, "height": 0, "u": 0, "v": 0, "points": []}
    after = patch(world, number, **{name: zero[name] for name in OF_DTYPE[dtype]})
    for name in whole:
        assert after[name] == (zero if name in OF_DTYPE[dtype] else whole)[name], name
        said = world.api.patch(f"Localization/{number}", {name: zero[name]})
        assert said.status == (200 if name in OF_DTYPE[dtype] else 400), said.body
    assert patch(world, number, **OF_DTYPE[dtype]) == world.one("localization", number)


@rule("Localizations", "A deletion names what was addressed; `id` is that of its tombstone.")
def test_a_deletion_names_what_was_addressed(world: World):
    number = create(world)
    said = world.api.delete(f"Localization/{number}")
    assert (said.message, said.json["id"] > number) == (f"Localization {number} successfully deleted!", True)


@rule(
    "Localizations",
    "With `interpolate`, what tracks have between their localizations is answered too, marked and without ids.",
    takes="interpolate",
    of=[LOCALIZATIONS],
)
def test_lists_may_have_what_is_between_the_localizations_of_tracks(world: World):
    media = world.media("with a track")
    members = world.made("localization", [spec(world, media_id=media, frame=frame, x=0.5, y=0) for frame in (0, 2)])
    type_ = {"name": "track", "association": "Localization", "media_types": [world.types["media"]]}
    track = world.api.made(f"StateTypes/{world.project}", type_)
    world.api.made(f"States/{world.project}", {"type": track, "media_ids": [media], "localization_ids": members})
    found = world.api.get(f"Localizations/{world.project}", media_id=media, interpolate="true").json
    assert [(row["frame"], row["id"], row.get("interpolated")) for row in found] == [
        (0, members[0], None),
        (1, None, True),
        (2, members[1], None),
    ]


@rule("Localizations", "Neither the end of a box nor a frame is checked against the media.")
def test_what_is_not_checked(world: World):
    number = create(world, x=0.9, y=0.9, width=1, height=1, frame=1_000_000)
    assert world.one("localization", number)["frame"] == 1_000_000


@rule(
    "Localizations",
    "Without `version` it goes to the member's default one, or to the one with the least number.",
    takes="version",
    of=ANNOTATIONS,
)
def test_the_version_of_a_new_one(world: World):
    assert world.one("localization", create(world))["version"] == world.version
    layer = world.new_version("default of a member")
    editor = new_user()
    join(editor, world.project, "Can Edit")
    memberships = world.api.get(f"Memberships/{world.project}").json
    [mine] = [each["id"] for each in memberships if each["user"] == editor.user.id]
    assert world.api.patch(f"Membership/{mine}", {"default_version": layer}).status == 200
    for path, body in (
        ("localization", spec(world)),
        ("state", {"type": world.types["state"], "media_ids": [world.ids["media"]["A"]]}),
    ):
        [number] = editor.made(world.path(path), body)
        assert world.one(path, number)["version"] == layer
        [number] = editor.made(world.path(path), {**body, "version": world.version})
        assert world.one(path, number)["version"] == world.version


@rule(
    "Localizations",
    "An unknown member is refused by name; `mark` and `project` change nothing; attributes may stand at base level.",
    takes="mark",
    of=ANNOTATIONS,
)
def test_members_that_are_refused_and_that_change_nothing(world: World):
    for wrong, meant in (({"widht": 0.5}, "width"), ({"attributes": {"nn": 1}}, "n")):
        said = world.api.post(world.path("localization"), spec(world) | wrong)
        assert (said.status, f"Did you mean {meant!r}?" in said.body.decode()) == (400, True), said.body
    number = create(world, mark=7, project=55, n=3, s="base", attributes={"s": "inner"})
    one = world.one("localization", number)
    assert (one["mark"], one["project"], one["attributes"]) == (0, world.project, {"n": 3, "s": "inner"})


@rule(
    "Localizations",
    "A change is of what it names, of the geometry of its type; media, type and mark stay.",
    takes="parent",
    of=ANNOTATIONS,
)
def test_what_a_change_leaves_alone(world: World):
    parent = create(world)
    number = create(world, x=0.5, parent=parent, attributes={"n": 1})
    before = world.one("localization", number)
    assert before["parent"] == parent
    for wrong in ("media_id", "type", "nowhere"):
        said = world.api.patch(f"Localization/{number}", {wrong: 987_654})
        assert (said.status, wrong in said.body.decode()) == (400, True)
    for wrong, dtype in ({"mark": 5}, "mark"), ({"points": [[0.1, 0.1]]}, "a box has"), ({"u": 0.1}, "a box has"):
        said = world.api.patch(f"Localization/{number}", {"x": 0.9, **wrong})
        assert (said.status, dtype in said.message) == (400, True)
    after = patch(world, number, mark=0, frame=0)
    changing = ("modified_datetime",)
    assert {k: v for k, v in after.items() if k not in changing} == {
        k: v for k, v in before.items() if k not in changing
    }
    assert patch(world, number, frame=9)["frame"] == 9
    assert world.api.patch(f"Localization/{number}", {"frame": -1}).status == 400


@rule(
    "Localizations",
    "`user_elemental_id` names another author; that needs Full Control, and a user who is there.",
    takes="user_elemental_id",
    of=ANNOTATIONS,
)
def test_authors(world: World):
    author, editor = new_user(), new_user()
    join(editor, world.project, "Can Transfer")
    element = author.user.elemental_id
    number = create(world, user_elemental_id=element)
    assert world.one("localization", number)["user"] == author.user.id
    mine = create(world)
    assert patch(world, mine, user_elemental_id=element)["created_by"] == author.user.id
    assert world.one("localization", mine)["modified_by"] == world.api.user.id
    for said in (
        editor.post(world.path("localization"), spec(world, user_elemental_id=element)),
        editor.patch(f"Localization/{mine}", {"user_elemental_id": element}),
        editor.patch(world.path("localization"), {"ids": [mine], "user_elemental_id": element}),
    ):
        assert said.status == 403, said.body
    for said in (
        world.api.post(world.path("localization"), spec(world, user_elemental_id=str(uuid.uuid4()))),
        world.api.patch(f"Localization/{mine}", {"user_elemental_id": str(uuid.uuid4())}),
    ):
        assert said.status == 404, said.body
    several = [create(world) for _ in range(2)]
    said = world.api.patch(world.path("localization"), {"ids": several, "user_elemental_id": element})
    assert said.status == 200, said.body
    assert {world.one("localization", each)["user"] for each in several} == {author.user.id}


@rule("Localizations", "What is not there, or gone, is 404; an unknown version in a change too.")
def test_what_is_not_there(world: World):
    number = create(world)
    assert world.api.patch(f"Localization/{number}", {"version": UNKNOWN_ID}).status == 404
    assert world.api.delete(f"Localization/{number}", {"prune": 1}).status == 200
    for gone in (number, UNKNOWN_ID):
        for said in (
            world.api.get(f"Localization/{gone}"),
            world.api.patch(f"Localization/{gone}", {"x": 0}),
            world.api.delete(f"Localization/{gone}"),
        ):
            assert said.status == 404, said.body


@rule("Localizations", "Deleting a media takes its localizations from every list and count at once.")
def test_deleting_a_media(world: World):
    media = world.media("doomed")
    numbers = [world.box(media) for _ in range(3)]
    state = world.state([media, world.ids["media"]["A"]], localization_ids=numbers)
    lonely = world.state([media])
    assert world.numbers("localization", media_id=media) == numbers
    assert world.api.delete(f"Media/{media}").status == 200
    assert world.numbers("localization", media_id=media) == []
    assert not set(numbers) & set(world.numbers("localization"))
    found = world.numbers("state")
    assert state in found
    assert lonely not in found
