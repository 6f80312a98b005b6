"""MOTS Challenge: a folder for each video with `gt/gt.txt`, `gt/labels.txt`, `seqinfo.ini` and `img1/`.

A line is: frame from 1, object, class from 1 in the order of classes, height and width of the picture, and the run
lengths of COCO. The object is the key of the track. Masks of a frame must not overlap: the later label is on top.
Boxes, ellipses and closed polygons become the pixels that they cover. Labels without a track or a pixel, all others
and those of media of unknown size are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from chalicelib.core.text.numbers import natural
from chalicelib.core.values import rle
from chalicelib.formats import manifest
from chalicelib.formats.model import Dataset, Group, Label, Media, Section, Sink, fixed_layout, media_folder, no_files
from chalicelib.formats.refined import runs
from chalicelib.formats.writers import mot
from chalicelib.formats.writers.masks import has_inside

BY_FRAMES = True
picture_path = mot.picture_path
always = no_files


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:  # noqa: ARG001 tracks have ids
    """Write one part; see `model.Format`."""
    numbers = {name: number for number, name in enumerate(dataset.classes, 1)}
    left_out = 0
    for group in groups:
        manifest.write(group, sink)
        if group.is_first:
            mot.begin_sequence(dataset, group.media, sink)
        frames: defaultdict[int, list[Label]] = defaultdict(list)
        for label in group.labels:
            is_tracked = label.track is not None and natural(label.track) is not None
            if is_tracked and label.class_name in numbers and has_inside(label, group.media):
                frames[label.frame].append(label)
            else:
                left_out += 1
        for frame in sorted(frames):
            lines = _lines(frames[frame], group.media, numbers)
            left_out += len(frames[frame]) - len(lines)
            sink.append(f"{media_folder(group.media)}/gt/gt.txt", "rows", b"".join(lines))
    return left_out


layout = fixed_layout(Section("rows"))


def _lines(labels: list[Label], media: Media, numbers: dict[str, int]) -> list[bytes]:
    """The labels of a frame that have a pixel which no later one covers."""
    covered, found = [media.width * media.height], []
    for label in reversed(labels):
        own = runs(label, media)
        seen = rle.without(own, covered)
        covered = rle.union(own, covered)
        if rle.area(seen):
            size = f"{media.height} {media.width}"
            line = f"{label.frame + 1} {label.track} {numbers[label.class_name]} {size} {rle.encode(seen)}\n"
            found.append(line.encode())
    return found[::-1]
