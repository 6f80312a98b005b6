"""The part of shapes within the picture, against shapely; and what refines them."""

from __future__ import annotations

import random
from typing import Any

import pytest
from shapely import LineString, Polygon, affinity, box

from chalicelib.formats.model import Refined
from chalicelib.resources.imports.outside import within

SIZE = (200, 100)
EVERY = frozenset({"mask", "angle", "ellipse", "open", "holes", "skeleton"})
PICTURE = box(0, 0, 1, 1)


def clipped(kind: Any, shape: tuple[float, ...], refined: Refined | None = None, *, clips: bool = True) -> Any:
    return within(kind, shape, refined, EVERY, SIZE, clips=clips)


def ring(numbers: tuple[float, ...]) -> Polygon:
    return Polygon(list(zip(numbers[::2], numbers[1::2], strict=True)))


def turned(shape: tuple[float, ...], angle: float) -> Polygon:
    """A turned box in pixels."""
    x, y, width, height = (number * SIZE[place % 2] for place, number in enumerate(shape))
    return affinity.rotate(box(x, y, x + width, y + height), angle)


def test_polygons_and_their_holes_are_clipped_and_not_bent():
    numbers = random.Random(7)
    for _ in range(200):
        triangle = tuple(numbers.uniform(-0.5, 1.5) for _ in range(6))
        expected = ring(triangle).intersection(PICTURE).area
        if expected < 1e-6:
            continue
        shape, _, _ = clipped("poly", triangle)
        assert ring(shape).area == pytest.approx(expected, abs=1e-9), triangle
        assert all(0 <= number <= 1 for number in shape)
    outline, hole = (0.5, 0.0, 2.0, 0.5, 0.5, 1.0), (0.6, 0.4, 1.4, 0.5, 0.6, 0.6)
    shape, refined, _ = clipped("poly", outline, Refined(holes=(hole,)))
    assert ring(refined.holes[0]).area == pytest.approx(ring(hole).intersection(PICTURE).area)
    assert ring(shape).covers(ring(refined.holes[0]))
    _, refined, _ = clipped("poly", outline, Refined(holes=((1.1, 0.4, 1.4, 0.5, 1.1, 0.6),)))
    assert refined.holes == ()


def test_lines_keep_their_direction():
    assert clipped("line", (0.5, 0.5, 1.0, 0.2))[0] == pytest.approx((0.5, 0.5, 0.5, 0.1))
    shape, _, _ = clipped("poly", (0.5, 0.5, 0.7, 0.6, 1.7, 0.8), Refined(is_open=True))
    assert list(zip(shape[::2], shape[1::2], strict=True)) == [
        pytest.approx(point) for point in LineString([(0.5, 0.5), (0.7, 0.6), (1.7, 0.8)]).intersection(PICTURE).coords
    ]
    with pytest.raises(ValueError, match="cut it into several"):
        clipped("poly", (0.5, 0.5, 1.5, 0.5, 1.5, 0.6, 0.5, 0.6), Refined(is_open=True))


@pytest.mark.parametrize(
    ("kind", "shape", "refined"),
    [
        ("dot", (1.2, 0.5), None),
        ("line", (1.2, 0.5, 0.5, 0.0), None),
        ("box", (1.2, 0.5, 0.5, 0.1), None),
        ("poly", (1.2, 0.5, 1.5, 0.5, 1.3, 0.9), None),
        ("poly", (1.2, 0.5, 1.5, 0.5, 1.3, 0.9), Refined(visible=(2, 2, 2), points=("a", "b", "c"))),
        ("poly", (1.2, 0.5, 1.5, 0.5, 1.3, 0.9), Refined(is_open=True)),
    ],
)
def test_what_has_no_part_in_the_picture_is_refused(kind, shape, refined):
    with pytest.raises(ValueError, match="outside of the picture"):
        clipped(kind, shape, refined)


def test_a_turned_box_reaches_as_far_as_its_corners():
    across = (0.1, 0.45, 0.8, 0.1)
    with pytest.raises(ValueError, match=r"beyond the picture by 0\.6 of a side"):
        clipped("box", across, Refined(angle=90.0), clips=False)
    with pytest.raises(ValueError, match=r"beyond the picture by"):
        clipped("box", (0.3, 0.4, 0.4, 0.5), Refined(angle=90.0, is_ellipse=True), clips=False)
    shape, refined, note = clipped("box", across, Refined(angle=90.0))
    assert (shape, refined.angle) == (pytest.approx((0.475, 0.0, 0.05, 1.0)), 0.0)
    assert "upright box" in note


def test_a_turned_box_within_the_picture_is_taken_by_either_of_its_sides():
    shape, angle = (-0.05, 0.5, 0.3, 0.02), 85.0
    found, refined, note = clipped("box", shape, Refined(angle=angle), clips=False)
    assert turned(found, refined.angle).symmetric_difference(turned(shape, angle)).area < 1e-9
    assert (min(found) >= 0, note) == (True, "")
    with pytest.raises(ValueError, match="give its corners as a polygon"):
        clipped("box", (-0.015, 0.095, 0.13, 0.01), Refined(angle=45.0), clips=False)


def test_an_ellipse_becomes_the_box_of_its_part_and_a_mask_is_refused():
    shape, refined, note = clipped("box", (0.8, 0.2, 0.4, 0.2), Refined(is_ellipse=True))
    assert (shape, refined.is_ellipse, bool(note)) == (pytest.approx((0.8, 0.2, 0.2, 0.2)), False, True)
    with pytest.raises(ValueError, match="a mask is not clipped"):
        clipped("box", (0.8, 0.2, 0.4, 0.2), Refined(mask=(20, 80, "x")))


def test_points_of_a_skeleton_beyond_the_picture_are_not_marked():
    points = Refined(points=("a", "b"), visible=(2, 1))
    shape, refined, _ = clipped("poly", (0.5, 0.5, 1.2, 0.5), points)
    assert (shape, refined.visible) == ((0.5, 0.5, 1.0, 0.5), (2, 0))
