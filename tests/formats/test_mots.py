"""MOTS: masks of tracks that do not overlap, as pycocotools reads them, and back."""

from __future__ import annotations

import io

import msgspec
import numpy as np
import pytest
from hypothesis import strategies as st
from pycocotools import mask as coco

from chalicelib.formats.model import Dataset, Group, Label, Media, Refined, Refusal, State
from chalicelib.formats.readers import read_mots
from chalicelib.formats.readers.unzip import ZipArchive
from tests.formats.worlds import write
from tests.resources.imports.archives import zipped
from tests.sweeps import examples

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools
SIZE = 32, 24
MEDIA = Media(key="clip", name="clip.mp4", is_video=True, width=SIZE[0], height=SIZE[1], frames=3, fps=10.0, id=1)
DATASET = Dataset(name="d", classes=("cod", "eel"))
KITTI = "WSV:2d;1O10000O10000O1O100O100O1O100O1000000000000000O100O102N5K00O1O1N2O110OO2O001O1NTga3"
"""The example of the published description: 375 x 1242 pixels."""


@st.composite
def labels(draw):
    """A label of a track on one of two frames."""
    width, height = draw(st.integers(1, SIZE[0])), draw(st.integers(1, SIZE[1]))
    left, top = draw(st.integers(0, SIZE[0] - width)), draw(st.integers(0, SIZE[1] - height))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    pixels = np.asfortranarray(rng.random((height, width)) < draw(st.floats(0.1, 1)), dtype=np.uint8)
    mask = Refined(mask=(height, width, coco.encode(pixels)["counts"].decode()))
    return Label(
        media="clip",
        kind="box",
        shape=(left / SIZE[0], top / SIZE[1], width / SIZE[0], height / SIZE[1]),
        frame=draw(st.integers(0, 1)),
        class_name=draw(st.sampled_from(DATASET.classes)),
        refined=draw(st.sampled_from([None, mask])),
    )


def whole(label):
    """The pixels of a label that was written."""
    x, y, width, height = (round(share * SIZE[at % 2]) for at, share in enumerate(label.shape))
    found = np.zeros(SIZE[::-1], dtype=np.uint8)
    mask = label.refined and label.refined.mask
    part = coco.decode({"size": mask[:2], "counts": mask[2]}) if mask else 1
    found[y : y + height, x : x + width] = part
    return found


@examples(30, 1000, st.lists(labels(), max_size=5))
def test_masks_of_a_frame_do_not_overlap_and_come_back_bit_by_bit(found):
    found = [msgspec.structs.replace(label, track=str(7 + at)) for at, label in enumerate(found)]
    archive, left_out = write("mots", DATASET, [[Group(media=MEDIA, labels=found)]])
    lines = archive.read("clip/gt/gt.txt").decode().splitlines()
    seen = {}
    for line in lines:
        frame, track, number, height, width, counts = line.split(" ")
        assert (int(height), int(width)) == SIZE[::-1]
        label = next(each for each in found if each.track == track)
        assert (int(frame), DATASET.classes[int(number) - 1]) == (label.frame + 1, label.class_name)
        seen[track] = coco.decode({"size": SIZE[::-1], "counts": counts})
    covered = {0: np.zeros(SIZE[::-1], dtype=np.uint8), 1: np.zeros(SIZE[::-1], dtype=np.uint8)}
    for label in reversed(found):
        expected = whole(label) & ~covered[label.frame] & 1
        covered[label.frame] |= whole(label)
        assert (seen.get(label.track, 0) == expected).all()
    assert left_out == len(found) - len(lines)
    rows = [placed.row for placed in read_mots.read(ZipArchive(archive.fp))]
    again, _ = write("mots", DATASET, [[Group(media=MEDIA, labels=_in_fractions(rows))]])
    assert again.read("clip/gt/gt.txt").decode().splitlines() == lines
    assert {row.key for row in rows if isinstance(row, State)} == set(seen)


def _in_fractions(rows):
    sizes = SIZE * 2
    return [
        msgspec.structs.replace(
            row, shape=tuple(n / size for n, size in zip(row.shape, sizes, strict=True)), unit="fraction"
        )
        for row in rows
        if isinstance(row, Label)
    ]


def test_labels_without_a_track_or_an_area_are_counted():
    members = {"media": "clip", "class_name": "cod"}
    found = [
        Label(kind="box", shape=(0.1, 0.1, 0.5, 0.5), **members),
        Label(kind="line", shape=(0.1, 0.1, 0.5, 0.5), track="3", **members),
        Label(kind="box", shape=(0.1, 0.1, 0.5, 0.5), track="4", **members),
    ]
    archive, left_out = write("mots", DATASET, [[Group(media=MEDIA, labels=found)]])
    assert left_out == 2
    assert len(archive.read("clip/gt/gt.txt").splitlines()) == 1
    assert "imWidth=32" in archive.read("clip/seqinfo.ini").decode()


def test_the_txt_of_kitti_has_its_classes_and_frames_from_0():
    rest = f"375 1242 {KITTI}"
    lines = f"52 1005 1 {rest}\n52 10000 10 {rest}\n-1 2001 2 {rest}\n0 2001 2 9 9 {KITTI}\n1 2\n"
    archive = ZipArchive(io.BytesIO(zipped({"instances_txt/0002.txt": lines.encode()})))
    rows = [placed.row for placed in read_mots.read(archive)]
    (media,) = (row for row in rows if isinstance(row, Media))
    assert (media.key, media.width, media.height, media.is_video) == ("0002", 1242, 375, True)
    (label,) = (row for row in rows if isinstance(row, Label))
    assert (label.frame, label.class_name, label.track) == (52, "car", "0002/1005")
    height, width, counts = label.refined.mask
    rle = {"size": [375, 1242], "counts": KITTI}
    assert coco.area({"size": [height, width], "counts": counts}) == coco.area(rle)
    assert label.shape == tuple(coco.toBbox(rle))
    assert [row.reason for row in rows if isinstance(row, Refusal)] == [
        "its class is 10: the benchmark ignores it",
        "frame -1: frames count from 0",
        f"its runs have {375 * 1242} pixels; 9 x 9 are 81",
        "2 fields; a line has frame, object, class, height, width and run lengths",
    ]
