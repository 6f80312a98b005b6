"""Variables of a manifest (`{{name}}`), and how much text they may be filled with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.errors import BadInput
from chalicelib.workflows.checks import TAG

MOST_TEXT = 4 * 1024 * 1024
"""Characters that all variables of a graph are filled with: one that is named twice doubles with each level."""
Names = dict[str, str | None]
"""Variables by name; None for a value that is not known yet."""


@dataclass
class TextBudget:
    """The characters that variables may still be filled with."""

    left: int

    def spend(self, count: int) -> None:
        """Count some of them as used. Raises BadInput where fewer are left."""
        self.left -= count
        if self.left < 0:
            raise BadInput(f"manifest: the values of its variables may have {MOST_TEXT} characters together.")


def fill(text: str, scope: Mapping[str, str | None], room: TextBudget) -> str | None:
    """A text after variable substitution; None while a value is unknown.

    Raises:
        BadInput: a variable is unknown, or there is no room left for its value.
    """
    unknown = False

    def value(match: Any) -> str:
        nonlocal unknown
        name = match["name"].strip()
        if name not in scope:
            raise BadInput(f"{{{{{name[:100]}}}}} has no value: there is no such variable here.")
        found = scope[name]
        unknown = unknown or found is None
        room.spend(len(found or ""))
        return found or ""

    filled = TAG.sub(value, text)
    return None if unknown else filled


def variable_in(text: str | None) -> str:
    """The variable that a whole text is: `{{steps.a.outputs.artifacts.b}}` → `steps.a.outputs.artifacts.b`."""
    found = TAG.fullmatch((text or "").strip())
    return found["name"].strip() if found else ""
