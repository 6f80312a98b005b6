"""Camtrap DP: what is written is read again, and packages of other programs are read."""

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from chalicelib.errors import BadInput
from chalicelib.formats.manifest import as_text
from chalicelib.formats.model import Dropped, Group, Label, Media, Refusal, State
from chalicelib.formats.readers.science import read_camtrapdp
from chalicelib.formats.readers.unzip import ZipArchive
from chalicelib.formats.writers.science.camtrapdp import COLUMNS
from tests.formats.test_hostile_archives import zipped
from tests.formats.test_reading import labels_of, rows_of
from tests.formats.worlds import dataset, groups, write


def texts(attributes):
    return {name: as_text(value) for name, value in attributes.items() if value != ""}


def plain(row):
    return replace(row, id=None, type="", version="", attributes=texts(row.attributes))


@settings(max_examples=12)
@given(groups(kinds=("box", "dot")))
def test_camtrap_dp_holds_boxes_dots_frames_tracks_and_attributes(found_groups):
    found = rows_of("camtrapdp", found_groups)
    assert [replace(row, path="") for row in found[Media]] == [group.media for group in found_groups]
    elements = {state.key: state.elemental_id for group in found_groups for state in group.states}
    expected = [replace(plain(row), track=row.track and elements[row.track]) for row in labels_of(found_groups)]
    assert found[Label] == [row if row.kind == "dot" else replace(row, shape=clipped(row)) for row in expected]
    seen = {label.track for label in labels_of(found_groups)}
    states = [state for group in found_groups for state in group.states if state.key in seen]
    assert sorted((row.key, row.media) for row in found[State]) == sorted(
        (state.elemental_id, state.media) for state in states
    )
    attributes = {state.elemental_id: texts(state.attributes) for state in states}
    assert {row.key: row.attributes for row in found[State]} == attributes


def clipped(label):
    x, y, width, height = label.shape
    return x, y, min(max(width, 1e-15), 1.0), min(max(height, 1e-15), 1.0)


def table(archive, path):
    return list(csv.DictReader(io.StringIO(archive.read(path).decode())))


def test_a_package_says_where_when_and_what_was_seen():
    media = Media(
        key="clip", name="clip.mp4", is_video=True, frames=50, fps=25.0, section="River.North",
        attributes={
            "Recorded": "2026-05-01T12:00:00.5+02:00", "Place": [7.5, 54.1], "cameraheight": 1.5, "baitUse": True,
            "cameraTilt": 200,
        },
    )  # fmt: skip
    fox = Label(
        media="clip", kind="box", shape=(0.5, 0.25, 0.5, 0.5), frame=30, track="7", class_name="Vulpes vulpes",
        attributes={"lifeStage": "Adult", "sex": "unsure", "count": 2},
    )  # fmt: skip
    track = State(media="clip", key="7", class_name="Vulpes vulpes")
    walker = State(media="clip", key="8", association="media", class_name="human")
    header = dataset(
        splits=(), classes=("Vulpes vulpes", "human"), media_attributes={"Recorded": "datetime", "Place": "geopos"}
    )
    archive, left_out = write("camtrapdp", header, [[Group(media=media, labels=[fox], states=[track, walker])]])
    assert left_out == 0
    [deployment] = table(archive, "deployments.csv")
    assert (deployment["longitude"], deployment["latitude"]) == ("7.5", "54.1")
    assert (deployment["deploymentStart"], deployment["deploymentEnd"]) == (
        "2026-05-01T10:00:00Z", "2026-05-01T10:00:02Z",
    )  # fmt: skip
    assert (deployment["cameraHeight"], deployment["baitUse"], deployment["cameraTilt"]) == ("1.5", "true", "")
    assert deployment["deploymentGroups"] == "section:River.North"
    seen, person = table(archive, "observations.csv")
    assert (seen["scientificName"], seen["observationType"], seen["count"], seen["individualID"]) == (
        "Vulpes vulpes", "animal", "2", "7",
    )  # fmt: skip
    assert (seen["lifeStage"], seen["sex"], seen["eventStart"]) == ("adult", "", "2026-05-01T10:00:01Z")
    assert (person["scientificName"], person["observationType"], person["bboxX"]) == ("", "human", "")
    package = json.loads(archive.read("datapackage.json"))
    assert package["spatial"] == {"type": "MultiPoint", "coordinates": [[7.5, 54.1]]}
    assert package["taxonomic"] == [{"scientificName": "Vulpes vulpes"}]


RESOURCES = [{"name": name, "path": f"{name}.csv"} for name in ("deployments", "media", "observations")]
TABLES = {
    "deployments": [
        {"deploymentID": "d1", "latitude": "51.5", "longitude": "4.7", "habitat": "reed", "owner": "x"},
    ],
    "media": [
        {"mediaID": "m1", "deploymentID": "d1", "timestamp": "2021-03-01T10:00:00+01:00", "filePath": "cam/one.jpg",
         "fileMediatype": "image/jpeg"},
        {"mediaID": "m2", "deploymentID": "d1", "timestamp": "2021-03-01T10:00:05+01:00", "filePath": "https://x/y/two.mp4",
         "fileMediatype": "video/mp4", "fileName": "two.mp4"},
        {"mediaID": "m3", "deploymentID": "d1", "filePath": "three.wav", "fileMediatype": "audio/wav"},
    ],
    "observations": [
        {"observationID": "o1", "deploymentID": "d1", "mediaID": "m1", "observationLevel": "media",
         "observationType": "animal", "scientificName": "Ardea cinerea", "bboxX": "0.1", "bboxY": "0.2",
         "bboxWidth": "0.3", "bboxHeight": "0.4", "sex": "female", "individualID": "i9",
         "observationTags": "wet | cold"},
        {"observationID": "o2", "deploymentID": "d1", "mediaID": "m2", "observationType": "animal", "bboxX": "0.1",
         "scientificName": "Ardea cinerea", "bboxY": "0.2", "individualID": "i9"},
        {"observationID": "o3", "deploymentID": "d1", "observationLevel": "event", "observationType": "blank",
         "eventStart": "2021-03-01T09:00:00Z", "eventEnd": "2021-03-01T09:00:05Z"},
        {"observationID": "o4", "deploymentID": "d1", "mediaID": "m9", "observationType": "animal", "bboxX": "0.1"},
        {"observationID": "o5", "deploymentID": "d2", "observationLevel": "event", "observationType": "animal",
         "eventStart": "2021-03-01T09:00:00Z", "eventEnd": "2021-03-01T09:00:05Z"},
    ],
}  # fmt: skip


def package(folder="", tables=TABLES, resources=RESOURCES):
    files = [(f"{folder}datapackage.json", json.dumps({"resources": resources}))]
    for name, rows in tables.items():
        out = io.StringIO()
        names = list(dict.fromkeys([*COLUMNS.get(f"{name}.csv", ()), *(key for row in rows for key in row)]))
        writer = csv.DictWriter(out, names)
        writer.writeheader()
        writer.writerows(rows)
        files.append((f"{folder}{name}.csv", out.getvalue()))
    return ZipArchive(zipped(*files, (f"{folder}cam/one.jpg", b"")))


@pytest.mark.parametrize("folder", ["", "export/"])
def test_a_package_of_another_program_is_read(folder):
    rows = [placed.row for placed in read_camtrapdp.read(package(folder))]
    one, two = (row for row in rows if isinstance(row, Media))
    assert (one.key, one.name, one.is_video, one.path) == ("m1", "one.jpg", False, f"{folder}cam/one.jpg")
    assert one.attributes == {"Position": [4.7, 51.5], "habitat": "reed", "timestamp": "2021-03-01T10:00:00+01:00"}
    assert (two.name, two.is_video, two.path) == ("two.mp4", True, "")
    box, dot = (row for row in rows if isinstance(row, Label))
    assert (box.kind, box.shape, box.class_name, box.track) == ("box", (0.1, 0.2, 0.3, 0.4), "Ardea cinerea", None)
    assert box.attributes == {"sex": "female", "individualID": "i9", "observationTags": "wet | cold"}
    assert (dot.kind, dot.shape, dot.track, dot.frame) == ("dot", (0.1, 0.2), "i9", 0)
    states = [(row.media, row.association, row.class_name) for row in rows if isinstance(row, State)]
    assert states == [("m2", "track", "Ardea cinerea"), ("m1", "media", "blank"), ("m2", "media", "blank")]
    assert [row.reason for row in rows if isinstance(row, Refusal)] == [
        "fileMediatype: sound is no media here",
        "mediaID: 'm9' is not among the media files",
        "no media file of its deployment lies within eventStart and eventEnd",
    ]
    assert [row.names for row in rows if isinstance(row, Dropped)] == [("deployments.owner",)]


@pytest.mark.parametrize(
    ("resources", "reason"),
    [
        ([], "has no resource deployments, media, observations"),
        ([*RESOURCES[:2], {"name": "observations", "path": "../observations.csv"}], "is not in the archive"),
        ([*RESOURCES[:2], {"name": "observations", "path": ["a", "b"]}], "is not in the archive"),
    ],
)
def test_a_package_without_its_tables_is_refused(resources, reason):
    with pytest.raises(BadInput, match=reason):
        list(read_camtrapdp.read(package(resources=resources)))
    with pytest.raises(BadInput, match=r"0 files datapackage\.json"):
        list(read_camtrapdp.read(ZipArchive(zipped(("media.csv", "mediaID\n")))))


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from(["1", "-1", "nan", "1e999", "a", ",", "\n", " ", '"', ":", "|", "limn/frame", "%zz", "T"]))
)
def test_any_text_of_tables_is_read_or_refused(pieces):
    body = "".join(pieces)
    header = ",".join(COLUMNS["observations.csv"])
    row = {"mediaID": body, "deploymentID": body, "bboxX": body}
    one = {name: [row] for name in ("deployments", "media", "observations")}
    files = package(
        tables={**TABLES, "observations": TABLES["observations"] + [{"observationTags": body, "bboxX": "1"}]}
    )
    broken = zipped(
        ("datapackage.json", json.dumps({"resources": RESOURCES})), ("deployments.csv", body),
        ("media.csv", f"mediaID\n{body}"), ("observations.csv", f"{header}\n{body}"),
    )  # fmt: skip
    for archive in (files, package(tables=one), ZipArchive(broken)):
        try:
            list(read_camtrapdp.read(archive))
        except BadInput:
            continue
