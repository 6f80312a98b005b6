"""Which member of a body names what does not exist: the answer says so, as in `[2].parent: No Leaf matches 7`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from chalicelib.errors import NotFound


def name_member(missing: NotFound, body: Any) -> NotFound:
    """The error with the member of a decoded body that has the key, the first one; as it is where none has it."""
    place = next((place for place, value in _values(body, "") if value == missing.key), "")
    return NotFound(f"{place}: {missing.message}", missing.details) if place else missing


def _values(value: Any, place: str) -> Iterator[tuple[str, int]]:
    """The integers in a body, each with its place; of a list of them, the place of the list."""
    if isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(value):
            yield from _values(getattr(value, field.name), f"{place}.{field.encode_name}".removeprefix("."))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _values(item, place if isinstance(item, int) else f"{place}[{index}]")
    elif isinstance(value, int) and not isinstance(value, bool):
        yield place, value
