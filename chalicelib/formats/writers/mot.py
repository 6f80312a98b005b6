"""MOT Challenge: a folder for each video with `seqinfo.ini`, `gt/gt.txt`, `gt/labels.txt`, `det/det.txt`, `img1/`.

A line is: frame from 1, track, left, top, width, height in continuous pixels from 0 (as TrackEval reads them),
confidence, class from 1 in the order of classes, visibility. Labels without a track are detections: track -1, in
`det/det.txt`. Polygons become their bounds; lines, dots and labels of media of unknown size are left out. Attributes
and ids other than the track's are not held.
"""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.formats import manifest
from chalicelib.formats.model import (
    Dataset,
    Group,
    Label,
    Media,
    Section,
    Sink,
    box_of,
    fixed_layout,
    has_pixel_bounds,
    in_pixels,
    media_folder,
    no_files,
)

BY_FRAMES = True


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:  # noqa: ARG001 tracks have ids
    """Write one part; see `model.Format`."""
    numbers = {name: number for number, name in enumerate(dataset.classes, 1)}
    left_out = 0
    for group in groups:
        manifest.write(group, sink)
        base = media_folder(group.media)
        if group.is_first:
            begin_sequence(dataset, group.media, sink)
        for label in group.labels:
            line = _line(label, group.media, numbers)
            if line is None:
                left_out += 1
                continue
            path = f"{base}/det/det.txt" if label.track is None else f"{base}/gt/gt.txt"
            sink.append(path, "rows", line)
    return left_out


layout = fixed_layout(Section("rows"))
always = no_files


def picture_path(media: Media, frame: int, extension: str) -> str:
    """Where the picture of a frame is: `key/img1/000001.jpg` for frame 0."""
    return f"{media_folder(media)}/img1/{frame + 1:06d}.{extension}"


def begin_sequence(dataset: Dataset, media: Media, sink: Sink) -> None:
    """Write what a sequence has before its rows: its size and rate, the names of classes, an empty `gt.txt`."""
    base = media_folder(media)
    sink.add(f"{base}/seqinfo.ini", _sequence(dataset, media).encode())
    sink.add(f"{base}/gt/labels.txt", "".join(f"{_word(name)}\n" for name in dataset.classes).encode())
    sink.append(f"{base}/gt/gt.txt", "rows", b"")


def _sequence(dataset: Dataset, media: Media) -> str:
    rate = media.fps or 1
    members = {
        "name": media.key,
        "imDir": "img1",
        "frameRate": f"{rate:g}",
        "seqLength": media.frames,
        "imWidth": media.width,
        "imHeight": media.height,
        "imExt": f".{dataset.picture}",
    }
    return "[Sequence]\n" + "".join(f"{name}={value}\n" for name, value in members.items())


def _line(label: Label, media: Media, numbers: dict[str, int]) -> bytes | None:
    if label.class_name not in numbers or not has_pixel_bounds(label, media):
        return None
    x, y, width, height = box_of(in_pixels(label, media))
    track = -1 if label.track is None else label.track
    number = numbers[label.class_name]
    return f"{label.frame + 1},{track},{x:.12g},{y:.12g},{width:.12g},{height:.12g},1,{number},1\n".encode()


def _word(name: str) -> str:
    """A class on a line of its own."""
    return " ".join(name.split())
