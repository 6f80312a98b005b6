"""DynamoDB's expressions, parsed once by moto's own parsers and kept for the next call with the same text.

moto parses every expression of every call anew, twice. A compiled expression takes its values at the time of use. What
these compilers do not know they refuse with `Unusual`: the call then goes to moto, which does it or says what is wrong.
"""

# ruff: noqa: BLE001 -- whatever moto's parsers raise they raise again when moto takes the call
from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from moto.dynamodb.comparisons import AttributeValue, ConditionExpressionParser, Operand
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.parsing import ast_nodes as ast
from moto.dynamodb.parsing.expressions import UpdateExpressionParser
from moto.dynamodb.parsing.key_condition_expression import parse_expression
from moto.dynamodb.parsing.reserved_keywords import ReservedKeywords

from infra.emulator.dynamodb.keys import Key, key_of
from infra.emulator.dynamodb.rows import Native

Names = tuple[tuple[str, str], ...]
"""ExpressionAttributeNames, hashable."""
Values = Mapping[str, dict[str, Any]]
"""ExpressionAttributeValues."""
_ABSENT = re.compile(r"attribute_not_exists ?\((#\w+)\)", re.ASCII)
_SAME = re.compile(r"(#\w+) = (:\w+)", re.ASCII)
"""The two conditions of nearly all writes, which moto takes 50 µs to apply."""
PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class Unusual(Exception):
    """This call is one the direct way does not know; nothing has been changed yet."""


class Row:
    """An item as the conditions of moto see it: `attrs` with values that are built when looked at."""

    __slots__ = ("attrs", "values")

    def __init__(self, native: Native, values: Values) -> None:
        self.attrs = _Attributes(native)
        self.values = values


class _Attributes:
    __slots__ = ("native",)

    def __init__(self, native: Native) -> None:
        self.native = native

    def __contains__(self, name: str) -> bool:
        return name in self.native

    def __getitem__(self, name: str) -> DynamoType:
        return DynamoType(self.native[name])


class _Placeholder(Operand):  # type: ignore[misc]
    """A `:value` of a condition, looked up when the condition is applied."""

    def __init__(self, name: str) -> None:
        self.name = name

    def expr(self, item: Row) -> Any:
        return AttributeValue(item.values[self.name]).expr(item)

    def get_type(self, item: Row | None) -> str | None:
        return None if item is None else next(iter(item.values[self.name]))


class _Parser(ConditionExpressionParser):  # type: ignore[misc]
    def _lookup_expression_attribute_value(self, name: str) -> Any:
        return name

    def _make_operand(self, node: Any) -> Any:
        if node.kind == self.Kind.EXPRESSION_ATTRIBUTE_VALUE:
            return _Placeholder(node.text)
        return super()._make_operand(node)


class Condition:
    """A compiled condition or filter expression."""

    def __init__(self, text: str, names: Names) -> None:
        parser = _Parser(text, dict(names), {})
        self._tree = parser.parse()
        self.names_used = frozenset(parser.expr_attr_names_found)
        self.values_used = frozenset(parser.expr_attr_values_found)
        self._between = "between" in text.lower()
        known = dict(names)
        absent, same = _ABSENT.fullmatch(text), _SAME.fullmatch(text)
        self._absent = known.get(absent[1]) if absent else None
        self._same = (known.get(same[1]), same[2]) if same else (None, "")
        self._value_in = _reader_of(self._absent or self._same[0])

    def certainly_holds(self, row: bytes | None, values: Values) -> bool:
        """Whether a packed row (None: there is none) meets the condition, where its one attribute shows that."""
        if self._value_in is None:
            return False
        value = None if row is None else self._value_in(row).value
        if self._absent is not None:
            return value is None
        return value is not None and value == values.get(self._same[1])

    def holds(self, item: Native | None, values: Values) -> bool:
        """Whether an item (None: there is none) meets the condition."""
        if not self.values_used <= values.keys():
            raise Unusual
        if self._absent is not None:
            return item is None or self._absent not in item
        name, placeholder = self._same
        if name is not None and item is not None and item.get(name) == values[placeholder]:
            return True  # values that are written differently, as 1 and 1.0, are left to moto
        if self._between and any("NULL" in value for value in values.values()):
            raise Unusual
        return bool(self._tree.expr(Row(item or {}, values)))


def _reader_of(name: str | None) -> Callable[[bytes], Any] | None:
    """A decoder of packed rows that makes one attribute only, as `value`; None where a row has it not."""
    if name is None:
        return None
    row = msgspec.defstruct("Row", [("value", dict[str, Any] | None, None)], rename={"value": name})
    return msgspec.msgpack.Decoder(row).decode


@lru_cache(maxsize=4096)
def condition(text: str, names: Names) -> Condition | None:
    """Compile a condition; None where it is invalid, which moto reports."""
    try:
        return Condition(text, names)
    except Exception:
        return None


@lru_cache(maxsize=4096)
def projection(text: str, names: Names) -> tuple[tuple[str, ...], frozenset[str]] | None:
    """A projection on whole attributes: their names and the placeholders used. None for anything else."""
    known, used, found = dict(names), set(), []
    for part in (piece.strip() for piece in text.split(",")):
        if part in known:
            used.add(part)
            found.append(known[part])
        elif PLAIN_NAME.fullmatch(part) and part.upper() not in ReservedKeywords.get_reserved_keywords():
            found.append(part)
        else:
            return None
    return (tuple(found), frozenset(used)) if len(set(found)) == len(found) else None


# ------------------------------------------------------------------------------------------------- key conditions


class KeyCondition(NamedTuple):
    """A compiled key condition: placeholders instead of values."""

    partition: str
    operator: str
    """One of = < <= > >= BEGINS_WITH BETWEEN, or empty for a whole partition."""
    bounds: tuple[str, ...]
    names_used: frozenset[str]
    values_used: frozenset[str]


class _AnyValue(dict[str, dict[str, str]]):
    """Stands for the values while a key condition is parsed: each is its own name."""

    def get(self, name: str, default: Any = None) -> Any:
        return {"?": name} if name.startswith(":") else default

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.startswith(":")

    def __getitem__(self, name: str) -> dict[str, str]:
        return {"?": name}


@lru_cache(maxsize=4096)
def key_condition(text: str, names: Names, hash_name: str, range_name: str | None) -> KeyCondition | None:
    """Compile a key condition on the table's own key; None where moto has to decide."""
    schema = [{"AttributeName": hash_name, "KeyType": "HASH"}]
    if range_name is not None:
        schema.append({"AttributeName": range_name, "KeyType": "RANGE"})
    try:
        hashes, ranges, used = parse_expression(
            key_condition_expression=text,
            expression_attribute_values=_AnyValue(),
            expression_attribute_names=dict(names),
            schema=schema,
        )
        partition = hashes[0][1]["?"]
        operator, bounds = (ranges[-1][1], tuple(each["?"] for each in ranges[-1][2])) if ranges else ("", ())
    except Exception:
        return None
    if operator not in _ARITY or len(bounds) != _ARITY[operator]:
        return None
    return KeyCondition(partition, operator, bounds, frozenset(used), frozenset((partition, *bounds)))


_ARITY = {"": 0, "=": 1, "<": 1, "<=": 1, ">": 1, ">=": 1, "BEGINS_WITH": 1, "BETWEEN": 2}


def key_value(value: dict[str, Any], kind: str) -> Key:
    """A key attribute's value in native form, if it is of the type the table asks for and not empty."""
    inner = value.get(kind)
    if len(value) != 1 or not inner or type(inner) is not (bytes if kind == "B" else str):
        raise Unusual
    return key_of(kind, inner)


# ---------------------------------------------------------------------------------------------- update expressions

Read = Callable[[Native, Values], dict[str, Any]]


class Update:
    """A compiled update expression: SET, REMOVE and ADD (of numbers) on whole attributes."""

    def __init__(self, text: str, names: Names) -> None:
        tree = UpdateExpressionParser.make(text.strip())
        self._names = dict(names)
        self.names_used = frozenset(
            each.get_attribute_name_placeholder() for each in tree.find_clauses([ast.ExpressionAttributeName])
        )
        self.values_used = frozenset(
            each.get_value_name() for each in tree.find_clauses([ast.ExpressionAttributeValue])
        )
        for kind in (ast.UpdateExpressionSetClause, ast.UpdateExpressionAddClause, ast.UpdateExpressionRemoveClause):
            if len(tree.find_clauses([kind])) > 1:
                raise Unusual
        self._removed: list[str] = []
        self._set: list[tuple[str, Read]] = []
        actions = [ast.UpdateExpressionSetAction, ast.UpdateExpressionAddAction, ast.UpdateExpressionRemoveAction]
        if tree.find_clauses([ast.UpdateExpressionDeleteAction]):
            raise Unusual
        for action in tree.find_clauses(actions):
            name = self._attribute(action.children[0])
            if isinstance(action, ast.UpdateExpressionSetAction):
                self._set.append((name, self._operand(action.children[1])))
            elif isinstance(action, ast.UpdateExpressionAddAction):
                self._set.append((name, _increase(name, self._operand(action.children[1]))))
            else:
                self._removed.append(name)
        self.touched = frozenset([*self._removed, *(name for name, _ in self._set)])
        if len(self.touched) < len(self._removed) + len(self._set):
            raise Unusual

    def apply(self, item: Native, values: Values) -> Native:
        """The item after the update. Every operand is read from the item as it was."""
        after = dict(item)
        for name, read in self._set:
            after[name] = read(item, values)
        for name in self._removed:
            after.pop(name, None)
        return after

    def _attribute(self, path: Any) -> str:
        if len(path.children) != 1:
            raise Unusual
        (node,) = path.children
        if isinstance(node, ast.ExpressionAttributeName):
            return self._names[node.get_attribute_name_placeholder()]
        if not isinstance(node, ast.ExpressionAttribute):
            raise Unusual
        name: str = node.get_attribute_name()
        if name.upper() in ReservedKeywords.get_reserved_keywords():
            raise Unusual
        return name

    def _operand(self, node: Any) -> Read:
        if isinstance(node, ast.UpdateExpressionValue | ast.UpdateExpressionGroupedValue):
            if len(node.children) == 1:
                return self._operand(node.children[0])
            left, operator, right = node.children
            return _arithmetic(operator.get_operator(), self._operand(left), self._operand(right))
        if isinstance(node, ast.ExpressionAttributeValue):
            placeholder: str = node.get_value_name()
            return lambda _, values: values[placeholder]
        if isinstance(node, ast.UpdateExpressionPath):
            name = self._attribute(node)
            return lambda item, _: item[name]
        if isinstance(node, ast.UpdateExpressionFunction) and node.get_function_name() == "if_not_exists":
            held, other = self._attribute(node.get_nth_argument(1)), self._operand(node.get_nth_argument(2))
            return lambda item, values: item[held] if held in item else other(item, values)
        raise Unusual


def _arithmetic(operator: str, left: Read, right: Read) -> Read:
    sign = {"+": 1, "-": -1}[operator]
    return lambda item, values: _total(left(item, values)["N"], right(item, values)["N"], sign)


def _increase(name: str, amount: Read) -> Read:
    return lambda item, values: _total(item.get(name, {"N": "0"})["N"], amount(item, values)["N"], 1)


def _total(first: str, second: str, sign: int) -> dict[str, str]:
    """The sum as moto writes it: whole numbers stay whole."""
    left, right = (Decimal(each) if "." in each else int(each) for each in (first, second))
    return {"N": f"{left + sign * right}"}


@lru_cache(maxsize=4096)
def update(text: str, names: Names) -> Update | None:
    """Compile an update expression; None for what only moto knows (nested paths, sets, list_append) or refuses."""
    try:
        return Update(text, names)
    except Exception:
        return None
