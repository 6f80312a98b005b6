"""YOLO as Ultralytics reads it: `data.yaml`, `images/<split>/…`, `labels/<split>/…txt`.

A line of a label file is the class, from 0 in the order of classes, and fractions of the picture's size: of a detection
the centre, width and height of the box; of a segmentation the corners of the polygon. Shapes are clipped to the
picture, as Ultralytics refuses others. A detection has the bounds of polygons, a segmentation the corners of boxes and
the outline of the largest part of a mask, an oriented box (`obb`) four corners. A pose has the box around a skeleton,
then x, y and visibility of each point. Lines, open polygons and dots are left out, and so are shapes without extent;
poses have skeletons only. Tracks, attributes and ids are not held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from posixpath import splitext

import msgspec

from chalicelib.core.values import outlines, rle
from chalicelib.formats import manifest
from chalicelib.formats.model import (
    Dataset,
    Group,
    Label,
    Layout,
    Media,
    Refined,
    Sink,
    box_of,
    corners_of,
    fixed_files,
    has_pixel_bounds,
    picture_name,
    scaled,
)
from chalicelib.formats.refined import outline, pixel_label, runs

BY_FRAMES = True
DATA = "data.yaml"
_CORNERS = 4


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
    if dataset.task == "pose":
        lines.append(f"kpt_shape: [{_most_points(dataset)}, 3]\n")
    return (f"path: .\n{''.join(lines)}names:{' {}' if not names else ''}\n{names}".encode(),)


always = fixed_files(DATA)


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
    refined = label.refined or Refined()
    is_skeleton = bool(refined.points) or refined.visible is not None
    if refined.is_open or is_skeleton != (dataset.task == "pose"):
        return ""
    is_outlined = dataset.task == "segment" and refined.mask is not None and has_pixel_bounds(label, media)
    placed = _in_fractions(_outlined(label, media) if is_outlined else label, media)
    if placed is None:
        return ""
    if dataset.task in ("segment", "obb"):
        return _outline(placed, is_box=dataset.task == "obb")
    x, y, width, height = box_of(placed)
    left, top, right, bottom = _clip(x), _clip(y), _clip(x + width), _clip(y + height)
    if right <= left or bottom <= top:
        return ""
    more = "".join(_keypoints(dataset, placed, refined)) if is_skeleton else ""
    return f"{(left + right) / 2:.12g} {(top + bottom) / 2:.12g} {right - left:.12g} {bottom - top:.12g}{more}"


def _outlined(label: Label, media: Media) -> Label:
    """The polygon around the largest part of a mask, without its holes; a mask without a pixel has its box."""
    found = runs(label, media)
    if not rle.area(found):
        return label
    ring, _ = outlines.of_mask(found, media.height)
    points = tuple(number for point in ring for number in point)
    return Label(media=label.media, kind="poly", shape=points, unit="pixel")


def _in_fractions(label: Label, media: Media) -> Label | None:
    """The label in fractions, what is turned or round as the polygon around it; None where the size is not known."""
    refined = label.refined
    is_turned = refined is not None and (refined.angle or refined.is_ellipse)
    if (label.unit == "pixel" or is_turned) and not (media.width and media.height):
        return None
    if is_turned:
        points = tuple(number for point in outline(pixel_label(label, media)) for number in point)
        label = Label(media=label.media, kind="poly", shape=points, unit="pixel")
    if label.unit == "pixel":
        shape = scaled(label.shape, 1 / media.width, 1 / media.height)
        label = msgspec.structs.replace(label, unit="fraction", shape=shape)
    return label


def _outline(label: Label, *, is_box: bool) -> str:
    points = corners_of(label)
    if is_box and len(points) != _CORNERS:
        points = corners_of(msgspec.structs.replace(label, kind="box", shape=box_of(label)))
    points = [(_clip(x), _clip(y)) for x, y in points]
    if len({x for x, _ in points}) < 2 or len({y for _, y in points}) < 2:  # noqa: PLR2004 no extent
        return ""
    return " ".join(f"{x:.12g} {y:.12g}" for x, y in points)


def _most_points(dataset: Dataset) -> int:
    return max((len(points) for points, _ in dataset.skeletons.values()), default=1)


def _keypoints(dataset: Dataset, label: Label, refined: Refined) -> Iterator[str]:
    """The points of a skeleton, and points that are not marked up to the number that all poses have."""
    points = corners_of(label)
    for (x, y), flag in zip(points, refined.visible or (2,) * len(points), strict=True):
        yield f" {_clip(x):.12g} {_clip(y):.12g} {flag}"
    yield from [" 0 0 0"] * (_most_points(dataset) - len(points))


def _clip(number: float) -> float:
    return min(max(number, 0.0), 1.0)
