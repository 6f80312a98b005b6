"""YAML of callers, bounded before it is composed.

A text of some thousand brackets ends the process in the recursion of the C library, or takes it minutes; one of some
hundred bytes whose mappings merge others (`<<`) becomes gigabytes. So nothing else loads YAML.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

DEEPEST = 60
"""Most levels of nested lists and mappings."""
MOST_PAIRS = 200_000
"""Most pairs of all mappings, those that are merged into others counted each time."""
_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LONG_NUMBER = re.compile(r"[-+0-9_:.]{200,}")
"""Digits between colons are a number of base 60, whose cost grows with the square of its length."""


class Loader(_BASE):  # type: ignore[misc]
    """The safe loader with a bound on merged mappings."""

    pairs = 0

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Merge other mappings into one. Raises YAMLError above `MOST_PAIRS`."""
        super().flatten_mapping(node)
        self.pairs += len(node.value)
        if self.pairs > MOST_PAIRS:
            raise yaml.YAMLError(f"its mappings have more than {MOST_PAIRS:,} members, merged ones included")


def load(text: str | bytes, loader: type[Loader] = Loader, *, has_aliases: bool = True) -> Any:
    """The single document of a text.

    Args:
        text: YAML.
        loader: makes the values.
        has_aliases: whether aliases are read.

    Raises:
        yaml.YAMLError, ValueError: it is not YAML, or beyond a bound.
    """
    depth = 0
    for event in yaml.parse(text, Loader=_BASE):  # one after the other, without recursion
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                raise yaml.YAMLError(f"it is nested more than {DEEPEST} levels deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.AliasEvent) and not has_aliases:
            raise yaml.YAMLError("aliases are not read")
        elif isinstance(event, yaml.ScalarEvent) and not event.style and _LONG_NUMBER.fullmatch(event.value):
            raise yaml.YAMLError("a number has more than 200 characters")
    return yaml.load(text, Loader=loader)  # noqa: S506 the loader is a safe one
