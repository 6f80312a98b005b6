"""FathomNet CSV: `fathomnet.csv`, a line for each box, and `images/…`.

Boxes are whole pixels from 0, as FathomNet takes them: the left top pixel, and the number of pixels across and down.
Columns such as `depth` and `observer` are filled from attributes of the label, or else of its media, whose names equal
them whatever the case; latitude and longitude from a geopos attribute. Polygons become their bounds; lines, dots and
labels of media of unknown size are left out. Tracks, other attributes and ids are not held.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chalicelib.formats import manifest
from chalicelib.formats.model import (
    Dataset,
    Group,
    Label,
    Media,
    Section,
    Sink,
    box_of,
    fixed_files,
    fixed_layout,
    has_pixel_bounds,
    in_pixels,
    picture_name,
    split_picture_path,
)
from chalicelib.formats.writers.geojson import position

picture_path = split_picture_path
BY_FRAMES = True
PATH = "fathomnet.csv"
BOX = ("concept", "image", "x", "y", "width", "height")
FLAGS = ("occluded", "truncated", "groupof")
MORE = (
    *("altconcept", "observer", "imagingtype", "timestamp", "depth", "altitude", "temperature", "salinity"),
    *("oxygen", "pressure"),
)
COLUMNS = (*BOX, *FLAGS, *MORE, "latitude", "longitude", "userdefinedkey")


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:  # noqa: ARG001 no numbers
    """Write one part; see `model.Format`."""
    classes = set(dataset.classes)
    left_out = 0
    for group in groups:
        media = group.media
        manifest.write(group, sink)
        for label in group.labels:
            if label.class_name not in classes or not has_pixel_bounds(label, media):
                left_out += 1
                continue
            sink.append(PATH, "rows", manifest.line(_row(dataset, media, label)))
    return left_out


layout = fixed_layout(manifest.line(COLUMNS), Section("rows"))
always = fixed_files(PATH)


def _row(dataset: Dataset, media: Media, label: Label) -> list[Any]:
    x, y, width, height = box_of(in_pixels(label, media))
    left, top = min(max(round(x), 0), media.width - 1), min(max(round(y), 0), media.height - 1)
    right, bottom = min(round(x + width), media.width), min(round(y + height), media.height)
    box = (left, top, max(right - left, 1), max(bottom - top, 1))
    values = {name.casefold(): value for name, value in {**media.attributes, **label.attributes}.items()}
    flags = ("true" if str(values.get(name, False)).casefold() in ("true", "1", "yes") else "false" for name in FLAGS)
    place = position(dataset.label_attributes, label.attributes) or position(dataset.media_attributes, media.attributes)
    image = picture_name(media, label.frame, dataset.picture)
    return [
        *(label.class_name, image, *box),
        *flags,
        *(values.get(name) for name in MORE),
        *((place[1], place[0]) if place else (None, None)),
        label.elemental_id,
    ]
