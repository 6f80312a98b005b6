"""DynamoDB's transactions, done straight on moto's tables."""

from __future__ import annotations

import hashlib
import marshal
import time
from typing import NamedTuple

from moto.dynamodb.models import DynamoDBBackend

from infra.local.database import pack
from infra.local.dynamodb import metering
from infra.local.dynamodb.calls import after_update, updated
from infra.local.dynamodb.checks import (
    WRITE,
    Answer,
    Params,
    Refused,
    asked,
    charge,
    counts,
    exact_key,
    failed,
    key_in,
    measured_item,
    names_in,
    only,
    rows_of,
    size_of,
    values_in,
)
from infra.local.dynamodb.expressions import Unusual
from infra.local.dynamodb.keys import Key, stored
from infra.local.dynamodb.rows import Rows, put_all

TRANSACTION_ITEMS = 100
TRANSACTION_BYTES = 4 * 1024 * 1024
TOKEN_SECONDS = 600.0
FEW = 5
"""Actions below which their rows are read one by one."""
_WITHOUT_REFERENCES = 2
"""marshal's version that writes equal values alike, whether or not they are the same object."""


def transact_write_items(backend: DynamoDBBackend, params: Params) -> Answer:  # noqa: C901 -- one list of checks
    """TransactWriteItems: all conditions are judged on the state before, then all is written."""
    only(params, "TransactItems", "ClientRequestToken")
    actions = params["TransactItems"]
    if not 0 < len(actions) <= TRANSACTION_ITEMS:
        raise Unusual
    token, print_ = remembered(backend, params)
    if token is not None and token in recent and recent[token][0] == print_:
        return charge("TransactWriteItems", params, {})
    held = _held(backend, actions)
    writes: list[tuple[Rows, Key, Key, bytes | None, int]] = []
    reasons: list[Answer] = []
    seen, total = set(), 0
    for action in actions:
        ((kind, inner),) = action.items()
        rows = rows_of(backend, inner["TableName"])
        step = _STEPS[kind](rows, inner, held)
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
        raise Refused("TransactionCanceledException", f"{message} [{', '.join(codes)}]", CancellationReasons=reasons)
    counted, units = counts(params), 2.0 * (len(actions) - len(writes))
    if counted:
        units += sum(
            2 * max(metering.write_units(size), metering.write_units(size_of(rows.get(partition, sort))))
            for rows, partition, sort, _, size in writes
        )
    put_all([write[:4] for write in writes])
    if token is not None:
        recent[token] = (print_, time.monotonic())
    return charge("TransactWriteItems", params, {}, write=units)


recent: dict[tuple[str, str], tuple[bytes, float]] = {}
"""(region, ClientRequestToken) → what was asked and when; DynamoDB remembers a token for ten minutes."""


def remembered(backend: DynamoDBBackend, params: Params) -> tuple[tuple[str, str] | None, bytes]:
    """A transaction's token and what it stands for.

    Raises:
        Refused: the token was used for something else.
    """
    given = params.get("ClientRequestToken")
    if given is None:
        return None, b""
    now = time.monotonic()
    while recent and (eldest := next(iter(recent))) and now - recent[eldest][1] > TOKEN_SECONDS:
        del recent[eldest]
    token = (f"{backend.account_id}/{backend.region_name}", given)
    print_ = hashlib.sha256(marshal.dumps(params["TransactItems"], _WITHOUT_REFERENCES)).digest()
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


class _Held:
    """The rows that a transaction is about, as they are: those of each table read in one query."""

    def __init__(self, rows: dict[tuple[int, bytes, bytes], bytes] | None) -> None:
        self._rows = rows

    def get(self, rows: Rows, partition: Key, sort: Key) -> bytes | None:
        """The packed row with a key."""
        if self._rows is None:
            return rows.get(partition, sort)
        return self._rows.get((rows.number, *stored(partition, sort)))


def _held(backend: DynamoDBBackend, actions: list[Answer]) -> _Held:
    if len(actions) < FEW:
        return _Held(None)
    keys: dict[int, tuple[Rows, list[tuple[Key, Key]]]] = {}
    for action in actions:
        ((_, inner),) = action.items()
        rows = rows_of(backend, inner["TableName"])
        key = key_in(rows, inner["Item"] if "Item" in inner else inner["Key"])
        keys.setdefault(rows.number, (rows, []))[1].append(key)
    return _Held(
        {(number, *key): row for number, (rows, some) in keys.items() for key, row in rows.get_many(some).items()}
    )


def _put(rows: Rows, params: Params, held: _Held) -> Step:
    only(params, "Item", *WRITE)
    item = params["Item"]
    size = measured_item(item)
    partition, sort = key_in(rows, item)
    wanted = asked(params, names_in(params), values_in(params))
    return Step(partition, sort, pack(item), size, failed(held.get(rows, partition, sort), wanted))


def _delete(rows: Rows, params: Params, held: _Held) -> Step:
    only(params, "Key", *WRITE)
    partition, sort = exact_key(rows, params["Key"])
    wanted = asked(params, names_in(params), values_in(params))
    return Step(partition, sort, None, 0, failed(held.get(rows, partition, sort), wanted))


def _check(rows: Rows, params: Params, held: _Held) -> Step:
    if "ConditionExpression" not in params:
        raise Unusual
    return _delete(rows, params, held)


def _update(rows: Rows, params: Params, held: _Held) -> Step:
    only(params, "Key", "UpdateExpression", *WRITE)
    partition, sort = exact_key(rows, params["Key"])
    wanted, change, values, _ = updated(rows, params)
    old = held.get(rows, partition, sort)
    refused = failed(old, wanted)
    if refused is not None:
        return Step(partition, sort, None, 0, refused)
    after, size = after_update(old, params["Key"], change, values)
    return Step(partition, sort, pack(after), size, None)


_STEPS = {"Put": _put, "Delete": _delete, "ConditionCheck": _check, "Update": _update}
