"""VIAME CSV, which DIVE reads, too: `<key>/annotations.csv` for each video, `images/annotations.csv` for all images.

A line is: track, time or picture, frame from 0, left, top, right, bottom in continuous pixels from 0, confidence,
length (-1), class, confidence of the class, then what is optional: `(kp) head x y` and `(kp) tail x y` of a line,
`(poly) x y …` of a polygon, `(atr) name value` of the label, `(trk-atr) name value` of its track, on its first line.
Blanks in names of attributes are percent-encoded. The confidence is the attribute `confidence` or `score` between 0
and 1, whatever its case, else 1. Tracks are numbered from 0 in each file, then labels without a track. Dots and labels
of media of unknown size are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from chalicelib.errors import BadInput
from chalicelib.formats import manifest
from chalicelib.formats.model import (
    Dataset,
    Group,
    Label,
    Media,
    Section,
    Sink,
    box_of,
    corners_of,
    fixed_layout,
    in_pixels,
    media_folder,
    no_files,
    picture_name,
)

BY_FRAMES = False
MOST_LABELS = 200_000
"""Labels of one video, whose tracks are numbered together."""
FILE = "annotations.csv"
TRACKS = "limn tracks: "
"""Before the number of tracks in the comment of a file: lines of smaller numbers are tracks."""
ENDS = ("head", "tail")
"""The keypoints of a line."""
CONFIDENCES = ("confidence", "score")
_COLUMNS = (
    *("# 1: Detection or Track-id", "2: Video or Image Identifier", "3: Unique Frame Identifier"),
    *("4-7: Img-bbox(TL_x", "TL_y", "BR_x", "BR_y)", "8: Detection or Length Confidence"),
    *("9: Target Length (0 or -1 if invalid)", "10-11+: Repeated Species", "Confidence Pairs or Attributes"),
)


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:
    """Write one part; see `model.Format`. Raises BadInput for a video with more than `MOST_LABELS`."""
    classes = set(dataset.classes)
    left_out = 0
    for group in groups:
        media = group.media
        manifest.write(group, sink)
        labels = [label for label in group.labels if _is_held(label, media, classes)]
        left_out += len(group.labels) - len(labels)
        if not media.is_video:
            for label in labels:
                row = _row(label, media, first, frame=media.id or 0, seen=picture_name(media, 0, dataset.picture))
                sink.append(_path(media), "rows", manifest.line([*row, *_attributes("atr", label.attributes)]))
                first += 1
            continue
        if len(labels) > MOST_LABELS:
            message = f"format: media {media.name!r} has {len(labels)} labels; a VIAME file holds {MOST_LABELS}."
            raise BadInput(message)
        sink.add(_path(media), b"".join(_lines(dataset, group, labels)))
    return left_out


layout = fixed_layout(manifest.line(_COLUMNS), manifest.line([f"# metadata,{TRACKS}0"]), Section("rows"))
always = no_files


def picture_path(media: Media, frame: int, extension: str) -> str:
    """Where the picture of a frame is: beside the annotations."""
    return f"{_folder(media)}/{picture_name(media, frame, extension)}"


def _folder(media: Media) -> str:
    if media.is_video:
        return media_folder(media)
    return f"{media.split}/images" if media.split else "images"


def _path(media: Media) -> str:
    return f"{_folder(media)}/{FILE}"


def _is_held(label: Label, media: Media, classes: set[str]) -> bool:
    return label.kind != "dot" and label.class_name in classes and bool(media.width and media.height)


def _lines(dataset: Dataset, group: Group, labels: list[Label]) -> Iterator[bytes]:
    """The lines of a video."""
    media = group.media
    numbers = {key: at for at, key in enumerate(dict.fromkeys(each.track for each in labels if each.track is not None))}
    yield manifest.line(_COLUMNS)
    rate = [f"fps: {media.fps!r}"] if media.fps else []
    yield manifest.line(["# metadata", *rate, f"{TRACKS}{len(numbers)}"])
    waiting = {state.key: state.attributes for state in group.states if state.association == "track"}
    alone = len(numbers)
    for label in labels:
        if label.track is None:
            number, alone = alone, alone + 1
        else:
            number = numbers[label.track]
        has_picture = group.pictures is not None
        seen = picture_name(media, label.frame, dataset.picture) if has_picture else _time(label.frame, media)
        of_track = waiting.pop(label.track, {}) if label.track is not None else {}
        row = _row(label, media, number, frame=label.frame, seen=seen)
        yield manifest.line([*row, *_attributes("atr", label.attributes), *_attributes("trk-atr", of_track)])


def _row(label: Label, media: Media, number: int, *, frame: int, seen: str) -> list[Any]:
    """The cells of a label before its attributes."""
    shape = in_pixels(label, media)
    x, y, width, height = box_of(shape)
    sure = confidence(label.attributes)
    box = [f"{edge:.12g}" for edge in (x, y, x + width, y + height)]
    made = [number, seen, frame, *box, repr(sure), -1, label.class_name, repr(sure)]
    corners = corners_of(shape)
    if shape.kind == "line":
        made += [f"(kp) {name} {x:.12g} {y:.12g}" for name, (x, y) in zip(ENDS, corners, strict=True)]
    if shape.kind == "poly":
        made.append("(poly) " + " ".join(f"{x:.12g} {y:.12g}" for x, y in corners))
    return made


def confidence(attributes: Mapping[str, Any]) -> float:
    """How sure a label is, from 0 to 1: 1 where no attribute says so."""
    for name, value in attributes.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if name.casefold() in CONFIDENCES and is_number and 0 <= value <= 1:
            return float(value)
    return 1.0


def _attributes(word: str, attributes: Mapping[str, Any]) -> Iterator[str]:
    for name, value in attributes.items():
        if value is not None and value != "":
            # A value may begin with what spreadsheets run: only the whole cell is one, and it begins with a bracket.
            yield f"({word}) {_name(name)} {manifest.as_text(value)}"


def _name(name: str) -> str:
    """A name of an attribute without blanks, which end it."""
    return "".join(quote(sign, safe="") if sign == "%" or sign.isspace() else sign for sign in name)


def _time(frame: int, media: Media) -> str:
    """The time of a frame by the rate of its video, as `HH:MM:SS.ffffff`; empty without a rate."""
    if not media.fps:
        return ""
    seconds, micros = divmod(round(frame / media.fps * 1_000_000), 1_000_000)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{micros:06d}"
