"""DynamoDB's item operations, done straight on moto's tables with a client's own parameters.

Each function takes moto's backend and the parameters of one call, and returns what botocore would have parsed from the
answer. Everything is checked before anything is changed. What is out of the ordinary (secondary indexes, streams,
legacy parameters, faulty requests) raises `Unusual`, and moto handles the whole call with its own words; so these
functions only need to be right about what they accept.
"""

from __future__ import annotations

import json
import re
import time
from decimal import Decimal
from typing import Any, NamedTuple

from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.table import Table

from infra.local import dynamo_expressions as expressions
from infra.local import metering
from infra.local.dynamo_expressions import Condition, Names, Unusual, Values, key_value
from infra.local.dynamo_rows import Key, Native, Rows, pack, transaction, unpack

Params = dict[str, Any]
Answer = dict[str, Any]

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?")
NUMBER_DIGITS = 38
SURE_SIZE = 390_000
"""Items above this many bytes are left to moto, which knows the limit (400 KB) to the byte."""
HASH_SIZE, RANGE_SIZE = 2048, 1024
BATCH_WRITES, BATCH_READS, TRANSACTION_ITEMS = 25, 100, 100
BATCH_BYTES, TRANSACTION_BYTES = 16 * 1024 * 1024, 4 * 1024 * 1024
TOKEN_SECONDS = 600.0
NO_VALUES: Values = {}


class Refused(Exception):  # noqa: N818 -- becomes botocore's ClientError
    """DynamoDB's answer is an error: its code, its message and what else the answer holds."""

    def __init__(self, code: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.code, self.message, self.more = code, message, more


class Asked(NamedTuple):
    """The expressions common to the calls that write one item."""

    condition: Condition | None
    values: Values
    return_old: bool


# ---------------------------------------------------------------------------------------------------- checking


def measured(value: Any) -> int:
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
    if kind == "BOOL" or kind == "NULL":  # noqa: PLR1714 -- twice as fast
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


def _measured_number(text: Any) -> int:
    if type(text) is not str or not NUMBER.fullmatch(text):
        raise Unusual
    if len(text) > NUMBER_DIGITS or "e" in text or "E" in text:
        digits = text.lower().partition("e")[0].lstrip("-").replace(".", "").strip("0")
        if len(digits) > NUMBER_DIGITS:
            raise Refused("ValidationException", "Attempting to store more than 38 significant digits in a Number")
        exact = Decimal(text)
        if exact and not -130 <= exact.adjusted() <= 125:  # noqa: PLR2004 -- DynamoDB's range
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
        size += (len(name) if name.isascii() else len(name.encode())) + measured(value)
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


def only(params: Params, *known: str) -> None:
    """Leave a call with any other parameter to moto."""
    for name in params:
        if name not in known and name not in ("TableName", "ReturnConsumedCapacity"):
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
        if not name.startswith(":"):
            raise Unusual
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
    """None if the condition holds; else what a refusal shows of the item."""
    if wanted.condition is None:
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
        if wanted not in ("TOTAL", "INDEXES"):
            raise Unusual
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


# ----------------------------------------------------------------------------------------------- single writes

WRITE = ("ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues", "ReturnValues",
         "ReturnValuesOnConditionCheckFailure")  # fmt: skip


def put_item(backend: DynamoDBBackend, params: Params) -> Answer:
    """PutItem."""
    only(params, "Item", *WRITE)
    rows, item = rows_of(backend, params["TableName"]), params["Item"]
    size = measured_item(item)
    partition, sort = key_in(rows, item)
    wanted = asked(params, names_in(params), values_in(params))
    returns = params.get("ReturnValues", "NONE")
    if returns not in ("NONE", "ALL_OLD"):
        raise Unusual
    row = pack(item)
    old = rows.get(partition, sort)
    demand(old, wanted)
    rows.put(partition, sort, row)
    answer = {"Attributes": unpack(old)} if returns == "ALL_OLD" and old is not None else {}
    write = max(metering.write_units(size), metering.write_units(size_of(old))) if counts(params) else 0.0
    return charge("PutItem", params, answer, write=write)


def delete_item(backend: DynamoDBBackend, params: Params) -> Answer:
    """DeleteItem."""
    only(params, "Key", *WRITE)
    rows = rows_of(backend, params["TableName"])
    partition, sort = exact_key(rows, params["Key"])
    wanted = asked(params, names_in(params), values_in(params))
    returns = params.get("ReturnValues", "NONE")
    if returns not in ("NONE", "ALL_OLD"):
        raise Unusual
    old = rows.get(partition, sort)
    demand(old, wanted)
    if old is not None:
        rows.put(partition, sort, None)
    answer = {"Attributes": unpack(old)} if returns == "ALL_OLD" and old is not None else {}
    return charge("DeleteItem", params, answer, write=metering.write_units(size_of(old)) if counts(params) else 0.0)


def updated(rows: Rows, params: Params) -> tuple[Asked, expressions.Update, Values, frozenset[str]]:
    """The compiled parts of an update, with every name and value given used somewhere."""
    names, values = names_in(params), values_in(params)
    change = expressions.update(params["UpdateExpression"], names)
    if change is None or rows.hash_name in change.touched or rows.range_name in change.touched:
        raise Unusual
    wanted = asked(params, names, values, also_names=change.names_used)
    used = change.values_used if wanted.condition is None else change.values_used | wanted.condition.values_used
    if values.keys() != used:
        raise Unusual
    return wanted, change, values, change.touched


def after_update(old: bytes | None, key: Native, change: expressions.Update, values: Values) -> tuple[Native, int]:
    """The item an update leaves and its size."""
    after = change.apply(unpack(old) if old is not None else dict(key), values)
    return after, measured_item(after)


def update_item(backend: DynamoDBBackend, params: Params) -> Answer:
    """UpdateItem with an update expression on whole attributes."""
    only(params, "Key", "UpdateExpression", *WRITE)
    rows = rows_of(backend, params["TableName"])
    key = params["Key"]
    partition, sort = exact_key(rows, key)
    wanted, change, values, touched = updated(rows, params)
    returns = params.get("ReturnValues", "NONE")
    if returns not in ("NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"):
        raise Unusual
    old = rows.get(partition, sort)
    demand(old, wanted)
    after, size = after_update(old, key, change, values)
    rows.put(partition, sort, pack(after))
    answer: Answer = {}
    if returns != "NONE":
        shown = after if returns.endswith("NEW") else (unpack(old) if old is not None else {})
        if returns.startswith("UPDATED"):
            shown = {name: value for name, value in shown.items() if name in touched}
        if shown:
            answer["Attributes"] = unpack(pack(shown))
    write = max(metering.write_units(size), metering.write_units(size_of(old))) if counts(params) else 0.0
    return charge("UpdateItem", params, answer, write=write)


# ------------------------------------------------------------------------------------------------ many writes


def batch_write_item(backend: DynamoDBBackend, params: Params) -> Answer:
    """BatchWriteItem, with AWS's limits, which moto does not know."""
    only(params, "RequestItems")
    requests = params["RequestItems"]
    number = sum(map(len, requests.values()))
    if number > BATCH_WRITES:
        raise Refused("ValidationException", "Too many items requested for the BatchWriteItem call")
    if not number:
        raise Unusual
    writes: list[tuple[Rows, Key, Key, bytes | None, int]] = []
    seen, total = set(), 0
    for table, entries in requests.items():
        rows = rows_of(backend, table)
        for entry in entries:
            ((kind, inner),) = entry.items()
            if kind == "PutRequest":
                item = inner["Item"]
                size = measured_item(item)
                total += size
                writes.append((rows, *key_in(rows, item), pack(item), size))
            elif kind == "DeleteRequest":
                writes.append((rows, *exact_key(rows, inner["Key"]), None, 0))
            else:
                raise Unusual
            seen.add((table, *writes[-1][1:3]))
    if len(seen) < number:
        raise Refused("ValidationException", "Provided list of item keys contains duplicates")
    if total > BATCH_BYTES:
        raise Refused("ValidationException", "The BatchWriteItem request exceeds 16 MB")
    counted, units = counts(params), 0.0
    transaction.begin()
    for rows, partition, sort, row, size in writes:
        old = rows.put(partition, sort, row)
        if counted:
            units += max(metering.write_units(size), metering.write_units(size_of(old)))
    transaction.commit()
    return charge("BatchWriteItem", params, {"UnprocessedItems": {}}, write=units)


def transact_write_items(backend: DynamoDBBackend, params: Params) -> Answer:
    """TransactWriteItems: all conditions are judged on the state before, then all is written."""
    only(params, "TransactItems", "ClientRequestToken")
    actions = params["TransactItems"]
    if not 0 < len(actions) <= TRANSACTION_ITEMS:
        raise Unusual
    token, print_ = remembered(backend, params)
    if token is not None and token in recent and recent[token][0] == print_:
        return charge("TransactWriteItems", params, {})
    writes: list[tuple[Rows, Key, Key, bytes | None, int]] = []
    reasons: list[Answer] = []
    seen, total = set(), 0
    for action in actions:
        ((kind, inner),) = action.items()
        rows = rows_of(backend, inner["TableName"])
        step = _STEPS[kind](rows, inner)
        seen.add((inner["TableName"], step.partition, step.sort))
        reason: Answer = {"Code": "None"}
        if step.refused is not None:
            message = "The conditional request failed"
            reason = {"Code": "ConditionalCheckFailed", "Message": message, **step.refused}
        reasons.append(reason)
        total += step.size
        if kind != "ConditionCheck":
            writes.append((rows, step.partition, step.sort, step.row, step.size))
    if len(seen) < len(actions):
        raise Unusual
    if total > TRANSACTION_BYTES:
        raise Refused("ValidationException", "Transaction request cannot be larger than 4 MB")
    codes = [reason["Code"] for reason in reasons]
    if any(code != "None" for code in codes):
        message = "Transaction cancelled, please refer cancellation reasons for specific reasons"
        raise Refused(
            "TransactionCanceledException", f"{message} [{', '.join(codes)}]", CancellationReasons=reasons
        )
    counted, units = counts(params), 2.0 * (len(actions) - len(writes))
    transaction.begin()
    for rows, partition, sort, row, size in writes:
        old = rows.put(partition, sort, row)
        if counted:
            units += 2 * max(metering.write_units(size), metering.write_units(size_of(old)))
    transaction.commit()
    if token is not None:
        recent[token] = (print_, time.monotonic())
    return charge("TransactWriteItems", params, {}, write=units)


recent: dict[tuple[str, str], tuple[str, float]] = {}
"""(region, ClientRequestToken) → what was asked and when; DynamoDB remembers a token for ten minutes."""


def remembered(backend: DynamoDBBackend, params: Params) -> tuple[tuple[str, str] | None, str]:
    """A transaction's token and what it stands for.

    Raises:
        Refused: the token was used for something else.
    """
    given = params.get("ClientRequestToken")
    if given is None:
        return None, ""
    now = time.monotonic()
    while recent and (eldest := next(iter(recent))) and now - recent[eldest][1] > TOKEN_SECONDS:
        del recent[eldest]
    token = (f"{backend.account_id}/{backend.region_name}", given)
    print_ = json.dumps(params["TransactItems"], sort_keys=True, default=repr)
    if token in recent and recent[token][0] != print_:
        message = "A client request token was used with other parameters"
        raise Refused("IdempotentParameterMismatchException", message, Message=message)
    return token, print_


class Step(NamedTuple):
    """One action of a transaction, judged: its key, what it writes, and its refusal if its condition failed."""

    partition: Key
    sort: Key
    row: bytes | None
    size: int
    refused: Answer | None


ACTION = ("ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues",
          "ReturnValuesOnConditionCheckFailure")  # fmt: skip


def _put(rows: Rows, params: Params) -> Step:
    only(params, "Item", *ACTION)
    item = params["Item"]
    size = measured_item(item)
    partition, sort = key_in(rows, item)
    wanted = asked(params, names_in(params), values_in(params))
    return Step(partition, sort, pack(item), size, failed(rows.get(partition, sort), wanted))


def _delete(rows: Rows, params: Params) -> Step:
    only(params, "Key", *ACTION)
    partition, sort = exact_key(rows, params["Key"])
    wanted = asked(params, names_in(params), values_in(params))
    return Step(partition, sort, None, 0, failed(rows.get(partition, sort), wanted))


def _check(rows: Rows, params: Params) -> Step:
    if "ConditionExpression" not in params:
        raise Unusual
    return _delete(rows, params)


def _update(rows: Rows, params: Params) -> Step:
    only(params, "Key", "UpdateExpression", *ACTION)
    partition, sort = exact_key(rows, params["Key"])
    wanted, change, values, _ = updated(rows, params)
    old = rows.get(partition, sort)
    refused = failed(old, wanted)
    if refused is not None:
        return Step(partition, sort, None, 0, refused)
    after, size = after_update(old, params["Key"], change, values)
    return Step(partition, sort, pack(after), size, None)


_STEPS = {"Put": _put, "Delete": _delete, "ConditionCheck": _check, "Update": _update}
