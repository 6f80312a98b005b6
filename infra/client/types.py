"""Names of the bodies and answers of operations, for annotations: type checkers read `types.pyi`.

At run time answers are plain dicts, so that they can be changed and sent back, and members that a newer service adds
are kept.
"""

from __future__ import annotations


def __getattr__(name: str) -> type:
    if name.startswith("__"):
        raise AttributeError(name)
    return dict
