"""The guides, as they stand, against the local stack as it is started there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import av
import numpy as np
import pytest
import requests
import tator

from tests.journeys.stack import ROOT, Stack
from tests.resources.annotators import server as annotators
from tests.resources.jobs import clusters


@pytest.fixture(scope="module")
def stack(tmp_path_factory, cluster, model):
    running = Stack(tmp_path_factory.mktemp("home"))
    running.start(LIMN_SERVICE_ORIGINS=f"https://127.0.0.1:{cluster.port},{model.url}")
    yield running
    running.kill()


@pytest.fixture(scope="module")
def model():
    """An annotator that answers the same box to every picture."""
    with annotators.running() as found:
        yield found


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A cluster that answers, and whose workflows succeed by themselves."""
    server = clusters.FakeCluster(tmp_path_factory.mktemp("cluster"))
    stopping = threading.Event()

    def work():
        while not stopping.wait(0.1):
            for item in list(server.workflows.values()):
                nodes = {name: clusters.node(name, "Succeeded") for name in ("left", "right", "join")}
                server.move(item["metadata"]["labels"]["limn-uid"], "Succeeded", nodes)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield server
    stopping.set()
    thread.join()
    server.close()


def run(stack: Stack, guide: str, number: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    """A script of a guide."""
    script = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "guides" / guide).read_text(), re.DOTALL)[number]
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=stack.home,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("service", ["empty", "used"])
def test_algorithms_run_on_the_local_stack(stack, service):
    ran = run(stack, "algorithms.md")
    assert ran.returncode == 0, ran.stdout + ran.stderr + stack.log()
    assert "400 manifest: YAML syntax error at line 7, column 12" in ran.stdout
    nodes = "{'main': 'Succeeded', 'left': 'Succeeded', 'right': 'Succeeded', 'join': 'Succeeded'}"
    assert ran.stdout.count(f"Succeeded {nodes}") == 4
    assert "Deleted 4 jobs for project" in ran.stdout
    assert "Traceback" not in stack.log()


@pytest.mark.slow
def test_algorithms_run_on_a_cluster(stack, tmp_path, cluster):
    cert = tmp_path / "ca.pem"
    cert.write_text(cluster.ca)
    ran = run(
        stack,
        "algorithms.md",
        CLUSTER_HOST="127.0.0.1",
        CLUSTER_PORT=str(cluster.port),
        CLUSTER_TOKEN=clusters.TOKEN,
        CLUSTER_CERT=str(cert),
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr + stack.log()
    assert "jobs over [3, 3, 3, 1] media" in ran.stdout
    assert ran.stdout.count("Succeeded {'join': 'Succeeded', 'left': 'Succeeded', 'right': 'Succeeded'}") == 4
    assert "Deleted 4 jobs for project" in ran.stdout
    assert cluster.workflows == {}
    assert "Traceback" not in stack.log()


def moving_square(path: Path, begin: int, frames: int = 40) -> None:
    """A still, noisy picture of 160×96 over which a square of 20 moves to the right, two pixels a frame."""
    noise = np.random.default_rng(7).integers(60, 90, (96, 160), dtype=np.uint8)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=25, options={"preset": "ultrafast", "crf": "18"})
        stream.width, stream.height, stream.pix_fmt = 160, 96, "yuv420p"
        for number in range(frames):
            picture = noise.copy()
            picture[30:50, begin + 2 * number : begin + 2 * number + 20] = 230
            frame = av.VideoFrame.from_ndarray(picture, format="gray").reformat(format="yuv420p")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


@pytest.mark.parametrize(
    ("count", "jobs"),
    [pytest.param(2, [2], marks=pytest.mark.slow), pytest.param(10, [3, 3, 3, 1], marks=pytest.mark.nightly)],
)
def test_the_example_finds_what_moves(stack, tmp_path, model, count, jobs):
    paths = []
    for number in range(count):
        paths.append(tmp_path / f"square{number}.mp4")
        moving_square(paths[-1], begin=4 * number)
    place = {"VIDEOS": ",".join(map(str, paths)), "MANIFEST": str(ROOT / "docs/guides/moving_objects.yaml")}
    ran = run(stack, "algorithms.md", 1, **place)
    said = ran.stdout + ran.stderr
    assert ran.returncode == 0, said + stack.log()
    assert f"jobs over {jobs}" in said
    nodes = "{'main': 'Succeeded', 'detect': 'Succeeded', 'write': 'Succeeded'}"
    assert said.count(f"Succeeded {nodes}") == len(jobs), said
    local = json.loads((stack.home / ".limn" / "local.json").read_text())
    api = tator.get_api(host=local["url"], token=local["token"])
    project = max(each.id for each in api.get_project_list())
    for media in api.get_media_list(project):
        begin = 4 * int(re.search(r"\d+", media.name)[0])
        [track] = api.get_state_list(project, media_id=[media.id])
        boxes = {box.frame: box for box in api.get_localization_list(project, media_id=[media.id])}
        assert sorted(box.id for box in boxes.values()) == sorted(track.localizations)
        assert len(boxes) >= 35
        for frame, box in boxes.items():
            middle = (begin + 2 * frame + 10) / 160
            assert abs(box.x + box.width / 2 - middle) < 0.06, (media.name, frame)
            assert abs(box.y + box.height / 2 - 40 / 96) < 0.1
            assert 0.5 < box.attributes["Confidence"] <= 1
    mails = requests.get(f"{local['outbox_url']}&format=json", timeout=10).text
    assert mails.count("Moving objects found") >= len(jobs)
    annotate(api, local, project, model)


def annotate(api, local, project, model):
    """Have an annotator write boxes on every tenth frame of the same media, as a job."""

    def post(path, body):
        headers = {"Authorization": f"Token {local['token']}"}
        answer = requests.post(f"{local['url']}/rest/{path}", json=body, headers=headers, timeout=30)
        assert answer.status_code == 201, answer.text
        return answer.json()

    media = [each.id for each in api.get_media_list(project)]
    kind = api.get_localization_type_list(project)[0].id
    body = {"name": "fish", "url": model.url, "type": kind, "confidence_attribute": "Confidence"}
    annotator = post(f"Annotators/{project}", body)["id"]
    version = api.create_version(project, version_spec={"name": "model"}).id
    launch = post(f"Annotate/{project}", {"annotator": annotator, "version": version, "media_ids": media, "every": 10})
    [uid] = launch["uid"]
    end = time.monotonic() + 120
    while (job := api.get_job(uid)).status in ("Pending", "Running") and time.monotonic() < end:
        time.sleep(0.2)
    assert job.status == "Succeeded", job.message
    found = api.get_localization_list(project, version=[version])
    assert sorted((box.media, box.frame) for box in found) == [(each, n) for each in media for n in (0, 10, 20, 30)]
    assert {box.attributes["Confidence"] for box in found} == {0.75}
