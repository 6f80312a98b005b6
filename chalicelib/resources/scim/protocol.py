"""The parts of SCIM (RFC 7643, RFC 7644) that users and groups share: errors, lists, filters, PATCH."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from chalicelib.errors import BadInput, LimnError
from chalicelib.http.operation import Answer

CONTENT_TYPE = "application/scim+json"
USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
_ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
_LIST = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
LARGEST_PAGE = 200
LARGEST_BODY = 2_000_000
_MOST_OPERATIONS = 1_000
_NAMES = {
    name.casefold(): name
    for name in (
        *("schemas", "id", "externalId", "userName", "displayName", "name", "givenName", "familyName", "formatted"),
        *("emails", "value", "primary", "type", "display", "active", "members", "groups", "meta", "password"),
    )
}
_FILTER = re.compile(r'\s*(?P<name>[A-Za-z][\w.:-]*)\s+eq\s+(?P<value>"(?:[^"\\]|\\.)*"|true|false)\s*', re.IGNORECASE)
_PATH = re.compile(r"(?P<name>[A-Za-z]\w*)(?:\[(?P<filter>[^\]]*)\])?(?:\.(?P<sub>[A-Za-z]\w*))?")
_PREFIX = re.compile(r"^urn:ietf:params:scim:schemas:core:2\.0:(User|Group):", re.IGNORECASE)


class Invalid(BadInput):
    """A request that breaks a rule of SCIM; `kind` is its `scimType`."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Taken(LimnError):
    """Another user or group already has a value that must be unique."""

    status = 409
    kind = "uniqueness"


def encode(document: dict[str, Any] | None, status: int = 200, **headers: str) -> Answer:
    """An answer with a document; without one, its body is empty."""
    body = msgspec.json.encode(document) if document is not None else b""
    return Answer(status=status, content_type=CONTENT_TYPE, body=body, headers={"Cache-Control": "no-store", **headers})


def encode_error(error: LimnError) -> Answer:
    """An error in the format of SCIM."""
    kind = {"scimType": error.kind} if isinstance(error, Invalid | Taken) and error.kind else {}
    detail = " ".join(part for part in (error.message, error.details) if part)
    return encode({"schemas": [_ERROR], "status": str(error.status), **kind, "detail": detail}, error.status)


def page(documents: Sequence[dict[str, Any]], start: int, count: int) -> dict[str, Any]:
    """A page of a list, from the `start`-th document on, the first being 1."""
    first = max(1, start)
    shown = documents[first - 1 : first - 1 + max(0, min(count, LARGEST_PAGE))]
    return {
        "schemas": [_LIST],
        "totalResults": len(documents),
        "startIndex": first,
        "itemsPerPage": len(shown),
        "Resources": shown,
    }


def read(body: bytes) -> dict[str, Any]:
    """The JSON object of a body, with its members by their usual names. Raises Invalid."""
    if len(body) > LARGEST_BODY:
        raise Invalid("tooMany", f"The body may have {LARGEST_BODY:,} bytes.")
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as failure:
        raise Invalid("invalidSyntax", f"The body is not JSON: {failure}") from failure
    if not isinstance(found, dict):
        raise Invalid("invalidSyntax", "The body must be a JSON object.")
    return {canonical(name): value for name, value in found.items()}


def canonical(name: str) -> str:
    """The name of an attribute in its usual case, without the URN of its schema."""
    bare = _PREFIX.sub("", name)
    return ".".join(_NAMES.get(part.casefold(), part) for part in bare.split("."))


def read_filter(text: str) -> tuple[str, str]:
    """The attribute and the value of a filter `attribute eq "value"`. Raises Invalid for any other."""
    found = _FILTER.fullmatch(_PREFIX.sub("", text.strip()))
    if found is None:
        raise Invalid("invalidFilter", 'filter: `attribute eq "value"` is understood, such as userName eq "ada".')
    try:
        value = msgspec.json.decode(found["value"] if found["value"].startswith('"') else found["value"].lower())
    except (msgspec.DecodeError, RecursionError) as failure:
        raise Invalid("invalidFilter", f"filter: the value is not JSON: {failure}") from None
    return canonical(found["name"]), value if isinstance(value, str) else str(value).lower()


def apply_patch(document: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    """A document after the operations of a PATCH, as Okta and Entra write them (RFC 7644, 3.5.2).

    Args:
        document: as a GET shows it.
        request: the body.

    Raises:
        Invalid: an operation is none, or its path leads nowhere.
    """
    operations = next((value for name, value in request.items() if name.casefold() == "operations"), None)
    if not isinstance(operations, list) or not operations or len(operations) > _MOST_OPERATIONS:
        raise Invalid("invalidSyntax", f"Operations: 1 to {_MOST_OPERATIONS:,} are needed.")
    after: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document))
    for each in operations:
        if not isinstance(each, dict) or str(each.get("op", "")).casefold() not in ("add", "replace", "remove"):
            raise Invalid("invalidSyntax", "op: add, replace or remove.")
        _apply(after, str(each["op"]).casefold(), each.get("path"), each.get("value"))
    return after


def _apply(document: dict[str, Any], op: str, path: Any, value: Any) -> None:
    if path is None:
        if op == "remove":
            raise Invalid("noTarget", "path: remove needs one.")
        if not isinstance(value, dict):
            raise Invalid("invalidValue", "value: without a path it must be an object.")
        for name, one in value.items():
            _apply(document, op, name, one)
        return
    found = _PATH.fullmatch(_PREFIX.sub("", path)) if isinstance(path, str) else None
    if found is None:
        raise Invalid("invalidPath", f"path: {str(path)[:200]!r} is not understood.")
    name, sub = canonical(found["name"]), canonical(found["sub"]) if found["sub"] else None
    if found["filter"] is not None:
        _apply_filtered(document, op, name, found["filter"], sub, value)
    elif sub is not None:
        inner = document.get(name)
        if not isinstance(inner, dict):
            inner = document[name] = {}
        _set(inner, op, sub, value)
    else:
        _set(document, op, name, value)


def _set(holder: dict[str, Any], op: str, name: str, value: Any) -> None:
    before = holder.get(name)
    if op == "remove":
        if isinstance(before, list) and isinstance(value, list):
            gone = {_key_of(each) for each in value}
            holder[name] = [each for each in before if _key_of(each) not in gone]
        else:
            holder.pop(name, None)
    elif op == "add" and isinstance(before, list):
        new = value if isinstance(value, list) else [value]
        known = {_key_of(each) for each in before}
        holder[name] = [*before, *(each for each in new if _key_of(each) not in known)]
    elif isinstance(before, dict) and isinstance(value, dict):
        holder[name] = before | {canonical(key): one for key, one in value.items()}
    else:
        holder[name] = value


def _apply_filtered(document: dict[str, Any], op: str, name: str, text: str, sub: str | None, value: Any) -> None:
    wanted, word = read_filter(text)
    values = document.setdefault(name, [])
    if not isinstance(values, list):
        raise Invalid("invalidPath", f"path: {name} has not several values.")
    matching = [each for each in values if isinstance(each, dict) and _text(each.get(wanted)) == word.casefold()]
    if op == "remove":
        if sub is None:
            document[name] = [each for each in values if each not in matching]
        for each in matching if sub is not None else []:
            each.pop(sub, None)
        return
    if not matching:
        matching = [{wanted: word}]
        values += matching
    for each in matching:
        if sub is not None:
            each[sub] = value
        elif isinstance(value, dict):
            each.update({canonical(key): one for key, one in value.items()})


def _text(value: Any) -> str:
    return str(value).casefold()


def _key_of(value: Any) -> str:
    return str(value.get("value")) if isinstance(value, dict) else str(value)


def read_text(document: dict[str, Any], name: str, longest: int = 254) -> str | None:
    """A text of a document; None where it is absent, null or empty. Raises Invalid."""
    value = document.get(name)
    if value in (None, ""):
        return None
    if not isinstance(value, str) or len(value) > longest or not value.isprintable():
        raise Invalid("invalidValue", f"{name}: a text of one line and at most {longest} characters is needed.")
    return value.strip() or None


def read_flag(document: dict[str, Any], name: str, default: bool) -> bool:
    """A flag of a document, also as Entra writes it: "True", "False". Raises Invalid."""
    value = document.get(name, default)
    if isinstance(value, str) and value.casefold() in ("true", "false"):
        return value.casefold() == "true"
    if not isinstance(value, bool):
        raise Invalid("invalidValue", f"{name}: true or false is needed.")
    return value
