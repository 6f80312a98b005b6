"""CVAT for video 1.1: `<key>/annotations.xml` and `<key>/images/frame_000000.jpg`, one folder for each media.

A folder is what CVAT takes as the annotations of a task with that video. Frames count from 0; coordinates are
continuous pixels from 0. A track has a shape for every frame, `keyframe="0"` where it was interpolated, and ends with
`outside="1"`; so does each gap that is not interpolated. A label without a track is a track of one frame. Boxes,
polygons, lines and open polygons (polyline), dots (points), ellipses, masks and skeletons are held; labels of media of
unknown size are left out. A turned ellipse has the `rotation` of boxes. `occluded` is the attribute `Occluded`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from chalicelib.core.values import rle
from chalicelib.errors import BadInput
from chalicelib.formats import manifest
from chalicelib.formats.model import (
    OCCLUDED,
    Attributes,
    Dataset,
    Group,
    Label,
    Media,
    Refined,
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
    shape = in_pixels(label, media)
    name, place = _place(shape)
    more = "".join(
        f'<attribute name="{text(name)}">{text(value)}</attribute>'
        for name, value in {**attributes, **label.attributes}.items()
    )
    hidden = label.attributes.get(OCCLUDED) is True
    flags = f'keyframe="{int(label.keyed or outside)}" outside="{int(outside)}" occluded="{int(hidden)}"'
    points = "".join(_points(shape, flags))
    return f'    <{name} frame="{frame}" {flags} {place} z_order="0">{points}{more}</{name}>\n'


def _place(shape: Label) -> tuple[str, str]:
    """The element of a label in pixels, and its attributes of place."""
    refined = shape.refined or Refined()
    turn = f' rotation="{refined.angle % 360:.12g}"' if refined.angle else ""
    if refined.mask is not None:
        height, width, counts = refined.mask
        found = rle.joined(rle.runs_of(_by_rows(rle.decode(counts), height, width)))
        corner = f'left="{round(shape.shape[0])}" top="{round(shape.shape[1])}"'
        return "mask", f'rle="{", ".join(map(str, found))}" {corner} width="{width}" height="{height}"'
    if refined.is_ellipse:
        x, y, wide, high = shape.shape
        middle = f'cx="{x + wide / 2:.12g}" cy="{y + high / 2:.12g}"'
        return "ellipse", f'{middle} rx="{wide / 2:.12g}" ry="{high / 2:.12g}"{turn}'
    if refined.points or refined.visible is not None:
        return "skeleton", ""
    corners = corners_of(shape)
    if shape.kind == "box":
        (left, top), _, (right, bottom), _ = corners
        edges = f'xtl="{left:.12g}" ytl="{top:.12g}" xbr="{right:.12g}" ybr="{bottom:.12g}"'
        return "box", edges + turn
    name = "polyline" if refined.is_open else ELEMENT[shape.kind]
    return name, f'points="{";".join(f"{x:.12g},{y:.12g}" for x, y in corners)}"'


def _points(shape: Label, flags: str) -> Iterator[str]:
    """The elements of the points of a skeleton: `outside` where they are not marked, `occluded` where hidden."""
    refined = shape.refined or Refined()
    if not refined.points and refined.visible is None:
        return
    corners = corners_of(shape)
    names = refined.points or tuple(f"point {number}" for number in range(1, len(corners) + 1))
    for name, (x, y), flag in zip(names, corners, refined.visible or (2,) * len(corners), strict=True):
        own = flags.replace('outside="0"', f'outside="{int(flag == 0)}"')
        own = re.sub(r'occluded="."', f'occluded="{int(flag == 1)}"', own)
        yield f'<points label="{text(name)}" {own} points="{x:.12g},{y:.12g}"></points>'


def _by_rows(runs: list[int], height: int, width: int) -> bytes:
    """The pixels of run lengths of columns, row by row: CVAT's run lengths are of rows."""
    from PIL import Image  # noqa: PLC0415 kept off the API's cold start

    return Image.frombytes("L", (height, width), rle.pixels(runs)).transpose(Image.Transpose.TRANSPOSE).tobytes()
