"""COCO: `annotations/instances_<split>.json`, with videos and tracks as in TAO and CocoVID.

Boxes are `bbox`, polygons `segmentation`, dots one keypoint, skeletons several. Masks and polygons with holes are run
lengths of the picture, turned boxes and ellipses polygons around them. Pixels are continuous: the left edge of the
first pixel is 0, the right edge of the last the width. `category_id` counts from 1 in the order of classes, `frame_id`
from 0.
Lines and polylines, and labels of media of unknown size, are left out.

Documents are KWCOCO's, too, which adds `frame_index` and names. What COCO has no member for is in `limn`,
which its readers ignore.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from chalicelib.core.text.numbers import natural
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
    picture_name,
    split_picture_path,
)
from chalicelib.formats.refined import area, bounds, outline, pixel_label, runs

picture_path = split_picture_path
BY_FRAMES = True
POINT = "point"
"""The name of the keypoint of a dot."""
VISIBLE = 2
"""COCO's flag of a keypoint that is labelled and visible."""
_encode = msgspec.json.Encoder().encode


def path_of(media: Media) -> str:
    """The document of a media's split."""
    return f"annotations/instances_{media.split or 'all'}.json"


def write(
    dataset: Dataset,
    groups: Iterable[Group],
    sink: Sink,
    first: int,
    *,
    path_of: Callable[[Media], str] = path_of,
    file_name: Callable[[Media, int, str], str] = picture_name,
) -> int:
    """Write one part; see `model.Format`. `path_of` is the document of a media, `file_name` what it calls a picture."""
    numbers = {name: number for number, name in enumerate(dataset.classes, 1)}
    left_out = 0
    for group in groups:
        media, path = group.media, path_of(group.media)
        manifest.write(group, sink)
        images = {}
        for frame in group.frames:
            images[frame] = first
            sink.append(path, "images", _encode(_image(media, frame, first, file_name(media, frame, dataset.picture))))
            first += 1
        if media.is_video and group.is_first:
            sink.append(path, "videos", _encode(_video(media)))
        for state in group.states if group.is_first else ():
            if state.association == "track":
                track = {"id": state.id or first, "name": f"{media.key}:{state.key}", "video_id": media.id}
                track |= {"category_id": numbers.get(state.class_name)}
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
    categories = [_category(dataset, number, name) for number, name in enumerate(dataset.classes, 1)]
    info = {"description": dataset.name, "version": "1.0", "date_created": dataset.created, "limn": dataset.source}
    parts: list[bytes | Section] = [b'{"info":' + _encode(info) + b',"licenses":[],"categories":' + _encode(categories)]
    for name in ("videos", "images", "tracks", "annotations"):
        parts += [b',\n"%b":[\n' % name.encode(), Section(name, b",\n"), b"\n]"]
    return (*parts, b"}\n")


def always(dataset: Dataset) -> list[str]:
    """The documents of all splits."""
    return [f"annotations/instances_{split}.json" for split in dataset.splits or ("all",)]


def _category(dataset: Dataset, number: int, name: str) -> dict[str, Any]:
    points, edges = dataset.skeletons.get(name, ((POINT,), ()))
    joined = [[first + 1, second + 1] for first, second in edges]
    return {"id": number, "name": name, "supercategory": "", "keypoints": points, "skeleton": joined}


def _image(media: Media, frame: int, number: int, file_name: str) -> dict[str, Any]:
    name = picture_name(media, frame, "").removesuffix(".")
    made = {"id": number, "file_name": file_name, "name": name, "width": media.width, "height": media.height}
    made["limn"] = {"media": media.key, "frame": frame}
    if media.is_video:
        made |= {"video_id": media.id, "frame_id": frame, "frame_index": frame}
    return made


def _video(media: Media) -> dict[str, Any]:
    members = {"id": media.id, "name": media.name, "width": media.width, "height": media.height}
    return {**members, "length": media.frames, "fps": media.fps, "limn": {"media": media.key}}


def _annotation(label: Label, media: Media) -> dict[str, Any] | None:
    """The annotation without its numbers; None for a label that COCO cannot hold."""
    if label.kind == "line" or (label.unit == "fraction" and not (media.width and media.height)):
        return None
    shape = pixel_label(label, media)
    refined = label.refined or Refined()
    if refined.is_open:
        return None
    made: dict[str, Any] = {"bbox": list(bounds(shape)), "area": area(shape), "iscrowd": 0, "segmentation": []}
    made["segmentation"] = _segmentation(shape, media)
    if refined.visible is not None or refined.points:
        points = list(zip(shape.shape[::2], shape.shape[1::2], strict=True))
        flags = refined.visible or (VISIBLE,) * len(points)
        flat = [number for (x, y), flag in zip(points, flags, strict=True) for number in (x, y, flag)]
        made |= {"keypoints": flat, "num_keypoints": sum(flag > 0 for flag in flags)}
    elif label.kind == "dot":
        made |= {"keypoints": [*shape.shape, VISIBLE], "num_keypoints": 1}
    if label.track is not None:
        made |= {"track_id": track_number(label.track), "video_id": media.id}
    more = {"kind": label.kind, **_exact(shape), **_more(label)}
    if not label.keyed:
        more["keyed"] = False
    return {**made, "limn": more}


def _segmentation(shape: Label, media: Media) -> Any:
    """The outline or run lengths of a label in pixels; nothing for plain boxes, dots and skeletons."""
    refined = shape.refined or Refined()
    if refined.mask is not None or refined.holes:
        return {"size": [media.height, media.width], "counts": rle.encode(runs(shape, media))}
    is_skeleton = refined.visible is not None or bool(refined.points)
    if refined.angle or refined.is_ellipse or (shape.kind == "poly" and not is_skeleton):
        return [[number for point in outline(shape) for number in point]]
    return []


def _exact(shape: Label) -> dict[str, Any]:
    """The numbers of a shape that its outline or run lengths only approach."""
    refined = shape.refined or Refined()
    if shape.kind == "box" and (refined.angle or refined.is_ellipse):
        return {"box": list(shape.shape), "angle": refined.angle, "is_ellipse": refined.is_ellipse}
    return {"points": list(shape.shape), "holes": refined.holes} if refined.holes else {}


def track_number(key: str) -> int | str:
    """A track's key, as a number where it is one."""
    return key if (number := natural(key)) is None else number


def _more(row: Any) -> dict[str, Any]:
    """What COCO has no member for."""
    members = {name: getattr(row, name) for name in ("id", "elemental_id", "type", "version", "attributes")}
    return {name: value for name, value in members.items() if value}
