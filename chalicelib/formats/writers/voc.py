"""Pascal VOC: `Annotations/<picture>.xml`, `ImageSets/Main/<split>.txt`, `JPEGImages/…`.

Boxes are whole pixels, both ends included, counted from 1 (`Dataset.first_pixel`), as VOC defines them: a box over a
whole picture of 640 pixels is 1 to 640. Each edge is rounded to the nearest pixel's. Polygons become their bounds;
lines and dots are left out, and so are labels of media of unknown size. `labelmap.txt` has the classes, as CVAT and
datumaro write it; a class with a colon is not in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from posixpath import splitext
from xml.sax.saxutils import escape

from chalicelib.formats import manifest
from chalicelib.formats.model import (
    Dataset,
    Group,
    Label,
    Layout,
    Media,
    Section,
    Sink,
    box_of,
    has_pixel_bounds,
    in_pixels,
    picture_name,
)

BY_FRAMES = True
CLASSES = "labelmap.txt"
TRACK = "track_id"
"""The attribute with the key of a label's track."""
ROUNDING = 1e-6
"""Pixels by which the sum of a fraction and a length may miss an edge of the picture."""


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:  # noqa: ARG001 no numbers in VOC
    """Write one part; see `model.Format`."""
    left_out = 0
    for group in groups:
        manifest.write(group, sink)
        frames, more = group.texts_by_frame(partial(_object, dataset))
        left_out += more
        for frame, objects in sorted(frames.items()):
            name = picture_name(group.media, frame, dataset.picture)
            stem = splitext(name)[0]
            sink.add(f"Annotations/{stem}.xml", _document(group.media, name, objects).encode())
            sink.append(f"ImageSets/Main/{group.media.split or 'all'}.txt", "pictures", f"{stem}\n".encode())
    return left_out


def layout(dataset: Dataset, path: str) -> Layout:
    """The lists of pictures; the classes, as readers need that know others than the twenty of VOC."""
    if path != CLASSES:
        return (Section("pictures"),)
    names = ("background", *(name for name in dataset.classes if not set(name) & set(":\n\r")))
    return (b"# label:color_rgb:parts:actions\n" + "".join(f"{name}:::\n" for name in names).encode(),)


def always(dataset: Dataset) -> list[str]:
    """The lists of all splits."""
    return [CLASSES, *(f"ImageSets/Main/{split}.txt" for split in dataset.splits or ("all",))]


def picture_path(media: Media, frame: int, extension: str) -> str:
    """Where the picture of a frame is."""
    return f"JPEGImages/{picture_name(media, frame, extension)}"


def edges(low: float, length: float, side: int, first: int) -> tuple[int, int]:
    """The first and last pixel, both included, of an extent in pixels; at least one pixel within the picture."""
    start = min(max(round(low), 0), side - 1)
    return start + first, max(min(round(low + length), side), start + 1) - 1 + first


def _object(dataset: Dataset, label: Label, media: Media) -> str:
    """The element of a label; empty for one that VOC cannot hold."""
    if label.class_name not in dataset.classes or not has_pixel_bounds(label, media):
        return ""
    x, y, width, height = box_of(in_pixels(label, media))
    left, right = edges(x, width, media.width, dataset.first_pixel)
    top, bottom = edges(y, height, media.height, dataset.first_pixel)
    beyond = max(-x, -y, x + width - media.width, y + height - media.height)
    truncated = int(beyond > ROUNDING)
    attributes = {**label.attributes, **({TRACK: label.track} if label.track is not None else {})}
    more = "".join(
        f"<attribute><name>{text(name)}</name><value>{text(value)}</value></attribute>"
        for name, value in attributes.items()
    )
    return (
        f"  <object>\n    <name>{text(label.class_name)}</name>\n    <pose>Unspecified</pose>\n"
        f"    <truncated>{truncated}</truncated>\n    <difficult>0</difficult>\n"
        f"    <bndbox><xmin>{left}</xmin><ymin>{top}</ymin><xmax>{right}</xmax><ymax>{bottom}</ymax></bndbox>\n"
        f"    <attributes>{more}</attributes>\n  </object>\n"
    )


def _document(media: Media, name: str, objects: list[str]) -> str:
    return (
        f"<annotation>\n  <folder>JPEGImages</folder>\n  <filename>{text(name)}</filename>\n"
        f"  <source><database>{text(media.name)}</database></source>\n"
        f"  <size><width>{media.width}</width><height>{media.height}</height><depth>3</depth></size>\n"
        f"  <segmented>0</segmented>\n{''.join(objects)}</annotation>\n"
    )


def text(value: object) -> str:
    """A value as XML text: characters that XML 1.0 has no way to write become `?`."""
    written = manifest.as_text(value)
    return escape("".join(each if _is_xml(each) else "?" for each in written), {'"': "&quot;"})


def _is_xml(each: str) -> bool:
    return each in "\t\n\r" or " " <= each <= "\ud7ff" or "\ue000" <= each <= "\ufffd" or each >= "\U00010000"
