"""Lists of localizations with those between the localizations of tracks."""

from __future__ import annotations

import pytest

from chalicelib.resources.annotations import interpolated
from tests.resources.annotations.boxes import settle


@pytest.fixture
def here(api, project):
    made = settle(api, project)
    made.track = api.made(
        f"StateTypes/{project}", {"name": "track", "association": "Localization", "media_types": [made.media_type]}
    )
    return made


def box(here, frame, x, **more):
    return here.make(frame=frame, x=x, y=0.0, width=0.25, height=0.5, **more)


def track(here, *members, **more):
    spec = {"type": here.track, "media_ids": [here.media], "localization_ids": list(members), **more}
    return here.api.made(f"States/{here.project}", spec)[0]


def seen(rows):
    return [(row["frame"], row["x"], row.get("interpolated", False)) for row in rows]


def test_a_list_has_what_a_track_has_between_its_localizations_marked_and_without_ids(here):
    first, second = box(here, 0, 0.0, kind="b"), box(here, 4, 0.5)
    track(here, first, second)
    rows = here.listed(interpolate="true")
    assert seen(rows) == [(0, 0.0, False), (1, 0.125, True), (2, 0.25, True), (3, 0.375, True), (4, 0.5, False)]
    assert {(row["id"], row["elemental_id"]) for row in rows[1:4]} == {(None, None)}
    assert {row["attributes"]["kind"] for row in rows[:4]} == {"b"}
    assert seen(here.listed()) == [(0, 0.0, False), (4, 0.5, False)]
    assert here.count() == 2


def test_a_frame_has_what_is_computed_for_it(here):
    track(here, box(here, 0, 0.0), box(here, 4, 0.5))
    alone = box(here, 3, 0.75)
    rows = here.listed(interpolate="true", frame=3)
    assert seen(rows) == [(3, 0.75, False), (3, 0.375, True)]
    assert rows[0]["id"] == alone
    assert seen(here.listed(interpolate="true", frame=5)) == []
    assert seen(here.listed(interpolate="true", frame=2, fields="frame,x,id")) == [(2, 0.25, False)]


def test_filters_are_those_of_the_localization_before_the_gap(here):
    track(here, box(here, 0, 0.0, kind="a"), box(here, 2, 0.5, kind="b"), box(here, 4, 0.5, kind="a"))
    assert [row["frame"] for row in here.listed(interpolate="true", attribute="kind::b")] == [2, 3]
    assert [row["frame"] for row in here.listed(interpolate="true", attribute="kind::b", frame=1)] == []
    assert [row["frame"] for row in here.listed(interpolate="true", stop=1)] == [0, 1]


def test_a_localization_without_a_place_begins_a_gap_in_which_nothing_is_computed(here):
    gone = here.make(frame=2)
    track(here, box(here, 0, 0.0), gone, box(here, 5, 0.5), box(here, 7, 0.5))
    rows = here.listed(interpolate="true")
    assert [row["frame"] for row in rows if row.get("interpolated")] == [6]


def test_a_type_without_interpolation_has_nothing_between(here):
    still = here.api.made(
        f"StateTypes/{here.project}",
        {"name": "seen", "association": "Localization", "interpolation": "none", "media_types": [here.media_type]},
    )
    track(here, box(here, 0, 0.0), box(here, 4, 0.5), type=still)
    assert [row["frame"] for row in here.listed(interpolate="true")] == [0, 4]


def test_nothing_is_between_localizations_of_different_types(here):
    spec = {"name": "rock", "dtype": "box", "media_types": [here.media_type]}
    rock = here.api.made(f"LocalizationTypes/{here.project}", spec)
    track(here, box(here, 0, 0.0), box(here, 4, 0.5, type=rock), box(here, 6, 0.5, type=rock))
    rows = here.listed(interpolate="true")
    assert [row["frame"] for row in rows if row.get("interpolated")] == [5]
    assert here.listed(interpolate="true", frame=2) == []


def test_the_points_of_skeletons_correspond_by_their_order(here):
    skeleton = {"points": ["nose", "fin", "tail"], "edges": [[0, 1]]}
    spec = {"name": "body", "dtype": "poly", "refinements": ["skeleton"], "skeleton": skeleton}
    body = here.api.made(f"LocalizationTypes/{here.project}", {**spec, "media_types": [here.media_type]})
    first, last = [[0.0, 0.0], [0.5, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.0, 0.0], [0.5, 0.0]]
    track(here, *(here.make(frame=frame, points=points, type=body) for frame, points in ((0, first), (2, last))))
    (row,) = here.listed(interpolate="true", frame=1)
    assert row["points"] == [[0.25, 0.25], [0.25, 0.0], [0.5, 0.25]]


def test_a_localization_of_several_tracks_counts_to_the_first(here):
    shared = box(here, 4, 0.0)
    track(here, shared, box(here, 6, 0.5))
    track(here, box(here, 0, 0.0), shared, box(here, 9, 0.5))
    rows = here.listed(interpolate="true")
    assert [row["frame"] for row in rows if row.get("interpolated")] == [5, *range(1, 9)]


def test_an_answer_has_a_limit_of_what_is_computed(here, monkeypatch):
    monkeypatch.setattr(interpolated, "MOST_COMPUTED", 2)
    track(here, box(here, 0, 0.0), box(here, 4, 0.5))
    said = here.api.get(here.many, interpolate="true")
    assert said.status == 400
    assert said.json["message"].startswith("interpolate: more than 2")
