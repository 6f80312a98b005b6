"""Decode JSON of requests: repeated members are refused, and errors say what is wrong and where."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any

import msgspec

_BEGINNINGS = {
    b"\xef\xbb\xbf": "it begins with a byte order mark; send UTF-8 without one",
    b"\x1f\x8b": "it is compressed; send it plain",
}
_TEXT = r'"(?:[^"\\]|\\.)*+"?+'
"""A quoted text; the closing quote may be missing."""
_AT_BYTE = re.compile(r"\(byte (?P<at>[0-9]+)\)")
_NO_NUMBER = re.compile(r"-?(?:Infinity|NaN)\b")
_LARGE = re.compile(
    rf"{_TEXT}|(?<![0-9.])(?P<found>-?(?:[0-9]++(?:\.[0-9]++)?[eE]\+?[0-9]++|[0-9]{{309,}}+))", re.DOTALL
)
"""A text, or a number that may be too large. It begins at its first digit only, so that one scan is linear."""
_TOKEN = re.compile(rf"{_TEXT}|:", re.DOTALL)
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)
"""An escape of a text; `half` is one of a surrogate pair whose other half is not there."""
_MARKS, _NO_MARKS = re.compile(rb'":*"(:?)'), bytes(set(range(256)) - set(b'":'))
"""A text with the colon after it, of a JSON text of which only quotes and colons are left."""
_NESTED = frozenset((dict, list))
_LONGEST_SHOWN = 80


class NotJsonError(ValueError):
    """The text is not JSON, or an object has a member twice. Its text says why, without a full stop."""


def decode(raw: bytes) -> Any:
    """The value of a JSON text.

    Raises:
        NotJsonError: it is not JSON in UTF-8, or an object has a member twice, of which one would be ignored. The
            message says which member, where it has a name.
    """
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise NotJsonError(explain(raw, error)) from None
    # Every member has a colon, and so have some texts: with as many colons as members, none is there twice.
    if (members := _members(value)) < raw.count(b":") and members < _colons(raw) and members < _names(raw):
        _check_repeated(raw)
    return value


def explain(raw: bytes, error: Exception) -> str:
    """Why a text is not JSON, as a sentence without its full stop.

    Args:
        raw: the text.
        error: what its decoding raised.
    """
    # an error of `decode` has its reason already
    reason = str(error) if isinstance(error, NotJsonError) else _beginning(raw)
    if reason:
        return reason
    try:
        text = raw.decode()
    except UnicodeDecodeError as wrong:
        return f"byte {wrong.start} is not UTF-8"
    if at := _AT_BYTE.search(str(error)):
        before = len(raw[: int(at["at"])].decode(errors="ignore"))
        if found := _NO_NUMBER.search(text, max(0, before - 2), before + len("Infinity") + 2):
            return f"{_place(text, found.start())}{found[0]} is no number of JSON; send a number, or leave it out"
    elif "out of range" in str(error):
        for each in _LARGE.finditer(text):
            if each["found"] and math.isinf(float(each["found"])):
                return f"{_place(text, each.start())}{_shown(each['found'])} is too large for a number of 64 bits"
    elif half := next((each for each in _ESCAPE.finditer(text) if each["half"]), None):
        return f"{_place(text, half.start())}{half[0]} is half of a surrogate pair; send both halves, or UTF-8"
    return str(error).rstrip(".")


def _beginning(raw: bytes) -> str:
    """Why a text cannot be JSON, by its first bytes; empty where they may begin one."""
    return next((reason for mark, reason in _BEGINNINGS.items() if raw.startswith(mark)), "")


def _members(value: Any) -> int:
    """The number of members of all objects in a value; too few where an array begins with another item."""
    if isinstance(value, dict):
        return len(value) + sum(_members(each) for each in value.values() if type(each) in _NESTED)
    if isinstance(value, list) and value and type(value[0]) in _NESTED:
        return sum(map(_members, value))
    return 0


def _colons(raw: bytes) -> int:
    """At least the number of members in a JSON text: the colons after a quote or a blank, which times do not have."""
    return sum(map(raw.count, (b'":', b" :", b"\t:", b"\n:", b"\r:")))


def _names(raw: bytes) -> int:
    """The number of members in a JSON text: the texts before a colon."""
    plain = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    return sum(map(len, _MARKS.findall(plain.translate(None, _NO_MARKS))))


def _check_repeated(raw: bytes) -> None:
    def refuse_repeated(members: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(members)
        if len(found) < len(members):
            [(twice, _)] = Counter(name for name, _ in members).most_common(1)
            raise NotJsonError(f"{_shown(json.dumps(twice))} is there twice in one object; send it once")
        return found

    json.loads(raw, object_pairs_hook=refuse_repeated, parse_int=str)


def _place(text: str, at: int) -> str:
    """The name of the member whose value is at a place, as the start of a sentence; empty where it has none."""
    name, last = "", ""
    for piece in _TOKEN.findall(text, max(0, at - 1000), at):
        name, last = (last, last) if piece == ":" else (name, piece)
    return f"{_shown(name)}: " if name else ""


def _shown(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
