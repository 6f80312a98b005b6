"""Numbers in texts from outside."""

from __future__ import annotations

import re

MAX_INTEGER = 2**63 - 1
DECIMAL = re.compile(
    r"\s*[+-]?(?:[0-9]{1,400}+(?:\.[0-9]{0,400}+)?|\.[0-9]{1,400}+)(?:[eE][+-]?[0-9]{1,4})?\s*", re.ASCII
)
"""A number as people and programs write it. Python's `float` also takes `1_0`, and digits of other scripts."""
_DIGITS = re.compile(r"[0-9]{1,19}")


def natural(text: str) -> int | None:
    """The number that a text of ASCII digits is, from 0 to 2^63 - 1; None for any other text.

    `str.isdigit` and `str.isdecimal` also hold for texts that `int` refuses, such as `²` and 5,000 digits.
    """
    number = int(text) if _DIGITS.fullmatch(text) else None
    return None if number is None or number > MAX_INTEGER else number
