"""Projects of browser tests."""

from __future__ import annotations

import uuid
from typing import Any


def new_project(api: Any, name: str) -> int:
    """The id of a new, empty project in an organization of its own."""
    organization = api.create("Organizations", {"name": f"organization {uuid.uuid4().hex}"})
    number: int = api.create("Projects", {"name": name, "organization": organization})
    return number
