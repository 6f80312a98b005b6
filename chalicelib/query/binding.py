"""Bind one comparison: resolve its name and operator to a test of a column or of attributes with known dtypes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import AnyType
from chalicelib.core.text.dates import last_instant
from chalicelib.core.text.names import similar
from chalicelib.core.values.revisions import Removed
from chalicelib.errors import BadInput
from chalicelib.query import polygons
from chalicelib.query.columns import NAMES, SECTION_NAME, SECTION_TAG, TAG_ALIAS, UNDERSCORED, Column
from chalicelib.query.operators import BY_WORD, FILTERS, OPERATIONS, SEARCHES, Op, Operator, Shape
from chalicelib.query.tree import AttributeTest, Case, Compare, Nothing, SortKey, Test, Tree, either, negated
from chalicelib.query.values import APART, TEXT, fold, shown, wanted

MOST_LISTED = 10_000
MOST_CHOICES = 20
"""The choices of an enum that a message names."""
FARTHEST_LATITUDE, FARTHEST_LONGITUDE = 90.0, 180.0


def compare(
    kind: Kind, types: Iterable[AnyType], compared: Compare, *, lenient: bool = False, saved: bool = False
) -> Tree:
    """A comparison for a kind; its name is looked up among built-in fields and the attributes of some types.

    Where types have different dtypes under one name, each is compared as its own dtype; a type whose dtype cannot be
    compared like that has no matches, unless none can. A name that nothing has matches nothing where `lenient`; where
    `saved`, neither does a comparison that no dtype takes any more.

    Raises:
        BadInput: the name is unknown, its dtype lacks the operator, or the value is not of its dtype.
    """
    operator, types = BY_WORD[compared.word], tuple(types)
    if column := _column(kind, types, operator, compared.name):
        return _turned(operator, compared, _column_test(column, operator, compared))
    cases, refused = _cases(types, operator, compared)
    if cases:
        if not (lenient or saved):
            _check_choice(types, compared)
        return _turned(operator, compared, AttributeTest(compared.name, cases))
    if refused and not saved:
        raise refused
    if lenient or saved or operator.word in _LENIENT:
        return _turned(operator, compared, Nothing())
    more = UNDERSCORED[kind] if operator in SEARCHES else ()
    raise unknown(kind, compared.name, place_of(compared), types, more)


def _check_choice(types: Iterable[AnyType], compared: Compare) -> None:
    """Refuse a filter `attribute=` for a value that is no choice of any enum of the name: a misspelt one finds nothing.

    Values that an earlier definition left behind are found by `attribute_contains` and by searches.
    """
    if compared.word != "attribute":
        return
    found = [attribute for each in types if (attribute := each.attribute(compared.name))]
    choices = dict.fromkeys(choice for attribute in found for choice in attribute.choices or ())
    if choices and compared.value not in choices and all(attribute.dtype == "enum" for attribute in found):
        named = ", ".join(map(shown, list(choices)[:MOST_CHOICES]))
        more = f" and {len(choices) - MOST_CHOICES} others" if len(choices) > MOST_CHOICES else ""
        rule = f"{shown(compared.value)} is not a choice; the choices are {named}{more}."
        raise BadInput(f"attribute of {shown(compared.name)}: {rule}{similar(str(compared.value), choices)}")


def place_of(compared: Compare) -> str:
    """Where a comparison was written, for messages: the parameter, or the language."""
    operator = BY_WORD[compared.word]
    return "search string" if operator in SEARCHES else "object search" if operator in OPERATIONS else compared.word


_LENIENT = frozenset({"attribute_null", "exists"})
"""The operators accepted for an unknown name: it counts as absent everywhere."""


def any_text(kind: Kind, types: Iterable[AnyType], word: str, value: Any) -> Tree:
    """A filter of a search string on every text attribute of some types and on the name."""
    names = {each.name: None for type_ in types for each in type_.attribute_types if each.dtype in TEXT}
    given = tuple(types)
    named = [Compare("$name", word, value)] if "$name" in NAMES[kind] else []
    return either(*(compare(kind, given, each) for each in (*named, *(Compare(name, word, value) for name in names))))


def _column(kind: Kind, types: Iterable[AnyType], operator: Operator, name: str) -> Column | None:
    if operator in SEARCHES and (column := UNDERSCORED[kind].get(name)):
        return column
    return NAMES[kind].get(name) or _older(kind, types, name)


def _older(kind: Kind, types: Iterable[AnyType], name: str) -> Column | None:
    """The built-in field of an older name, such as `_x` for `$x`, unless an attribute of the types has that name."""
    if not name.startswith("_") or any(each.attribute(name) for each in types):
        return None
    return UNDERSCORED[kind].get(name) or NAMES[kind].get(f"${name[1:]}")


def unknown(kind: Kind, name: str, place: str, types: Iterable[AnyType] = (), more: Iterable[str] = ()) -> BadInput:
    """The error for an unknown name, with the nearest of the built-in fields or of the types' attributes."""
    is_built_in = name.startswith("$")
    declared = (
        NAMES[kind] if is_built_in else {*(each.name for type_ in types for each in type_.attribute_types), *more}
    )
    what = "built-in field" if is_built_in else "attribute"
    return BadInput(f"{place}: no {kind} has the {what} {shown(name)}.{similar(name, declared)}")


def sort_key(
    kind: Kind, types: Iterable[AnyType], name: str, *, descending: bool, lenient: bool = False
) -> SortKey | None:
    """The sort key of a name; None for a deleted attribute, which is ignored.

    Raises:
        BadInput: there is no such built-in field or attribute, or it is an attribute of vectors.
    """
    types = tuple(types)
    if name in (SECTION_NAME, "_section") and kind.is_annotation:
        return SortKey(descending, "section")
    if column := NAMES[kind].get(name) or _older(kind, types, name):
        return SortKey(descending, column.name)
    found = [(each, attribute) for each in types if (attribute := each.attribute(name))]
    if not found and not (lenient or any(Removed(name) in each.revisions for each in types)):
        raise unknown(kind, name, "sort_by", types)
    sortable = [(each, attribute) for each, attribute in found if attribute.dtype != "float_array"]
    if found and not sortable:
        raise BadInput(f"sort_by: {shown(name)} holds vectors, which have no order; float_array orders by distance.")
    cases = grouped((each.id, attribute.dtype, Op.PRESENT, None) for each, attribute in sortable)
    return SortKey(descending, attribute=name, cases=cases) if cases else None


def _turned(operator: Operator, compared: Compare, test: Tree) -> Tree:
    """The test itself; of a filter for nulls, its opposite where nulls are wanted."""
    if operator.shape != "flag":
        return test
    return negated(test) if _flag(compared.value, compared.word) else test


def _flag(value: Any, place: str) -> bool:
    """Whether nulls are wanted. Any other value is refused: a misspelled flag would return the opposite."""
    flag = value if isinstance(value, bool) else {"true": True, "false": False}.get(str(value).lower())
    if flag is None:
        raise BadInput(f"{place}: {shown(value)} is not true or false.")
    return flag


def _column_test(column: Column, operator: Operator, compared: Compare) -> Test:
    if column.dtype not in operator.dtypes:
        raise _refusal(compared, column.dtype)
    return Test(column.name, *_asked(operator, column.dtype, compared))


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
            found.append((each.id, attribute.dtype, *_asked(operator, attribute.dtype, compared)))
        except BadInput as error:
            refused = refused or error
    return grouped(found), refused


def grouped(found: Iterable[tuple[int, str, Op, Any]]) -> tuple[Case, ...]:
    """The cases of an attribute, from types with their dtype, operation and value: one for all types that agree."""
    groups: dict[tuple[str, Op, str], tuple[list[int], Any]] = {}
    for number, dtype, op, value in found:
        groups.setdefault((dtype, op, repr(value)), ([], value))[0].append(number)
    return tuple(Case(tuple(numbers), dtype, op, value) for (dtype, op, _), (numbers, value) in groups.items())


def _refusal(compared: Compare, dtype: str) -> BadInput:
    family = OPERATIONS if BY_WORD[compared.word] in OPERATIONS else FILTERS
    taken = ", ".join(each.word for each in family if dtype in each.dtypes)
    rule = f"{shown(compared.name)} is of type {dtype}, which cannot be compared like that; it takes {taken}."
    return BadInput(f"{place_of(compared)}: {rule}")


def _asked(operator: Operator, dtype: str, compared: Compare) -> tuple[Op, Any]:
    """The operation of an operator on a dtype, and the converted value that it compares with."""
    place = f"{place_of(compared) if operator in SEARCHES else compared.word} of {shown(compared.name)}"
    if operator.shape == "term":
        return _term(dtype, compared.value, place)
    if operator.shape == "phrase":
        return _phrase(dtype, compared, place)
    if operator.shape == "bound" and dtype == "datetime":
        return _dated(operator.op, compared.value, place)
    return operator.op, _SHAPES[operator.shape](dtype, compared.value, place)


def _term(dtype: str, value: Any, place: str) -> tuple[Op, Any]:
    """A term of a search string: a text as a whole, whatever its case; all instants that a date names."""
    if dtype in TEXT:
        return Op.SAME, wanted(dtype, value, place)
    if dtype == "datetime":
        return Op.BETWEEN, _instants(value, place)
    return Op.EQ, wanted(dtype, value, place)


_WHOLE_NAMES = frozenset({SECTION_TAG, TAG_ALIAS})


def _phrase(dtype: str, compared: Compare, place: str) -> tuple[Op, Any]:
    """A phrase of a search string: in an attribute's text or a file name, its words in order; else a term."""
    is_whole = compared.name in _WHOLE_NAMES or compared.name.startswith(("_", "$"))
    if dtype not in TEXT or is_whole or not compared.value:
        return _term(dtype, compared.value, place)
    words = re.escape(fold(wanted(dtype, compared.value, place)))
    return Op.MATCHES, f"(?:.*{APART})?{words}(?:{APART}.*)?"


def _instants(value: Any, place: str) -> tuple[datetime, datetime]:
    """The first and last instant that a date names: the bounds of a year, month, week or day, or one time twice."""
    first: datetime = wanted("datetime", value, place)
    return first, last_instant(value, first)


def _dated(op: Op, value: Any, place: str) -> tuple[Op, datetime]:
    """A bound that is a date: `>=` starts at its first instant, `>` after its last, and so on."""
    first, last = _instants(value, place)
    return op, last if op in (Op.GT, Op.LTE) else first


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


def _polygon(_: str, value: Any, place: str) -> tuple[tuple[float, float], ...]:
    if not isinstance(value, list) or not polygons.FEWEST <= len(value) <= polygons.MOST:
        raise BadInput(
            f"{place} takes an array of {polygons.FEWEST} to {polygons.MOST} vertices [longitude, latitude]."
        )
    found = []
    for each in value:
        if not isinstance(each, list) or len(each) != _PAIR:
            raise BadInput(f"{place}: each vertex is an array of longitude and latitude.")
        longitude, latitude = (wanted("float", part, place) for part in each)
        if abs(longitude) > 2 * FARTHEST_LONGITUDE or abs(latitude) > FARTHEST_LATITUDE:
            raise BadInput(f"{place}: longitudes within ±360 (beyond 180 across that meridian), latitudes within ±90.")
        found.append((longitude, latitude))
    return tuple(found)


_SHAPES: dict[Shape, Callable[[str, Any, str], Any]] = {
    "value": wanted,
    "list": _listed,
    "pair": _pair,
    "text": lambda _, value, place: fold(wanted("string", value, place)),
    "flag": lambda _, value, place: _flag(value, place) and None,
    "circle": _circle,
    "polygon": _polygon,
    "bound": wanted,
    "pattern": lambda _, value, __: value,
    "edits": lambda _, value, __: tuple(value),
}
