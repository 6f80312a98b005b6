"""An HTTP answer of the local stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Reply:
    """Status, headers and body."""

    status: int
    headers: Mapping[str, str]
    body: bytes
