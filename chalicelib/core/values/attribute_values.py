"""The values of user-defined attributes: their validation, and the form in which they are stored.

A value is a boolean, a number, a string, or a
non-empty array of numbers or of strings (a float_array may be empty); null, objects and mixed arrays are refused:
`null_attributes` sets null. 0, false, "" and [] are values.

Definitions are compiled once into a `Converter`, which is cached for as long as the same definitions are used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from typing import Any, NoReturn, TypeVar

import msgspec

from chalicelib.core.resource import Timestamp
from chalicelib.core.text.dates import ACCEPTED, parse_date
from chalicelib.core.text.names import nearest
from chalicelib.core.text.numbers import DECIMAL
from chalicelib.core.values.attributes import AttributeType
from chalicelib.errors import BadInput

RESERVED = "_tator"
"""Prefix of the names of attributes that the service itself sets, such as those of a media's jobs."""

_MOST_CONVERTERS = 512
_LONGEST_NAME = 256
_EAST, _NORTH = 180, 90
_NAME = re.compile(r"[\w \-><%:&#;(),@]+")
_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,19}\s*")
_INT64 = range(-(2**63), 2**63)

Convert = Callable[[Any], Any]
N = TypeVar("N", int, float)


# Definitions ---------------------------------------------------------------------------------------------------------


def check_definition(definition: AttributeType) -> AttributeType:
    """Check that the members of a definition agree, and convert its default to the stored form.

    Raises:
        BadInput: its name is not valid, an enum has no choices, a float_array no size, or its default does not fit.
    """
    name = definition.name
    if name.startswith("$"):
        raise BadInput(f"Attribute name '{name}' is not valid: it must not start with '$'.")
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        raise BadInput(
            f"Attribute name '{name[:_LONGEST_NAME]}' is not valid: it has 1 to {_LONGEST_NAME} letters, digits, "
            "blanks or _ - > < % : & # ; ( ) , @"
        )
    if definition.dtype == "enum" and not definition.choices:
        raise BadInput(f"enum attribute type definition missing 'choices' field for attribute '{name}'.")
    if definition.dtype == "float_array" and definition.size is None:
        raise BadInput(f"float_array attribute type definition missing 'size' field for attribute '{name}'.")
    low, high = definition.minimum, definition.maximum
    if low is not None and high is not None and low > high:
        raise BadInput(f"Attribute '{name}': its minimum {low} is above its maximum {high}.")
    if definition.default is None:
        return definition
    try:
        default = convert(definition, definition.default)
    except BadInput as refusal:
        raise BadInput(f"default: {refusal.message}") from None
    return msgspec.structs.replace(definition, default=default)


def check_definitions(definitions: Iterable[AttributeType]) -> list[AttributeType]:
    """The definitions of one type, each checked. Raises BadInput, also for two definitions with one name."""
    checked: dict[str, AttributeType] = {}
    for definition in definitions:
        if definition.name in checked:
            raise BadInput(f"'{definition.name}' is already an attribute.")
        checked[definition.name] = check_definition(definition)
    return list(checked.values())


# Values --------------------------------------------------------------------------------------------------------------


def convert(definition: AttributeType, value: Any) -> Any:
    """A value in its stored form. Raises BadInput naming the attribute and the rule it breaks."""
    return _CONVERSIONS[definition.dtype](definition)(value)


class Converter:
    """The compiled definitions of one type of entity."""

    def __init__(self, definitions: Iterable[AttributeType]) -> None:
        self._definitions = {item.name: item for item in definitions}
        self._conversions = {item.name: _CONVERSIONS[item.dtype](item) for item in self._definitions.values()}
        self._rows = [(name, self._conversions[name], _filling(item)) for name, item in self._definitions.items()]

    def convert(self, name: str, value: Any) -> Any:
        """One value in its stored form. Raises BadInput."""
        return self._conversions[name](value) if name in self._conversions else _unknown(name, self._definitions)

    def fill(
        self,
        given: Mapping[str, Any],
        now: Timestamp,
        *,
        members: Collection[str] = (),
        set_by_service: Collection[str] = (),
    ) -> dict[str, Any]:
        """The attributes of a new entity: the given values, else the time of creation, the default, or no value.

        Args:
            given: name → value. Reserved names (`RESERVED`), which clones send back, are dropped.
            now: what `use_current` fills in.
            members: names of members that may stand beside attributes, for the refusal of a misspelt one.
            set_by_service: names of other members of what is read, which clients send back; dropped unless defined.

        Raises:
            BadInput: a value breaks its rule, a required one is missing, or a name is not defined.
        """
        if not given.keys() <= self._definitions.keys():
            for name in given:
                if name not in self._definitions and name not in set_by_service and not name.startswith(RESERVED):
                    _unknown(name, (*self._definitions, *members))
        filled = {}
        for name, conversion, filling in self._rows:
            if name in given:
                filled[name] = conversion(given[name])
            elif filling is not None and (value := filling(now)) is not None:
                filled[name] = value
        return filled

    def merge(
        self,
        current: Mapping[str, Any],
        attributes: Mapping[str, Any] | None,
        reset: Iterable[str] | None,
        nulls: Iterable[str] | None,
        *,
        always_allowed: Collection[str] = (),
    ) -> dict[str, Any]:
        """The attributes of an entity after a change: `attributes` key by key, then `reset`, then `nulls`.

        Args:
            current: the entity's attributes; not modified.
            attributes: name → new value.
            reset: names that are reset to their default, or null.
            nulls: names that become null.
            always_allowed: names that may be undefined.

        Raises:
            BadInput: a value breaks its rule, or a name is not defined.
        """
        merged = dict(current)
        for name, value in (attributes or {}).items():
            if value is None and name in self._definitions:
                _refuse(name, "null does not clear it; name it in `null_attributes`")
            allowed = name in always_allowed and name not in self._conversions
            merged[name] = _any_value(name, value) if allowed else self.convert(name, value)
        for name in reset or ():
            definition = self._known(name, always_allowed)
            merged[name] = copy(definition.default) if definition else None
        for name in nulls or ():
            self._known(name, always_allowed)
            merged[name] = None
        return merged

    def _known(self, name: str, always_allowed: Collection[str]) -> AttributeType | None:
        if name not in self._definitions and name not in always_allowed:
            _unknown(name, self._definitions)
        return self._definitions.get(name)


_converters: dict[tuple[int, ...], tuple[tuple[AttributeType, ...], Converter]] = {}


def converter(definitions: Sequence[AttributeType]) -> Converter:
    """The compiled form of definitions, cached by the identity of the objects.

    Definitions are never changed in place: storage returns new ones for new states.
    """
    key = tuple(map(id, definitions))
    if (found := _converters.get(key)) is None:
        if len(_converters) >= _MOST_CONVERTERS:
            _converters.clear()
        # The definitions are kept with the converter, so that no other object can reuse their ids.
        found = _converters[key] = (tuple(definitions), Converter(definitions))
    return found[1]


def fill(
    definitions: Sequence[AttributeType],
    given: Mapping[str, Any],
    now: Timestamp,
    members: Collection[str] = (),
    set_by_service: Collection[str] = (),
) -> dict[str, Any]:
    """The attributes of a new entity; see `Converter.fill`."""
    return converter(definitions).fill(given, now, members=members, set_by_service=set_by_service)


def merge(
    definitions: Sequence[AttributeType],
    current: Mapping[str, Any],
    attributes: Mapping[str, Any] | None,
    reset: Iterable[str] | None,
    nulls: Iterable[str] | None,
    *,
    always_allowed: Collection[str] = (),
) -> dict[str, Any]:
    """The attributes of an entity after a change; see `Converter.merge`."""
    return converter(definitions).merge(current, attributes, reset, nulls, always_allowed=always_allowed)


def _filling(definition: AttributeType) -> Callable[[Timestamp], Any] | None:
    """The function that makes a missing attribute's value for a new entity; None where it stays absent."""
    default = definition.default
    if definition.dtype == "datetime" and definition.use_current:
        return lambda now: now.replace("Z", "+00:00")
    if default is not None:
        return lambda _: copy(default)
    if definition.required:
        return lambda _: _missing(definition.name)
    return None


def _missing(name: str) -> NoReturn:
    raise BadInput(f"Missing attribute value for '{name}': it is required and has no default.")


def _unknown(name: str, declared: Collection[str]) -> NoReturn:
    rule = f"Invalid attribute '{name}' for the entity type: there is no such attribute."
    raise BadInput(rule + nearest(name, declared))


def _refuse(name: str, rule: str) -> NoReturn:
    raise BadInput(f"Invalid value for attribute '{name}': {rule}.")


# One conversion for each dtype ---------------------------------------------------------------------------------------


def _any_value(name: str, value: Any) -> Any:
    """The value unchanged, if JSON bodies may hold it."""
    items = value if isinstance(value, list) else [value]
    kinds = set(map(type, items))
    if kinds == {str} or (kinds == {bool} and items is not value):
        return value
    if kinds and kinds <= {int, float}:
        if not all(item in _INT64 if type(item) is int else math.isfinite(item) for item in items):
            _refuse(name, "numbers are finite, and integers have at most 64 bits")
        return value
    return _refuse(name, "it must be a boolean, number, string or non-empty array of numbers or strings, not null")


def _string(definition: AttributeType) -> Convert:
    name = definition.name
    return lambda value: value if type(value) is str else _any_value(name, value)


def _bool(definition: AttributeType) -> Convert:
    def conversion(value: Any) -> bool:
        if type(value) is bool:
            return value
        if type(value) is str and (lower := value.lower()) in ("true", "false"):
            return lower == "true"
        return _refuse(definition.name, "it must be true or false")

    return conversion


def _int(definition: AttributeType) -> Convert:
    name = definition.name
    check: Callable[[int], int] | None = _bounds(definition)

    def conversion(value: Any) -> int:
        if type(value) is not int:
            if isinstance(value, bool):
                value = int(value)
            elif isinstance(value, float) and math.isfinite(value):
                value = math.trunc(value)
            elif isinstance(value, str) and _WHOLE.fullmatch(value):
                value = int(value)
            else:
                _refuse(name, "it must be an integer")
        number: int = value
        if number not in _INT64:
            _refuse(name, "integers have at most 64 bits")
        return check(number) if check else number

    return conversion


def _float(definition: AttributeType) -> Convert:
    name = definition.name
    check: Callable[[float], float] | None = _bounds(definition)

    def conversion(value: Any) -> float:
        number = value if type(value) is float and math.isfinite(value) else _number(value)
        if number is None:
            _refuse(name, "it must be a finite number")
        return check(number) if check else number

    return conversion


def _number(value: Any) -> float | None:
    """A number, or a text of one, as a float; None for other values and for infinities and NaN."""
    if not (isinstance(value, int | float) or (isinstance(value, str) and DECIMAL.fullmatch(value))):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _bounds(definition: AttributeType) -> Callable[[N], N] | None:
    """The check of a number against the inclusive bounds of its attribute; None without bounds."""
    low, high = definition.minimum, definition.maximum
    if low is None and high is None:
        return None

    def check(number: N) -> N:
        if low is not None and number < low:
            _refuse(definition.name, f"{number} is below the minimum {_shown(low)}")
        if high is not None and number > high:
            _refuse(definition.name, f"{number} is above the maximum {_shown(high)}")
        return number

    return check


def _shown(bound: float) -> str:
    """A bound with all its digits, and without the fraction of a whole number."""
    return str(int(bound)) if float(bound).is_integer() else str(bound)


def _enum(definition: AttributeType) -> Convert:
    choices = frozenset(definition.choices or ())

    def conversion(value: Any) -> str:
        if type(value) is str and value in choices:
            return value
        return _refuse(definition.name, f"it must be one of its choices {definition.choices or []}")

    return conversion


def _datetime(definition: AttributeType) -> Convert:
    def conversion(value: Any) -> str:
        moment = parse_date(value) if type(value) is str else None
        return moment.isoformat() if moment else _refuse(definition.name, f"it must be {ACCEPTED}")

    return conversion


def _geopos(definition: AttributeType) -> Convert:
    name = definition.name

    def conversion(value: Any) -> list[float]:
        pair = value.split("_")[::-1] if isinstance(value, str) else value
        if not isinstance(pair, list) or len(pair) != 2 or bool in map(type, pair):  # noqa: PLR2004 a pair
            _refuse(name, "it must be [longitude, latitude], or the text latitude_longitude")
        longitude, latitude = map(_number, pair)
        if longitude is None or latitude is None:
            _refuse(name, "longitude and latitude must be numbers")
        if abs(longitude) > _EAST or abs(latitude) > _NORTH:
            _refuse(name, f"longitude {longitude:g} must be within ±{_EAST} and latitude {latitude:g} within ±{_NORTH}")
        return [longitude, latitude]

    return conversion


def _float_array(definition: AttributeType) -> Convert:
    def conversion(value: Any) -> list[float]:
        if type(value) is list and bool not in (kinds := set(map(type, value))) and kinds <= {int, float, str}:
            numbers = [_number(item) for item in value] if kinds != {float} else value
            if None not in numbers and all(map(math.isfinite, numbers)):
                return list(numbers)
        return _refuse(definition.name, "it must be an array of finite numbers")

    return conversion


_CONVERSIONS: dict[str, Callable[[AttributeType], Convert]] = {
    "bool": _bool,
    "int": _int,
    "float": _float,
    "enum": _enum,
    "string": _string,
    "datetime": _datetime,
    "geopos": _geopos,
    "float_array": _float_array,
    "blob": _string,
}
