"""Which member of a body names what does not exist: the answer says so, as in `[2].parent: No Leaf matches 7`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from chalicelib.errors import NotFound

_INDEX = re.compile(r"\[[0-9]+\]")


def name_member(missing: NotFound, body: Any) -> NotFound:
    """The error with the place of the key in a decoded body; as it is where no member has it, or several have."""
    places = [place for place, value in _values(body, "") if value == missing.key]
    if len({_INDEX.sub("", place) for place in places}) != 1:
        return missing
    return NotFound(f"{places[0]}: {missing.message}", missing.details)


def _values(value: Any, place: str) -> Iterator[tuple[str, float | str]]:
    """The numbers and texts in a body, each with its place; of a list of them, the place of the list."""
    if isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(value):
            yield from _values(getattr(value, field.name), f"{place}.{field.encode_name}".removeprefix("."))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _values(item, place if isinstance(item, int | float | str) else f"{place}[{index}]")
    elif isinstance(value, int | float | str) and not isinstance(value, bool):
        yield place, value
