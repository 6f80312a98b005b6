"""Every reader names the columns and members that have no place here, counts their rows, and drops nothing of ours."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter

import pytest
from hypothesis import given, settings

from chalicelib.formats.model import Dropped, Label, Refusal
from chalicelib.formats.readers.unzip import ZipArchive
from tests.formats import worlds
from tests.formats.test_reading import READERS

COCO = {
    "images": [{"id": 1, "file_name": "a.png", "width": 9, "height": 9, "license": 3}],
    "categories": [{"id": 1, "name": "cod", "supercategory": "fish"}],
    "annotations": [{"id": n, "image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2], "score": 0.5} for n in (1, 2)],
    "licenses": [],
    "weather": [{"rain": True}, {"rain": False}],
}
VOC = """<annotation><filename>a.png</filename><size><width>9</width><height>9</height><depth>3</depth></size>
<segmented>1</segmented><object><name>cod</name><pose>Left</pose><truncated>0</truncated><difficult>1</difficult>
<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>3</xmax><ymax>3</ymax></bndbox></object></annotation>"""
CVAT = """<annotations><image id="0" name="a.png" width="9" height="9" subset="train">
<box label="cod" xtl="1" ytl="1" xbr="3" ybr="3" occluded="1" source="auto" z_order="0" group_id="4"/></image>
</annotations>"""
DIVE = {
    "version": 2,
    "tracks": {
        "0": {
            "begin": 1,
            "end": 1,
            "id": 0,
            "meta": {"by": "me"},
            "confidencePairs": [["cod", 1]],
            "features": [{"frame": 1, "bounds": [1, 1, 3, 3], "fishLength": 20}],
        }
    },
}
ROW = {"media": "a.png", "kind": "box", "x": 0.1, "y": 0.1, "width": 0.1, "height": 0.1}
TABLE = "key,name,is_video,width,height,weather\na.png,a.png,false,9,9,rain\n"
CAMTRAP = {
    "deployments": "deploymentID,owner\nd,x\n",
    "media": "mediaID,deploymentID,filePath,fileMediatype,iso\nm,d,a.png,image/png,200\n",
    "observations": "observationID,mediaID,observationType,bboxX,bboxY,mood\no,m,animal,0.1,0.2,calm\n",
}
IFDO = {
    "image-set-header": {"image-set-name": "x", "image-pi": {"name": "y"}},
    "image-set-items": {
        "a.png": {
            "image-entropy": 1,
            "image-annotations": [
                {
                    "shape": "single-pixel",
                    "coordinates": [[1, 2]],
                    "labels": [{"label": "cod", "annotator": "z"}],
                    "note": "n",
                }
            ],
        }
    },
}
BIIGLE = 'filename,label_name,shape_name,points,user_id,mood\na.png,cod,Point,"[1,2]",7,calm\n'
VARS = {
    "concept": "cod", "video_reference_uuid": "v", "elapsed_time_millis": 1, "observer": "x",
    "associations": [{"link_name": "localization-point", "link_value": {"x": 1, "y": 2}}],
}  # fmt: skip
MADE = {
    "coco": (
        {"a.json": COCO},
        {"images.license": 1, "categories.supercategory": 1, "annotations.score": 2, "document.weather": 1},
    ),
    "yolo": ({"classes.txt": "cod", "labels/a.txt": "0 0.5 0.5 0.1 0.1\n", "media.csv": TABLE}, {"media.weather": 1}),
    "voc": ({"Annotations/a.xml": VOC}, {"annotation.segmented": 1, "object.pose": 1, "object.difficult": 1}),
    "mot": (
        {"a/gt/gt.txt": "1,-1,1,1,2,2,0.7,1,0.25\n2,-1,1,1,2,2,1,1,0.5\n", "a/gt/labels.txt": "cod\n"},
        {"line.confidence": 1, "line.visibility": 2},
    ),
    "mots": ({"instances_txt/a.txt": "0 2001 2 9 9 :2U2\n", "media.csv": TABLE}, {"media.weather": 1}),
    "dota": ({"labelTxt/a.txt": "gsd:0.2\n1 1 3 1 3 3 1 3 cod 1\n"}, {"head.gsd": 1, "line.difficult": 1}),
    "masks": (None, {"media.weather": 1}),
    "cvat": ({"annotations.xml": CVAT}, {"image.subset": 1, "box.source": 1, "box.group_id": 1}),
    "viame": ({"a.csv": "0,a.png,0,1,1,3,3,1,25.5,cod,1,(eyes) 2\n"}, {"line.target length": 1, "line.(eyes)": 1}),
    "dive": ({"a.json": DIVE}, {"tracks.meta": 1, "features.fishLength": 1}),
    "camtrapdp": (
        {
            "datapackage.json": {"resources": [{"name": n, "path": f"{n}.csv"} for n in CAMTRAP]},
            **{f"{name}.csv": text for name, text in CAMTRAP.items()},
        },
        {"deployments.owner": 1, "media.iso": 1, "observations.mood": 1},
    ),
    "ifdo": (
        {"a.json": IFDO},
        {"header.image-pi": 1, "items.image-entropy": 1, "annotations.note": 1, "labels.annotator": 1},
    ),
    "biigle": ({"a.csv": BIIGLE}, {"line.user_id": 1, "line.mood": 1}),
    "vars": ({"a.json": json.dumps([VARS])}, {"annotation.observer": 1}),
    "eventmeasure": ({"a.txt": "Filename\tFrame\tImageRow\tImageCol\tDepth\na.png\t0\t1\t1\t5\n"}, {}),
    # other columns are attributes, which the type or `unknown_attributes` decides on
    "coralnet": ({"a.csv": "Name,Row,Column,Label,Depth\na.png,1,1,cod,5\n"}, {}),
}  # fmt: skip
MADE["kwcoco"] = MADE["coco"]
REFUSING = {"csv", "jsonl", "parquet"}
"""Their columns are those of the writer or attributes: a row with others is refused by name."""


def archive_of(files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as out:
        for name, content in files.items():
            out.writestr(name, json.dumps(content) if isinstance(content, dict) else content)
    return ZipArchive(made)


def mask():
    from PIL import Image

    picture = Image.new("P", (9, 9))
    picture.putpixel((2, 2), 1)
    picture.putpalette([0, 0, 0, 255, 0, 0])
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize("name", sorted(set(READERS) - REFUSING))
def test_a_reader_names_and_counts_what_it_drops(name):
    files, expected = MADE[name]
    files = files or {"SegmentationClass/a.png.png": mask(), "media.csv": TABLE}
    rows = [placed.row for placed in READERS[name](archive_of(files))]
    assert not [row for row in rows if isinstance(row, Refusal)]
    assert [row for row in rows if isinstance(row, Label)]
    assert Counter(each for row in rows if isinstance(row, Dropped) for each in row.names) == expected


@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_a_table_refuses_a_column_that_it_does_not_know(name):
    row = ROW | {"score": 0.5}
    text = f"{','.join(row)}\n{','.join(map(str, row.values()))}\n" if name == "csv" else json.dumps(row) + "\n"
    rows = [placed.row for placed in READERS[name](archive_of({f"localizations.{name}": text}))]
    assert [row.reason for row in rows] == ["the column 'score' is unknown; attributes are columns attributes.<name>"]


@pytest.mark.parametrize("name", sorted(READERS))
def test_nothing_is_dropped_of_what_we_write(name):
    @settings(max_examples=2 if name == "parquet" else 6)
    @given(worlds.groups(kinds=("box",)))
    def check(groups):
        made, _ = worlds.write(name, worlds.dataset(), [groups])
        assert not [placed.row for placed in READERS[name](ZipArchive(made.fp)) if isinstance(placed.row, Dropped)]

    check()
