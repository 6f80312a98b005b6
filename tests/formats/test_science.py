"""The formats of science: DIVE JSON, CoralNet, KWCOCO and Darwin Core Archives."""

import csv
import io
import json
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings

from chalicelib.errors import BadInput
from chalicelib.formats.interpolation import interpolate
from chalicelib.formats.model import Group, Label, Media, Refusal, State, in_pixels
from chalicelib.formats.readers.science import read_coralnet, read_dive
from chalicelib.formats.readers.unzip import ZipArchive
from chalicelib.formats.writers.science import dwca
from tests.formats.test_hostile_archives import zipped
from tests.formats.test_reading import labels_of, rows_of
from tests.formats.worlds import CLASSES, dataset, groups, write


def keyed(labels):
    return sorted((each for each in labels if each.keyed), key=lambda each: (each.media, each.frame, each.shape))


@settings(max_examples=12)
@given(groups(kinds=("box", "poly", "line")))
def test_dive_holds_keyframes_shapes_and_tracks(found_groups):
    found = rows_of("dive", found_groups)
    media = {group.media.key: group.media for group in found_groups}
    wanted = keyed(in_pixels(label, media[label.media]) for label in labels_of(found_groups))
    read = keyed(label for label in found[Label] if label.shape)
    assert len(read) == len(wanted)
    for one, other in zip(read, wanted, strict=True):
        assert (one.media, one.frame, one.kind) == (other.media, other.frame, other.kind)
        assert one.shape == pytest.approx(other.shape, abs=1e-9)
    tracks = {label.track for group in found_groups for label in group.labels if label.track is not None}
    lone = [track for track in tracks if sum(label.track == track for label in labels_of(found_groups)) == 1]
    assert len(found[State]) == len(tracks) - len(lone)


def test_dive_interpolates_exactly_where_the_project_does():
    media = Media(key="clip", name="clip.mp4", is_video=True, width=100, height=100, frames=50, fps=25.0)
    shapes = {0: (0.1, 0.1, 0.2, 0.2), 4: (0.3, 0.1, 0.2, 0.2), 20: (0.5, 0.5, 0.2, 0.2), 22: (0.6, 0.5, 0.2, 0.2)}
    labels = [
        Label(media="clip", kind="box", shape=shape, frame=frame, track="7", class_name="cod")
        for frame, shape in shapes.items()
    ]
    gap = Label(media="clip", kind="box", shape=(), frame=5, track="7", class_name="cod")
    seen = interpolate(sorted([*labels, gap], key=lambda label: label.frame))
    made = Group(media=media, labels=[each for each in seen if each.shape], states=[State(media="clip", key="7")])
    found = rows_of("dive", [made])
    again = interpolate(sorted(found[Label], key=lambda label: label.frame))
    assert [each.frame for each in again if each.shape] == [0, 1, 2, 3, 4, 20, 21, 22]


FOREIGN = {
    "version": 2,
    "groups": {},
    "tracks": {
        "3": {
            "id": 3, "begin": 0, "end": 9, "confidencePairs": [["hake", 0.2], ["cod", 0.8]], "attributes": {"Sex": "F"},
            "features": [
                {"frame": 0, "keyframe": True, "interpolate": True, "bounds": [1, 2, 11, 22]},
                {"frame": 4, "keyframe": False, "bounds": [2, 2, 12, 22]},
                {"frame": 9, "keyframe": True, "bounds": [5, 2, 15, 22], "head": [5, 2], "tail": [15, 22]},
            ],
        },
        "4": {"id": 4, "confidencePairs": [["cod", 1]], "features": [{"frame": -1, "bounds": []}]},
        "5": {"id": 5, "confidencePairs": [], "features": [{"frame": 2, "bounds": [0, 0, 1]}]},
    },
}  # fmt: skip


def test_a_file_of_dive_is_read():
    found = [placed.row for placed in read_dive.read(ZipArchive(zipped(("dive 7.json", json.dumps(FOREIGN)))))]
    assert [(row.key, row.is_video) for row in found if isinstance(row, Media)] == [("dive 7", True)]
    [track] = [row for row in found if isinstance(row, State)]
    assert (track.class_name, track.attributes) == ("cod", {"Sex": "F"})
    first, second = (row for row in found if isinstance(row, Label))
    assert (first.frame, first.shape, first.attributes) == (0, (1, 2, 10, 20), {"Confidence": 0.8})
    assert (second.frame, second.kind, second.shape) == (9, "line", (5, 2, 10, 20))
    reasons = [row.reason for row in found if isinstance(row, Refusal)]
    assert reasons[0] == "frame -1: frames count from 0"
    assert "not a list of 4 numbers" in reasons[1]


def test_json_of_another_program_is_refused_by_name():
    with pytest.raises(BadInput, match="it is not DIVE's JSON"):
        list(read_dive.read(ZipArchive(zipped(("a.json", '{"images": []}')))))


@settings(max_examples=12)
@given(groups(kinds=("dot", "box")))
def test_coralnet_holds_the_pixel_of_each_dot(found_groups):
    archive, left_out = write("coralnet", dataset(), [found_groups])
    media = {group.media.key: group.media for group in found_groups}
    assert left_out == sum(label.kind != "dot" for label in labels_of(found_groups))
    lines = list(csv.DictReader(io.StringIO(archive.read("annotations.csv").decode())))
    dots = [in_pixels(label, media[label.media]) for label in labels_of(found_groups) if label.kind == "dot"]
    assert len(lines) == len(dots)
    found = rows_of("coralnet", found_groups)
    for one, other in zip(found[Label], dots, strict=True):
        size = (media[other.media].width, media[other.media].height)
        assert (one.media, one.frame, one.class_name) == (other.media, other.frame, other.class_name)
        assert all(abs(a - min(b, side - 0.5)) <= 0.5 for a, b, side in zip(one.shape, other.shape, size, strict=True))


def test_a_file_of_coralnet_is_read():
    text = "Name,Row,Column,Label,Annotator\nreef 1.jpg,120,34,Acr,ada\nreef 1.jpg,x,34,Acr,ada\nreef 2.jpg,1,2,,\n"
    found = [placed.row for placed in read_coralnet.read(ZipArchive(zipped(("all.csv", text))))]
    assert [row.key for row in found if isinstance(row, Media)] == ["reef 1.jpg", "reef 2.jpg"]
    first, second = (row for row in found if isinstance(row, Label))
    assert (first.kind, first.shape, first.class_name) == ("dot", (34.5, 120.5), "Acr")
    assert (first.attributes, second.class_name) == ({"Annotator": "ada"}, "")
    assert len([row for row in found if isinstance(row, Refusal)]) == 1
    with pytest.raises(BadInput, match="no column Row, Column, Label"):
        list(read_coralnet.read(ZipArchive(zipped(("all.csv", "Name\na.jpg\n")))))


def test_documents_of_coco_name_frames_and_tracks_as_kwcoco_does():
    media = Media(key="clip", name="clip.mp4", is_video=True, width=10, height=10, frames=5, fps=5.0, id=4)
    label = Label(media="clip", kind="box", shape=(0, 0, 1, 1), frame=3, track="9", class_name="cod", id=1)
    group = Group(media=media, labels=[label], states=[State(media="clip", key="9", id=9, class_name="cod")])
    archive, _ = write("kwcoco", dataset(splits=()), [[group]])
    document = json.loads(archive.read("data.kwcoco.json"))
    assert [(each["frame_index"], each["video_id"]) for each in document["images"]] == [(3, 4)]
    assert [(each["id"], each["name"]) for each in document["tracks"]] == [(9, "clip:9")]


def table(archive, path):
    return list(csv.DictReader(io.StringIO(archive.read(path).decode()), delimiter="\t", quoting=csv.QUOTE_NONE))


def test_a_darwin_core_archive_has_an_event_for_each_media_and_an_occurrence_for_each_animal():
    place = [7.5, 54.1]
    media = Media(
        key="clip", name="clip.mp4", is_video=True, frames=50, section="Cruise 7", elemental_id="a" * 8,
        attributes={
            "Recorded": "2026-05-01T10:00:00Z", "Position": place, "minimumdepthinmeters": 12, "Operator": "x\ty"
        },
    )  # fmt: skip
    track = State(media="clip", key="7", id=7, class_name="cod", attributes={"AphiaID": 126436, "sex": "female"})
    labels = [
        Label(media="clip", kind="box", shape=(0, 0, 1, 1), frame=frame, track="7", class_name="cod", id=frame)
        for frame in (1, 2, 3)
    ]
    alone = Label(
        media="clip", kind="dot", shape=(0, 0), class_name="cod", id=40, elemental_id="b" * 8,
        attributes={"individualCount": 3, "Note": "far"},
    )  # fmt: skip
    without = Label(media="clip", kind="dot", shape=(0, 0), id=41)
    group = Group(media=media, labels=[*labels, alone, without], states=[track])
    header = dataset(
        splits=(), media_attributes={"Recorded": "datetime", "Position": "geopos"}, classes=("cod",)
    )  # fmt: skip
    archive, left_out = write("dwca", header, [[group]])
    assert left_out == 1
    [event] = table(archive, "event.txt")
    assert (event["eventID"], event["parentEventID"]) == ("urn:uuid:aaaaaaaa", "Cruise 7")
    assert (event["eventDate"], event["minimumDepthInMeters"]) == ("2026-05-01T10:00:00Z", "12")
    assert (event["decimalLongitude"], event["decimalLatitude"], event["geodeticDatum"]) == ("7.5", "54.1", "WGS84")
    assert json.loads(event["dynamicProperties"])["Operator"] == "x\ty"
    animal, other = table(archive, "occurrence.txt")
    assert {each["eventID"] for each in (animal, other)} == {event["eventID"]}
    assert animal["scientificNameID"] == "urn:lsid:marinespecies.org:taxname:126436"
    assert (animal["scientificName"], animal["sex"], animal["individualCount"]) == ("cod", "female", "1")
    assert (other["occurrenceID"], other["individualCount"]) == ("urn:uuid:bbbbbbbb", "3")
    assert json.loads(other["dynamicProperties"]) == {"Note": "far"}


def test_an_animal_that_two_cameras_see_is_an_occurrence_of_each_and_one_organism():
    track = "c" * 8
    made = []
    for key in ("left", "right"):
        media = Media(key=key, name=f"{key}.mp4", is_video=True, frames=9, elemental_id=f"{key}-id")
        label = Label(media=key, kind="dot", shape=(0, 0), track="7", class_name="cod")
        state = State(media=key, key="7", id=7, class_name="cod", elemental_id=track)
        made.append(Group(media=media, labels=[label], states=[state]))
    archive, _ = write("dwca", dataset(splits=(), classes=("cod",)), [made[:1], made[1:]])
    rows = table(archive, "occurrence.txt")
    assert [row["eventID"] for row in rows] == ["urn:uuid:left-id", "urn:uuid:right-id"]
    assert len({row["occurrenceID"] for row in rows}) == 2
    assert {row["organismID"] for row in rows} == {f"urn:uuid:{track}"}
    again, _ = write("dwca", dataset(splits=(), classes=("cod",)), [made])
    assert table(again, "occurrence.txt") == rows


@settings(max_examples=8)
@given(groups())
def test_every_row_of_a_darwin_core_archive_has_all_columns_that_its_description_names(found_groups):
    archive, _ = write("dwca", dataset(), [found_groups])
    space = "{http://rs.tdwg.org/dwc/text/}"
    parts = ET.fromstring(archive.read("meta.xml"))
    for part in parts:
        path = part.find(f"{space}files/{space}location").text
        terms = [field.get("term").rpartition("/")[2] for field in part.findall(f"{space}field")]
        assert tuple(terms) == dwca.TERMS[path]
        for line in archive.read(path).decode().splitlines():
            assert len(line.split("\t")) == len(terms)
    assert len(table(archive, "event.txt")) == len(found_groups)
    ET.fromstring(archive.read("eml.xml"))
    names = {row["scientificName"] for row in table(archive, "occurrence.txt")}
    assert names <= {" ".join(name.split()) for name in CLASSES}
