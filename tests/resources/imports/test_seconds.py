"""Formats that know seconds: a time becomes the frame that the video shows then."""

import json

import pytest

from chalicelib.formats.model import Label
from chalicelib.resources.imports.mapping import Size, frame_of
from tests.resources.imports.archives import imported

HEAD = "video_filename,label_name,shape_name,points,frames,annotation_id\n"


@pytest.fixture
def video(api, project):
    number = api.made(f"MediaTypes/{project}", {"name": "video", "dtype": "video"})
    media = {"type": number, "name": "dive.mp4", "md5": "", "width": 100, "height": 50, "num_frames": 90}
    return lambda **more: api.made(f"Medias/{project}", {**media, **more})


def report(*rows):
    lines = [
        f'dive.mp4,cod,{shape},"{json.dumps(points)}","{json.dumps(times)}",{n}'
        for n, (shape, points, times) in enumerate(rows)
    ]
    return {"videos.csv": HEAD + "\n".join(lines)}


def test_times_of_a_report_become_frames_and_a_track_by_the_rate_of_the_video(api, project, video):
    number = video(fps=29.97)
    times = [n / 29.97 for n in (3, 5, 40)]
    box = [1, 1, 9, 1, 9, 9, 1, 9]
    rows = report(
        ("Rectangle", [box, box, [], box], [*times[:2], None, times[2]]),
        ("Point", [[1, 2]], [0.98]),
        ("WholeFrame", [], [2.0]),
        ("Point", [[1, 2]], [9.0]),
    )
    found = imported(api, project, rows, "biigle", create_types=True)
    assert [each["reason"] for each in found["report"]["refusals"]] == [
        "frame: 269 does not exist; the media has frames 0 to 89."
    ]
    labels = api.get(f"Localizations/{project}").json
    assert {label["media"] for label in labels} == {number}
    assert sorted(label["frame"] for label in labels) == [3, 5, 6, 29, 40]
    track, frame = sorted(api.get(f"States/{project}").json, key=lambda each: each["frame"] or 0)
    assert track["segments"] == [[3, 3], [5, 6], [40, 40]]
    assert frame["frame"] == 59


def test_a_time_of_a_video_without_a_rate_is_refused(api, project, video):
    video()
    found = imported(api, project, report(("Point", [[1, 2]], [1.0])), "biigle", create_types=True)
    [refusal] = found["report"]["refusals"]
    assert "the rate of its video is not known" in refusal["reason"]


def test_a_time_rounded_to_milliseconds_is_the_frame_that_it_was_taken_from():
    for fps in (24000 / 1001, 25.0, 30000 / 1001, 50.0, 60000 / 1001):
        for frame in range(5000):
            exact = frame / fps
            for seconds in (exact, round(exact, 3), int(exact * 1000) / 1000):
                row = Label(media="m", kind="dot", shape=(0, 0), seconds=seconds)
                assert frame_of(row, Size(1, 1, None, fps)) == frame


def test_a_gap_of_a_track_is_a_localization_without_a_place(api, project, video):
    video(fps=25)
    features = [{"frame": frame, "bounds": [1, 1, 5, 5], "keyframe": True} for frame in (0, 9)]
    tracks = {"0": {"id": 0, "confidencePairs": [["cod", 1]], "features": features}}
    found = imported(api, project, {"dive.json": {"version": 2, "tracks": tracks}}, "dive", create_types=True)
    assert (found["status"], found["report"]["refusals"]) == ("succeeded", [])
    places = {label["frame"]: label["x"] for label in api.get(f"Localizations/{project}").json}
    assert places == {0: 0.01, 1: None, 9: 0.01}
