"""The members of all that is stored or waits in a queue, as data: what a release reads of the one before, and it of us.

python -m tests.storage.stored_schemas    writes the file that the next release is compared with; at each release
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec

FILE = Path(__file__).with_name("stored_schemas.json")


def schemas() -> dict[str, dict[str, str]]:
    """Each stored Struct and message by name → its members → their type, with `!` where a reader requires them.

    Structs within others are listed under their own names.
    """
    from chalicelib.core.models.entities import Entity
    from chalicelib.core.records import KINDS
    from chalicelib.queues import Message

    _import_all()
    roots = [*(kind.struct for kind in KINDS.values()), *get_args(Entity), *_concrete(Message)]
    _, components = msgspec.json.schema_components(roots, ref_template="{name}")
    return {name: _members(held) for name, held in sorted(components.items()) if "properties" in held}


def _concrete(base: type) -> Iterator[type]:
    """The classes below one that have no others below them."""
    for each in base.__subclasses__():
        yield from _concrete(each) if each.__subclasses__() else [each]


def _members(schema: dict[str, Any]) -> dict[str, str]:
    required = schema.get("required", [])
    members = sorted(schema["properties"].items())
    return {name: _typed(held) + ("!" if name in required else "") for name, held in members}


def _typed(schema: dict[str, Any]) -> str:
    """A member's type in a word: `integer|null`, `[Region]`, `{string}`, `'todo'|'done'`."""
    if "anyOf" in schema:
        return "|".join(sorted(map(_typed, schema["anyOf"])))
    if "enum" in schema or "const" in schema:
        return "|".join(sorted(map(repr, schema.get("enum", [schema.get("const")]))))
    if "$ref" in schema:
        return str(schema["$ref"])
    if schema.get("type") == "array":
        items = schema.get("prefixItems") or [schema.get("items") or {}]
        return f"[{', '.join(map(_typed, items))}]"
    if schema.get("type") == "object":
        return f"{{{_typed(schema.get('additionalProperties') or {})}}}"
    return str(schema.get("type", "any"))


def _import_all() -> None:
    import chalicelib

    for each in pkgutil.walk_packages(chalicelib.__path__, "chalicelib."):
        importlib.import_module(each.name)


def text_of(held: dict[str, dict[str, str]]) -> str:
    """The file: a line for each Struct."""
    lines = (f"{json.dumps(name)}: {json.dumps(members)}" for name, members in held.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    from infra import package

    os.environ.update(package.placeholders())
    FILE.write_text(text_of(schemas()))
