"""Tests of storage run against another DynamoDB that a variable names: here a stock moto_server, over HTTP."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from tests.foreign_dynamodb import VARIABLE

ROOT = Path(__file__).parents[2]
FILES = ("test_records.py", "test_tickets.py", "test_lost_answers.py")
pytestmark = pytest.mark.nightly


@pytest.fixture
def server() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("moto_server")), "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(port)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _wait_for(port: int) -> None:
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("moto_server does not answer")


def test_they_pass_twice_against_it_and_leave_their_rows_there(server):
    keys = {"aws_access_key_id": "limn-local", "aws_secret_access_key": "any", "region_name": "us-east-1"}
    elsewhere = boto3.Session(**keys).client("dynamodb", endpoint_url=server)
    paths = [f"tests/storage/{name}" for name in FILES]
    command = [sys.executable, "-m", "pytest", "-n", "0", "-m", "not nightly and not slow", "-rs", *paths]
    environment = {**os.environ, VARIABLE: server}
    for _ in range(2):
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:]
        assert f"{VARIABLE} names another DynamoDB" in done.stdout
        found = elsewhere.scan(TableName="limn-local-records", Select="COUNT")
        assert found["Count"] > 0
