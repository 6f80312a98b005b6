"""Responses with selected members only: `fields=id,attributes.Species` applied to documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from chalicelib.core.entities import STRUCT_OF
from chalicelib.core.kinds import Kind
from chalicelib.errors import BadInput

MOST_FIELDS = 200
_ALWAYS = {Kind.STATE: ("media", "localizations")}
_encode = msgspec.json.Encoder().encode


def shaper(kind: Kind, fields: str) -> Callable[[bytes], bytes]:
    """The function that reduces documents to the named members; a dotted name selects a part of a member.

    A part that a document lacks is null. States also keep their media and localizations.

    Raises:
        BadInput: there is no such member.
    """
    names = [name.strip() for name in fields.split(",")]
    if len(names) > MOST_FIELDS:
        raise BadInput(f"fields: at most {MOST_FIELDS} may be named.")
    struct: Any = STRUCT_OF[kind]
    known = ({*struct.__struct_fields__} | {*struct.also}) - struct.hidden
    paths = [tuple(name.split(".")) for name in dict.fromkeys([*names, *_ALWAYS.get(kind, ())])]
    for path in paths:
        if path[0] not in known:
            raise BadInput(f"fields: a {kind} has no member {path[0]!r}.")
    # Names of attributes may contain dots; in other members a dot separates the parts.
    paths = [(path[0], ".".join(path[1:])) if path[0] == "attributes" and path[1:] else path for path in paths]

    def shape(document: bytes) -> bytes:
        whole = msgspec.json.decode(document)
        shaped: dict[str, Any] = {}
        for path in paths:
            _copy(whole, shaped, path)
        return _encode(shaped)

    return shape


def _copy(whole: Any, shaped: dict[str, Any], path: tuple[str, ...]) -> None:
    """Copy the value at a path of a document to the same path of the reduced one."""
    name, *deeper = path
    value = whole.get(name) if isinstance(whole, dict) else None
    if not deeper:
        shaped[name] = value
        return
    part = shaped.setdefault(name, {})
    if isinstance(part, dict):
        _copy(value, part, tuple(deeper))
