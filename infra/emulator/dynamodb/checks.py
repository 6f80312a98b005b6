"""What the direct DynamoDB calls accept: each check passes what is certainly valid and leaves the rest to moto."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from typing import Any

import msgspec
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.table import Table

from infra.emulator.dynamodb import expressions, metering
from infra.emulator.dynamodb.expressions import Condition, Names, Unusual, Values, key_value
from infra.emulator.dynamodb.keys import Key
from infra.emulator.dynamodb.rows import Native, Rows
from infra.emulator.sqlite.database import unpack

Params = dict[str, Any]
Answer = dict[str, Any]

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?")
NUMBER_DIGITS = 38
_SHORT = 16
"""Digits below which a number needs no further check."""
LEAST_EXPONENT, LARGEST_EXPONENT = -130, 125
BOOLEANS = frozenset(("BOOL", "NULL"))
SURE_SIZE = 390_000
"""Items above this many bytes are left to moto, which knows the limit (400 KB) to the byte."""
HASH_SIZE, RANGE_SIZE = 2048, 1024
NO_VALUES: Values = {}
WRITE = (
    "ConditionExpression",
    "ExpressionAttributeNames",
    "ExpressionAttributeValues",
    "ReturnValuesOnConditionCheckFailure",
)
"""The parameters of every conditional write."""


class Refused(Exception):
    """An error of DynamoDB: its code, its message and further members of the answer."""

    def __init__(self, code: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.code, self.message, self.more = code, message, more


class Asked(msgspec.Struct, frozen=True):
    """The expressions common to the calls that write one item."""

    condition: Condition | None
    values: Values
    return_old: bool


def measured(value: Any) -> int:  # noqa: C901 -- a case for each type
    """The size of an attribute value that is certainly valid, in DynamoDB's bytes."""
    if type(value) is not dict or len(value) != 1:
        raise Unusual
    ((kind, inner),) = value.items()
    if kind == "S":
        if type(inner) is not str:
            raise Unusual
        return len(inner) if inner.isascii() else len(inner.encode())
    if kind == "N":
        return _measured_number(inner)
    if kind in BOOLEANS:
        if inner is True or (inner is False and kind == "BOOL"):
            return 1
    elif kind == "M":
        if type(inner) is dict:
            return 3 + sum(1 + metering.text_size(_text(name)) + measured(each) for name, each in inner.items())
    elif kind == "L":
        if type(inner) is list:
            return 3 + sum(1 + measured(each) for each in inner)
    elif kind == "B" and type(inner) is bytes:
        return len(inner)
    raise Unusual


def _is_short_number(text: Any) -> bool:
    """Whether a value is a whole number of few digits, as most are."""
    return type(text) is str and len(text) < _SHORT and text.isdigit() and text.isascii()


def _measured_number(text: Any) -> int:
    if type(text) is str and text.isascii() and text.isdigit() and len(text) <= NUMBER_DIGITS:
        return metering.number_size(text)
    if type(text) is not str or not NUMBER.fullmatch(text):
        raise Unusual
    if len(text) > NUMBER_DIGITS or "e" in text or "E" in text:
        digits = text.lower().partition("e")[0].lstrip("-").replace(".", "").strip("0")
        if len(digits) > NUMBER_DIGITS:
            raise Refused("ValidationException", "Attempting to store more than 38 significant digits in a Number")
        exact = Decimal(text)
        if exact and not LEAST_EXPONENT <= exact.adjusted() <= LARGEST_EXPONENT:
            raise Unusual
    return metering.number_size(text)


def _text(name: Any) -> str:
    if type(name) is not str:
        raise Unusual
    return name


def measured_item(item: Any) -> int:
    """The size of an item that is certainly valid."""
    if type(item) is not dict:
        raise Unusual
    size = 0
    for name, value in item.items():
        if type(name) is not str:
            raise Unusual
        size += len(name) if name.isascii() else len(name.encode())
        if type(value) is dict and len(value) == 1:  # the values of nearly all rows, without a call for each
            ((kind, inner),) = value.items()
            if kind == "B" and type(inner) is bytes:
                size += len(inner)
                continue
            if kind == "S" and type(inner) is str and inner.isascii():
                size += len(inner)
                continue
            if kind == "N" and type(inner) is str and len(inner) < _SHORT and inner.isascii() and inner.isdigit():
                size += metering.number_size(inner)
                continue
        size += measured(value)
    if size > SURE_SIZE:
        raise Unusual
    return size


def rows_of(backend: DynamoDBBackend, name: Any) -> Rows:
    """The rows of an ordinary table: no secondary index, no stream."""
    table: Table = backend.tables.get(name)
    if table is None or table.global_indexes or table.indexes or table.stream_shard is not None:
        raise Unusual
    rows = table.items
    if type(rows) is not Rows:
        raise Unusual
    return rows


def key_in(rows: Rows, item: Native) -> tuple[Key, Key]:
    """The key of an item, checked against the table's."""
    value = item[rows.hash_name]
    if rows.range_name is None and rows.hash_type == "S" and len(value) == 1:  # as entities, which are most
        text = value.get("S")
        if type(text) is str and 0 < len(text) * 4 <= HASH_SIZE:
            return text, None
    partition = key_value(value, rows.hash_type)
    if len(value[rows.hash_type]) * 4 > HASH_SIZE and measured(value) > HASH_SIZE:
        raise Unusual
    if rows.range_name is None:
        return partition, None
    value = item[rows.range_name]
    sort = key_value(value, rows.range_type)
    if len(value[rows.range_type]) * 4 > RANGE_SIZE and measured(value) > RANGE_SIZE:
        raise Unusual
    return partition, sort


def exact_key(rows: Rows, key: Any) -> tuple[Key, Key]:
    """A key given alone: its attributes and no others."""
    if type(key) is not dict or len(key) != (1 if rows.range_name is None else 2):
        raise Unusual
    return key_in(rows, key)


@cache
def _allowed(known: tuple[str, ...]) -> frozenset[str]:
    return frozenset((*known, "TableName", "ReturnConsumedCapacity"))


def check_known(params: Params, *known: str) -> None:
    """Raise Unusual, which leaves the call to moto, where it has any other parameter."""
    if not params.keys() <= _allowed(known):
        raise Unusual
    if "ReturnConsumedCapacity" in params and params.get("ReturnConsumedCapacity", "NONE") not in (
        "NONE",
        "TOTAL",
        "INDEXES",
    ):
        raise Unusual


def names_in(params: Params) -> Names:
    """The attribute name placeholders, hashable."""
    names = params.get("ExpressionAttributeNames")
    if names is None:
        return ()
    if not names:
        raise Unusual
    return tuple(names.items())


def values_in(params: Params) -> Values:
    """The attribute value placeholders, each certainly valid."""
    values: Values | None = params.get("ExpressionAttributeValues")
    if values is None:
        return NO_VALUES
    if not values:
        raise Unusual
    for name, value in values.items():
        if name[:1] != ":":
            raise Unusual
        if type(value) is dict and len(value) == 1 and _is_short_number(value.get("N")):
            continue
        measured(value)
    return values


def asked(params: Params, names: Names, values: Values, *, also_names: frozenset[str] = frozenset()) -> Asked:
    """The condition of a write, with every name given used somewhere."""
    text = params.get("ConditionExpression")
    compiled = None
    if text is not None:
        compiled = expressions.condition(text, names) if text else None
        if compiled is None:
            raise Unusual
    used = also_names if compiled is None else also_names | compiled.names_used
    if any(name not in used for name, _ in names):
        raise Unusual
    on_failure = params.get("ReturnValuesOnConditionCheckFailure", "NONE")
    if on_failure not in ("NONE", "ALL_OLD"):
        raise Unusual
    return Asked(compiled, values, on_failure == "ALL_OLD")


def failed(row: bytes | None, wanted: Asked) -> Answer | None:
    """None if the condition holds; else the item that the refusal shows."""
    if wanted.condition is None or wanted.condition.certainly_holds(row, wanted.values):
        return None
    native = None if row is None else unpack(row)
    if wanted.condition.holds(native, wanted.values):
        return None
    return {"Item": native} if wanted.return_old and native else {}


def demand(row: bytes | None, wanted: Asked) -> None:
    """Refuse the call if its condition does not hold."""
    more = failed(row, wanted)
    if more is not None:
        raise Refused("ConditionalCheckFailedException", "The conditional request failed", **more)


def size_of(row: bytes | None) -> int:
    """The size of a stored row in DynamoDB's bytes; 0 where there is none."""
    return 0 if row is None else metering.item_size(unpack(row))


def charge(operation: str, params: Params, answer: Answer, *, read: float = 0.0, write: float = 0.0) -> Answer:
    """Count a call, and state its units in the answer if the caller wants to know."""
    if metering.meters:
        metering.record(operation, read, write)
    wanted = params.get("ReturnConsumedCapacity", "NONE")
    if wanted != "NONE":
        table = params.get("TableName")
        units = read + write
        if table is not None:
            answer["ConsumedCapacity"] = {"TableName": table, "CapacityUnits": units}
            if wanted == "INDEXES":
                answer["ConsumedCapacity"]["Table"] = {"CapacityUnits": units}
    return answer


def counts(params: Params) -> bool:
    """Whether anyone wants to know the units, which need an item's size."""
    return bool(metering.meters) or params.get("ReturnConsumedCapacity", "NONE") != "NONE"
