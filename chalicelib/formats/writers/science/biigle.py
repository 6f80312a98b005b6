"""BIIGLE's annotation reports: `image_annotations.csv` and `video_annotations.csv`, a line for each annotation.

`points` are pixels of one shape, for videos a list of them with the seconds of each in `frames`; a gap of a track is an
empty list and null. `label_hierarchy` is the class, or the attribute of that name. Ids of labels are the places of the
classes from 1, users are unknown. The column `limn` holds what the reports do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from chalicelib.formats import manifest
from chalicelib.formats.model import Dataset, Group, Layout, Media, Section, Sink, fixed_files, picture_name
from chalicelib.formats.model import split_picture_path as picture_path
from chalicelib.formats.writers.geojson import position
from chalicelib.formats.writers.science import outlines
from chalicelib.formats.writers.science.outlines import Course

__all__ = ["BY_FRAMES", "always", "layout", "picture_path", "write"]
BY_FRAMES = False
IMAGES, VIDEOS = "image_annotations.csv", "video_annotations.csv"
_COMMON = ("label_id", "label_name", "label_hierarchy", "user_id", "firstname", "lastname")
COLUMNS = {
    IMAGES: (
        "annotation_label_id", *_COMMON, "image_id", "filename", "image_longitude", "image_latitude", "shape_id",
        "shape_name", "points", "attributes", "annotation_id", "created_at", "limn",
    ),
    VIDEOS: (
        "video_annotation_label_id", *_COMMON, "video_id", "video_filename", "shape_id", "shape_name", "points",
        "frames", "annotation_id", "created_at", "attributes", "limn",
    ),
}  # fmt: skip
_WORDS = {"box": "Rectangle", "dot": "Point", "line": "LineString", "poly": "Polygon"}
_IDS = {"Point": 1, "LineString": 2, "Polygon": 3, "Circle": 4, "Rectangle": 5, "Ellipse": 6, "WholeFrame": 7}
_encode = msgspec.json.Encoder().encode


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:
    """Write one part; see `model.Format`. Raises BadInput for a media with too many labels."""
    places = {name: number for number, name in enumerate(dataset.classes, 1)}
    left_out = 0
    for group in groups:
        manifest.write(group, sink)
        found, lost = outlines.courses(group, set(places), _WORDS)
        left_out += lost
        path = VIDEOS if group.media.is_video else IMAGES
        for course in found:
            row = _row(dataset, group.media, course, first) | {"label_id": places[course.keyed[0].class_name]}
            sink.append(path, "rows", manifest.line(row.get(name, "") for name in COLUMNS[path]))
            first += 1
    return left_out


def layout(dataset: Dataset, path: str) -> Layout:  # noqa: ARG001 the same for all
    """The header and all lines."""
    return manifest.line(COLUMNS[path]), Section("rows")


always = fixed_files(*COLUMNS)


def _row(dataset: Dataset, media: Media, course: Course, number: int) -> dict[str, Any]:
    label = course.keyed[0]
    points = [outlines.numbers_of(each, media) if each else [] for each in course.labels]
    row = {
        "annotation_label_id": number,
        "video_annotation_label_id": number,
        "annotation_id": number,
        "label_name": label.class_name,
        "label_hierarchy": _hierarchy(label.attributes) or label.class_name,
        "shape_id": _IDS[course.word],
        "shape_name": course.word,
        "points": _text(points if media.is_video else points[0]),
        "attributes": _text({"width": media.width, "height": media.height}),
        "created_at": dataset.created,
        "limn": _text(outlines.more_of(course)),
    }
    if media.is_video:
        times = [_seconds(each.frame, media) if each else None for each in course.labels]
        return row | {"video_id": media.id, "video_filename": media.name, "frames": _text(times)}
    place = position(dataset.media_attributes, media.attributes) or ("", "")
    more = {"image_id": media.id, "filename": picture_name(media, 0, dataset.picture)}
    return row | more | {"image_longitude": place[0], "image_latitude": place[1]}


def _hierarchy(attributes: dict[str, Any]) -> str:
    value = attributes.get("label_hierarchy")
    return value if isinstance(value, str) else ""


def _seconds(frame: int, media: Media) -> float:
    return frame / media.fps if media.fps else float(frame)


def _text(value: Any) -> str:
    return _encode(value).decode()
