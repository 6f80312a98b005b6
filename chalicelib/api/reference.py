"""The reference of all operations as Markdown pages, one for each tag, generated from their declarations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from chalicelib.api import client_members
from chalicelib.api.client_members import PAGE as CLIENTS
from chalicelib.api.client_members import Models
from chalicelib.http.openapi import REF, document
from chalicelib.http.operation import Operation
from chalicelib.http.parameters import MOST_WHOLE

INDEX = "README.md"
SHAPES = "shapes.md"
"""The page of the shapes that operations of several tags use."""
_MADE = "Made from the declarations by `make docs`; do not edit."
_INDEX = f"""# Operations

{_MADE} Errors are JSON, `{{"message", "details"}}`, with the statuses 400, 401, 403,
404, 409, 413, 429 and 503. The same as OpenAPI is at `/schema` of a running service, to be tried in a browser at
`/docs`.
"""
_WIDTH = 110
"""Characters of JSON that stay on one line."""
_BOUNDS = (("minimum", "≥"), ("maximum", "≤"), ("minLength", "length ≥"), ("maxLength", "length ≤"))
_OF_ALL = (("minimum", -MOST_WHOLE), ("maximum", MOST_WHOLE), ("minLength", 1))
_REFERENCE = re.compile(re.escape(REF) + r"(\w+)")
_TITLE = re.compile(r"\[(\w+)\]\(#\w+\)")

Schema = dict[str, Any]
Example = Mapping[str, Any]
"""A call and its answer: `request` (method and address), `body`, `status`, `answer`; see `tests/contract`."""


def reference(
    operations: Iterable[Operation], examples: Mapping[str, Example] | None = None, clients: Models | None = None
) -> dict[str, str]:
    """The pages of `docs/reference/`: name of the file → text.

    A page has the operations of one tag and the shapes that only they use; the other shapes are on `shapes.md`.

    Args:
        operations: all operations, in the order of the pages.
        examples: operation id → a real call; an operation without one is shown without.
        clients: the models of published clients.
    """
    operations = tuple(operations)
    examples = examples or {}
    described = document(operations)
    schemas: dict[str, Schema] = described["components"]["schemas"]
    by_tag: dict[str, list[Operation]] = {}
    for operation in operations:
        by_tag.setdefault(operation.tag or "Other", []).append(operation)
    places = _places(by_tag, described)
    pages: dict[str, list[str]] = {}
    index = [_INDEX]
    for tag, group in by_tag.items():
        page = _page(tag)
        index += [f"## [{tag}]({page})", ""]
        index += [f"- [{each.id}]({page}#{each.id.lower()}): {each.summary}" for each in group]
        index.append("")
        pages[page] = [f"# {tag}", "", _MADE, ""]
        for operation in group:
            entry = described["paths"][operation.path][operation.method.lower()]
            pages[page] += [*_entry(operation, entry), *_example(examples.get(operation.id))]
    pages[SHAPES] = ["# Shapes of several groups", "", _MADE, ""]
    for name, schema in schemas.items():
        lines = pages[places[name]]
        if "## Shapes" not in lines and places[name] != SHAPES:
            lines += ["## Shapes", ""]
        lines += [f"### {name}", "", *_paragraph(schema.get("description", "")), *_members(schema), ""]
    index += ["## Shapes", "", f"Shapes that operations of several groups use are on [a page of their own]({SHAPES})."]
    texts = {page: _linked("\n".join(lines), page, places) for page, lines in pages.items()}
    index += ["", f"What clients send beside the declared members is on [the page of clients]({CLIENTS})."]
    texts[CLIENTS] = client_members.page(operations, clients or {})
    return {name: text.rstrip() + "\n" for name, text in {INDEX: "\n".join(index), **texts}.items()}


def _page(tag: str) -> str:
    return tag.lower().replace(" ", "-") + ".md"


def _places(by_tag: Mapping[str, Iterable[Operation]], described: Schema) -> dict[str, str]:
    """The page of each shape: that of the only tag whose operations lead to it, or `shapes.md`."""
    schemas = described["components"]["schemas"]
    users: dict[str, set[str]] = {name: set() for name in schemas}
    for tag, group in by_tag.items():
        waiting = {
            name
            for operation in group
            for name in _REFERENCE.findall(json.dumps(described["paths"][operation.path][operation.method.lower()]))
        }
        seen: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name in seen or name not in schemas:
                continue
            seen.add(name)
            users[name].add(_page(tag))
            waiting |= set(_REFERENCE.findall(json.dumps(schemas[name])))
    return {name: next(iter(pages)) if len(pages) == 1 else SHAPES for name, pages in users.items()}


def _linked(text: str, page: str, places: Mapping[str, str]) -> str:
    """A page's text with links to the shapes of other pages made to lead there."""

    def link(found: re.Match[str]) -> str:
        name = found[1]
        elsewhere = places.get(name, page)
        return f"[{name}]({'' if elsewhere == page else elsewhere}#{name.lower()})"

    return _TITLE.sub(link, text)


def _example(example: Example | None) -> Iterator[str]:
    """A call and its answer, as text."""
    if example is None:
        return
    yield from ("For example:", "", "```http", example["request"])
    if example.get("body") is not None:
        yield from ("", _as_text(example["body"]))
    yield from ("```", "", f"answers {example['status']}" + (":" if example.get("answer") is not None else "."), "")
    if example.get("answer") is not None:
        yield from ("```json", _as_text(example["answer"]), "```", "")


def _as_text(value: Any) -> str:
    """JSON on one line where it fits, otherwise indented."""
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= _WIDTH else json.dumps(value, ensure_ascii=False, indent=1)


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
        words = _type(_own_bounds(parameter["schema"]))
        yield f"- {place} `{parameter['name']}`: {words}{required}{_remark(parameter)}"
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


def _own_bounds(schema: Schema) -> Schema:
    """The schema of a parameter without the bounds that all have: at least one character, at most 18 digits."""
    own = {name: value for name, value in schema.items() if (name, value) not in _OF_ALL}
    return own | ({"items": _own_bounds(own["items"])} if "items" in own else {})


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
