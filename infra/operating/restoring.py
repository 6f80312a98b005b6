"""Restored tables put in the place of those in use: `python -m infra.operating.restoring prod restored`.

AWS restores a table to an instant under another name. Here the rows of `limn-prod-log-restored` become those of
`limn-prod-log`, and so on: what came after the instant goes, what was lost comes back. Only the counters never go back:
an id that was given out once is not given out again. With `--project 14`, only the rows of that project change.
Nobody may write meanwhile. It may be run again wherever it died.

Both tables are scanned page by page, and a page's rows are looked up in the other table: memory does not grow with the
rows. A scan reads each table once, a lookup once more.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import boto3

from chalicelib.core.batches import batched
from infra.operating import failures
from infra.operating.failures import Failed

TABLES = {"records": ("pk", "sk"), "entities": ("pk",), "log": ("project", "seq"), "counters": ("pk", "sk")}
"""Tables that belong together, and the keys of each."""
COUNTER = "n"
ROWS_PER_READ, ROWS_PER_WRITE = 100, 25
"""Rows of one BatchGetItem and of one BatchWriteItem."""
Row = dict[str, Any]


def restore(stage: str, suffix: str, project: int | None = None) -> dict[str, tuple[int, int]]:
    """Put all tables of a stage in place, or the rows of one project; how many rows of each were put and taken away.

    Raises:
        Failed: one of the tables is not there or not ready, or the project was made later; nothing has changed then.
    """
    client = boto3.client("dynamodb")
    places = [f"limn-{stage}-{name}" for name in TABLES]
    for each in (*places, *(f"{place}-{suffix}" for place in places)):
        status: str = "MISSING"
        with suppress(client.exceptions.ResourceNotFoundException):
            status = client.describe_table(TableName=each)["Table"]["TableStatus"]
        if status != "ACTIVE":
            raise Failed(
                f"The table {each} is {status}; all of {', '.join(TABLES)} must be ACTIVE. Nothing was changed."
            )
    if project is not None:
        key = {"pk": {"S": f"project#{project}"}, "sk": {"S": "@"}}
        if "Item" not in client.get_item(TableName=f"{places[0]}-{suffix}", Key=key):
            raise Failed(
                f"The project {project} is not in the restored tables: nothing of it would stay. Nothing was changed."
            )
    done = {}
    for name in TABLES:
        place = f"limn-{stage}-{name}"
        table = _Table(client, name, place, f"{place}-{suffix}", project)
        done[name] = (table.put(), table.take_away())
    return done


class _Table:
    """A table in use, and the restored one whose rows it gets."""

    def __init__(self, client: Any, name: str, place: str, restored: str, project: int | None) -> None:
        self._client, self._name, self._keys = client, name, TABLES[name]
        self._place, self._restored, self._project = place, restored, project

    def put(self) -> int:
        """Put the restored rows that are missing or differ; how many."""
        count = 0
        for rows in batched(self._rows(self._restored), ROWS_PER_READ):
            current = self._found(self._place, rows)
            wanted = [row for row in rows if self._is_put(row, current.get(_key(row, self._keys)))]
            write(self._client, self._place, [{"PutRequest": {"Item": row}} for row in wanted])
            count += len(wanted)
        return count

    def take_away(self) -> int:
        """Delete the rows that the restored table lacks; how many."""
        count = 0
        for rows in batched(self._rows(self._place), ROWS_PER_READ):
            restored = self._found(self._restored, rows)
            gone = [row for row in rows if self._is_gone(row, restored.get(_key(row, self._keys)))]
            write(self._client, self._place, [{"DeleteRequest": {"Key": self._key_of(row)}} for row in gone])
            count += len(gone)
        return count

    def _is_put(self, row: Row, current: Row | None) -> bool:
        if self._name != "counters":
            return current != row
        # a log's counter is made anew from its last commit, by the next writer
        return not _text(row, "pk").startswith("log#") and _number(row) > _number(current or {})

    def _is_gone(self, row: Row, restored: Row | None) -> bool:
        if self._name != "counters":
            return restored is None
        pk = _text(row, "pk")
        return pk.startswith("log#") or (restored is None and not pk.startswith("ids|"))

    def _rows(self, table: str) -> Iterator[Row]:
        """The rows of a table, or those of the project, page by page."""
        if self._project is None:
            yield from rows_of(self._client, table)
            return
        number, pk = {"N": str(self._project)}, {"S": f"project#{self._project}"}
        if self._name == "log":
            yield from self._asked("query", table, "KeyConditionExpression", "project", number)
        elif self._name == "entities":
            yield from self._asked("scan", table, "FilterExpression", "project", number)
        elif self._name == "counters":
            # ids and limits are of all projects; the log's counter is taken away
            log = {"S": f"log#{self._project}"}
            yield from self._asked("query", table, "KeyConditionExpression", "pk", log)
        else:
            # claims first: the records that tell whose they are may be taken away next
            claims = self._asked("scan", table, "FilterExpression", "pk", {"S": "claim#"}, "begins_with(#it, :it)")
            for some in batched(claims, ROWS_PER_READ):
                yield from self._own_claims(table, some, pk)
            yield from self._asked("scan", table, "FilterExpression", "home_pk", pk)
            yield from self._asked("query", table, "KeyConditionExpression", "pk", pk)

    def _own_claims(self, table: str, claims: Iterable[Row], pk: dict[str, str]) -> Iterator[Row]:
        """The claims on unique values whose owner is a record of the project: its pointer says where it lies."""
        owners = {}
        for claim in claims:
            kind = _text(claim, "pk").removeprefix("claim#").partition("|")[0]
            owners[_key(claim, self._keys)] = {"pk": {"S": f"{kind}#{json.loads(claim['doc']['B'])}"}, "sk": {"S": "@"}}
        pointers = self._found(table, list({str(each): each for each in owners.values()}.values()))
        for claim in claims:
            owner = owners[_key(claim, self._keys)]
            pointer = pointers.get(_key(owner, self._keys), {})
            if pk in (owner["pk"], pointer.get("home_pk")):
                yield claim

    def _asked(
        self, call: str, table: str, member: str, name: str, value: dict[str, str], expression: str = "#it = :it"
    ) -> Iterator[Row]:
        pages = self._client.get_paginator(call).paginate(
            TableName=table,
            ConsistentRead=True,
            ExpressionAttributeNames={"#it": name},
            ExpressionAttributeValues={":it": value},
            **{member: expression},
        )
        for page in pages:
            yield from page["Items"]

    def _found(self, table: str, rows: Iterable[Row]) -> dict[tuple[str, ...], Row]:
        """The rows of a table with the keys of some rows, by key."""
        found = {}
        wanted: Any = {table: {"Keys": [self._key_of(row) for row in rows], "ConsistentRead": True}}
        while wanted:
            answer = self._client.batch_get_item(RequestItems=wanted)
            found.update({_key(row, self._keys): row for row in answer["Responses"].get(table, [])})
            wanted = answer.get("UnprocessedKeys")
        return found

    def _key_of(self, row: Row) -> Row:
        return {name: row[name] for name in self._keys}


def rows_of(client: Any, table: str) -> Iterator[Row]:
    """All rows of a table, page by page."""
    for page in client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
        yield from page["Items"]


def write(client: Any, table: str, requests: list[Any]) -> None:
    """Put and delete rows."""
    for some in batched(requests, ROWS_PER_WRITE):
        wanted: Any = {table: some}
        while wanted:
            wanted = client.batch_write_item(RequestItems=wanted).get("UnprocessedItems")


def _key(row: Row, keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_text(row, name) for name in keys)


def _text(row: Row, name: str) -> str:
    return str(next(iter(row[name].values())))


def _number(row: Row) -> float:
    return float(row.get(COUNTER, {}).get("N", -1))


def main(words: Sequence[str] | None = None) -> int:
    """Restore, and print what was done; the exit code."""
    made = argparse.ArgumentParser(
        prog="python -m infra.operating.restoring", description=(__doc__ or "").partition(":")[0]
    )
    made.add_argument("stage")
    made.add_argument("suffix", help="of the restored tables: `restored` of limn-prod-log-restored")
    made.add_argument("--project", type=int, help="put the rows of one project in place, and leave all others")
    made.add_argument("--region", help="that of the AWS configuration otherwise")
    given = made.parse_args(words)
    if given.region:
        os.environ["AWS_DEFAULT_REGION"] = given.region

    def act() -> int:
        for name, (put, gone) in restore(given.stage, given.suffix, given.project).items():
            print(f"{name:<10} {put:>9} rows put, {gone:>9} taken away")
        return 0

    return failures.run(act)


if __name__ == "__main__":
    sys.exit(main())
