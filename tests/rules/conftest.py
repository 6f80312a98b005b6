"""A world of letters for each module that asks for one."""

from __future__ import annotations

import pytest

from tests.rules.worlds import World, world_of_letters


@pytest.fixture(scope="module")
def world() -> World:
    return world_of_letters()
