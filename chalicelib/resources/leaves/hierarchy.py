"""Label hierarchies: paths of leaves."""

from __future__ import annotations

import re

from chalicelib.errors import BadInput

SEPARATOR = "."
_BLANKS = re.compile(r"[ \-()]")
_LABELS = re.compile(r"\w+(\.\w+)*")
_STRANGE = re.compile(r"\W")


def label(name: str) -> str:
    """A leaf's name as a path label; a dot in it adds a level.

    Raises:
        BadInput: it contains a character that paths do not allow.
    """
    text = _BLANKS.sub("_", name)
    if not _LABELS.fullmatch(text):
        raise BadInput(
            f"name: {name!r} cannot be part of a path: it may have letters, digits, blanks, _ - ( ) and single dots."
        )
    return text


def root(project_name: str) -> str:
    """The first label of all paths of a project: one label for any name."""
    return _STRANGE.sub("_", project_name)


def path(parent: str, name: str) -> str:
    """The path of a leaf below that of its parent, or below the project's label."""
    return f"{parent}{SEPARATOR}{label(name)}"
