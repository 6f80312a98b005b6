"""Read MOTS: `<sequence>/gt/gt.txt` of MOTS Challenge, frames from 1; `instances_txt/<sequence>.txt` of KITTI, from 0.

A line is: frame, object, class, height and width of the picture, run lengths of COCO. Class 10 is what the benchmark
ignores, unless `gt/labels.txt` names the classes: it is left out, with a note.
"""

from __future__ import annotations

import re

from chalicelib.core.values import rle
from chalicelib.errors import BadInput
from chalicelib.formats.model import Archive, Label, State
from chalicelib.formats.readers.picture_video import numbered_pictures
from chalicelib.formats.readers.read_mot import classes_of, sequence_of
from chalicelib.formats.readers.reading import MediaTable, Placed, Rows, matching, refusal, text_lines, whole
from chalicelib.formats.refined import mask_shape

_FIELDS = 6
_IGNORED = 10
_KITTI = re.compile(r"(?P<base>.*/)?instances_txt/(?P<key>[^/]+)\.txt", re.IGNORECASE)
_CHALLENGE = re.compile(r"(?P<base>(?:.*/)?(?P<key>[^/]+))/gt/gt\.txt", re.IGNORECASE)
_USUAL = ("car", "pedestrian")
"""The classes of MOTS, from 1."""


def read(archive: Archive) -> Rows:
    """The rows of an archive. Raises BadInput where it is not of the format at all."""
    table, folders = MediaTable(archive), numbered_pictures(archive)
    paths = matching(archive, r"(.*/)?instances_txt/[^/]+\.txt|.+/gt/gt\.txt")
    if not paths and not table.is_ours:
        raise BadInput("MOTS: the archive has no <sequence>/gt/gt.txt or instances_txt/<sequence>.txt.")
    tracks: set[tuple[str, str]] = set()
    for path in paths:
        kitti = _KITTI.fullmatch(path)
        found = kitti or _CHALLENGE.fullmatch(path)
        key = found["key"] if found else path
        folder = f"{kitti['base'] or ''}{key}" if kitti else path.removesuffix("/gt/gt.txt")
        classes = classes_of(archive, folder)
        prefix = "" if table.is_ours else f"{key}/"
        sequence = sequence_of(archive, folder, key, folders)
        is_begun = False
        for place, line in text_lines(archive, path):
            try:
                label, size = _label(line, key, classes, first=0 if kitti else 1, prefix=prefix)
            except (ValueError, OverflowError) as error:
                yield refusal(place, str(error))
                continue
            if not is_begun:
                is_begun = True
                yield from table.new(path, key, **{"height": size[0], "width": size[1], **sequence})
            track = label.track or ""
            if (key, track) not in tracks:
                tracks.add((key, track))
                yield Placed(place, State(media=key, key=track, class_name=label.class_name))
            yield Placed(place, label)
        if not is_begun:
            yield from table.new(path, key, **sequence)
    yield from table.rest()


def _label(line: str, media: str, classes: list[str], *, first: int, prefix: str) -> tuple[Label, tuple[int, int]]:
    """The label of a line, and height and width of its picture. Raises ValueError."""
    fields = line.split()
    if len(fields) != _FIELDS:
        raise ValueError(f"{len(fields)} fields; a line has frame, object, class, height, width and run lengths")
    frame, number, height, width = whole(fields[0]), *map(whole, fields[2:5])
    if frame < first:
        raise ValueError(f"frame {frame}: frames count from {first}")
    if not classes and number == _IGNORED:
        raise ValueError("its class is 10: the benchmark ignores it")
    known = classes or _USUAL
    if classes and not 1 <= number <= len(classes):
        raise ValueError(f"class {number} is not one of the {len(classes)} in labels.txt")
    runs = rle.decode(fields[5])
    if height < 1 or width < 1 or sum(runs) != height * width:
        raise ValueError(f"its runs have {sum(runs)} pixels; {height} x {width} are {height * width}")
    shape, refined = mask_shape(runs, height)
    label = Label(
        media=media,
        kind="box",
        shape=shape,
        refined=refined,
        frame=frame - first,
        unit="pixel",
        class_name=known[number - 1] if 1 <= number <= len(known) else str(number),
        track=prefix + fields[1],
    )
    return label, (height, width)
