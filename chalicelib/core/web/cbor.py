"""CBOR (RFC 8949) as authenticators write it (CTAP2 canonical form): what WebAuthn needs, and nothing else."""

from __future__ import annotations

from typing import Any

_DEEPEST = 4
"""Levels of arrays and maps; CTAP2 allows no more."""
_UNSIGNED, _NEGATIVE, _BYTES, _TEXT, _ARRAY, _MAP, _SIMPLE = 0, 1, 2, 3, 4, 5, 7
_SHORT = 24
"""Below it, the low five bits of the first byte are the number itself."""
_LONGEST_SIZE = 27
"""The code of a number in eight bytes; longer ones, and those without a length, are not read."""
_CONSTANTS = {20: False, 21: True, 22: None}


def read(data: bytes, start: int = 0) -> tuple[Any, int]:
    """The item that begins at a place of some bytes, and the place after it.

    Whole numbers, bytes, text, arrays, maps with numbers or text as keys, false, true and null are read.

    Raises:
        ValueError: it is cut short, of another kind, of unknown length, too deep, or a key is twice in a map.
    """
    return _read(data, start, _DEEPEST)


def read_all(data: bytes) -> Any:
    """The one item that some bytes are. Raises ValueError: as `read`, or something follows it."""
    item, end = read(data)
    if end != len(data):
        message = "something follows the item"
        raise ValueError(message)
    return item


def _read(data: bytes, start: int, depth: int) -> tuple[Any, int]:
    kind, code = _slice(data, start, 1)[0] >> 5, data[start] & 31
    if kind == _SIMPLE:
        if code not in _CONSTANTS:
            message = f"simple value {code}"
            raise ValueError(message)
        return _CONSTANTS[code], start + 1
    number, place = _number(data, start + 1, code)
    if kind == _UNSIGNED:
        return number, place
    if kind == _NEGATIVE:
        return -1 - number, place
    if kind in (_BYTES, _TEXT):
        found = _slice(data, place, number)
        return found if kind == _BYTES else found.decode(), place + number
    if kind not in (_ARRAY, _MAP) or not depth:
        message = f"kind {kind} at {depth} levels"
        raise ValueError(message)
    if kind == _ARRAY:
        return _read_array(data, place, number, depth - 1)
    return _read_map(data, place, number, depth - 1)


def _read_array(data: bytes, place: int, length: int, depth: int) -> tuple[list[Any], int]:
    found = []
    for _ in range(length):  # an item has a byte at least, so a false length ends with the data
        item, place = _read(data, place, depth)
        found.append(item)
    return found, place


def _read_map(data: bytes, place: int, length: int, depth: int) -> tuple[dict[int | str, Any], int]:
    found: dict[int | str, Any] = {}
    for _ in range(length):
        key, place = _read(data, place, depth)
        if type(key) not in (int, str) or key in found:
            message = "a key of a map"
            raise ValueError(message)
        found[key], place = _read(data, place, depth)
    return found, place


def _number(data: bytes, place: int, code: int) -> tuple[int, int]:
    if code < _SHORT:
        return code, place
    if code > _LONGEST_SIZE:
        message = f"length code {code}"
        raise ValueError(message)
    size = 1 << (code - _SHORT)
    return int.from_bytes(_slice(data, place, size), "big"), place + size


def _slice(data: bytes, place: int, size: int) -> bytes:
    found = data[place : place + size]
    if len(found) != size:
        message = "cut short"
        raise ValueError(message)
    return found
