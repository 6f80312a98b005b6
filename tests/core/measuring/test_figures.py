"""Measures of figures in the picture of one camera, on scenes of known sizes."""

import math
import random
from functools import partial

import pytest

from chalicelib.core.measuring.figures import Figure, free_moves, measure, outward_moves
from chalicelib.core.measuring.planes import Ground, Scaled, scale_of

SIZE = (1920, 1080)
SQUARE = [(100.0, 100.0), (300.0, 100.0), (300.0, 200.0), (100.0, 200.0)]


def polygon(*rings):
    return Figure(rings, free_moves(sum(map(len, rings))))


def line(*points):
    return Figure([points], free_moves(len(points)), is_open=True)


def seen(ground, place):
    """The pixel at which a camera above level ground sees a place: the plane turned about, by arithmetic of its own."""
    tilt = math.radians(ground.tilt)
    focal = ground.size[0] / 2 / math.tan(math.radians(ground.field_of_view / 2))
    right, back, below = place[0], place[1], ground.altitude
    depth = below * math.cos(tilt) - back * math.sin(tilt)
    down = back * math.cos(tilt) + below * math.sin(tilt)
    return ground.size[0] / 2 + focal * right / depth, ground.size[1] / 2 + focal * down / depth


def test_sides_area_and_perimeter_of_a_polygon_with_a_hole():
    hole = [(150.0, 120.0), (150.0, 140.0), (200.0, 140.0), (200.0, 120.0)]
    found = measure(polygon(SQUARE, hole), Scaled(0.01), 0.0)
    assert {name: each.value for name, each in found.items()} == pytest.approx(
        {"length": math.hypot(2, 1), "width": 1.0, "area": 1.9, "perimeter": 6 + 1.4}
    )


def test_a_box_has_its_sides_and_a_line_its_way():
    box = Figure([SQUARE], [], is_box=True)
    found = measure(box, Scaled(0.5), 1.0)
    assert (found["length"].value, found["width"].value, found["area"].value) == (100, 50, 5000)
    assert measure(line((0, 0), (3, 4), (3, 14)), Scaled(2.0), 0.0)["length"].value == 30


@pytest.mark.parametrize("seed", range(40))
def test_diameters_are_those_of_all_directions(seed):
    """By brute force: the extents of random points in 3,600 directions."""
    rng = random.Random(seed)
    points = [(rng.uniform(0, 500), rng.uniform(0, 60 if seed % 2 else 500)) for _ in range(rng.randint(3, 30))]
    found = measure(polygon(points), Scaled(1.0), 0.0)
    extents = []
    for step in range(3600):
        x, y = math.cos(math.pi * step / 3600), math.sin(math.pi * step / 3600)
        along = [px * x + py * y for px, py in points]
        extents.append(max(along) - min(along))
    assert found["length"].value == pytest.approx(max(extents), rel=1e-5)
    assert found["width"].value == pytest.approx(min(extents), rel=5e-3)
    assert found["width"].value <= min(extents) + 1e-9


@pytest.mark.parametrize("points", [[(1.0, 1.0)] * 4, [(0.0, 0.0), (5.0, 5.0), (9.0, 9.0)], [(0.0, 0.0), (3.0, 4.0)]])
def test_flat_figures_have_no_width(points):
    found = measure(polygon(points), Scaled(1.0), 1.0)
    assert found["width"].value == pytest.approx(0)
    assert found["area"].value == pytest.approx(0)
    assert found["length"].value == pytest.approx(math.dist(points[0], points[-1]))


@pytest.mark.parametrize("tilt", [0.0, 20.0, -35.0])
def test_places_on_level_ground_are_where_they_lie(tilt):
    ground = Ground(size=SIZE, altitude=3.0, field_of_view=70.0, tilt=tilt)
    for place in ((0.0, 0.0), (1.2, -0.4), (-0.8, 0.6)):
        assert ground.place(seen(ground, place)) == pytest.approx(place, abs=1e-9)


def test_what_is_above_the_horizon_has_no_place():
    with pytest.raises(ValueError, match="above the horizon"):
        Ground(size=SIZE, altitude=3.0, field_of_view=70.0, tilt=75.0).place((960.0, 0.0))


def test_a_mask_that_is_a_pixel_too_large_is_so_on_all_sides():
    ring = [(100.0, 100.0), (300.0, 100.0), (300.0, 200.0), (100.0, 200.0)]
    (move,) = outward_moves([ring])
    assert move == {0: (-1, -1), 1: (1, -1), 2: (1, 1), 3: (-1, 1)}
    found = measure(Figure([ring], [move]), Scaled(1.0), 1.0)
    assert found["area"].error == pytest.approx(600)
    assert found["width"].error == pytest.approx(2)


def share_within(trials):
    """Shares of trials (true, measure) that lie within one and two of their standard deviations."""
    distances = [abs(found.value - true) / found.error for true, found in trials]
    return [sum(each <= limit for each in distances) / len(distances) for limit in (1, 2)]


def jittered(rng, scale, x, y):
    """The pixel at which a hand puts a place."""
    return x / scale + rng.gauss(0, 1), y / scale + rng.gauss(0, 1)


def test_lengths_by_lasers_lie_within_their_errors():
    """Lasers 0.1 m apart, ends placed with a standard deviation of a pixel: errors are normal, as they are stated."""
    rng = random.Random(5)
    lines, areas, relative = [], [], []
    for _ in range(2000):
        scale = rng.uniform(0.0005, 0.002)
        drawn = partial(jittered, rng, scale)

        laser = math.dist(drawn(0.0, 0.0), drawn(0.1, 0.0))
        plane = scale_of([(0.1, laser)], 1.0)
        long = rng.uniform(0.1, 0.6)
        found = measure(line(drawn(0.2, 0.2), drawn(0.2 + long * 0.6, 0.2 + long * 0.8)), plane, 1.0)["length"]
        lines.append((long, found))
        relative.append(abs(found.value / long - 1))
        corners = [drawn(x, y) for x, y in ((0, 0), (0.3, 0.02), (0.33, 0.2), (0.1, 0.31))]
        true = 0.06785
        areas.append((true, measure(polygon(corners), plane, 1.0)["area"]))
    for trials in (lines, areas):
        one, two = share_within(trials)
        assert one == pytest.approx(0.683, abs=0.03)
        assert two == pytest.approx(0.954, abs=0.02)
    relative.sort()
    assert (relative[1000] < 0.012, relative[1800] < 0.035) == (True, True), (relative[1000], relative[1800])


def test_lengths_by_altitude_lie_within_their_errors():
    """A tilted camera, whose altitude, field of view and tilt are known with errors."""
    rng = random.Random(6)
    lines, boxes = [], []
    for _ in range(2000):
        true = Ground(size=SIZE, altitude=rng.uniform(1.5, 6), field_of_view=65.0, tilt=rng.uniform(-20, 20))
        told = Ground(
            size=SIZE,
            altitude=true.altitude + rng.gauss(0, 0.05),
            field_of_view=65.0 + rng.gauss(0, 0.5),
            tilt=true.tilt + rng.gauss(0, 0.5),
            altitude_error=0.05,
            field_of_view_error=0.5,
            tilt_error=0.5,
        )
        ends = [(rng.uniform(-0.3, 0.3), rng.uniform(-0.2, 0.2)) for _ in range(2)]
        pixels = [tuple(each + rng.gauss(0, 1) for each in seen(true, end)) for end in ends]
        long = math.dist(*ends)
        if long > 0.1:
            lines.append((long, measure(line(*pixels), told, 1.0)["length"]))
        corners = [(-0.2, -0.1), (0.2, -0.1), (0.2, 0.1), (-0.2, 0.1)]
        flat = [tuple(each + rng.gauss(0, 1) for each in seen(true, corner)) for corner in corners]
        boxes.append((0.08, measure(polygon(flat), told, 1.0)["area"]))
    for trials in (lines, boxes):
        one, two = share_within(trials)
        assert one == pytest.approx(0.683, abs=0.04)
        assert two == pytest.approx(0.954, abs=0.02)
    relative = sorted(abs(found.value / long - 1) for long, found in lines)
    assert relative[len(relative) // 2] < 0.02, relative[len(relative) // 2]


def test_several_references_count_by_their_length():
    plane = scale_of([(1.0, 100.0), (2.0, 202.0)], 1.0, 0.01)
    assert plane.scale == pytest.approx((100 + 404) / (100**2 + 202**2))
    assert plane.error / plane.scale == pytest.approx(math.sqrt(2 / (100**2 + 202**2) + 1e-4))
