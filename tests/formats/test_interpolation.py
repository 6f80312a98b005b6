"""Interpolation of tracks."""

from chalicelib.formats.interpolation import interpolate
from chalicelib.formats.model import Label


def box(frame, x, track="1", **more):
    return Label(media="a", kind="box", shape=(x, 0.0, 0.25, 0.5), frame=frame, track=track, **more)


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


def test_labels_without_a_track_polygons_and_frames_with_two_labels_are_not_interpolated():
    alone = [box(0, 0.0, None), box(9, 0.5, None)]
    polygon = [Label(media="a", kind="poly", shape=(0, 0, 1, 0, 1, 1), frame=frame, track="2") for frame in (0, 9)]
    twice = [box(0, 0.0, "3"), box(0, 0.1, "3"), box(9, 0.5, "3")]
    for labels in (alone, polygon, twice):
        assert interpolate(labels) == labels


def test_labels_that_were_interpolated_are_not_keys():
    assert len(interpolate([box(0, 0.0), box(2, 0.5, keyed=False)])) == 2
