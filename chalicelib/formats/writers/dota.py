"""DOTA: `labelTxt/<picture>.txt` and `images/…`, with turned boxes.

A line is the four corners in continuous pixels, clockwise from the top left of the box before it was turned, the class
and whether it is difficult, which is 0. Blanks of a class become `_`. Polygons and ellipses become their bounds, lines,
dots, open polygons and skeletons are left out, and so are labels of media of unknown size.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from posixpath import splitext

from chalicelib.formats import manifest
from chalicelib.formats.model import (
    Dataset,
    Group,
    Label,
    Media,
    Refined,
    Sink,
    has_pixel_bounds,
    no_files,
    no_layout,
    picture_name,
    split_picture_path,
)
from chalicelib.formats.refined import bounds, outline, pixel_label

picture_path = split_picture_path
BY_FRAMES = True
layout = no_layout
always = no_files


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:  # noqa: ARG001 no numbers in DOTA
    """Write one part; see `model.Format`. A picture without labels has an empty file."""
    left_out = 0
    for group in groups:
        manifest.write(group, sink)
        frames, more = group.texts_by_frame(partial(_line, dataset))
        left_out += more
        for frame, lines in sorted(frames.items()):
            stem = splitext(picture_name(group.media, frame, "jpg"))[0]
            folder = f"labelTxt/{group.media.split}" if group.media.split else "labelTxt"
            sink.add(f"{folder}/{stem}.txt", "".join(lines).encode())
    return left_out


def _line(dataset: Dataset, label: Label, media: Media) -> str:
    """The line of a label; empty for one that DOTA cannot hold."""
    refined = label.refined or Refined()
    is_line = refined.is_open or refined.visible is not None or bool(refined.points)
    if label.class_name not in dataset.classes or not has_pixel_bounds(label, media) or is_line:
        return ""
    shape = pixel_label(label, media)
    if label.kind == "box" and not refined.is_ellipse:
        corners = outline(shape)
    else:
        x, y, width, height = bounds(shape)
        corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    numbers = " ".join(f"{x:.12g} {y:.12g}" for x, y in corners)
    return f"{numbers} {'_'.join(label.class_name.split()) or '_'} 0\n"
