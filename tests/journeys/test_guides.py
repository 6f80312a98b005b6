"""The guides, as they stand, against the local stack as it is started there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading

import pytest

from tests.journeys.stack import ROOT, Stack
from tests.resources.jobs import clusters


@pytest.fixture(scope="module")
def stack(tmp_path_factory, cluster):
    running = Stack(tmp_path_factory.mktemp("home"))
    running.start(LIMN_SERVICE_ORIGINS=f"https://127.0.0.1:{cluster.port}")
    yield running
    running.kill()


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


def run(stack: Stack, guide: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The first script of a guide."""
    script = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "guides" / guide).read_text(), re.DOTALL)[1]
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=stack.home,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_algorithms_run_on_the_local_stack(stack):
    ran = run(stack, "algorithms.md")
    assert ran.returncode == 0, ran.stdout + ran.stderr + stack.log()
    assert "400 manifest: YAML syntax error at line 7, column 12" in ran.stdout
    nodes = "{'main': 'Succeeded', 'left': 'Succeeded', 'right': 'Succeeded', 'join': 'Succeeded'}"
    assert ran.stdout.count(f"Succeeded {nodes}") == 4
    assert "Deleted 4 jobs for project" in ran.stdout
    assert "Traceback" not in stack.log()


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
    assert "jobs over [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10]]" in ran.stdout
    assert ran.stdout.count("Succeeded {'join': 'Succeeded', 'left': 'Succeeded', 'right': 'Succeeded'}") == 4
    assert "Deleted 4 jobs for project" in ran.stdout
    assert cluster.workflows == {}
    assert "Traceback" not in stack.log()
