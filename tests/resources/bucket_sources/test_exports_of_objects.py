"""Exports with pictures of media that lie in a registered bucket: exact frames, read by ranges, nothing copied."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from tests.resources.exports.samples import document, opened
from tests.resources.media.samples import box_type, frame_shown, picture, video

FRAMES = (0, 29, 30, 31, 74)
"""Around keyframes, the first and the last."""


@pytest.fixture
def surveyed(api, project, spec, lake, types):
    """A source with a film and a still, both with boxes; the names of their media."""
    lake.put("survey/film.mp4", video(75, keyframes=30))
    lake.put("survey/still.jpg", picture(200, 100))
    api.made(f"BucketSources/{project}", spec)
    api.drain()
    media = {each["name"]: each["id"] for each in api.get(f"Medias/{project}").json}
    places = [(media["film.mp4"], box_type(project, types[0]), frame) for frame in FRAMES]
    places.append((media["still.jpg"], box_type(project, types[1]), 0))
    box = {"x": 0.25, "y": 0.25, "width": 0.5, "height": 0.5}
    for number, kind, frame in places:
        api.made(f"Localizations/{project}", [{**box, "type": kind, "media_id": number, "frame": frame}])
    lake.calls.clear()
    return media


def export(api, project, **spec):
    said = api.post(f"Exports/{project}", {"format": "coco", "image_format": "png", **spec})
    assert said.status == 201, said.body
    api.drain()
    return api.get(f"Export/{said.json['uid']}").json


def pictures(api, project, frames):
    made = export(api, project, frames=frames)
    assert made["status"] == "succeeded", made
    archive = opened(project, made["uid"])
    return archive, sorted(path for path in archive.namelist() if path.endswith(".png"))


@pytest.mark.slow
def test_frames_are_those_of_the_object(api, project, surveyed, lake):
    archive, paths = pictures(api, project, "frames")
    assert len(paths) == len(FRAMES) + 1
    listed = document(archive, "annotations/instances_all.json")
    frames = {f"images/{each['file_name']}": each.get("frame_id") for each in listed["images"]}
    film = [path for path in paths if "film" in path]
    assert [frame_shown(archive.read(path)) for path in film] == list(FRAMES)
    assert [frames[path] for path in film] == list(FRAMES)
    [still] = set(paths) - set(film)
    assert Image.open(io.BytesIO(archive.read(still))).size == (200, 100)
    assert set(lake.calls) == {"RANGE"}


@pytest.mark.slow
def test_crops_are_cut_from_the_object(api, project, surveyed, lake):
    archive, paths = pictures(api, project, "crops")
    assert len(paths) == len(FRAMES) + 1
    sizes = {Image.open(io.BytesIO(archive.read(path))).size for path in paths}
    assert sizes == {(48, 32), (100, 50)}
    assert set(lake.calls) == {"RANGE"}


@pytest.mark.slow
def test_an_object_that_vanished_is_named(api, project, surveyed, lake):
    lake.delete("survey/film.mp4")
    made = export(api, project, frames="frames")
    assert (made["status"], made["labels"], made["left_out"]) == ("succeeded", 1, len(FRAMES))
    archive = opened(project, made["uid"])
    problems = archive.read("problems.csv").decode()
    assert "film" in problems
    assert len([path for path in archive.namelist() if path.endswith(".png")]) == 1
