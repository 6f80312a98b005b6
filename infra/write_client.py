"""The types and operations of the client (`infra/client`), from the declarations: part of `make docs`.

    types.pyi          TypedDicts of bodies, answers and query parameters
    operations.pyi     the methods of both clients, for type checkers and editors
    operations.json    one line for each operation, from which the methods are made

Older names of operations, members and parameters, which the service still takes, are left out.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chalicelib.http.operation import Operation

FOLDER = Path(__file__).parent / "client"
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_HEAD = '"""{title}\n\nWritten by `make docs` from the declarations of the service; do not edit.\n"""\n\n'
_FILTER = ("attribute_gt", "list[str]", False)
"""A parameter by which queries are known that have all filters."""
_FORMATS = frozenset({"format", "bom"})
"""Parameters that the client sets itself."""


def files(operations: Iterable[Operation]) -> dict[str, str]:
    """The generated files of the client: name → text."""
    from chalicelib.http.openapi import document

    shown = [each for each in operations if not each.legacy]
    made = document(shown)
    writer = _Writer(made["components"]["schemas"])
    entries = [_entry(each, made["paths"][each.path][each.method.lower()], writer) for each in shown]
    return {
        "types.pyi": writer.types(),
        "operations.pyi": _stub(entries),
        "operations.json": "[\n"
        + ",\n".join(json.dumps(each["row"], ensure_ascii=False) for each in entries)
        + "\n]\n",
    }


def write(operations: Iterable[Operation]) -> None:
    """Write the generated files."""
    for name, text in files(operations).items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def name_of(operation_id: str) -> str:
    """The name of the method of an operation: `get_media_list` of `GetMediaList`."""
    return _WORDS.sub("_", operation_id).lower()


class _Writer:
    """The TypedDicts of components and of query parameters, each once."""

    def __init__(self, components: Mapping[str, Any]) -> None:
        self._components = components
        self._queries: dict[str, tuple[tuple[str, str, bool], ...]] = {}

    def query(self, name: str, operation_id: str, parameters: Iterable[Mapping[str, Any]]) -> str:
        """The name of the TypedDict of query parameters; empty where there are none."""
        members = tuple(
            (each["name"], self.type_of(each["schema"]), bool(each.get("required")))
            for each in parameters
            if each["in"] == "query" and each["name"] not in _FORMATS and not each.get("deprecated")
        )
        if not members:
            return ""
        titles = (name, f"{operation_id}Query", f"{operation_id}Parameters")
        free = (each for each in titles if each not in self._components)
        return next(each for each in free if self._queries.setdefault(each, members) == members)

    def type_of(self, schema: Mapping[str, Any]) -> str:
        """The annotation of a schema."""
        found = self._plain(schema)
        return f"{found} | None" if schema.get("nullable") and found != "Any" else found

    def _plain(self, schema: Mapping[str, Any]) -> str:  # noqa: PLR0911 one for each shape
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return f"{name} | None" if self._components[name].get("nullable") else name
        if options := schema.get("anyOf") or schema.get("oneOf"):
            return " | ".join(dict.fromkeys(map(self.type_of, options)))
        if "enum" in schema:
            values = [value for value in schema["enum"] if value is not None]
            return f"Literal[{', '.join(map(_literal, values))}]" if values else "None"
        match schema.get("type"):
            case "array":
                return f"list[{self.type_of(schema.get('items') or {})}]"
            case "object":
                inner = schema.get("additionalProperties")
                return f"dict[str, {self.type_of(inner) if isinstance(inner, dict) else 'Any'}]"
            case str() as scalar:
                return _SCALARS[scalar]
        return "Any"

    def types(self) -> str:
        """The text of `types.pyi`."""
        parts = [_HEAD.format(title="Bodies, answers and query parameters of the operations.")]
        parts.append("from typing import Any, Literal, TypedDict\n\nfrom typing_extensions import Required\n\n")
        for name, schema in sorted(self._components.items()):
            properties = schema.get("properties")
            if properties is None:
                parts.append(f"{name} = {self._plain(schema)}\n")
                continue
            required = set(schema.get("required", ()))
            members = tuple(
                (member, self.type_of(each), member in required)
                for member, each in properties.items()
                if member in required or not each.get("deprecated")
            )
            parts.append(_typed_dict(name, "TypedDict", members))
        filtered = [set(members) for members in self._queries.values() if _FILTER in members]
        common = set.intersection(*filtered)
        parts.append(_typed_dict("_Filters", "TypedDict", sorted(common)))
        for name, members in sorted(self._queries.items()):
            inherits = _FILTER in members
            own = [member for member in members if not (inherits and member in common)]
            parts.append(_typed_dict(name, "_Filters" if inherits else "TypedDict", own))
        return "".join(parts)


def _typed_dict(name: str, base: str, members: Sequence[tuple[str, str, bool]]) -> str:
    if any(not member.isidentifier() or keyword.iskeyword(member) for member, _, _ in members):
        items = ", ".join(f"{member!r}: {kind}" for member, kind, _ in members)
        return f'{name} = TypedDict("{name}", {{{items}}}, total=False)\n'
    every = all(is_required for *_, is_required in members) and base == "TypedDict"
    lines = [f"class {name}({base}{'' if every else ', total=False'}):"]
    for member, kind, is_required in members:
        lines.append(f"    {member}: {kind if every or not is_required else f'Required[{kind}]'}")
    return "\n".join(lines if members else [f"{lines[0]} ..."]) + "\n"


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _entry(operation: Operation, made: Mapping[str, Any], writer: _Writer) -> dict[str, Any]:
    """What the stub and the table say of an operation."""
    variables = {each["name"]: writer.type_of(each["schema"]) for each in made["parameters"] if each["in"] == "path"}
    query = writer.query(operation.query.__name__, operation.id, made["parameters"])
    body = made.get("requestBody")
    kind, answer = _answer(operation, made, writer)
    parts = ["self", *(f"{name}: {type_}" for name, type_ in variables.items())]
    if body is not None:
        shape = writer.type_of(body["content"]["application/json"]["schema"])
        shape = "bytes" if operation.body is bytes else shape
        parts.append(f"body: {shape}" if body["required"] else f"body: {shape} | None = None")
    if query:
        parts.append(f"**query: Unpack[{query}]")
    return {
        "signature": f"({', '.join(parts)})",
        "answer": answer,
        "row": {
            "name": name_of(operation.id),
            "id": operation.id,
            "method": operation.method,
            "path": operation.path.removeprefix("/rest/"),
            "takes": None if body is None else "bytes" if operation.body is bytes else "json",
            "needs_body": body is not None and body["required"],
            "is_read": operation.is_read,
            "answers": kind,
            "doc": operation.summary,
        },
    }


def _answer(operation: Operation, made: Mapping[str, Any], writer: _Writer) -> tuple[str, str]:
    """How an answer is read, and its type: `json`, `bytes` or `text`."""
    content: dict[str, Any] = next(
        (each.get("content", {}) for status, each in made["responses"].items() if status[0] == "2"), {}
    )
    if isinstance(operation.returns, str) or "application/json" not in content:
        is_text = isinstance(operation.returns, str) and operation.returns.startswith("text/")
        return ("text", "str") if is_text else ("bytes", "bytes")
    return "json", writer.type_of(content["application/json"]["schema"])


def _stub(entries: list[dict[str, Any]]) -> str:
    lines = [
        _HEAD.format(title="The methods of the clients: one for each operation."),
        "from typing import Any, Literal",
        "",
        "from typing_extensions import Unpack",
        "",
        "from .types import *",
        "",
        "class Entry:",
        *(f"    {name}: {kind}" for name, kind in _ENTRY.items()),
        "    @property",
        "    def variables(self) -> tuple[str, ...]: ...",
        "",
        "ENTRIES: dict[str, Entry]",
    ]
    for title, word in (("Operations", "def"), ("AsyncOperations", "async def")):
        lines += ["", f"class {title}:"]
        lines.append(
            "    def _call(self, entry: Entry, path: dict[str, Any], query: dict[str, Any], body: Any) -> Any: ..."
        )
        for each in entries:
            row = each["row"]
            head = f"    {word} {row['name']}{each['signature']} -> {each['answer']}:"
            lines += [f"{head} ..."] if title.startswith("Async") else [head, f'        """{row["doc"]}"""']
    return "\n".join(lines) + "\n"


_ENTRY = {
    **dict.fromkeys(("name", "id", "method", "path", "answers", "doc"), "str"),
    "takes": "str | None",
    **dict.fromkeys(("needs_body", "is_read"), "bool"),
}
