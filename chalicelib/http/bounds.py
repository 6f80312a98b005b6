"""Bounds of every request, whatever its types allow: checked before the handler runs, and named in errors.

Types may bound their members more tightly; these bounds hold for all others. Only bodies that are large enough to break
a bound, or have long integers, are scanned.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

from chalicelib.core.resource import options
from chalicelib.errors import BadInput, WrongContent

MAX_DEPTH = 50
"""Most levels of nested arrays and objects."""
MAX_TEXT = 100_000
"""Most characters of one text, or of one name of a member."""
MAX_ITEMS = 100_000
"""Most items of one array."""
MAX_MEMBERS = 20_000
"""Most members of one object."""
MAX_PARAMETER = 10_240
"""Most characters of all values of one query parameter: API Gateway takes no longer request line."""
BODY_ERROR = "Request body validation error"

_Place = tuple[str | int, ...]
"""The names of members and the array indexes that lead to a value."""
_INT64 = range(-(2**63), 2**63)
_LONG_DIGITS = re.compile(rb"(?<![0-9.])[0-9]{19}")
"""An integer that may have more than 64 bits; the digits after a point are none."""
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([^\s;\"]*)", re.IGNORECASE)
_ZEROS = bytes(ord("0") if byte in b"0123456789" else byte for byte in range(256))
_LONG_ZEROS = b"0" * 19
_NEITHER_BRACKET_NOR_QUOTE = bytes(set(range(256)) - set(b'[]{}"'))


def check_encoding(headers: Mapping[str, str]) -> None:
    """Refuse bodies in another encoding than they are read in.

    Args:
        headers: those of a request with a body, by their names in lower case.

    Raises:
        WrongContent: the body is compressed, or its charset is not UTF-8.
    """
    coding = headers.get("content-encoding", "").strip().lower()
    if coding not in ("", "identity"):
        raise WrongContent(
            f"Content-Encoding: {coding[:50]!r} is not supported. Send the body uncompressed, as identity."
        )
    charset = _CHARSET.search(headers.get("content-type", ""))
    if charset and charset[1].lower() not in ("utf-8", "utf8"):
        raise WrongContent(f"Content-Type: charset {charset[1][:50]!r} is not supported. Send the body in utf-8.")


def check_depth(text: bytes) -> None:
    """Refuse bodies that are nested too deeply, before they are parsed.

    Raises:
        BadInput: pairs of brackets are left after the innermost ones were taken away `MAX_DEPTH` times.
    """
    marks = text.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _NEITHER_BRACKET_NOR_QUOTE)
    if b'"' in (left := marks.replace(b'""', b"")):  # A string may hold brackets: the other pieces are outside.
        left = b"".join(marks.split(b'"')[::2])
    for _ in range(MAX_DEPTH):
        if not left:
            return
        left = left.replace(b"[]", b".").replace(b"{}", b".").replace(b".", b"")
    if b"[]" in left or b"{}" in left:
        raise BadInput(BODY_ERROR, f"The body is nested more than {MAX_DEPTH} levels deep.")


def check_sizes(text: bytes, own: frozenset[str]) -> None:
    """Refuse texts, arrays and objects that are too large, and integers of more than 64 bits, which no store takes.

    Args:
        text: the body, which is JSON.
        own: the members of the body whose types allow longer texts than `MAX_TEXT`.

    Raises:
        BadInput: the details name the member and the rule.
    """
    # the search for the pattern takes ten times as long as that for a text
    has_digits = _LONG_ZEROS in text.translate(_ZEROS) and _LONG_DIGITS.search(text)
    if has_digits or (len(text) > MAX_TEXT and _has_room(text)):
        _check(msgspec.json.decode(text), (), own)


def _has_room(text: bytes) -> bool:
    """Whether a body may break a bound, by its marks alone: a body of 500 boxes is cleared without a full scan."""
    if text.count(b",") >= MAX_ITEMS or text.count(b":") > MAX_MEMBERS:
        return True
    plain = text.replace(b"\\\\", b"..").replace(b'\\"', b"..") if b"\\" in text else text
    start = 0
    while len(plain) - start > MAX_TEXT:
        last = plain.rfind(b'"', start, start + MAX_TEXT + 1)
        if last < 0:
            return True
        start = last + 1
    return False


def check_parameter(name: str, values: list[str]) -> None:
    """Refuse a query parameter that is longer than a request line may be.

    Raises:
        BadInput: the message names the parameter.
    """
    if (length := sum(map(len, values))) > MAX_PARAMETER:
        rule = f"{name} may have at most {MAX_PARAMETER} characters; it has {length}."
        raise BadInput(f"Invalid query parameter: {name}", rule)


@cache
def longer_texts(type_: Any) -> frozenset[str]:
    """The members of a body's type that allow texts longer than `MAX_TEXT`."""
    fields = getattr(inspect.type_info(type_), "fields", ())
    return frozenset(field.encode_name for field in fields if _longest(field.type) > MAX_TEXT)


def _longest(type_: inspect.Type) -> int:
    return max((kind.max_length or 0 for kind in options(type_) if isinstance(kind, inspect.StrType)), default=0)


def _check(value: Any, place: _Place, own: frozenset[str] = frozenset()) -> None:  # noqa: C901 one line per rule
    if isinstance(value, str):
        if len(value) > MAX_TEXT:
            raise _too_large(place, "a text", f"{MAX_TEXT} characters")
    elif isinstance(value, dict):
        if len(value) > MAX_MEMBERS:
            raise _too_large(place, "an object", f"{MAX_MEMBERS} members")
        for name, item in value.items():
            if len(name) > MAX_TEXT:
                raise _too_large(place, "the name of a member", f"{MAX_TEXT} characters")
            if not (name in own and isinstance(item, str)):
                _check(item, (*place, name))
    elif isinstance(value, list):
        if len(value) > MAX_ITEMS:
            raise _too_large(place, "an array", f"{MAX_ITEMS} items")
        for index, item in enumerate(value):
            _check(item, (*place, index))
    elif isinstance(value, int) and value not in _INT64:
        raise BadInput(BODY_ERROR, f"{_named(place)}: integers may have at most 64 bits.")


def _too_large(place: _Place, subject: str, most: str) -> BadInput:
    return BadInput(BODY_ERROR, f"{_named(place)}: {subject} may have at most {most}.")


def _named(place: _Place) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return "".join(steps).removeprefix(".") or "The body"
