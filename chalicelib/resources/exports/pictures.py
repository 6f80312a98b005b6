"""Pictures of exports: frames and crops, decoded in child processes, a bounded number at once.

The function that reads views has no FFmpeg, and the one that draws has no DuckDB (decision 195): the first stores the
groups of a part as orders, the second the pictures of each, from which the first writes the part.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from posixpath import splitext
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
from msgspec import Struct

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.batches import batched
from chalicelib.core.kinds import Kind
from chalicelib.core.models.datasets import ExportWork
from chalicelib.core.models.entities import Media as MediaEntity
from chalicelib.errors import BadInput, LimnError, Unavailable
from chalicelib.formats.model import Group, Label, box_of, picture_name
from chalicelib.query.operators import Op
from chalicelib.query.tree import Query, Test
from chalicelib.resources.exports.schemas import ExportSpec
from chalicelib.resources.frames import service as frames_service
from chalicelib.resources.media import streams

if TYPE_CHECKING:
    from chalicelib.video.pictures.drawing import Part

FRAMES_PER_BATCH = 24
CROPS_PER_BATCH = 256
"""Pictures that one child process makes, and that are in memory."""
_UNSAFE = re.compile(r"[^\w.()+=-]+", re.ASCII)
_media = msgspec.json.Decoder(MediaEntity).decode
Add = Callable[[str, bytes], None]


_ENTRY = struct.Struct(">II")
"""The lengths of a path and of the bytes that follow it; what has no path is the `Drawn` of the pictures before it."""


class DrawOrder(Struct, frozen=True, kw_only=True):
    """A group whose pictures must be drawn."""

    group: Group
    lost: int
    """Labels without a place or class."""
    media: MediaEntity | None
    """As it is now; None where it was deleted or its user may not see it."""


class DrawnGroup(Struct, frozen=True, kw_only=True):
    """A group after its pictures were drawn."""

    group: Group
    lost: int
    problem: str
    """Why it has no pictures; empty if it has."""


_orders = msgspec.json.Decoder(list[DrawOrder]).decode
_drawn = msgspec.json.Decoder(DrawnGroup).decode


class Size(Struct, frozen=True):
    """Pixels."""

    width: int
    height: int


def orders(work: ExportWork, scope: Scope, groups: Iterable[tuple[Group, int]]) -> bytes:
    """The orders of the groups of a part, encoded."""
    found = [DrawOrder(group=group, lost=lost, media=entity_of(work, scope, group.media.id)) for group, lost in groups]
    return msgspec.json.encode(found)


def draw(spec: ExportSpec, ordered: bytes, path: Callable[..., str], out: BinaryIO) -> None:
    """Draw the pictures of orders, and write them with their groups.

    Raises:
        Unavailable: the store does not answer; the part is repeated.
    """

    def add(name: str, body: bytes) -> None:
        out.write(_ENTRY.pack(len(name.encode()), len(body)) + name.encode() + body)

    for order in _orders(ordered):
        made, problem = order.group, "The media was deleted, or you may no longer see it."
        if order.media is not None:
            made, problem = make(spec, order.group, order.media, path, add)
        add("", msgspec.json.encode(DrawnGroup(group=made, lost=order.lost, problem=problem)))


def read(drawn: BinaryIO, add: Add) -> Iterator[DrawnGroup]:
    """The groups that `draw` wrote, in order; the pictures of each are added before it."""
    while head := drawn.read(_ENTRY.size):
        of_name, of_body = _ENTRY.unpack(head)
        name, body = drawn.read(of_name).decode(), drawn.read(of_body)
        if name:
            add(name, body)
        else:
            yield _drawn(body)


def entity_of(work: ExportWork, scope: Scope, number: int | None) -> MediaEntity | None:
    """The media as it is now, with its files; None where it was deleted or its user may not see it."""
    query = Query(kind=Kind.MEDIA, where=Test("id", Op.EQ, number))
    for document in view_queries.documents(view_queries.current(work.project), query, scope):
        return _media(document)
    return None


def make(spec: ExportSpec, group: Group, media: MediaEntity, path: Callable[..., str], add: Add) -> tuple[Group, str]:
    """Make the pictures of a group and add them to the archive.

    Args:
        spec: which pictures, and how they look.
        group: the media with its labels.
        media: the media.
        path: the format's path of a picture.
        add: takes a path and the bytes of a picture.

    Returns:
        The group with the pictures that it has, its media of their size; and why it has none, empty if it has.

    Raises:
        Unavailable: the store does not answer; the part is repeated.
    """
    try:
        file = frames_service.picture_source(media)
        size = _size(file.resolution, spec.image_height)
        count = 1 if isinstance(file, frames_service.Picture) else streams.frames_of(file)
        if spec.frames == "crops":
            _crops(spec, group, file, count, add)
            return group, ""
        wanted = [frame for frame in _frames_of(spec, group) if frame < count]
        sized = msgspec.structs.replace(group.media, width=size.width, height=size.height)
        for some in batched(wanted, FRAMES_PER_BATCH):
            parts = [_part(index, frame, None) for index, frame in enumerate(some)]
            for frame, body in zip(some, _draw(file, parts, spec.image_format, size), strict=True):
                add(path(sized, frame, spec.image_format), body)
    except Unavailable:
        raise
    except LimnError as failure:
        return (msgspec.structs.replace(group, pictures=[]) if spec.frames != "crops" else group), failure.message
    return msgspec.structs.replace(group, media=sized, pictures=wanted), ""


def _frames_of(spec: ExportSpec, group: Group) -> list[int]:
    """The frames whose pictures are wanted."""
    if not group.media.is_video:
        return [0] if group.is_first else []
    if spec.frames == "every":
        return group.pictures or []
    return sorted({label.frame for label in group.labels})


def _crops(spec: ExportSpec, group: Group, file: Any, count: int, add: Add) -> None:
    """A picture of each box, and of the bounds of each polygon, in a folder for each class."""
    from chalicelib.video.pictures.render import Roi  # noqa: PLC0415 kept off the API's cold start

    def roi(label: Label) -> Any:
        x, y, width, height = box_of(label)
        left, top = min(max(x, 0.0), 1.0), min(max(y, 0.0), 1.0)
        return Roi(min(x + width, 1.0) - left, min(y + height, 1.0) - top, left, top)

    shown = [
        (number, label)
        for number, label in enumerate(group.labels)
        if label.kind in ("box", "poly") and label.frame < count
    ]
    for some in batched(shown, CROPS_PER_BATCH):
        parts = [_part(index, label.frame, roi(label)) for index, (_, label) in enumerate(some)]
        for (number, label), body in zip(some, _draw(file, parts, spec.image_format, None), strict=True):
            stem = splitext(picture_name(group.media, label.frame, spec.image_format))[0]
            name = f"{stem}_{label.id if label.id is not None else f'between-{number}'}.{spec.image_format}"
            split = f"{group.media.split}/" if group.media.split else ""
            add(f"crops/{split}{folder_of(label.class_name)}/{name}", body)


def folder_of(class_name: str) -> str:
    """A class as the name of a folder."""
    return _UNSAFE.sub("_", class_name).strip(".") or "_"


def _size(resolution: Sequence[int], most: int | None) -> Size:
    from chalicelib.video.pictures.render import MAX_OUTPUT_PIXELS  # noqa: PLC0415

    height, width = resolution
    if width * height > MAX_OUTPUT_PIXELS:
        raise BadInput(f"A picture of {width} x {height} pixels is too large.")
    if most is None or height <= most:
        return Size(width, height)
    return Size(max(1, round(width * most / height)), most)


def _part(index: int, frame: int, roi: Any) -> Part:
    from chalicelib.video.pictures.drawing import Part  # noqa: PLC0415

    return Part(index, frame, roi)


def _draw(file: Any, parts: Sequence[Part], form: str, size: Size | None) -> list[bytes]:
    """The pictures of parts of a file, in order, made in a child process."""
    from chalicelib.video.pictures import drawing  # noqa: PLC0415
    from chalicelib.video.process import isolation  # noqa: PLC0415

    source, view = frames_service.look_at(file, parts)
    scale = (size.width, size.height) if size else None
    return isolation.run_all(drawing.draw_each, [source], view, form, scale)
