"""The reference of all operations as Markdown, generated from their declarations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from chalicelib.http.openapi import REF, document
from chalicelib.http.operation import Operation

_HEAD = """# Operations

Made from the declarations by `chalicelib/api/reference.py`; do not edit. Errors are JSON, `{"message", "details"}`,
with the statuses 400, 401, 403, 404, 409, 413, 429 and 503. The shapes of bodies and answers are at the end.
"""
_BOUNDS = (("minimum", "≥"), ("maximum", "≤"), ("minLength", "length ≥"), ("maxLength", "length ≤"))

Schema = dict[str, Any]


def reference(operations: Iterable[Operation]) -> str:
    """The text of `docs/reference.md`: one section per tag, one entry per operation, then all schemas."""
    operations = tuple(operations)
    described = document(operations)
    by_tag: dict[str, list[Operation]] = {}
    for operation in operations:
        by_tag.setdefault(operation.tag or "Other", []).append(operation)
    lines = [_HEAD]
    for tag, group in by_tag.items():
        lines += [f"## {tag}", ""]
        for operation in group:
            lines += _entry(operation, described["paths"][operation.path][operation.method.lower()])
    lines += ["## Shapes", ""]
    for name, schema in described["components"]["schemas"].items():
        lines += [f"### {name}", "", *_paragraph(schema.get("description", "")), *_members(schema), ""]
    return "\n".join(lines).rstrip() + "\n"


def _entry(operation: Operation, described: Schema) -> Iterator[str]:
    yield f"### {operation.id}"
    yield ""
    yield f"`{operation.method} {operation.path}`" + (" (older clients only)" if operation.legacy else "")
    yield ""
    yield from _paragraph(f"{operation.summary} {operation.details}".strip())
    yield f"- Needs: {operation.needs.value}"
    for parameter in described["parameters"]:
        place = "path" if parameter["in"] == "path" else "query"
        required = ", required" if parameter.get("required") and place == "query" else ""
        yield f"- {place} `{parameter['name']}`: {_type(parameter['schema'])}{required}{_remark(parameter)}"
    if body := described.get("requestBody"):
        optional = "" if body["required"] else " (may be absent)"
        yield f"- Body: {_type(body['content']['application/json']['schema'])}{optional}"
    status = str(operation.success)
    answer = described["responses"][status]
    if "content" not in answer:
        yield f"- Answer: {status}. {answer['description']}"
    for media_type, content in answer.get("content", {}).items():
        what = f" {_type(content['schema'])}" if media_type == "application/json" else ""
        yield f"- Answer: {status} `{media_type}`{what}"
    yield ""


def _paragraph(text: str) -> list[str]:
    return [text, ""] if text else []


def _members(schema: Schema) -> Iterator[str]:
    required = schema.get("required", ())
    for name, member in schema.get("properties", {}).items():
        yield f"- `{name}`: {_type(member)}{', required' if name in required else ''}{_remark(member)}"


def _remark(described: Schema) -> str:
    return f". {described['description']}" if described.get("description") else ""


def _type(schema: Schema) -> str:
    """A schema in a few words: `integer ≥ 1`, `array of [Media](#media)`, `"a" or "b"`."""
    if ref := schema.get("$ref"):
        name = ref.removeprefix(REF)
        return f"[{name}](#{name.lower()})"
    if options := schema.get("oneOf") or schema.get("anyOf"):
        return " or ".join(map(_type, options))
    if values := schema.get("enum"):
        words = " or ".join(f"`{value}`" for value in values if value is not None)
    elif schema.get("type") == "array":
        words = f"array of {_type(schema.get('items', {}))}"
    else:
        words = schema.get("type", "anything")
    bounds = [f"{sign} {schema[bound]:g}" for bound, sign in _BOUNDS if bound in schema]
    words = " ".join([words, *bounds])
    if (default := schema.get("default")) not in (None, "", [], {}):
        words += f" (default `{str(default).lower() if isinstance(default, bool) else default}`)"
    return words
