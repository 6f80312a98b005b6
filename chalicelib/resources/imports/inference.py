"""The dtype of an attribute from its values: the narrowest that holds all of them."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Collection
from typing import Any

_PREFERRED = ("bool", "int", "float", "geopos", "float_array", "string")
"""The first of these dtypes that holds all values is taken."""
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})")
_LONGITUDE, _LATITUDE = 180, 90
_OF: dict[type, frozenset[str]] = {
    bool: frozenset({"bool"}),
    int: frozenset({"int", "float"}),
    float: frozenset({"float"}),
    str: frozenset({"string"}),
}


def narrowest(dtypes: Collection[str]) -> str:
    """The dtype to create where some hold all values; `string` where none does, which refuses the other values."""
    return next((each for each in _PREFERRED if each in dtypes), "string")


def dtypes_of(value: Any, *, is_text: bool) -> tuple[frozenset[str], int]:
    """The dtypes that hold a value, and its length if it is a list; with `is_text` texts may be other values.

    A pair of numbers within the degrees of longitude and latitude may be a position.
    """
    if isinstance(value, list):
        return _dtypes_of_list(value)
    if isinstance(value, str) and is_text:
        dtypes, size = dtypes_of(_read(value), is_text=False)
        return dtypes | {"string"}, size
    return _OF.get(type(value), frozenset()), 0


def _read(text: str) -> Any:
    """The value that a text is of: true, false, a number or a list; else the text."""
    if text in ("true", "false"):
        return text == "true"
    if _WHOLE.fullmatch(text):
        return int(text)
    try:
        if text.startswith("["):
            return json.loads(text)
        number = float(text)
    except (ValueError, RecursionError):
        return text
    return number if "_" not in text and math.isfinite(number) else text


def _is_number(value: Any) -> bool:
    """Whether a value is a number that a float can hold."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _dtypes_of_list(value: list[Any]) -> tuple[frozenset[str], int]:
    if not value or not all(map(_is_number, value)):
        return frozenset(), 0
    is_place = len(value) == 2 and abs(value[0]) <= _LONGITUDE and abs(value[1]) <= _LATITUDE  # noqa: PLR2004 a pair
    return frozenset({"geopos", "float_array"} if is_place else {"float_array"}), len(value)
