"""Sequences of the published MOT Challenge layout: a folder of pictures becomes a video, frame by frame."""

from __future__ import annotations

import io

import pytest
from PIL import Image, ImageStat

from tests.resources.imports.archives import imported

INFO = "[Sequence]\nname=MOT17-02\nimDir=img1\nframeRate=14\nseqLength={}\nimWidth=64\nimHeight=48\nimExt=.jpg\n"
COUNT = 8


def grey(level, format_="JPEG"):
    """A picture of 64 × 48 of one grey level."""
    out = io.BytesIO()
    Image.new("RGB", (64, 48), (level,) * 3).save(out, format_)
    return out.getvalue()


def sequence(numbers=range(1, COUNT + 1), extension="jpg", base="MOT17/train/MOT17-02"):
    """The files of a sequence with a track of two boxes, whose picture n has the grey level 20 n."""
    format_ = "PNG" if extension == "png" else "JPEG"
    pictures = {f"{base}/img1/{n:06d}.{extension}": grey(20 * n, format_) for n in numbers}
    # as published: no labels.txt, class 1, a confidence of 0 for what is ignored, detections beside
    lines = "1,7,3,3,9,9,1,1,0.9\n2,7,4,3,9,9,1,1,1\n2,8,1,1,5,5,0,7,1\n"
    detections = "3,-1,1,1,8,8,2.3,-1,-1,-1\n"
    texts = {"gt/gt.txt": lines, "det/det.txt": detections, "seqinfo.ini": INFO.format(len(pictures))}
    return {f"{base}/{name}": text for name, text in texts.items()} | pictures


@pytest.mark.slow
@pytest.mark.parametrize("extension", ["jpg", "png"])
def test_a_folder_of_pictures_becomes_a_video_of_the_same_frames(api, project, extension):
    found = imported(api, project, sequence(extension=extension), "mot", create_types=True)
    assert found["status"] == "succeeded", found
    assert found["report"]["media"] == {"read": 1, "accepted": 1, "present": 0, "refused": 0, "skipped": 0}
    [media] = api.get(f"Medias/{project}").json
    assert (media["name"], media["num_frames"], media["fps"]) == ("MOT17-02", COUNT, pytest.approx(14))
    for frame in (0, 1, COUNT - 1):
        shown = Image.open(io.BytesIO(api.get(f"GetFrame/{media['id']}", frames=frame).body)).convert("L")
        assert ImageStat.Stat(shown).mean[0] == pytest.approx(20 * (frame + 1), abs=3)
    [track] = api.get(f"States/{project}").json
    assert (track["media"], track["segments"]) == ([media["id"]], [[0, 1]])
    assert sorted(box["frame"] for box in api.get(f"Localizations/{project}").json) == [0, 1, 2]
    again = imported(api, project, sequence(extension=extension), "mot", create_types=True)["report"]
    assert (again["media"]["present"], again["localizations"]["present"]) == (1, 3)


@pytest.mark.slow
def test_a_file_of_the_video_comes_before_its_pictures(api, project):
    from tests.resources.media.samples import video

    files = sequence([1, 2, 5], base="dive") | {"dive.mp4": video(12)}
    files["dive/seqinfo.ini"] = "[Sequence]\nimWidth=64\nimHeight=48\n"
    found = imported(api, project, files, "mot", create_types=True)
    assert found["status"] == "succeeded", found
    assert [each["num_frames"] for each in api.get(f"Medias/{project}").json] == [12]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (sequence([1, 2, 4]), "none with number 3"),
        (sequence([0, 1, 2]), "none with number 3"),
        (sequence([1]) | sequence([2], "png"), "JPEG and PNG"),
        (sequence([1]) | {"MOT17/train/MOT17-02/img1/0001.jpg": grey(1)}, "have the same number"),
        (sequence([]), "upload the video first"),
    ],
)
def test_pictures_that_are_not_all_frames_are_refused(api, project, files, reason):
    api.made(f"MediaTypes/{project}", {"name": "Dive", "dtype": "video"})
    report = imported(api, project, files, "mot", create_types=True, dry_run=True)["report"]
    assert report["media"]["accepted"] == 0
    assert reason in report["refusals"][0]["reason"]


def test_labels_beyond_the_pictures_are_refused(api, project):
    files = sequence([1])
    report = imported(api, project, files, "mot", create_types=True, dry_run=True)["report"]
    assert report["localizations"] == {"read": 4, "accepted": 1, "present": 0, "refused": 3, "skipped": 0}
