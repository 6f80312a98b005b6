"""Read CVAT 1.1, for video and for images: `annotations.xml`, in any folder.

A `track` is a track with the label of each shape; one that is `outside` between two others begins a gap. In archives
of Limn, which have a `media.csv`, the track is its `group_id`, and a `track` without one is a label on its own. `image`
elements hold labels of pictures. Shapes with `keyframe="0"` were interpolated (`Label.keyed`). A polyline of two points
is a line, one of more an open polygon, several points a skeleton without names. `occluded` is the attribute `Occluded`.
Cuboids and tags are refused.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from chalicelib.core.values import rle
from chalicelib.errors import BadInput
from chalicelib.formats.model import OCCLUDED, Archive, Label, LabelKind, Refined, State
from chalicelib.formats.readers.reading import MediaTable, Placed, Rows, base, dropped, matching, number, refusal, whole
from chalicelib.formats.readers.xml import Element, elements

_READ = ("box", "polygon", "polyline", "points", "ellipse", "skeleton", "mask")
"""The elements that are read."""
_SHAPES = frozenset({*_READ, "cuboid", "tag"})
_STREAMED = frozenset({*_SHAPES, "track", "image", "task", "job"})
_EDGES = ("xtl", "ytl", "xbr", "ybr")
_MEMBERS = frozenset({
    "label", "frame", "keyframe", "outside", "occluded", "points", "rotation", "cx", "cy", "rx", "ry", "rle", "left",
    "top", "width", "height", *_EDGES,
})  # fmt: skip
_IMAGE = frozenset({"id", "name", "width", "height", "task_id"})
_BLANK = {"z_order": ("0",), "source": ("manual",)}
"""Values that say nothing."""
_ENDS = 2
"""Points of a polyline that is a line."""


def read(archive: Archive) -> Rows:
    """The rows of an archive. Raises BadInput where it is not of the format at all."""
    paths = matching(archive, r"(.*/)?annotations\.xml") or matching(archive, r".+\.xml")
    table = MediaTable(archive)
    if not paths and not table.is_ours:
        raise BadInput("CVAT: the archive has no annotations.xml.")
    for path in paths:
        yield from _Document(archive, path, table).rows()
    yield from table.rest()


class _Document:
    """One document: a video with tracks, or images."""

    def __init__(self, archive: Archive, path: str, table: MediaTable) -> None:
        self._archive, self._path, self._table = archive, path, table
        folder = path.rpartition("/")[0]
        self._key = base(folder) if folder else ""
        self._size = (0, 0)
        self._pictures: dict[str, str] | None = None
        self._known: set[str] = set()
        self._gap: tuple[str | None, Placed] | None = None

    def rows(self) -> Rows:
        """Its rows. Tracks and images may be large, so their shapes are taken one by one."""
        is_cvat = False
        for owner, shape in _items(self._archive, self._path):
            if owner.name in ("task", "job"):
                is_cvat = True
                yield from self._task(owner)
            elif owner.name == "track" and shape is not None:
                is_cvat = True
                yield from self._of_track(owner, shape)
            elif owner.name == "image":
                is_cvat = True
                yield from self._of_image(owner, shape)
        if not is_cvat:
            raise BadInput(f"{self._path} is not CVAT 1.1: it has no task, track or image.")

    def _task(self, task: Element) -> Rows:
        try:
            sides = (whole(task.text_of("original_size", side) or "0") for side in ("width", "height"))
            self._size = next(sides), next(sides)
            frames = whole(task.text_of("size") or "1")
        except (ValueError, OverflowError) as error:
            yield refusal(f"{self._path}:{task.line}", str(error))
            return
        name = task.text_of("name") or base(self._path.rpartition("/")[0]) or "video"
        self._key = self._key or name
        if task.text_of("mode") != "interpolation" and not self._table.is_ours:
            return  # a task of images: each names itself
        width, height = self._size
        yield from self._table.new(
            self._path,
            self._key,
            name=task.text_of("source") or name,
            is_video=True,
            width=width,
            height=height,
            frames=max(frames, 1),
        )

    def _of_track(self, track: Element, shape: Element) -> Rows:
        place = f"{self._path}:{shape.line}"
        own = track.attributes.get("id")
        # Other programs number the tracks of each document on its own.
        key = track.attributes.get("group_id") if self._table.is_ours else f"{self._path}/{track.attributes.get('id')}"
        try:
            label = self._label(shape, self._key, track.attributes.get("label", ""), whole(shape.attributes["frame"]))
            if _is(shape, "outside"):
                if self._gap is None or self._gap[0] != own:
                    self._gap = own, Placed(place, msgspec.structs.replace(label, shape=(), refined=None, track=key))
                return
        except (ValueError, KeyError, OverflowError) as error:
            yield refusal(place, f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error))
            return
        if key is not None and key not in self._known:
            self._known.add(key)
            state = State(media=self._key, key=key, class_name=label.class_name, attributes=label.attributes)
            yield Placed(place, state)
        elif key is not None and self._gap and self._gap[0] == own:
            yield self._gap[1]  # what is outside before the first shape of a track, or behind the last, is no gap
        self._gap = None
        keyed = shape.attributes.get("keyframe", "1") != "0"
        yield Placed(place, msgspec.structs.replace(label, track=key, keyed=keyed))
        yield from dropped(place, shape.name, shape.attributes, _MEMBERS, _BLANK)

    def _of_image(self, image: Element, shape: Element | None) -> Rows:
        name = image.attributes.get("name", "")
        if self._pictures is None:
            self._pictures = {base(path): path for path in self._archive.names()}
        place = f"{self._path}:{(shape or image).line}"
        try:
            width, height = (whole(image.attributes.get(side, "0")) for side in ("width", "height"))
            yield from self._table.new(
                place, name, name=base(name), width=width, height=height, path=self._pictures.get(base(name), "")
            )
            if shape is not None:
                label = self._label(shape, name, shape.attributes.get("label", ""), 0)
                yield Placed(place, label)
                yield from dropped(place, shape.name, shape.attributes, _MEMBERS, _BLANK)
            else:
                yield from dropped(place, "image", image.attributes, _IMAGE, _BLANK)
        except (ValueError, KeyError, OverflowError) as error:
            yield refusal(place, f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error))

    def _label(self, shape: Element, media: str, class_name: str, frame: int) -> Label:
        if shape.name not in _READ:
            message = f"{shape.name} is not held; {', '.join(_READ)} are"
            raise ValueError(message)
        if frame < 0:
            raise ValueError(f"frame {frame} is below 0")
        attributes = {child.attributes["name"]: child.text for child in shape.children if child.name == "attribute"}
        if _is(shape, "occluded"):
            attributes.setdefault(OCCLUDED, "true")
        kind, numbers, refined = _shape(shape)
        return Label(
            media=media,
            kind=kind,
            shape=numbers,
            refined=refined,
            frame=frame,
            unit="pixel",
            class_name=class_name,
            attributes=dict(attributes),
        )


def _items(archive: Archive, path: str) -> Iterator[tuple[Element, Element | None]]:
    """The tasks; the shapes with the track or image around them; each image once more, with None."""
    points: list[Element] = []
    for element in elements(archive, path, _STREAMED):
        if element.owner is not None and element.owner.name == "skeleton":
            points.append(element)
        elif element.name in _SHAPES:
            if element.name == "skeleton":
                element.children.extend(points)
                points = []
            if element.owner is not None and element.owner.name in ("track", "image"):
                yield element.owner, element
        elif element.name in ("task", "job", "image"):
            yield element, None


def _shape(shape: Element) -> tuple[LabelKind, tuple[float, ...], Refined | None]:
    """The kind and numbers of an element, and what refines it."""
    angle = number(shape.attributes.get("rotation") or "0")
    match shape.name:
        case "mask":
            return "box", *_mask(shape)
        case "ellipse":
            x, y, rx, ry = (number(shape.attributes[name]) for name in ("cx", "cy", "rx", "ry"))
            return "box", (x - rx, y - ry, 2 * rx, 2 * ry), Refined(is_ellipse=True, angle=angle)
        case "box":
            left, top, right, bottom = (number(shape.attributes[edge]) for edge in _EDGES)
            return "box", (left, top, right - left, bottom - top), Refined(angle=angle) if angle else None
    return _of_points(shape)


def _of_points(shape: Element) -> tuple[LabelKind, tuple[float, ...], Refined | None]:
    if shape.name == "skeleton":
        parts = [child for child in shape.children if child.name == "points"]
        flags = tuple(0 if _is(part, "outside") else 1 if _is(part, "occluded") else 2 for part in parts)
        names = tuple(part.attributes.get("label", str(place)) for place, part in enumerate(parts, 1))
        return "poly", tuple(each for part in parts for each in _numbers(part)), Refined(visible=flags, points=names)
    points = _numbers(shape)
    count = len(points) // 2
    if shape.name == "polyline" and count == _ENDS:
        x, y, u, v = points
        return "line", (x, y, u - x, v - y), None
    if shape.name == "points" and count == 1:
        return "dot", points, None
    more = {"polyline": Refined(is_open=True), "points": Refined(visible=(2,) * count)}
    return "poly", points, more.get(shape.name)


def _numbers(shape: Element) -> tuple[float, ...]:
    points = [number(each) for point in shape.attributes["points"].split(";") for each in point.split(",")]
    if len(points) % 2 or not points:
        raise ValueError("points is not a list of x,y")
    return tuple(points)


def _is(shape: Element, name: str) -> bool:
    return shape.attributes.get(name) == "1"


def _mask(shape: Element) -> tuple[tuple[float, ...], Refined]:
    """The box and mask of an element, whose run lengths are of rows."""
    from PIL import Image  # noqa: PLC0415 kept off the API's cold start

    left, top, width, height = (whole(shape.attributes[name]) for name in ("left", "top", "width", "height"))
    runs = [whole(each) for each in shape.attributes["rle"].split(",")]
    if sum(runs) != width * height or min(width, height, *runs) < 0 or width * height > rle.MOST_PIXELS:
        raise ValueError(f"rle: its runs have {sum(runs)} pixels; {width} x {height} are {width * height}")
    rows = Image.frombytes("L", (width, height), rle.pixels(runs))
    columns = rows.transpose(Image.Transpose.TRANSPOSE).tobytes()
    made = Refined(mask=(height, width, rle.encode(rle.runs_of(columns))))
    return (float(left), float(top), float(width), float(height)), made
