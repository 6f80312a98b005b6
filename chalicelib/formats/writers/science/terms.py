"""Attributes in the columns of standards: one with the name of a term, whatever its case, fills it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from chalicelib.formats.model import Attributes, Dataset, Media

Rule = Callable[[Any], str | None]
"""The cell of a value in a column; None where the column does not take the value."""


def split_terms(terms: Iterable[str], attributes: Attributes) -> tuple[dict[str, Any], Attributes]:
    """The values of attributes that have the name of a term, by term, and the attributes without one."""
    known, found, rest = {term.casefold(): term for term in terms}, {}, {}
    for name, value in attributes.items():
        if value in (None, ""):
            continue
        if (term := known.get(name.casefold())) is not None:
            found[term] = value
        else:
            rest[name] = value
    return found, rest


def filled(rules: Mapping[str, Rule], attributes: Attributes) -> dict[str, str]:
    """The cells of the columns of `rules` for which attributes have a value that fits."""
    found, _ = split_terms(rules, attributes)
    cells = {term: rules[term](value) for term, value in found.items()}
    return {term: cell for term, cell in cells.items() if cell is not None}


def text(value: Any) -> str | None:
    """Text and numbers."""
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None


def flag(value: Any) -> str | None:
    """True or false, also as a word."""
    word = str(value).casefold()
    return word if word in ("true", "false") else None


def one_of(*words: str) -> Rule:
    """One of some words, whatever its case."""
    known = {word.casefold(): word for word in words}
    return lambda value: known.get(value.casefold()) if isinstance(value, str) else None


def number(low: float, high: float = math.inf, *, is_whole: bool = False) -> Rule:
    """A number within bounds."""

    def rule(value: Any) -> str | None:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            return None
        if is_whole:
            return str(int(value)) if value == int(value) else None
        return repr(value)

    return rule


def time(value: Any) -> str | None:
    """A time to the second in UTC, `2026-05-01T10:00:00Z`; one without an offset is taken for UTC."""
    found = moment(value)
    return found.strftime("%Y-%m-%dT%H:%M:%SZ") if found else None


def moment(value: Any) -> datetime | None:
    """A time in ISO 8601, in UTC; None for anything else."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
        return found and (found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC))
    except (ValueError, OverflowError):
        return None


def recorded(dataset: Dataset, media: Media) -> datetime | None:
    """When a media began: its first attribute of the dtype datetime that has a value."""
    values = (media.attributes.get(name) for name, dtype in dataset.media_attributes.items() if dtype == "datetime")
    return moment(next(filter(None, values), None))
