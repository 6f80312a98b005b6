"""What a media says of damage in its file."""

import io

import av
import pytest

from chalicelib.core.models.definitions import ResolutionConfig
from tests.resources.media.samples import media_type, transcode, video
from tests.video.clips import X264, Kind, make


@pytest.fixture
def type_(project):
    return media_type(project, streaming_config=[ResolutionConfig(resolution=64)])


def test_a_media_says_which_frames_of_its_file_are_damaged(api, project, type_):
    data = bytearray(video(30, keyframes=1))
    with av.open(io.BytesIO(data)) as container:
        packets = [(packet.pos, packet.size) for packet in container.demux(video=0) if packet.size]
    for number in (7, 8, 20):
        position, size = packets[number]
        data[position : position + size] = b"\xff" * size
    said = transcode(api, project, type_, bytes(data)).json
    api.drain()
    media, job = api.get(f"Media/{said['media_id']}").json, api.get(f"Transcode/{said['id']}").json["job"]
    assert (media["num_frames"], media["codec"]) == (30, "h264")
    assert media["damaged_frames"] == {"count": 3, "spans": [[7, 8], [20, 20]], "missing_ends": []}
    assert job["status"] == "succeeded"
    assert "3 of 30 frames" in job["message"]
    assert "7 to 8, 20." in job["message"]
    assert api.get(f"Medias/{project}", fields="damaged_frames").json == [{"damaged_frames": media["damaged_frames"]}]


def test_a_media_says_at_which_end_of_a_stream_frames_of_unknown_number_are_lost(api, project, type_, tmp_path):
    data = bytearray(make(Kind("lost", suffix="ts", options=X264, size=(64, 48), count=40), tmp_path).read_bytes())
    with av.open(io.BytesIO(data)) as container:
        first = next(packet for packet in container.demux(video=0) if packet.size)
        begin, size = first.pos, first.size
    data[begin : begin + size] = b"\xff" * size
    said = transcode(api, project, type_, bytes(data)).json
    api.drain()
    media, job = api.get(f"Media/{said['media_id']}").json, api.get(f"Transcode/{said['id']}").json["job"]
    assert media["num_frames"] == 39
    assert media["damaged_frames"] == {"count": 11, "spans": [[0, 10]], "missing_ends": ["start"]}
    assert job["message"].endswith("Frames without a time, whose number is not known, are missing at its start.")
