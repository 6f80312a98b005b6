"""Read COCO: detection, segmentation, keypoints of one point, and videos with tracks (TAO, CocoVID).

Each document is read twice: first images, videos, categories and tracks, whose order is free, then the annotations. An
annotation with one polygon is a polygon, one with run lengths a box with a mask, one with several keypoints a skeleton;
else its `bbox` is a box. Several polygons become their box, with a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from chalicelib.core.values import rle
from chalicelib.errors import BadInput
from chalicelib.formats.json_stream import json_members, members_of
from chalicelib.formats.model import Archive, Attributes, Label, LabelKind, Refined, State
from chalicelib.formats.readers.reading import (
    MediaTable,
    Placed,
    Rows,
    base,
    dropped,
    matching,
    numbers,
    refusal,
)
from chalicelib.formats.refined import mask_shape

MOST_IMAGES = 2_000_000
"""Images of one document."""
_KINDS = get_args(LabelKind)
_TRIPLE = 3
Skeleton = tuple[tuple[str, ...], tuple[tuple[int, int], ...]]
"""The names of points, and the pairs of their places, from 0, that are joined."""
_LEAST = 6
"""Numbers of a polygon of three points."""


def read(archive: Archive) -> Rows:
    """The rows of an archive. Raises BadInput where it is not of the format at all."""
    found = matching(archive, r"(.*/)?annotations/[^/]+\.json") or matching(archive, r".*\.json")
    if not found:
        raise BadInput("COCO: the archive has no .json file.")
    table = MediaTable(archive)
    pictures = {base(name): name for name in archive.names()}
    for path in found:
        yield from _Document(archive, path, table, pictures).rows()
    yield from table.rest()


class _Document:
    """One document."""

    def __init__(self, archive: Archive, path: str, table: MediaTable, pictures: Mapping[str, str]) -> None:
        self._archive, self._path, self._table, self._pictures = archive, path, table, pictures
        self._classes: dict[Any, str] = {}
        self._videos: dict[Any, tuple[str, Mapping[str, Any]]] = {}
        self._images: dict[Any, tuple[str, int]] = {}
        """The key of the media, and the frame, by the id of the image."""
        self._tracks: set[str] = set()
        self._skeletons: dict[Any, Skeleton] = {}

    def rows(self) -> Rows:
        """Its rows."""
        is_coco = False
        for name, index, value in json_members(self._archive, self._path):
            is_coco = is_coco or name in ("images", "annotations")
            if name not in _DOCUMENT and not index:
                yield from dropped(self._path, "document", {name: value})
            if index is None or name not in ("images", "videos", "categories", "tracks"):
                continue
            place = f"{self._path} {name}[{index}]"
            try:
                yield from getattr(self, f"_{name}_row")(place, members_of(value))
                yield from dropped(place, name, value, _MEMBERS[name])
            except (ValueError, KeyError, TypeError) as error:
                yield refusal(place, _reason(error))
        if not is_coco:
            raise BadInput(f"{self._path} has neither images nor annotations: it is not COCO.")
        for name, index, value in json_members(self._archive, self._path):
            if name == "annotations" and index is not None:
                place = f"{self._path} annotations[{index}]"
                try:
                    yield from self._annotation(place, members_of(value))
                except (ValueError, KeyError, TypeError) as error:
                    yield refusal(place, _reason(error))

    def _categories_row(self, _: str, value: Mapping[str, Any]) -> Rows:
        number = _key(value["id"])
        self._classes[number] = str(value["name"])
        points = value.get("keypoints") or []
        if isinstance(points, list) and len(points) > 1:
            edges = [(_count(first) - 1, _count(second) - 1) for first, second in value.get("skeleton") or []]
            self._skeletons[number] = tuple(map(str, points)), tuple(edges)
        return iter(())

    def _videos_row(self, place: str, value: Mapping[str, Any]) -> Rows:
        key = _more(value).get("media") or str(value["name"])
        self._videos[_key(value["id"])] = (key, value)
        yield from self._table.new(
            place,
            key,
            name=base(str(value["name"])),
            is_video=True,
            width=_count(value.get("width")),
            height=_count(value.get("height")),
            frames=_count(value.get("length")) or 1,
            fps=numbers([value["fps"]], 1)[0] if value.get("fps") else None,
            path=self._pictures.get(base(str(value["name"])), ""),
        )

    def _images_row(self, place: str, value: Mapping[str, Any]) -> Rows:
        if len(self._images) >= MOST_IMAGES:
            raise BadInput(f"{self._path} has more than {MOST_IMAGES} images. Import it in parts.")
        number, more, file_name = _key(value["id"]), _more(value), str(value["file_name"])
        size = {"width": _count(value.get("width")), "height": _count(value.get("height"))}
        if value.get("video_id") is not None:
            # A document may list videos after images; the frame is the number within the video.
            frame = _count(more.get("frame", value.get("frame_id", value.get("frame_index"))))
            key = more.get("media") or self._key_of_video(value["video_id"])
            self._images[number] = (key, frame)
            yield from self._table.new(place, key, is_video=True, **size)
            return
        key = more.get("media") or file_name
        self._images[number] = (key, 0)
        path = self._pictures.get(base(file_name), "")
        yield from self._table.new(place, key, name=base(file_name), path=path, **size)

    def _key_of_video(self, number: Any) -> str:
        if (found := self._videos.get(_key(number))) is None:
            raise ValueError(f"video_id: {number!r} is not among the videos before the images")
        return found[0]

    def _tracks_row(self, place: str, value: Mapping[str, Any]) -> Rows:
        more = _more(value)
        key = more.get("media") or (self._videos[_key(value["video_id"])][0] if "video_id" in value else None)
        if key is None:
            return  # its annotations name the media
        yield Placed(place, self._state(str(value["id"]), key, self._class(value.get("category_id")), more))

    def _state(self, track: str, media: str, class_name: str, more: Mapping[str, Any]) -> State:
        self._tracks.add(track)
        return State(media=media, key=track, class_name=class_name, **_kept(more))

    def _class(self, number: Any) -> str:
        return self._classes.get(_key(number), "") if number is not None else ""

    def _annotation(self, place: str, value: Mapping[str, Any]) -> Rows:
        if (image := self._images.get(_key(value.get("image_id")))) is None:
            raise ValueError(f"image_id: {value.get('image_id')!r} is not among the images")
        if _key(value.get("category_id")) not in self._classes:
            raise ValueError(f"category_id: {value.get('category_id')!r} is not among the categories")
        (media, frame), more = image, _more(value)
        class_name = self._class(value["category_id"])
        track = value.get("track_id", value.get("instance_id"))
        if track is not None and str(track) not in self._tracks:
            yield Placed(place, self._state(str(track), media, class_name, {}))
        points = self._skeletons.get(_key(value["category_id"]))
        kind, shape, refined, note = _shape(value, more, points)
        yield from dropped(place, "annotations", value, _MEMBERS["annotations"])
        yield Placed(
            place,
            Label(
                media=media,
                kind=kind,
                shape=shape,
                refined=refined,
                frame=frame,
                unit="pixel",
                class_name=class_name,
                track=None if track is None else str(track),
                keyed=more.get("keyed", True) is not False,
                **_kept(more),
            ),
            note,
        )


_DOCUMENT = frozenset({"info", "licenses", "images", "videos", "categories", "tracks", "annotations"})
_MEMBERS = {
    "annotations": frozenset({
        "id", "image_id", "category_id", "track_id", "instance_id", "video_id", "bbox", "area", "iscrowd",
        "segmentation", "keypoints", "num_keypoints", "limn",
    }),
    "images": frozenset({"id", "name", "file_name", "width", "height", "video_id", "frame_id", "frame_index", "limn"}),
    "videos": frozenset({"id", "name", "width", "height", "length", "fps", "limn"}),
    "categories": frozenset({"id", "name", "keypoints", "skeleton"}),
    "tracks": frozenset({"id", "name", "video_id", "category_id", "limn"}),
}  # fmt: skip
"""The members that are read, or that follow from others."""


def _shape(
    value: Mapping[str, Any], more: Mapping[str, Any], skeleton: Skeleton | None
) -> tuple[LabelKind, tuple[float, ...], Refined | None, str]:
    """The kind and numbers of an annotation, what refines it, and what of it is not taken."""
    given = more.get("kind")
    if given is not None and given not in _KINDS:
        raise ValueError(f"limn.kind: {given!r} is not one of {', '.join(_KINDS)}")
    outline, points = value.get("segmentation"), value.get("keypoints")
    note = ""
    if (refined := _refined_shape(value, more, skeleton)) is not None:
        return (*refined, "")
    if given in (None, "poly") and isinstance(outline, list) and outline:
        if len(outline) == 1:
            polygon = numbers(outline[0])
            if len(polygon) < _LEAST or len(polygon) % 2:
                raise ValueError(f"segmentation: {len(polygon)} numbers are not a polygon")
            return "poly", polygon, None, ""
        note = "several polygons became their box"
    if given in (None, "dot") and isinstance(points, list) and points:
        if len(points) == _TRIPLE and (given == "dot" or not value.get("bbox")):
            return "dot", numbers(points)[:2], None, ""
        note = note or "keypoints were left out"
    return "box", numbers(value.get("bbox"), 4), None, note


def _refined_shape(
    value: Mapping[str, Any], more: Mapping[str, Any], skeleton: Skeleton | None
) -> tuple[LabelKind, tuple[float, ...], Refined] | None:
    """The kind and numbers of an annotation that is more than a plain shape, and what refines it."""
    outline, points = value.get("segmentation"), value.get("keypoints")
    if more.get("kind") == "box" and "box" in more:
        refined = Refined(angle=numbers([more.get("angle", 0)], 1)[0], is_ellipse=more.get("is_ellipse") is True)
        return "box", numbers(more["box"], 4), refined
    if more.get("kind") == "poly" and "holes" in more:
        holes = tuple(numbers(hole) for hole in more["holes"])
        return "poly", numbers(more["points"]), Refined(holes=holes)
    if isinstance(points, list) and skeleton is not None and len(points) == _TRIPLE * len(skeleton[0]):
        flat = numbers(points)
        shape = tuple(each for place, each in enumerate(flat) if place % _TRIPLE != _TRIPLE - 1)
        visible = tuple(int(flag) for flag in flat[_TRIPLE - 1 :: _TRIPLE])
        return "poly", shape, Refined(visible=visible, points=skeleton[0], edges=skeleton[1])
    if more.get("kind") in (None, "box") and isinstance(outline, dict):
        shape, refined = _mask(outline)
        return "box", shape, refined
    return None


def _mask(outline: Mapping[str, Any]) -> tuple[tuple[float, ...], Refined]:
    """The box and mask of run lengths, compressed or as numbers."""
    height, width = (_count(side) for side in numbers(outline.get("size"), 2))
    counts = outline.get("counts")
    found = rle.decode(counts) if isinstance(counts, str) else [_count(each) for each in counts or ()]
    if sum(found) != height * width:
        raise ValueError(f"segmentation: its runs have {sum(found)} pixels; {height} x {width} are {height * width}")
    return mask_shape(found, height)


def _kept(more: Mapping[str, Any]) -> dict[str, Any]:
    """The members of `limn` that rows have."""
    attributes = more.get("attributes") or {}
    if not isinstance(attributes, dict):
        raise ValueError("limn.attributes is not an object")  # noqa: TRY004 one error for all that is wrong with a row
    kept: Attributes = {name: str(more.get(name) or "") for name in ("type", "version", "elemental_id")}
    return {**kept, "attributes": attributes, "id": _count(more.get("id")) or None}


def _more(value: Mapping[str, Any]) -> Mapping[str, Any]:
    found = value.get("limn") or {}
    return members_of(found)


def _key(value: Any) -> Any:
    """An id, which must be a number or text."""
    if isinstance(value, int | str) or (isinstance(value, float) and value == int(value)):
        return value
    raise ValueError(f"{value!r} is not an id")


def _count(value: Any) -> int:
    """A whole number that is not negative; 0 for none."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value) or value < 0:
        raise ValueError(f"{value!r} is not a whole number from 0 on")
    return int(value)


def _reason(error: Exception) -> str:
    return f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
