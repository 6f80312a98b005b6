"""Argo's published schema of a Workflow, as the API server holds resources to it.

Unknown members pass, as they do there unless a request asks for strict field validation.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

SCHEMA = Path(__file__).parents[2] / "data" / "argo-workflow.schema.json"
_LOOSE = {
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": ["string", "integer"],
    "io.k8s.apimachinery.pkg.api.resource.Quantity": ["string", "number"],
}
"""What the API server reads from numbers too, though the schema says text."""


@cache
def _validator(*, is_strict: bool) -> Any:
    schema = json.loads(SCHEMA.read_text())
    for name, definition in schema["definitions"].items():
        if "properties" in definition and is_strict:
            definition["additionalProperties"] = False
        if name in _LOOSE:
            definition["type"] = _LOOSE[name]
    return jsonschema_rs.validator_for(schema)


def wrong(resource: Any, *, is_strict: bool = False) -> str | None:
    """What is wrong with a Workflow: the first error with its place; None where nothing is."""
    error = next(_validator(is_strict=is_strict).iter_errors(resource), None)
    if error is None:
        return None
    return f"{'.'.join(map(str, error.instance_path))}: {error.message}"[:500]
