"""The OpenAPI document of the whole catalogue."""

from __future__ import annotations

from functools import cache

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.http import openapi


@cache
def document() -> openapi.Schema:
    """It, made once: that takes a second. Whoever changes it copies it first."""
    return openapi.document(OPERATIONS)
