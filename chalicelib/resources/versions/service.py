"""The version that a project begins with."""

from __future__ import annotations

import uuid

from chalicelib.core.models.definitions import VERSION, Version
from chalicelib.storage.dynamodb import ids

BASELINE = "Baseline"
"""Its name."""


def baseline(project: int) -> Version:
    """The version every project begins with."""
    return Version(
        id=ids.reserve(VERSION.name)[0],
        project=project,
        name=BASELINE,
        description="Initial version",
        number=0,
        elemental_id=str(uuid.uuid4()),
    )
