"""VARS JSON and point measurements of EventMeasure."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from chalicelib.errors import BadInput
from chalicelib.formats.model import Dropped, Group, Label, Media, Refusal, State, box_of, in_pixels
from chalicelib.formats.readers.science import read_eventmeasure, read_vars
from chalicelib.formats.readers.unzip import ZipArchive
from tests.formats.test_hostile_archives import zipped
from tests.formats.test_reading import labels_of, rows_of
from tests.formats.worlds import dataset, groups, write


def in_order(labels):
    return sorted(labels, key=lambda each: (each.media, each.elemental_id, each.frame))


@settings(max_examples=12)
@given(groups())
def test_vars_holds_shapes_frames_tracks_and_attributes(found_groups):
    found = rows_of("vars", found_groups)
    media = {group.media.key: group.media for group in found_groups}
    wanted = in_order(in_pixels(label, media[label.media]) for label in labels_of(found_groups))
    for one, other in zip(in_order(found[Label]), wanted, strict=True):
        assert one.shape == pytest.approx(other.shape, abs=1e-9)
        assert replace(one, shape=()) == replace(other, shape=(), id=None)
    seen = {label.track for label in labels_of(found_groups)}
    states = [replace(state, id=None) for group in found_groups for state in group.states if state.key in seen]
    assert sorted(found[State], key=lambda each: each.key) == sorted(states, key=lambda each: each.key)


@settings(max_examples=6)
@given(groups(kinds=("box",)))
def test_an_annotation_of_vars_has_what_its_service_demands(found_groups):
    archive, _ = write("vars", dataset(), [found_groups])
    document = json.loads(archive.read("vars.json"))
    assert len(document) == len(labels_of(found_groups))
    for each in document:
        assert each["concept"]
        assert each["video_reference_uuid"]
        [box] = [link for link in each["associations"] if link["link_name"] == "bounding box"]
        assert set(json.loads(box["link_value"])) == {"x", "y", "width", "height"}
        assert ("elapsed_time_millis" in each) != ("image_references" in each)


BOX = json.dumps({"x": 659, "y": 810, "width": 234, "height": 394, "image_reference_uuid": "e"})
VARS = [
    {
        "concept": "Bathocyroe", "observer": "ada", "video_reference_uuid": "v1", "elapsed_time_millis": 185493,
        "observation_uuid": "0" * 36,
        "associations": [
            {"link_name": "bounding box", "link_value": BOX, "to_concept": "self", "uuid": "1" * 36},
            {"link_name": "upon", "to_concept": "sediment", "link_value": "nil"},
            {"link_name": "comment", "to_concept": "self", "link_value": "good"},
        ],
    },
    {
        "concept": "Sebastes", "video_reference_uuid": "v1",
        "associations": [
            {"link_name": "localization-polygon", "link_value": '{"x": [1, 5, 5], "y": [1, 1, 5]}'},
            {"link_name": "localization-point", "link_value": {"x": 7, "y": 8}},
        ],
        "image_references": [{"url": "http://example.org/a/02_09.png"}],
    },
    {"concept": "marine snow", "video_reference_uuid": "v1", "elapsed_time_millis": 1000, "associations": []},
    {"concept": "nowhere", "video_reference_uuid": "v1", "associations": []},
    {"observer": "ada"},
]  # fmt: skip


def test_annotations_of_vars_are_read():
    found = [placed.row for placed in read_vars.read(ZipArchive(zipped(("anno.json", json.dumps(VARS)))))]
    assert [(row.name, row.is_video) for row in found if isinstance(row, Media)] == [("v1", True), ("02_09.png", False)]
    box, poly, dot = (row for row in found if isinstance(row, Label))
    assert (box.shape, box.seconds, box.class_name) == ((659, 810, 234, 394), 185.493, "Bathocyroe")
    assert (box.elemental_id, box.attributes) == ("1" * 36, {"upon": "sediment", "comment": "good"})
    assert (poly.kind, poly.shape, poly.seconds) == ("poly", (1, 1, 5, 1, 5, 5), None)
    assert (dot.kind, dot.shape, dot.media) == ("dot", (7, 8), "02_09.png")
    states = [(row.association, row.seconds, row.class_name) for row in found if isinstance(row, State)]
    assert states == [("frame", 1.0, "marine snow")]
    assert [row.reason for row in found if isinstance(row, Refusal)] == [
        "it has neither elapsed_time_millis nor an image reference with a url", "'concept' is missing",
    ]  # fmt: skip
    assert [row.names for row in found if isinstance(row, Dropped)] == [("annotation.observer",)]


VALUES = st.sampled_from([None, 1, -1, "x", "{}", [], {}, [[1]], [{}], True, "[1]", '{"x": 1, "y": [2]}', 1e300])


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(sorted({*VARS[0], "limn", "image_references"})), VALUES), VALUES)
def test_any_annotation_of_vars_is_read_or_refused(annotation, value):
    link = {"link_name": "localization-line", "link_value": value}
    document = [annotation, value, {**VARS[0], "associations": [link, value]}, {**VARS[0], "limn": value}]
    for files in ([], [("media.csv", "key,name\nv1,v1\n")]):
        list(read_vars.read(ZipArchive(zipped(("a.json", json.dumps(document)), *files))))


@pytest.mark.parametrize("body", ["{}", "", "[", "[1", '["a"', "[1}"])
def test_a_document_that_is_no_array_is_refused(body):
    with pytest.raises(BadInput, match="not a JSON array, or is cut off"):
        list(read_vars.read(ZipArchive(zipped(("a.json", body)))))
    with pytest.raises(BadInput, match=r"no \.json"):
        list(read_vars.read(ZipArchive(zipped(("a.txt", body)))))


POINTS = "OpCode\tFilename\tFrame\tImage Row\tImage Col\tRect Row\tRect Col\tFamily\tGenus"
MEASURED = f"""Survey\tReef 2020
Analyst\tada

{POINTS}\tSpecies\tNumber\tStage
A1\tGX01.MP4\t120\t300.5\t200.25\t0\t0\tSparidae\tPagrus\tauratus\t2\tAD
A1\tGX01.MP4\t121\t300\t200\t250\t260\tSparidae\t\t\t1
A1\tc.jpg\t7\t3\t2\t\t\t\t\t\t1
A1\tGX01.MP4\tx\t3\t2
"""


def test_points_of_eventmeasure_are_read():
    found = [placed.row for placed in read_eventmeasure.read(ZipArchive(zipped(("A1_Points.txt", MEASURED))))]
    assert [(row.name, row.is_video) for row in found if isinstance(row, Media)] == [
        ("GX01.MP4", True),
        ("c.jpg", False),
    ]
    dot, box, still = (row for row in found if isinstance(row, Label))
    assert (dot.kind, dot.shape, dot.frame, dot.class_name) == ("dot", (200.25, 300.5), 120, "Pagrus auratus")
    assert dot.attributes == {"OpCode": "A1", "Family": "Sparidae", "Number": "2", "Stage": "AD"}
    assert (box.kind, box.shape, box.class_name) == ("box", (200, 250, 60, 50), "Sparidae")
    assert (still.frame, still.class_name) == (0, "")
    assert [row.reason for row in found if isinstance(row, Refusal)] == ["could not convert string to float: 'x'"]
    with pytest.raises(BadInput, match="no file has a line with the columns Filename, Frame"):
        list(read_eventmeasure.read(ZipArchive(zipped(("a.txt", "Filename\tLength\n1\t2\n")))))


TAIL = "Family\tGenus\tSpecies\tCode\tNumber\tStage\tActivity\tComment\tAttribute9\tAttribute10"
FISH = "Pinguipedidae\tParapercis\tnebulosa\t37390005\t1\tAD\tPassing\t\t\t"
POINT = "OpCode\tPointIndex\tFilename\tFrame\tTime\tPeriod\tPeriodTime\tImageCol\tImageRow\tRectWidth\tRectHeight"
AT = "10_1\t0\tL 027 (09).MP4\t55652\t60.55355\tBottom Time\t7.45801\t1395.92755\t1065.61598\t0.00000\t0.00000"
EXPORTED = {  # tables of a database export as surveys publish them; of all but the points only some columns
    "2024_reef_3DPoints.txt": f"OpCode\tFilenameLeft\tFrameLeft\tFrame\t{TAIL}\n10_1\tL.MP4\t5\t6\t{FISH}\n",
    "2024_reef_ImagePtPair.txt": "OpCode\tImagePtPair\tIndex\tLx\tLy\tRx\tRy\n10_1\t0\t0\t1.5\t2.5\t3.5\t4.5\n",
    "2024_reef_Info.txt": "OpCode\tTapeReader\tDepth\n10_1\tada\t31\n",
    "2024_reef_Lengths.txt": f"OpCode\tFilenameLeft\tFrameLeft\tLength\t{TAIL}\n10_1\tL.MP4\t5\t241.0\t{FISH}\n",
    "2024_reef_Points.txt": f"{POINT}\t{TAIL}\r\n{AT}\t{FISH}\r\n",
}
HABITAT = """Dot Point Measurements

Generated: Thursday 07 July 2022 09:17:18

Filename\tFrame\tTime (mins)\tImage row\tImage col\tDate\tSpare\tSpare\tBROAD\tTYPE\tCODE\t\t\tRadius %
1.jpg\t      0\t\t945\t408\t\t\t\tMacroalgae\tBrown\t80300904\t\t\t73.7
"""


def test_a_whole_database_export_of_eventmeasure_has_the_points_of_its_table_of_points():
    found = [placed.row for placed in read_eventmeasure.read(ZipArchive(zipped(*EXPORTED.items())))]
    *dropped, media, label = sorted(found, key=lambda row: not isinstance(row, Dropped))
    assert [row.names for row in dropped] == [(name,) for name in EXPORTED if "_Points" not in name]
    assert (media.name, media.is_video) == ("L 027 (09).MP4", True)
    assert (label.kind, label.shape, label.frame) == ("dot", (1395.92755, 1065.61598), 55652)
    assert (label.class_name, label.attributes["Period"]) == ("Parapercis nebulosa", "Bottom Time")


def test_dot_points_of_habitat_have_their_classification_as_attributes():
    found = [placed.row for placed in read_eventmeasure.read(ZipArchive(zipped(("habitat.txt", HABITAT))))]
    media, label = found
    assert (media.name, media.is_video) == ("1.jpg", False)
    assert (label.shape, label.frame, label.class_name) == ((408, 945), 0, "80300904")
    assert label.attributes == {"BROAD": "Macroalgae", "TYPE": "Brown", "CODE": "80300904", "Radius %": "73.7"}


@settings(max_examples=12)
@given(groups(kinds=("dot", "box", "line", "poly")))
def test_points_of_eventmeasure_hold_dots_boxes_tracks_and_attributes(found_groups):
    media = {group.media.key: group.media for group in found_groups}
    found = rows_of("eventmeasure", found_groups)
    _, left_out = write("eventmeasure", dataset(), [found_groups])
    assert left_out == sum(label.kind == "line" for label in labels_of(found_groups))
    held = [label for label in labels_of(found_groups) if label.kind != "line"]
    wanted = in_order(in_pixels(label, media[label.media]) for label in held)
    for one, other in zip(in_order(found[Label]), wanted, strict=True):
        assert one.shape == pytest.approx(other.shape if other.kind != "poly" else box_of(other), abs=1e-9)
        attributes = {name: value for name, value in other.attributes.items() if value != ""}
        same = {"shape": (), "kind": "box" if other.kind == "poly" else other.kind, "attributes": attributes}
        assert replace(one, shape=()) == replace(
            other, **same, id=None, type="" if other.kind == "poly" else other.type
        )
    seen = {label.track for label in held}
    states = [replace(state, id=None) for group in found_groups for state in group.states if state.key in seen]
    assert sorted(found[State], key=lambda each: each.key) == sorted(states, key=lambda each: each.key)


FIELD = Media(
    key="L_1", name="L 1.MP4", is_video=True, width=100, height=100, frames=50, fps=25.0, attributes={"OpCode": "A1"}
)
FIELD_LABEL = Label(
    media="L_1", kind="box", shape=(0.1, 0.2, 0.3, 0.4), frame=30, class_name="Gadus morhua",
    attributes={"stage": "AD", "Number": 2, "Comment": "=1\tx", "Depth": 5},
)  # fmt: skip


def test_a_line_of_points_has_the_columns_of_a_database_export():
    family = replace(FIELD_LABEL, class_name="Sparidae", kind="dot", shape=(0.5, 0.5), attributes={})
    classes = ("Gadus morhua", "Sparidae")
    more = dataset(splits=(), classes=classes, taxa={"Gadus morhua": {"AphiaID": 126436}})
    archive, _ = write("eventmeasure", more, [[Group(media=FIELD, labels=[FIELD_LABEL, family])]])
    text = archive.read("annotations_Points.txt").decode()
    header, *lines = [line.split("\t") for line in text.splitlines()]
    assert header == [*POINT.split("\t"), *TAIL.split("\t"), "limn"]
    box, dot = (dict(zip(header, line, strict=True)) for line in lines)
    assert {**box, "limn": ""} == {
        "OpCode": "A1", "PointIndex": "1", "Filename": "L 1.MP4", "Frame": "30", "Time": "0.02", "Period": "",
        "PeriodTime": "", "ImageCol": "10.0", "ImageRow": "20.0", "RectWidth": "30.0", "RectHeight": "40.0",
        "Family": "", "Genus": "Gadus", "Species": "morhua", "Code": "126436", "Number": "2", "Stage": "AD",
        "Activity": "", "Comment": "'=1 x", "Attribute9": "", "Attribute10": "", "limn": "",
    }  # fmt: skip
    assert (dot["RectWidth"], dot["Family"], dot["Genus"], dot["Number"]) == ("0.0", "Sparidae", "", "1")
    found = ZipArchive(archive.fp)
    labels = [each.row for each in read_eventmeasure.read(found) if isinstance(each.row, Label)]
    assert labels[0].attributes == {"stage": "AD", "Number": "2", "Comment": "=1 x", "Depth": 5}
    assert labels[1].attributes == {}
    again = text.replace("\tSparidae\t\t\t\t1\t\t", "\tLabridae\t\t\t\t1\tJ\t")
    files = [(name, archive.read(name)) for name in archive.namelist() if name != "annotations_Points.txt"]
    edited = ZipArchive(zipped(("annotations_Points.txt", again), *files))
    _, label = (each.row for each in read_eventmeasure.read(edited) if isinstance(each.row, Label))
    assert (label.class_name, label.attributes) == ("Labridae", {"Stage": "J"})


def test_a_line_of_points_may_begin_with_an_empty_cell():
    text = EXPORTED["2024_reef_Points.txt"].replace("10_1\t0\tL 027", "\t0\tL 027")
    found = [placed.row for placed in read_eventmeasure.read(ZipArchive(zipped(("a.txt", text))))]
    assert [(row.shape, row.class_name) for row in found if isinstance(row, Label)] == [
        ((1395.92755, 1065.61598), "Parapercis nebulosa")
    ]


@settings(max_examples=40)
@given(st.lists(st.sampled_from(["1", "-1", "nan", "1e999", "a", "\t", "\n", " ", "Frame", "Filename"])))
def test_any_text_of_points_is_read_or_refused(pieces):
    for text in ("".join(pieces), f"{POINTS}\n{''.join(pieces)}"):
        try:
            list(read_eventmeasure.read(ZipArchive(zipped(("a.txt", text)))))
        except BadInput:
            continue
