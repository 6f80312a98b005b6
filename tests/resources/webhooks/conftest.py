from __future__ import annotations

import pytest

from chalicelib.settings import override
from tests.resources.webhooks import receiver as receivers


@pytest.fixture
def receiver():
    with receivers.running() as found, override(service_origins=[found.url]):
        yield found


@pytest.fixture
def hook(api, project, receiver):
    """Registers a webhook of the project at a path of the receiver; returns its id."""

    def make(path="/ok", types=("*",), **more):
        body = {"name": path, "url": receiver.url + path, "types": list(types), **more}
        said = api.post(f"Webhooks/{project}", body)
        assert said.status == 201, said.body
        receiver.secrets[path] = said.json["secret"]
        return said.json["id"]

    return make


@pytest.fixture
def section(api, project):
    """Makes a section, which is one commit with one event; returns its id."""
    numbers = iter(range(10_000))
    return lambda: api.made(f"Sections/{project}", {"name": f"s{next(numbers)}"})
