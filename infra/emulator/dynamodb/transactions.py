"""DynamoDB's transactions, done straight on moto's tables."""

from __future__ import annotations

import hashlib
import time
from typing import Any

import msgspec
from moto.dynamodb.models import DynamoDBBackend

from infra.emulator.dynamodb import metering
from infra.emulator.dynamodb.calls import after_update, updated
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
    exact_key,
    failed,
    key_in,
    measured_item,
    names_in,
    rows_of,
    size_of,
    values_in,
)
from infra.emulator.dynamodb.expressions import Unusual
from infra.emulator.dynamodb.keys import Key, stored
from infra.emulator.dynamodb.rows import Rows, put_all
from infra.emulator.sqlite.database import pack

TRANSACTION_ITEMS = 100
TRANSACTION_BYTES = 4 * 1024 * 1024
TOKEN_SECONDS = 600.0
FEW = 5
"""Actions below which their rows are read one by one."""


def transact_write_items(backend: DynamoDBBackend, params: Params) -> Answer:  # noqa: C901 -- one list of checks
    """TransactWriteItems: all conditions are judged on the state before, then all is written."""
    check_known(params, "TransactItems", "ClientRequestToken")
    actions = params["TransactItems"]
    if not 0 < len(actions) <= TRANSACTION_ITEMS:
        raise Unusual
    token, print_ = remembered(backend, params)
    if token is not None and token in recent and recent[token][0] == print_:
        return charge("TransactWriteItems", params, {})
    tables: dict[str, Rows] = {}
    found = [_find(backend, action, tables) for action in actions]
    held = _held(found)
    conditions: _Conditions = {}
    writes: list[tuple[Rows, Key, Key, bytes | None]] = []
    keys: list[tuple[bytes, bytes]] = []
    written: list[tuple[int, bytes | None]] = []
    reasons: list[Answer] = []
    seen, total = set(), 0
    for kind, inner, rows, partition, sort, key in found:
        old = rows.get(partition, sort) if held is None else held.get(key)
        step = _update(rows, inner, old) if kind == "Update" else _STEPS[kind](inner, old, conditions)
        seen.add(key)
        reason: Answer = _MET
        if step.refused is not None:
            message = "The conditional request failed"
            reason = {"Code": "ConditionalCheckFailed", "Message": message, **step.refused}
        reasons.append(reason)
        total += step.size
        if kind != "ConditionCheck":
            writes.append((rows, partition, sort, step.row))
            keys.append(key[1:])
            written.append((step.size, old))
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
        units += sum(2 * max(map(metering.write_units, (size, size_of(old)))) for size, old in written)
    put_all(writes, keys)
    if token is not None:
        recent[token] = (print_, time.monotonic())
    return charge("TransactWriteItems", params, {}, write=units)


recent: dict[tuple[str, str], tuple[bytes, float]] = {}
"""(region, ClientRequestToken) → what was asked and when; DynamoDB remembers a token for ten minutes."""


def remembered(backend: DynamoDBBackend, params: Params) -> tuple[tuple[str, str] | None, bytes]:
    """A transaction's token, and the hash of the transaction.

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
    print_ = hashlib.sha256(pack(params["TransactItems"])).digest()
    if token in recent and recent[token][0] != print_:
        message = "A client request token was used with other parameters"
        raise Refused("IdempotentParameterMismatchException", message, Message=message)
    return token, print_


class JudgedAction(msgspec.Struct, frozen=True):
    """One action of a transaction, judged: what it writes, and its refusal if its condition failed."""

    row: bytes | None
    size: int
    refused: Answer | None


_MET: Answer = {"Code": "None"}
_RowKey = tuple[int, bytes, bytes]
"""The number of a table, and a key of it as it is stored."""
_Found = tuple[str, Params, Rows, Key, Key, _RowKey]
"""The kind of an action and its parameters, and the row that it is about."""
_Conditions = dict[str, tuple[Any, Asked]]
"""By text, the names and the compiled form of a condition: the actions of a transaction mostly have the same."""


def _find(backend: DynamoDBBackend, action: Answer, tables: dict[str, Rows]) -> _Found:
    ((kind, inner),) = action.items()
    name = inner["TableName"]
    rows = tables.get(name)
    if rows is None:
        rows = tables[name] = rows_of(backend, name)
    partition, sort = key_in(rows, inner["Item"]) if kind == "Put" else exact_key(rows, inner["Key"])
    return kind, inner, rows, partition, sort, (rows.number, *stored(partition, sort))


def _held(found: list[_Found]) -> dict[_RowKey, bytes] | None:
    """The rows that a transaction is about, as they are: those of each table read in one query. None for few."""
    if len(found) < FEW:
        return None
    keys: dict[int, tuple[Rows, list[tuple[bytes, bytes]]]] = {}
    for _, _, rows, _, _, (number, *pair) in found:
        keys.setdefault(number, (rows, []))[1].append((pair[0], pair[1]))
    return {(number, *key): row for number, (rows, pairs) in keys.items() for key, row in rows.get_many(pairs).items()}


def _asked(params: Params, conditions: _Conditions) -> Asked:
    """`asked`, compiled once for the actions of a transaction that have the same condition."""
    text, names = params.get("ConditionExpression"), params.get("ExpressionAttributeNames")
    known = conditions.get(text) if type(text) is str else None
    if known is not None and known[0] == names and "ReturnValuesOnConditionCheckFailure" not in params:
        return Asked(known[1].condition, values_in(params), return_old=False)
    wanted = asked(params, names_in(params), values_in(params))
    if type(text) is str and not wanted.return_old:
        conditions[text] = names, wanted
    return wanted


def _put(params: Params, old: bytes | None, conditions: _Conditions) -> JudgedAction:
    check_known(params, "Item", *WRITE)
    item = params["Item"]
    size = measured_item(item)
    return JudgedAction(pack(item), size, failed(old, _asked(params, conditions)))


def _delete(params: Params, old: bytes | None, conditions: _Conditions) -> JudgedAction:
    check_known(params, "Key", *WRITE)
    return JudgedAction(None, 0, failed(old, _asked(params, conditions)))


def _check(params: Params, old: bytes | None, conditions: _Conditions) -> JudgedAction:
    if "ConditionExpression" not in params:
        raise Unusual
    return _delete(params, old, conditions)


def _update(rows: Rows, params: Params, old: bytes | None) -> JudgedAction:
    check_known(params, "Key", "UpdateExpression", *WRITE)
    wanted, change, values, _ = updated(rows, params)
    refused = failed(old, wanted)
    if refused is not None:
        return JudgedAction(None, 0, refused)
    after, size = after_update(old, params["Key"], change, values)
    return JudgedAction(pack(after), size, None)


_STEPS = {"Put": _put, "Delete": _delete, "ConditionCheck": _check}
