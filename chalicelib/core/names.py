"""Suggestions for misspelt names."""

from __future__ import annotations

import difflib
from collections.abc import Collection


def similar(name: str, declared: Collection[str]) -> str:
    """The end of a message that refuses a name: the nearest declared name; empty where none is similar."""
    found = difflib.get_close_matches(name, declared, n=1, cutoff=0.6)
    return f" Did you mean {found[0]!r}?" if found else ""


def nearest(name: str, declared: Collection[str]) -> str:
    """The end of a message that refuses a name: the nearest declared name, or all of them where none is similar."""
    others = f" Declared: {', '.join(sorted(declared))}." if declared else " It has none."
    return similar(name, declared) or others
