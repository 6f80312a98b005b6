"""DynamoDB's item operations, done straight on moto's tables with a client's own parameters.

Each function takes moto's backend and the parameters of one call, and returns what botocore would have parsed from the
answer. Everything is checked before anything is changed. What is out of the ordinary (secondary indexes, streams,
legacy parameters, faulty requests) raises `Unusual`, and moto handles the whole call with its own words; so these
functions only need to be right about what they accept.
"""

from __future__ import annotations

from moto.dynamodb.models import DynamoDBBackend

from infra.emulator.dynamodb import expressions, metering
from infra.emulator.dynamodb.checks import (
    WRITE,
    Answer,
    Asked,
    Params,
    Refused,
    asked,
    charge,
    check_known,
    counts,
    demand,
    exact_key,
    key_in,
    measured_item,
    names_in,
    rows_of,
    size_of,
    values_in,
)
from infra.emulator.dynamodb.expressions import Unusual, Values
from infra.emulator.dynamodb.keys import Key
from infra.emulator.dynamodb.rows import Native, Rows, put_all
from infra.emulator.sqlite.database import pack, unpack

BATCH_WRITES = 25
BATCH_BYTES = 16 * 1024 * 1024


def put_item(backend: DynamoDBBackend, params: Params) -> Answer:
    """PutItem."""
    check_known(params, "Item", "ReturnValues", *WRITE)
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
    check_known(params, "Key", "ReturnValues", *WRITE)
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
    check_known(params, "Key", "UpdateExpression", "ReturnValues", *WRITE)
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
    check_known(params, "RequestItems")
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
    if counted:
        units += sum(
            max(metering.write_units(size), metering.write_units(size_of(rows.get(partition, sort))))
            for rows, partition, sort, _, size in writes
        )
    put_all([write[:4] for write in writes])
    return charge("BatchWriteItem", params, {"UnprocessedItems": {}}, write=units)
