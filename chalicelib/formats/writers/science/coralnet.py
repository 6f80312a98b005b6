"""CoralNet's CSV of point annotations: `annotations.csv`, a line for each dot.

`Name` is the name of the picture, `Row` and `Column` the whole pixel from 0 that holds the dot, `Label` its class.
Anything but dots, and dots on media of unknown size or without their picture, are left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.formats import manifest
from chalicelib.formats.model import (
    Dataset,
    Group,
    Label,
    Media,
    Section,
    Sink,
    fixed_files,
    fixed_layout,
    in_pixels,
    picture_name,
)
from chalicelib.formats.model import split_picture_path as picture_path

__all__ = ["BY_FRAMES", "always", "layout", "picture_path", "write"]
BY_FRAMES = True
FILE = "annotations.csv"
COLUMNS = ("Name", "Row", "Column", "Label")


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:  # noqa: ARG001 no numbers
    """Write one part; see `model.Format`."""
    left_out = 0
    for group in groups:
        media, pictured = group.media, set(group.frames)
        manifest.write(group, sink)
        for label in group.labels:
            if not _is_held(label, media, dataset) or label.frame not in pictured:
                left_out += 1
                continue
            x, y = in_pixels(label, media).shape
            place = [min(int(y), media.height - 1), min(int(x), media.width - 1)]
            name = picture_name(media, label.frame, dataset.picture)
            sink.append(FILE, "rows", manifest.line([name, *place, label.class_name]))
    return left_out


layout = fixed_layout(manifest.line(COLUMNS), Section("rows"))
always = fixed_files(FILE)


def _is_held(label: Label, media: Media, dataset: Dataset) -> bool:
    return label.kind == "dot" and label.class_name in dataset.classes and bool(media.width and media.height)
