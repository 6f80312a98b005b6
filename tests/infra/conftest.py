"""The worker's AWS, shared with all other tests of the process: each test makes its own tables, buckets and queues."""

import itertools
import os

import pytest

from infra.emulator import aws as local_aws

_numbers = itertools.count()


@pytest.fixture(scope="session")
def aws():
    with local_aws.start() as running:
        yield running


@pytest.fixture
def name():
    return f"limn-{os.getpid()}-{next(_numbers)}"


@pytest.fixture
def queue(monkeypatch, tmp_path):
    """A queue of jobs that runs steps as processes."""
    from tests.infra.local import local_jobs

    with local_jobs.running(monkeypatch, tmp_path) as found:
        yield found


@pytest.fixture(params=["queue", "cluster"])
def engine(request, api, organization, queue, tmp_path):
    """What an algorithm is registered with to run on each engine: the local queue, or a cluster with Argo."""
    if request.param == "queue":
        yield {}
        return
    from tests.resources.jobs import clusters, controller

    server = clusters.FakeCluster(tmp_path)
    argo = controller.Controller(server, organization)
    body = {"name": "c", "host": "127.0.0.1", "port": server.port, "token": clusters.TOKEN, "cert": server.ca}
    yield {"cluster": api.made(f"JobClusters/{organization}", body)}
    argo.close()
    server.close()
