"""Responses with selected members only: `fields=id,attributes.Species` applied to documents."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import AnyType
from chalicelib.core.models.entities import STRUCT_OF
from chalicelib.core.models.media_files import MediaFiles
from chalicelib.core.text.names import similar
from chalicelib.core.values.revisions import Removed
from chalicelib.errors import BadInput

MOST_FIELDS = 200
_ALWAYS = {Kind.STATE: ("media", "localizations")}
_OWN = ("tator_", "svc_", "_")
"""How names of attributes begin that no type defines: of the service and of upload tools."""
_encode = msgspec.json.Encoder().encode


def shaper(kind: Kind, fields: str, types: Collection[AnyType]) -> Callable[[bytes], bytes]:
    """The function that reduces documents to the named members; a dotted name selects a part of a member.

    A part that a document lacks is null. States also keep their media and localizations.

    Args:
        kind: the kind of the documents.
        fields: the names, separated by commas.
        types: the types of the kind, in whose attributes parts of `attributes` are looked up.

    Raises:
        BadInput: there is no such member or attribute.
    """
    names = [name.strip() for name in fields.split(",")]
    if len(names) > MOST_FIELDS:
        raise BadInput(f"fields: at most {MOST_FIELDS} may be named.")
    struct: Any = STRUCT_OF[kind]
    known = ({*struct.__struct_fields__} | {*struct.also}) - struct.hidden
    # Names of attributes may contain dots; in other members a dot separates the parts.
    paths = [
        (name[:10], name[11:]) if name.startswith("attributes.") else tuple(name.split("."))
        for name in dict.fromkeys([*names, *_ALWAYS.get(kind, ())])
    ]
    for member, *parts in paths:
        if member not in known:
            raise BadInput(f"fields: a {kind} has no member {member!r}.{similar(member, known)}")
        if parts:
            _check_part(kind, member, parts[0], types)

    def shape(document: bytes) -> bytes:
        whole = msgspec.json.decode(document)
        shaped: dict[str, Any] = {}
        for path in paths:
            _copy(whole, shaped, path)
        return _encode(shaped)

    return shape


def _check_part(kind: Kind, member: str, part: str, types: Collection[AnyType]) -> None:
    """Raise BadInput for a part that no document of the kind has."""
    if member == "attributes":
        known = {each.name for type_ in types for each in type_.attribute_types}
        removed = any(Removed(part) in type_.revisions for type_ in types)
        if part not in known and not removed and not part.startswith(_OWN):
            raise BadInput(f"fields: no {kind} has the attribute {part!r}.{similar(part, known)}")
    elif member != "media_files":
        raise BadInput(f"fields: {member} has no parts.")
    elif part not in MediaFiles.__struct_fields__:
        raise BadInput(f"fields: media_files has no member {part!r}.{similar(part, MediaFiles.__struct_fields__)}")


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
