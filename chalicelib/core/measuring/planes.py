"""From pixels of one camera to places on the plane that it looks at.

A scale from a reference of known length holds for one plane that the camera looks at squarely. From altitude and field
of view comes the place at which a ray of a pinhole camera meets level ground (R. Hartley and A. Zisserman, "Multiple
View Geometry in Computer Vision", 2nd edition 2004, section 8.1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct, structs

from chalicelib.core.measuring.cameras import Camera, Pixel

_LEAST_DOWN = 1e-3
"""How far a ray of unit depth must go down to meet the ground: 0.06 degrees below the horizon."""
_WIDEST = 179.0
_FARTHEST = 1e9
"""Pixels from the middle that are still a place."""


class Plane(Protocol):
    """What a camera looks at: a place for each pixel, and what the plane would be if its parameters were others."""

    def place(self, pixel: Pixel) -> Pixel:
        """The place that is seen at a pixel, in the unit of the plane. Raises ValueError where there is none."""
        ...

    def variants(self) -> Sequence[Plane]:
        """The plane with each of its uncertain parameters greater by a standard deviation."""
        ...


class Scaled(Struct, frozen=True):
    """A plane that the camera looks at squarely: `scale` units for each pixel, `error` its standard deviation."""

    scale: float
    error: float = 0.0

    def place(self, pixel: Pixel) -> Pixel:
        """The place that is seen at a pixel."""
        return pixel[0] * self.scale, pixel[1] * self.scale

    def variants(self) -> Sequence[Scaled]:
        """The plane at a scale that is greater by a standard deviation."""
        return (structs.replace(self, scale=self.scale + self.error),) if self.error else ()


class Ground(Struct, frozen=True, kw_only=True):
    """Level ground below a pinhole camera.

    Attributes:
        size: width and height of the picture in pixels, which are square.
        altitude: height above the ground.
        field_of_view: degrees across the width of the picture.
        tilt: degrees by which the camera looks up from straight down, towards the top of the picture.
        altitude_error, field_of_view_error, tilt_error: standard deviations.
    """

    size: tuple[int, int]
    altitude: float
    field_of_view: float
    tilt: float = 0.0
    altitude_error: float = 0.0
    field_of_view_error: float = 0.0
    tilt_error: float = 0.0

    def place(self, pixel: Pixel) -> Pixel:
        """The place below a pixel; (0, 0) is below the camera. Raises ValueError for a pixel that sees no ground."""
        width, height = self.size
        focal = width / 2 / math.tan(math.radians(self.field_of_view) / 2)
        across, down = (pixel[0] - width / 2) / focal, (pixel[1] - height / 2) / focal
        sine, cosine = math.sin(math.radians(self.tilt)), math.cos(math.radians(self.tilt))
        depth = cosine + down * sine
        if depth < _LEAST_DOWN:
            raise ValueError(f"pixel ({pixel[0]:.0f}, {pixel[1]:.0f}) looks above the horizon")
        return self.altitude * across / depth, self.altitude * (down * cosine - sine) / depth

    def variants(self) -> Sequence[Ground]:
        """The ground of each uncertain parameter greater by a standard deviation."""
        wide = min(self.field_of_view + self.field_of_view_error, _WIDEST)
        moved = (
            structs.replace(self, altitude=self.altitude + self.altitude_error),
            structs.replace(self, field_of_view=wide),
            structs.replace(self, tilt=self.tilt + self.tilt_error),
        )
        return [each for each in moved if each != self]


class Lens(Struct, frozen=True):
    """The lens of a camera whose pictures have a size: it gives pixels as a pinhole camera would have them.

    That camera has square pixels, the focal length of this one across, and its principal point in the middle.
    """

    camera: Camera
    size: tuple[int, int]

    @property
    def field_of_view(self) -> float:
        """Degrees across the width of the picture of the pinhole camera."""
        return 2 * math.degrees(math.atan(self.size[0] / 2 / self.camera.fx))

    def straight(self, pixel: Pixel) -> Pixel:
        """A pixel without the distortion of the lens. Raises ValueError where the lens sees nothing."""
        x, y, _ = self.camera.ray(pixel)
        x, y = self.size[0] / 2 + self.camera.fx * x, self.size[1] / 2 + self.camera.fx * y
        if not max(abs(x), abs(y)) < _FARTHEST:
            raise ValueError(f"the lens moves pixel ({pixel[0]:.0f}, {pixel[1]:.0f}) too far")
        return x, y


class Through(Struct, frozen=True):
    """A plane that is seen through a lens."""

    plane: Plane
    lens: Lens

    def place(self, pixel: Pixel) -> Pixel:
        """As of the plane, without the distortion of the lens."""
        return self.plane.place(self.lens.straight(pixel))

    def variants(self) -> Sequence[Through]:
        """As of the plane."""
        return [Through(each, self.lens) for each in self.plane.variants()]


def scale_of(references: Sequence[tuple[float, float]], point_error: float, length_error: float = 0.0) -> Scaled:
    """The scale from references, least squares: each is a known length and what it measures in pixels.

    Args:
        references: at least one pair of length and pixels, both above 0.
        point_error: standard deviation in pixels of each coordinate of their ends.
        length_error: standard deviation of the known lengths, which all have in common, as a share of them.
    """
    squares = sum(pixels * pixels for _, pixels in references)
    scale = sum(known * pixels for known, pixels in references) / squares
    return Scaled(scale, scale * math.sqrt(2 * point_error**2 / squares + length_error**2))
