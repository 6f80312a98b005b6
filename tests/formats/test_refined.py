"""Refined shapes through formats and back, against pycocotools and shapely."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import get_args

import msgspec
import numpy as np
import pytest
from hypothesis import strategies as st
from PIL import Image
from pycocotools import mask as coco
from shapely import affinity, geometry

import chalicelib
from chalicelib.core.values import rle
from chalicelib.core.values.shapes import SHAPES
from chalicelib.formats import refined
from chalicelib.formats.model import Dataset, Group, Label, Media, Refined, Refusal
from chalicelib.formats.readers.unzip import ZipArchive
from chalicelib.formats.refined import pixel_label
from chalicelib.formats.registry import is_simplified
from chalicelib.resources.imports.schemas import Target
from tests.formats import worlds
from tests.formats.test_reading import READERS
from tests.resources.imports.archives import zipped
from tests.sweeps import examples


def kinds_in(script, before):
    """The words in quotation marks, and the members, of one line of the console."""
    text = (Path(chalicelib.__file__).parent / "console" / "draw" / script).read_text()
    [line] = [line for line in text.splitlines() if before in line]
    return re.findall(r"\w+", line)


@pytest.mark.parametrize(
    ("place", "has"),
    [
        ("SHAPES of tests/formats/worlds.py, which each format is tried with", worlds.SHAPES),
        ("Target of resources/imports/schemas.py", get_args(Target)),
        ("Kind of console/draw/geometry.js", kinds_in("geometry.js", " Kind")),
        ("ICONS of console/draw/panel.js", kinds_in("panel.js", "const ICONS")),
    ],
)
def test_every_shape_has_a_row(place, has):
    assert SHAPES.keys() - {*has} == set(), f"add it to {place}"


MEDIA = Media(key="clip", name="clip.jpg", width=64, height=48, id=1)
NAMES = ("nose", "left eye", "right eye")
EDGES = ((0, 1), (0, 2))
DATASET = Dataset(name="d", classes=("cod",), skeletons={"cod": (NAMES, EDGES)})
KEPT = {
    "coco": {"mask", "angle", "ellipse", "turned ellipse", "holes", "skeleton"},
    "cvat": {"mask", "angle", "ellipse", "turned ellipse", "open", "skeleton"},
    "dota": {"angle"},
    "masks": {"mask"},
    "csv": {"mask", "angle", "ellipse", "turned ellipse", "open", "holes", "skeleton"},
    "jsonl": {"mask", "angle", "ellipse", "turned ellipse", "open", "holes", "skeleton"},
    "parquet": {"mask", "angle", "ellipse", "turned ellipse", "open", "holes", "skeleton"},
}
UNIT = st.floats(0.05, 0.95)


@st.composite
def boxes(draw):
    x, y = draw(st.floats(0.2, 0.4)), draw(st.floats(0.2, 0.4))
    return x, y, draw(st.floats(0.1, 0.2)), draw(st.floats(0.1, 0.2))


@st.composite
def labels(draw, name):  # noqa: PLR0911 a shape each
    """A label with one refinement."""
    members = {"media": "clip", "class_name": "cod", "id": 7, "elemental_id": "00000000-0000-4000-8000-000000000007"}
    points = tuple(draw(st.lists(UNIT, min_size=6, max_size=6, unique=True)))
    angle = draw(st.integers(1, 359)) + 0.5
    match name:
        case "mask":
            left, top, width, height = (draw(st.integers(1, most)) for most in (20, 20, 40, 25))
            rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
            found = np.asfortranarray(rng.integers(0, 2, (height, width)), dtype=np.uint8)
            found[0, 0] = found[-1, -1] = 1
            counts = coco.encode(found)["counts"].decode()
            box = (left / 64, top / 48, width / 64, height / 48)
            return Label(kind="box", shape=box, refined=Refined(mask=(height, width, counts)), **members)
        case "angle":
            return Label(kind="box", shape=draw(boxes()), refined=Refined(angle=angle), **members)
        case "ellipse":
            return Label(kind="box", shape=draw(boxes()), refined=Refined(is_ellipse=True), **members)
        case "turned ellipse":
            return Label(kind="box", shape=draw(boxes()), refined=Refined(is_ellipse=True, angle=angle), **members)
        case "open":
            return Label(kind="poly", shape=points, refined=Refined(is_open=True), **members)
        case "holes":
            hole = (0.3, 0.3, 0.6, 0.3, 0.5, 0.5)
            return Label(kind="poly", shape=(0.1, 0.1, 0.9, 0.1, 0.5, 0.9), refined=Refined(holes=(hole,)), **members)
    flags = tuple(draw(st.lists(st.integers(0, 2), min_size=3, max_size=3)))
    return Label(kind="poly", shape=points, refined=Refined(visible=flags, points=NAMES, edges=EDGES), **members)


def read_back(name, label, dataset=DATASET):
    archive, left_out = worlds.write(name, dataset, [[Group(media=MEDIA, labels=[label])]])
    found = [placed.row for placed in READERS[name](ZipArchive(archive.fp)) if isinstance(placed.row, Label)]
    return found, left_out, archive


def in_pixels(label):
    return label if label.unit == "pixel" else pixel_label(label, MEDIA)


@pytest.mark.parametrize(
    ("name", "shape"), [(name, shape) for name, shapes in KEPT.items() for shape in sorted(shapes)]
)
@examples(5, 60, st.data())
def test_what_a_format_holds_comes_back(name, shape, data):
    label = data.draw(labels(shape))
    (found,), left_out, _ = read_back(name, label)
    assert left_out == 0
    one, two = in_pixels(label), in_pixels(found)
    assert (one.kind, two.shape) == (two.kind, pytest.approx(one.shape, abs=1e-8))
    before, after = one.refined, two.refined
    assert None not in (before, after)
    assert after.mask == before.mask, "bit by bit"
    assert (after.angle, after.is_ellipse) == (pytest.approx(before.angle), before.is_ellipse)
    assert (after.is_open, after.visible, after.points) == (before.is_open, before.visible, before.points)
    assert [pytest.approx(hole, abs=1e-8) for hole in before.holes] == list(after.holes)


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools
@examples(20, 500, labels("mask"))
def test_run_lengths_of_coco_are_those_of_pycocotools(label):
    _, _, archive = read_back("coco", label)
    (made,) = json.loads(archive.read("annotations/instances_all.json"))["annotations"]
    height, width, counts = label.refined.mask
    whole = np.zeros((48, 64), dtype=np.uint8, order="F")
    left, top = round(label.shape[0] * 64), round(label.shape[1] * 48)
    whole[top : top + height, left : left + width] = coco.decode({"size": [height, width], "counts": counts})
    expected = coco.encode(whole)
    assert made["segmentation"] == {"size": [48, 64], "counts": expected["counts"].decode()}
    assert made["area"] == coco.area(expected)
    assert rle.area(rle.decode(made["segmentation"]["counts"])) == made["area"]


@examples(20, 500, labels("angle"), labels("turned ellipse"), labels("holes"))
def test_outlines_and_areas_are_those_of_shapely(turned, ellipse, holes):
    shape = in_pixels(turned)
    x, y, width, height = shape.shape
    expected = affinity.rotate(geometry.box(x, y, x + width, y + height), turned.refined.angle)
    found = geometry.Polygon(refined.outline(shape))
    assert found.symmetric_difference(expected).area < 1e-6
    assert refined.area(shape) == pytest.approx(expected.area)
    round_one = in_pixels(ellipse)
    middle = round_one.shape[0] + round_one.shape[2] / 2, round_one.shape[1] + round_one.shape[3] / 2
    circle = geometry.Point(*middle).buffer(1, quad_segs=64)
    scaled = affinity.scale(circle, round_one.shape[2] / 2, round_one.shape[3] / 2)
    exact = affinity.rotate(scaled, ellipse.refined.angle, origin=middle)
    assert geometry.Polygon(refined.outline(round_one)).symmetric_difference(exact).area < 0.01 * exact.area
    assert refined.area(round_one) == pytest.approx(exact.area, rel=1e-3)
    with_hole = in_pixels(holes)
    ring, hole = refined.rings(with_hole)
    assert refined.area(with_hole) == pytest.approx(geometry.Polygon(ring, [hole]).area)


@pytest.mark.parametrize(("task", "shape"), [("obb", "angle"), ("pose", "skeleton"), ("segment", "ellipse")])
@examples(5, 100, st.data())
def test_yolo_holds_what_its_task_has(task, shape, data):
    label = data.draw(labels(shape))
    (found,), left_out, archive = read_back("yolo", label, msgspec.structs.replace(DATASET, task=task))
    assert left_out == 0
    if task == "pose":
        assert found.shape == pytest.approx(label.shape, abs=1e-8)
        assert found.refined.visible == label.refined.visible
        assert "kpt_shape: [3, 3]" in archive.read("data.yaml").decode()
    else:
        outline = geometry.Polygon(refined.outline(in_pixels(label)))
        assert geometry.Polygon(refined.outline(in_pixels(found))).symmetric_difference(outline).area < 1e-4


@pytest.mark.parametrize(
    ("name", "shape", "left_out"),
    [("coco", "open", 1), ("yolo", "open", 1), ("yolo", "skeleton", 1), ("cvat", "holes", 0), ("voc", "mask", 0)],
)
@examples(2, 20, st.data())
def test_what_a_format_cannot_hold_is_left_out_or_plain(name, shape, left_out, data):
    assert read_back(name, data.draw(labels(shape)))[1] == left_out


def test_masks_have_classes_objects_and_the_colours_of_voc():
    members = {"media": "clip", "kind": "box"}
    labels = [
        Label(shape=(0.0, 0.0, 0.5, 0.5), class_name="cod", **members),
        Label(shape=(0.25, 0.25, 0.5, 0.5), class_name="eel", **members),
        Label(media="clip", kind="line", shape=(0.1, 0.1, 0.5, 0.5), class_name="eel"),
    ]
    header = msgspec.structs.replace(DATASET, classes=("cod", "eel"))
    archive, left_out = worlds.write("masks", header, [[Group(media=MEDIA, labels=labels)]])
    assert left_out == 1
    image = Image.open(io.BytesIO(archive.read("SegmentationClass/clip.png")))
    assert (image.mode, image.getpixel((2, 2)), image.getpixel((20, 20)), image.getpixel((60, 40))) == ("P", 1, 2, 0)
    assert image.convert("RGB").getpixel((2, 2)) == (128, 0, 0), "VOC's first colour"
    found = [each.row for each in READERS["masks"](ZipArchive(archive.fp)) if isinstance(each.row, Label)]
    assert [(each.class_name, each.shape) for each in found] == [
        ("cod", (0.0, 0.0, 32.0, 24.0)), ("eel", (16.0, 12.0, 32.0, 24.0))
    ]  # fmt: skip
    assert [refined.area(each) for each in found] == [32 * 24 - 16 * 12, 32 * 24]


def test_corners_of_dota_that_are_no_rectangle_are_a_polygon():
    lines = b"imagesource:x\ngsd:1\n0 0 10 0 10 10 0 10 cod 0\n0 0 10 1 9 10 0 10 cod 1\n1 2 3 cod 0\n"
    found = [each.row for each in READERS["dota"](ZipArchive(io.BytesIO(zipped({"labelTxt/a.txt": lines}))))]
    labels_found = [(each.kind, each.shape) for each in found if isinstance(each, Label)]
    assert labels_found == [("box", (0.0, 0.0, 10.0, 10.0)), ("poly", (0, 0, 10, 1, 9, 10, 0, 10))]
    assert [each.reason for each in found if isinstance(each, Refusal)] == [
        "5 fields are fewer than 9: four corners and a class"
    ]


def test_yolo_has_the_outline_of_the_largest_part_of_a_mask():
    y, x = np.mgrid[0:48, 0:64]
    found = (np.hypot(x - 30, (y - 20) * 1.4) < 18) | ((x > 55) & (y > 40))
    counts = coco.encode(np.asfortranarray(found, dtype=np.uint8))["counts"].decode()
    mask = Refined(mask=(48, 64, counts))
    label = Label(media="clip", kind="box", shape=(0.0, 0.0, 1.0, 1.0), class_name="cod", refined=mask)
    header = msgspec.structs.replace(DATASET, task="segment")
    archive, left_out = worlds.write("yolo", header, [[Group(media=MEDIA, labels=[label])]])
    (line,) = archive.read("labels/train/clip.txt").decode().splitlines()
    number, *corners = map(float, line.split())
    assert (number, left_out, len(corners) % 2) == (0, 0, 0)
    assert all(0 <= each <= 1 for each in corners)
    outline = geometry.Polygon([(a * 64, b * 48) for a, b in zip(corners[::2], corners[1::2], strict=True)])
    inside = found & (x < 50)
    assert outline.area == pytest.approx(inside.sum(), rel=0.05)
    seen = np.array([[outline.contains(geometry.Point(a + 0.5, b + 0.5)) for a in range(64)] for b in range(48)])
    assert (seen & inside).sum() / (seen | inside).sum() > 0.93
    assert is_simplified("yolo", header, label), "its other part is not held"
