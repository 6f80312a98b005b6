"""Interpolation of tracks."""

import pytest

from chalicelib.errors import BadInput
from chalicelib.formats.interpolation import MAX_FILLED_LABELS, MOST_STARTS, blend, interpolate
from chalicelib.formats.model import Label


def box(frame, x, track="1", **more):
    return Label(media="a", kind="box", shape=(x, 0.0, 0.25, 0.5), frame=frame, track=track, **more)


def gap(frame, track="1"):
    return Label(media="a", kind="box", shape=(), frame=frame, track=track)


def frames(labels):
    return [(each.frame, each.keyed) for each in labels]


def test_a_gap_of_a_track_is_filled_linearly():
    made = interpolate([box(4, 0.5, class_name="cod"), box(0, 0.0, class_name="fish")])
    assert [(each.frame, each.shape[0], each.keyed) for each in made] == [
        (0, 0.0, True),
        (1, 0.125, False),
        (2, 0.25, False),
        (3, 0.375, False),
        (4, 0.5, True),
    ]
    assert {each.class_name for each in made if not each.keyed} == {"fish"}


def test_labels_without_a_track_and_frames_with_two_labels_are_not_interpolated():
    alone = [box(0, 0.0, None), box(9, 0.5, None)]
    twice = [box(0, 0.0, "3"), box(0, 0.1, "3"), box(9, 0.5, "3")]
    other = [box(0, 0.0, "4"), Label(media="a", kind="dot", shape=(0.5, 0.5), frame=9, track="4")]
    for labels in (alone, twice, other):
        assert interpolate(labels) == labels


def test_nothing_is_between_labels_of_different_types():
    mixed = [box(0, 0.0, type="Animal"), box(9, 0.5, type="Rock"), box(12, 0.5, type="Rock")]
    assert frames(interpolate(mixed)) == [(0, True), (9, True), (10, False), (11, False), (12, True)]


def test_labels_that_were_interpolated_are_not_keys():
    assert len(interpolate([box(0, 0.0), box(2, 0.5, keyed=False)])) == 2


def test_a_label_without_a_shape_begins_a_gap_and_is_left_out():
    made = interpolate([box(0, 0.0), box(2, 0.5), gap(3), box(6, 0.5), box(8, 0.5)])
    assert frames(made) == [(0, True), (1, False), (2, True), (6, True), (7, False), (8, True)]


def test_a_track_that_is_still_keeps_its_labels_alone():
    assert frames(interpolate([box(0, 0.0), box(2, 0.5), gap(3)], still=["1"])) == [(0, True), (2, True)]


def test_polygons_of_as_many_corners_move_corner_by_corner():
    square, moved = (0.0, 0.0, 0.2, 0.0, 0.2, 0.2, 0.0, 0.2), (0.4, 0.0, 0.6, 0.0, 0.6, 0.2, 0.4, 0.2)
    assert blend("poly", square, moved)(0.5) == pytest.approx((0.2, 0.0, 0.4, 0.0, 0.4, 0.2, 0.2, 0.2))


@pytest.mark.parametrize("turned", [(0.2, 0.2, 0.0, 0.2, 0.0, 0.0, 0.2, 0.0), (0.0, 0.2, 0.2, 0.2, 0.2, 0.0, 0.0, 0.0)])
def test_an_outline_that_begins_elsewhere_or_runs_backward_is_the_same_outline(turned):
    square = (0.0, 0.0, 0.2, 0.0, 0.2, 0.2, 0.0, 0.2)
    assert blend("poly", square, turned)(0.5) == pytest.approx(square)


def test_a_polygon_with_fewer_corners_gets_some_on_its_longest_edges_and_keeps_its_outline():
    triangle, square = (0.0, 0.0, 0.4, 0.0, 0.0, 0.3), (0.0, 0.0, 0.4, 0.0, 0.4, 0.3, 0.0, 0.3)
    between = blend("poly", triangle, square)
    assert between(0) == pytest.approx((0.0, 0.0, 0.4, 0.0, 0.2, 0.15, 0.0, 0.3))
    assert between(0.5) == pytest.approx((0.0, 0.0, 0.4, 0.0, 0.3, 0.225, 0.0, 0.3))
    assert between(1) == pytest.approx(square)


def test_outlines_of_very_many_corners_are_matched_by_some_of_their_starts():
    number = MOST_STARTS * 4
    line = tuple(n / number / 2 for n in range(number) for _ in "xy")
    assert len(blend("poly", line, line[::-1])(0.5)) == len(line)


@pytest.mark.parametrize("last", [MAX_FILLED_LABELS + 2, 2**62])
def test_gaps_of_more_frames_than_fit_into_memory_are_refused(last):
    with pytest.raises(BadInput, match="Media a: its tracks have more than 2,000,000"):
        interpolate([box(0, 0.0), box(last, 0.5)])
