"""The times at which the source of a video shows its frames."""

import pytest

from chalicelib.core.models.definitions import ResolutionConfig
from tests.resources.media.samples import media_type, transcode, video
from tests.video.test_sound import uneven


@pytest.fixture
def type_(project):
    return media_type(project, streaming_config=[ResolutionConfig(resolution=32, preset="ultrafast")])


def made(api, project, type_, data):
    said = transcode(api, project, type_, data).json
    api.drain()
    return said["media_id"]


@pytest.mark.slow
def test_a_constant_rate_is_exact_and_gives_n_by_rate(api, project, type_):
    media = made(api, project, type_, video(30))
    said = api.get(f"FrameTimes/{media}", start=25)
    assert said.status == 200, said.body
    assert said.json["times"] == [1.0, 1.04, 1.08, 1.12, 1.16]
    assert (said.json["rate"], said.json["is_constant"], said.json["num_frames"]) == ([25, 1], True, 30)
    for wrong in ({"start": -1}, {"start": 3, "stop": 2}, {"stop": 31}):
        assert api.get(f"FrameTimes/{media}", **wrong).status == 400
    assert api.get(f"GetFrame/{media}", frames=29).status == 200


@pytest.mark.slow
def test_a_rate_that_varies_gives_the_times_of_the_source(api, project, type_, tmp_path):
    media = made(api, project, type_, uneven(tmp_path).read_bytes())
    found = api.get(f"FrameTimes/{media}").json
    assert (found["is_constant"], found["rate"], len(found["times"])) == (False, [1390, 69], 140)
    expected = [*(n / 30 for n in range(105)), *(n / 30 for n in range(105, 210, 3))]
    assert found["times"] == pytest.approx(expected, abs=1e-6)
    assert api.get(f"FrameTimes/{media}", start=105, stop=106).json["times"] == [3.5]


def test_a_media_without_renditions_has_none(api, project, type_):
    media = api.made(f"Medias/{project}", {"type": type_, "name": "a.mp4", "md5": ""})
    assert api.get(f"FrameTimes/{media}").status == 400
