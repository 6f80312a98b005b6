"""Restored tables put in the place of those in use: `python -m infra.restoring prod restored`, with the API stopped.

AWS restores a table to an instant under another name. Here the rows of `limn-prod-log-restored` become those of
`limn-prod-log`, and so on: what came after the instant goes, what was lost comes back. Only the counters never go back:
an id that was given out once is not given out again. It may be run again wherever it died.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import boto3

TABLES = {"records": ("pk", "sk"), "entities": ("pk",), "log": ("project", "seq"), "counters": ("pk", "sk")}
"""Tables that belong together, and the keys of each."""
COUNTER = "n"


def restore(stage: str, suffix: str) -> dict[str, tuple[int, int]]:
    """Put all tables of a stage in place; how many rows of each were put and taken away."""
    client = boto3.client("dynamodb")
    done = {}
    for name, keys in TABLES.items():
        place = f"limn-{stage}-{name}"
        restored = {_key(row, keys): row for row in _rows(client, f"{place}-{suffix}")}
        current = {_key(row, keys): row for row in _rows(client, place)}
        put = {key: row for key, row in restored.items() if current.get(key) != row}
        gone = set(current) - set(restored)
        if name == "counters":
            put = {key: row for key, row in put.items() if _number(row) > _number(current.get(key, {}))}
            gone = {key for key in gone if not key[0].startswith("ids|")}
            # a log's counter is made anew from its last commit, by the next writer
            put = {key: row for key, row in put.items() if not key[0].startswith("log#")}
            gone |= {key for key in current if key[0].startswith("log#")}
        requests: list[Any] = [{"PutRequest": {"Item": row}} for row in put.values()]
        requests += [{"DeleteRequest": {"Key": {each: current[key][each] for each in keys}}} for key in gone]
        _write(client, place, requests)
        done[name] = (len(put), len(gone))
    return done


def _rows(client: Any, table: str) -> Iterator[dict[str, Any]]:
    for page in client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
        yield from page["Items"]


def _key(row: dict[str, Any], keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(next(iter(row[name].values()))) for name in keys)


def _number(row: dict[str, Any]) -> float:
    return float(row.get(COUNTER, {}).get("N", -1))


def _write(client: Any, table: str, requests: list[Any]) -> None:
    for start in range(0, len(requests), 25):
        wanted: Any = {table: requests[start : start + 25]}
        while wanted:
            wanted = client.batch_write_item(RequestItems=wanted).get("UnprocessedItems")


def main() -> None:
    """Do it, and say what was done."""
    stage, suffix = sys.argv[1:3]
    for name, (put, gone) in restore(stage, suffix).items():
        print(f"{name:<10} {put:>9} rows put, {gone:>9} taken away")


if __name__ == "__main__":
    main()
