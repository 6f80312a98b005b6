"""Around the picture: the media behind, media where they lie, telemetry, states, attributes of the media."""

from __future__ import annotations

import re
import uuid

import boto3
import pytest
import requests
from playwright.sync_api import expect

from infra.emulator import aws
from tests.console.browser.dives import plain_clip
from tests.console.browser.waits import until


@pytest.fixture(scope="module")
def lying(stack, sea, tmp_path_factory):
    """A clip of the project that lies in a bucket of the organization."""
    api, project = sea.api, sea.project
    store = boto3.client("s3", endpoint_url=stack.s3_url, region_name=aws.REGION, **stack.s3_keys)
    name = f"sea-{uuid.uuid4().hex[:8]}"
    store.create_bucket(Bucket=name)
    clip = plain_clip(tmp_path_factory.mktemp("lying"))
    store.put_object(Bucket=name, Key="dives/there.mp4", Body=clip.read_bytes())
    config = {"endpoint_url": stack.s3_url, "region_name": aws.REGION, **stack.s3_keys}
    organization = api.ask("GET", f"Project/{project}")["organization"]
    bucket = api.create(f"Buckets/{organization}", {"name": name, "store_type": "MINIO", "config": config})
    kind = api.ask("GET", f"MediaTypes/{project}")[0]["id"]
    spec = {"name": name, "bucket": bucket, "prefix": "dives/", "media_types": [{"extension": "mp4", "type": kind}]}
    api.create(f"BucketSources/{project}", spec)

    def indexed():
        return [each["id"] for each in api.ask("GET", f"Medias/{project}", name="there.mp4") if each["num_frames"]]

    return until(indexed, "the clip is indexed")[0]


def test_the_next_media_lies_in_a_bucket_and_what_was_drawn_before_is_saved(screen, dive, lying):
    screen.open(4)
    screen.press("1")
    screen.drag((0.1, 0.1), (0.3, 0.4))
    screen.press("Shift+PageDown")
    screen.page.wait_for_url(f"**/media/{lying}*")
    screen.at(0)
    expect(screen.page.get_by_title("Frames by the service: slower")).to_be_visible()
    for keys, frame in ((["ArrowRight"], 1), (["g", "5", "9", "Enter"], 59)):
        screen.press(*keys)
        screen.at(frame)
    screen.page.get_by_role("button", name="Previous media").click()
    screen.page.wait_for_url(f"**/media/{dive.media}*")
    screen.at(0)
    screen.saving("saved")
    screen.press("PageDown")
    screen.at(4)
    assert [row["frame"] for row in dive.boxes()] == [4]


def attach(dive, name, text):
    """Attach telemetry to the media of the dive."""
    info = dive.api.ask("GET", f"UploadInfo/{dive.project}", media_id=dive.media, filename=name)
    requests.put(info["urls"][0], data=text.encode(), timeout=120).raise_for_status()
    file = {"path": info["key"], "name": name, "mime": "text/plain"}
    dive.api.ask("POST", f"AuxiliaryFiles/{dive.media}", file, role="attachment")


def test_a_clock_in_the_picture_places_the_telemetry(screen, dive):
    kind = dive.api.ask("GET", f"MediaTypes/{dive.project}")[0]["id"]
    addition = {"name": "Recorded", "dtype": "datetime"}
    dive.api.ask("POST", f"AttributeType/{kind}", {"entity_type": "MediaType", "addition": addition})
    log = "".join(f"$GPRMC,12000{n},A,4807.038,N,01131.000,E,0,0,010526,,\n$SDDPT,{100 + n}.5,0\n" for n in range(9))
    attach(dive, "rov.nmea", log)
    screen.open(50)
    telemetry = screen.page.get_by_role("region", name="Telemetry")
    expect(telemetry.get_by_text("The time of the first frame is not known")).to_be_visible()
    telemetry.get_by_label("UTC of frame 50").fill("2026-05-01T12:00:04Z")
    telemetry.get_by_role("button", name="Set").click()
    expect(telemetry.get_by_text("2026-05-01 12:00:04.000")).to_be_visible()
    assert dive.api.ask("GET", f"Media/{dive.media}")["attributes"]["Recorded"].startswith("2026-05-01T12:00:02")
    expect(telemetry.get_by_text("104.5")).to_be_visible()
    dive.api.ask("DELETE", f"AuxiliaryFile/{dive.media}", role="attachment", index=0)


def test_telemetry_states_and_attributes_of_the_media_are_beside_the_picture(screen, dive):
    rows = "".join(f'{n / 5},{n * 2:.1f},"{"in, out" if n else ""}"\n' for n in range(13))
    attach(dive, "logger.csv", f"time,depth,door\n{rows}")
    screen.open(25)
    telemetry = screen.page.get_by_role("region", name="Telemetry")
    expect(telemetry.get_by_role("definition")).to_have_text(["10.0", "in, out"])
    screen.press("Shift+ArrowRight")
    screen.at(35)
    expect(telemetry.get_by_role("definition")).to_have_text(["14.0", "in, out"])

    screen.page.get_by_role("button", name="Add Scene").click()
    screen.saved()
    assert [(row["type"], row["frame"]) for row in dive.tracks()] == [(dive.types["scene"], 35)]
    screen.page.locator(".stage").focus()
    screen.press("Control+z")
    screen.saved()
    assert dive.tracks() == []

    screen.page.get_by_role("button", name="Media", exact=True).click()
    screen.page.get_by_label("Weather").select_option("Rain")
    expect(screen.page.get_by_text("The attributes of the media are saved.")).to_be_visible()
    assert dive.api.ask("GET", f"Media/{dive.media}")["attributes"]["Weather"] == "Rain"
    screen.page.get_by_role("button", name=re.compile("^Undo$")).last.click()
    expect(screen.page.get_by_label("Weather")).to_have_value("")
