"""Places and lengths from two cameras, on rigs and points of known places."""

import math
import random

import pytest

from chalicelib.core.measuring.cameras import Camera, Rig, length, minus, rotation_of

LENS = (-0.28, 0.09, 0.0006, -0.0004, -0.012)
LEFT = Camera(1400.0, 1398.0, 965.0, 541.0, LENS)
RIGHT = Camera(1405.0, 1402.0, 950.0, 548.0, (-0.27, 0.08, -0.0003, 0.0005, -0.01))
RIG = Rig(LEFT, RIGHT, rotation_of((0.004, -0.12, 0.003)), (-0.8, 0.01, 0.05))
SIZE = (1920, 1080)


def seen(point):
    """The pixels of a point in both pictures; None where it is outside of one."""
    pixels = RIG.left.project(point), RIG.right.project(RIG.to_right(point))
    return pixels if all(0 <= x < SIZE[0] and 0 <= y < SIZE[1] for x, y in pixels) else None


def lines(count, seed=1):
    """Lines of 0.05 to 1 m between 1.5 and 8 m away that both cameras see, as (length, ends in pixels)."""
    rng = random.Random(seed)
    while count:
        middle = (rng.uniform(-2, 2), rng.uniform(-1.5, 1.5), rng.uniform(1.5, 8))
        long = rng.uniform(0.05, 1)
        way = [rng.gauss(0, 1) for _ in range(3)]
        size = math.dist(way, (0, 0, 0))
        ends = [tuple(m + sign * long / 2 * w / size for m, w in zip(middle, way, strict=True)) for sign in (-1, 1)]
        pixels = [seen(end) for end in ends if end[2] > 1]
        if len(pixels) == 2 and all(pixels):
            count -= 1
            yield long, pixels


def measured(pixels, jitter=lambda: 0.0):
    ends = [RIG.locate(*((x + jitter(), y + jitter()) for x, y in end))[0] for end in pixels]
    return length(minus(*ends))


def test_a_ray_looks_where_the_pixel_was_seen():
    rng = random.Random(2)
    for _ in range(200):
        point = (rng.uniform(-0.6, 0.6), rng.uniform(-0.4, 0.4), 1.0)
        assert LEFT.ray(LEFT.project(point)) == pytest.approx(point, abs=1e-9)


def test_lengths_on_a_known_rig_are_exact_without_noise():
    assert max(abs(measured(pixels) / long - 1) for long, pixels in lines(200)) < 1e-6


def test_the_length_error_with_a_tenth_of_a_pixel_of_noise_is_half_a_percent():
    """Lines of 0.3 m and more, at up to 4 m: median, 90 % and mean of the relative error."""
    rng = random.Random(3)
    errors = sorted(
        abs(measured(pixels, lambda: rng.gauss(0, 0.1)) / long - 1)
        for long, pixels in lines(1500)
        if long >= 0.3 and RIG.locate(*pixels[0])[0][2] <= 4
    )
    assert len(errors) > 200
    median, most = errors[len(errors) // 2], errors[int(len(errors) * 0.9)]
    assert (median < 0.0015, most < 0.005) == (True, True), (median, most, errors[-1])


def test_the_reprojection_error_is_that_of_what_was_moved():
    ((_, (one, _)),) = lines(1)
    assert RIG.locate(*one)[1] == pytest.approx(0, abs=1e-6)
    moved = (one[0], (one[1][0], one[1][1] + 4.0))
    assert 1.5 < RIG.locate(*moved)[1] < 3.5


def test_what_is_behind_a_camera_or_outside_the_lens_has_no_place():
    ((_, (one, _)),) = lines(1)
    with pytest.raises(ValueError, match=r"no point before|same direction"):
        RIG.locate((one[0][0] - 900, one[0][1]), (one[1][0] + 900, one[1][1]))
    with pytest.raises(ValueError, match="the lens model sees nothing"):
        LEFT.ray((40_000.0, 541.0))


def test_the_partner_lies_on_the_epipolar_line():
    for _, ends in lines(20):
        for left, right in ends:
            point = RIG.locate(left, right)[0]
            (found,) = RIG.epipolar_line(left, [length(point)])
            assert found == pytest.approx(right, abs=1e-3)


def test_a_scaled_camera_sees_the_same_in_pictures_of_another_size():
    point = (0.3, -0.2, 2.0)
    x, y = LEFT.project(point)
    assert LEFT.scaled(0.5, 0.25).project(point) == pytest.approx((x / 2, y / 4))


@pytest.mark.parametrize("huge", [1e308, 1e200, 1e154, 5e-324])
@pytest.mark.parametrize("place", range(4))
def test_extreme_numbers_give_a_finite_place_or_none(huge, place):
    camera = [1400.0, 1398.0, 965.0, 541.0]
    camera[place] = huge
    for lens in (LENS, (huge, *LENS[1:]), (0.0, 0.0, 0.0, 0.0, 0.0, -1.0)):
        for way in ((-0.8, 0.01, 0.05), (huge, 0.0, 0.0)):
            rig = Rig(Camera(*camera, lens), RIGHT, RIG.rotation, way)
            for pixel in ((0.0, 0.0), (965.0, 541.0), (2365.0, 541.0)):
                try:
                    point, error = rig.locate(pixel, (900.0, 541.0))
                except ValueError:
                    continue
                assert all(map(math.isfinite, (*point, error)))


def test_a_lens_that_divides_by_zero_sees_nothing():
    camera = Camera(1000.0, 1000.0, 0.0, 0.0, (0.0, 0.0, 0.0, 0.0, 0.0, -1.0))
    with pytest.raises(ValueError, match="divides by 0"):
        camera.ray((1000.0, 0.0))
