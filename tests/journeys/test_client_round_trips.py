"""Published clients create, read, and send back what they read: the one of the lock, and by night older ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.http.client_environments import python_with

PROGRAM = Path(__file__).parent / "client_round_trips.py"


@pytest.mark.parametrize(
    "client",
    [
        pytest.param("", marks=pytest.mark.slow, id="of the lock"),
        *(pytest.param(each, marks=pytest.mark.nightly) for each in ("1.0.0", "1.5.0", "1.6.0")),
    ],
)
def test_what_a_client_reads_may_be_sent_back(shared_stack, client, tmp_path):
    python = python_with(client) if client else sys.executable
    ran = subprocess.run(
        [python, PROGRAM, json.dumps(shared_stack.place)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
    assert ran.stdout.rstrip().endswith(" 0 refused")
