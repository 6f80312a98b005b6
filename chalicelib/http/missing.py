"""Which member of a body names what does not exist: the answer says so, as in `[2].parent: No Leaf matches 7`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from chalicelib.errors import NotFound


def name_member(missing: NotFound, body: Any) -> NotFound:
    """The error with the member of a decoded body that has the key; as it is where none has it, or several have."""
    places = [place for place, value in _values(body, "") if value == missing.key]
    is_clear = len({place.rpartition(".")[2] for place in places}) == 1 and places[0]
    return NotFound(f"{places[0]}: {missing.message}", missing.details) if is_clear else missing


def _values(value: Any, place: str) -> Iterator[tuple[str, float]]:
    """The numbers in a body, each with its place; of a list of them, the place of the list."""
    if isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(value):
            yield from _values(getattr(value, field.name), f"{place}.{field.encode_name}".removeprefix("."))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _values(item, place if isinstance(item, int | float) else f"{place}[{index}]")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield place, value
