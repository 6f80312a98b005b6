"""The DynamoDB tables and their keys. Only this package sees their rows.

    records     pk, sk   a record under its parent ("project#14", "version|000000000004"); a pointer for its id
                         ("version#4", "@"); a claim on a unique value ("claim#user|alice", "@")
    credentials pk       "session#…": what a token opens, by its hash
    entities    pk       "localization#500"
    log         project, seq
    counters    pk, sk   "ids|localization"; "log#14"; "pending" and "batch#…" of creations under way
    idempotency          managed by Powertools

No table has a secondary index: an index lags, and acknowledged writes must be visible (docs/decisions).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Self

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb import attributes as pynamodb_attributes
from pynamodb.connection import Connection, TableConnection
from pynamodb.constants import NUMBER
from pynamodb.expressions.condition import Condition
from pynamodb.models import Model

from chalicelib.core.time.retry import BUSY
from chalicelib.errors import Unavailable
from chalicelib.settings import settings
from chalicelib.storage.dynamodb.conditions import Unmoved

_NOT_NOW = frozenset(
    {
        "InternalServerError",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ServiceUnavailable",
        "ThrottlingException",
    }
)
"""Error codes that do not depend on the request: DynamoDB is throttling or failing."""


_BATCH = 100
"""The most rows of one BatchGetItem."""


class _Translating(Connection):
    """A connection that raises Unavailable where DynamoDB does not answer or throttles after all retries."""

    def _make_api_call(self, operation_name: str, operation_kwargs: dict[str, Any]) -> dict[str, Any]:
        operation_kwargs.pop("ReturnConsumedCapacity", None)  # pynamodb asks for it, and only logs it
        try:
            answer: dict[str, Any] = super()._make_api_call(operation_name, operation_kwargs)
        except ClientError as failure:
            if failure.response["Error"].get("Code") not in _NOT_NOW:
                raise
            raise Unavailable("The database is too busy; try again.", str(failure)) from failure
        except BotoCoreError as failure:
            raise Unavailable("The database does not answer; try again.", str(failure)) from failure
        return answer

    def call(self, operation: str, **parameters: Any) -> dict[str, Any]:
        """One call with botocore's parameters: pynamodb's own way there takes as long as the call on a fast network."""
        return self._make_api_call(operation, parameters)


_connection = _Translating(
    host=settings().aws_endpoint or None, connect_timeout_seconds=2, read_timeout_seconds=10, max_retry_attempts=5
)
_lock = threading.Lock()


class Row(Model):
    """Base of all rows: one botocore client for all tables, since each takes 70 ms to make.

    Its attributes are texts, numbers and bytes, with the same names in the table and plain defaults. What pynamodb
    does beyond that, for maps, lists and other names, would take a third of the time of a change of 500 rows.
    """

    def __init__(self, hash_key: Any = None, range_key: Any = None, **members: Any) -> None:
        names, defaults, hash_name, range_name = _members(type(self))
        if hash_key is not None:
            members[hash_name] = hash_key
        if range_key is not None:
            members[range_name] = range_key
        if not members.keys() <= names:
            raise ValueError(f"{type(self).__name__} has no {members.keys() - names}.")
        self.attribute_values = defaults | members

    def serialize(self, null_check: bool = True) -> dict[str, dict[str, Any]]:
        """The row as a botocore item; pynamodb reports a missing attribute."""
        values = self.attribute_values
        item: dict[str, dict[str, Any]] = {}
        for name, letter, may_be_missing in _shape(type(self)):
            value = values.get(name)
            if value is not None:
                item[name] = {letter: repr(value) if letter == NUMBER else value}
            elif null_check and not may_be_missing:
                return super().serialize(null_check)
        return item

    @classmethod
    def from_raw_data(cls, data: dict[str, Any]) -> Self:
        """A row from a botocore item."""
        row = cls.__new__(cls)
        row.attribute_values = values = {}
        for name, typed in data.items():
            ((letter, value),) = typed.items()
            values[name] = _number(value) if letter == NUMBER else value
        return row

    def get_save_kwargs_from_instance(
        self, condition: Condition | None = None, return_values_on_condition_failure: str | None = None
    ) -> dict[str, Any]:
        """The botocore request that puts the row."""
        if return_values_on_condition_failure is not None:
            return super().get_save_kwargs_from_instance(condition, return_values_on_condition_failure)
        put: dict[str, Any] = {"TableName": self.Meta.table_name, "Item": self.serialize()}
        if type(condition) is Unmoved:
            put.update(condition.request())
        elif condition is not None:
            names: dict[str, str] = {}
            values: dict[str, Any] = {}
            put["ConditionExpression"] = condition.serialize(names, values)
            put["ExpressionAttributeNames"] = {placeholder: name for name, placeholder in names.items()}
            if values:
                put["ExpressionAttributeValues"] = values
        return put

    @classmethod
    def _get_connection(cls) -> TableConnection:
        table = super()._get_connection()
        if table.connection is not _connection:
            with _lock:
                if table.connection is not _connection:
                    _connection.add_meta_table(table.get_meta_table())
                    table.connection = _connection
        return table

    @classmethod
    def item_of(cls, key: tuple[str, ...]) -> dict[str, dict[str, str]]:
        """A key of texts as botocore wants it."""
        names = (str(cls._hash_keyname), str(cls._range_keyname))
        return {name: {"S": value} for name, value in zip(names, key, strict=False)}

    @classmethod
    def select(
        cls, partition: float | str, condition: str = "", *bounds: Any, most: int | None = None, backwards: bool = False
    ) -> Iterator[Self]:
        """The rows of a partition in the order of their sort keys, page by page, by consistent queries.

        Args:
            partition: the partition key.
            condition: of the sort key, as `#r > :0` or `begins_with(#r, :0)`; empty for all rows.
            bounds: the values of `:0`, `:1` in it.
            most: the largest number of rows.
            backwards: whether the last row comes first.

        Raises:
            Unavailable: DynamoDB does not answer.
        """
        connection()
        hash_name, range_name = str(cls._hash_keyname), str(cls._range_keyname)
        letter = cls.get_attributes()[range_name].attr_type
        values = {":h": _wire_value(cls.get_attributes()[hash_name].attr_type, partition)}
        values |= {f":{number}": _wire_value(letter, bound) for number, bound in enumerate(bounds)}
        names = {"#h": hash_name}
        asked: dict[str, Any] = {
            "TableName": cls.Meta.table_name,
            "KeyConditionExpression": f"#h = :h AND {condition}" if condition else "#h = :h",
            "ExpressionAttributeNames": {**names, "#r": range_name} if condition else names,
            "ExpressionAttributeValues": values,
            "ConsistentRead": True,
            "ScanIndexForward": not backwards,
        }
        while most is None or most > 0:
            if most is not None:
                asked["Limit"] = most
            answer = _connection.call("Query", **asked)
            yield from map(cls.from_raw_data, answer["Items"])
            if "LastEvaluatedKey" not in answer:
                return
            most = None if most is None else most - len(answer["Items"])
            asked["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    @classmethod
    def find(cls, *key: str) -> Self | None:
        """The row with a key of texts, by a consistent read. Raises Unavailable as `select` does."""
        connection()
        item = _connection.call("GetItem", TableName=cls.Meta.table_name, Key=cls.item_of(key), ConsistentRead=True)
        return cls.from_raw_data(item["Item"]) if "Item" in item else None

    @classmethod
    def many(cls, keys: Sequence[tuple[str, ...]]) -> Iterator[Self]:
        """The existing rows among those with keys of texts, in no order, by consistent reads of a hundred.

        Raises:
            Unavailable: DynamoDB does not answer, or leaves rows out for seconds.
        """
        connection()
        name, hash_name = cls.Meta.table_name, str(cls._hash_keyname)
        for start in range(0, len(keys), _BATCH):
            part = dict.fromkeys(keys[start : start + _BATCH])
            items = [{hash_name: {"S": key[0]}} if len(key) == 1 else cls.item_of(key) for key in part]
            asked: dict[str, Any] = {name: {"Keys": items, "ConsistentRead": True}}
            for _ in BUSY.attempts():
                answer = _connection.call("BatchGetItem", RequestItems=asked)
                yield from map(cls.from_raw_data, answer["Responses"].get(name, ()))
                asked = answer.get("UnprocessedKeys", {})
                if not asked:
                    break
            else:
                raise Unavailable("The database is too busy; try again.")

    def store(self) -> None:
        """Put the row unconditionally. Raises Unavailable where DynamoDB does not take it."""
        _demand("PutItem", self.get_save_kwargs_from_instance())

    def key(self) -> tuple[Any, Any]:
        """The row's partition key and its sort key, None where the table has none."""
        values, range_name = self.attribute_values, self._range_keyname
        return values[str(self._hash_keyname)], values[range_name] if range_name else None


@cache
def _shape(table: type[Row]) -> tuple[tuple[str, str, bool], ...]:
    """The attributes of a table: the name, the letter of the type, and whether a row may be without it."""
    return tuple((name, each.attr_type, bool(each.null)) for name, each in table.get_attributes().items())


@cache
def _members(table: type[Row]) -> tuple[frozenset[str], dict[str, Any], str, str]:
    """The names of a table's attributes, the default values, and the names of the partition key and the sort key."""
    attributes = table.get_attributes()
    defaults = {name: each.default for name, each in attributes.items() if each.default is not None}
    return frozenset(attributes), defaults, str(table._hash_keyname), str(table._range_keyname)  # noqa: SLF001 pynamodb's


def _wire_value(letter: str, value: float | str) -> dict[str, str]:
    return {letter: value if isinstance(value, str) else repr(value)}


def _number(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        return float(text)


class _Quick:
    """An attribute of a row read without pynamodb's search for maps: it is done ten times in each request and more."""

    def __set_name__(self, owner: Any, name: str) -> None:
        """Note the name, which is that in the table, too."""
        super().__set_name__(owner, name)  # type: ignore[misc]
        self._name = name

    def __get__(self, instance: Any, owner: Any) -> Any:
        """The value of a row; the attribute itself for the class, as conditions want it."""
        return self if instance is None else instance.attribute_values.get(self._name)


class BinaryAttribute(_Quick, pynamodb_attributes.BinaryAttribute):
    """Bytes."""


class NumberAttribute(_Quick, pynamodb_attributes.NumberAttribute):
    """A number."""


class UnicodeAttribute(_Quick, pynamodb_attributes.UnicodeAttribute):
    """A text."""


class RecordRow(Row):
    """A record, a pointer to one, or a claim."""

    class Meta:
        table_name = settings().records_table

    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)
    doc = BinaryAttribute(null=True, legacy_encoding=False)
    n = NumberAttribute(null=True)
    home_pk = UnicodeAttribute(null=True)
    home_sk = UnicodeAttribute(null=True)
    expires = NumberAttribute(null=True)


class CredentialRow(Row):
    """A credential: its document, the day it was last used, and its end."""

    class Meta:
        table_name = settings().credentials_table

    pk = UnicodeAttribute(hash_key=True)
    doc = BinaryAttribute(legacy_encoding=False)
    used = UnicodeAttribute(null=True)
    expires = NumberAttribute(null=True)


class EntityRow(Row):
    """An entity: its document, its optimistic lock, and until it is changed the batch that created it."""

    class Meta:
        table_name = settings().entities_table

    pk = UnicodeAttribute(hash_key=True)
    project = NumberAttribute()
    doc = BinaryAttribute(legacy_encoding=False)
    n = NumberAttribute(default=1)
    batch = NumberAttribute(null=True)
    deleted = UnicodeAttribute(null=True)


class LogRow(Row):
    """A commit: its body compressed, or the key of the object that holds it.

    `watched` was the mark of watched logs before tickets had it (`storage/log/tickets.py`).
    """

    class Meta:
        table_name = settings().log_table

    project = NumberAttribute(hash_key=True)
    seq = NumberAttribute(range_key=True)
    body = BinaryAttribute(null=True, legacy_encoding=False)
    object_key = UnicodeAttribute(null=True)
    expires = NumberAttribute(null=True)
    watched = NumberAttribute(null=True)


class CounterRow(Row):
    """A counter, or the mark of a creation that is pending or committed; `settled` is of a log's counter alone."""

    class Meta:
        table_name = settings().counters_table

    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True, default="@")
    n = NumberAttribute(null=True)
    detail = UnicodeAttribute(null=True)
    settled = NumberAttribute(null=True)
    expires = NumberAttribute(null=True)

    @classmethod
    def value(cls, pk: str, sk: str = "@") -> int:
        """The number of a counter; 0 where it has none. Raises Unavailable where DynamoDB does not answer."""
        row = cls.find(pk, sk)
        return int(row.n or 0) if row else 0

    @classmethod
    def add(cls, pk: str, sk: str, by: int) -> int:
        """Add to a counter, which begins at 0; returns the sum. Raises Unavailable where DynamoDB does not take it."""
        asked = {
            "TableName": cls.Meta.table_name,
            "Key": cls.item_of((pk, sk)),
            "UpdateExpression": "ADD n :by",
            "ExpressionAttributeValues": {":by": {"N": str(by)}},
            "ReturnValues": "UPDATED_NEW",
        }
        return int(_demand("UpdateItem", asked)["Attributes"]["n"]["N"])


def _demand(operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """A call that writes and has no condition."""
    try:
        return connection().call(operation, **parameters)
    except ClientError as failure:
        raise Unavailable("The database refused the write; nothing was changed.", str(failure)) from failure


def connection() -> _Translating:
    """The one connection, for transactions across tables."""
    _introduce()
    return _connection


@cache
def _introduce() -> None:
    """Make the tables known to the shared connection."""
    for row in (RecordRow, CredentialRow, EntityRow, LogRow, CounterRow):
        row._get_connection()  # noqa: SLF001 it has no other name


def write_batch(items: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Write up to 25 rows by BatchWriteItem, without a transaction. Returns the unprocessed ones.

    Raises:
        Unavailable: DynamoDB does not answer; some rows may be written.
    """
    connection()
    answer = _connection.call("BatchWriteItem", RequestItems=items)
    left: dict[str, list[dict[str, Any]]] = answer.get("UnprocessedItems", {})
    return left
