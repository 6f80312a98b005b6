"""DynamoDB elsewhere: `DYNAMODB_ENDPOINT=http://127.0.0.1:8000 .venv/bin/python -m pytest -n 0 tests/storage`.

With the address of another DynamoDB, such as DynamoDB Local where Java is, every call that the service makes of it in
tests goes there, over HTTP. Tables that an earlier run left are deleted first. Tests marked `emulated` look into the
emulator of this process, and are left out; folders but tests/storage were never tried.
"""

from __future__ import annotations

import os

import boto3
import pytest

VARIABLE = "DYNAMODB_ENDPOINT"
_OF_BOTOCORE = "AWS_ENDPOINT_URL_DYNAMODB"
_TABLES = "limn-local-"


def is_named() -> bool:
    """Whether another DynamoDB is to be used."""
    return bool(os.environ.get(VARIABLE))


def use() -> None:
    """Send all calls of DynamoDB to the one that is named.

    Raises:
        pytest.UsageError: several processes would use its tables at once.
    """
    if os.environ.get("PYTEST_XDIST_WORKER"):
        raise pytest.UsageError(f"{VARIABLE}: its tables are for one process; add `-n 0`, or name one file of tests.")
    os.environ[_OF_BOTOCORE] = os.environ[VARIABLE]


def remove_tables(region: str) -> None:
    """Delete the tables of an earlier run."""
    client = boto3.client("dynamodb", region_name=region)
    for page in client.get_paginator("list_tables").paginate():
        for name in page["TableNames"]:
            if name.startswith(_TABLES):
                client.delete_table(TableName=name)
                client.get_waiter("table_not_exists").wait(TableName=name, WaiterConfig={"Delay": 1})


def skip_emulated(items: list[pytest.Item]) -> None:
    """Leave out the tests that look into the emulator."""
    for item in items:
        if item.get_closest_marker("emulated"):
            item.add_marker(pytest.mark.skip(reason=f"looks into the emulator, and {VARIABLE} names another DynamoDB"))
