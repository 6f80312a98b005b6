"""Sorting, pages, and the members that are answered."""

from __future__ import annotations

import csv
import gzip
import io
import json

import pytest

from tests.rules.rulebook import ANNOTATIONS, EVERY, FILES, LEAVES, MEDIA, RELATED, rule
from tests.rules.worlds import COUNT, KINDS, MANY, RELATED_KINDS, World

SORTS = [
    ("n", "ABECD"),
    ("-n", "EBACD"),
    ("-n,-$id", "EBADC"),
    ("n,-$id", "ABEDC"),
    ("s", "ABCDE"),
    ("-s", "BACDE"),
    ("b", "BACDE"),
    ("-b", "ABCDE"),
    ("f", "ABCDE"),
    ("t", "ABCDE"),
    ("-t", "BACDE"),
    ("e", "BACDE"),
    ("extra,-$id", "EDCBA"),
    ("$id", "ABCDE"),
    ("-$id", "EDCBA"),
    ("$type,-$id", "DCBAE"),
    ("-$type", "EABCD"),
]
BUILT_IN = {
    "section": RELATED_KINDS,
    "created_datetime": KINDS,
    "created_by": KINDS,
    "modified_datetime": KINDS,
    "modified_by": KINDS,
    "name": ("media", "leaf", "file"),
    "fps": ("media",),
    "deleted": ("media", "leaf", "file"),
    "variant_deleted": ("localization", "state"),
    "archive_state": ("media",),
    "incident": ("media",),
    **dict.fromkeys(("x", "y", "u", "v"), ("localization",)),
    **dict.fromkeys(("width", "height"), ("localization", "media")),
    "id": KINDS,
    "type": KINDS,
    "version": ("localization", "state"),
    "frame": ("localization", "state"),
    "elemental_id": (*RELATED_KINDS, "file"),
    "num_frames": ("media", "state"),
    "length": ("state",),
    "duration": ("state",),
}


@rule(
    "QP",
    "`sort_by` takes attributes and `$` built-ins, `-` descends, later ones break ties, and the id the last.",
    takes="sort_by",
    of=EVERY,
)
@rule("QP", "Entities without a value of the attribute come last.")
@pytest.mark.parametrize(("given", "letters"), SORTS)
def test_sorting(world: World, given, letters):
    for kind in KINDS:
        assert world.found(kind, sort_by=given) == letters, kind


@rule("QP", "An attribute that no type has is 400 in `sort_by`, with its name.")
@pytest.mark.parametrize("given", ["nowhere", "nowhere,-$id", "-$id,-nowhere"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_sort_key_is_refused_by_name(world: World, kind, given):
    said = world.ask(kind, sort_by=given)
    assert said.status == 400
    assert said.message == f'sort_by: no {kind} has the attribute "nowhere".'


@rule("QP", "`sort_by` may be repeated as well as separated by commas.")
@pytest.mark.parametrize("kind", KINDS)
def test_sort_keys_may_be_repeated(world: World, kind):
    one = world.api.get(f"{world.path(kind)}?sort_by=$type&sort_by=-$id").json
    assert [each["id"] for each in one] == [world.ids[kind][letter] for letter in "DCBAE"]


@rule("QP", "Each built-in name sorts the kinds that have it, and is 400 of others.")
@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_sort_names(world: World, name):
    for kind in KINDS:
        if kind in BUILT_IN[name]:
            for sign in ("", "-"):
                assert sorted(world.found(kind, sort_by=f"{sign}${name}")) == list("ABCDE"), kind
        else:
            assert f"${name}" in world.refuses(kind, sort_by=f"${name}"), kind


@rule("QP", "Geometry, times, names and sections sort by their values.")
def test_built_ins_sort_by_their_values(world: World):
    assert world.found("localization", sort_by="-$x") == "EDCBA"
    assert world.found("localization", sort_by="$y") == "EDCBA"
    assert world.found("localization", sort_by="-$frame") == "EDCBA"
    assert world.found("media", sort_by="-$name") == "EDCBA"
    for kind in KINDS:
        assert world.found(kind, sort_by="-$created_datetime") == "EDCBA"
        assert world.found(kind, sort_by="-$modified_datetime", stop=1) == "C"


@rule("QP", "An unknown name with `$` and an empty name are 400.")
@pytest.mark.parametrize("given", ["$nowhere", "-$nowhere", "-", "n,-"])
def test_wrong_sort_names_are_refused(world: World, given):
    for kind in KINDS:
        world.refuses(kind, sort_by=given)


@rule("QP", "Media come by name and then id, everything else by id.")
def test_the_order_unless_sorted(world: World):
    late = world.media("AA")
    twin = world.media("AA")
    names = [each["name"] for each in world.listed("media")]
    numbers = world.numbers("media")
    assert names == ["A", "AA", "AA", "B", "C", "D", "E"]
    assert numbers[1:3] == [late, twin]
    for number in (late, twin):
        assert world.api.delete(f"Media/{number}").status == 200
    for kind in KINDS[1:]:
        assert world.found(kind) == "ABCDE"


@rule(
    "QP",
    "`start` is the first index and `stop` the one after the last, of what was filtered and sorted.",
    takes="start stop",
    of=EVERY,
)
@pytest.mark.parametrize(
    ("asked", "letters"),
    [
        ({"start": 1, "stop": 3}, "BC"),
        ({"start": 3}, "DE"),
        ({"stop": 2}, "AB"),
        ({"start": 0, "stop": 0}, ""),
        ({"start": 5}, ""),
        ({"start": 99, "stop": 100}, ""),
        ({"start": 3, "stop": 2}, ""),
        ({"stop": 99}, "ABCDE"),
        ({"start": 1, "stop": 3, "sort_by": "-$id"}, "DC"),
        ({"start": 1, "attribute_gt": "n::0"}, "BE"),
    ],
    ids=str,
)
def test_slices(world: World, asked, letters):
    for kind in KINDS:
        assert world.found(kind, **asked) == letters, kind


@rule("QP", "Negative or broken indices are 400.")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("asked", [{"start": -1}, {"stop": -1}, {"start": "x"}, {"stop": "1.5"}], ids=str)
def test_wrong_slices_are_refused(world: World, kind, asked):
    world.refuses(kind, **asked)


@rule(
    "QA, QL, QFile",
    "`after` is an id: what has a larger one, `start` and `stop` relative to that.",
    takes="after",
    of=(*ANNOTATIONS, LEAVES, FILES),
)
@pytest.mark.parametrize("kind", KINDS[1:])
def test_after(world: World, kind):
    ids = world.ids[kind]
    assert world.found(kind, after=ids["B"]) == "CDE"
    assert world.found(kind, after=ids["E"]) == ""
    assert world.found(kind, after=ids["A"], start=0, stop=2) == "BC"
    assert world.found(kind, after=ids["A"], start=1, stop=2) == "C"
    assert world.found(kind, after=ids["A"], attribute_gt="n::1") == "BE"
    world.refuses(kind, after="x")


@rule(
    "QM",
    "`after` and `after_id` are a media's id: what comes behind it by name and id; `after` may be a name.",
    takes="after",
    of=[MEDIA],
)
@rule("QM", "`after_name` is a name: media with a larger one.", takes="after_name", of=[MEDIA])
def test_after_a_media(world: World):
    ids = world.ids["media"]
    early = world.media("Ab")  # the largest id, behind A
    try:
        numbers = world.numbers("media")
        assert numbers == [ids["A"], early, *(ids[letter] for letter in "BCDE")]
        for name in ("after", "after_id"):
            for place, number in enumerate(numbers):
                assert world.numbers("media", **{name: number}) == numbers[place + 1 :]
                assert world.numbers("media", **{name: number}, start=0, stop=2) == numbers[place + 1 : place + 3]
        assert world.numbers("media", after="B") == numbers[3:]
        assert world.numbers("media", after_name="B") == numbers[3:]
        assert world.numbers("media", after_name="Aa") == numbers[1:]
    finally:
        assert world.api.delete(f"Media/{early}").status == 200


@rule("QP", "Pages by `after`, `start` and `stop` until a short one walk everything once.")
@pytest.mark.parametrize("kind", KINDS)
def test_pages_walk_everything_once(world: World, kind):
    for size in (1, 2, 5):
        walked, last = [], None
        while page := world.listed(kind, after=last, start=0, stop=size):
            walked += [each["id"] for each in page]
            last = walked[-1]
        assert walked == world.numbers(kind)


@rule(
    "Output",
    "`fields` answers these members only; a dotted name a part, null where it is missing.",
    takes="fields",
    of=RELATED,
)
@rule("Output", "States keep their media and localizations; a member that there is not is 400.")
@pytest.mark.parametrize("kind", RELATED_KINDS)
def test_fields(world: World, kind):
    always = {"media", "localizations"} if kind == "state" else set()
    for body in (None, {}):
        first, *_, last = world.listed(kind, body, fields="id,attributes.n")
        assert first.keys() == last.keys() == {"id", "attributes"} | always
        assert first["attributes"] == {"n": 1}
        assert last["attributes"] == {"n": 5}
        missing = world.listed(kind, body, fields="attributes.extra,type")[0]
        assert missing["attributes"] == {"extra": None}
    said = world.ask(kind, fields="id,nowhere")
    assert (said.status, "nowhere" in said.message) == (400, True)


@rule("Output", "`format` is json, jsonl (a line each) or csv (attributes as columns); another is an error.")
@pytest.mark.parametrize("kind", KINDS)
def test_formats(world: World, kind):
    rows = world.listed(kind)
    lines = world.ask(kind, format="jsonl").body.decode().splitlines()
    assert [json.loads(line) for line in lines] == rows
    table = list(csv.DictReader(io.StringIO(world.ask(kind, format="csv").body.decode())))
    assert [row["id"] for row in table] == [str(row["id"]) for row in rows]
    assert [row["n"] for row in table] == ["1", "2", "", "", "5"]
    assert [row["s"] for row in table] == ["Foo", "bar", "", "", ""]
    assert [row["extra"] for row in table] == ["", "", "", "", "x"]
    assert "attributes" not in table[0]
    assert world.ask(kind, format="json").json == rows
    assert world.ask(kind, format="xml").status in (400, 404)


@rule("Clients", "A GET with a body is the PUT of the same path: so the newest client asks for lines by ids.")
@pytest.mark.parametrize("kind", KINDS[:4])
def test_lines_are_asked_for_by_get_with_a_body(world: World, kind):
    body = {"ids": [world.ids[kind]["B"], world.ids[kind]["D"]]}
    said = world.api.ask("GET", world.path(kind), body, format="jsonl")
    assert said.status == 200, said.body
    assert [json.loads(line)["id"] for line in said.body.splitlines()] == body["ids"]
    assert world.api.ask("GET", f"{COUNT[kind]}/{world.project}", body).json == 2
    assert world.api.ask("GET", world.path(kind), {"ids": "x"}, format="jsonl").status == 400


@rule("Output", "Lists are JSON even to who accepts anything, and compressed for who can read that.")
@pytest.mark.parametrize("kind", RELATED_KINDS)
def test_lists_are_json_and_compressed(world: World, kind):
    said = world.ask(kind)
    assert said.headers["Content-Type"].startswith("application/json")
    headers, world.api.headers = world.api.headers, {"Accept-Encoding": "gzip"}
    try:
        zipped = world.api.get(f"{MANY[kind]}/{world.project}")
    finally:
        world.api.headers = headers
    body = gzip.decompress(zipped.body) if zipped.headers.get("Content-Encoding") == "gzip" else zipped.body
    assert json.loads(body) == said.json
