"""What writers write, read back by the rules of each format, over random datasets."""

import configparser
import csv
import io
import json
import math
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from chalicelib.core.text import csv_cells
from chalicelib.formats import manifest
from chalicelib.formats.model import Group, Label, Media, box_of, in_pixels, picture_name
from chalicelib.formats.registry import WRITERS
from chalicelib.formats.writers import table, voc
from chalicelib.resources.imports import schemas as imports_schemas
from infra.client.cli import dataset_commands
from tests.formats.worlds import CLASSES, dataset, groups, write

ROOT = Path(__file__).parents[2]
PARTS = st.lists(groups(), max_size=1).map(lambda found: [[group] for part in found for group in part])
SOME = settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def labels_of(parts, *kinds):
    return [(group.media, label) for part in parts for group in part for label in group.labels if label.kind in kinds]


def near(found, wanted, within=1e-6):
    assert len(found) == len(wanted)
    assert all(math.isclose(a, b, rel_tol=1e-9, abs_tol=within) for a, b in zip(found, wanted, strict=True))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools
@SOME
@given(PARTS)
def test_coco_is_what_pycocotools_reads(tmp_path_factory, parts):
    from pycocotools.coco import COCO

    archive, left_out = write("coco", dataset(), parts)
    wanted = labels_of(parts, "box", "poly", "dot")
    assert left_out == len(labels_of(parts, "line"))
    found = []
    for split in ("train", "val"):
        path = tmp_path_factory.mktemp("coco") / "a.json"
        path.write_bytes(archive.read(f"annotations/instances_{split}.json"))
        read = COCO(str(path))
        assert [each["name"] for each in read.loadCats(read.getCatIds())] == list(CLASSES)
        found += read.loadAnns(read.getAnnIds())
        assert len(read.getAnnIds()) == len(read.dataset["annotations"])
        images = read.imgs
        for each in read.dataset["annotations"]:
            image = images[each["image_id"]]
            assert image["limn"]["media"].startswith("clip_")
            if each["segmentation"] and image["width"] * image["height"] < 1_000_000:
                assert read.annToMask(each).shape == (image["height"], image["width"])
    assert len(found) == len(wanted)
    by_id = {each["limn"]["id"]: each for each in found if "id" in each["limn"]}
    for media, label in wanted:
        if label.keyed:
            each = by_id[label.id]
            pixels = in_pixels(label, media)
            near(each["bbox"], box_of(pixels))
            assert CLASSES[each["category_id"] - 1] == label.class_name
            assert each.get("track_id") == (int(label.track) if label.track else None)
            if label.kind == "poly":
                near(each["segmentation"][0], pixels.shape)
            if label.kind == "dot":
                near(each["keypoints"][:2], pixels.shape)
    numbers = [each["id"] for each in found]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.slow
@SOME
@given(PARTS, st.sampled_from(["detect", "segment"]))
def test_yolo_follows_the_rules_of_ultralytics(parts, task):
    """Those of its loader: names from 0 in data.yaml, splits below its folder, a label file of the path of each picture
    with `labels` for `images`, and in it
    a class and numbers within the picture."""
    archive, left_out = write("yolo", dataset(task=task), parts)
    data = yaml.safe_load(archive.read("data.yaml"))
    assert data["names"] == dict(enumerate(CLASSES))
    assert (data["train"], data["val"]) == ("images/train", "images/val")
    for media in (group.media for part in parts for group in part if not group.media.is_video):
        picture = WRITERS["yolo"].picture_path(media, 0, "jpg")
        assert f"labels/{picture.removeprefix('images/').removesuffix('.jpg')}.txt" in archive.namelist()
    held, rows = labels_of(parts, "box", "poly"), []
    for name in archive.namelist():
        if name.startswith("labels/"):
            for line in archive.read(name).decode().splitlines():
                number, *values = line.split()
                values = [float(each) for each in values]
                assert 0 <= int(number) < len(CLASSES)
                assert all(0 <= each <= 1 for each in values)
                assert len(values) == 4 if task == "detect" else len(values) >= 6 and len(values) % 2 == 0
                rows.append((name.rpartition("/")[2], int(number), values))
    assert left_out + len(rows) == sum(len(group.labels) for part in parts for group in part)
    if task == "segment":
        return
    for media, label in held:
        x, _, width, height = box_of(label)
        name = picture_name(media, label.frame, "txt")
        matches = [
            values for file, number, values in rows if file == name and CLASSES[number] == label.class_name
            and math.isclose(values[0], x + width / 2, abs_tol=1e-9) and math.isclose(values[3], height, abs_tol=1e-9)
        ]  # fmt: skip
        assert matches or width == 0 or height == 0


@pytest.mark.slow
@SOME
@given(PARTS, st.sampled_from([0, 1]))
def test_voc_has_whole_pixels_within_the_picture(parts, first):
    archive, _ = write("voc", dataset(first_pixel=first), parts)
    for split in ("train", "val"):
        stems = archive.read(f"ImageSets/Main/{split}.txt").decode().split()
        assert {f"Annotations/{stem}.xml" for stem in stems} <= set(archive.namelist())
    names = Counter()
    for name in archive.namelist():
        if not name.startswith("Annotations/"):
            continue
        root = ET.fromstring(archive.read(name))
        width, height = int(root.find("size/width").text), int(root.find("size/height").text)
        for each in root.iter("object"):
            left, top, right, bottom = (
                int(each.find(f"bndbox/{edge}").text) for edge in ("xmin", "ymin", "xmax", "ymax")
            )
            assert first <= left <= right <= width - 1 + first
            assert first <= top <= bottom <= height - 1 + first
            names[each.find("name").text] += 1
    assert names == Counter(label.class_name for _, label in labels_of(parts, "box", "poly"))


def test_a_whole_picture_is_1_to_its_size_in_voc():
    assert voc.edges(0.0, 640.0, 640, 1) == (1, 640)
    assert voc.edges(0.0, 640.0, 640, 0) == (0, 639)
    assert voc.edges(10.4, 0.1, 640, 1) == (11, 11)


@pytest.mark.slow
@SOME
@given(PARTS)
def test_mot_counts_frames_from_1_and_has_tracks_in_gt(parts):
    archive, _ = write("mot", dataset(), parts)
    for group in (group for part in parts for group in part):
        base = f"{group.media.split}/{group.media.key}"
        info = configparser.ConfigParser()
        info.read_string(archive.read(f"{base}/seqinfo.ini").decode())
        assert info.getint("Sequence", "seqLength") == group.media.frames
        for tracked, path in ((True, "gt/gt.txt"), (False, "det/det.txt")):
            wanted = [
                (label.frame + 1, int(label.track or -1), *box_of(in_pixels(label, group.media)))
                for label in group.labels
                if label.kind in ("box", "poly") and (label.track is not None) == tracked
            ]
            text = archive.read(f"{base}/{path}").decode() if f"{base}/{path}" in archive.namelist() else ""
            found = [[float(each) for each in line.split(",")] for line in text.splitlines()]
            for row, values in zip(found, wanted, strict=True):
                near(row[:6], values)


@pytest.mark.slow
@SOME
@given(PARTS)
def test_cvat_has_a_track_of_every_object_that_ends_outside(parts):
    archive, left_out = write("cvat", dataset(), parts)
    assert left_out == 0
    for group in (group for part in parts for group in part):
        root = ET.fromstring(archive.read(f"{group.media.split}/{group.media.key}/annotations.xml"))
        shown = Counter()
        for track in root.iter("track"):
            shapes = list(track)
            frames = [int(shape.get("frame")) for shape in shapes]
            assert frames == sorted(set(frames))
            inside = [shape for shape in shapes if shape.get("outside") == "0"]
            assert shapes[-1].get("outside") == "1" or frames[-1] == group.media.frames - 1
            shown.update((track.get("label"), int(shape.get("frame")), shape.tag) for shape in inside)
        tags = {"box": "box", "poly": "polygon", "line": "polyline", "dot": "points"}
        wanted = Counter((label.class_name, label.frame, tags[label.kind]) for label in group.labels)
        assert shown == wanted


@pytest.mark.slow
@SOME
@given(PARTS)
def test_tables_hold_all_that_rows_have(parts):
    for name in ("jsonl", "csv"):
        archive, left_out = write(name, dataset(), parts)
        assert left_out == 0
        assert archive.testzip() is None
    jsonl, _ = write("jsonl", dataset(), parts)
    for path, wanted in (
        ("localizations", [label for part in parts for group in part for label in group.labels]),
        ("states", [state for part in parts for group in part for state in group.states]),
    ):
        lines = jsonl.read(f"{path}.jsonl").splitlines()
        assert [table.row_of(path, json.loads(line)) for line in lines] == wanted


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_parquet_holds_all_that_rows_have(tmp_path, seed):
    found = []

    @settings(max_examples=seed, database=None)
    @given(PARTS.filter(lambda parts: any(group.labels for part in parts for group in part)))
    def take(parts):
        found.append(parts)

    take()
    archive, _ = write("parquet", dataset(), found[-1])
    for name in table.COLUMNS:
        rows = []
        for path in sorted(each for each in archive.namelist() if each.startswith(f"{name}/")):
            (tmp_path / "a.parquet").write_bytes(archive.read(path))
            rows += [table.row_of(name, values) for values in table.read_parquet(tmp_path / "a.parquet")]
        wanted = [row for part in found[-1] for group in part for kind, row in table.rows(group) if kind == name]
        assert rows == wanted


@pytest.mark.slow
@SOME
@given(PARTS)
def test_fathomnet_and_geojson(parts):
    archive, _ = write("fathomnet", dataset(), parts)
    rows = list(csv.DictReader(io.StringIO(archive.read("fathomnet.csv").decode())))
    assert len(rows) == len(labels_of(parts, "box", "poly"))
    for row, (media, label) in zip(rows, labels_of(parts, "box", "poly"), strict=True):
        assert row["concept"] == label.class_name
        assert 0 <= int(row["x"]) < media.width
        assert int(row["width"]) >= 1
        if place := label.attributes.get("Place") or media.attributes.get("Place"):
            near([float(row["longitude"]), float(row["latitude"])], place)
    positions = json.loads(write("geojson", dataset(), parts)[0].read("positions.geojson"))
    assert positions["type"] == "FeatureCollection"
    for each in positions["features"]:
        longitude, latitude = each["geometry"]["coordinates"]
        assert -180 <= longitude <= 180
        assert -90 <= latitude <= 90


def formats_of(guide):
    """The names in the first column of the table of formats of a guide."""
    table = (ROOT / "docs/guides" / guide).read_text().split("## Formats\n")[1].split("\n### ")[0]
    return {name for row in re.findall(r"^\|([^|]+)\|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}


def test_every_list_of_formats_has_all():
    script = (ROOT / "chalicelib/console/views/transfers_new.js").read_text()
    offered = set(
        re.findall(r'^  \["(\w+)", "[^"]+"\],$', script.split("const FORMATS")[1].split("];")[0], re.MULTILINE)
    )
    written_only = set(re.findall(r'"(\w+)"', script.split("const WRITTEN_ONLY = ")[1].split("];")[0]))
    written, read = set(WRITERS), set(get_args(imports_schemas.Format))
    lists = {
        "ExportFormat of dataset_commands.py": (set(get_args(dataset_commands.ExportFormat)), written),
        "FORMATS of transfers_new.js": (offered, written),
        "the table of docs/guides/datasets.md": (formats_of("datasets.md"), written),
        "ImportFormat of dataset_commands.py": (set(get_args(dataset_commands.ImportFormat)), read),
        "FORMATS without WRITTEN_ONLY of transfers_new.js": (offered - written_only, read),
        "the table of docs/guides/imports.md": (formats_of("imports.md"), read),
    }
    assert {place: found ^ wanted for place, (found, wanted) in lists.items() if found != wanted} == {}


@pytest.mark.parametrize("name", WRITERS)
def test_a_dataset_without_media_is_an_archive(name):
    archive, _ = write(name, dataset(), [])
    assert archive.testzip() is None


@pytest.mark.parametrize(
    "text", ["=HYPERLINK(1)", "+1+1", "-1+1", "@SUM(1)", "\t=1", "'=1", "\uff1d1", "-1.5", "it's", "'"]
)
def test_texts_that_a_spreadsheet_would_run_are_disarmed_in_exports_and_read_back(text):
    written = next(csv.reader([manifest.line([text, 1]).decode()], strict=True))[0]
    assert written[0] not in "=+@\t\uff1d"
    assert not written.startswith("-1+")
    assert csv_cells.restore(written) == text


@pytest.mark.parametrize("text", ["=1", "'=1", "-1+1", "@x"])
def test_text_that_no_spreadsheet_opens_is_written_as_it_is(text):
    assert voc.text(text).replace("&apos;", "'") == manifest.as_text(text) == text


def test_cvat_says_what_is_occluded():
    media = Media(key="clip", name="clip.mp4", width=200, height=100, frames=9, is_video=True)
    seen = [(0, {}), (3, {"Occluded": True}), (6, {"Occluded": False})]
    box = Label(media="clip", kind="box", shape=(0.1, 0.1, 0.2, 0.2), frame=0, class_name="cod", track="t")
    labels = [replace(box, frame=frame, attributes=attributes) for frame, attributes in seen]
    archive, _ = write("cvat", dataset(), [[Group(media=media, labels=labels, states=[])]])
    root = ET.fromstring(archive.read("clip/annotations.xml"))
    shapes = [(each.get("frame"), each.get("occluded")) for each in root.iter("box") if each.get("outside") == "0"]
    assert shapes == [("0", "0"), ("3", "1"), ("6", "0")]
