"""What msgspec knows of each struct, made before there are threads."""

from __future__ import annotations

from contextlib import suppress

import msgspec


def prepare() -> int:
    """Have msgspec describe every struct that is defined now; how many there are.

    It does so at the first use of a struct, and marks the description as made before its members are in it: a second
    thread that decodes the same struct meanwhile follows an empty pointer, which ends the process.
    """
    waiting: list[type] = [msgspec.Struct]
    found: set[type] = set()
    while waiting:
        kind = waiting.pop()
        if kind not in found:
            found.add(kind)
            waiting.extend(kind.__subclasses__())
            with suppress(TypeError):  # one that is only encoded
                msgspec.json.Decoder(kind)
    return len(found) - 1
