"""The first hour of the guide, as it stands there, against the local stack as it is started there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.journeys.stack import ROOT, Stack
from tests.video.clips import X264, Kind, make

pytestmark = pytest.mark.slow

SMALL = Kind("small", options=X264, size=(256, 144), count=132, noise=True)
"""As many frames as the guide's video has."""


@pytest.fixture(scope="module", params=["small", pytest.param("as in the guide", marks=pytest.mark.nightly)])
def stack(request, tmp_path_factory):
    """A stack whose home has the guide's video, or a small one in its place: 720p takes 20 s to transcode."""
    running = Stack(tmp_path_factory.mktemp("home"))
    data = running.home / "tests" / "data"
    data.parent.mkdir()
    if request.param == "small":
        data.mkdir()
        make(SMALL, data).rename(data / "bigbuckbunny.mp4")
        running.renditions, running.size = [[144, 256]], (256, 144)
    else:
        data.symlink_to(ROOT / "tests" / "data")
        running.renditions, running.size = [[144, 256], [360, 640], [480, 854], [720, 1280]], (1280, 720)
    yield running
    running.kill()


def get(url: str, token: str = ""):
    request = urllib.request.Request(url, headers={"Authorization": f"Token {token}"} if token else {})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


def wait_for(ask, seconds=20):
    """What `ask` answers once it is something."""
    deadline = time.monotonic() + seconds
    while not (found := ask()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def test_the_first_hour_runs_as_it_stands_in_the_guide(stack):
    place = stack.start()
    guide = (ROOT / "docs" / "first-hour.md").read_text()
    script = re.search(r"```python\n(.*?)```", guide, re.DOTALL)[1]
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=stack.home, capture_output=True, text=True, timeout=240, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr + stack.log()
    again = script.partition("# A video goes up")[0]  # all whose names could be taken
    subprocess.run([sys.executable, "-c", again], cwd=stack.home, timeout=60, check=True)
    assert f"succeeded 132 frames at 25.0 {stack.renditions}" in ran.stdout
    assert "500 boxes, 250 cod, the deepest at [49.9, 49.8, 49.7]" in ran.stdout
    assert f"frame 77 is {stack.size}" in ran.stdout
    assert (stack.home / "clip.mp4").stat().st_size > 10_000
    (mail,) = wait_for(lambda: get(f"{place['outbox_url']}&format=json"))
    assert mail["subject"] == "Survey"
    assert [part["name"] for part in mail["attachments"]] == ["a.jpg"]


def test_the_lines_of_the_readme_run_twice_after_the_first_hour(stack):
    place = json.loads((stack.home / ".limn" / "local.json").read_text())
    text = (ROOT / "README.md").read_text().partition("## Five lines of curl")[2].partition("## ")[0]
    lines = "\n".join(line.strip() for line in text.splitlines() if line.startswith("    "))
    script = "set -e\n" + lines.replace("http://127.0.0.1:8000", place["url"])
    before = len(get(f"{place['url']}/rest/Projects", place["token"]))
    for count in (1, 2):
        ran = subprocess.run(
            ["bash", "-c", script], cwd=stack.home, capture_output=True, text=True, timeout=60, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert len(json.loads(ran.stdout.splitlines()[-1])) == before + count
    assert ran.stdout.count("created successfully") + ran.stdout.count("created!") >= 1


def test_data_survives_a_restart(stack):
    place = json.loads((stack.home / ".limn" / "local.json").read_text())
    before, *others = get(f"{place['url']}/rest/Projects", place["token"])  # of the first hour, and of the README
    count = get(f"{place['url']}/rest/LocalizationCount/{before['id']}", place["token"])
    assert stack.stop() == 0
    again = stack.start()
    assert again["token"] == place["token"]
    assert get(f"{place['url']}/rest/Projects", place["token"]) == [before, *others]
    assert get(f"{place['url']}/rest/LocalizationCount/{before['id']}", place["token"]) == count == 500
    (media,) = get(f"{place['url']}/rest/Medias/{before['id']}?presigned=600", place["token"])
    with urllib.request.urlopen(media["media_files"]["streaming"][0]["path"], timeout=30) as video:
        assert video.read(12)[4:8] == b"ftyp"


def test_it_is_ready_within_ten_seconds_and_leaves_cleanly(stack):
    assert stack.stop() == 0
    seconds = [float(found) for found in re.findall(r"ready after ([\d.]+) s", stack.log())]
    assert len(seconds) == 2
    assert "Traceback" not in stack.log()
    assert Path(stack.home / ".limn" / "local.json").exists()
