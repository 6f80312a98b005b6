"""The rows that every format is written from and read into.

Conventions, whatever the format:

- Geometry is in fractions of the width and height of the media. (0, 0) is the outer corner of the top left pixel,
  (1, 1) that of the bottom right one. A reader that does not know the size of a media gives `unit="pixel"`.
- Frames count from 0 in presentation order; an image has frame 0.
- A media, label or state refers to its media by `key`, a track to its labels by `track`.

Nothing here is specific to the service: `resources/exports` makes these rows from entities, `resources/imports` makes
entities from them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Literal, Protocol

import msgspec
from msgspec import Struct

from chalicelib.core.values.shapes import SHAPES, ShapeKind

LabelKind = ShapeKind
Split = Literal["train", "val", "test"]
Unit = Literal["fraction", "pixel"]
Association = Literal["media", "frame", "track"]
Attributes = dict[str, Any]
"""Attribute values as responses show them; never None for an absent one."""
OCCLUDED = "Occluded"
"""The attribute (bool) of a type that says that the object is hidden in part (decision 190)."""
MANIFEST = "media.csv"
"""In every archive: the media by key, with what the format itself cannot hold."""


class Media(Struct, kw_only=True, frozen=True, omit_defaults=True, tag_field="row", tag=True):
    """An image or a video."""

    key: str
    """Unique within a dataset, safe as a file name, without extension."""
    name: str
    is_video: bool = False
    width: int = 0
    """Pixels; 0 where it is not known."""
    height: int = 0
    frames: int = 1
    fps: float | None = None
    md5: str = ""
    split: Split | None = None
    section: str = ""
    """The path of its folder."""
    type: str = ""
    """The name of its type."""
    attributes: Attributes = {}
    id: int | None = None
    """Id in the project that it comes from; labels and states have theirs."""
    elemental_id: str = ""
    path: str = ""
    """Where its file is in the archive, if it has one."""


class Refined(Struct, kw_only=True, frozen=True, omit_defaults=True):
    """What refines the shape of a label (`core/values/shapes.py`); a format without it has the plain shape."""

    mask: tuple[int, int, str] | None = None
    """Height and width of its box in pixels, and the run lengths of COCO."""
    angle: float = 0.0
    """Degrees clockwise about the centre of a box."""
    is_ellipse: bool = False
    is_open: bool = False
    holes: tuple[tuple[float, ...], ...] = ()
    """In the unit of the label."""
    visible: tuple[int, ...] | None = None
    """0, 1 or 2 for each point of a skeleton."""
    points: tuple[str, ...] = ()
    """The names of the points of a skeleton."""
    edges: tuple[tuple[int, int], ...] = ()
    """Pairs of places in `points`, from 0."""


class Label(Struct, kw_only=True, frozen=True, omit_defaults=True, tag_field="row", tag=True):
    """A shape on one frame."""

    media: str
    kind: LabelKind
    shape: tuple[float, ...]
    """As localizations have it: box (x, y, width, height), line (x, y, u, v), dot (x, y), poly (x0, y0, x1, y1, …).
    Empty where a track has a gap from this frame on, until its next label; writers get no such label."""
    refined: Refined | None = None
    frame: int = 0
    seconds: float | None = None
    """Seconds from the start of the video, in formats without frames; `frame` is computed from it."""
    unit: Unit = "fraction"
    class_name: str = ""
    track: str | None = None
    """The key of its track."""
    keyed: bool = True
    """False where it was interpolated between two keyed labels of its track."""
    type: str = ""
    attributes: Attributes = {}
    version: str = ""
    id: int | None = None
    elemental_id: str = ""


class State(Struct, kw_only=True, frozen=True, omit_defaults=True, tag_field="row", tag=True):
    """A track, or an annotation of a media or frame. A track on several media is a row for each, with the same key."""

    media: str
    key: str
    association: Association = "track"
    frame: int | None = None
    """The frame, for an annotation of a frame."""
    seconds: float | None = None
    """As in `Label`."""
    class_name: str = ""
    type: str = ""
    attributes: Attributes = {}
    version: str = ""
    id: int | None = None
    elemental_id: str = ""


class Refusal(Struct, kw_only=True, frozen=True, tag_field="row", tag=True):
    """A row that a reader cannot take."""

    place: str
    """File and line or member: `labels/a.txt:3`, `instances.json annotations[17]`."""
    reason: str


class Dropped(Struct, kw_only=True, frozen=True, tag_field="row", tag=True):
    """Columns or members of one row or document that have no place here."""

    names: tuple[str, ...]
    """With what they are of: `annotations.score`, `object.pose`."""


Row = Media | Label | State | Refusal | Dropped
"""What a reader yields, in any order; a media is not necessarily before its labels. Encoded, `row` says which it is."""


class Group(Struct, kw_only=True, frozen=True):
    """What a writer takes: one media with its labels (by frame, then id) and states (by id)."""

    media: Media
    labels: list[Label] = []
    states: list[State] = []
    pictures: list[int] | None = None
    """The frames whose pictures are in the archive, in order; None where the export has no pictures."""
    is_first: bool = True
    """False where an earlier part has the media already: a media with very many labels is cut by frames."""
    beyond: int = 0
    """Labels that were left out because the media does not have their frames."""

    @property
    def frames(self) -> list[int]:
        """The frames that are samples of the dataset: those with pictures, otherwise those with labels.

        An image is always a sample.
        """
        if self.pictures is not None:
            return self.pictures
        if not self.media.is_video:
            return [0] if self.is_first else []
        return sorted({label.frame for label in self.labels})

    @property
    def interpolated(self) -> int:
        """How many of its labels were interpolated."""
        return sum(not label.keyed for label in self.labels)

    def texts_by_frame(self, text_of: Callable[[Label, Media], str]) -> tuple[dict[int, list[str]], int]:
        """The texts of its labels by frame, for all `frames`; labels without a text or a picture are left out.

        Returns:
            the texts, and the number of labels that are left out.
        """
        found: defaultdict[int, list[str]] = defaultdict(list, {frame: [] for frame in self.frames})
        for label in self.labels:
            text = text_of(label, self.media)
            if text and (self.pictures is None or label.frame in found):
                found[label.frame].append(text)
        return found, len(self.labels) - sum(map(len, found.values()))


class Dataset(Struct, kw_only=True, frozen=True):
    """What holds for a whole dataset; it is known before the first group is written."""

    name: str
    classes: tuple[str, ...]
    """In the order of their numbers."""
    splits: tuple[Split, ...] = ()
    """Those that media have; empty where the dataset is not split."""
    label_attributes: Mapping[str, str] = {}
    """The dtypes of the attributes of labels by name; so for the next two."""
    state_attributes: Mapping[str, str] = {}
    media_attributes: Mapping[str, str] = {}
    picture: str = "jpg"
    """The extension of pictures."""
    task: Literal["detect", "segment", "obb", "pose"] = "detect"
    """What YOLO is written for."""
    first_pixel: Literal[0, 1] = 1
    """The number of the first pixel in Pascal VOC."""
    created: str = ""
    """ISO 8601."""
    skeletons: Mapping[str, tuple[tuple[str, ...], tuple[tuple[int, int], ...]]] = {}
    """By class, the names of the points of its skeletons, and the pairs of their places, from 0, that are joined."""
    source: Attributes = {}
    """Project, commit and query of an export."""
    taxa: Mapping[str, Attributes] = {}
    """By class, what the leaf of its name says of a taxon: `taxonID`, `AphiaID`, `rank`, `authority`."""


class Sink(Protocol):
    """Where a writer puts one part of an archive."""

    def add(self, path: str, data: bytes, *, stored: bool = False) -> None:
        """Add a whole file of this part alone; `stored` where it is compressed already."""

    def append(self, path: str, section: str, data: bytes) -> None:
        """More of a section of a file that all parts write; `Frame` says how the sections become the file."""


class Section(Struct, frozen=True):
    """A place in a file that all parts write: their bytes in the order of parts, `between` put where both have some."""

    name: str
    between: bytes = b""


Layout = tuple[bytes | Section, ...]
"""A file that all parts write: constant bytes and sections in order."""


class Format(Protocol):
    """A module of this package."""

    BY_FRAMES: bool
    """Whether several parts may write the labels of one media."""

    def write(self, dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:
        """Write one part.

        Args:
            dataset: of all parts.
            groups: the media of this part.
            sink: where to.
            first: the first number that this part may use for images, labels and so on. Parts have disjoint ranges.

        Returns:
            how many labels were left out because the format cannot hold them.
        """

    def layout(self, dataset: Dataset, path: str) -> Layout:
        """How the sections of a file that all parts write become the file; `registry.layout_of` adds the manifest."""

    def always(self, dataset: Dataset) -> list[str]:
        """The files with a layout that exist even where no part wrote to them: an export of nothing is valid, too.

        `registry.shared_files` adds the manifest.
        """

    def picture_path(self, media: Media, frame: int, extension: str) -> str:
        """Where the picture of a frame is."""

    def read(self, archive: Archive) -> Iterator[Row]:
        """The rows of an archive. Raises BadInput where it is not of the format at all."""


def shape_of(kind: str, member: Callable[[str], Any]) -> tuple[float, ...] | None:
    """The numbers of the shape of a localization, whose members `member` gives; None if it has no place."""
    if kind == "poly":
        return tuple(number for point in member("points") or () for number in point) or None
    found = [member(name) for name in SHAPES[kind].members] if kind in SHAPES else []
    if not found or found[0] is None or found[1] is None:
        return None
    return tuple(float(number or 0) for number in found)


def members_of_shape(kind: str, shape: Sequence[float]) -> dict[str, Any]:
    """The members of a localization with a shape; the inverse of `shape_of`."""
    if kind == "poly":
        return {"points": [list(point) for point in zip(shape[::2], shape[1::2], strict=True)]}
    return dict(zip(SHAPES[kind].members, shape, strict=True))


def no_layout(dataset: Dataset, path: str) -> Layout:  # noqa: ARG001 the same for all
    """The layout of formats whose files have one part each. Raises KeyError."""
    raise KeyError(path)


def fixed_layout(*parts: bytes | Section) -> Callable[[Dataset, str], Layout]:
    """The layout of formats in which it depends neither on the dataset nor on the file."""
    return lambda _dataset, _path: parts


def fixed_files(*paths: str) -> Callable[[Dataset], list[str]]:
    """The files of formats in which they do not depend on the dataset."""
    return lambda _: list(paths)


no_files = fixed_files()
"""The files of formats that have none without a media."""


class Files(Protocol):
    """The list of files of an archive."""

    def names(self) -> list[str]:
        """The paths of all files, with `/`, without a leading one."""

    def size(self, name: str) -> int:
        """Length of a file in bytes, uncompressed. Raises KeyError if the archive has no such file."""


class Archive(Files, Protocol):
    """What a reader reads from: an unpacked folder, a zip in a file, or a zip over ranges of an object."""

    def open(self, name: str) -> BinaryIO:
        """A file, which can be read once from start to end. Raises KeyError if the archive has no such file."""


def box_of(label: Label) -> tuple[float, float, float, float]:
    """The bounds of a label: x, y, width, height, in its unit. Those of a dot have no extent."""
    if label.kind == "box":
        x, y, width, height = label.shape
        return x, y, width, height
    corners = corners_of(label)
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def corners_of(label: Label) -> list[tuple[float, float]]:
    """The points of a label, in its unit: of a box its corners, clockwise from the top left."""
    shape = label.shape
    if label.kind == "box":
        x, y, width, height = shape
        return [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    if label.kind == "line":
        x, y, u, v = shape
        return [(x, y), (x + u, y + v)]
    return list(zip(shape[::2], shape[1::2], strict=True))


def scaled(shape: Iterable[float], width: float, height: float) -> tuple[float, ...]:
    """A shape times the width and height of its media; with 1 / width and 1 / height, back."""
    return tuple(number * (height if index % 2 else width) for index, number in enumerate(shape))


def in_pixels(label: Label, media: Media) -> Label:
    """The label in pixels."""
    if label.unit == "pixel":
        return label
    return msgspec.structs.replace(label, unit="pixel", shape=scaled(label.shape, media.width, media.height))


def picture_name(media: Media, frame: int, extension: str) -> str:
    """The file name of a frame: `key.jpg` of an image, `key_000012.jpg` of a video."""
    return f"{media.key}_{frame:06d}.{extension}" if media.is_video else f"{media.key}.{extension}"


def folder(split: Split | None, base: str) -> str:
    """The folder of a split: `images/train`, or `images` where the dataset is not split."""
    return f"{base}/{split}" if split else base


def split_picture_path(media: Media, frame: int, extension: str) -> str:
    """Where formats with one folder of pictures for each split have that of a frame: `images/train/name.jpg`."""
    return f"{folder(media.split, 'images')}/{picture_name(media, frame, extension)}"


def media_folder(media: Media) -> str:
    """The folder of a media, in formats with one for each: `train/key`, or `key` where the dataset is not split."""
    return f"{media.split}/{media.key}" if media.split else media.key


def has_pixel_bounds(label: Label, media: Media) -> bool:
    """Whether a format of boxes in pixels can hold a label: a box or polygon, on a media of known size."""
    return label.kind in ("box", "poly") and bool(media.width and media.height)
