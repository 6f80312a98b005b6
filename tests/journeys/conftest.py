"""A local stack for the journeys that neither configure nor stop it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.journeys.stack import Stack


@pytest.fixture(scope="session")
def shared_stack(tmp_path_factory) -> Iterator[Stack]:
    """A running stack, the same for all journeys of a worker; each makes an organization of its own."""
    running = Stack(tmp_path_factory.mktemp("home"))
    running.start(LIMN_JOBS="process")
    yield running
    running.kill()
