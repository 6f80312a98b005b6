"""COCO: `annotations/instances_<split>.json`, with videos and tracks as in TAO and CocoVID.

Boxes are `bbox`, polygons `segmentation`, dots one keypoint. Pixels are continuous: the left edge of the first pixel is
0, the right edge of the last the width. `category_id` counts from 1 in the order of classes, `frame_id` from 0.
Lines, and labels of media of unknown size, are left out.

What COCO has no member for is in `limn`, which its readers ignore.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from chalicelib.core.text.numbers import natural
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
    in_pixels,
    picture_name,
    split_picture_path,
)

picture_path = split_picture_path
BY_FRAMES = True
POINT = "point"
"""The name of the keypoint of a dot."""
VISIBLE = 2
"""COCO's flag of a keypoint that is labelled and visible."""
_encode = msgspec.json.Encoder().encode


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:
    """Write one part; see `model.Format`."""
    numbers = {name: number for number, name in enumerate(dataset.classes, 1)}
    left_out = 0
    for group in groups:
        media, path = group.media, path_of(group.media)
        manifest.write(group, sink)
        images = {}
        for frame in group.frames:
            images[frame] = first
            sink.append(path, "images", _encode(_image(dataset, media, frame, first)))
            first += 1
        if media.is_video and group.is_first:
            sink.append(path, "videos", _encode(_video(media)))
        for state in group.states if group.is_first else ():
            if state.association == "track":
                track = {"id": state.id or first, "category_id": numbers.get(state.class_name), "video_id": media.id}
                sink.append(path, "tracks", _encode({**track, "limn": _more(state)}))
                first += 1
        for label in group.labels:
            made = _annotation(label, media)
            if made is None or label.frame not in images or label.class_name not in numbers:
                left_out += 1
                continue
            made |= {"id": first, "image_id": images[label.frame], "category_id": numbers[label.class_name]}
            sink.append(path, "annotations", _encode(made))
            first += 1
    return left_out


def layout(dataset: Dataset, path: str) -> Layout:  # noqa: ARG001 the same for all
    """The document around images, annotations, videos and tracks."""
    categories = [
        {"id": number, "name": name, "supercategory": "", "keypoints": [POINT], "skeleton": []}
        for number, name in enumerate(dataset.classes, 1)
    ]
    info = {"description": dataset.name, "version": "1.0", "date_created": dataset.created, "limn": dataset.source}
    parts: list[bytes | Section] = [b'{"info":' + _encode(info) + b',"licenses":[],"categories":' + _encode(categories)]
    for name in ("videos", "images", "tracks", "annotations"):
        parts += [b',\n"%b":[\n' % name.encode(), Section(name, b",\n"), b"\n]"]
    return (*parts, b"}\n")


def always(dataset: Dataset) -> list[str]:
    """The documents of all splits."""
    return [f"annotations/instances_{split}.json" for split in dataset.splits or ("all",)]


def path_of(media: Media) -> str:
    """The document of a media's split."""
    return f"annotations/instances_{media.split or 'all'}.json"


def _image(dataset: Dataset, media: Media, frame: int, number: int) -> dict[str, Any]:
    name = picture_name(media, frame, dataset.picture)
    made = {"id": number, "file_name": name, "width": media.width, "height": media.height}
    made["limn"] = {"media": media.key, "frame": frame}
    if media.is_video:
        made |= {"video_id": media.id, "frame_id": frame}
    return made


def _video(media: Media) -> dict[str, Any]:
    members = {"id": media.id, "name": media.name, "width": media.width, "height": media.height}
    return {**members, "length": media.frames, "fps": media.fps, "limn": {"media": media.key}}


def _annotation(label: Label, media: Media) -> dict[str, Any] | None:
    """The annotation without its numbers; None for a label that COCO cannot hold."""
    if label.kind == "line" or (label.unit == "fraction" and not (media.width and media.height)):
        return None
    shape = in_pixels(label, media)
    box = list(box_of(shape))
    made: dict[str, Any] = {"bbox": box, "area": box[2] * box[3], "iscrowd": 0, "segmentation": []}
    if label.kind == "poly":
        made |= {"segmentation": [list(shape.shape)], "area": area(shape.shape)}
    elif label.kind == "dot":
        made |= {"keypoints": [*shape.shape, VISIBLE], "num_keypoints": 1}
    if label.track is not None:
        made |= {"track_id": track_number(label.track), "video_id": media.id}
    more = {"kind": label.kind, **_more(label)}
    if not label.keyed:
        more["keyed"] = False
    return {**made, "limn": more}


def track_number(key: str) -> int | str:
    """A track's key, as a number where it is one."""
    return key if (number := natural(key)) is None else number


def area(points: tuple[float, ...]) -> float:
    """The area of a polygon, given as x0, y0, x1, y1 and so on."""
    xs, ys = points[::2], points[1::2]
    return abs(sum(xs[n - 1] * ys[n] - xs[n] * ys[n - 1] for n in range(len(xs)))) / 2


def _more(row: Any) -> dict[str, Any]:
    """What COCO has no member for."""
    members = {name: getattr(row, name) for name in ("id", "elemental_id", "type", "version", "attributes")}
    return {name: value for name, value in members.items() if value}
