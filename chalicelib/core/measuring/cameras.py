"""Pinhole cameras with lens distortion, and pairs of them: from pixels to places and back.

The model is OpenCV's: a point (X, Y, Z) of a camera is seen at x = X / Z, y = Y / Z, moved by the distortion
k1, k2, p1, p2, k3, k4, k5, k6, and scaled by the focal lengths. Source: J. Heikkilä and O. Silvén, "A Four-step Camera
Calibration Procedure with Implicit Image Correction", 1997, and D. Claus and A. Fitzgibbon, 2005.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from msgspec import Struct

Vector = tuple[float, float, float]
Pixel = tuple[float, float]
Matrix = tuple[Vector, Vector, Vector]
IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_COEFFICIENTS = 8
_STEPS = 50
_CLOSE = 1e-12
_NUDGE = 1e-6


class Camera(Struct, frozen=True):
    """Focal lengths and principal point in pixels, and up to eight coefficients of distortion, as OpenCV has them."""

    fx: float
    fy: float
    cx: float
    cy: float
    distortion: tuple[float, ...] = ()

    def scaled(self, across: float, down: float) -> Camera:
        """The camera of pictures that are so many times as wide and as high."""
        return Camera(self.fx * across, self.fy * down, self.cx * across, self.cy * down, self.distortion)

    def project(self, point: Vector) -> Pixel:
        """The pixel at which a point before the camera is seen."""
        x, y = _distort(self.distortion, point[0] / point[2], point[1] / point[2])
        return self.fx * x + self.cx, self.fy * y + self.cy

    def ray(self, pixel: Pixel) -> Vector:
        """The direction (x, y, 1) in which a pixel looks.

        Raises:
            ValueError: no direction is seen there by the model of the lens.
        """
        wanted = (pixel[0] - self.cx) / self.fx, (pixel[1] - self.cy) / self.fy
        x, y = wanted
        for _ in range(_STEPS):
            at = _distort(self.distortion, x, y)
            error = at[0] - wanted[0], at[1] - wanted[1]
            if abs(error[0]) + abs(error[1]) < _CLOSE:
                return x, y, 1.0
            across, down = _distort(self.distortion, x + _NUDGE, y), _distort(self.distortion, x, y + _NUDGE)
            a, c = (across[0] - at[0]) / _NUDGE, (across[1] - at[1]) / _NUDGE
            b, d = (down[0] - at[0]) / _NUDGE, (down[1] - at[1]) / _NUDGE
            if (determinant := a * d - b * c) <= 0:
                break
            x -= (d * error[0] - b * error[1]) / determinant
            y -= (a * error[1] - c * error[0]) / determinant
        raise ValueError(f"the lens model sees nothing at pixel ({pixel[0]:.1f}, {pixel[1]:.1f})")


class Rig(Struct, frozen=True):
    """Two cameras: a point X of the left one is `rotation` X + `translation` of the right one.

    `size` is the width and height of the pictures of which the cameras are, None where they are those of the media.
    """

    left: Camera
    right: Camera
    rotation: Matrix
    translation: Vector
    size: tuple[int, int] | None = None

    def to_right(self, point: Vector) -> Vector:
        """A point of the left camera as one of the right camera."""
        return _plus(times(self.rotation, point), self.translation)

    def locate(self, left: Pixel, right: Pixel) -> tuple[Vector, float]:
        """The point seen at two pixels, and how far it is seen from them, as root mean square in pixels.

        The middle between both rays where they are closest, refined to the least sum of squares in pixels.

        Raises:
            ValueError: the pixels see no point before both cameras.
        """
        first, second = self.left.ray(left), _transposed_times(self.rotation, self.right.ray(right))
        center = _transposed_times(self.rotation, scaled(self.translation, -1))
        a, b, c = _dot(first, first), _dot(first, second), _dot(second, second)
        d, e = _dot(first, center), _dot(second, center)
        if (determinant := a * c - b * b) < _CLOSE * a * c:
            raise ValueError("the cameras look at it in the same direction, so it has no distance")
        near, far = (c * d - b * e) / determinant, (b * d - a * e) / determinant
        middle = scaled(_plus(scaled(first, near), _plus(center, scaled(second, far))), 0.5)

        def errors(point: Vector) -> list[float]:
            other = self.to_right(point)
            if min(point[2], other[2]) <= 0:
                raise ValueError("the pixels see no point before both cameras")
            one, two = self.left.project(point), self.right.project(other)
            return [one[0] - left[0], one[1] - left[1], two[0] - right[0], two[1] - right[1]]

        point = _least_squares(errors, middle)
        error = math.sqrt(sum(each * each for each in errors(point)) / 2)
        if not all(map(math.isfinite, (*point, error))):
            raise ValueError("the numbers of the calibration are too large, or too small, for a place")
        return point, error

    def epipolar_line(self, left: Pixel, distances: Sequence[float]) -> list[Pixel]:
        """Where the right camera sees what the left one sees at a pixel, for distances along the ray.

        Points that are not before the right camera are left out. Raises ValueError as `Camera.ray`.
        """
        ray = self.left.ray(left)
        unit = scaled(ray, 1 / length(ray))
        seen = (self.to_right(scaled(unit, distance)) for distance in distances)
        return [self.right.project(point) for point in seen if point[2] > 0]


def length(vector: Vector) -> float:
    """The length of a vector."""
    return math.sqrt(_dot(vector, vector))


def minus(one: Vector, two: Vector) -> Vector:
    """The difference of two vectors."""
    return one[0] - two[0], one[1] - two[1], one[2] - two[2]


def middle_of(one: Vector, two: Vector) -> Vector:
    """The point in the middle of two."""
    return scaled(_plus(one, two), 0.5)


def rotation_of(vector: Vector) -> Matrix:
    """The matrix of a rotation vector: its direction is the axis, its length the angle in radians (Rodrigues)."""
    angle = length(vector)
    if angle < _CLOSE:
        return IDENTITY
    x, y, z = scaled(vector, 1 / angle)
    c, s = math.cos(angle), math.sin(angle)
    t = 1 - c
    return (
        (t * x * x + c, t * x * y - s * z, t * x * z + s * y),
        (t * x * y + s * z, t * y * y + c, t * y * z - s * x),
        (t * x * z - s * y, t * y * z + s * x, t * z * z + c),
    )


def vector_of(rotation: Matrix) -> Vector:
    """The rotation vector of a matrix, as `rotation_of`. Raises ValueError for half a turn, which has two."""
    (_, xy, xz), (yx, _, yz), (zx, zy, _) = rotation
    axis = (zy - yz) / 2, (xz - zx) / 2, (yx - xy) / 2
    sine, cosine = length(axis), (rotation[0][0] + rotation[1][1] + rotation[2][2] - 1) / 2
    if sine < _CLOSE:
        if cosine < 0:
            raise ValueError("the cameras look in opposite directions")
        return axis
    return scaled(axis, math.atan2(sine, cosine) / sine)


def transposed(matrix: Matrix) -> Matrix:
    """Rows as columns: of a rotation, the one back."""
    one, two, three = zip(*matrix, strict=True)
    return one, two, three


def product(one: Matrix, two: Matrix) -> Matrix:
    """The matrix of `two` and then `one`."""
    a, b, c = (times(transposed(two), row) for row in one)
    return a, b, c


def _distort(given: Sequence[float], x: float, y: float) -> Pixel:
    k1, k2, p1, p2, k3, k4, k5, k6 = (*given, *([0.0] * (_COEFFICIENTS - len(given))))
    r = x * x + y * y
    if not (share := 1 + r * (k4 + r * (k5 + r * k6))):
        raise ValueError("the lens model divides by 0")
    radial = (1 + r * (k1 + r * (k2 + r * k3))) / share
    return (
        x * radial + 2 * p1 * x * y + p2 * (r + 2 * x * x),
        y * radial + p1 * (r + 2 * y * y) + 2 * p2 * x * y,
    )


def _least_squares(errors: Callable[[Vector], list[float]], start: Vector) -> Vector:
    """The point with the least sum of squares near a start: Gauss and Newton, with differences as derivatives."""
    point, found = start, errors(start)
    for _ in range(_STEPS):
        step = _NUDGE * max(1.0, length(point))
        columns = []
        for axis in range(3):
            moved = errors(tuple(value + step * (at == axis) for at, value in enumerate(point)))  # type: ignore[arg-type]
            columns.append([(new - old) / step for new, old in zip(moved, found, strict=True)])
        normal = tuple(tuple(_sum(one, two) for two in columns) for one in columns)
        change = _solve(normal, tuple(-_sum(one, found) for one in columns))
        if change is None:
            break
        after = _plus(point, change)
        following = errors(after)
        if _sum(following, following) >= _sum(found, found):
            break
        point, found = after, following
    return point


def _solve(matrix: tuple[tuple[float, ...], ...], wanted: tuple[float, ...]) -> Vector | None:
    """The solution of three equations by Cramer's rule; None where they have none."""
    whole = _determinant(matrix)
    if not whole:
        return None
    found = [
        _determinant(
            tuple(
                tuple(wanted[row] if column == axis else matrix[row][column] for column in range(3)) for row in range(3)
            )
        )
        / whole
        for axis in range(3)
    ]
    return found[0], found[1], found[2]


def _determinant(m: tuple[tuple[float, ...], ...]) -> float:
    return (
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
        - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    )


def _sum(one: Sequence[float], two: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, two, strict=True))


def _dot(one: Vector, two: Vector) -> float:
    return one[0] * two[0] + one[1] * two[1] + one[2] * two[2]


def _plus(one: Vector, two: Vector) -> Vector:
    return one[0] + two[0], one[1] + two[1], one[2] + two[2]


def scaled(vector: Vector, factor: float) -> Vector:
    """A vector, so many times as long."""
    return vector[0] * factor, vector[1] * factor, vector[2] * factor


def times(matrix: Matrix, vector: Vector) -> Vector:
    """The product of a matrix and a vector."""
    return _dot(matrix[0], vector), _dot(matrix[1], vector), _dot(matrix[2], vector)


def _transposed_times(matrix: Matrix, vector: Vector) -> Vector:
    return times(transposed(matrix), vector)
