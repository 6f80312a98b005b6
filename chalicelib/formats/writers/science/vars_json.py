"""MBARI's VARS: `vars.json`, the annotations as its service annosaurus takes and gives them.

An annotation is a label, its shape in pixels an association: `bounding box`, `localization-point`, `-line`, `-polygon`.
`elapsed_time_millis` is the time of its frame; an image is an image reference. Attributes are associations, too. `limn`
holds the rest: frame, track and its attributes, types and versions. Labels of media of unknown size are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from chalicelib.formats import manifest
from chalicelib.formats.manifest import as_text
from chalicelib.formats.model import (
    Dataset,
    Group,
    Label,
    Media,
    Section,
    Sink,
    State,
    corners_of,
    fixed_files,
    fixed_layout,
    in_pixels,
    picture_name,
)
from chalicelib.formats.model import split_picture_path as picture_path
from chalicelib.formats.writers.science import terms

__all__ = ["BY_FRAMES", "always", "layout", "picture_path", "write"]
BY_FRAMES = True
FILE = "vars.json"
LINKS = {
    "box": "bounding box", "dot": "localization-point", "line": "localization-line", "poly": "localization-polygon"
}  # fmt: skip
"""The associations that are shapes."""
_encode = msgspec.json.Encoder().encode


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:  # noqa: ARG001 ids are elemental
    """Write one part; see `model.Format`."""
    classes, left_out = set(dataset.classes), 0
    for group in groups:
        media = group.media
        manifest.write(group, sink)
        waiting = {state.key: state for state in group.states if state.association == "track"}
        for label in group.labels:
            if label.class_name not in classes or not (media.width and media.height):
                left_out += 1
                continue
            state = waiting.pop(label.track, None) if label.track is not None else None
            sink.append(FILE, "rows", _encode(_annotation(dataset, media, label, state)))
    return left_out


layout = fixed_layout(b"[\n", Section("rows", b",\n"), b"\n]\n")
always = fixed_files(FILE)


def _annotation(dataset: Dataset, media: Media, label: Label, state: State | None) -> dict[str, Any]:
    """An annotation."""
    made: dict[str, Any] = {
        "concept": label.class_name,
        "observer": "limn",
        "video_reference_uuid": media.elemental_id or media.key,
        "associations": [
            {"link_name": LINKS[label.kind], "to_concept": "self", "mime_type": "application/json",
             "link_value": _encode(_place(in_pixels(label, media))).decode()},
            *({"link_name": name, "to_concept": "self", "mime_type": "text/plain", "link_value": as_text(value)}
              for name, value in label.attributes.items() if value is not None and value != ""),
        ],
        "limn": more_of(media, label, state),
    }  # fmt: skip
    if label.elemental_id and label.keyed:
        made["observation_uuid"] = label.elemental_id
    if media.is_video:
        made["elapsed_time_millis"] = round(label.frame / media.fps * 1000) if media.fps else None
    else:
        made["image_references"] = [
            {"url": picture_name(media, 0, dataset.picture), "format": f"image/{dataset.picture}",
             "width_pixels": media.width, "height_pixels": media.height}
        ]  # fmt: skip
    if (start := terms.recorded(dataset, media)) is not None and not media.is_video:
        made["recorded_timestamp"] = start.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return made


def _place(label: Label) -> dict[str, Any]:
    if label.kind in ("box", "dot"):
        return dict(zip(("x", "y", "width", "height"), label.shape, strict=False))
    xs, ys = zip(*corners_of(label), strict=True)
    return {"x": list(xs), "y": list(ys)}


def more_of(media: Media, label: Label, state: State | None) -> dict[str, Any]:
    """The member `limn`: what the format says of a label otherwise, and of its track with the first label."""
    more: dict[str, Any] = {
        "media": media.key, "frame": label.frame, "keyed": label.keyed, "track": label.track, "type": label.type,
        "version": label.version, "elemental_id": label.elemental_id, "attributes": label.attributes,
    }  # fmt: skip
    if state is not None:
        own = {"elemental_id": state.elemental_id, "type": state.type, "version": state.version}
        more["state"] = {**own, "class": state.class_name, "attributes": state.attributes}
    return more
