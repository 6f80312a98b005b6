"""YOLO as Ultralytics reads it: `data.yaml`, `images/<split>/…`, `labels/<split>/…txt`.

A line of a label file is the class, from 0 in the order of classes, and fractions of the picture's size: of a detection
the centre, width and height of the box; of a segmentation the corners of the polygon. Shapes are clipped to the
picture, as Ultralytics refuses others. A detection has the bounds of polygons, a segmentation the corners of boxes.
Lines and dots are left out, and so are shapes without extent. Tracks, attributes and ids are not held.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from posixpath import splitext

import msgspec

from chalicelib.formats import manifest
from chalicelib.formats.model import (
    Dataset,
    Group,
    Label,
    Layout,
    Media,
    Sink,
    box_of,
    corners_of,
    picture_name,
    scaled,
)

BY_FRAMES = True
DATA = "data.yaml"


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:  # noqa: ARG001 no numbers in YOLO
    """Write one part; see `model.Format`. A picture without labels has an empty label file."""
    numbers = {name: number for number, name in enumerate(dataset.classes)}
    left_out = 0
    for group in groups:
        manifest.write(group, sink)
        frames, more = group.texts_by_frame(partial(_line, dataset, numbers))
        left_out += more
        for frame, lines in sorted(frames.items()):
            sink.add(label_path(group.media, frame), "".join(lines).encode())
    return left_out


def layout(dataset: Dataset, path: str) -> Layout:  # noqa: ARG001 the same for all
    """`data.yaml`."""
    # A JSON string is a YAML string, whatever it contains.
    names = "".join(f"  {n}: {msgspec.json.encode(name).decode()}\n" for n, name in enumerate(dataset.classes))
    lines = [f"{split}: images/{split}\n" for split in dataset.splits] or ["train: images/train\n"]
    if "val" not in dataset.splits:
        lines.append(f"val: images/{dataset.splits[0] if dataset.splits else 'train'}\n")
    return (f"path: .\n{''.join(lines)}names:{' {}' if not names else ''}\n{names}".encode(),)


def always(dataset: Dataset) -> list[str]:  # noqa: ARG001 the same for all
    """`data.yaml`."""
    return [DATA]


def picture_path(media: Media, frame: int, extension: str) -> str:
    """Where the picture of a frame is. A dataset that is not split is in `train`."""
    return f"images/{media.split or 'train'}/{picture_name(media, frame, extension)}"


def label_path(media: Media, frame: int) -> str:
    """The label file of a frame: the path of its picture with `labels` for `images` and `.txt`."""
    return f"labels/{media.split or 'train'}/{splitext(picture_name(media, frame, 'jpg'))[0]}.txt"


def _line(dataset: Dataset, numbers: Mapping[str, int], label: Label, media: Media) -> str:
    """The line of a label; empty for one that YOLO cannot hold."""
    extent = _extent(dataset, label, media) if label.class_name in numbers and label.kind in ("box", "poly") else ""
    return extent and f"{numbers[label.class_name]} {extent}\n"


def _extent(dataset: Dataset, label: Label, media: Media) -> str:
    """The numbers of a box or polygon; empty for one without extent."""
    if label.unit == "pixel":
        if not (media.width and media.height):
            return ""
        shape = scaled(label.shape, 1 / media.width, 1 / media.height)
        label = msgspec.structs.replace(label, unit="fraction", shape=shape)
    if dataset.task == "segment":
        points = [(_clip(x), _clip(y)) for x, y in corners_of(label)]
        if len({x for x, _ in points}) < 2 or len({y for _, y in points}) < 2:  # noqa: PLR2004 no extent
            return ""
        return " ".join(f"{x:.12g} {y:.12g}" for x, y in points)
    x, y, width, height = box_of(label)
    left, top, right, bottom = _clip(x), _clip(y), _clip(x + width), _clip(y + height)
    if right <= left or bottom <= top:
        return ""
    return f"{(left + right) / 2:.12g} {(top + bottom) / 2:.12g} {right - left:.12g} {bottom - top:.12g}"


def _clip(number: float) -> float:
    return min(max(number, 0.0), 1.0)
