"""Rectified pictures of two cameras: both turned so that what lies on a row of one lies on the same row of the other.

The method is that of J.-Y. Bouguet, as G. Bradski and A. Kaehler describe it ("Learning OpenCV", 2008, chapter 12) and
OpenCV's `stereoRectify` has it: each camera turns by half of the rotation between them, then both until the baseline
is along the rows, or along the columns where one camera is above the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from msgspec import Struct

from chalicelib.core.measuring.cameras import (
    Camera,
    Matrix,
    Pixel,
    Rig,
    Vector,
    length,
    product,
    rotation_of,
    scaled,
    times,
    transposed,
    vector_of,
)

MESH_CELLS = 48
"""Cells of a mesh across; between its corners the place in the picture is interpolated."""
_SAME = 0.5
"""Pixels within which a lens must lead back to a place for it to be seen there."""


class Rectified(Struct, frozen=True):
    """Two cameras without distortion that look the same way.

    Attributes:
        cameras: the left and the right one as they are.
        rotations: of a place of each camera to one of its rectified camera.
        focal: focal length of both rectified cameras in pixels.
        centers: principal points of the rectified cameras; the coordinate across the baseline is the same.
        is_vertical: whether one camera is above the other, so that columns correspond and not rows.
    """

    cameras: tuple[Camera, Camera]
    rotations: tuple[Matrix, Matrix]
    focal: float
    centers: tuple[Pixel, Pixel]
    is_vertical: bool

    def place(self, side: int, pixel: Pixel) -> Pixel:
        """The rectified pixel of one of a camera. Raises ValueError where the lens, or the turned camera, sees none."""
        x, y, z = times(self.rotations[side], self.cameras[side].ray(pixel))
        if z <= 0:
            raise ValueError(f"the rectified camera does not see pixel ({pixel[0]:.0f}, {pixel[1]:.0f})")
        return self.focal * x / z + self.centers[side][0], self.focal * y / z + self.centers[side][1]

    def source(self, side: int, pixel: Pixel) -> Pixel | None:
        """The pixel of a camera that a rectified one shows; None where the camera sees nothing."""
        center = self.centers[side]
        ray = (pixel[0] - center[0]) / self.focal, (pixel[1] - center[1]) / self.focal, 1.0
        point = times(transposed(self.rotations[side]), ray)
        if point[2] <= 0:
            return None
        camera = self.cameras[side]
        try:
            found = camera.project(point)
            # beyond the border of a strong lens, its model folds places back into the picture
            x, y, _ = camera.ray(found) if any(camera.distortion) else (point[0] / point[2], point[1] / point[2], 1.0)
        except (ValueError, OverflowError):
            return None
        away = math.hypot(x - point[0] / point[2], y - point[1] / point[2]) * self.focal
        return found if away < _SAME else None

    def mesh(self, side: int, size: tuple[int, int]) -> Iterator[Pixel | None]:
        """What `source` has for the corners of `mesh_cells(size)` of a rectified picture of a size, row by row."""
        columns, rows = mesh_cells(size)
        for row in range(rows + 1):
            for column in range(columns + 1):
                yield self.source(side, (size[0] * column / columns, size[1] * row / rows))


def mesh_cells(size: tuple[int, int]) -> tuple[int, int]:
    """Columns and rows of a mesh over a picture of a size; the cells are about square."""
    return MESH_CELLS, max(1, min(MESH_CELLS, round(MESH_CELLS * size[1] / size[0])))


def rectify(rig: Rig, sizes: tuple[tuple[int, int], tuple[int, int]]) -> Rectified:
    """The rectified cameras of a rig, each of pictures of a size in pixels. The rectified ones have that of the left.

    Raises:
        ValueError: the cameras look in opposite directions, or a lens sees nothing in the middle of its picture.
    """
    half = rotation_of(scaled(vector_of(rig.rotation), -0.5))
    baseline = times(half, rig.translation)
    axis = 0 if abs(baseline[0]) > abs(baseline[1]) else 1
    along: Vector = (
        (math.copysign(1.0, baseline[0]), 0.0, 0.0) if axis == 0 else (0.0, math.copysign(1.0, baseline[1]), 0.0)
    )
    turn = _turn(baseline, along)
    rotations = product(turn, transposed(half)), product(turn, half)
    cameras = rig.left, rig.right
    right = rig.right.scaled(sizes[0][0] / sizes[1][0], sizes[0][1] / sizes[1][1])
    focal = (rig.left.fx + right.fx) / 2 if axis else (rig.left.fy + right.fy) / 2
    plain = Rectified(cameras, rotations, focal, ((0.0, 0.0), (0.0, 0.0)), axis == 1)
    middle = (sizes[0][0] - 1) / 2, (sizes[0][1] - 1) / 2
    means = [_middle(plain, side, sizes[side]) for side in (0, 1)]
    center = tuple(middle[at] - (means[0][at] + means[1][at]) / 2 for at in (0, 1))
    return Rectified(cameras, rotations, focal, ((center[0], center[1]),) * 2, axis == 1)


def _turn(start: Vector, end: Vector) -> Matrix:
    """The least rotation that takes the direction of one vector to that of a unit vector."""
    across = (
        start[1] * end[2] - start[2] * end[1],
        start[2] * end[0] - start[0] * end[2],
        start[0] * end[1] - start[1] * end[0],
    )
    if not (size := length(across)):
        return rotation_of((0.0, 0.0, 0.0))
    angle = math.atan2(size, sum(a * b for a, b in zip(start, end, strict=True)))
    return rotation_of(scaled(across, angle / size))


def _middle(plain: Rectified, side: int, size: tuple[int, int]) -> Pixel:
    """Where a picture is in the rectified one, from its principal point: the mean of its corners, or else its middle.

    Raises:
        ValueError: neither is seen.
    """
    corners = [(float(x), float(y)) for x in (0, size[0] - 1) for y in (0, size[1] - 1)]
    try:
        places = [plain.place(side, corner) for corner in corners]
    except ValueError:
        places = [plain.place(side, (size[0] / 2, size[1] / 2))]
    return sum(x for x, _ in places) / len(places), sum(y for _, y in places) / len(places)
