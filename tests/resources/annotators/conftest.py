"""The server of annotators that tests share."""

from __future__ import annotations

import pytest

from chalicelib.settings import override
from tests.resources.annotators import server as annotators


@pytest.fixture(scope="module")
def server():
    with annotators.running() as found:
        yield found


@pytest.fixture
def allowed(server):
    """The service may call the server, which answers as it does by itself."""
    server.answer, server.reply, server.status, server.pause = None, None, 200, 0.0
    server.asked.clear()
    with override(service_origins=[server.url]):
        yield
