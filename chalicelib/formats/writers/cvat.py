"""CVAT for video 1.1: `<key>/annotations.xml` and `<key>/images/frame_000000.jpg`, one folder for each media.

A folder is what CVAT takes as the annotations of a task with that video. Frames count from 0; coordinates are
continuous pixels from 0. A track has a shape for every frame, `keyframe="0"` where it was interpolated, and ends with
`outside="1"`; so does each gap that is not interpolated. A label without a track is a track of one frame. Boxes,
polygons, lines (polyline) and dots (points) are held; labels of media of unknown size are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from chalicelib.errors import BadInput
from chalicelib.formats import manifest
from chalicelib.formats.model import (
    Attributes,
    Dataset,
    Group,
    Label,
    Media,
    Sink,
    corners_of,
    in_pixels,
    media_folder,
    no_files,
    no_layout,
)
from chalicelib.formats.writers.voc import text

BY_FRAMES = False
MOST_LABELS = 200_000
"""Labels of one media: a document of some 50 MB."""
ELEMENT = {"box": "box", "poly": "polygon", "line": "polyline", "dot": "points"}
"""The element of each kind of label."""


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:  # noqa: ARG001 numbers per file
    """Write one part; see `model.Format`. Raises BadInput for a media with more than `MOST_LABELS`."""
    left_out = 0
    classes = set(dataset.classes)
    for group in groups:
        media = group.media
        manifest.write(group, sink)
        if len(group.labels) > MOST_LABELS:
            message = f"format: media {media.name!r} has {len(group.labels)} labels; a CVAT file holds {MOST_LABELS}."
            raise BadInput(message)
        known = media.width and media.height
        labels = [label for label in group.labels if known and label.class_name in classes]
        left_out += len(group.labels) - len(labels)
        attributes = {state.key: state.attributes for state in group.states if state.association == "track"}
        parts = [_head(dataset, media)]
        for number, members in enumerate(_tracks(labels)):
            parts += _track(number, members, media, attributes.get(members[0].track or "", {}))
        parts.append("</annotations>\n")
        sink.add(f"{media_folder(media)}/annotations.xml", "".join(parts).encode())
    return left_out


layout = no_layout
always = no_files


def picture_path(media: Media, frame: int, extension: str) -> str:
    """Where the picture of a frame is."""
    return f"{media_folder(media)}/images/frame_{frame:06d}.{extension}"


def _tracks(labels: Sequence[Label]) -> Iterator[list[Label]]:
    """The labels of each track of one class and kind, by frame; then each label without a track."""

    def key(label: Label) -> tuple[str, str, str]:
        return label.track or "", label.class_name, label.kind

    tracked = sorted((label for label in labels if label.track is not None), key=lambda each: (*key(each), each.frame))
    for _, members in groupby(tracked, key):
        yield list(members)
    for label in labels:
        if label.track is None:
            yield [label]


def _head(dataset: Dataset, media: Media) -> str:
    attributes = "".join(
        f"<attribute><name>{text(name)}</name><mutable>True</mutable><input_type>text</input_type>"
        "<default_value></default_value><values></values></attribute>"
        for name in {**dataset.label_attributes, **dataset.state_attributes}
    )
    labels = "".join(
        f"        <label><name>{text(name)}</name><attributes>{attributes}</attributes></label>\n"
        for name in dataset.classes
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n  <version>1.1</version>\n  <meta>\n    <task>\n'
        f"      <id>{media.id or 0}</id>\n      <name>{text(media.name)}</name>\n      <size>{media.frames}</size>\n"
        f"      <mode>interpolation</mode>\n      <overlap>0</overlap>\n      <created>{dataset.created}</created>\n"
        f"      <start_frame>0</start_frame>\n      <stop_frame>{max(media.frames - 1, 0)}</stop_frame>\n"
        f"      <labels>\n{labels}      </labels>\n      <original_size><width>{media.width}</width>"
        f"<height>{media.height}</height></original_size>\n    </task>\n  </meta>\n"
    )


def _track(number: int, members: list[Label], media: Media, attributes: Attributes) -> Iterator[str]:
    label = members[0]
    group = f' group_id="{text(label.track)}"' if label.track is not None else ""
    yield f'  <track id="{number}" label="{text(label.class_name)}"{group} source="manual">\n'
    for each, following in pairwise([*members, None]):
        if each is None:  # the last is only a neighbour
            break
        yield _shape(each, media, attributes, each.frame, outside=False)
        is_over = following is None or following.frame > each.frame + 1
        if is_over and each.frame + 1 < media.frames:
            yield _shape(each, media, attributes, each.frame + 1, outside=True)
    yield "  </track>\n"


def _shape(label: Label, media: Media, attributes: Attributes, frame: int, *, outside: bool) -> str:
    corners = corners_of(in_pixels(label, media))
    if label.kind == "box":
        (left, top), _, (right, bottom), _ = corners
        place = f'xtl="{left:.12g}" ytl="{top:.12g}" xbr="{right:.12g}" ybr="{bottom:.12g}"'
    else:
        place = f'points="{";".join(f"{x:.12g},{y:.12g}" for x, y in corners)}"'
    more = "".join(
        f'<attribute name="{text(name)}">{text(value)}</attribute>'
        for name, value in {**attributes, **label.attributes}.items()
    )
    keyed = int(label.keyed or outside)
    name = ELEMENT[label.kind]
    return (
        f'    <{name} frame="{frame}" keyframe="{keyed}" outside="{int(outside)}" occluded="0" {place} z_order="0">'
        f"{more}</{name}>\n"
    )
