"""MaxN, MeanCount, accumulation and time at depth over HTTP."""

import csv
import io

import pytest

from chalicelib.core.time import deadline
from chalicelib.core.values import sightings
from chalicelib.resources.statistics import counting
from tests import objects
from tests.resources.annotations.boxes import settle
from tests.service import new_user

SEEN = {"a.mp4": [("cod", 0), ("cod", 0), ("cod", 50), ("ling", 25)], "b.mp4": [("cod", 10)], "c.mp4": []}


@pytest.fixture
def here(api, project):
    found = settle(api, project)
    found.numbers = {"a.mp4": found.media}
    for name, seen in SEEN.items():
        if name not in found.numbers:
            body = {"type": found.media_type, "name": name, "md5": ""}
            found.numbers[name] = api.made(f"Medias/{project}", body)
        number = found.numbers[name]
        assert api.patch(f"Media/{number}", {"num_frames": 100, "fps": 25}).status == 200
        boxes = [
            found.spec(media_id=number, frame=frame, x=0.1, y=0.1, width=0.1, height=0.1, attributes={"text": label})
            for label, frame in seen
        ]
        if boxes:
            api.made(found.many, boxes)
    return found


def ask(here, path, **query):
    said = here.api.get(f"{path}/{here.project}", **query)
    assert said.status == 200, said.body
    return said.json


def test_sightings_of_each_label_on_each_media(here):
    rows = ask(here, "Sightings", label="text", every=50)
    assert [(row["name"], row["label"]) for row in rows] == [("a.mp4", "cod"), ("a.mp4", "ling"), ("b.mp4", "cod")]
    cod = rows[0]
    assert (cod["count"], cod["frames"], cod["maxn"], cod["maxn_frame"], cod["maxn_time"]) == (3, 2, 2, 0, 0.0)
    assert (cod["first_time"], cod["last_frame"], cod["last_time"]) == (0.0, 50, 2.0)
    assert cod["mean_count"] == pytest.approx(3 / 2)
    assert rows[1]["mean_count"] == 0
    assert [row["media"] for row in ask(here, "Sightings", label="text", attribute="text::ling")] == [here.media]
    assert ask(here, "Sightings", label="text", media_query="name=b.mp4")[0]["maxn_time"] == 0.4


def test_sightings_by_dive_are_over_all_media_of_the_dive(here):
    addition = {"entity_type": "MediaType", "addition": {"name": "Dive", "dtype": "string"}}
    assert here.api.post(f"AttributeType/{here.media_type}", addition).status == 201
    refused = here.api.get(f"Sightings/{here.project}", label="text", unit="Dive")
    assert (refused.status, "unit: none of the 2 media" in refused.message) == (400, True)
    for name, dive in (("a.mp4", "1"), ("b.mp4", "2"), ("c.mp4", "1")):
        here.api.patch(f"Media/{here.numbers[name]}", {"attributes": {"Dive": dive}})
    rows = ask(here, "Sightings", label="text", unit="Dive", every=50, media_query="dtype=video")
    assert [(row["unit"], row["label"], row["maxn"], row["name"]) for row in rows] == [
        ("1", "cod", 2, "a.mp4"),
        ("1", "ling", 1, "a.mp4"),
        ("2", "cod", 1, "b.mp4"),
    ]
    # frames 0 and 50 of both media of dive 1 are sampled
    assert rows[0]["mean_count"] == pytest.approx(3 / 4)
    assert (rows[0]["count"], rows[0]["frames"], rows[0]["last_time"]) == (3, 2, 2.0)


def test_media_without_a_label_are_not_looked_at_again_for_each(here, monkeypatch):
    addition = {"entity_type": "MediaType", "addition": {"name": "Dive", "dtype": "string", "default": "1"}}
    assert here.api.post(f"AttributeType/{here.media_type}", addition).status == 201
    asked, count = [], sightings.sampled_frames
    monkeypatch.setattr(sightings, "sampled_frames", lambda *given: asked.append(given) or count(*given))
    rows = ask(here, "Sightings", label="text", unit="Dive", every=50, media_query="dtype=video")
    pairs = sum(len({label for label, _ in seen}) for seen in SEEN.values())
    assert (len(rows), len(asked)) == (2, len(SEEN) + 2 * pairs)
    assert rows[0]["mean_count"] == pytest.approx(3 / 6)


@pytest.mark.parametrize("path", ["Sightings", "SpeciesAccumulation"])
def test_counts_end_with_the_time_of_their_request(here, monkeypatch, path):
    def check_late():
        with deadline.time_limit(-1):
            deadline.check_query()

    monkeypatch.setattr(counting, "check_query", check_late)
    said = here.api.get(f"{path}/{here.project}", label="text")
    assert (said.status, "did not finish" in said.message) == (503, True)


def test_csv_has_the_same_columns(here):
    said = here.api.get(f"Sightings/{here.project}", label="text", format="csv")
    rows = list(csv.DictReader(io.StringIO(said.body.decode())))
    assert [(row["label"], row["maxn"]) for row in rows] == [("cod", "2"), ("ling", "1"), ("cod", "1")]


def test_samples_without_a_sighting_count_where_they_are_named(here):
    rows = ask(here, "SpeciesAccumulation", label="text")
    assert [row["labels"] for row in rows] == pytest.approx([1.5, 2.0])
    assert [row.get("chao2") for row in rows] == [None, pytest.approx(2.0)]
    rows = ask(here, "SpeciesAccumulation", label="text", media_query="dtype=video")
    assert [row["labels"] for row in rows] == pytest.approx([1.0, 5 / 3, 2.0])


def test_time_at_depth_is_that_of_the_logger(here):
    info = here.api.get(f"UploadInfo/{here.project}", media_id=here.media, filename="ctd.csv").json
    objects.write(info["key"], b"time,depth\n0,3\n10,12\n30,14\n31,2\n")
    file = {"path": info["key"], "name": "ctd.csv", "mime": "text/csv"}
    assert here.api.post(f"AuxiliaryFiles/{here.media}", file, role="attachment").status in (200, 201)
    rows = ask(here, "TimeAtDepth", file="ctd.csv", column="depth")
    assert rows == [{"depth": 0.0, "seconds": 10.0, "media": 1}, {"depth": 10.0, "seconds": 21.0, "media": 1}]
    for wrong in ({"file": "x.csv", "column": "depth"}, {"file": "ctd.csv", "column": "depht"}):
        assert here.api.get(f"TimeAtDepth/{here.project}", **wrong).status == 400


@pytest.mark.parametrize(
    ("path", "query", "words"),
    [
        ("Sightings", {"label": "txt"}, "label"),
        ("Sightings", {}, "label"),
        ("Sightings", {"label": "text", "every": 0}, "every"),
        ("SpeciesAccumulation", {"label": "text", "unit": "Dive"}, "unit"),
        ("SpeciesAccumulation", {"label": "text", "media_query": "nme=1"}, "nme"),
    ],
)
def test_what_is_wrong_is_named(here, path, query, words):
    said = here.api.get(f"{path}/{here.project}", **query)
    assert said.status == 400
    assert words in said.message + said.json["details"]


def test_others_see_nothing(here):
    stranger = new_user()
    assert stranger.get(f"Sightings/{here.project}", label="text").status in (403, 404)
