"""Rectified pictures: what both cameras see is on one row; OpenCV has the same rotations, cameras and maps."""

import math
import random

import pytest

from chalicelib.core.measuring.cameras import IDENTITY, Camera, Rig, rotation_of
from chalicelib.core.measuring.rectification import mesh_cells, rectify
from tests.core.measuring.test_cameras import LEFT, RIG, RIGHT, SIZE, lines

SIZES = (SIZE, SIZE)
UPRIGHT = Rig(LEFT, RIGHT, rotation_of((0.05, 0.01, -0.02)), (0.02, 0.5, -0.03))


def some_rigs(count):
    """Rigs as divers build them: up to 6 degrees off, with lenses from barrel to pincushion."""
    rng = random.Random(4)
    for number in range(count):
        cameras = []
        for _ in range(2):
            lens = tuple(rng.uniform(-most, most) for most in (0.2, 0.05, 0.002, 0.002, 0.01)) if number % 3 else ()
            cameras.append(
                Camera(1400 + rng.uniform(-50, 50), 1400 + rng.uniform(-50, 50), 960 + rng.uniform(-20, 20), 540, lens)
            )
        turned = rotation_of(tuple(rng.uniform(-0.1, 0.1) for _ in range(3)))
        way = [-0.8, rng.uniform(-0.05, 0.05), rng.uniform(-0.05, 0.05)]
        yield Rig(*cameras, turned, tuple(way if number % 4 else [way[1], way[0], way[2]]))


@pytest.mark.parametrize(("rig", "axis"), [(RIG, 1), (UPRIGHT, 0)])
def test_what_both_cameras_see_is_on_one_row_or_one_column(rig, axis):
    found = rectify(rig, SIZES)
    assert found.is_vertical == (axis == 0)
    rng = random.Random(6)
    for _ in range(50):
        point = (rng.uniform(-1, 1), rng.uniform(-0.6, 0.6), rng.uniform(2, 6))
        pixels = rig.left.project(point), rig.right.project(rig.to_right(point))
        left, right = (found.place(side, pixel) for side, pixel in enumerate(pixels))
        assert left[axis] == pytest.approx(right[axis], abs=1e-6)
        assert found.source(0, left) == pytest.approx(pixels[0], abs=1e-6)


def test_the_corners_of_a_mesh_tell_places_between_them_to_a_fifth_of_a_pixel():
    found, (columns, rows) = rectify(RIG, SIZES), mesh_cells(SIZE)
    mesh = list(found.mesh(0, SIZE))
    assert (columns, rows, len(mesh)) == (48, 27, 49 * 28)
    rng, worst = random.Random(7), 0.0
    for _ in range(300):
        column, row = rng.randrange(columns), rng.randrange(rows)
        corners = [mesh[(row + down) * (columns + 1) + column + right] for down in (0, 1) for right in (0, 1)]
        exact = found.source(0, ((column + 0.5) * SIZE[0] / columns, (row + 0.5) * SIZE[1] / rows))
        if exact and None not in corners and 0 <= exact[0] < SIZE[0] and 0 <= exact[1] < SIZE[1]:
            worst = max(worst, math.dist(exact, [sum(each) / 4 for each in zip(*corners, strict=True)]))
    assert 0 < worst < 0.2


def test_beyond_the_border_of_a_lens_nothing_is_shown():
    """The model of a strong lens folds what is outside of its view back into the picture."""
    wide = Camera(500.0, 500.0, 960.0, 540.0, (-0.3, 0.02))
    found = rectify(Rig(wide, wide, IDENTITY, (-0.5, 0.0, 0.0)), SIZES)
    assert [found.source(0, pixel) is None for pixel in ((0, 0), (1919, 540), (960, 540))] == [True, True, False]


def test_cameras_that_look_in_opposite_directions_have_no_rectified_pictures():
    with pytest.raises(ValueError, match="opposite directions"):
        rectify(Rig(LEFT, RIGHT, ((-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0)), (-0.8, 0.0, 0.0)), SIZES)


def test_the_right_picture_may_have_another_size():
    half = Rig(RIG.left, RIG.right.scaled(0.5, 0.5), RIG.rotation, RIG.translation)
    whole, found = rectify(RIG, SIZES), rectify(half, (SIZE, (SIZE[0] // 2, SIZE[1] // 2)))
    assert found.focal == pytest.approx(whole.focal)
    for _, ends in lines(5):
        x, y = ends[0][1]
        assert found.place(1, (x / 2, y / 2)) == pytest.approx(whole.place(1, (x, y)), abs=1)


def test_opencv_has_the_same_rotations_cameras_and_maps():
    cv2 = pytest.importorskip("cv2", reason="needs pip install '.[annotators]'")
    np = pytest.importorskip("numpy")

    for rig in some_rigs(12):
        found = rectify(rig, SIZES)
        matrices = [np.array([[c.fx, 0, c.cx], [0, c.fy, c.cy], [0, 0, 1.0]]) for c in found.cameras]
        lenses = [np.array(c.distortion or (0.0,) * 5) for c in found.cameras]
        one, two, camera, *_ = cv2.stereoRectify(
            matrices[0], lenses[0], matrices[1], lenses[1], SIZE, np.array(rig.rotation),
            np.array(rig.translation).reshape(3, 1), flags=cv2.CALIB_ZERO_DISPARITY, alpha=-1,
        )  # fmt: skip
        assert np.abs(np.array(found.rotations) - [one, two]).max() < 1e-9
        own = np.array([[found.focal, 0, found.centers[0][0]], [0, found.focal, found.centers[0][1]], [0, 0, 1.0]])
        # OpenCV inverts the lens in five steps, for the corners of which the middle is the mean
        assert np.abs(own - camera[:, :3]).max() < (1 if any(lenses[0]) else 1e-3)
        for side in (0, 1):
            across, down = cv2.initUndistortRectifyMap(
                matrices[side], lenses[side], (one, two)[side], own, SIZE, cv2.CV_32FC1
            )
            for x, y in ((0, 0), (1919, 0), (960, 540), (300, 900), (1700, 1000)):
                place = found.source(side, (x, y))
                assert place is None or place == pytest.approx((across[y, x], down[y, x]), abs=1e-3)
