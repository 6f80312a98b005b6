"""DynamoDB's reads, done straight on moto's tables: with `infra.emulator.dynamodb.calls`, the other half."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from moto.dynamodb.models import DynamoDBBackend

from infra.emulator.dynamodb import expressions as dynamo_expressions
from infra.emulator.dynamodb import metering
from infra.emulator.dynamodb.checks import (
    Answer,
    Params,
    charge,
    check_known,
    counts,
    exact_key,
    names_in,
    rows_of,
    values_in,
)
from infra.emulator.dynamodb.expressions import Condition, Unusual
from infra.emulator.dynamodb.keys import Key, stored
from infra.emulator.dynamodb.rows import Found, Native, Rows
from infra.emulator.sqlite.database import unpack

BATCH_READS = TRANSACTION_ITEMS = 100
BATCH_BYTES = 16 * 1024 * 1024
PAGE_BYTES = 1_000_000
"""moto's page: a little less than DynamoDB's megabyte."""


def consistent(params: Params) -> bool:
    """Whether a strongly consistent read is asked for."""
    given = params.get("ConsistentRead", False)
    if type(given) is not bool:
        raise Unusual
    return given


def chosen(params: Params, names: tuple[tuple[str, str], ...]) -> tuple[tuple[str, ...] | None, frozenset[str]]:
    """The attributes a projection names (None: all) and the placeholders it uses."""
    text = params.get("ProjectionExpression")
    if text is None:
        return None, frozenset()
    compiled = dynamo_expressions.projection(text, names)
    if compiled is None:
        raise Unusual
    return compiled


def shown(native: Native, projection: tuple[str, ...] | None) -> Native:
    """An item, or the attributes of it that a projection selects."""
    return native if projection is None else {name: native[name] for name in projection if name in native}


def get_item(backend: DynamoDBBackend, params: Params) -> Answer:
    """GetItem."""
    check_known(params, "Key", "ConsistentRead", "ProjectionExpression", "ExpressionAttributeNames")
    rows = rows_of(backend, params["TableName"])
    partition, sort = exact_key(rows, params["Key"])
    strong = consistent(params)
    names = names_in(params)
    projection, used = chosen(params, names)
    if len(used) < len(names):
        raise Unusual
    row = rows.get(partition, sort)
    native = None if row is None else unpack(row)
    read = 0.0
    if counts(params):
        read = metering.read_units(0 if native is None else metering.item_size(native), consistent=strong)
    return charge("GetItem", params, {} if native is None else {"Item": shown(native, projection)}, read=read)


def batch_get_item(backend: DynamoDBBackend, params: Params) -> Answer:
    """BatchGetItem: what does not fit into 16 MB comes back as unprocessed keys."""
    check_known(params, "RequestItems")
    requests = params["RequestItems"]
    if not 0 < sum(len(request["Keys"]) for request in requests.values()) <= BATCH_READS:
        raise Unusual
    wanted = []
    for table, request in requests.items():
        check_known(request, "Keys", "ConsistentRead", "ProjectionExpression", "ExpressionAttributeNames")
        rows = rows_of(backend, table)
        names = names_in(request)
        projection, used = chosen(request, names)
        keys = [stored(*exact_key(rows, key)) for key in request["Keys"]]
        if len(used) < len(names) or len(set(keys)) < len(keys):
            raise Unusual
        wanted.append((table, rows, request, projection, keys))
    answer: Answer = {"Responses": {}, "UnprocessedKeys": {}}
    total, read, counted = 0, 0.0, counts(params)
    for table, rows, request, projection, keys in wanted:
        items = answer["Responses"][table] = []
        strong = consistent(request)
        held = rows.get_many(keys)
        for key, given in zip(keys, request["Keys"], strict=True):
            row = held.get(key)
            native = None if row is None else unpack(row)
            # a packed row is never smaller than its item, so the exact size matters only near the limit
            total += 0 if row is None else len(row)
            if native is not None and total > BATCH_BYTES:
                left = answer["UnprocessedKeys"].setdefault(table, {**request, "Keys": []})
                left["Keys"].append(given)
                continue
            if native is not None:
                items.append(shown(native, projection))
            if counted:
                read += metering.read_units(metering.item_size(native or {}), consistent=strong)
    return charge("BatchGetItem", params, answer, read=read)


def transact_get_items(backend: DynamoDBBackend, params: Params) -> Answer:
    """TransactGetItems."""
    check_known(params, "TransactItems")
    actions = params["TransactItems"]
    if not 0 < len(actions) <= TRANSACTION_ITEMS:
        raise Unusual
    responses: list[Answer] = []
    read, counted = 0.0, counts(params)
    for action in actions:
        ((kind, inner),) = action.items()
        if kind != "Get":
            raise Unusual
        check_known(inner, "Key", "ProjectionExpression", "ExpressionAttributeNames")
        rows = rows_of(backend, inner["TableName"])
        names = names_in(inner)
        projection, used = chosen(inner, names)
        if len(used) < len(names):
            raise Unusual
        row = rows.get(*exact_key(rows, inner["Key"]))
        native = None if row is None else unpack(row)
        responses.append({} if native is None else {"Item": shown(native, projection)})
        if counted:
            read += 2 * metering.read_units(metering.item_size(native or {}), consistent=True)
    return charge("TransactGetItems", params, {"Responses": responses}, read=read)


# ------------------------------------------------------------------------------------------------- query, scan


def moto_size(row: bytes) -> int:
    """The size by which moto (and stock pages) reckon: a number counts its characters."""

    def size(value: dict[str, Any]) -> int:
        ((kind, inner),) = value.items()
        if kind == "N":
            return len(inner)
        if kind == "M":
            return sum(metering.text_size(name) + size(each) for name, each in inner.items())
        if kind == "L":
            return sum(map(size, inner))
        return metering.value_size(value)

    return sum(metering.text_size(name) + size(value) for name, value in unpack(row).items())


def page(found: Iterable[Found], limit: int | None) -> tuple[list[Found], bool]:
    """The first of the rows found, up to a limit and a megabyte, and whether the megabyte ended it."""
    taken: list[Found] = []
    size, exact = 0, False
    for each in found:
        if len(taken) == limit:
            break
        length = moto_size(each[2]) if exact else len(each[2])
        if size + length > PAGE_BYTES:
            if not exact:  # the packed rows are too long; their items may not be
                exact, size = True, sum(moto_size(row) for _, _, row in taken)
                length = moto_size(each[2])
            if size + length > PAGE_BYTES:
                return taken, True
        size += length
        taken.append(each)
    return taken, False


def key_item(rows: Rows, row: bytes) -> Native:
    """The key attributes of a row."""
    native = unpack(row)
    key = {rows.hash_name: native[rows.hash_name]}
    if rows.range_name is not None:
        key[rows.range_name] = native[rows.range_name]
    return key


def select(
    rows: Rows, partition: Key, operator: str, bounds: list[Key], limit: int | None, after: Key, *, forward: bool
) -> tuple[list[Found], bool]:
    """Query one partition: a page of its rows, and whether there may be another."""
    if operator == "BEGINS_WITH" and type(bounds[0]) is not str:
        raise Unusual
    taken, full = page(rows.select(partition, operator, bounds, after, forward=forward), limit)
    if taken and len(taken) == limit:
        # as moto has it: a further page if the partition goes on, even if the key condition ends here
        full = rows.goes_on(taken[-1], forward=forward)
    return taken, full


def common(params: Params) -> tuple[int | None, bool]:
    """Limit, and whether only the count is wanted."""
    limit = params.get("Limit")
    if limit is not None and (type(limit) is not int or limit < 1):
        raise Unusual
    wanted = params.get("Select")
    plain = "ProjectionExpression" not in params
    if wanted not in (None, "COUNT", "ALL_ATTRIBUTES", "SPECIFIC_ATTRIBUTES"):
        raise Unusual
    if wanted is not None and plain == (wanted == "SPECIFIC_ATTRIBUTES"):
        raise Unusual
    return limit, wanted == "COUNT"


def filter_of(params: Params, names: tuple[tuple[str, str], ...]) -> Condition | None:
    """The compiled filter expression."""
    text = params.get("FilterExpression")
    if text is None:
        return None
    compiled = dynamo_expressions.condition(text, names) if text else None
    if compiled is None or not compiled.values_used <= params.get("ExpressionAttributeValues", {}).keys():
        raise Unusual
    return compiled


def finish(
    operation: str, params: Params, rows: Rows, taken: list[Found], used: frozenset[str], *, full: bool
) -> Answer:
    """Filter, project and count a page of rows, and say where the next one starts."""
    names, values = names_in(params), values_in(params)
    projection, also_used = chosen(params, names)
    keep = filter_of(params, names)
    used = used | also_used | (keep.names_used if keep is not None else frozenset())
    if any(name not in used for name, _ in names):
        raise Unusual
    _, count_only = common(params)
    natives = [unpack(row) for _, _, row in taken]
    read = 0.0
    if counts(params):
        size = sum(map(metering.item_size, natives))
        read = metering.read_units(size, consistent=consistent(params))
    if keep is not None:
        natives = [native for native in natives if keep.holds(native, values)]
    answer: Answer = {"Count": len(natives), "ScannedCount": len(taken)}
    if not count_only:
        answer["Items"] = [shown(native, projection) for native in natives]
    if full:
        answer["LastEvaluatedKey"] = key_item(rows, taken[-1][2])
    return charge(operation, params, answer, read=read)


PAGED = ("ConsistentRead", "Limit", "ExclusiveStartKey", "ProjectionExpression", "FilterExpression", "Select",
         "ExpressionAttributeNames", "ExpressionAttributeValues")  # fmt: skip


def query(backend: DynamoDBBackend, params: Params) -> Answer:
    """Query on the table's own key."""
    check_known(params, "KeyConditionExpression", "ScanIndexForward", *PAGED)
    rows = rows_of(backend, params["TableName"])
    names, values = names_in(params), values_in(params)
    compiled = dynamo_expressions.key_condition(
        params["KeyConditionExpression"], names, rows.hash_name, rows.range_name
    )
    if compiled is None:
        raise Unusual
    partition = dynamo_expressions.key_value(values[compiled.partition], rows.hash_type)
    bounds = [dynamo_expressions.key_value(values[each], rows.range_type) for each in compiled.bounds]
    after = None
    if (start := params.get("ExclusiveStartKey")) is not None:
        same, after = exact_key(rows, start)
        if same != partition or rows.range_name is None:
            raise Unusual
    forward = params.get("ScanIndexForward", True)
    if type(forward) is not bool:
        raise Unusual
    consistent(params)
    limit, _ = common(params)
    taken, full = select(rows, partition, compiled.operator, bounds, limit, after, forward=forward)
    return finish("Query", params, rows, taken, compiled.names_used, full=full)


def scan(backend: DynamoDBBackend, params: Params) -> Answer:
    """Scan of a whole table, in one segment."""
    check_known(params, *PAGED)
    rows = rows_of(backend, params["TableName"])
    limit, _ = common(params)
    consistent(params)
    start = params.get("ExclusiveStartKey")
    taken, full = page(rows.walk(None if start is None else exact_key(rows, start)), limit)
    if taken and len(taken) == limit:
        full = next(rows.walk_behind(*taken[-1][:2]), None) is not None
    return finish("Scan", params, rows, taken, frozenset(), full=full)
