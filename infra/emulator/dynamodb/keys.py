"""Key values of DynamoDB, and the bytes under which they are stored: they sort as the keys do."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

Key = Any
"""A key value that compares as in DynamoDB: str, int or Decimal; None is the sort key of a table without one."""
_EXPONENT = 0x8000


def number(text: str) -> int | Decimal:
    """The value of a DynamoDB number; equal values are equal and hash equally, however they are written."""
    return int(text) if text.isascii() and text.isdigit() else Decimal(text)


def key_of(kind: str, value: Any) -> Key:
    """The comparable form of a key attribute of type `kind` ("S", "N" or "B")."""
    if kind == "N":
        return number(value)
    return value.decode("latin-1") if isinstance(value, bytes) else value


def encode(key: Key) -> bytes:
    """A key as bytes that sort as the key does."""
    if key is None:
        return b""
    if type(key) is str:
        return key.encode("utf-8", "surrogatepass")
    if not key:
        return b"\x01"
    if type(key) is int and key > 0:
        text = str(key)
        return b"\x02" + (len(text) + _EXPONENT).to_bytes(2, "big") + text.rstrip("0").encode()
    sign, figures, exponent = Decimal(key).as_tuple()
    digits = "".join(map(str, figures)).lstrip("0")
    # the power of ten of the first digit, then the digits: 120 and 1.2E2 are alike
    size = (int(exponent) + len(digits) + _EXPONENT).to_bytes(2, "big") + digits.rstrip("0").encode()
    return b"\x00" + bytes(255 - byte for byte in size) + b"\xff" if sign else b"\x02" + size


def decode(kind: str, raw: bytes) -> Key:
    """The key that `encode` made bytes of."""
    if kind != "N":
        return raw.decode("utf-8", "surrogatepass") if kind else None
    if raw == b"\x01":
        return 0
    size = raw[1:] if raw[0] else bytes(255 - byte for byte in raw[1:-1])
    digits = size[2:].decode()
    value = Decimal(digits).scaleb(int.from_bytes(size[:2], "big") - _EXPONENT - len(digits))
    value = value if raw[0] else -value
    return int(value) if value == value.to_integral_value() else value


def stored(partition: Key, sort: Key) -> tuple[bytes, bytes]:
    """A key as it is stored."""
    if sort is None and type(partition) is str:
        return partition.encode("utf-8", "surrogatepass"), b""
    return encode(partition), encode(sort)


def end_of_prefix(prefix: bytes) -> bytes | None:
    """The first key behind all that begin with a prefix; None where there is none."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else None
