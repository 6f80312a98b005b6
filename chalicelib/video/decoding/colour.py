"""Colour tags for sources without them, and the mapping from HDR and wide gamuts to BT.709.

All output for display is BT.709 or BT.601 and tagged so. HDR10 (PQ) and HLG are mapped in tone and gamut: reference
white, 203 cd/m², becomes nearly white, darker tones keep their brightness, and highlights are compressed.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING

from chalicelib.video.plan import VideoInfo

if TYPE_CHECKING:
    from av import VideoFrame

Tags = tuple[int, int, int]
"""Primaries, transfer and matrix in H.273 numbers."""
UNSPECIFIED = 2
UNSPECIFIED_RANGE, LIMITED_RANGE = 0, 1
BT709: Tags = (1, 1, 1)
BT601: Tags = (6, 6, 6)
_HD_LINES = 720
_PQ, _HLG, _BT2020 = 16, 18, 9
_FILLED: dict[int, Tags] = {1: BT709, 5: (5, 6, 5), 6: BT601, 7: (7, 7, 7), 9: (9, 14, 9)}
"""The default tags for a matrix, or for primaries without other tags."""
_SIDE = 33
_REFERENCE_WHITE, _HLG_PEAK = 203.0, 1000.0
_KNEE = 0.8
_GAMMA = 2.4
_TO_BT709 = ((1.6605, -0.5876, -0.0728), (-0.1246, 1.1329, -0.0083), (-0.0182, -0.1006, 1.1187))
"""Linear BT.2020 to linear BT.709, from the primaries of both (BT.2087)."""


def source_tags(color: Tags, height: int) -> Tags:
    """The tags of a source, completed: a source without any is BT.709 from 720 lines up, else BT.601."""
    known = next((_FILLED[tag] for tag in (color[2], color[0]) if tag in _FILLED), None)
    fallback = known or (BT709 if height >= _HD_LINES else BT601)
    primaries, transfer, matrix = (
        tag if tag not in (UNSPECIFIED, 0) else default for tag, default in zip(color, fallback, strict=True)
    )
    return primaries, transfer, matrix


def needs_mapping(color: Tags) -> bool:
    """Whether colours are HDR or of a wide gamut, which screens and browsers show too dark or too pale."""
    return color[1] in (_PQ, _HLG) or color[0] == _BT2020 or color[2] == _BT2020


def output_tags(video: VideoInfo) -> Tags:
    """The tags of renditions: the source's, BT.709 where it is RGB, HDR or of a wide gamut."""
    if is_rgb(video) or needs_mapping(video.color):
        return BT709
    return source_tags(video.color, video.stored_height)


def is_rgb(video: VideoInfo) -> bool:
    """Whether the source's pixels are red, green and blue rather than brightness and colour difference."""
    from av import VideoFormat  # noqa: PLC0415 - see video.opening

    form = VideoFormat(video.pix_fmt)
    return form.is_rgb or form.has_palette


def tag(picture: VideoFrame, height: int | None = None) -> None:
    """Tag a picture that has no matrix or range: the default for the height of its source, and limited range.

    A picture of the size and format that an encoder needs is not copied then.
    """
    if picture.color_range == UNSPECIFIED_RANGE and picture.format.name.startswith("yuv4"):
        picture.color_range = LIMITED_RANGE
    if picture.colorspace == UNSPECIFIED and not picture.format.is_rgb:
        picture.colorspace = source_tags((UNSPECIFIED,) * 3, height or picture.height)[2]


def mapping_steps(video: VideoInfo, size: tuple[int, int] | None) -> list[tuple[str, str | None]]:
    """The filters that map a source's colours to BT.709, scaling it down to `size` (width, height) before that.

    `{table}` in arguments stands for a file of `table_file`.
    """
    smaller = f"w={size[0]}:h={size[1]}:flags=bicubic:" if size and size[0] < video.stored_width else ""
    # The matrix of BT.2020 with constant luminance is rare, and close to the other.
    from_matrix = "" if is_rgb(video) else "in_color_matrix=bt2020:"
    return [
        ("scale", f"{smaller}{from_matrix}out_range=pc"),
        ("format", "gbrp12le"),
        ("lut3d", "file={table}:interp=tetrahedral"),
        ("scale", "out_color_matrix=bt709:out_range=tv"),
        ("format", "yuv420p"),
    ]


@contextlib.contextmanager
def table_file(video: VideoInfo) -> Iterator[str]:
    """The path of a table of colours in the .cube format, for as long as filters are set up."""
    kind = "pq" if video.color[1] == _PQ else "hlg" if video.color[1] == _HLG else "sdr"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.cube"
        path.write_text(_table(kind), "ascii")
        yield str(path)


@lru_cache(maxsize=3)
def _table(kind: str) -> str:
    to_light = {"pq": _pq, "hlg": _hlg, "sdr": _sdr}[kind]
    light = [to_light(step / (_SIDE - 1)) for step in range(_SIDE)]
    lines = [f"LUT_3D_SIZE {_SIDE}"]
    for blue in light:
        for green in light:
            for red in light:
                first, second, third = _mapped(red, green, blue, kind)
                lines.append(f"{first:.5f} {second:.5f} {third:.5f}")
    return "\n".join(lines)


def _mapped(red: float, green: float, blue: float, kind: str) -> tuple[float, float, float]:
    """A colour of linear light, 1 being reference white, as BT.709 for the screen."""
    if kind == "hlg":
        # The display of 1,000 cd/m² brightens by the luminance of the scene.
        luminance = 0.2627 * red + 0.6780 * green + 0.0593 * blue
        share = luminance**0.2 * _HLG_PEAK / _REFERENCE_WHITE
        red, green, blue = red * share, green * share, blue * share
    if kind != "sdr":
        largest = max(red, green, blue, 1e-6)
        share = _compress(largest) / largest
        red, green, blue = red * share, green * share, blue * share
    shown = (a * red + b * green + c * blue for a, b, c in _TO_BT709)
    first, second, third = (min(max(value, 0.0), 1.0) ** (1 / _GAMMA) for value in shown)
    return first, second, third


def _compress(light: float) -> float:
    return light if light <= _KNEE else 1 - (1 - _KNEE) * exp(-(light - _KNEE) / (1 - _KNEE))


def _pq(signal: float) -> float:
    """Light of a PQ signal (SMPTE ST 2084), 1 being reference white."""
    power = float(signal ** (1 / 78.84375))
    light = (max(power - 0.8359375, 0.0) / (18.8515625 - 18.6875 * power)) ** (1 / 0.1593017578125)
    return float(light * 10_000 / _REFERENCE_WHITE)


def _hlg(signal: float) -> float:
    """Scene light of an HLG signal (ARIB STD-B67), 0 to 1."""
    light: float = signal * signal / 3 if signal <= 0.5 else (exp((signal - 0.55991073) / 0.17883277) + 0.28466892) / 12  # noqa: PLR2004
    return light


def _sdr(signal: float) -> float:
    return float(signal**_GAMMA)
