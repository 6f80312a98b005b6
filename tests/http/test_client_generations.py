"""The published clients read large answers, each generation in an environment of its own, with the urllib3 of its time.

By night, with a network: the environments are made in `build/clients`.
"""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from uuid import uuid4

import av
import numpy as np
import pytest
import requests

from tests.http.client_environments import python_with
from tests.http.client_program import BOXES, TRACK
from tests.journeys.stack import Stack

PROGRAM = Path(__file__).parent / "client_program.py"
OLD, TURN, NEW = "urllib3==1.26.20", "urllib3==2.4.0", "urllib3>=2.8"
GENERATIONS = [
    *((client, urllib3) for client in ("0.10.29", "1.0.0", "1.5.0") for urllib3 in (OLD, TURN, NEW)),
    ("1.6.0", NEW),  # it needs urllib3 2.5
    *(("1.8.1", urllib3) for urllib3 in (OLD, TURN, NEW)),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The local stack with 10,000 boxes, a video of 1280×720 that hardly compresses, and a track of 100 boxes."""
    home = tmp_path_factory.mktemp("stack")
    stack = Stack(home)
    try:
        yield fill(stack.start(), home)
    finally:
        stack.kill()


def fill(started, home):
    session = requests.Session()
    session.headers["Authorization"] = f"Token {started['token']}"

    def ask(method, path, body=None):
        said = session.request(method, f"{started['url']}/rest/{path}", json=body)
        assert said.status_code < 300, said.text
        return said.json()

    organization = ask("POST", "Organizations", {"name": "generations"})["id"]
    project = ask("POST", "Projects", {"name": "generations", "organization": organization})["id"]

    def make(path, body):
        return ask("POST", f"{path}/{project}", body)["id"]

    types = {
        name: make("MediaTypes", {"name": f"generation {name}", "dtype": name}) for name in ("video", "image", "multi")
    }
    boxes, track = (
        make("LocalizationTypes", {"name": name, "dtype": "box", "media_types": [types["video"]]})
        for name in ("many", "track")
    )
    tracks = make("StateTypes", {"name": "t", "association": "Localization", "media_types": [types["video"]]})
    video = upload(ask, project, types["video"], noise(home / "noise.mp4"))
    wanted = {"dest_project": project, "dest_type": types["video"]}
    clone = ask("POST", f"CloneMedia/{project}?media_id={video}", wanted)["id"][0]
    box = {"media_id": video, "frame": 0, "x": 0.1, "y": 0.1, "width": 0.2, "height": 0.2}
    for start in range(0, BOXES, 500):
        make("Localizations", [{**box, "type": boxes, "x": (start + each) / 20_000} for each in range(500)])
    members = make("Localizations", [{**box, "type": track, "frame": each % 8} for each in range(TRACK)])
    state = make("States", [{"type": tracks, "media_ids": [video], "localization_ids": members}])[0]
    return {
        "url": started["url"],
        "token": started["token"],
        "project": project,
        "many": boxes,
        "video": video,
        "clone": clone,
        "state": state,
        "images": types["image"],
        "multi": types["multi"],
    }


def noise(path):
    """A video of eight frames of 1280×720 whose pictures hardly compress."""
    random = np.random.default_rng(17)
    with av.open(str(path), "w") as made:
        stream = made.add_stream("libx264", rate=8, options={"crf": "1", "preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = 1280, 720, "yuv420p"
        for _ in range(8):
            picture = random.integers(0, 256, (720, 1280, 3), dtype=np.uint8)
            made.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        made.mux(stream.encode())
    return path


def upload(ask, project, type_, path):
    """The id of the transcoded media."""
    info = ask("GET", f"UploadInfo/{project}?num_parts=1&filename={path.name}")
    assert requests.put(info["urls"][0], data=path.read_bytes()).ok
    spec = {"type": type_, "gid": str(uuid4()), "uid": str(uuid4()), "url": info["key"], "name": path.name, "md5": ""}
    download = ask("POST", f"DownloadInfo/{project}", {"keys": [info["key"]]})[0]["url"]
    job = ask("POST", f"Transcode/{project}", {**spec, "url": download, "section": "generations"})
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        (media, *_), done = ask("GET", f"Medias/{project}?name={path.name}") or [None], job
        if media and (media["media_files"] or {}).get("streaming"):
            return media["id"]
        time.sleep(1)
    raise AssertionError(f"not transcoded: {done}")


@pytest.mark.nightly
@pytest.mark.parametrize(("client", "urllib3"), GENERATIONS, ids=lambda text: text.replace("==", " "))
def test_a_client_reads_what_is_large(client, urllib3, place, tmp_path):
    python = python_with(client, urllib3)
    ran = subprocess.run(
        [python, PROGRAM, json.dumps(place)], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-4000:]
    assert ran.stdout.rstrip().endswith("passed")
