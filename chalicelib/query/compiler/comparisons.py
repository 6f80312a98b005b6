"""Comparisons of a column with a value as SQL, by operator; the text of each has only placeholders for values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from chalicelib.query import geodesy, polygons
from chalicelib.query.operators import Op
from chalicelib.query.values import fold, in_any_case

Bind = Callable[[Any], str]
"""Adds a parameter to the statement; returns its placeholder."""
Comparison = Callable[[Bind, str, str, Any], str]
"""From the column, its data type and the value to the condition; not true where the column is NULL."""
MOST_INLINE = 40
"""Lists longer than this are passed as one JSON parameter: thousands of parameters take longer to bind and plan."""
_JSON_LIST = {"int": "'[\"BIGINT\"]'", "ints": "'[\"BIGINT\"]'", "float": "'[\"DOUBLE\"]'", "string": "'[\"VARCHAR\"]'"}
_encode = msgspec.json.Encoder().encode
_ESCAPE = "\\"


def _infix(sign: str) -> Comparison:
    return lambda bind, column, _, value: f"{column} {sign} {bind(value)}"


def _folded(before: str, after: str) -> Comparison:
    """A comparison with a text in any case.

    `lower(column)` would hold 2,048 texts in memory for each comparison of a statement, which DuckDB's limit does not
    cover: gigabytes for long texts. ILIKE folds one text at a time by the same rule, in half the time.
    """

    def compare(bind: Bind, column: str, _: str, value: str) -> str:
        text = fold(value)
        if "%" not in text and "_" not in text:
            return f"{column} ILIKE {bind(before + text + after)}"
        for sign in _ESCAPE, "%", "_":
            text = text.replace(sign, _ESCAPE + sign)
        return f"{column} ILIKE {bind(before + text + after)} ESCAPE '{_ESCAPE}'"

    return compare


def _matches(bind: Bind, column: str, _: str, value: str) -> str:
    return f"regexp_full_match({column}, {bind(in_any_case(value))}, 's')"


def _equals(bind: Bind, column: str, dtype: str, value: Any) -> str:
    if dtype == "bool":
        return column if value else f"NOT {column}"
    return f"{column} = {bind(value)}"


def is_in(bind: Bind, column: str, dtype: str, value: tuple[Any, ...]) -> str:
    """The condition that a column has one of some values."""
    if not value:
        return "false"
    if len(value) > MOST_INLINE and (json_list := _JSON_LIST.get("string" if dtype in ("enum", "blob") else dtype)):
        listed = bind(_encode(list(value)).decode())
        return f"{column} IN (SELECT unnest(from_json({listed}, {json_list})))"
    return f"{column} IN ({', '.join(map(bind, value))})"


def _between(bind: Bind, column: str, _: str, value: tuple[Any, Any]) -> str:
    return f"{column} BETWEEN {bind(value[0])} AND {bind(value[1])}"


def _under(bind: Bind, column: str, _: str, value: str) -> str:
    return f"({column} = {bind(value)} OR starts_with({column}, {bind(value + '.')}))"


def _resembles(bind: Bind, column: str, _: str, value: tuple[str, int]) -> str:
    # Each edit of a byte changes the number of characters by one at most: other texts are not folded and compared.
    text, edits = value
    near = f"length({column}) BETWEEN {bind(len(text) - edits)} AND {bind(len(text) + edits)}"
    return f"CASE WHEN {near} THEN levenshtein(lower({column}), {bind(text)}) <= {bind(edits)} ELSE false END"


def _overlaps(bind: Bind, column: str, _: str, value: tuple[int, ...]) -> str:
    if len(value) == 1:
        return f"list_contains({column}, {bind(value[0])})"
    listed = bind(_encode(list(value)).decode())
    return f"list_has_any({column}, from_json({listed}, '[\"BIGINT\"]'))"


def _within(bind: Bind, column: str, _: str, value: tuple[float, float, float]) -> str:
    km, latitude, longitude = value
    return geodesy.within_sql(column, (longitude, latitude), km, bind)


def _inside(bind: Bind, column: str, _: str, value: tuple[tuple[float, float], ...]) -> str:
    return polygons.contains_sql(column, value, bind)


COMPARISONS: dict[Op, Comparison] = {
    Op.EQ: _equals,
    Op.LT: _infix("<"),
    Op.LTE: _infix("<="),
    Op.GT: _infix(">"),
    Op.GTE: _infix(">="),
    Op.IN: is_in,
    Op.BETWEEN: _between,
    Op.CONTAINS: _folded("%", "%"),
    Op.STARTS: _folded("", "%"),
    Op.ENDS: _folded("%", ""),
    Op.SAME: _folded("", ""),
    Op.MATCHES: _matches,
    Op.RESEMBLES: _resembles,
    Op.UNDER: _under,
    Op.OVERLAPS: _overlaps,
    Op.WITHIN: _within,
    Op.INSIDE: _inside,
    Op.PRESENT: lambda _, column, __, ___: f"{column} IS NOT NULL",
}
"""By operation: the condition on a column; not true where the column is NULL."""
