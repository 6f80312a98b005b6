"""iFDO 2.2 (image FAIR digital objects): `ifdo.json`, a header and an item for each media, by the name of its file.

Items have id, time and place of their media, and its annotations: pixels of one shape, for videos a list of them with
the seconds of each. Where a track has a gap, another annotation begins. `limn` holds the rest. Labels of media of
unknown size are left out; so are masks and other refinements but the angle of boxes and open polygons.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

import msgspec

from chalicelib.formats import manifest
from chalicelib.formats.model import Dataset, Group, Layout, Media, Section, Sink, fixed_files
from chalicelib.formats.model import split_picture_path as picture_path
from chalicelib.formats.writers.geojson import position
from chalicelib.formats.writers.science import outlines, terms
from chalicelib.formats.writers.science.outlines import Course
from chalicelib.formats.writers.science.viame import confidence

__all__ = ["BY_FRAMES", "always", "layout", "picture_path", "write"]
BY_FRAMES = False
FILE = "ifdo.json"
VERSION = "v2.2.1"
TIME = "%Y-%m-%d %H:%M:%S.%f"
"""How times are written, which is the default of the standard."""
_WORDS = {"box": "rectangle", "dot": "single-pixel", "line": "polyline", "poly": "polygon"}
_ANNOTATOR = "limn"
_encode = msgspec.json.Encoder().encode


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:  # noqa: ARG001 ids are elemental
    """Write one part; see `model.Format`. Raises BadInput for a media with too many labels."""
    classes, left_out = set(dataset.classes), 0
    for group in groups:
        manifest.write(group, sink)
        found, lost = outlines.courses(group, classes, _WORDS)
        left_out += lost
        pieces = [piece for course in found for piece in course.pieces()]
        item = _item(dataset, group.media) | {
            "image-annotations": [_annotation(dataset, group.media, piece) for piece in pieces]
        }
        body = _encode([item] if group.media.is_video else item)
        sink.append(FILE, "items", _encode(_file_name(dataset, group.media)) + b":" + body)
    return left_out


def layout(dataset: Dataset, path: str) -> Layout:  # noqa: ARG001 the same for all
    """The header, and the items."""
    head = b'{"image-set-header":' + _encode(_header(dataset)) + b',"image-set-items":{\n'
    return head, Section("items", b",\n"), b"}}\n"


always = fixed_files(FILE)


def _header(dataset: Dataset) -> dict[str, Any]:
    """The header, which its publisher completes: a handle, people and the licence are not known here."""
    given = str(dataset.source.get("export") or dataset.name)
    return {
        "image-set-name": dataset.name,
        "image-set-uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"limn:{given}")),
        "image-set-handle": "",
        "image-set-ifdo-version": VERSION,
        "image-coordinate-reference-system": "EPSG:4326",
        "image-annotation-labels": [{"id": name, "name": name} for name in dataset.classes],
        "image-annotation-creators": [{"id": _ANNOTATOR, "name": "Limn"}],
    }


def _item(dataset: Dataset, media: Media) -> dict[str, Any]:
    start = terms.recorded(dataset, media)
    place = position(dataset.media_attributes, media.attributes)
    item: dict[str, Any] = {"image-acquisition": "video" if media.is_video else "photo"}
    if media.elemental_id:
        item["image-uuid"] = media.elemental_id
    if start is not None:
        item["image-datetime"] = start.strftime(TIME)
    if place is not None:
        item |= {"image-longitude": place[0], "image-latitude": place[1]}
    return item


def _annotation(dataset: Dataset, media: Media, course: Course) -> dict[str, Any]:
    labels = course.keyed
    sure = max(confidence(label.attributes) for label in labels)
    made: dict[str, Any] = {
        "shape": course.word,
        "coordinates": [outlines.numbers_of(label, media) for label in labels],
        "labels": [
            {
                "label": labels[0].class_name, "annotator": _ANNOTATOR, "confidence": sure,
                "created-at": dataset.created or "1970-01-01T00:00:00Z",
            }
        ],
    }  # fmt: skip
    if media.is_video:
        made["frames"] = [label.frame / media.fps if media.fps else float(label.frame) for label in labels]
    return made | {"limn": outlines.more_of(course)}


def _file_name(dataset: Dataset, media: Media) -> str:
    """The key of an item: that of the media, with an extension."""
    return f"{media.key}.{'mp4' if media.is_video else dataset.picture}"
