"""Segmentation as Pascal VOC: `SegmentationClass/<picture>.png`, `SegmentationObject/<picture>.png`, `labelmap.txt`.

A pixel has the index of its class, from 1 in the order of classes, or of its object, from 1 on each picture; 0 is none.
`ImageSets/Segmentation/<split>.txt` names the pictures. The palette has VOC's colours. Where labels overlap, the later
one is on top. Boxes, ellipses, polygons and masks are drawn; all others, labels of media of unknown size, of classes
from the 255th on, and beyond 254 of a picture are left out.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable
from posixpath import splitext
from typing import Any

from chalicelib.core.values import rle
from chalicelib.formats import manifest
from chalicelib.formats.model import (
    Dataset,
    Group,
    Label,
    Layout,
    Media,
    Refined,
    Section,
    Sink,
    fixed_files,
    has_pixel_bounds,
    picture_name,
)
from chalicelib.formats.refined import runs

BY_FRAMES = True
CLASSES = "labelmap.txt"
LISTS = "ImageSets/Segmentation/"
MAX_CLASSES = 254
"""Classes, and objects of a picture: 255 is VOC's index of what is not labelled."""
MOST_PIXELS = 100_000_000


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:  # noqa: ARG001 numbers a picture
    """Write one part; see `model.Format`."""
    numbers = {name: number for number, name in enumerate(dataset.classes[:MAX_CLASSES], 1)}
    left_out = 0
    for group in groups:
        manifest.write(group, sink)
        frames: defaultdict[int, list[Label]] = defaultdict(list)
        wanted = set(group.frames)
        for label in group.labels:
            is_held = label.class_name in numbers and label.frame in wanted and has_inside(label, group.media)
            if is_held and len(frames[label.frame]) < MAX_CLASSES:
                frames[label.frame].append(label)
            else:
                left_out += 1
        for frame in sorted(wanted):
            if 0 < group.media.width * group.media.height <= MOST_PIXELS:
                _pictures(group.media, frame, frames.get(frame, []), numbers, sink)
                stem = splitext(picture_name(group.media, frame, "png"))[0]
                sink.append(f"{LISTS}{group.media.split or 'all'}.txt", "rows", f"{stem}\n".encode())
    return left_out


def layout(dataset: Dataset, path: str) -> Layout:
    """The classes with their colours; the names of pictures."""
    if path.startswith(LISTS):
        return (Section("rows"),)
    if path != CLASSES:
        raise KeyError(path)
    names = ("background", *(name.replace(":", " ") for name in dataset.classes[:MAX_CLASSES]))
    lines = (f"{' '.join(name.split())}:{','.join(map(str, colour(place)))}::\n" for place, name in enumerate(names))
    return (b"# label:color_rgb:parts:actions\n" + "".join(lines).encode(),)


always = fixed_files(CLASSES)


def picture_path(media: Media, frame: int, extension: str) -> str:
    """Where the picture of a frame is."""
    return f"JPEGImages/{picture_name(media, frame, extension)}"


def colour(index: int) -> tuple[int, int, int]:
    """VOC's colour of an index: its bits spread over red, green and blue, the lowest highest."""
    found = [0, 0, 0]
    for bit in range(8):
        for channel in range(3):
            found[channel] |= (index >> (3 * bit + channel) & 1) << (7 - bit)
    return found[0], found[1], found[2]


def has_inside(label: Label, media: Media) -> bool:
    """Whether a label covers pixels of a picture of known size: all but lines, dots, polylines and skeletons."""
    refined = label.refined or Refined()
    is_line = refined.is_open or refined.visible is not None or bool(refined.points)
    return has_pixel_bounds(label, media) and not is_line and media.width * media.height <= MOST_PIXELS


def _pictures(media: Media, frame: int, labels: list[Label], numbers: dict[str, int], sink: Sink) -> None:
    from PIL import Image  # noqa: PLC0415 kept off the API's cold start

    size = (media.width, media.height)
    classes, objects = Image.new("P", size), Image.new("P", size)
    for number, label in enumerate(labels, 1):
        columns = Image.frombytes("L", (media.height, media.width), rle.pixels(runs(label, media)))
        inside = columns.transpose(Image.Transpose.TRANSPOSE)
        classes.paste(numbers[label.class_name], mask=inside)
        objects.paste(number, mask=inside)
    stem = splitext(picture_name(media, frame, "png"))[0]
    for folder, image in (("SegmentationClass", classes), ("SegmentationObject", objects)):
        sink.add(f"{folder}/{stem}.png", _png(image))


def _png(image: Any) -> bytes:
    image.putpalette([part for index in range(256) for part in colour(index)])
    out = io.BytesIO()
    image.save(out, "PNG", optimize=False)
    return out.getvalue()
