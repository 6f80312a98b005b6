"""The whole process killed in the middle of a transcode: started again, it finishes what it was asked for, once."""

from __future__ import annotations

import time

import pytest
import tator

from tests.journeys.stack import ROOT, connect

SECONDS = 120


def wait_for(status_of, wanted):
    deadline = time.monotonic() + SECONDS
    while (status := status_of()) not in wanted and time.monotonic() < deadline:
        time.sleep(0.1)
    return status


@pytest.mark.nightly  # tests/faults/test_transcode_crashes.py and test_killed_stack.py hold both halves
def test_a_transcode_survives_the_kill_of_everything(stack):
    # pieces of two seconds, so that it is killed between some that are done and some that are not
    place = stack.start(LIMN_PIECE_SECONDS="2")
    api = connect(place)
    organization = api.create_organization(organization_spec={"name": "o"}).id
    project = api.create_project(project_spec={"name": "p", "organization": organization}).id
    kind = api.create_media_type(project, media_type_spec={"name": "v", "dtype": "video"}).id
    video = str(ROOT / "tests" / "data" / "bigbuckbunny.mp4")
    *_, (_, response) = tator.util.upload_media(api, kind, video)
    wait_for(lambda: api.get_transcode(response.id).job.status, ("running", "succeeded", "failed"))
    time.sleep(1)  # what the local stack has written to disk by then is what survives
    stack.kill()

    place = stack.start(LIMN_PIECE_SECONDS="2")
    api = connect(place)
    assert wait_for(lambda: api.get_transcode(response.id).job.status, ("succeeded", "failed")) == "succeeded"
    media = api.get_media(response.object["spec"]["media_id"])
    assert media.num_frames == 132
    assert [file.resolution[0] for file in media.media_files.streaming] == [144, 360, 480, 720]
    assert len(media.media_files.audio) == len(media.media_files.thumbnail) == 1
