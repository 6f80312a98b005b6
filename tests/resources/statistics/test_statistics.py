"""Statistics over HTTP: groups, measures, MaxN, facets; as JSON, CSV and plots; of what the caller may see."""

from __future__ import annotations

import csv
import io
from xml.etree import ElementTree as ET

import pytest

from tests.resources.annotations.boxes import Here, settle

LABELS = [
    ("cod", 0, {"size": 1.0}),
    ("cod", 0, {"size": 2.5}),
    ("cod", 9, {"size": 12.0}),
    ("=1+1", 9, {"size": 12.5}),
    ("ling", 30, {}),
]


@pytest.fixture
def here(api, project) -> Here:
    found = settle(api, project)
    boxes = [
        found.spec(frame=frame, x=0.1, y=0.2, attributes={"text": text, **size, "place": [8.25, 48.75]})
        for text, frame, size in LABELS
    ]
    api.made(found.many, boxes)
    return found


def ask(here: Here, **query):
    said = here.api.get(f"Statistics/{here.project}", **query)
    assert said.status == 200, said.json
    return said.json


def refused(here: Here, **query) -> str:
    said = here.api.get(f"Statistics/{here.project}", **query)
    assert said.status == 400, said.body
    return said.json["message"] + said.json["details"]


def test_without_groups_everything_that_matches_is_one_row(here):
    assert ask(here) == {"kind": "localization", "matched": 5, "groups": 1, "rows": [{"count": 5}]}
    assert ask(here, attribute="text::cod")["rows"] == [{"count": 3}]
    assert ask(here, kind="media", measure="count,sum::$total_size")["rows"][0]["count"] == 1


def test_groups_have_bins_measures_order_and_a_limit(here):
    found = ask(here, group_by="size::10", measure="count,mean::size,distinct::text,quantile::size::1")
    assert found["rows"] == [
        {"size::10": 0, "count": 2, "mean::size": 1.75, "distinct::text": 1, "quantile::size::1": 2.5},
        {"size::10": 10, "count": 2, "mean::size": 12.25, "distinct::text": 2, "quantile::size::1": 12.5},
        {"size::10": None, "count": 1, "mean::size": None, "distinct::text": 1, "quantile::size::1": None},
    ]
    first = ask(here, group_by="text", order_by="-count", limit=1)
    assert (first["groups"], first["rows"]) == (3, [{"text": "cod", "count": 3}])
    assert ask(here, group_by="place::0.5")["rows"] == [{"place::0.5": [8.0, 48.5], "count": 5}]
    (day,) = ask(here, group_by="$created_datetime::day")["rows"]
    assert len(day["$created_datetime::day"]) == len("2026-01-02")
    assert ask(here, group_by="$media.$name")["rows"] == [{"$media.$name": "a.mp4", "count": 5}]


def test_maxn_is_the_most_annotations_of_a_label_on_one_frame_and_its_first_frame(here):
    here.make(frame=40, attributes={"text": "ling"})
    rows = ask(here, group_by="$media,text", measure="maxn,min::$frame")["rows"]
    assert {row["text"]: (row["maxn"], row["maxn::$frame"], row["min::$frame"]) for row in rows} == {
        "=1+1": (1, 9, 9),
        "cod": (2, 0, 0),
        "ling": (1, 30, 30),
    }
    assert {row["maxn::$media"] for row in rows} == {here.media}
    said = here.api.get(f"Statistics/{here.project}", group_by="text", measure="maxn", format="csv")
    name = here.api.get(f"Media/{here.media}").json["name"]
    assert {line["maxn::$media"] for line in csv.DictReader(io.StringIO(said.body.decode()))} == {name}


def test_what_only_begins_a_gap_of_a_track_is_listed_and_is_no_annotation(here):
    spec = {"name": "outline", "dtype": "poly", "media_types": [here.media_type]}
    outline = here.api.made(f"LocalizationTypes/{here.project}", spec)
    gap = here.make(frame=0, attributes={"text": "cod"})
    corners = here.make(type=outline, frame=3, points=[[0.1, 0.1], [0.4, 0.1], [0.4, 0.4]])
    other = here.make(type=outline, frame=9)
    assert (here.count(), ask(here)["matched"]) == (8, 8)
    track = here.api.made(
        f"StateTypes/{here.project}", {"name": "track", "association": "Localization", "media_types": [here.media_type]}
    )
    here.api.made(
        f"States/{here.project}", {"type": track, "media_ids": [here.media], "localization_ids": [gap, other]}
    )
    assert (here.count(), ask(here)["matched"]) == (8, 6)
    rows = ask(here, attribute="text::cod", group_by="text", measure="count,maxn")["rows"]
    assert [(row["count"], row["maxn"]) for row in rows] == [(3, 2)]
    said = here.api.get(f"Sightings/{here.project}", label="text", attribute="text::cod").json
    assert [(row["count"], row["maxn"]) for row in said] == [(3, 2)]
    assert [row["id"] for row in here.listed(search="_exists_:_points")] == [corners]
    assert [row["id"] for row in here.listed(attribute="$points::3")] == [corners]
    assert gap in [row["id"] for row in here.listed(search="NOT (_exists_:_x OR _exists_:_points)")]
    (media,) = here.api.get(f"Medias/{here.project}", related_attribute="text::cod").json
    assert media["incident"] == 3
    assert here.api.get(f"Medias/{here.project}", related_attribute=f"$id::{gap}").json == []
    shape = {"x": 0.1, "y": 0.1, "width": 0.1, "height": 0.1, "attributes": {"text": "cod"}}
    members = [here.make(frame=frame, **shape) for frame in (20, 24)]
    members.append(here.make(frame=27, attributes={"text": "cod"}))
    here.api.made(f"States/{here.project}", {"type": track, "media_ids": [here.media], "localization_ids": members})
    for interpolate, frames in ((False, 4), (True, 7)):
        said = here.api.get(f"Sightings/{here.project}", label="text", attribute="text::cod", interpolate=interpolate)
        assert [(row["frames"], row["last_frame"]) for row in said.json] == [(frames, 24)]


def test_a_timeline_is_a_group_of_bins_of_frames(here):
    rows = ask(here, media_id=here.media, group_by="$frame::10")["rows"]
    assert rows == [{"$frame::10": 0, "count": 4}, {"$frame::10": 30, "count": 1}]


def test_facets_are_the_most_frequent_values_of_several_names(here):
    found = ask(here, facets="text,kind,$version", limit=2)
    assert found["facets"][0] == {
        "name": "text",
        "total": 3,
        "values": [{"value": "cod", "count": 3}, {"value": "=1+1", "count": 1}],
    }
    assert [facet["name"] for facet in found["facets"]] == ["text", "kind", "$version"]


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ({"group_by": "tex"}, "group_by: no localization has the attribute \"tex\". Did you mean 'text'?"),
        ({"group_by": "$fram"}, "Did you mean '$frame'?"),
        ({"measure": "mean::text"}, 'measure: "text" is of type string; mean takes float, int.'),
        ({"measure": "maen::size"}, "Did you mean 'mean'?"),
        ({"measure": "quantile::size"}, "must have the form quantile::NAME::FRACTION"),
        ({"group_by": "size::0"}, "the width"),
        ({"group_by": "$created_datetime::mont"}, "Did you mean 'month'?"),
        ({"group_by": "vector"}, "vectors"),
        ({"group_by": "place"}, "place::0.5"),
        ({"group_by": "text,text"}, "more than once"),
        ({"group_by": "text,kind,size,flag"}, "at most 3"),
        ({"order_by": "size"}, "no column of this answer"),
        ({"facets": "text", "group_by": "text"}, "not both"),
        ({"facets": "text", "limit": 5000}, "limit"),
        ({"fields": "id"}, "fields"),
        ({"kind": "media", "frame": 3}, "frame"),
        ({"kind": "media", "measure": "maxn"}, "maxn"),
        ({"after": "x"}, "after"),
        ({"plot": "heat", "format": "svg", "group_by": "text"}, "two groups"),
        ({"format": "svg"}, "one or two names"),
    ],
)
def test_a_refusal_names_the_member_and_what_would_be_accepted(here, query, part):
    assert part in refused(here, **query)


def test_a_body_selects_as_in_lists(here):
    number = here.listed()[0]["id"]
    said = here.api.put(f"Statistics/{here.project}", {"ids": [number]}, group_by="text")
    assert said.json["rows"] == [{"text": "cod", "count": 1}]
    media = here.api.put(f"Statistics/{here.project}", {"localization_ids": [number]}, kind="media")
    assert media.json["matched"] == 1
    assert here.api.put(f"Statistics/{here.project}", {"frame_state_ids": [1]}, kind="media").status == 400


def test_csv_has_names_for_ids_and_no_formulas(here):
    said = here.api.get(f"Statistics/{here.project}", group_by="text,$media", format="csv")
    assert said.headers["Content-Type"].startswith("text/csv")
    assert list(csv.DictReader(io.StringIO(said.body.decode()))) == [
        {"text": "'=1+1", "$media": "a.mp4", "count": "1"},
        {"text": "cod", "$media": "a.mp4", "count": "3"},
        {"text": "ling", "$media": "a.mp4", "count": "1"},
    ]
    empty = here.api.get(f"Statistics/{here.project}", group_by="text", frame=99, format="csv")
    assert empty.body == b"text,count\r\n"


@pytest.mark.parametrize(
    ("query", "shape", "number"),
    [
        ({"group_by": "text"}, "rect", 5),
        ({"facets": "text"}, "rect", 5),
        ({"group_by": "$frame::10"}, "polyline", 1),
        ({"group_by": "$frame::10,text"}, "polyline", 4),
        ({"group_by": "$x::0.1,$y::0.1"}, "rect", 2),
        ({"group_by": "place::0.5", "plot": "heat"}, "rect", 2),
        ({"group_by": "text", "frame": 99}, "rect", 1),
        ({"group_by": "$frame::10", "frame": 99}, "polyline", 1),
        ({"group_by": "$x::0.1,$y::0.1", "frame": 99}, "rect", 1),
    ],
)
def test_plots_are_svg_without_scripts_whose_texts_are_escaped(here, query, shape, number):
    here.make(frame=50, x=0.1, y=0.2, attributes={"text": "<script>\x01&", "place": [8.25, 48.75]})
    said = here.api.get(f"Statistics/{here.project}", format="svg", **query)
    assert said.headers["Content-Type"] == "image/svg+xml"
    assert said.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    root = ET.fromstring(said.body)
    tags = [each.tag.rpartition("}")[2] for each in root.iter()]
    assert tags.count(shape) == number
    assert "script" not in tags


def test_a_timeline_is_filled_within_the_frames_of_its_media(here):
    assert here.api.patch(f"Media/{here.media}", {"num_frames": 45}).status == 200
    line = {"group_by": "$frame::10", "media_id": here.media, "fill": True}
    found = ask(here, **line, measure="count,maxn,mean::size")
    assert [(row["$frame::10"], row["count"], row["maxn"]) for row in found["rows"]] == [
        (0, 4, 2), (10, 0, 0), (20, 0, 0), (30, 1, 1), (40, 0, 0),
    ]  # fmt: skip
    assert (found["groups"], found["rows"][1]["mean::size"], found["rows"][1]["maxn::$media"]) == (5, None, None)
    nothing = ask(here, **line, attribute="text::nothing")["rows"]
    assert nothing == [{"$frame::10": start, "count": 0} for start in range(0, 50, 10)]
    assert len(ask(here, **line, limit=2)["rows"]) == 2
    assert [row["$frame::22.5"] for row in ask(here, **{**line, "group_by": "$frame::22.5"})["rows"]] == [0, 22.5]
    for change in ({"group_by": "text"}, {"media_id": None}, {"order_by": "count"}, {"group_by": "$frame"}):
        assert "fill" in refused(here, **{**line, **change})
    assert here.api.patch(f"Media/{here.media}", {"num_frames": 10**7}).status == 200
    assert "bins" in refused(here, **line)
