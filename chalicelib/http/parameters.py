"""Query parameters as their operation declares them: names, and the patterns of their texts."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cache
from inspect import get_annotations
from types import SimpleNamespace
from typing import Any, get_type_hints

from msgspec import inspect

from chalicelib.core.resource import Resource, options
from chalicelib.http.forms import inner_of

_WHOLE = re.compile(r"-?[0-9]{1,18}")
MOST_WHOLE = 10**18 - 1
"""The largest integer that a parameter takes."""
_DECIMAL = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,3})?")
_TRUTH = re.compile(r"true|false", re.IGNORECASE)
_ANYTHING = re.compile(r".*", re.DOTALL)
_NOT_NULL = re.compile(r"(?!null\Z).*", re.DOTALL | re.IGNORECASE)
_KINDS: dict[type, type] = {inspect.BoolType: bool, inspect.IntType: int, inspect.FloatType: float}


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One query parameter: its names in order of preference, and the pattern of its text."""

    names: tuple[str, ...]
    pattern: re.Pattern[str]
    rule: str
    is_list: bool


@cache
def parameter_at(query: type[Resource], place: int) -> Parameter:
    """A parameter by its place. Types of those that nobody sent are not looked at: lists have forty."""
    kinds = list(options(inspect.type_info(declared_type(query, query.__struct_fields__[place]))))
    is_list = isinstance(kinds[0], inspect.CollectionType)
    items = [item for kind in kinds if isinstance(kind, inspect.CollectionType) for item in inner_of(kind)]
    pattern, rule = _pattern_of(items if is_list else kinds)
    return Parameter(names=names_of(query, place), pattern=pattern, rule=rule, is_list=is_list)


def declared_type(query: type[Resource], name: str) -> Any:
    """The type of a member."""
    owner = next(each for each in query.__mro__ if name in get_annotations(each))
    one = SimpleNamespace(__annotations__={name: get_annotations(owner)[name]})
    return get_type_hints(one, vars(sys.modules[owner.__module__]), include_extras=True)[name]


def names_of(query: type[Resource], place: int) -> tuple[str, ...]:
    """The names of a parameter in order of preference: the declared one, then older ones."""
    member = query.__struct_fields__[place]
    return (query.__struct_encode_fields__[place], *(old for old, name in query.accepts.items() if name == member))


@cache
def places_of(query: type[Resource]) -> dict[str, int]:
    """The place of each parameter, by all its names."""
    return {name: place for place in range(len(query.__struct_fields__)) for name in names_of(query, place)}


def _pattern_of(options: list[inspect.Type]) -> tuple[re.Pattern[str], str]:
    """The pattern of a type's texts. Any text where the type allows text; `null` is no literal."""
    values = [value for option in options if isinstance(option, inspect.LiteralType) for value in option.values]
    kinds = {type(value) for value in values} or {_KINDS.get(type(option), str) for option in options}
    if kinds == {bool}:
        return _TRUTH, "true or false"
    if kinds == {int}:
        return _WHOLE, "an integer of at most 18 digits"
    if kinds <= {int, float}:
        return _DECIMAL, "a number"
    return (_NOT_NULL, "one of the declared values") if values else (_ANYTHING, "text")
