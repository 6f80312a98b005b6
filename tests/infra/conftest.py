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
