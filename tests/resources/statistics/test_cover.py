"""Cover: the share of a label among sampled points, with its interval."""

from __future__ import annotations

import math
from random import Random

import pytest

from chalicelib.resources.comments.schemas import Region
from chalicelib.resources.point_samples.service import points_of
from tests.resources.annotations.boxes import Here, settle

WHOLE = Region(x=0.0, y=0.0, width=1.0, height=1.0)


@pytest.fixture
def here(api, project) -> Here:
    return settle(api, project)


def cover(here: Here, **query) -> list[dict]:
    said = here.api.get(f"Statistics/{here.project}", **query)
    assert said.status == 200, said.json
    return said.json["rows"]


def points(here: Here, labels: dict[tuple[int, str | None], int]) -> None:
    specs = [
        here.spec(frame=frame, x=0.5, y=0.5, width=0.1, height=0.1, attributes={"text": label} if label else {})
        for (frame, label), count in labels.items()
        for _ in range(count)
    ]
    here.api.made(here.many, specs)


def test_cover_is_the_share_of_labelled_points_with_wilsons_interval(here):
    points(here, {(0, "coral"): 16, (0, "sand"): 34, (0, None): 5})
    coral, sand, nothing = cover(here, measure="cover::text,count", group_by="$frame")
    assert (coral["$frame"], coral["text"], coral["cover::text"], coral["count"]) == (0, "coral", 0.32, 16)
    # (0.32 + 3.8415 / 100 ± 1.96 · √(0.32 · 0.68 / 50 + 3.8415 / 10,000)) / (1 + 3.8415 / 50)
    assert coral["cover::text::low"] == pytest.approx(0.20758, abs=1e-5)
    assert coral["cover::text::high"] == pytest.approx(0.45810, abs=1e-5)
    assert sand["cover::text"] == pytest.approx(0.68)
    assert (nothing["text"], nothing["cover::text"], nothing["cover::text::low"], nothing["count"]) == (None,) * 3 + (
        5,
    )
    assert cover(here, measure="cover::text", order_by="-cover::text")[0]["text"] == "sand"


def test_each_frame_is_a_stratum_of_a_stratified_cover(here):
    points(here, {(0, "coral"): 5, (0, "sand"): 5, (1, "coral"): 10, (1, "sand"): 30})
    coral = cover(here, measure="cover::text::stratified")[0]
    share, variance = (5 / 10 + 10 / 40) / 2, (0.25 / 9 + 0.25 * 0.75 / 39) / 4
    assert coral["cover::text::stratified"] == pytest.approx(share)
    points_alike = share * (1 - share) / variance
    whole, middle = 1 + 3.841459 / points_alike, share + 3.841459 / 2 / points_alike
    half = 1.959964 * math.sqrt(variance + 3.841459 / 4 / points_alike**2)
    assert coral["cover::text::stratified::low"] == pytest.approx((middle - half) / whole)
    assert coral["cover::text::stratified::high"] == pytest.approx((middle + half) / whole)


def test_a_frame_of_one_point_has_no_variance_and_so_no_interval(here):
    points(here, {(0, "coral"): 1, (1, "coral"): 2, (1, "sand"): 2})
    coral = cover(here, measure="cover::text::stratified")[0]
    assert (coral["cover::text::stratified"], coral["cover::text::stratified::low"]) == (0.75, None)


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ({"measure": "cover"}, "cover::NAME"),
        ({"measure": "cover::text::cluster"}, "cover::NAME::stratified"),
        ({"measure": "cover::size"}, "cover takes a value"),
        ({"measure": "cover::$media.$name"}, "cover takes a value"),
        ({"measure": "cover::text", "kind": "media"}, "cover counts points"),
        ({"measure": "cover::text", "group_by": "$frame,$media,$version"}, "group_by takes at most 3"),
    ],
)
def test_a_cover_that_cannot_be_measured_is_refused(here, query, part):
    said = here.api.get(f"Statistics/{here.project}", **query)
    assert said.status == 400
    assert part in said.json["message"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["random", "stratified"])
def test_planted_covers_are_in_their_intervals_95_times_of_100(here, method):
    planted = [0.1, 0.2, 0.35, 0.5, 0.15, 0.3, 0.4, 0.25]  # of a patch of coral on each of eight frames
    whole = sum(planted) / len(planted)
    rng = Random(5)
    for survey in range(100):
        specs = []
        for frame, share in enumerate(planted):
            left = rng.random() * (1 - share)
            for x, y in points_of(method, 40, WHOLE, f"{survey} {frame}"):
                label = "coral" if left <= x < left + share else "sand"
                specs.append(here.spec(frame=frame, x=x, y=y, attributes={"text": label, "count": survey}))
        here.api.made(here.many, specs)
    rows = cover(here, measure="cover::text::stratified,cover::text", group_by="count")
    for name in ("cover::text::stratified", "cover::text"):
        found = [row for row in rows if row["text"] == "coral"]
        assert len(found) == 100
        hits = sum(row[f"{name}::low"] <= whole <= row[f"{name}::high"] for row in found)
        assert hits >= 93, (name, hits)
