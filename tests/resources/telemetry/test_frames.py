"""Telemetry over HTTP: at a frame, over time, by the clock in the picture, of media; NMEA and GPX as CSV."""

from __future__ import annotations

import pytest

from chalicelib.core.time import deadline
from chalicelib.resources.telemetry import files
from tests.core.test_klv import flight, transport
from tests.resources.annotations.boxes import Here, settle
from tests.resources.telemetry.test_joining import START, attach

NMEA = "".join(
    f"$GPRMC,12000{second},A,4807.038,N,0113{second}.000,E,0,0,010526,,\n"
    f"$SDDPT,{100 + second}.5,0.0\n$HEHDT,{90 + second},T\n"
    for second in range(6)
)
GPX = """<gpx version="1.1"><trk><trkseg>
<trkpt lat="48.5" lon="8.5"><ele>10</ele><time>2026-05-01T12:00:00Z</time></trkpt>
<trkpt lat="48.6" lon="8.6"><ele>20</ele><time>2026-05-01T12:00:02Z</time></trkpt>
</trkseg></trk></gpx>"""


@pytest.fixture
def here(api, project) -> Here:
    found = settle(api, project)
    api.patch(f"Media/{found.media}", {"fps": 10.0, "num_frames": 1000})
    assert api.post(f"AttributeType/{found.media_type}", START).status == 201
    return found


def at(here: Here, **query):
    return here.api.get(f"FrameTelemetry/{here.media}", **query)


def test_the_clock_in_one_picture_gives_position_depth_and_heading_at_all_frames(here):
    attach(here, NMEA, "rov.nmea")
    refused = at(here, frame=20)
    assert refused.status == 400
    assert "FrameInstant" in refused.message + refused.json["details"]

    said = here.api.patch(f"FrameInstant/{here.media}", {"frame": 30, "instant": "2026-05-01T14:00:03+02:00"})
    assert (said.json["attribute"], said.json["start"]) == ("Start", "2026-05-01T12:00:00.000Z")
    assert here.api.get(f"Media/{here.media}").json["attributes"]["Start"].startswith("2026-05-01T12:00:00")
    found = at(here, frame=25).json
    assert found["instant"] == "2026-05-01T12:00:02.500Z"
    assert found["position"] == pytest.approx([11 + 32 / 60, 48.1173])
    assert (found["depth"], found["heading"], found["file"]) == (102.5, 92, "rov.nmea")
    box = here.make(frame=41)
    assert at(here, localization_id=box).json["depth"] == 104.5
    assert at(here, frame=25, join="nearest", columns="heading").json["values"] == {"heading": "92.0"}


@pytest.mark.parametrize("path", ["FrameTelemetry/{0.media}", "Telemetry/{0.media}", "TimeAtDepth/{0.project}"])
def test_a_file_is_read_no_longer_than_its_request_has(here, monkeypatch, path):
    attach(here, "time,depth\n0,10\n2,20\n", "ctd.csv")
    here.api.patch(f"FrameInstant/{here.media}", {"frame": 0, "instant": "2026-05-01T12:00:00Z"})
    query = {"file": "ctd.csv"} | ({"column": "depth"} if path.startswith("Time") else {})
    query |= {"frame": 1} if path.startswith("Frame") else {}
    assert here.api.get(path.format(here), **query).status == 200

    def check_late():
        with deadline.time_limit(-1):
            deadline.check_query()

    monkeypatch.setattr(files, "check_query", check_late)
    said = here.api.get(path.format(here), **query)
    assert (said.status, "did not finish" in said.message) == (503, True)


@pytest.mark.parametrize(("name", "made"), [("flight.ts", transport), ("flight.klv", b"".join)])
def test_klv_of_a_drone_is_joined_as_other_telemetry(here, name, made):
    attach(here, made(flight()), name)
    here.api.patch(f"FrameInstant/{here.media}", {"frame": 0, "instant": "2026-05-01T12:00:00Z"})
    found = at(here, frame=25).json
    assert (found["file"], found["instant"]) == (name, "2026-05-01T12:00:02.500Z")
    assert found["position"] == [11.5, 48.12]
    assert found["heading"] == pytest.approx(159.975, abs=2e-3)
    assert "pitch" not in found["values"]


def test_a_clock_needs_an_instant_and_an_attribute_of_dtype_datetime(here):
    path = f"FrameInstant/{here.media}"
    assert "instant: 'noon" in here.api.patch(path, {"frame": 0, "instant": "noon"}).message
    wrong = here.api.patch(path, {"frame": 0, "instant": "2026-05-01", "attribute": "Other"})
    assert (wrong.status, "no attribute 'Other'" in wrong.message) == (400, True)
    early = here.api.patch(path, {"frame": 1000, "instant": "0001-01-01T00:00:00Z"})
    assert (early.status, "before year 1" in early.message) == (400, True)


def test_telemetry_is_answered_by_column_from_the_first_frame(here):
    attach(here, GPX, "track.gpx")
    unplaced = here.api.get(f"Telemetry/{here.media}").json
    assert (unplaced["is_placed"], unplaced.get("start"), unplaced["files"]) == (False, None, ["track.gpx"])
    here.api.patch(f"Media/{here.media}", {"attributes": {"Start": "2026-05-01T11:59:59Z"}})
    found = here.api.get(f"Telemetry/{here.media}").json
    assert (found["is_placed"], found["every"]) == (True, 1)
    by_name = {each["name"]: (each["times"], each["values"]) for each in found["columns"]}
    assert by_name["elevation"] == ([1, 3], ["10", "20"])
    assert here.api.get(f"Telemetry/{here.media}", file="none.csv").status == 404
    assert here.api.get(f"Telemetry/{here.media}", columns="speed").status == 400


def test_media_and_annotations_get_places_from_a_track(here):
    attach(here, GPX, "track.gpx")
    here.api.patch(f"Media/{here.media}", {"attributes": {"Start": "2026-05-01T12:00:00Z"}})
    addition = {"entity_type": "MediaType", "addition": {"name": "Site", "dtype": "geopos"}}
    assert here.api.post(f"AttributeType/{here.media_type}", addition).status == 201
    here.make(frame=20)
    body = {"file": "track.gpx", "columns": {"Site": ["longitude", "latitude"]}}
    dry = here.api.patch(f"TelemetryValues/{here.project}", body, kind="media", dry_run=True).json
    assert (dry["matched"], dry["changed"]) == (1, 1)
    assert here.api.patch(f"TelemetryValues/{here.project}", body, kind="media").json["changed"] == 1
    assert here.api.get(f"Media/{here.media}").json["attributes"]["Site"] == [8.5, 48.5]
    body = {"file": "track.gpx", "columns": {"place": ["longitude", "latitude"], "size": "elevation"}}
    assert here.api.patch(f"TelemetryValues/{here.project}", body).json["changed"] == 1
    assert here.listed()[0]["attributes"]["place"] == [8.6, 48.6]


def test_a_malformed_file_is_refused_by_its_line_and_media(here):
    attach(here, "$SDDPT,1.5,0.0\n$GPGLL,9900.0,N,00000.0,E,120000,A\n", "rov.nmea")
    said = at(here)
    assert said.status == 400
    assert "line 2 of the NMEA log: '9900.0,N' is not an angle of degrees and minutes with N or S" in said.message
    assert f"('rov.nmea' of media {here.media})" in said.message


def test_an_image_has_the_values_of_its_instant(here, api):
    image = api.made(f"MediaTypes/{here.project}", {"name": "image", "dtype": "image"})
    picture = api.made(f"Medias/{here.project}", {"type": image, "name": "a.jpg", "md5": ""})
    api.patch(f"Media/{picture}", {"num_frames": 1})
    attach(Here(api, here.project, picture, here.type, image), "time,depth\n0,7.5\n")
    assert api.get(f"FrameTelemetry/{picture}").json["depth"] == 7.5


def test_a_video_by_reference_without_a_segment_file_has_the_times_of_its_rate(here):
    attach(here, "time,depth\n0,7.5\n2,8.5\n", "log.csv")
    linked = {"codec": "h264", "resolution": [1, 1], "reference_only": 1, "path": "https://example.org/x.mp4"}
    assert here.api.post(f"VideoFiles/{here.media}", linked, role="streaming").status == 201
    assert at(here, frame=20).json["depth"] == 8.5
