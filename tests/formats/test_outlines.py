"""iFDO and BIIGLE: what is written is read again, and files of other programs are read."""

import csv
import io
import json
import math

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from chalicelib.errors import BadInput
from chalicelib.formats.interpolation import interpolate
from chalicelib.formats.model import Dropped, Group, Label, Media, Refined, Refusal, State, in_pixels
from chalicelib.formats.readers.science import read_biigle, read_ifdo
from chalicelib.formats.readers.unzip import ZipArchive
from chalicelib.formats.writers.science.outlines import shape_of
from tests.formats.test_hostile_archives import zipped
from tests.formats.test_reading import READERS, labels_of, rows_of
from tests.formats.worlds import dataset, groups, write

FORMS = pytest.mark.parametrize("name", ["ifdo", "biigle"])


def keyed(labels):
    return sorted((each for each in labels if each.keyed), key=lambda each: each.elemental_id)


@FORMS
def test_shapes_frames_tracks_and_what_is_known_of_them_are_held(name):
    @settings(max_examples=12)
    @given(groups())
    def check(found_groups):
        found = rows_of(name, found_groups)
        media = {group.media.key: group.media for group in found_groups}
        wanted = keyed(in_pixels(label, media[label.media]) for label in labels_of(found_groups))
        read = keyed(label for label in found[Label] if label.shape)
        for one, other in zip(read, wanted, strict=True):
            assert one.shape == pytest.approx(other.shape, abs=1e-9)
            assert replace(one, shape=()) == replace(other, shape=(), id=None)
        seen = {label.track for label in labels_of(found_groups)}
        states = [state for group in found_groups for state in group.states if state.key in seen]
        assert sorted(found[State], key=lambda each: each.key) == sorted(
            (replace(state, id=None) for state in states), key=lambda each: each.key
        )

    check()


@FORMS
def test_gaps_of_tracks_are_held(name):
    media = Media(key="clip", name="clip.mp4", is_video=True, width=100, height=100, frames=50, fps=25.0)
    labels = [
        Label(media="clip", kind="box", shape=(frame / 100, 0.1, 0.2, 0.2), frame=frame, track="7", class_name="cod")
        for frame in (0, 4, 20, 22)
    ]
    gap = Label(media="clip", kind="box", shape=(), frame=5, track="7", class_name="cod")
    seen = interpolate(sorted([*labels, gap], key=lambda label: label.frame))
    made = Group(media=media, labels=[each for each in seen if each.shape], states=[State(media="clip", key="7")])
    again = interpolate(sorted(rows_of(name, [made])[Label], key=lambda label: label.frame))
    assert [each.frame for each in again if each.shape] == [0, 1, 2, 3, 4, 20, 21, 22]


@FORMS
def test_turned_boxes_and_open_polygons_are_held(name):
    media = Media(key="a", name="a.jpg", width=200, height=100, split="train")
    common = {"media": "a", "class_name": "cod"}
    turned = Label(kind="box", shape=(0.25, 0.25, 0.5, 0.25), refined=Refined(angle=30.0), elemental_id="1", **common)
    line = Label(
        kind="poly", shape=(0.1, 0.1, 0.5, 0.1, 0.5, 0.5), refined=Refined(is_open=True), elemental_id="2", **common
    )
    one, two = keyed(rows_of(name, [Group(media=media, labels=[turned, line])])[Label])
    assert one.shape == pytest.approx((50, 25, 100, 25))
    assert one.refined.angle == pytest.approx(30)
    assert (two.kind, two.refined) == ("poly", Refined(is_open=True))
    assert two.shape == pytest.approx((20, 10, 100, 10, 100, 50))


@pytest.mark.parametrize(
    ("word", "numbers", "kind", "shape", "refined"),
    [
        ("single-pixel", (3, 4), "dot", (3, 4), None),
        ("Circle", (10, 10, 5), "box", (5, 5, 10, 10), Refined(is_ellipse=True)),
        ("Rectangle", (9, 8, 9, 2, 1, 2, 1, 8), "box", (1, 2, 8, 6), None),
        ("Ellipse", (0, 5, 10, 5, 5, 8, 5, 2), "box", (0, 2, 10, 6), Refined(is_ellipse=True)),
        ("LineString", (1, 2, 4, 6), "line", (1, 2, 3, 4), None),
        ("polygon", (0, 0, 4, 0, 4, 4, 0, 0), "poly", (0, 0, 4, 0, 4, 4), None),
        ("Polygon", (0, 0, 4, 0, 4, 4), "poly", (0, 0, 4, 0, 4, 4), None),
    ],
)
def test_the_shapes_of_both_programs_are_known(word, numbers, kind, shape, refined):
    assert shape_of(word, numbers) == (kind, pytest.approx(shape), refined)


def test_a_turned_rectangle_is_a_turned_box():
    half = math.sqrt(0.5)
    kind, shape, refined = shape_of("rectangle", (0, -2 * half, 2 * half, 0, 0, 2 * half, -2 * half, 0))
    assert (kind, shape) == ("box", pytest.approx((-1, -1, 2, 2)))
    assert refined.angle == pytest.approx(45)


IFDO = {
    "image-set-header": {
        "image-set-name": "SO268", "image-set-uuid": "1", "image-set-handle": "", "image-pi": {"name": "x"},
        "image-annotation-labels": [{"id": "126436", "name": "Gadus morhua"}],
    },
    "image-set-items": {
        "reef 1.jpg": {
            "image-datetime": "2019-03-02 10:11:12.000000", "image-longitude": 7.5, "image-latitude": 54.5,
            "image-entropy": 3,
            "image-annotations": [
                {"shape": "single-pixel", "coordinates": [[3, 4]],
                 "labels": [{"label": "126436", "annotator": "a", "confidence": 0.5}, {"label": "other"}]},
                {"shape": "whole-image", "coordinates": [], "labels": [{"label": "sand"}]},
                {"shape": "rectangle", "coordinates": [[1, 2]], "labels": [{"label": "x"}]},
                {"shape": "rectangle", "coordinates": [[1, 2]], "labels": []},
            ],
        },
        "dive.mp4": [
            {"image-annotations": [
                {"shape": "single-pixel", "coordinates": [[3, 4], [5, 6]], "frames": [1.5, 2],
                 "labels": [{"label": "x"}]},
                {"shape": "single-pixel", "coordinates": [[3, 4]], "frames": [], "labels": [{"label": "x"}]},
            ]}
        ],
    },
}  # fmt: skip


@pytest.mark.parametrize("write_out", [json.dumps, yaml.safe_dump])
def test_an_ifdo_of_another_program_is_read(write_out):
    name = "set.json" if write_out is json.dumps else "set.yaml"
    rows = list(read_ifdo.read(ZipArchive(zipped((name, write_out(IFDO))))))
    found = [placed.row for placed in rows]
    medias = {row.name: row for row in found if isinstance(row, Media)}
    assert {name: row.is_video for name, row in medias.items()} == {"reef 1.jpg": False, "dive.mp4": True}
    assert medias["reef 1.jpg"].attributes == {"image-datetime": "2019-03-02 10:11:12.000000", "Position": [7.5, 54.5]}
    still, *moving = sorted((row for row in found if isinstance(row, Label)), key=lambda row: row.seconds or 0)
    assert (still.kind, still.class_name, still.attributes) == ("dot", "Gadus morhua", {"Confidence": 0.5})
    assert [(label.seconds, label.shape, label.class_name) for label in moving] == [
        (1.5, (3, 4), "x"),
        (2, (5, 6), "x"),
    ]
    assert len({label.track for label in moving}) == 1
    assert [(row.association, row.class_name) for row in found if isinstance(row, State)].count(("media", "sand")) == 1
    assert sorted(row.reason for row in found if isinstance(row, Refusal)) == [
        "1 shapes have 0 times", "2 numbers are not a 'rectangle'", "labels: it has none",
    ]  # fmt: skip
    assert "1 further labels were left out" in [placed.note for placed in rows]
    names = {each for row in found if isinstance(row, Dropped) for each in row.names}
    assert names == {"header.image-pi", "items.image-entropy", "labels.annotator"}


VIDEO = """video_annotation_label_id,label_id,label_name,label_hierarchy,user_id,firstname,lastname,video_id,\
video_filename,shape_id,shape_name,points,frames,annotation_id,created_at,attributes
1,9,Sponge,"Biota > Sponge",2,A,B,7,dive.mp4,5,Rectangle,\
"[[1,2,9,2,9,8,1,8],[],[2,2,10,2,10,8,2,8]]","[1.5,null,4]",3,2023,{}
2,9,Sand,Sand,2,A,B,7,dive.mp4,7,WholeFrame,[],[2],4,2023,{}
3,9,Sand,Sand,2,A,B,7,dive.mp4,1,Point,"[[1,2]]","[]",5,2023,{}
"""
IMAGE = """annotation_label_id,label_id,label_name,label_hierarchy,user_id,firstname,lastname,image_id,filename,\
image_longitude,image_latitude,shape_id,shape_name,points,attributes,annotation_id,created_at
1,9,Sponge,Sponge,2,A,B,7,a.jpg,7.5,54.5,4,Circle,"[5,5,2]",{},3,2023
2,9,Sponge,Sponge,2,A,B,7,a.jpg,7.5,54.5,4,Circle,nonsense,{},3,2023
"""


def test_reports_of_biigle_are_read():
    found = [placed.row for placed in read_biigle.read(ZipArchive(zipped(("1.csv", VIDEO), ("2.csv", IMAGE))))]
    assert [(row.name, row.is_video) for row in found if isinstance(row, Media)] == [
        ("dive.mp4", True),
        ("a.jpg", False),
    ]
    first, gap, second, circle = (row for row in found if isinstance(row, Label))
    assert (first.seconds, first.shape, first.attributes) == (1.5, (1, 2, 8, 6), {"label_hierarchy": "Biota > Sponge"})
    assert (gap.seconds, gap.frame, gap.shape) == (1.5, 1, ())
    assert (second.seconds, second.track) == (4, first.track)
    assert (circle.class_name, circle.refined, circle.seconds) == ("Sponge", Refined(is_ellipse=True), None)
    states = [(row.association, row.seconds, row.class_name) for row in found if isinstance(row, State)]
    assert states == [("track", None, "Sponge"), ("frame", 2, "Sand")]
    assert len([row for row in found if isinstance(row, Refusal)]) == 2


@pytest.mark.parametrize(
    ("name", "files", "reason"),
    [
        ("ifdo", {"a.json": "{}"}, "has no image-set-header"),
        ("ifdo", {"a.txt": ""}, "no .json, .yaml or .yml"),
        ("ifdo", {"a.yaml": "image-set-header: &a [x]\nb: *a"}, "aliases"),
        ("biigle", {"a.csv": "filename\na.jpg\n"}, "no column label_name, shape_name, points"),
        ("biigle", {"a.csv": "label_name,shape_name,points\na,b,c\n"}, "no column filename"),
        ("biigle", {"a.txt": ""}, "no .csv"),
    ],
)
def test_files_of_other_formats_are_refused_by_name(name, files, reason):
    with pytest.raises(BadInput, match=reason.replace(".", r"\.")):
        list(READERS[name](ZipArchive(zipped(*files.items()))))


VALUES = st.sampled_from([None, 1, -1, "x", [], {}, [[1, 2]], [1e308, 2], True, {"label": 1}, [{"label": "x"}], [{}]])


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(["shape", "coordinates", "labels", "frames", "limn"]), VALUES), VALUES, VALUES)
def test_any_annotation_is_read_or_refused(annotation, item, header):
    document = {
        "image-set-header": {"image-annotation-labels": header},
        "image-set-items": {"a.mp4": [{"image-annotations": [annotation, item]}], "b.jpg": item, "c.jpg": [item]},
    }
    list(read_ifdo.read(ZipArchive(zipped(("a.json", json.dumps(document))))))
    line = [json.dumps(annotation.get(each)) for each in ("coordinates", "frames", "limn")]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["video_filename", "label_name", "shape_name", "points", "frames", "limn"])
    writer.writerow(["a.mp4", "x", str(annotation.get("shape")), *line])
    list(read_biigle.read(ZipArchive(zipped(("a.csv", text.getvalue())))))


def test_an_ifdo_is_as_the_package_of_the_standard_has_it_in_shape():
    media = Media(
        key="clip", name="clip.mp4", is_video=True, width=100, height=50, frames=50, fps=25.0, elemental_id="e" * 8,
        attributes={"At": "2026-05-01T12:00:00+02:00", "Place": [7.5, 54.1]},
    )  # fmt: skip
    label = Label(media="clip", kind="box", shape=(0.5, 0.2, 0.1, 0.2), frame=5, class_name="cod")
    header = dataset(media_attributes={"At": "datetime", "Place": "geopos"}, classes=("cod",))
    archive, _ = write("ifdo", header, [[Group(media=media, labels=[label])], []])
    document = json.loads(archive.read("ifdo.json"))
    [item] = document["image-set-items"]["clip.mp4"]
    assert (item["image-datetime"], item["image-longitude"], item["image-latitude"], item["image-uuid"]) == (
        "2026-05-01 10:00:00.000000", 7.5, 54.1, "e" * 8,
    )  # fmt: skip
    [annotation] = item["image-annotations"]
    assert (annotation["shape"], annotation["frames"]) == ("rectangle", [0.2])
    assert annotation["coordinates"] == [pytest.approx([50, 10, 60, 10, 60, 20, 50, 20])]
    assert document["image-set-header"]["image-annotation-labels"] == [{"id": "cod", "name": "cod"}]
