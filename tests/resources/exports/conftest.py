"""Projects whose annotations are exported."""

import pytest

from tests.resources.exports.samples import Dataset


@pytest.fixture
def dataset(api, project):
    return Dataset(api, project, pictures=False)


@pytest.fixture
def pictured(api, project):
    return Dataset(api, project)
