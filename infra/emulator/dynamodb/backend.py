"""moto's DynamoDB made correct under threads, flat at 300,000 items and quick.

As it comes, moto loses updates under threads, sorts the whole table for every query and copies whole tables for every
transaction; and a call through botocore is signed, serialised, parsed and dispatched over six layers of HTTP that is
not there. `install` changes this in three places:

* every table keeps its rows in `infra.emulator.dynamodb.rows.Rows`: in SQLite, packed, in key order;
* clients of this process are short-circuited at `BaseClient._make_api_call`: the parameters go straight to
  `infra.emulator.dynamodb.calls`, `reads` and `transactions`, under one lock, and the answer straight back.
  boto3 resources and pynamodb pass there too. The events `provide-client-params`, `before-parameter-build` and
  `after-call` are sent where a handler listens to them;
* whatever those do not know, and every call that comes over HTTP, goes moto's own way, under the same lock, on the
  same rows.

A test runs random operations through this and through stock moto and compares (`tests/infra`). It differs on purpose:
AWS's limits on batches, 38-digit numbers and `ClientRequestToken` are honoured, a failing update changes nothing,
`UPDATED_NEW` shows what was updated even if it stayed equal, and consumed capacity is what AWS would bill.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, NoReturn

from botocore.client import BaseClient
from moto.core import DEFAULT_ACCOUNT_ID
from moto.core.models import botocore_stubber
from moto.dynamodb import responses as moto_responses
from moto.dynamodb.exceptions import MockValidationException
from moto.dynamodb.models import DynamoDBBackend, dynamodb_backends
from moto.dynamodb.models.table import Table
from moto.dynamodb.responses import DynamoHandler

from infra.emulator import direct_calls
from infra.emulator.dynamodb import calls as dynamo_calls
from infra.emulator.dynamodb import metering
from infra.emulator.dynamodb import reads as dynamo_reads
from infra.emulator.dynamodb import transactions as dynamo_transactions
from infra.emulator.dynamodb.checks import Answer, Params, Refused
from infra.emulator.dynamodb.expressions import Unusual
from infra.emulator.dynamodb.rows import Rows, transaction
from infra.emulator.patches import Patches
from infra.emulator.sqlite import database
from infra.emulator.sqlite.integrity import CannotStore, Damaged

DIRECT: dict[str, Callable[[DynamoDBBackend, Params], Answer]] = {
    "GetItem": dynamo_reads.get_item,
    "PutItem": dynamo_calls.put_item,
    "UpdateItem": dynamo_calls.update_item,
    "DeleteItem": dynamo_calls.delete_item,
    "Query": dynamo_reads.query,
    "Scan": dynamo_reads.scan,
    "BatchGetItem": dynamo_reads.batch_get_item,
    "BatchWriteItem": dynamo_calls.batch_write_item,
    "TransactGetItems": dynamo_reads.transact_get_items,
    "TransactWriteItems": dynamo_transactions.transact_write_items,
}
ORDINARY_MISTAKES = (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError)
"""What malformed parameters raise in a direct call, always before anything is changed."""

INDEX_NAME = 6
"""The position of `index_name` behind the hash key among the parameters of `Table.query`."""

ACCESS_KEY = "AKIALIMNLOCALSTACK00"
"""Who the clients of this process are."""
fallbacks: Counter[str] = Counter()
"""How many calls of each operation went moto's own way: a test of speed wants none."""

_EVENTS = ("provide-client-params", "before-parameter-build", "after-call")
_NOT_NEEDED = frozenset(("botocore.handlers", "botocore.discovery", "botocore.retries.standard"))
"""The modules of botocore's own handlers. A direct call does without them: it is not sent, and never repeated."""
_next_id = map("local-{:012d}".format, itertools.count(1)).__next__
"""The id of a call."""
_patches = Patches()
_in_moto_transaction = False


def installed() -> bool:
    """Whether the changes are in place."""
    return bool(_patches)


def install() -> None:
    """Change moto and botocore, before `mock_aws` starts: tables made earlier keep moto's own structures."""
    if installed():
        return
    _patches.replace(BaseClient, "_make_api_call", _make_api_call(getattr(BaseClient, "_make_api_call")))  # noqa: B009 -- unknown to its stubs
    _patches.replace(DynamoHandler, "call_action", _locked(DynamoHandler.call_action))
    _patches.replace(Table, "__init__", _with_rows(Table.__init__))
    _patches.replace(Table, "__len__", _length(Table.__len__))
    _patches.replace(Table, "__deepcopy__", _copied)
    _patches.replace(Table, "query", _query(Table.query))
    _patches.replace(DynamoDBBackend, "update_item", _written_back(DynamoDBBackend.update_item))
    _patches.replace(DynamoDBBackend, "transact_write_items", _undoable(DynamoDBBackend.transact_write_items))
    _patches.replace(DynamoDBBackend, "delete_table", _emptied(DynamoDBBackend.delete_table))
    _patches.replace(moto_responses, "TRANSACTION_MAX_ITEMS", dynamo_transactions.TRANSACTION_ITEMS)


def uninstall() -> None:
    """Put moto and botocore back as they were."""
    _patches.undo()


# ------------------------------------------------------------------------------------------- the way in for clients


def _make_api_call(original: Callable[..., Answer]) -> Callable[..., Answer]:
    def call(self: Any, operation_name: str, api_params: Params) -> Answer:
        direct = DIRECT.get(operation_name)
        if direct is None or not botocore_stubber.enabled:
            try:
                done = _take_shortcut(self, operation_name, api_params)
                return original(self, operation_name, api_params) if done is None else done
            except (CannotStore, Damaged) as failure:
                _raise(self, operation_name, _unavailable(failure))
        region = _region_of(self)
        if not region:
            return original(self, operation_name, api_params)
        params, after = _announce(self, operation_name, api_params)
        answer: Answer
        status = HTTPStatus.OK
        try:
            with database.current().lock:
                answer = direct(_backend(region), params)
        except Refused as refused:
            status = HTTPStatus.BAD_REQUEST
            metering.record(operation_name)
            error = {"Code": refused.code, "Message": refused.message}
            answer = {"Error": error, "message": refused.message, **refused.more}
        except (CannotStore, Damaged) as failure:
            status = HTTPStatus.SERVICE_UNAVAILABLE
            metering.record(operation_name)
            answer = _unavailable(failure)
        except (Unusual, *ORDINARY_MISTAKES):
            fallbacks[operation_name] += 1
            metering.record(operation_name)
            return original(self, operation_name, api_params)
        answer["ResponseMetadata"] = {
            "RequestId": _next_id(), "HTTPStatusCode": int(status), "HTTPHeaders": {}, "RetryAttempts": 0,
        }  # fmt: skip
        if after is not None:
            after(answer, status)
        if status is not HTTPStatus.OK:
            _raise(self, operation_name, answer)
        return answer

    return call


def _announce(client: Any, operation: str, given: Params) -> tuple[Params, Callable[[Answer, HTTPStatus], None] | None]:
    """Send the events before a call, where a handler listens; its parameters, and what sends the event after it."""
    emitter = client.meta.events._emitter  # noqa: SLF001 -- botocore has no public way to ask who listens
    quiet = client.__dict__.get("_limn_quiet")
    if quiet is None or quiet[0] is not emitter._lookup_cache:  # noqa: SLF001 -- a new one after each registration
        quiet = client.__dict__["_limn_quiet"] = (emitter._lookup_cache, {})  # noqa: SLF001
    is_quiet = quiet[1].get(operation)
    if is_quiet is None:
        events = (f"{name}.dynamodb.{operation}" for name in _EVENTS)
        modules = {each.__module__ for event in events for each in emitter._handlers.prefix_search(event)}  # noqa: SLF001
        is_quiet = quiet[1][operation] = modules <= _NOT_NEEDED
    if is_quiet:
        return given, None
    model = client.meta.service_model.operation_model(operation)
    context: dict[str, Any] = {}
    params = client._emit_api_params(api_params=given, operation_model=model, context=context)  # noqa: SLF001

    def after(answer: Answer, status: HTTPStatus) -> None:
        client.meta.events.emit(
            f"after-call.dynamodb.{operation}",
            http_response=_Status(status), parsed=answer, model=model, context=context,
        )  # fmt: skip

    return params, after


def _backend(region: str) -> DynamoDBBackend:
    """The backend of a region of our account; moto's own lookup takes a lock and checks the name."""
    regions = dict.get(dynamodb_backends, DEFAULT_ACCOUNT_ID)
    backend = None if regions is None else dict.get(regions, region)
    return dynamodb_backends[DEFAULT_ACCOUNT_ID][region] if backend is None else backend


def _take_shortcut(self: Any, operation_name: str, api_params: Params) -> Answer | None:
    """The answer to a call of another service that is done here; None where moto has to do it."""
    direct = direct_calls.CALLS.get((self.meta.service_model.service_name, operation_name))
    if direct is None or not botocore_stubber.enabled or not _is_ours(self):
        return None
    model = self.meta.service_model.operation_model(operation_name)
    params = self._emit_api_params(api_params=dict(api_params), operation_model=model, context={})
    answer = direct(params, self.meta.region_name)
    if answer is not None:
        answer["ResponseMetadata"] = {
            "RequestId": _next_id(), "HTTPStatusCode": 200, "HTTPHeaders": {}, "RetryAttempts": 0,
        }  # fmt: skip
    return answer


def _is_ours(client: Any) -> bool:
    """Whether a client calls AWS's own address with this stack's own credentials."""
    credentials = client._request_signer._credentials  # noqa: SLF001 -- it has no other name
    host = client.meta.endpoint_url.partition("://")[2].partition("/")[0]
    return host.endswith(".amazonaws.com") and getattr(credentials, "access_key", "") == ACCESS_KEY


def _unavailable(failure: Exception) -> Answer:
    """The answer of a service that cannot store anything, or cannot trust what it has stored."""
    return {
        "Error": {"Code": "ServiceUnavailable", "Message": str(failure)},
        "ResponseMetadata": {"HTTPStatusCode": 503, "HTTPHeaders": {}, "RetryAttempts": 0},
    }


class _Status:
    """As much of an HTTP response as `after-call` handlers look at."""

    __slots__ = ("headers", "status_code")

    def __init__(self, status_code: int) -> None:
        self.status_code = status_code
        self.headers: dict[str, str] = {}


def _raise(client: Any, operation_name: str, answer: Answer) -> NoReturn:
    raise client.exceptions.from_code(answer["Error"]["Code"])(answer, operation_name)


def _region_of(client: Any) -> str:
    """The region of a DynamoDB client that talks to AWS's own address; empty for any other client."""
    region: str | None = client.__dict__.get("_limn_region")
    if region is None:
        region = client.__dict__["_limn_region"] = _read_region(client)
    return region


def _read_region(client: Any) -> str:
    meta = client.meta
    if meta.service_model.service_name != "dynamodb":
        return ""
    host = meta.endpoint_url.partition("://")[2].partition("/")[0]
    return str(meta.region_name) if host.endswith(".amazonaws.com") else ""


# ---------------------------------------------------------------------------------------------- inside moto


def _locked(original: Callable[..., Any]) -> Callable[..., Any]:
    def call_action(self: DynamoHandler) -> Any:
        with database.current().lock:
            try:
                return original(self)
            except (CannotStore, Damaged) as failure:
                kind = "com.amazonaws.dynamodb.v20120810#ServiceUnavailable"
                return 503, self.response_headers, json.dumps({"__type": kind, "message": str(failure)})

    return call_action


def _with_rows(original: Callable[..., None]) -> Callable[..., None]:
    def init(self: Table, *args: Any, **options: Any) -> None:
        original(self, *args, **options)
        range_type = self.range_key_type or ""
        keys = self.hash_key_attr, self.hash_key_type, self.range_key_attr, range_type
        self.items = Rows(self.name, *keys, region=self.region_name)

    return init


def _length(original: Callable[..., int]) -> Callable[..., int]:
    def length(self: Table) -> int:
        return self.items.count if isinstance(self.items, Rows) else original(self)

    return length


def _copied(self: Table, memo: dict[int, Any]) -> Table:
    """Transactions copy whole tables to be able to go back; here they need not (`_undoable`)."""
    if _in_moto_transaction:
        return self
    twin = Table.__new__(type(self))
    memo[id(self)] = twin
    twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return twin


def _query(original: Callable[..., Any]) -> Callable[..., Any]:
    """Stock query looks at all items of the table: show it those of the partition only."""

    def query(self: Table, hash_key: Any, *args: Any, **options: Any) -> Any:
        index = options.get("index_name", args[INDEX_NAME] if len(args) > INDEX_NAME else None)
        if index is not None or not isinstance(self.items, Rows):
            return original(self, hash_key, *args, **options)
        items = self.items.items_of(self.items.native(hash_key))
        self.all_items = lambda: items
        try:
            return original(self, hash_key, *args, **options)
        finally:
            del self.all_items

    return query


def _written_back(original: Callable[..., Any]) -> Callable[..., Any]:
    """Stock update changes the item in place, and makes a missing one before it knows that the update is valid."""

    def update_item(self: DynamoDBBackend, table_name: str, key: Any, *args: Any, **options: Any) -> Any:
        rows = self.get_table(table_name).items
        if not isinstance(rows, Rows):
            return original(self, table_name, key, *args, **options)
        with transaction():
            item = original(self, table_name, key, *args, **options)
            rows.put_item(item)
        return item

    return update_item


def _undoable(original: Callable[..., None]) -> Callable[..., None]:
    """Roll back the rows of a failed transaction; moto restores whole tables."""

    def transact_write_items(self: DynamoDBBackend, transact_items: list[dict[str, Any]]) -> None:
        global _in_moto_transaction  # noqa: PLW0603 -- guarded by the lock
        if not transact_items:
            raise MockValidationException("Member must have length greater than or equal to 1")
        with transaction():
            _in_moto_transaction = True
            try:
                original(self, transact_items)
            finally:
                _in_moto_transaction = False

    return transact_write_items


def _emptied(original: Callable[..., Table]) -> Callable[..., Table]:
    """Delete the rows with the table."""

    def delete_table(self: DynamoDBBackend, name: str) -> Table:
        table = original(self, name)
        if isinstance(table.items, Rows):
            table.items.clear()
        return table

    return delete_table
