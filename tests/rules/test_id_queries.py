"""Bodies that choose: ids of every kind, nearest neighbours, and what bulk changes and deletions choose by them."""

from __future__ import annotations

import math

import pytest

from tests.rules.rulebook import ANNOTATIONS, LEAVES, LOCALIZATIONS, MEDIA, RELATED, STATES, rule
from tests.rules.worlds import ANNOTATIONS as ANNOTATION_KINDS
from tests.rules.worlds import COUNT, RELATED_KINDS, World, empty_world, encoded, term

WITH_BODIES = ("media", "localization", "state", "leaf")
UNKNOWN_ID = 999_999_999


def chosen(world: World, kind: str, letters: str) -> list[int]:
    return [world.ids[kind][letter] for letter in letters]


@rule("Id queries", "`ids` chooses by id; repeats and unknown ids do no harm.", takes="ids", of=(*RELATED, LEAVES))
@rule("Id queries", "An empty `ids` chooses nothing of leaves, and does not choose of the others.")
@pytest.mark.parametrize("kind", WITH_BODIES)
def test_ids(world: World, kind):
    ids = world.ids[kind]
    assert world.found(kind, {"ids": [ids["B"], ids["A"], ids["B"], UNKNOWN_ID]}) == "AB"
    assert world.found(kind, {"ids": [UNKNOWN_ID]}) == ""
    assert world.found(kind, {"ids": []}) == ("" if kind == "leaf" else "ABCDE")
    assert world.found(kind, {}) == "ABCDE"
    assert world.found(kind, {"ids": [ids["A"], ids["B"]]}, attribute="n::2") == "B"
    assert world.found(kind, {"ids": [*range(1, 10_000), *chosen(world, kind, "AB")]}, after=ids["A"], stop=1) == "B"
    for wrong in ([0], ["1"], [1.5], 1, [None]):
        world.refuses(kind, {"ids": wrong})


@rule("Id queries", "`ids` and the parameter of the same kind are united; lists of different kinds must all hold.")
def test_lists_of_one_kind_are_united(world: World):
    media, boxes, states = (world.ids[kind] for kind in RELATED_KINDS)
    assert world.found("media", {"ids": [media["A"]]}, media_id=[media["C"]]) == "AC"
    assert world.found("leaf", {"ids": chosen(world, "leaf", "A")}, leaf_id=chosen(world, "leaf", "C")) == "AC"
    for kind in ANNOTATION_KINDS:
        assert world.found(kind, {"media_ids": [media["A"]]}, media_id=[media["C"]]) == "AC"
        assert world.found(kind, {"media_ids": chosen(world, "media", "AB"), "ids": chosen(world, kind, "BC")}) == "B"
        assert world.found(kind, {"media_ids": [], "ids": chosen(world, kind, "BC")}) == "BC"
    assert world.found("media", {"ids": [media["A"]], "state_ids": [states["B"]]}) == "AB"
    assert world.found("media", {"state_ids": [states["B"]]}, media_id=media["C"]) == "BC"
    assert world.found("media", {"ids": chosen(world, "media", "AB"), "localization_ids": [boxes["B"]]}) == "B"
    assert world.found("localization", {"ids": [boxes["A"]], "state_ids": [states["B"]]}) == "AB"
    both = {"state_ids": [states["B"]], "frame_state_ids": chosen(world, "state", "BC")}
    assert world.found("localization", both) == "B"


@rule("Id queries", "`media_ids` chooses annotations of these media.", takes="media_ids", of=ANNOTATIONS)
@rule("Id queries", "`elemental_ids` chooses elements.", takes="elemental_ids", of=ANNOTATIONS)
@pytest.mark.parametrize("kind", ANNOTATION_KINDS)
def test_media_ids_and_elemental_ids(world: World, kind):
    assert world.found(kind, {"media_ids": chosen(world, "media", "AC")}) == "AC"
    assert world.found(kind, {"media_ids": [UNKNOWN_ID]}) == ""
    assert world.found(kind, {"media_ids": chosen(world, "media", "ABCDE")}, after=world.ids[kind]["B"], stop=2) == "CD"
    elements = [world.one(kind, world.ids[kind][letter])["elemental_id"] for letter in "BD"]
    assert world.found(kind, {"elemental_ids": [elements[0], elements[1].upper()]}) == "BD"
    world.refuses(kind, {"elemental_ids": ["none"]})


@rule(
    "Id queries",
    "`state_ids` chooses media of these states, and localizations these tracks contain.",
    takes="state_ids",
    of=(MEDIA, LOCALIZATIONS),
)
@rule(
    "Id queries",
    "`localization_ids` chooses media of these localizations, and tracks that contain any.",
    takes="localization_ids",
    of=(MEDIA, STATES),
)
@rule("Id queries", "Ids that lead to nothing choose nothing.")
def test_ids_of_other_kinds(world: World):
    assert world.found("media", {"state_ids": chosen(world, "state", "AC")}) == "AC"
    assert world.found("media", {"localization_ids": chosen(world, "localization", "AC")}) == "AC"
    assert world.found("localization", {"state_ids": chosen(world, "state", "AC")}) == "AC"
    assert world.found("state", {"localization_ids": chosen(world, "localization", "AC")}) == "AC"
    for kind, member in (
        ("media", "state_ids"),
        ("media", "localization_ids"),
        ("localization", "state_ids"),
        ("localization", "frame_state_ids"),
        ("state", "localization_ids"),
    ):
        assert world.found(kind, {member: [UNKNOWN_ID]}) == "", (kind, member)
        assert world.found(kind, {member: []}) == "ABCDE", (kind, member)


@rule(
    "Id queries",
    "`frame_state_ids` chooses localizations on the media and frames of states that are not deleted.",
    takes="frame_state_ids",
    of=[LOCALIZATIONS],
)
def test_frame_state_ids(world: World):
    assert world.found("localization", {"frame_state_ids": chosen(world, "state", "BE")}) == "BE"
    lonely = world.state([world.ids["media"]["A"]], frame=1)  # A's localization is on frame 0
    assert world.found("localization", {"frame_state_ids": [lonely]}) == ""
    gone = world.state([world.ids["media"]["A"]], frame=0)
    assert world.found("localization", {"frame_state_ids": [gone]}) == "A"
    tombstone = world.api.delete(f"State/{gone}").json["id"]
    assert world.found("localization", {"frame_state_ids": [tombstone]}) == ""
    assert world.api.delete(f"State/{lonely}", {"prune": 1}).status == 200


@rule("Older clients", "A bare array of integers is a list of ids.")
@pytest.mark.parametrize("kind", WITH_BODIES)
def test_a_bare_array_is_ids(world: World, kind):
    assert world.found(kind, chosen(world, kind, "BD")) == "BD"


@rule("Id queries", "A body is required and must be an object; unknown members are refused.")
@pytest.mark.parametrize("kind", WITH_BODIES)
def test_the_body_itself(world: World, kind):
    assert "nowhere" in world.refuses(kind, {"nowhere": [1], "ids": chosen(world, kind, "A")})
    assert world.found(kind, {"ids": None, "object_search": None, "float_array": None}) == "ABCDE"
    path = world.path(kind)
    for raw in (b"", b"{", b'"text"', b"5"):
        assert world.api.ask("PUT", path, raw=raw).status == 400
    for wrong in ({"object_search": 5}, {"object_search": []}, {"float_array": {}}, {"float_array": [5]}):
        world.refuses(kind, wrong)


@rule("Id queries", "A list's count, and the same question as a body, agree with it whatever is asked.")
@pytest.mark.parametrize("kind", WITH_BODIES)
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"attribute_gt": "n::1"},
        {"sort_by": "-n", "stop": 2},
        {"start": 1, "stop": 3},
        {"search": "Foo OR bar"},
        {"encoded_search": encoded(term("s", "icontains", "o"))},
        {"after": 1},
    ],
    ids=str,
)
def test_get_and_put_agree(world: World, kind, asked):
    listed = world.listed(kind, **asked)
    assert world.listed(kind, {}, **asked) == listed
    counts = f"{COUNT[kind]}/{world.project}"
    assert world.api.get(counts, **asked).json == world.api.put(counts, {}, **asked).json == len(listed)


@rule(
    "Bulk",
    "`count` must be what matches: else nothing changes, 400, and the message has both numbers.",
    takes="count",
    of=(MEDIA, *ANNOTATIONS, LEAVES),
)
@rule("Bulk", "Changes and deletions choose by the same parameters and bodies as lists.")
@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
@pytest.mark.parametrize("kind", WITH_BODIES)
def test_a_wrong_count_changes_nothing(world: World, kind, method):
    before = world.listed(kind)
    for body, asked, letters in (
        ({}, {}, "ABCDE"),
        ({"ids": chosen(world, kind, "AB")}, {}, "AB"),
        ({"ids": chosen(world, kind, "AB")}, {"attribute": "n::2"}, "B"),
        ({"object_search": term("n", "gt", 0)}, {"type": world.types[kind]}, "AB"),
        ({}, {"encoded_search": encoded(term("n", "isnull", value=True))}, "CD"),
        ({}, {"search": "Foo"}, "A"),
        ({}, {"attribute_null": "n::true", "after": world.ids[kind]["C"]}, "D"),
    ):
        assert world.found(kind, body, **asked) == letters
        change = {"attributes": {"s": "changed"}} if method == "PATCH" else {}
        said = world.api.ask(method, world.path(kind), {**body, **change}, count=77, **asked)
        assert said.status == 400, said.body
        assert "77" in said.message
        assert str(len(letters)) in said.message
    assert world.listed(kind) == before


VECTORS = {letter: [float(number), 0.0, 0.0] for number, letter in enumerate("abcdefgh", -4)}


@pytest.fixture(scope="module")
def vectors() -> World:
    """Of four kinds eight things, a to h, with vectors from (−4, 0, 0) to (3, 0, 0), and one without, i."""
    world = empty_world()
    world.ids = {kind: {} for kind in WITH_BODIES}
    media = world.media("~")
    for letter in "abcdefghi":
        more = {"attributes": {"v": VECTORS[letter]} if letter in VECTORS else {}}
        world.ids["media"][letter] = world.media(letter, **more)
        world.ids["localization"][letter] = world.box(media, **more)
        world.ids["state"][letter] = world.state([media], **more)
        world.ids["leaf"][letter] = world.made("leaf", {"name": letter, "type": world.types["leaf"], **more})[0]
    assert world.api.delete(f"Media/{world.media('gone')}").status == 200
    world.ids["media"]["~"] = media
    return world


NEAREST = [
    ({"center": [2.1, 0, 0], "lower_bound": 1, "upper_bound": 3}, "fe"),
    ({"center": [2.1, 0, 0], "lower_bound": 1, "upper_bound": 3, "order": "desc"}, "ef"),
    ({"center": [2.1, 0, 0], "upper_bound": 1}, "gh"),
    ({"center": [0, 0, 0], "upper_bound": 1}, "edf"),
    ({"center": [0, 0, 0], "lower_bound": 3, "upper_bound": 4}, "bha"),
    ({"center": [0, 0, 0], "lower_bound": 0, "upper_bound": 1.5, "metric": "l2norm"}, "edf"),
    ({"center": [0, 0, 0], "lower_bound": 3.5}, "a"),
    ({"center": [1, 0, 0], "metric": "cosine", "upper_bound": 0.5}, "fgh"),
    ({"center": [1, 0, 0], "metric": "cosine", "lower_bound": 1.5}, "abcd"),
    ({"center": [1, 0, 0], "metric": "ip", "upper_bound": -1.5}, "hg"),
    ({"center": [1, 0, 0], "metric": "ip", "lower_bound": 2.5}, "ba"),
]


@rule(
    "Id queries",
    "`float_array` orders by the distance of a vector from a center, by metric, within bounds.",
    takes="float_array",
    of=(*RELATED, LEAVES),
)
@pytest.mark.parametrize("kind", WITH_BODIES)
@pytest.mark.parametrize(("asked", "letters"), NEAREST, ids=lambda value: str(value) if isinstance(value, dict) else "")
def test_nearest(vectors: World, kind, asked, letters):
    body = {"float_array": [{"name": "v", **asked}]}
    assert vectors.found(kind, body, type=vectors.types[kind]) == letters
    assert vectors.found(kind, body, type=vectors.types[kind], stop=1) == letters[:1]


@rule("Id queries", "Unbounded, what lacks the vector comes last; ties go by id; other filters narrow it.")
@pytest.mark.parametrize("kind", WITH_BODIES)
def test_unbounded_neighbours(vectors: World, kind):
    body = {"float_array": [{"name": "v", "center": [0.0, 0.0, 0.0]}]}
    asked = {"type": vectors.types[kind]}
    assert vectors.found(kind, body, **asked).replace("~", "") == "edfcgbhai"
    ids = vectors.ids[kind]
    assert vectors.found(kind, {**body, "ids": [ids["a"], ids["h"], ids["i"]]}, **asked) == "hai"
    zero = {"float_array": [{"name": "v", "center": [0.0, 0.0, 0.0], "lower_bound": 0, "upper_bound": 0}]}
    assert vectors.found(kind, zero, **asked).replace("~", "") == "edfcgbhai"


@rule("Id queries", "Without `type`, of another attribute, of another length or metric, it is 400.")
@pytest.mark.parametrize("kind", WITH_BODIES)
def test_wrong_neighbours_are_refused(vectors: World, kind):
    good = {"name": "v", "center": [0.0, 0.0, 0.0]}
    asked = {"type": vectors.types[kind]}
    vectors.refuses(kind, {"float_array": [good]})
    for wrong in (
        {"name": "n"},
        {"name": "nowhere"},
        {"center": [1.0]},
        {"center": []},
        {"center": "x"},
        {"metric": "far"},
        {"order": "up"},
        {"upper_bound": "x"},
        {"center": [math.nan, 0, 0]},
    ):
        vectors.refuses(kind, {"float_array": [good | wrong]}, **asked)
    for missing in ("name", "center"):
        vectors.refuses(kind, {"float_array": [{key: value for key, value in good.items() if key != missing}]}, **asked)


@rule("Bulk", "Changes and deletions by `float_array` keep to its bounds and type.")
@pytest.mark.parametrize("kind", WITH_BODIES)
def test_neighbours_are_changed_and_deleted(vectors: World, kind):
    body = {"float_array": [{"name": "v", "center": [3.0, 0, 0], "upper_bound": 1.5}]}
    asked = {"type": vectors.types[kind], "count": 2}
    path = vectors.path(kind)
    said = vectors.api.patch(path, {**body, "attributes": {"s": "near"}}, **asked)
    assert said.status == 200, said.body
    assert sorted(vectors.found(kind, attribute="s::near")) == ["g", "h"]
    said = vectors.api.delete(path, {**body, **({"prune": 1} if kind in ANNOTATION_KINDS else {})}, **asked)
    assert said.status == 200, said.body
    assert "g" not in vectors.found(kind)
    if kind == "media":  # the annotations of it stay: they lie on another
        assert vectors.found("localization")


@rule("QP", "Vectors cannot be sorted by, only by how far they are.")
def test_vectors_are_not_sorted_by(vectors: World):
    assert "float_array" in vectors.refuses("localization", sort_by="v", type=vectors.types["localization"])


@rule("Bulk", "What the same question lists is what is changed and deleted, `start`, `stop` and order included.")
@pytest.mark.parametrize("kind", WITH_BODIES)
def test_what_is_listed_is_what_is_changed(vectors: World, kind):
    asked = {"type": vectors.types[kind], "sort_by": "-$id", "start": 1, "stop": 3}
    listed = vectors.numbers(kind, **asked)
    said = vectors.api.patch(vectors.path(kind), {"attributes": {"s": "cut"}}, **asked, count=2)
    assert said.status == 200, said.body
    assert sorted(vectors.numbers(kind, attribute="s::cut")) == sorted(listed)
    rest = set(vectors.numbers(kind)) - set(listed)
    said = vectors.api.delete(vectors.path(kind), {}, **asked, count=2)
    assert said.status == 200, said.body
    assert set(vectors.numbers(kind)) == rest
