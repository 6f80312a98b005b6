"""Attributes of moto and botocore that the local stack replaces."""

from __future__ import annotations

from typing import Any


class Patches:
    """Replaced attributes of classes and modules; true while there are any."""

    def __init__(self) -> None:
        self._undo: list[tuple[Any, str, Any]] = []

    def replace(self, target: Any, name: str, replacement: Any) -> None:
        """Replace an attribute, or add it."""
        self._undo.append((target, name, vars(target).get(name)))
        setattr(target, name, replacement)

    def undo(self) -> None:
        """Put everything back as it was."""
        while self._undo:
            target, name, original = self._undo.pop()
            if original is None:
                delattr(target, name)
            else:
                setattr(target, name, original)

    def __bool__(self) -> bool:
        return bool(self._undo)
