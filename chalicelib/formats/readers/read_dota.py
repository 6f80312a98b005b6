"""Read DOTA: `labelTxt/**/*.txt` beside pictures of the same names.

A line is four corners, a class and whether it is difficult, which is dropped. Corners of a rectangle are a box that is
turned by the angle of its first side; others are a polygon.
"""

from __future__ import annotations

import math

from chalicelib.errors import BadInput
from chalicelib.formats.model import Archive, Label, Refined
from chalicelib.formats.readers.reading import (
    MediaTable,
    Placed,
    Rows,
    base,
    dropped,
    matching,
    number,
    refusal,
    stem,
    text_lines,
)

_FIELDS = 9
"""Eight numbers and the class."""
_HEADS = ("imagesource:", "gsd:")
_BLANK = {"difficult": ("0",), "gsd": ("null", "None")}
"""Values that say nothing."""
_SQUARE = 1e-6
"""How far, in parts of its diagonal, corners may be from those of a rectangle."""


def read(archive: Archive) -> Rows:
    """The rows of an archive. Raises BadInput where it is not of the format at all."""
    paths = matching(archive, r"(.*/)?labelTxt[^/]*/.+\.txt")
    table = MediaTable(archive)
    if not paths and not table.is_ours:
        raise BadInput("DOTA: the archive has no labelTxt/*.txt.")
    pictures = {stem(name): name for name in matching(archive, r".+\.(jpg|jpeg|png|tif|tiff|bmp|webp)")}
    for path in paths:
        key, frame = table.locate(stem(path))
        yield from table.new(path, key, name=base(pictures.get(key, "")) or key, path=pictures.get(key, ""))
        for place, line in text_lines(archive, path):
            if line.lower().startswith(_HEADS):
                name, _, value = line.partition(":")
                yield from dropped(place, "head", {name.lower(): value.strip()}, blank=_BLANK)
                continue
            try:
                yield Placed(place, _label(line, key, frame))
                yield from dropped(
                    place, "line", dict(zip(("difficult", "more"), line.split()[_FIELDS:], strict=False)), blank=_BLANK
                )
            except ValueError as error:
                yield refusal(place, str(error))
    yield from table.rest()


def _label(line: str, media: str, frame: int) -> Label:
    fields = line.split()
    if len(fields) < _FIELDS:
        raise ValueError(f"{len(fields)} fields are fewer than {_FIELDS}: four corners and a class")
    numbers = tuple(map(number, fields[:8]))
    points = list(zip(numbers[::2], numbers[1::2], strict=True))
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = points
    common = {"media": media, "frame": frame, "class_name": fields[8]}
    width, height = math.hypot(bx - ax, by - ay), math.hypot(cx - bx, cy - by)
    diagonal = math.hypot(width, height)
    off = abs(ax + cx - bx - dx) + abs(ay + cy - by - dy)
    leaning = (bx - ax) * (cx - bx) + (by - ay) * (cy - by)
    turn = (bx - ax) * (cy - by) - (by - ay) * (cx - bx)
    if turn <= 0 or off > _SQUARE * diagonal or abs(leaning) > _SQUARE * diagonal**2:
        return Label(kind="poly", shape=numbers, unit="pixel", **common)  # type: ignore[arg-type]
    angle = math.degrees(math.atan2(by - ay, bx - ax))
    shape = ((ax + cx) / 2 - width / 2, (ay + cy) / 2 - height / 2, width, height)
    refined = Refined(angle=angle % 360) if abs(angle) > _SQUARE else None
    return Label(kind="box", shape=shape, unit="pixel", refined=refined, **common)  # type: ignore[arg-type]
