"""What tests of algorithms and their jobs share."""

from __future__ import annotations

import pytest


@pytest.fixture
def cluster(tmp_path):
    """A cluster that answers."""
    from tests.resources.jobs import clusters

    server = clusters.FakeCluster(tmp_path)
    yield server
    server.close()


@pytest.fixture
def algorithm(api, project, organization, cluster):
    """A fork and a join on the cluster, three media a job; its name."""
    from tests.resources.algorithms.test_algorithms import saved, spec
    from tests.resources.jobs import clusters
    from tests.workflows.test_workflows import FORK

    registered = {"name": "c", "host": "127.0.0.1", "port": cluster.port, "token": clusters.TOKEN, "cert": cluster.ca}
    number = api.made(f"JobClusters/{organization}", registered)
    wanted = spec(
        api,
        project,
        manifest=saved(api, project, FORK),
        cluster=number,
        files_per_job=3,
        parameters=[{"name": "threshold", "value": 0.5}],
    )
    api.made(f"Algorithms/{project}", wanted)
    return wanted["name"]
