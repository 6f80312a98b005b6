"""Texts in CSV that a spreadsheet would run as a formula. Every CSV that the service writes is made of `disarm`."""

from __future__ import annotations

import re

_NEGATIVE = re.compile(r"-[0-9.]+([eE][+-]?[0-9]+)?")
_FORMULA = ("=", "+", "-", "@", "|", "%", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""First characters of a text that a spreadsheet may run as a formula; the last four are wide forms of the first."""


def disarm(text: str) -> str:
    """A text as a CSV cell: a formula gets an apostrophe, so that no spreadsheet runs it. `restore` is its inverse."""
    # An apostrophe of its own before a formula gets another one: else its cell would be read without it.
    runs = text.lstrip("'").startswith(_FORMULA) and not _NEGATIVE.fullmatch(text)
    return f"'{text}" if runs else text


def restore(cell: str) -> str:
    """The text of a cell that `disarm` made."""
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(_FORMULA) else cell
