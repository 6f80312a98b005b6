"""The worker's AWS, shared with all other tests of the process: each test makes its own tables, buckets and queues."""

import itertools
import os

import pytest

from infra.local import aws as local_aws

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
    from tests.infra import local_jobs

    with local_jobs.running(monkeypatch, tmp_path) as found:
        yield found
