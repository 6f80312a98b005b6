"""Read YOLO as Ultralytics writes it: `data.yaml` (or `classes.txt`), `labels/**/*.txt`, `images/**`.

A line of five numbers is a detection, an odd number from seven on a segmentation; so are the four corners of an
oriented box. With `kpt_shape` in `data.yaml` a line is a box and the points of a skeleton. A label file belongs to the
picture of the same name.
"""

from __future__ import annotations

from typing import Any

from chalicelib.core.text.numbers import natural
from chalicelib.errors import BadInput
from chalicelib.formats.model import Archive, Label, Refined
from chalicelib.formats.readers.reading import (
    MediaTable,
    Placed,
    Rows,
    base,
    matching,
    number,
    refusal,
    stem,
    text_lines,
    yaml_document,
)

LARGEST_YAML = 1024 * 1024
MOST_POINTS = 1_000
_BOX = 5
_LEAST = 7
"""The class and three points."""
_PICTURES = ("jpg", "jpeg", "png", "webp", "bmp", "tif", "tiff", "heic", "avif")
_NOT_LABELS = ("classes.txt", "train.txt", "val.txt", "test.txt", "obj.names")


def read(archive: Archive) -> Rows:
    """The rows of an archive. Raises BadInput where it is not of the format at all."""
    classes, points = _classes(archive), _points_of_pose(archive)
    pictures = {stem(name): name for name in matching(archive, rf".+\.({'|'.join(_PICTURES)})")}
    paths = matching(archive, r"(.*/)?labels/.+\.txt") or [
        path for path in matching(archive, r".+\.txt") if base(path) not in _NOT_LABELS
    ]
    table = MediaTable(archive)
    if not paths and not pictures and not table.is_ours:
        raise BadInput("YOLO: the archive has neither label files (.txt) nor pictures.")
    for path in paths:
        key, frame = table.locate(stem(path))
        yield from _media(table, path, key, pictures)
        for place, line in text_lines(archive, path):
            try:
                yield Placed(place, _label(line, key, frame, classes, points))
            except ValueError as error:
                yield refusal(place, str(error))
    for name, path in sorted(pictures.items()):  # pictures without a label file are background
        yield from _media(table, path, table.locate(name)[0], pictures)
    yield from table.rest()


def _media(table: MediaTable, place: str, key: str, pictures: dict[str, str]) -> Rows:
    picture = pictures.get(key, "")
    return table.new(place, key, name=base(picture) or key, path=picture)


def _label(line: str, media: str, frame: int, classes: dict[int, str], points: tuple[int, int] | None) -> Label:
    head, *rest = line.split()
    place = natural(head)
    if place is None or place not in classes:
        raise ValueError(f"class {head[:20]!r} is not one of the classes 0 to {len(classes) - 1}")
    found = tuple(map(number, rest))
    members: dict[str, Any] = {"media": media, "frame": frame, "class_name": classes[place]}
    if points is not None and len(found) + 1 == _BOX + points[0] * points[1]:
        rows = [found[start : start + points[1]] for start in range(_BOX - 1, len(found), points[1])]
        visible = tuple(int(row[2]) if len(row) > 2 else 2 for row in rows)  # noqa: PLR2004 x, y and a flag
        shape = tuple(number for row in rows for number in row[:2])
        return Label(kind="poly", shape=shape, refined=Refined(visible=visible), **members)
    if len(found) + 1 == _BOX:
        x, y, width, height = found
        return Label(kind="box", shape=(x - width / 2, y - height / 2, width, height), **members)
    if len(found) + 1 >= _LEAST and len(found) % 2 == 0:
        return Label(kind="poly", shape=found, **members)
    raise ValueError(f"{len(found) + 1} numbers are neither a box (5) nor a polygon (an odd number from 7 on)")


def _classes(archive: Archive) -> dict[int, str]:
    """The names of the classes by number: of `data.yaml`, or the lines of `classes.txt`."""
    found = matching(archive, r"(.*/)?[^/]+\.ya?ml")
    for path in sorted(found, key=lambda path: (base(path) != "data.yaml", path)):
        if (names := _yaml_names(archive, path)) is not None:
            return names
    for path in matching(archive, r"(.*/)?(classes\.txt|obj\.names)"):
        return {index: line for index, (_, line) in enumerate(text_lines(archive, path))}
    raise BadInput("YOLO: the archive has neither a data.yaml with names nor a classes.txt.")


def _points_of_pose(archive: Archive) -> tuple[int, int] | None:
    """How many points a skeleton has, and how many numbers each; None where the archive has no poses."""
    for path in matching(archive, r"(.*/)?data\.ya?ml"):
        found = yaml_document(archive, path, LARGEST_YAML).get("kpt_shape")
        if isinstance(found, list) and len(found) == 2 and all(isinstance(each, int) for each in found):  # noqa: PLR2004
            if 1 <= found[0] <= MOST_POINTS and found[1] in (2, 3):
                return found[0], found[1]
            raise BadInput(f"{path}: kpt_shape {found} is not [points, 2 or 3].")
    return None


def _yaml_names(archive: Archive, path: str) -> dict[int, str] | None:
    names = yaml_document(archive, path, LARGEST_YAML).get("names")
    if isinstance(names, list):
        names = dict(enumerate(names))
    if not isinstance(names, dict):
        return None
    if not all(isinstance(number, int) and isinstance(name, str | int | float) for number, name in names.items()):
        raise BadInput(f"{path}: names must be a list of names, or names by number.")
    return {number: str(name) for number, name in names.items()}
