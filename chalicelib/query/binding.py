"""One comparison, bound: a name and an operator's word become a test of a column or of attributes of known dtypes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from chalicelib.domain.definitions import AnyType
from chalicelib.domain.kinds import Kind
from chalicelib.errors import BadInput
from chalicelib.query.columns import NAMES, SECTION_NAME, Column
from chalicelib.query.operators import BY_WORD, Op, Operator, Shape
from chalicelib.query.tree import (
    AttributeTest,
    Case,
    Compare,
    Nothing,
    SortKey,
    Test,
    Tree,
    negated,
)
from chalicelib.query.values import fold, shown, wanted

MOST_LISTED = 10_000
FARTHEST_LATITUDE, FARTHEST_LONGITUDE = 90.0, 180.0


def compare(kind: Kind, types: Iterable[AnyType], compared: Compare) -> Tree:
    """A comparison of things of a kind, its name looked up among built-ins and the attributes of some types.

    Where types have different dtypes under one name, each is compared as its own dtype; a type whose dtype cannot be
    compared like that has no matches, unless none can.

    Raises:
        BadInput: nothing has that name, its dtype has not that operator, or the value is not of its dtype.
    """
    operator = BY_WORD[compared.word]
    if column := NAMES[kind].get(compared.name):
        return _turned(operator, compared, _column_test(column, operator, compared))
    given = tuple(types)
    cases, refused = _cases(given, operator, compared)
    if cases:
        return _turned(operator, compared, AttributeTest(compared.name, cases))
    if refused:
        raise refused
    if not given or operator.word == "attribute_null":
        return _turned(operator, compared, Nothing())
    raise unknown(kind, compared.name, compared.word)


def unknown(kind: Kind, name: str, place: str) -> BadInput:
    """The error for a name that nothing has."""
    what = "built-in field" if name.startswith("$") else "attribute"
    return BadInput(f"{place}: no {kind} has the {what} {shown(name)}.")


def sort_key(kind: Kind, types: Iterable[AnyType], name: str, *, descending: bool) -> SortKey | None:
    """A sort key by its name; None for an attribute that no type has, which sorts nothing.

    Raises:
        BadInput: there is no such built-in field.
    """
    if name == SECTION_NAME and kind.is_annotation:
        return SortKey(descending, "section")
    if column := NAMES[kind].get(name):
        return SortKey(descending, column.name)
    found = [(each, attribute) for each in types if (attribute := each.attribute(name))]
    if not found and name.startswith("$"):
        raise unknown(kind, name, "sort_by")
    cases = _grouped((each.id, attribute.dtype, Op.PRESENT, None) for each, attribute in found)
    return SortKey(descending, attribute=name, cases=cases) if cases else None


def _turned(operator: Operator, compared: Compare, test: Tree) -> Tree:
    """The test itself; of a filter for nulls, its opposite where nulls are wanted."""
    if operator.shape != "flag":
        return test
    return negated(test) if wanted("bool", compared.value, compared.word) else test


def _column_test(column: Column, operator: Operator, compared: Compare) -> Test:
    if column.dtype not in operator.dtypes:
        raise _refusal(compared, column.dtype)
    return Test(column.name, operator.op, _value(operator, column.dtype, compared))


def _cases(types: Iterable[AnyType], operator: Operator, compared: Compare) -> tuple[tuple[Case, ...], BadInput | None]:
    found: list[tuple[int, str, Op, Any]] = []
    refused: BadInput | None = None
    for each in types:
        attribute = each.attribute(compared.name)
        if attribute is None:
            continue
        if attribute.dtype not in operator.dtypes:
            refused = refused or _refusal(compared, attribute.dtype)
            continue
        try:
            found.append((each.id, attribute.dtype, operator.op, _value(operator, attribute.dtype, compared)))
        except BadInput as error:
            refused = refused or error
    return _grouped(found), refused


def _grouped(found: Iterable[tuple[int, str, Op, Any]]) -> tuple[Case, ...]:
    groups: dict[tuple[str, Op, str], tuple[list[int], Any]] = {}
    for number, dtype, op, value in found:
        groups.setdefault((dtype, op, repr(value)), ([], value))[0].append(number)
    return tuple(Case(tuple(numbers), dtype, op, value) for (dtype, op, _), (numbers, value) in groups.items())


def _refusal(compared: Compare, dtype: str) -> BadInput:
    return BadInput(f"{compared.word}: {shown(compared.name)} is of type {dtype}, which cannot be compared like that.")


def _value(operator: Operator, dtype: str, compared: Compare) -> Any:
    place = f"{compared.word} of {shown(compared.name)}"
    return _SHAPES[operator.shape](dtype, compared.value, place)


def _listed(dtype: str, value: Any, place: str) -> tuple[Any, ...]:
    if not isinstance(value, list) or len(value) > MOST_LISTED:
        raise BadInput(f"{place} takes an array of at most {MOST_LISTED} values.")
    return tuple(dict.fromkeys(wanted(dtype, each, place) for each in value))


_PAIR, _CIRCLE = 2, 3


def _pair(dtype: str, value: Any, place: str) -> tuple[Any, Any]:
    if not isinstance(value, list) or len(value) != _PAIR:
        raise BadInput(f"{place} takes an array of two values, from and to.")
    return wanted(dtype, value[0], place), wanted(dtype, value[1], place)


def _circle(_: str, value: Any, place: str) -> tuple[float, float, float]:
    if not isinstance(value, list) or len(value) != _CIRCLE:
        raise BadInput(f"{place} takes kilometres, latitude and longitude.")
    km, latitude, longitude = (wanted("float", each, place) for each in value)
    if km < 0 or abs(latitude) > FARTHEST_LATITUDE or abs(longitude) > FARTHEST_LONGITUDE:
        raise BadInput(f"{place}: kilometres from 0, latitude within ±90 and longitude within ±180 are needed.")
    return km, latitude, longitude


_SHAPES: dict[Shape, Callable[[str, Any, str], Any]] = {
    "value": wanted,
    "list": _listed,
    "pair": _pair,
    "text": lambda _, value, place: fold(wanted("string", value, place)),
    "flag": lambda _, value, place: wanted("bool", value, place) and None,
    "circle": _circle,
}
