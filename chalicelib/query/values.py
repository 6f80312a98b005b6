"""Values as queries compare them: the conversion of stored attributes and of the text of filters.

Both evaluations of a query, the plain one and SQL, see stored values through `stored` and filter values through
`wanted`, so a value has one meaning:

- A value that its dtype cannot hold (left over from an earlier definition) counts as null, as an absent one does.
- A string, enum or blob that holds a value other than text counts as its JSON text: 5 as `5`.
- Instants are naive datetimes in UTC; a stored or given time without an offset is UTC.
- Integers are 64 bit, floats are finite, the elements of a float_array are 32 bit floats.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import msgspec

from chalicelib.core.text.dates import ACCEPTED, parse_date
from chalicelib.core.text.numbers import DECIMAL
from chalicelib.errors import BadInput

LARGEST_INT = 2**63 - 1
LONGEST_TEXT = 10_000
LONGEST_SHOWN = 80
TEXT = frozenset({"string", "enum", "blob"})
_encode = msgspec.json.Encoder(order="deterministic").encode
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,30}\s*")


def fold(text: str) -> str:
    """The text with every character in lower case by itself, as DuckDB's `lower` does it."""
    if text.isascii():
        return text.lower()
    return "".join(_fold_one(character) for character in text)


def _fold_one(character: str) -> str:
    lower = character.lower()
    return lower if len(lower) == 1 else lower[0]


APART = r"[\x00-/:-@\[-^`{-\x7f]"
"""Every ASCII character that is not a letter, digit or underscore; the same in Python and in the database."""
_TOKEN = re.compile(r"\\.|.", re.DOTALL)
"""An escaped character, or a character of a regular expression."""
_LAST_CASED = 0x1E943
"""The last character of Unicode that has another case."""


def in_any_case(pattern: str) -> str:
    """The regular expression for texts that one for folded texts matches after `fold`."""
    cases = _cases()
    parts = ("".join(cases.get(each, each) for each in _TOKEN.findall(part)) for part in pattern.split(APART))
    return APART.join(parts)


@lru_cache(maxsize=1)
def _cases() -> dict[str, str]:
    """By folded character, the class of all characters that are folded to it, where there are others."""
    found: dict[str, str] = {}
    for number in range(ord("A"), _LAST_CASED + 1):
        if (folded := _fold_one(character := chr(number))) != character:
            found[folded] = found.get(folded, folded) + character
    return {folded: f"[{characters}]" for folded, characters in found.items()}


@lru_cache(maxsize=8192)  # entities written together have the same time
def instant(text: str) -> datetime | None:
    """The instant of an ISO 8601 text, as naive UTC; None if it is not one.

    A year, a month or a day means its beginning.
    """
    moment = parse_date(text)
    if moment is None or moment.tzinfo is None:
        return moment
    return moment.astimezone(UTC).replace(tzinfo=None)


def is_unicode(text: str) -> bool:
    """Whether a text is valid Unicode: no lone surrogates."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def shown(value: Any) -> str:
    """The value as a message shows it: its JSON text, cut short."""
    text = json_text(value)
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…"


def json_text(value: Any) -> str:
    """A value's JSON text."""
    try:
        return _encode(value).decode()
    except UnicodeEncodeError:
        return ascii(value)


# --- stored values -------------------------------------------------------------------------------------------------


def _stored_bool(value: Any) -> bool | None:
    return value if isinstance(value, bool) else {"true": True, "false": False}.get(str(value).lower())


def _stored_int(value: Any) -> int | None:
    if type(value) is int:  # the usual case; the view converts millions
        return value if -LARGEST_INT - 1 <= value <= LARGEST_INT else None
    if isinstance(value, float):
        value = int(value) if math.isfinite(value) else None
    elif isinstance(value, str):
        value = int(value) if _INTEGER.fullmatch(value) else None
    if not isinstance(value, int):
        return None
    return int(value) if -LARGEST_INT - 1 <= value <= LARGEST_INT else None


def _stored_float(value: Any) -> float | None:
    if type(value) is float and math.isfinite(value):
        return value + 0.0  # makes -0.0 into 0.0: they are equal, but would sort apart
    if not (isinstance(value, (int, float)) or (isinstance(value, str) and DECIMAL.fullmatch(value))):
        return None
    try:
        number = float(value) + 0.0
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _stored_text(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)


def _stored_datetime(value: Any) -> datetime | None:
    return instant(value) if isinstance(value, str) else None


_PLACE = 2


def _stored_geopos(value: Any) -> tuple[float, float] | None:
    if not isinstance(value, list) or len(value) != _PLACE:
        return None
    lon, lat = _stored_float(value[0]), _stored_float(value[1])
    return None if lon is None or lat is None else (lon, lat)


def _stored_array(value: Any) -> tuple[float, ...] | None:
    packed = packed_array(value)
    return None if packed is None else struct.unpack(f"<{len(value)}f", packed)


def packed_array(value: Any) -> bytes | None:
    """A vector as the view stores it, little-endian 32 bit floats; None for any other value."""
    if not isinstance(value, list):
        return None
    try:
        packed = struct.pack(f"<{len(value)}f", *value)
    except (struct.error, OverflowError):
        return None
    return packed if all(map(math.isfinite, memoryview(packed).cast("f"))) else None


STORED: dict[str, Callable[[Any], Any]] = {
    "bool": _stored_bool,
    "int": _stored_int,
    "float": _stored_float,
    "string": _stored_text,
    "enum": _stored_text,
    "blob": _stored_text,
    "datetime": _stored_datetime,
    "geopos": _stored_geopos,
    "float_array": _stored_array,
}
"""By dtype: the conversion of a JSON value (not null) to its value in queries, or None. Use `stored` instead."""


def stored(dtype: str, value: Any) -> Any:
    """The value in queries of a stored JSON value of an attribute; None for null.

    A bool, int or float; text; a naive UTC datetime; (longitude, latitude); a tuple of floats.
    """
    return None if value is None else STORED[dtype](value)


# --- values that filters give --------------------------------------------------------------------------------------


def _wanted_bool(value: Any) -> bool:
    if isinstance(value, str):
        if not value:
            raise ValueError
        return value.lower() != "false"
    if isinstance(value, (bool, int)):
        return bool(value)
    raise ValueError


def _wanted_int(value: Any) -> int:
    if isinstance(value, float) and not value.is_integer():
        raise ValueError
    number = _stored_int(value)
    if number is None:
        raise ValueError
    return number


def _wanted_float(value: Any) -> float:
    number = _stored_float(value)
    if number is None:
        raise ValueError
    return number


def _wanted_text(value: Any) -> str:
    if value is None or isinstance(value, (list, dict)):
        raise ValueError
    text = _stored_text(value)
    if len(text) > LONGEST_TEXT or not is_unicode(text):
        raise ValueError
    return text


def _wanted_datetime(value: Any) -> datetime:
    moment = _stored_datetime(value)
    if moment is None:
        raise ValueError
    return moment


WANTED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "bool": (_wanted_bool, "true or false"),
    "int": (_wanted_int, "an integer of 64 bits"),
    "float": (_wanted_float, "a finite number"),
    "string": (_wanted_text, f"a text of at most {LONGEST_TEXT} characters"),
    "enum": (_wanted_text, f"a text of at most {LONGEST_TEXT} characters"),
    "blob": (_wanted_text, f"a text of at most {LONGEST_TEXT} characters"),
    "datetime": (_wanted_datetime, ACCEPTED),
}
"""By dtype: the conversion of a filter's text or JSON value (raises ValueError), and the rule for messages."""


def wanted(dtype: str, value: Any, place: str) -> Any:
    """The value that a filter compares with, converted to a dtype from text or JSON.

    Raises:
        BadInput: not a value of the dtype; the message names `place` and what it must be.
    """
    convert, rule = WANTED[dtype]
    try:
        return convert(value)
    except ValueError:
        raise BadInput(f"{place}: {shown(value)} is not {rule}.") from None
