"""DIVE's own JSON, version 2: `<key>/annotations.json` for each media.

Tracks by number, each with its `begin` and `end`, `confidencePairs` of its class, and a feature for each keyed label:
`bounds` as left, top, right, bottom in continuous pixels, frames from 0, and GeoJSON for polygons and for head and tail
of lines. `interpolate` is true where the label before the next keyframe was interpolated. A label without a track is a
track of one frame. Dots and labels of media of unknown size are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import msgspec

from chalicelib.errors import BadInput
from chalicelib.formats import manifest
from chalicelib.formats.model import (
    Attributes,
    Dataset,
    Group,
    Label,
    Media,
    Sink,
    box_of,
    corners_of,
    in_pixels,
    picture_name,
)
from chalicelib.formats.model import media_folder as _folder
from chalicelib.formats.model import no_files as always
from chalicelib.formats.model import no_layout as layout
from chalicelib.formats.writers.science.viame import ENDS, MOST_LABELS, confidence

__all__ = ["BY_FRAMES", "always", "layout", "picture_path", "write"]
BY_FRAMES = False
FILE = "annotations.json"
LINE_KEY = "HeadTails"
"""What DIVE calls the line between head and tail."""
_encode = msgspec.json.Encoder().encode


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:  # noqa: ARG001 numbers are a file's
    """Write one part; see `model.Format`. Raises BadInput for a media with more than `MOST_LABELS`."""
    classes, left_out = set(dataset.classes), 0
    for group in groups:
        media = group.media
        manifest.write(group, sink)
        labels = [each for each in group.labels if _is_held(each, media) and each.class_name in classes]
        left_out += len(group.labels) - len(labels)
        if len(labels) > MOST_LABELS:
            message = f"format: media {media.name!r} has {len(labels)} labels; a DIVE file holds {MOST_LABELS}."
            raise BadInput(message)
        sink.add(f"{_folder(media)}/{FILE}", _encode({"version": 2, "tracks": _tracks(group, labels), "groups": {}}))
    return left_out


def picture_path(media: Media, frame: int, extension: str) -> str:
    """Where the picture of a frame is: beside the annotations."""
    return f"{_folder(media)}/{picture_name(media, frame, extension)}"


def _is_held(label: Label, media: Media) -> bool:
    return label.kind != "dot" and bool(media.width and media.height)


def _tracks(group: Group, labels: list[Label]) -> dict[str, Any]:
    """The tracks of a media by number: those of states in the order of their first labels, then labels alone."""
    tracks: dict[Any, list[Label]] = {}
    for label in sorted(labels, key=lambda each: (each.track is None, each.frame)):
        tracks.setdefault(label.track if label.track is not None else (label.frame, len(tracks)), []).append(label)
    attributes = {state.key: state.attributes for state in group.states if state.association == "track"}
    return {
        str(number): _track(number, found, group.media, attributes.get(key, {}))
        for number, (key, found) in enumerate(tracks.items())
    }


def _track(number: int, labels: list[Label], media: Media, attributes: Attributes) -> dict[str, Any]:
    keyed = [label for label in labels if label.keyed]
    between = {before.frame for before, after in pairwise(labels) if before.keyed and not after.keyed}
    features = [_feature(label, media, is_interpolated=label.frame in between) for label in keyed]
    sure = max((confidence(label.attributes) for label in keyed), default=1.0)
    frames = [label.frame for label in labels]
    return {
        "id": number,
        "begin": min(frames),
        "end": max(frames),
        "confidencePairs": [[labels[0].class_name, sure]],
        "attributes": attributes,
        "features": features,
    }


def _feature(label: Label, media: Media, *, is_interpolated: bool) -> dict[str, Any]:
    shape = in_pixels(label, media)
    x, y, width, height = box_of(shape)
    made: dict[str, Any] = {"frame": label.frame, "bounds": [x, y, x + width, y + height], "keyframe": True}
    made |= {"interpolate": is_interpolated, "attributes": label.attributes}
    corners = [list(point) for point in corners_of(shape)]
    if label.kind == "poly":
        made["geometry"] = _collection([("", "Polygon", [[*corners, corners[0]]])])
    elif label.kind == "line":
        points = [(name, "Point", point) for name, point in zip(ENDS, corners, strict=True)]
        made["geometry"] = _collection([(LINE_KEY, "LineString", corners), *points])
        made |= dict(zip(ENDS, corners, strict=True))
    return made


def _collection(parts: list[tuple[str, str, list[Any]]]) -> dict[str, Any]:
    features = [
        {"type": "Feature", "properties": {"key": key}, "geometry": {"type": kind, "coordinates": numbers}}
        for key, kind, numbers in parts
    ]
    return {"type": "FeatureCollection", "features": features}
