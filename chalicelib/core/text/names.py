"""Suggestions for misspelt names, and names in sentences."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from itertools import islice

MAX_NAME_LENGTH = 200
MAX_NAMES = 1_000
"""Longer names, and further declared names, are not compared: it takes the product of the lengths."""


def similar(name: str, declared: Collection[str]) -> str:
    """The end of a message that refuses a name: the nearest declared name; empty where none is similar."""
    if len(name) > MAX_NAME_LENGTH:
        return ""
    known = (each for each in islice(declared, MAX_NAMES) if len(each) <= MAX_NAME_LENGTH)
    found = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f" Did you mean {found[0]!r}?" if found else ""


def nearest(name: str, declared: Collection[str]) -> str:
    """The end of a message that refuses a name: the nearest declared name, or all of them where none is similar."""
    shown = [each[:MAX_NAME_LENGTH] for each in sorted(islice(declared, MAX_NAMES))]
    others = (
        f" Declared: {', '.join(shown)}{' …' if len(declared) > MAX_NAMES else ''}." if declared else " It has none."
    )
    return similar(name, declared) or others


def with_article(noun: str) -> str:
    """A noun after "an" if it begins with a, e, i or o, else after "a": "an organization", "a user"."""
    return f"{'an' if noun.startswith(('a', 'e', 'i', 'o')) else 'a'} {noun}"
