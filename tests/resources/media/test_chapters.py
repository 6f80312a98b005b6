"""The chapters of a camera's recording, uploaded one by one and shown as one media."""

from io import BytesIO

import pytest
from PIL import Image

from chalicelib.core.models.definitions import ResolutionConfig
from tests.resources.media.samples import media_type, transcode
from tests.video.clips import read
from tests.video.test_camera_files import COUNT, gopro


@pytest.fixture
def type_(project):
    return media_type(project, streaming_config=[ResolutionConfig(resolution=48)])


def test_chapters_of_a_camera_are_one_media_by_concat(api, project, type_, tmp_path):
    parts = []
    for number in (1, 2):
        (tmp_path / str(number)).mkdir()
        said = transcode(api, project, type_, gopro(tmp_path / str(number)), name=f"GX0{number}0001.MP4")
        parts.append(said.json["media_id"])
    api.drain()
    seconds = 0.0
    body = {"concat": []}
    for part in parts:
        found = api.get(f"Media/{part}").json
        assert (found["num_frames"], round(found["fps"], 3)) == (COUNT, 29.97)
        assert "damaged_frames" not in found or found["damaged_frames"] is None
        body["concat"].append({"id": part, "timestampOffset": seconds})
        seconds += found["num_frames"] / found["fps"]
    whole = api.made(f"Medias/{project}", {"type": type_, "name": "GX010001.MP4", "md5": ""})
    assert api.patch(f"Media/{whole}", body).status == 200
    shown = api.get(f"Media/{whole}").json["media_files"]["concat"]
    assert [(each["id"], each["timestampOffset"]) for each in shown] == [(parts[0], 0.0), (parts[1], seconds / 2)]
    # Frames are those of the chapters: the last of the first, and the first of the second.
    for part, frame in ((parts[0], COUNT - 1), (parts[1], 0)):
        picture = api.get(f"GetFrame/{part}", frames=frame)
        assert picture.status == 200
        assert read(Image.open(BytesIO(picture.body))) == frame
    refused = api.get(f"GetFrame/{whole}", frames=0)
    assert refused.status == 400
    assert "shows other media; ask for the frames of those" in refused.message
